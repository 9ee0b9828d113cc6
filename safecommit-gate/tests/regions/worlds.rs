//! The regions against all worlds, each evaluated by itself.

use std::collections::BTreeSet;

use proptest::prelude::*;
use safecommit_gate::{Assignment, Blocker, Region, Regions, SafetyMap, SafetyTable, ScoreWeights};

use crate::plain::{self, Pair, Table};
use crate::random;

/// A reason in words that do not say more than the kind and the policy.
fn reason(blocker: &Blocker<'_>) -> String {
    match blocker {
        Blocker::Failed { policy, .. } => format!("{} fails", policy.id()),
        other => other.to_string(),
    }
}

fn reasons<'b>(blockers: impl Iterator<Item = Blocker<'b>>) -> BTreeSet<String> {
    blockers.map(|blocker| reason(&blocker)).collect()
}

/// What the id should be.
fn id_of(region: &Region, regions: &Regions) -> String {
    let restricted = regions.relevant().iter().filter_map(|&fact| {
        let declared = &regions.facts().as_slice()[fact];
        let values: Vec<&str> = region.values(fact).collect();
        (values != declared.values()).then(|| format!("{}={}", declared.name(), values.join("|")))
    });
    let id = restricted.collect::<Vec<_>>().join(" ");
    if id.is_empty() { "any".to_owned() } else { id }
}

struct World {
    positions: Vec<usize>,
    assignment: Assignment,
    score: f64,
    possible: bool,
}

fn worlds(table: &Table, pairs: &[Pair], relevant: &[usize]) -> Vec<World> {
    let combinations = plain::combinations(table).into_iter();
    let worlds = combinations.map(|positions| World {
        assignment: plain::assignment(&random::facts(), &positions),
        score: plain::score(&positions, table, relevant),
        possible: plain::is_possible(&positions, pairs),
        positions,
    });
    worlds.collect()
}

fn regions(map: &SafetyMap, table: &Table, pairs: &[Pair], limit: usize) -> Regions {
    let facts = random::facts();
    let (beliefs, impossible) = (
        plain::beliefs(&facts, table),
        plain::impossible(&facts, pairs),
    );
    let found = map.regions(&facts, &beliefs, &impossible, &ScoreWeights::EQUAL, limit);
    found.unwrap()
}

/// What holds of one region and the worlds that it contains.
fn check_region(region: &Region, regions: &Regions, worlds: &[World], evaluated: &SafetyTable<'_>) {
    let inside: Vec<usize> = (0..worlds.len())
        .filter(|&world| region.contains(&worlds[world].assignment))
        .collect();
    for action in 0..evaluated.actions() {
        let mut common: Option<BTreeSet<String>> = None;
        for &world in &inside {
            let id = region.id();
            assert_eq!(
                region.is_safe(action),
                evaluated.is_safe(world, action),
                "{id}, {action}"
            );
            let here = reasons(evaluated.blockers(world, action));
            common = Some(match common {
                Some(before) => before.intersection(&here).cloned().collect(),
                None => here,
            });
        }
        // Every reason that holds in all of its worlds is named, and at least one does.
        let named = reasons(region.blockers(action));
        assert_eq!(Some(&named), common.as_ref(), "{}, {action}", region.id());
        assert_eq!(region.is_safe(action), named.is_empty());
        assert_eq!(
            region.is_safe(action),
            region.safe().any(|safe| safe == action)
        );
    }
    assert!(!region.is_safe(evaluated.actions()));
    assert_eq!(region.blockers(evaluated.actions()).count(), 0);
    // It scores as its least strange world, and not more than the possible ones.
    let least = inside
        .iter()
        .map(|&world| worlds[world].score)
        .reduce(f64::min);
    assert_eq!(least, Some(region.score().value()));
    let best = worlds
        .iter()
        .find(|world| world.assignment == region.best());
    assert_eq!(best.map(|best| best.score), least);
    assert!(region.contains(&region.best()));
    assert_eq!(region.id(), id_of(region, regions));
    // It is a product: the values that it admits are those of its worlds.
    let product: usize = (0..regions.facts().as_slice().len())
        .map(|fact| region.values(fact).count())
        .product();
    assert_eq!(inside.len(), product);
    for &world in &inside {
        let mut values = worlds[world].positions.iter().enumerate();
        assert!(values.all(|(fact, &value)| region.admits(fact, value as u8)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn regions_are_products_of_worlds_with_the_same_safe_actions(
        map in random::map(),
        table in random::table(),
        pairs in random::pairs(4),
    ) {
        let regions = regions(&map, &table, &pairs, 1_000);
        prop_assert_eq!(regions.cut(), None);
        let read: BTreeSet<usize> = (0..3).flat_map(|action| map.facts_read(action)).collect();
        prop_assert!(regions.relevant().iter().copied().eq(read));
        let worlds = worlds(&table, &pairs, regions.relevant());
        let assignments: Vec<Assignment> =
            worlds.iter().map(|world| world.assignment.clone()).collect();
        let evaluated = map.evaluate(&assignments).unwrap();
        for region in regions.as_slice() {
            check_region(region, &regions, &worlds, &evaluated);
        }
        // No world is in two regions, and no possible one in none.
        for world in &worlds {
            let all = regions.as_slice().iter();
            let count = all.filter(|region| region.contains(&world.assignment)).count();
            prop_assert!(count == 1 || count == 0 && !world.possible, "{:?}", world.positions);
        }
        let names: BTreeSet<String> = regions.as_slice().iter().map(Region::id).collect();
        prop_assert_eq!(names.len(), regions.as_slice().len());
        prop_assert!(regions.as_slice().is_sorted_by_key(Region::score));
    }

    #[test]
    fn what_a_limit_leaves_out_scores_at_least_what_the_cut_says(
        map in random::map(),
        table in random::table(),
        pairs in random::pairs(2),
        limit in 0_usize..12,
    ) {
        let all = regions(&map, &table, &pairs, 1_000);
        let some = regions(&map, &table, &pairs, limit);
        prop_assert_eq!(some.as_slice().len(), limit.min(all.as_slice().len()));
        let missing = limit < all.as_slice().len();
        // Cubes that wait may turn out to be contradictions.
        prop_assert!(some.cut().is_some() == missing || !missing && !pairs.is_empty());
        // The same regions, of which none that is missing scores less than one that is there.
        let scores = |regions: &Regions| -> Vec<f64> {
            regions.as_slice().iter().map(|region| region.score().value()).collect()
        };
        prop_assert_eq!(&scores(&some)[..], &scores(&all)[..some.as_slice().len()]);
        let names: BTreeSet<String> = all.as_slice().iter().map(Region::id).collect();
        prop_assert!(some.as_slice().iter().all(|region| names.contains(&region.id())));
        if let Some(cut) = some.cut() {
            for world in worlds(&table, &pairs, some.relevant()) {
                let inside = some.as_slice().iter().any(|region| region.contains(&world.assignment));
                prop_assert!(inside || !world.possible || world.score >= cut.next.value());
            }
            prop_assert!(some.as_slice().iter().all(|region| region.score() <= cut.next));
        }
    }
}

#[test]
fn a_fact_is_told_apart_only_where_something_hangs_on_it() {
    let map = random::bind(
        "@id(\"all\") permit(principal, action, resource);
         @id(\"link\") forbid(principal, action, resource) when { resource.kind == Kind::\"link\" };
         @id(\"dirty\") forbid(principal, action, resource) when { resource.dirty };",
    );
    let table = plain::all_proposed(&random::facts());
    let regions = regions(&map, &table, &[], 100);
    let found: Vec<(String, Vec<usize>)> = regions
        .as_slice()
        .iter()
        .map(|region| (region.id(), region.safe().collect()))
        .collect();
    let found: Vec<(&str, &[usize])> = found
        .iter()
        .map(|(id, safe)| (&id[..], &safe[..]))
        .collect();
    // Dirty or not decides all actions at once; the kinds decide two and one.
    assert_eq!(
        found,
        [
            (
                "kind=file|mount dirty=no other_kind=mount|file",
                &[0, 1, 2][..]
            ),
            ("kind=link dirty=no other_kind=mount|file", &[2]),
            ("dirty=yes", &[]),
            ("kind=file|mount dirty=no other_kind=link", &[0, 1]),
            ("kind=link dirty=no other_kind=link", &[]),
        ]
    );
}
