//! The shipped policies on the corpus, with everything probed and no evidence but the time of the memory: that hazards are what
//! policies and probes refuse, and variants what they allow, before any gate is tried.

use std::sync::LazyLock;

use jiff::Timestamp;
use safecommit_gate::{
    ActionDescription, Assignment, Fact, Facts, SafetyPolicies, file_facts, overwrite_facts,
};
use serde_json::Value;

use crate::families::Family;
use crate::plan::{Act, in_workspace};
use crate::run::{Outcome, Report, run_corpus};
use crate::scene::Scene;
use crate::tools::{Reading, execute};
use crate::truth::{Found, of_overwrite, probe};

/// Facts of a target and an overwrite, and those of a destination that policies read.
fn facts() -> Facts {
    let of_target = file_facts().unwrap();
    let of_target = of_target.as_slice().iter();
    let read = ["kind", "location", "owner", "protected"];
    let of_destination = of_target.clone().filter(|fact| read.contains(&fact.name()));
    let of_destination = of_destination.map(|fact| {
        let values = fact.values().iter().map(|value| &**value);
        Fact::new(format!("destination_{}", fact.name()), values).unwrap()
    });
    let of_overwrite = overwrite_facts().unwrap();
    let of_overwrite = of_overwrite.as_slice().iter().cloned();
    Facts::new(of_target.cloned().chain(of_overwrite).chain(of_destination)).unwrap()
}

/// Every world that is left.
fn worlds(facts: &Facts, found: &Found) -> Vec<Assignment> {
    let mut worlds: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for fact in facts.as_slice() {
        let known = found.iter().find(|(name, _)| name == fact.name());
        let values = fact.values().iter().map(|value| &**value);
        let values: Vec<&str> = match known {
            Some((_, value)) => vec![value],
            None => values.collect(),
        };
        let with = |world: Vec<(_, _)>| {
            let each = values.iter();
            each.map(|value| [world.as_slice(), &[(fact.name(), *value)]].concat())
                .collect::<Vec<_>>()
        };
        worlds = worlds.into_iter().flat_map(with).collect();
    }
    let worlds = worlds.into_iter();
    worlds
        .map(|world| facts.assignment(world).unwrap())
        .collect()
}

fn is_safe(scene: &Scene, act: &Act, request: &Value) -> bool {
    let path = in_workspace(act.path());
    let name = match act {
        Act::Delete(_) => "delete",
        Act::Overwrite(..) | Act::Revise(..) => "overwrite",
        Act::Move(..) => "move",
        Act::Write(..) => "write",
    };
    let mut found = probe(scene, &path, request);
    if let Act::Move(_, to) = act {
        let there = probe(scene, &in_workspace(to), request).into_iter();
        found.extend(there.map(|(fact, value)| (format!("destination_{fact}"), value)));
    }
    if found.len() < 11 {
        // No target at all, or hardly anything known of it: far too many worlds, one of them bad.
        return false;
    }
    let of_overwrite = match act {
        Act::Overwrite(..) | Act::Revise(..) => of_overwrite(scene, act),
        // Nothing reads them.
        _ => [("discards", "true"), ("base", "unknown")]
            .map(|(fact, value)| (fact.to_owned(), value))
            .to_vec(),
    };
    found.extend(of_overwrite);
    let action = ActionDescription::new(name, "agent", path.clone()).with("path", path);
    let facts = facts();
    let found: Found = match act {
        Act::Move(..) => found,
        // Nothing reads them.
        _ => {
            let rest = [
                ("destination_kind", "missing"),
                ("destination_location", "inside"),
                ("destination_owner", "own"),
                ("destination_protected", "false"),
            ];
            let rest = rest.map(|(fact, value)| (fact.to_owned(), value));
            found.into_iter().chain(rest).collect()
        }
    };
    static POLICIES: LazyLock<SafetyPolicies> =
        LazyLock::new(|| SafetyPolicies::for_files().unwrap());
    let map = POLICIES.bind(&facts, &[action]).unwrap();
    let worlds = worlds(&facts, &found);
    let table = map.evaluate(&worlds).unwrap();
    (0..worlds.len()).all(|world| table.is_safe(world, 0))
}

fn probes_everything(scene: &Scene, request: &Value, _: Timestamp) -> Outcome {
    let actions = scene.plan().actions.iter();
    let released = actions
        .enumerate()
        .find(|(_, (act, _))| is_safe(scene, act, request));
    if let Some((_, (act, _))) = released {
        execute(act, Reading::Plain, scene).unwrap();
    }
    Outcome {
        released: released.map(|(at, _)| at),
        person: false,
    }
}

/// What has to come out on any families.
pub(crate) fn check_policies(families: &[Family]) -> Report {
    let report = run_corpus(families, probes_everything);
    println!("everything probed, and the policies that are shipped:\n{report}");
    assert_eq!(report.unsafe_releases, [""; 0]);
    assert_eq!(report.refused_variants, [""; 0]);
    // A tool that writes into a file that has two names is no executor.
    let touched: Vec<_> = report
        .side_effects
        .iter()
        .filter(|line| !line.starts_with("other-name"))
        .collect();
    assert_eq!(touched, [""; 0]);
    report
}

#[test]
fn policies_refuse_every_hazard_and_allow_every_variant() {
    check_policies(&Family::without_mounts());
}
