//! Which threshold governs a request whose candidates belong to several groups.

use safecommit_conformal::{
    CalibrationScore, Misses, MondrianCalibration, Score, Stratum, Taxonomy,
};
use safecommit_core::DecisionKind;
use safecommit_gate::audit::GroupBy;
use safecommit_gate::{EvidenceRecord, FileDecision, FileGate, FileProposal, GateCalibration};
use serde_json::{Value, json};

use crate::support::{Scene, now, request};

const WRITE: &str = r#"{"action": "write", "path": "new", "content": "four"}"#;
const MOVE: &str = r#"{"action": "move", "path": "kept", "to": "elsewhere"}"#;
const DELETE: &str = r#"{"action": "delete", "path": "kept"}"#;

/// A gate with these thresholds by severity.
fn gate(scene: &Scene, thresholds: &[(&str, f64)]) -> FileGate {
    let version = scene.gate().score_version().to_owned();
    let strata = thresholds
        .iter()
        .map(|(name, _)| name.parse::<Stratum>().unwrap());
    let strata: Vec<Stratum> = strata.collect();
    let mut cases = Vec::new();
    for (stratum, (_, threshold)) in strata.iter().zip(thresholds) {
        let score = CalibrationScore::Observed(Score::new(*threshold).unwrap());
        cases.extend((0..19).map(|_| (stratum.clone(), score)));
    }
    let taxonomy = Taxonomy::new(strata).unwrap();
    let alpha = "0.1".parse().unwrap();
    let all = MondrianCalibration::new(alpha, taxonomy, &cases, Misses::AllListed).unwrap();
    let calibration = GateCalibration::by_stratum(version, [GroupBy::Severity], all).unwrap();
    scene.gate_with(scene.domain(), Some(calibration), |gate| gate)
}

fn decide(gate: &mut FileGate, name: &str, actions: &[&str]) -> FileDecision {
    let actions = actions
        .iter()
        .map(|action| serde_json::from_str::<Value>(action).unwrap());
    let actions: Vec<Value> = actions.collect();
    let asked = request(json!({"decision": name, "actions": actions}));
    gate.decide(&asked, now()).unwrap()
}

/// The stratum that governs with its threshold, and the group that the record is of.
fn governing(
    gate: &FileGate,
    name: &str,
    decision: &FileDecision,
) -> (String, Option<f64>, String) {
    let asked = decision.decided().case().request();
    let recorded = gate.log().reader().unwrap().record(name).unwrap().unwrap();
    let threshold = decision.record().threshold;
    let group = recorded.entry.group.severity.unwrap();
    (
        asked.stratum.as_ref().unwrap().to_string(),
        threshold,
        group,
    )
}

#[test]
fn a_candidate_that_is_added_never_lowers_the_threshold() {
    for (high, medium, low) in [
        (0.1, 0.2, 0.4),
        (0.4, 0.2, 0.1),
        (0.2, 0.4, 0.1),
        (0.3, 0.3, 0.3),
    ] {
        let scene = Scene::new();
        scene.write("kept", "text");
        let mut gate = gate(&scene, &[("high", high), ("medium", medium), ("low", low)]);
        let all = [
            (WRITE, low, "low"),
            (MOVE, medium, "medium"),
            (DELETE, high, "high"),
        ];
        for chosen in 1..1_usize << all.len() {
            let some = all.iter().enumerate();
            let some = some.filter(|(at, _)| chosen >> at & 1 == 1);
            let some: Vec<_> = some.map(|(_, one)| *one).collect();
            let actions: Vec<&str> = some.iter().map(|one| one.0).collect();
            let name = format!("d-{chosen}");
            let decision = decide(&mut gate, &name, &actions);
            let largest = some.iter().map(|one| one.1).fold(0.0, f64::max);
            let (stratum, threshold, group) = governing(&gate, &name, &decision);
            assert_eq!(threshold, Some(largest), "{actions:?}");
            assert!(some.iter().any(|one| one.2 == stratum && one.1 >= largest));
            // History is grouped by the gravest all the same.
            assert_eq!(group, some.last().unwrap().2);
        }
        let reader = gate.log().reader().unwrap();
        assert_eq!(reader.replay().unwrap().differing.len(), 0);
    }
}

/// Nothing is known of the threshold that a candidate belongs under, so there is none that is large enough.
#[test]
fn a_candidate_of_a_group_without_a_threshold_escalates() {
    let scene = Scene::new();
    scene.write("kept", "text");
    let mut gate = gate(&scene, &[("high", 0.1), ("low", 0.4)]);
    for (name, actions, expected) in [
        ("d-1", [DELETE, WRITE].as_slice(), DecisionKind::Commit),
        ("d-2", &[DELETE, MOVE, WRITE], DecisionKind::Escalate),
        ("d-3", &[MOVE], DecisionKind::Escalate),
    ] {
        let decision = decide(&mut gate, name, actions);
        assert_eq!(decision.record().decision, expected, "{actions:?}");
        let undeclared = governing(&gate, name, &decision).0 == "medium";
        assert_eq!(undeclared, expected == DecisionKind::Escalate);
    }
}

/// What a record of the host is derived from is of unknown trust if the agent brought it, whatever it says of itself.
#[test]
fn evidence_of_the_agent_chooses_no_group() {
    let scene = Scene::new();
    scene.write("kept", "text");
    let mut gate = scene.gate();
    let record = |id: &str, source: &str, from: Value| {
        let mut record = json!({"id": id, "entity": "kept", "attribute": "kind", "value": "file", "source": source,
                                "name": "s", "recorded": now().to_string()});
        if from != json!([]) {
            record["derived_from"] = from;
        }
        if source == "tool" {
            record["tool_status"] = json!("succeeded");
        }
        record
    };
    for (number, (host, agent, expected)) in [
        (json!([]), "tool", "user"),
        (json!(["m"]), "memory", "unknown"),
        (json!(["m"]), "tool", "unknown"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("d-{number}");
        let asked = json!({"decision": name, "actions": [serde_json::from_str::<Value>(DELETE).unwrap()],
                           "evidence": [record("m", agent, json!([]))]});
        let proposal: FileProposal = serde_json::from_str(&asked.to_string()).unwrap();
        let of_host = record("h", "user", host).to_string();
        let of_host = EvidenceRecord::from_json(&of_host).unwrap();
        gate.decide(&proposal.check([of_host]).unwrap(), now())
            .unwrap();
        let recorded = gate.log().reader().unwrap().record(&name).unwrap().unwrap();
        let source = recorded.entry.group.source;
        assert_eq!(source.as_deref(), Some(expected), "{number}");
    }
}
