//! Which worlds facts leave, against the enumeration of all ways in which facts may have values.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use safecommit_gate::audit::{AuditError, Fit, LabelError, WorldName};
use serde_json::json;

use crate::labels::{append, diagnose, label, request, score};
use crate::support::Place;

/// Facts with their values, and one more value each that nobody declared.
const FACTS: [(&str, &[&str]); 3] = [
    ("kind", &["file", "directory", "link"]),
    ("owner", &["own", "other"]),
    ("tracked", &["clean", "dirty", "none"]),
];
const UNDECLARED: &str = "undeclared";

/// For each fact the values that a world admits.
type Region = [BTreeSet<&'static str>; 3];

/// All regions of a partition: the whole is split again and again at a fact and a set of values.
fn partition(splits: &[(usize, usize, u8)]) -> Vec<Region> {
    let mut regions = vec![FACTS.map(|(_, values)| values.iter().copied().collect())];
    for (region, fact, mask) in splits {
        let at = region % regions.len();
        let whole: Region = regions[at].clone();
        let values = whole[*fact].iter().copied().enumerate();
        let (one, other): (Vec<_>, Vec<_>) = values.partition(|(bit, _)| mask >> bit & 1 == 1);
        if one.is_empty() || other.is_empty() {
            continue;
        }
        let part = |values: Vec<(usize, &'static str)>| {
            let mut part = whole.clone();
            part[*fact] = values.into_iter().map(|(_, value)| value).collect();
            part
        };
        regions[at] = part(one);
        regions.push(part(other));
    }
    regions
}

fn name_of(region: &Region) -> String {
    let restricted = FACTS.iter().zip(region);
    let restricted = restricted.filter(|((_, values), admitted)| admitted.len() < values.len());
    let parts: Vec<String> = restricted
        .map(|((fact, values), admitted)| {
            let values = values
                .iter()
                .copied()
                .filter(|value| admitted.contains(value));
            format!("{fact}={}", values.collect::<Vec<_>>().join("|"))
        })
        .collect();
    if parts.is_empty() {
        "any".to_owned()
    } else {
        parts.join(" ")
    }
}

/// Every way in which all facts may have a value, those that the label names as it says.
fn completions(told: &[Option<&'static str>; 3]) -> Vec<[&'static str; 3]> {
    let values = |fact: usize| -> Vec<&'static str> {
        let all = FACTS[fact].1.iter().copied().chain([UNDECLARED]);
        all.filter(|value| told[fact].is_none_or(|told| told == *value))
            .collect()
    };
    let mut all = Vec::new();
    for kind in values(0) {
        for owner in values(1) {
            all.extend(values(2).into_iter().map(|tracked| [kind, owner, tracked]));
        }
    }
    all
}

/// A region that admits all declared values of a fact says nothing about it.
fn admits(region: &Region, world: &[&'static str; 3]) -> bool {
    (0..3)
        .all(|fact| region[fact].len() == FACTS[fact].1.len() || region[fact].contains(world[fact]))
}

/// How many of all ways are in a region, in words.
fn fit_of(region: &Region, told: &[Option<&'static str>; 3]) -> Fit {
    let all = completions(told);
    match all.iter().filter(|world| admits(region, world)).count() {
        0 => Fit::Excluded,
        inside if inside == all.len() => Fit::Certain,
        _ => Fit::Possible,
    }
}

fn told() -> impl Strategy<Value = [Option<&'static str>; 3]> {
    let value = |fact: usize| {
        let values: Vec<&str> = FACTS[fact].1.iter().copied().chain([UNDECLARED]).collect();
        prop::option::of(prop::sample::select(values))
    };
    [value(0), value(1), value(2)]
}

fn facts_of(told: &[Option<&'static str>; 3]) -> BTreeMap<String, String> {
    let facts = FACTS.iter().zip(told);
    facts
        .filter_map(|((fact, _), value)| Some(((*fact).to_owned(), (*value)?.to_owned())))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn facts_leave_what_enumeration_leaves(
        splits in prop::collection::vec((any::<usize>(), 0..3_usize, any::<u8>()), 0..6),
        proposed in any::<u16>(),
        safe in any::<u16>(),
        left_out in any::<bool>(),
        labels in prop::collection::vec((told(), prop::option::of(any::<bool>())), 1..12),
    ) {
        let regions = partition(&splits);
        let regions: Vec<Region> = regions
            .into_iter()
            .enumerate()
            .filter(|(at, _)| proposed >> at & 1 == 1)
            .map(|(_, region)| region)
            .collect();
        let mut names: Vec<String> = regions.iter().map(name_of).collect();
        names.extend(left_out.then(|| "left-out".to_owned()));
        let is_safe = |at: usize| safe >> at & 1 == 1;
        let score_of = |at: usize| f64::from(u32::try_from((at * 7) % 10).unwrap()) / 10.0;
        let worlds: Vec<(&str, f64, bool)> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), score_of(at), is_safe(at))).collect();
        let place = Place::new();
        append(&mut place.create(), "d", request(&worlds));

        for (told, safe) in labels {
            let facts = facts_of(&told);
            for (region, name) in regions.iter().zip(&names) {
                let name: WorldName = name.parse().unwrap();
                prop_assert_eq!(name.fit(&facts), fit_of(region, &told));
            }
            // Every completion has one place: the region that it is in, or else what was left out, or none.
            let places: BTreeSet<Option<usize>> = completions(&told)
                .iter()
                .map(|world| {
                    let region = regions.iter().position(|region| admits(region, world));
                    region.or(left_out.then_some(regions.len()))
                })
                .collect();
            let certain = places.len() == 1;
            let mut left: Vec<usize> = places.iter().copied().flatten().collect();
            if left_out && !certain && !left.contains(&regions.len()) {
                // Facts that are not told may have values that nobody thought of.
                left.push(regions.len());
            }
            let mut json = json!({"true_facts": facts});
            if let Some(safe) = safe {
                json["safe_actions"] = if safe { json!(["delete-1"]) } else { json!([]) };
                if !certain {
                    left.retain(|at| is_safe(*at) == safe);
                }
            }
            let labels = label("d", json);
            let (found, diagnosis) = (score(&place, &labels), diagnose(&place, &labels));
            if !certain && left.is_empty() {
                let contradicts = |error| matches!(error, AuditError::Label(LabelError::Contradiction { .. }));
                prop_assert!(contradicts(found.unwrap_err()) && contradicts(diagnosis.unwrap_err()));
                continue;
            }
            let largest = left.iter().map(|at| score_of(*at)).reduce(f64::max);
            prop_assert_eq!(found.unwrap(), largest);
            let worlds = diagnosis.unwrap().worlds;
            prop_assert_eq!(worlds.cases, u64::from(certain));
            prop_assert_eq!(worlds.missing, u64::from(certain && left.is_empty()));
        }
    }
}
