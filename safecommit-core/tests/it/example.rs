//! The paper's example through all its branches: an agent is to remove temporary outputs and to send a
//! note. The path may have become a link to shared results, the recipient may have been injected.

use safecommit_core::{Case, DecisionKind, DecisionRecord, Request};
use serde_json::{Value, json};

const EVERYTHING: [&str; 4] = ["delete", "stage", "send", "inspect"];

/// The request over these candidates, after these observations.
fn request(candidates: &[&str], observed: Value) -> Value {
    let action = |id: &str, reward: f64, severity: f64, reversible: bool| json!({"id": id, "reward": reward, "severity": severity, "reversible": reversible});
    let all = [
        action("delete", 1.0, 0.6, false),
        action("stage", 0.6, 0.1, true),
        action("send", 1.0, 0.4, false),
        action("inspect", 0.1, 0.0, true),
    ];
    let is_candidate = |id: &Value| candidates.iter().any(|&candidate| id == candidate);
    let actions: Vec<_> = all
        .into_iter()
        .filter(|action| is_candidate(&action["id"]))
        .collect();
    let world = |id: &str, score: f64, safe: &[&str]| {
        let safe: Vec<_> = safe
            .iter()
            .filter(|action| candidates.contains(action))
            .collect();
        json!({"id": id, "score": score, "safe": safe})
    };
    json!({
        "actions": actions,
        "worlds": [
            world("w1", 0.18, &EVERYTHING),
            world("w2", 0.27, &["stage", "send"]),
            world("w3", 0.34, &["inspect"])
        ],
        "probes": [
            {"id": "are you sure?", "cost": 0.1,
             "outcomes": [{"id": "sure", "worlds": ["w1", "w2", "w3"]}, {"id": "no", "worlds": []}]},
            {"id": "directory", "cost": 1.0, "error_rate": 0.001,
             "outcomes": [{"id": "current", "worlds": ["w1", "w2"]},
                          {"id": "superseded", "worlds": ["w3"]}]},
            {"id": "lstat", "cost": 2.0,
             "outcomes": [{"id": "directory", "worlds": ["w1", "w3"]},
                          {"id": "link", "worlds": ["w2"]}]}
        ],
        "observed": observed,
    })
}

fn decide(request: Value) -> DecisionRecord {
    let request: Request = serde_json::from_value(request).unwrap();
    Case::new(request).unwrap().decide(None).record().clone()
}

/// `verdict` is what to do: the action of a commit, the name of a probe, the reason of a fallback.
fn check(
    candidates: &[&str],
    observed: Value,
    kind: DecisionKind,
    verdict: &str,
) -> DecisionRecord {
    let record = decide(request(candidates, observed));
    assert_eq!(record.decision, kind, "{record:?}");
    let said = match kind {
        DecisionKind::Commit => record.action.clone(),
        DecisionKind::Probe => record.probe.as_ref().map(|probe| probe.id.clone()),
        _ => record
            .fallback
            .as_ref()
            .map(|fallback| fallback.reason.clone()),
    };
    assert_eq!(said.as_deref(), Some(verdict), "{record:?}");
    record
}

fn saw(probe: &str, outcome: &str) -> Value {
    json!([{"probe": probe, "outcome": outcome}])
}

#[test]
fn nothing_is_certified_before_any_probe() {
    let record = check(&EVERYTHING, json!([]), DecisionKind::Probe, "directory");
    let blocked: Vec<_> = record
        .actions
        .iter()
        .map(|action| action.blocked_by.join(" "))
        .collect();
    assert_eq!(blocked, ["w2 w3", "w3", "w3", "w2"]);
    assert!(record.actions.iter().all(|action| !action.certified));
    // Each world stands alone: they differ in some action.
    assert_eq!(record.classes.len(), 3);
    // exp(-s / 0.25) of the third world's score over the sum.
    let weights = [0.18_f64, 0.27, 0.34].map(|score| (-score / 0.25).exp());
    let share = weights[2] / weights.iter().sum::<f64>();
    let probe = record.probe.unwrap();
    assert!((probe.expected_shrinkage - share).abs() < 1e-12);
    assert!((probe.score - share / probe.cost).abs() < 1e-12);
    assert_eq!(probe.outcomes, ["current", "superseded"]);
}

#[test]
fn asking_whether_the_agent_is_sure_tells_nothing() {
    let record = check(
        &EVERYTHING,
        saw("are you sure?", "sure"),
        DecisionKind::Probe,
        "directory",
    );
    assert!(record.worlds.iter().all(|world| world.removed_by.is_none()));
}

#[test]
fn a_current_recipient_certifies_the_note() {
    let record = check(
        &EVERYTHING,
        saw("directory", "current"),
        DecisionKind::Commit,
        "send",
    );
    let certificate = record.certificate.unwrap();
    assert_eq!(certificate.safe_in, ["w1", "w2"]);
    assert_eq!(certificate.observations, 1);
    assert_eq!(record.bound.probe_errors[0].probe, "directory");
    assert_eq!(record.worlds[2].removed_by.as_deref(), Some("directory"));
}

#[test]
fn a_superseded_recipient_leaves_the_inspection() {
    check(
        &EVERYTHING,
        saw("directory", "superseded"),
        DecisionKind::Commit,
        "inspect",
    );
    let actions = ["delete", "stage", "send"];
    let nothing = "nothing_safe_anywhere";
    check(
        &actions,
        saw("directory", "superseded"),
        DecisionKind::Abstain,
        nothing,
    );
}

#[test]
fn the_link_check_resolves_the_path() {
    check(
        &EVERYTHING,
        saw("lstat", "link"),
        DecisionKind::Commit,
        "send",
    );
    check(
        &EVERYTHING,
        saw("lstat", "directory"),
        DecisionKind::Commit,
        "inspect",
    );
    let both = |path: &str| json!([{"probe": "directory", "outcome": "current"}, {"probe": "lstat", "outcome": path}]);
    check(
        &["delete"],
        both("directory"),
        DecisionKind::Commit,
        "delete",
    );
    check(
        &["delete"],
        both("link"),
        DecisionKind::Abstain,
        "nothing_safe_anywhere",
    );
    // The reversible move takes the place of the deletion.
    check(
        &["delete", "stage"],
        both("link"),
        DecisionKind::Commit,
        "stage",
    );
    check(
        &["delete", "stage"],
        saw("directory", "current"),
        DecisionKind::Commit,
        "stage",
    );
}

#[test]
fn answers_that_contradict_each_other_escalate() {
    let observed = json!([
        {"probe": "directory", "outcome": "superseded"}, {"probe": "lstat", "outcome": "link"}
    ]);
    let record = check(
        &EVERYTHING,
        observed,
        DecisionKind::Escalate,
        "every_world_refuted",
    );
    assert!(record.actions.iter().all(|action| !action.certified));
    assert!(
        record
            .actions
            .iter()
            .all(|action| action.residual_mass.is_none())
    );
    check(
        &EVERYTHING,
        saw("are you sure?", "no"),
        DecisionKind::Escalate,
        "every_world_refuted",
    );
}

#[test]
fn probes_that_fail_leave_the_dispute_open() {
    let failed = json!([
        {"probe": "directory", "outcome": null}, {"probe": "lstat", "outcome": null}
    ]);
    check(
        &EVERYTHING,
        failed.clone(),
        DecisionKind::Escalate,
        "unresolved",
    );
    let with = |flag: &str| {
        let mut request = request(&EVERYTHING, failed.clone());
        request[flag] = json!(true);
        decide(request).fallback.unwrap().reason
    };
    assert_eq!(with("authority_missing"), "authority_missing");
    assert_eq!(with("fresh_evidence_expected"), "fresh_evidence_expected");
    let mut repeatable = request(&EVERYTHING, failed);
    repeatable["probes"][1]["repeatable_later"] = json!(true);
    let fallback = decide(repeatable).fallback.unwrap();
    assert_eq!(fallback.reason, "probe_repeatable_later");
    assert_eq!(
        fallback.explanation,
        "the probe `directory` may be repeated later; no remaining probe helps"
    );
}

#[test]
fn a_budget_of_no_probe_falls_back_at_once() {
    let mut request = request(&EVERYTHING, json!([]));
    request["settings"] = json!({"max_probes": 0});
    let fallback = decide(request).fallback.unwrap();
    assert_eq!(fallback.reason, "unresolved");
    assert_eq!(
        fallback.explanation,
        "every action is unsafe in some plausible world; the probe budget is spent"
    );
}
