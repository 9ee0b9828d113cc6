//! What is true of a scene, found out by every probe that there is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use safecommit_gate::audit::Label;
use safecommit_gate::{FileProbe, FileQuestion, FileSettings, ProbeOutcome, Workspace};
use serde_json::Value;

use crate::plan::in_workspace;
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

/// When what is known of a path was so: what was first said of it, unless the person named it later.
fn remembered(path: &str, request: &Value) -> Option<Timestamp> {
    let records = request["evidence"].as_array().unwrap().iter();
    let (mut first, mut named): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for record in records.filter(|record| record["entity"] == path) {
        let time: Timestamp = record["recorded"].as_str().unwrap().parse().unwrap();
        first = Some(first.map_or(time, |first| first.min(time)));
        if record["source"] == "user" {
            named = named.max(Some(time));
        }
    }
    first.max(named)
}

/// The label of the decision: what is true of each target, under the names that the gate has for the facts.
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
    Label {
        decision: scene.plan().name(),
        true_world: None,
        true_facts: Some(facts),
        safe_actions: None,
    }
}
