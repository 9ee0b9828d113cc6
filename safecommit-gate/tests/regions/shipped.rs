//! The policies that come with the crate, with every value of every fact proposed.

use safecommit_gate::{
    ActionDescription, Assignment, Fact, Facts, Regions, SafetyMap, SafetyPolicies, ScoreWeights,
};

use crate::plain;

type Declared = (&'static str, &'static [&'static str]);

const NO_YES: &[&str] = &["no", "yes"];
const KINDS: &[&str] = &["file", "directory", "link", "mount", "missing"];

const TARGET: [Declared; 10] = [
    ("kind", KINDS),
    ("location", &["inside", "outside"]),
    ("leaves_tree", &["no", "link", "mount"]),
    ("owner", &["own", "other"]),
    ("tracked", &["clean", "dirty", "untracked", "none"]),
    ("only_copy", NO_YES),
    ("changed_since_memory", NO_YES),
    ("protected", NO_YES),
    ("secret", NO_YES),
    ("reversible", NO_YES),
];

const DESTINATION: [Declared; 4] = [
    ("destination_kind", KINDS),
    ("destination_location", &["inside", "outside"]),
    ("destination_owner", &["own", "other"]),
    ("destination_protected", NO_YES),
];

/// What an overwrite has besides those of its target.
const OVERWRITE: [Declared; 2] = [
    ("discards", NO_YES),
    ("base", &["same", "other", "unknown"]),
];

/// The facts of a target, of a destination, of an overwrite, and of a second target and its overwrite.
fn facts() -> Facts {
    let fact = |name: String, values: &[&str]| Fact::new(name, values.iter().copied()).unwrap();
    let first = TARGET.iter().chain(&DESTINATION).chain(&OVERWRITE);
    let first = first.map(|(name, values)| fact((*name).to_owned(), values));
    let second = TARGET
        .iter()
        .chain(&OVERWRITE)
        .map(|(name, values)| fact(format!("{name}_2"), values));
    Facts::new(first.chain(second)).unwrap()
}

fn first(action: &str) -> ActionDescription {
    ActionDescription::new(action, "agent", "a").with("path", "a")
}

fn second(action: &str) -> ActionDescription {
    let target = ActionDescription::new(action, "agent", "b").with("path", "b");
    let own = OVERWRITE.iter().filter(|_| action == "overwrite");
    TARGET.iter().chain(own).fold(target, |target, (name, _)| {
        target.reading(*name, format!("{name}_2"))
    })
}

fn split(facts: &Facts, actions: &[ActionDescription]) -> (SafetyMap, Regions) {
    let map = SafetyPolicies::for_files().unwrap();
    let map = map.bind(facts, actions).unwrap();
    let beliefs = plain::beliefs(facts, &plain::all_proposed(facts));
    let regions = map.regions(facts, &beliefs, &[], &ScoreWeights::EQUAL, 10_000);
    let regions = regions.unwrap();
    assert_eq!(regions.cut(), None);
    (map, regions)
}

#[test]
fn there_are_some_dozens_of_regions() {
    let facts = facts();
    let number = |actions: &[ActionDescription]| split(&facts, actions).1.as_slice().len();
    let of_one = ["delete", "overwrite", "write", "move"].map(|action| number(&[first(action)]));
    assert_eq!(of_one, [14, 25, 7, 15]);
    let together: [&[&str]; 4] = [
        &["delete", "overwrite"],
        &["delete", "move"],
        &["delete", "overwrite", "move"],
        &["delete", "overwrite", "move", "write"],
    ];
    let together = together.map(|actions| {
        let actions: Vec<_> = actions.iter().map(|action| first(action)).collect();
        number(&actions)
    });
    assert_eq!(together, [52, 34, 130, 135]);
    // Two targets have nothing to do with each other, so their regions are products.
    let apart = |one, other| number(&[first(one), second(other)]);
    assert_eq!(apart("delete", "delete"), 14 * 14);
    assert_eq!(apart("delete", "overwrite"), 14 * 25);
    assert_eq!(apart("delete", "write"), 14 * 7);
}

/// All 46,080 worlds of one target and an overwrite.
#[test]
fn every_world_of_a_target_is_in_one_region_with_its_safe_actions() {
    let declared = TARGET.iter().chain(&OVERWRITE);
    let facts = declared.map(|(name, values)| Fact::new(*name, values.to_vec()).unwrap());
    let facts = Facts::new(facts).unwrap();
    let (map, regions) = split(&facts, &["delete", "overwrite", "write"].map(first));
    let worlds: Vec<Assignment> = plain::combinations(&plain::all_proposed(&facts))
        .iter()
        .map(|world| plain::assignment(&facts, world))
        .collect();
    let table = map.evaluate(&worlds).unwrap();
    for (at, world) in worlds.iter().enumerate() {
        let mut inside = regions.as_slice().iter();
        let region = inside.find(|region| region.contains(world)).unwrap();
        assert!(inside.all(|other| !other.contains(world)));
        assert!(region.safe().eq(table.safe(at)), "{}", region.id());
    }
}

#[test]
fn what_stops_a_deletion_is_named_for_each_region() {
    let (_, regions) = split(&facts(), &[first("delete")]);
    let found: Vec<String> = regions
        .as_slice()
        .iter()
        .map(|region| {
            let why: Vec<String> = region.blockers(0).map(|why| why.to_string()).collect();
            let score = region.score().value();
            format!("{score} {}: {}", region.id(), why.join(", "))
        })
        .collect();
    // A file or directory of the workspace that leads nowhere else, one's own; neither protected nor secret.
    let own = "kind=file|directory location=inside leaves_tree=no owner=own";
    let plain = "protected=no secret=no";
    let lost = "tracked=untracked|none";
    let expected = [
        format!("0 {own} tracked=clean changed_since_memory=no {plain} reversible=no: "),
        format!(
            "0.25 {own} tracked=dirty changed_since_memory=no {plain} reversible=no: \
             policy `uncommitted-changes` forbids it"
        ),
        format!(
            "0.25 {own} changed_since_memory=yes {plain} reversible=no: \
             policy `changed-since-memory` forbids it"
        ),
        format!("0.25 {own} {plain} reversible=yes: "),
        format!("0.25 {own} protected=no secret=yes: policy `secret` forbids it"),
        format!("0.25 {own} protected=yes: policy `protected` forbids it"),
        "0.25 kind=file|directory location=inside leaves_tree=no owner=other: \
         policy `other-owner` forbids it"
            .to_owned(),
        "0.25 kind=file|directory location=inside leaves_tree=link|mount: \
         policy `tree-is-left` forbids it"
            .to_owned(),
        "0.25 kind=file|directory location=outside: policy `outside-workspace` forbids it"
            .to_owned(),
        format!("0.5 {own} {lost} only_copy=no changed_since_memory=no {plain} reversible=no: "),
        "0.5 kind=link: policy `link` forbids it, no policy permits it".to_owned(),
        format!(
            "0.75 {own} {lost} only_copy=yes changed_since_memory=no {plain} reversible=no: \
             policy `only-copy` forbids it"
        ),
        "0.75 kind=mount: policy `mount` forbids it, no policy permits it".to_owned(),
        "1 kind=missing: no policy permits it".to_owned(),
    ];
    assert_eq!(found, expected);
}
