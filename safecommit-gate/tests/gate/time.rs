//! The time of a decision, of which what is at the targets takes its part.

use std::fs::File;
use std::time::{Duration, Instant};

use safecommit_core::{ProbingProposal, SettingsProposal};
use safecommit_gate::{FileGate, FileRequest};
use serde_json::{Value, json};

use crate::support::{Scene, now, request};

/// So much that it is not read in any time that a decision may take here. It takes no room.
const HUGE: u64 = 15 << 30;

fn gate(scene: &Scene, max_steps: Option<u64>) -> FileGate {
    let settings = SettingsProposal {
        max_steps,
        probing: Some(ProbingProposal::SafetyInformation),
        ..SettingsProposal::default()
    };
    scene.gate_with(scene.domain(), None, |gate| gate.with_settings(settings))
}

fn deletions(paths: &[&str]) -> FileRequest {
    let delete = |path| json!({"action": "delete", "path": path});
    let actions: Vec<Value> = paths.iter().map(delete).collect();
    request(json!({"decision": paths.concat(), "actions": actions}))
}

#[test]
fn what_is_too_large_to_be_known_in_time_is_refused_with_that_reason() {
    let scene = Scene::new();
    scene.write("small", "text");
    scene.write("tree/small", "text");
    let huge = File::create(scene.path("tree/huge")).unwrap();
    huge.set_len(HUGE).unwrap();
    let mut gate = gate(&scene, Some(300));

    let begun = Instant::now();
    let decision = gate.decide(&deletions(&["small", "tree"]), now()).unwrap();
    // Reading all of it takes some seconds at least.
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(decision.refused(0), None);
    let reason = "the time of the decision was up before it was known what is there";
    assert_eq!(decision.refused(1), Some(reason));
    // That it took all the time is known, so that no probe is made any more.
    let record = decision.record();
    assert!(record.action.is_none() && record.observed.is_empty());
    assert!(decision.decided().durations().proposing >= 300_000);
    let logged = gate.log().reader().unwrap();
    let logged = logged.record("smalltree").unwrap().unwrap().entry;
    assert_eq!(logged.details["refused"], format!("delete-2: {reason}"));
    assert!(gate.release(decision).is_err());

    // What comes after it is refused too, and what is not there needs no time.
    let decision = gate
        .decide(&deletions(&["tree", "small", "none"]), now())
        .unwrap();
    let refused = [0, 1, 2].map(|at| decision.refused(at));
    assert_eq!(refused, [Some(reason), Some(reason), None]);
    assert!(scene.path("small").exists());
}

#[test]
fn what_is_known_in_time_is_decided() {
    let scene = Scene::new();
    scene.write("tree/small", "text");
    for (at, time) in [Some(60_000), None].into_iter().enumerate() {
        let path = ["tree/small", "tree"][at];
        let mut gate = gate(&scene, time);
        let decision = gate.decide(&deletions(&[path]), now()).unwrap();
        assert_eq!(decision.refused(0), None);
        gate.release(decision).unwrap();
        assert!(!scene.path(path).exists());
    }
}
