//! What is true of a scene, found out by every probe that there is.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use safecommit_conformal::Digest;
use safecommit_gate::audit::Label;
use safecommit_gate::{FileProbe, FileQuestion, FileSettings, ProbeOutcome, Workspace};
use serde_json::Value;

use crate::plan::{Act, in_workspace};
use crate::scene::Scene;

/// What is found out about a path: a fact has one value, or is not named.
pub(crate) type Found = Vec<(String, &'static str)>;

/// What a path in the workspace is, without asking a gate.
pub(crate) fn probe(scene: &Scene, path: &str, request: &Value) -> Found {
    let workspace = Workspace::open(scene.workspace()).unwrap();
    let mut settings = FileSettings::new().unwrap();
    settings.owner = scene.owner();
    settings.memory = remembered(path, request);
    let target = workspace.target(path);
    let mut found = Found::new();
    for question in FileQuestion::ALL {
        let outcome = match &target {
            Ok(target) => FileProbe::new(question).make(&workspace, target, &settings),
            Err(error) => ProbeOutcome::of_refused_path(error.clone()),
        };
        if let ProbeOutcome::Found(facts) = outcome {
            for (fact, value) in facts {
                if found.iter().all(|(known, _)| known != fact) {
                    found.push((fact.to_owned(), value));
                }
            }
        }
    }
    found
}

/// What its content has to do with what is there, of an overwrite; nothing of anything else.
pub(crate) fn of_overwrite(scene: &Scene, act: &Act) -> Found {
    let (path, content, seen) = match act {
        Act::Overwrite(path, content) => (path, content, None),
        Act::Revise(path, content, seen) => (path, content, Some(seen)),
        _ => return Found::new(),
    };
    let workspace = Workspace::open(scene.workspace()).unwrap();
    let Ok(target) = workspace.target(in_workspace(path)) else {
        return Found::new();
    };
    let probe = FileProbe::new(FileQuestion::StagedDiff);
    let settings = FileSettings::new().unwrap();
    let base = seen.map(|seen| Digest::of_bytes(seen.as_bytes()));
    match probe.make_for_overwrite(&workspace, &target, content.as_bytes(), base, &settings) {
        ProbeOutcome::Found(found) => {
            let found = found.into_iter();
            found
                .map(|(fact, value)| (fact.to_owned(), value))
                .collect()
        }
        _ => Found::new(),
    }
}

/// When what is known of a path was so: the earliest time that a record of it, of what it is in or of what is in it goes back
/// to, unless nobody but the host, the person or the policy named the path itself later.
fn remembered(path: &str, request: &Value) -> Option<Timestamp> {
    let (path, records) = (Path::new(path), request["evidence"].as_array().unwrap());
    let (mut first, mut named): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for record in records {
        let entity = Path::new(record["entity"].as_str().unwrap());
        if !entity.starts_with(path) && !path.starts_with(entity) {
            continue;
        }
        let behind = behind(record, records);
        let times = behind.iter().map(|record| record["recorded"].as_str());
        let since: Option<Timestamp> = times.map(|time| time.unwrap().parse().unwrap()).min();
        first = first.into_iter().chain(since).min();
        let of_agent = |record: &&Value| record["source"] == "memory" || record["source"] == "tool";
        if entity == path && !behind.iter().any(of_agent) {
            named = named.max(since);
        }
    }
    first.max(named)
}

/// A record, and all that it was made from.
fn behind<'r>(record: &'r Value, records: &'r [Value]) -> Vec<&'r Value> {
    let from = record["derived_from"].as_array().into_iter().flatten();
    let from = from.flat_map(|id| records.iter().filter(move |record| record["id"] == *id));
    let all = from.flat_map(|record| behind(record, records));
    std::iter::once(record).chain(all).collect()
}

/// The label of the decision: what is true of each target and overwrite, under the names that the gate has for the facts.
pub(crate) fn label(scene: &Scene, request: &Value) -> Label {
    let mut paths: Vec<String> = Vec::new();
    for (act, _) in &scene.plan().actions {
        for path in act.paths() {
            let path = in_workspace(path);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let mut facts = BTreeMap::new();
    for (number, path) in (1..).zip(&paths) {
        for (fact, value) in probe(scene, path, request) {
            let name = match number {
                1 => fact,
                _ => format!("{fact}_{number}"),
            };
            facts.insert(name, value.to_owned());
        }
    }
    for (number, (act, _)) in (1..).zip(&scene.plan().actions) {
        for (fact, value) in of_overwrite(scene, act) {
            facts.insert(format!("overwrite_{number}_{fact}"), value.to_owned());
        }
    }
    Label {
        decision: scene.plan().name(),
        true_world: None,
        true_facts: Some(facts),
        safe_actions: None,
    }
}
