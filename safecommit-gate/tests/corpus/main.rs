//! A corpus of file scenes, each hazard with the same scene without it, labelled by carrying the actions out in scratch copies.
//!
//! A gate is tried on it by [`run::run_corpus`]: a function that is given a scene that stands, the request, and the time of the
//! decision, that acts on the scene, and says what it released.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod calibrated;
mod compared;
mod draw;
mod families;
mod gated;
mod label;
mod mounts;
mod names;
#[path = "../common/own_mounts.rs"]
mod own_mounts;
mod plan;
mod probed;
mod reference;
mod requests;
mod run;
mod scene;
mod snapshot;
mod tools;
mod truth;

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use families::Family;
use label::Harm;
use plan::Role;

/// Hazards, variants and what is neither, of the families that need nothing but files.
const SCENES: (usize, usize, usize) = (935, 1035, 223);

/// The digest of every plan. It changes with the generator, and only on purpose.
const DIGEST: &str = "8d62d32765f1d995ae4fbdc9df501b987d1c63e945b3a792754cfa480b34074a";

#[test]
fn every_hazard_does_harm_and_nothing_else_does() {
    for family in Family::without_mounts() {
        check_labels(family);
    }
}

/// That the labels of a family are those for which it was made.
fn check_labels(family: Family) {
    for scene in family.labelled() {
        let Some(labels) = &scene.labels else {
            continue;
        };
        let plan = &scene.plan;
        let harmful = labels.iter().filter(|label| label.is_harmful()).count();
        let expected = usize::from(plan.role == Role::Hazard);
        assert_eq!(harmful, expected, "{labels:?} of {plan:#?}");
        if plan.role == Role::Variant {
            assert!(
                labels.iter().all(|label| label.harms.is_empty()),
                "{labels:?} of {plan:#?}"
            );
        }
    }
}

#[test]
fn every_kind_of_harm_is_there() {
    let mut seen: BTreeMap<Harm, usize> = BTreeMap::new();
    for family in Family::without_mounts() {
        let labels = family.labelled().iter().flat_map(|scene| &scene.labels);
        for harm in labels.flatten().flat_map(|label| &label.harms) {
            *seen.entry(*harm).or_default() += 1;
        }
    }
    // What is lost for good takes a mount: all else can be moved aside.
    let harms = [
        Harm::Outside,
        Harm::Elsewhere,
        Harm::OtherOwner,
        Harm::Protected,
        Harm::Secret,
        Harm::InTheWay,
        Harm::Newer,
        Harm::OtherName,
    ];
    for harm in harms {
        assert!(
            seen.get(&harm).is_some_and(|count| *count >= 20),
            "{harm:?}: {seen:?}"
        );
    }
}

/// Both scenes of a pair ask and say the same, unless the hazard is in a name.
#[test]
fn a_variant_differs_only_in_the_hazard() {
    let in_a_name = ["protected", "secret", "inner-repository", "destination"];
    let families = Family::without_mounts().into_iter();
    for family in families.filter(|family| !in_a_name.contains(&family.name())) {
        let plans = family.plans();
        let hazards = plans.iter().filter(|plan| plan.role == Role::Hazard);
        for hazard in hazards.filter(|hazard| hazard.shape != "path leads up") {
            let same =
                |plan: &&plan::Plan| plan.index == hazard.index && plan.role == Role::Variant;
            let variant = plans.iter().find(same).unwrap();
            let asked = |plan: &plan::Plan| format!("{:?} {:?}", plan.actions, plan.evidence);
            assert_eq!(asked(hazard), asked(variant));
            let made = |plan: &plan::Plan| {
                let steps = [&plan.before[..], &plan.after].concat();
                format!("{steps:?} {}", plan.owned_by_other)
            };
            assert_ne!(made(hazard), made(variant));
        }
    }
}

#[test]
fn the_corpus_is_the_same_everywhere() {
    let mut hash = Sha256::new();
    let (mut counts, mut pairs) = ([0; 3], 0);
    let families = [Family::without_mounts(), Family::with_mounts()].concat();
    for family in families {
        let plans = family.plans();
        let hazards = plans.iter().filter(|plan| plan.role == Role::Hazard);
        let numbers: BTreeSet<usize> = hazards.map(|plan| plan.index).collect();
        for plan in &plans {
            hash.update(serde_json::to_string(plan).unwrap());
            if family.name() != "mount" {
                counts[plan.role as usize] += 1;
            }
        }
        for number in numbers {
            let of_one = |role| {
                let same = |plan: &&plan::Plan| plan.index == number && plan.role == role;
                plans.iter().any(|plan| same(&plan))
            };
            assert!(of_one(Role::Variant), "{} {number}", family.name());
            pairs += 1;
        }
    }
    assert!(pairs >= 600, "{pairs}");
    assert_eq!((counts[0], counts[1], counts[2]), SCENES);
    let digest: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(digest, DIGEST);
}
