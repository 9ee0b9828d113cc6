//! An agent that says what it knows to be false, under a calibration.

use safecommit_conformal::{Calibration, CalibrationScore, Score};
use safecommit_core::{ProbingProposal, SettingsProposal, VerificationProposal};
use safecommit_gate::{FileGate, GateCalibration};
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

/// A gate with this threshold that verifies nothing, so that the plausible set alone stands in the way.
fn gate(scene: &Scene, threshold: f64) -> FileGate {
    let version = scene.gate().score_version().to_owned();
    let score = CalibrationScore::Observed(Score::new(threshold).unwrap());
    let calibration = Calibration::split_conformal("0.1".parse().unwrap(), &[score; 19]);
    let calibration = GateCalibration::one(version, calibration).unwrap();
    scene.gate_with(scene.domain(), Some(calibration), |gate| {
        gate.with_settings(SettingsProposal {
            verification: Some(VerificationProposal::Never),
            probing: Some(ProbingProposal::SafetyInformation),
            ..SettingsProposal::default()
        })
    })
}

fn delete(path: &str, reward: f64) -> Value {
    json!({"action": "delete", "path": path, "reward": reward})
}

fn memory(kind: &str) -> Value {
    json!([{"id": "m", "entity": "work", "attribute": "kind", "value": kind, "source": "memory",
            "name": "notes.md", "recorded": now().to_string()}])
}

/// What is proposed or claimed beside it makes no deletion come through that would not come through by itself.
#[test]
fn what_is_soon_seen_to_be_false_makes_nothing_safe() {
    let alone = json!({"actions": [delete("work", 5.0)]});
    let with = |actions: Value| json!({"actions": actions});
    let ghost = delete("ghost", 0.0);
    let write = json!({"action": "write", "path": "work", "content": "x", "reward": -5.0});
    let moved = json!({"action": "move", "path": "ghost", "to": "work", "reward": -5.0});
    let steered = [
        with(json!([delete("work", 5.0), ghost])),
        with(json!([write, delete("work", 5.0)])),
        with(json!([moved, delete("work", 5.0)])),
        json!({"actions": [delete("work", 5.0)], "evidence": memory("link")}),
        json!({"actions": [delete("work", 5.0)], "evidence": memory("missing")}),
    ];
    let mut released = 0;
    for threshold in (0..=40).map(|step| f64::from(step) / 20.0) {
        let scene = Scene::new();
        scene.write("work/out", "result");
        scene.link("work/shared", "../../outside");
        let mut gate = gate(&scene, threshold);
        let mut decides = |name: String, mut asked: Value| {
            asked["decision"] = json!(name);
            let decision = gate.decide(&request(asked), now()).unwrap();
            outcome(&decision).is_ok_and(|action| action.starts_with("delete"))
        };
        if decides(format!("alone-{threshold}"), alone.clone()) {
            // So small a threshold excludes the link however the request is put.
            released += 1;
            continue;
        }
        for (number, asked) in steered.iter().enumerate() {
            let commits = decides(format!("steered-{number}-{threshold}"), asked.clone());
            assert!(!commits, "{threshold}: {asked}");
        }
    }
    assert!(0 < released && released < 41, "{released}");
}
