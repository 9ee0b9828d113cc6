//! The enumeration against a plain product of all values.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use proptest::prelude::*;
use safecommit_gate::{Assignment, Belief, Fact, Facts, Impossible, ScoreWeights, Support, Terms};

fn facts(values: &[usize]) -> Facts {
    let facts = values.iter().enumerate().map(|(at, values)| {
        Fact::new(
            format!("f{at}"),
            (0..*values).map(|value| format!("v{value}")),
        )
        .unwrap()
    });
    Facts::new(facts).unwrap()
}

fn terms(quarters: u32) -> Terms {
    Terms {
        inconsistency: f64::from(quarters) / 4.0,
        ..Terms::NONE
    }
}

/// A value of one fact, and one of another.
type Pair = ((usize, usize), (usize, usize));

/// All worlds in the plain way: every combination, filtered, sorted by (score, assignment).
fn product(facts: &Facts, tables: &[Vec<Option<u32>>], pairs: &[Pair]) -> Vec<(f64, Assignment)> {
    let mut worlds: Vec<Vec<usize>> = vec![Vec::new()];
    for table in tables {
        worlds = worlds
            .iter()
            .flat_map(|world| {
                let proposed = (0..table.len()).filter(|value| table[*value].is_some());
                proposed.map(|value| [world.as_slice(), &[value]].concat())
            })
            .collect();
    }
    let allowed = |world: &Vec<usize>| {
        !pairs
            .iter()
            .any(|(one, other)| world[one.0] == one.1 && world[other.0] == other.1)
    };
    let mut worlds: Vec<(f64, Assignment)> = worlds
        .iter()
        .filter(|world| allowed(world))
        .map(|world| {
            let quarters: u32 = world
                .iter()
                .zip(tables)
                .map(|(value, table)| table[*value].unwrap())
                .sum();
            let names: Vec<(String, String)> = world
                .iter()
                .enumerate()
                .map(|(at, value)| (format!("f{at}"), format!("v{value}")))
                .collect();
            let names = names
                .iter()
                .map(|(fact, value)| (fact.as_str(), value.as_str()));
            (f64::from(quarters) / 4.0, facts.assignment(names).unwrap())
        })
        .collect();
    worlds.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    worlds
}

fn tables() -> impl Strategy<Value = Vec<Vec<Option<u32>>>> {
    let value = prop_oneof![1 => Just(None), 4 => (0_u32..6).prop_map(Some)];
    prop::collection::vec(prop::collection::vec(value, 1..5), 1..6)
}

proptest! {
    #[test]
    fn the_support_is_the_best_part_of_the_product(
        tables in tables(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
        limit in 0_usize..300,
    ) {
        let facts = facts(&tables.iter().map(Vec::len).collect::<Vec<_>>());
        let beliefs: Vec<Belief> = facts.as_slice().iter().zip(&tables).map(|(fact, table)| {
            let mut belief = Belief::new(fact, []).unwrap();
            for (value, quarters) in fact.values().iter().zip(table) {
                belief = match quarters {
                    Some(quarters) => belief.supported(value, terms(*quarters)).unwrap(),
                    None => belief.excluded(value, "evidence").unwrap(),
                };
            }
            belief
        }).collect();
        let pairs: Vec<Pair> = picks.iter().map(|(a, x, b, y)| {
            let (one, other) = (a.index(tables.len()), b.index(tables.len()));
            ((one, x.index(tables[one].len())), (other, y.index(tables[other].len())))
        }).filter(|(one, other)| one.0 != other.0).collect();
        let name = |(fact, value): (usize, usize)| (format!("f{fact}"), format!("v{value}"));
        let impossible: Vec<Impossible> = pairs.iter().map(|(one, other)| {
            let (one, other) = (name(*one), name(*other));
            Impossible::new(&facts, (&one.0, &one.1), (&other.0, &other.1)).unwrap()
        }).collect();

        let support = Support::enumerate(&facts, &beliefs, &impossible, &ScoreWeights::EQUAL, limit).unwrap();
        let all = product(&facts, &tables, &pairs);
        let found: Vec<f64> = support.worlds().iter().map(|world| world.score.value()).collect();
        // The same scores in the same order, and each world with its score.
        let expected: Vec<f64> = all.iter().map(|(score, _)| *score).take(found.len()).collect();
        prop_assert_eq!(&found, &expected);
        for world in support.worlds() {
            let known = all.iter().find(|(_, assignment)| *assignment == world.assignment);
            prop_assert_eq!(known.map(|(score, _)| *score), Some(world.score.value()));
        }
        let distinct: std::collections::BTreeSet<_> = support.worlds().iter().map(|world| &world.assignment).collect();
        prop_assert_eq!(distinct.len(), support.worlds().len());
        match support.cut() {
            // Whatever is left out scores at least that.
            Some(cut) => {
                prop_assert!(support.worlds().len() <= limit);
                for (score, assignment) in &all {
                    if !distinct.contains(assignment) {
                        prop_assert!(*score >= cut.next.value());
                    }
                }
            }
            None => prop_assert_eq!(found.len(), all.len()),
        }
    }
}

#[test]
fn a_hazard_is_proposed_until_hard_evidence_excludes_it() {
    let kind = Fact::new("kind", ["file", "link", "mount"]).unwrap();
    let belief = Belief::new(&kind, [("link", terms(3))]).unwrap();
    assert_eq!(belief.proposed().collect::<Vec<_>>(), ["link"]);
    // What speaks least against it counts, in either order.
    let low = belief.clone().supported("link", terms(1)).unwrap();
    assert_eq!(
        low,
        belief
            .clone()
            .supported("link", terms(1))
            .unwrap()
            .supported("link", terms(2))
            .unwrap()
    );
    // Nothing brings back what hard evidence excludes.
    let gone = belief
        .excluded("link", "looked")
        .unwrap()
        .supported("link", Terms::NONE)
        .unwrap();
    assert_eq!(gone.proposed().count(), 0);
    let excluded: Vec<(&str, &str)> = gone.exclusions().map(|it| (it.value, it.reason)).collect();
    assert_eq!(excluded, [("link", "looked")]);
    let only = Belief::new(&kind, [("link", terms(3)), ("mount", terms(3))]).unwrap();
    let only = only
        .supported("file", terms(0))
        .unwrap()
        .only(["file", "mount"], "looked")
        .unwrap();
    assert_eq!(only.proposed().collect::<Vec<_>>(), ["file", "mount"]);
    assert!(only.supported("socket", terms(0)).is_err());
}

#[test]
fn evidence_that_excludes_every_value_leaves_no_world() {
    let facts = facts(&[2, 2]);
    let [first, second] = facts.as_slice() else {
        panic!("two facts")
    };
    let beliefs = [
        Belief::new(first, [("v0", terms(0))]).unwrap(),
        Belief::new(second, [])
            .unwrap()
            .only([], "contradictory")
            .unwrap(),
    ];
    let support = Support::enumerate(&facts, &beliefs, &[], &ScoreWeights::EQUAL, 10).unwrap();
    assert!(support.worlds().is_empty() && support.cut().is_none());
    assert!(Support::enumerate(&facts, &beliefs[..1], &[], &ScoreWeights::EQUAL, 10).is_err());
}

/// A large product is cut at the implausible end without being made.
#[test]
fn a_large_support_is_cut_in_time() {
    let facts = facts(&[4; 40]);
    let beliefs: Vec<Belief> = facts
        .as_slice()
        .iter()
        .map(|fact| {
            let values = fact.values().iter().zip([0, 1, 2, 3]);
            let belief = Belief::new(fact, []).unwrap();
            values.fold(belief, |belief, (value, quarters)| {
                belief.supported(value, terms(quarters)).unwrap()
            })
        })
        .collect();
    let support = Support::enumerate(&facts, &beliefs, &[], &ScoreWeights::EQUAL, 4096).unwrap();
    assert_eq!(support.worlds().len(), 4096);
    let cut = support.cut().unwrap();
    assert!(support.worlds().iter().all(|world| world.score <= cut.next));
}
