//! A gate under which deletions are for good: what is not to be had again is not deleted.

use safecommit_conformal::{Calibration, CalibrationScore, Score};
use safecommit_core::DecisionKind;
use safecommit_gate::{Deletion, FileDecision, FileGate, GateCalibration};
use serde_json::{Value, json};

use crate::support::{Scene, now, one, outcome, request};

fn permanent(scene: &Scene) -> FileGate {
    let mut domain = scene.domain();
    domain.deletion = Deletion::Permanent;
    scene.gate_with(domain, None, |gate| gate)
}

fn delete(path: &str) -> Value {
    json!({"action": "delete", "path": path})
}

fn decide(gate: &mut FileGate, decision: &str, action: Value) -> FileDecision {
    gate.decide(&one(decision, action), now()).unwrap()
}

#[test]
fn the_only_copy_stays_and_what_is_elsewhere_too_is_gone_for_good() {
    let scene = Scene::new();
    scene.write("only", "of its kind");
    scene.write("one", "twice");
    scene.write("other", "twice");
    let mut gate = permanent(&scene);
    let decision = decide(&mut gate, "d-1", delete("only"));
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
    let mut worlds = decision.decided().case().request().worlds.iter();
    assert!(worlds.any(|world| {
        let why = world.description.as_deref().unwrap_or_default();
        why.contains("policy `only-copy` forbids it")
    }));
    // It is certified as what it is, in the trash or not.
    let decision = decide(&mut gate, "d-2", delete("one"));
    assert_eq!(outcome(&decision).as_deref(), Ok("delete-1"));
    let record = decision.record();
    assert!(!decision.decided().case().request().actions[0].reversible);
    let probes: Vec<&str> = (record.observed.iter())
        .map(|made| made.probe.as_str())
        .collect();
    assert!(probes.contains(&"copies") && !probes.contains(&"dry_run"));
    let logged = gate
        .log()
        .reader()
        .unwrap()
        .record("d-2")
        .unwrap()
        .unwrap()
        .entry;
    assert_eq!(
        logged.details["actions"],
        "delete-1: delete `one` permanently"
    );
    assert!(
        logged
            .versions
            .score
            .unwrap()
            .ends_with(" deletion permanent")
    );
    let receipt = gate.release(decision).unwrap();
    assert!(receipt.permanent);
    assert!(!scene.path("one").exists());
    let trash = scene.base.path().join("state/trash");
    assert!(std::fs::read_dir(trash).unwrap().next().is_none());

    // Where it goes to the trash, the only copy may go.
    let decision = decide(&mut scene.gate(), "d-3", delete("only"));
    assert_eq!(outcome(&decision).as_deref(), Ok("delete-1"));
}

/// Another candidate for the same target may be undone all the same.
#[test]
fn only_deletions_are_not_reversible() {
    let scene = Scene::new();
    scene.write("only", "of its kind");
    let mut gate = permanent(&scene);
    let overwrite = json!({"action": "overwrite", "path": "only", "content": "new"});
    let both = request(json!({"decision": "d-1", "actions": [delete("only"), overwrite]}));
    let decision = gate.decide(&both, now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("overwrite-2"));
    assert!(!gate.release(decision).unwrap().permanent);
    let moved = json!({"action": "move", "path": "only", "to": "moved"});
    let decision = decide(&mut gate, "d-2", moved);
    assert!(!gate.release(decision).unwrap().permanent);
}

#[test]
fn what_was_decided_for_the_trash_goes_there_whoever_releases_it() {
    let scene = Scene::new();
    scene.write("only", "of its kind");
    let decision = decide(&mut scene.gate(), "d-1", delete("only"));
    let receipt = permanent(&scene).release(decision).unwrap();
    assert!(!receipt.permanent);
    let kept = scene.base.path().join("state/trash/1/item");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "of its kind");
}

#[test]
fn a_threshold_for_the_trash_does_not_govern_what_is_for_good() {
    let scene = Scene::new();
    let scores: Vec<CalibrationScore> = vec![Score::ZERO.into(); 19];
    let calibration = Calibration::split_conformal("0.1".parse().unwrap(), &scores);
    let of_trash = GateCalibration::one(scene.gate().score_version(), calibration).unwrap();
    let version = permanent(&scene).score_version().to_owned();
    assert!(of_trash.serves(&version).is_err());
    assert!(of_trash.serves(scene.gate().score_version()).is_ok());
}
