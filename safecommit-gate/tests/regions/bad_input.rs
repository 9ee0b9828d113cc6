//! What is refused, what contradicts itself, and policies that read too much.

use safecommit_gate::{
    ActionDescription, Belief, Fact, Facts, Impossible, PolicyText, Regions, SafetyMap,
    SafetyPolicies, ScoreWeights, SupportError, Terms,
};

use crate::plain::{self, Pair, Table};

/// Facts `f0`, `f1` ... of Booleans, and one more with so many values.
fn wide(flags: usize, values: usize) -> Facts {
    let flags = (0..flags).map(|at| Fact::new(format!("f{at}"), ["no", "yes"]).unwrap());
    let text = Fact::new("text", (0..values).map(|value| format!("v{value}"))).unwrap();
    Facts::new(flags.chain([text])).unwrap()
}

fn bind(facts: &Facts, condition: &str) -> SafetyMap {
    let flags = facts.as_slice().len() - 1;
    let attributes: String = (0..flags).map(|at| format!("f{at}: Bool, ")).collect();
    let schema = format!(
        "entity Agent; entity Entry = {{ {attributes} text: String }}; \
         action delete appliesTo {{ principal: [Agent], resource: [Entry] }};"
    );
    let text = format!("permit(principal, action, resource) when {{ {condition} }};");
    let named = |name, text| PolicyText { name, text };
    let policies = SafetyPolicies::load(&[named("p", &text)], named("s", &schema)).unwrap();
    policies
        .bind(facts, &[ActionDescription::new("delete", "me", "x")])
        .unwrap()
}

fn regions(
    map: &SafetyMap,
    facts: &Facts,
    table: &Table,
    pairs: &[Pair],
    limit: usize,
) -> Result<Regions, SupportError> {
    let (beliefs, impossible) = (
        plain::beliefs(facts, table),
        plain::impossible(facts, pairs),
    );
    map.regions(facts, &beliefs, &impossible, &ScoreWeights::EQUAL, limit)
}

fn ids(regions: &Regions) -> Vec<String> {
    regions
        .as_slice()
        .iter()
        .map(|region| region.id())
        .collect()
}

#[test]
fn facts_and_beliefs_have_to_fit_the_map() {
    let facts = wide(1, 3);
    let map = bind(&facts, "resource.f0");
    let table = plain::all_proposed(&facts);
    let beliefs = plain::beliefs(&facts, &table);
    let refused = |facts: &Facts, beliefs: &[Belief]| {
        let found = map.regions(facts, beliefs, &[], &ScoreWeights::EQUAL, 9);
        found.unwrap_err().to_string()
    };
    let of_the_beliefs = "the beliefs are not about the facts, one each in their order";
    assert_eq!(refused(&facts, &beliefs[..1]), of_the_beliefs);
    let swapped: Vec<Belief> = beliefs.iter().rev().cloned().collect();
    assert_eq!(refused(&facts, &swapped), of_the_beliefs);
    let of_the_map = "the safety map was bound to other facts";
    assert_eq!(refused(&wide(1, 4), &beliefs), of_the_map);
    assert_eq!(refused(&wide(2, 3), &beliefs), of_the_map);
}

#[test]
fn a_fact_may_have_64_values() {
    let most = wide(0, 64);
    let table = plain::all_proposed(&most);
    let found = regions(
        &bind(&most, "resource.text == \"v63\""),
        &most,
        &table,
        &[],
        9,
    )
    .unwrap();
    assert_eq!(found.as_slice().len(), 2);
    assert_eq!(found.as_slice()[1].id(), "text=v63");
    assert_eq!(found.as_slice()[0].values(0).count(), 63);
    assert!(found.as_slice()[1].admits(0, 63) && !found.as_slice()[1].admits(0, 64));

    let more = wide(0, 65);
    let table = plain::all_proposed(&more);
    let error = regions(
        &bind(&more, "resource.text == \"v63\""),
        &more,
        &table,
        &[],
        9,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "fact `text` has 65 values, for regions at most 64 are possible"
    );
}

#[test]
fn a_score_that_is_no_number_is_refused() {
    let facts = wide(2, 1);
    let huge = Terms {
        inconsistency: f64::MAX,
        ..Terms::NONE
    };
    let beliefs: Vec<Belief> = facts
        .as_slice()
        .iter()
        .map(|fact| {
            Belief::new(
                fact,
                fact.values().iter().map(|value| (value.as_str(), huge)),
            )
        })
        .collect::<Result<_, _>>()
        .unwrap();
    let map = bind(&facts, "resource.f0 && resource.f1");
    let found = map.regions(&facts, &beliefs, &[], &ScoreWeights::EQUAL, 9);
    assert!(matches!(found, Err(SupportError::Score(_))));
    // What no policy reads does not count.
    let map = bind(&facts, "resource.f0");
    let found = map.regions(&facts, &beliefs, &[], &ScoreWeights::EQUAL, 9);
    assert_eq!(ids(&found.unwrap()), ["f0=no", "f0=yes"]);
}

#[test]
fn evidence_that_contradicts_itself_leaves_no_region() {
    let facts = wide(2, 2);
    let map = bind(&facts, "resource.f0");
    let mut table = plain::all_proposed(&facts);
    // A value of a fact that no policy reads counts as evidence all the same.
    table[2] = vec![None, None];
    let found = regions(&map, &facts, &table, &[], 9).unwrap();
    assert!(found.as_slice().is_empty() && found.cut().is_none());
    table[2] = vec![Some(0), None];
    let never = [((0, 0), (2, 0)), ((0, 1), (2, 0))];
    let found = regions(&map, &facts, &table, &never, 9).unwrap();
    assert!(found.as_slice().is_empty() && found.cut().is_none());
}

#[test]
fn what_two_facts_contradict_is_not_the_reason_for_a_region() {
    let facts = wide(3, 1);
    let map = bind(&facts, "resource.f0 && resource.f1 && resource.f2");
    let table = plain::all_proposed(&facts);
    let all = [
        "f0=no",
        "f0=yes f1=no",
        "f0=yes f1=yes f2=no",
        "f0=yes f1=yes f2=yes",
    ];
    let found = |pairs: &[Pair]| {
        let mut ids = ids(&regions(&map, &facts, &table, pairs, 9).unwrap());
        ids.sort();
        ids
    };
    assert_eq!(found(&[]), all);
    // Where the first holds the second does not: nothing is left to ask of the third.
    assert_eq!(found(&[((0, 1), (1, 1))]), ["f0=no", "f0=yes f1=no"]);
    // A value that is impossible with every value of another fact, and one that is so with itself.
    assert_eq!(found(&[((0, 1), (1, 0)), ((0, 1), (1, 1))]), ["f0=no"]);
    assert_eq!(
        found(&[((0, 0), (0, 0))]),
        [
            "f0=yes f1=no",
            "f0=yes f1=yes f2=no",
            "f0=yes f1=yes f2=yes"
        ]
    );
    // Two values of one fact are never together anyway.
    assert_eq!(found(&[((0, 0), (0, 1))]), all);
}

/// That three facts contradict each other is not seen; what is then unsafe too much is so in no possible world.
#[test]
fn a_contradiction_of_three_facts_can_stay_as_a_region() {
    let facts = wide(4, 1);
    let map = bind(&facts, "resource.f3");
    let table = plain::all_proposed(&facts);
    // Of the first three facts no two are alike, which is impossible.
    let mut pairs = Vec::new();
    for (one, other) in [(0, 1), (1, 2), (0, 2)] {
        pairs.extend([0, 1].map(|value| ((one, value), (other, value))));
    }
    let found = regions(&map, &facts, &table, &pairs, 9).unwrap();
    assert_eq!(ids(&found), ["f3=no", "f3=yes"]);
}

#[test]
fn pairs_of_facts_that_there_are_not_say_nothing() {
    let facts = wide(1, 1);
    let map = bind(&facts, "resource.f0");
    let beliefs = plain::beliefs(&facts, &plain::all_proposed(&facts));
    let other = Impossible::new(&wide(3, 1), ("f0", "no"), ("f2", "no")).unwrap();
    let found = map.regions(&facts, &beliefs, &[other], &ScoreWeights::EQUAL, 9);
    assert_eq!(ids(&found.unwrap()), ["f0=no", "f0=yes"]);
}

/// A policy over 16 facts has 65,536 combinations of values. They are not all asked about where a few regions do.
#[test]
fn a_policy_that_reads_too_much_is_split_unasked() {
    let facts = wide(16, 1);
    let all: Vec<String> = (0..16).map(|at| format!("resource.f{at}")).collect();
    let map = bind(&facts, &all.join(" && "));
    let table: Table = plain::all_proposed(&facts);
    let few = regions(&map, &facts, &table, &[], 5).unwrap();
    assert_eq!(few.as_slice().len(), 5);
    let every = regions(&map, &facts, &table, &[], 10_000).unwrap();
    assert_eq!(every.cut(), None);
    let safe: Vec<_> = every
        .as_slice()
        .iter()
        .filter(|region| region.is_safe(0))
        .collect();
    assert_eq!(safe.len(), 1);
    assert!((0..16).all(|fact| safe[0].values(fact).eq(["yes"])));
    // The sizes of the regions add up to the number of all worlds.
    let sizes = every.as_slice().iter().map(|region| {
        (0..16)
            .map(|fact| region.values(fact).count())
            .product::<usize>()
    });
    assert_eq!(sizes.sum::<usize>(), 1 << 16);
}
