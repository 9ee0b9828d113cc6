//! Overwrites of what was changed since it was remembered: the staged diff says whether any of it would go.

use std::fs;
use std::time::{Duration, SystemTime};

use safecommit_core::DecisionKind;
use safecommit_gate::{FileGate, FileProbe, FileQuestion, FileRequest};
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

fn overwrite(content: &str) -> Value {
    json!({"action": "overwrite", "path": "log", "content": content})
}

/// A request of these candidates, whose memory of the file is older than the file.
fn stale(decision: &str, actions: &[Value]) -> FileRequest {
    request(
        json!({"decision": decision, "actions": actions, "evidence": [
            {"id": "m1", "entity": "log", "attribute": "kind", "value": "file", "source": "memory", "name": "notes.md",
             "recorded": "2020-01-01T00:00:00Z"},
        ]}),
    )
}

/// A workspace with a file of these contents, and a gate.
fn scene(content: &str) -> (Scene, FileGate) {
    let scene = Scene::new();
    scene.write("log", content);
    let gate = scene.gate();
    (scene, gate)
}

fn read(scene: &Scene) -> String {
    fs::read_to_string(scene.path("log")).unwrap()
}

#[test]
fn what_keeps_every_line_may_go_over_what_is_newer_and_what_drops_one_may_not() {
    let (scene, mut gate) = scene("one\ntwo\n");
    let drops = stale("d-1", &[overwrite("one\nthree\n")]);
    let decision = gate.decide(&drops, now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
    let found = |decision: &safecommit_gate::FileDecision| {
        let mut observed = decision.record().observed.iter();
        let made = observed.find(|made| made.probe == "staged_diff-overwrite-1");
        made.and_then(|made| made.outcome.clone())
    };
    assert_eq!(
        found(&decision).as_deref(),
        Some("overwrite_1_discards=true")
    );
    let worlds = &decision.decided().case().request().worlds;
    let why = "overwrite-1: policy `overwrite-of-newer` forbids it";
    let named = |text: &Option<String>| text.as_deref() == Some(why);
    assert!(worlds.iter().any(|world| named(&world.description)));

    let appends = stale("d-2", &[overwrite("one\ntwo\nthree\n")]);
    let decision = gate.decide(&appends, now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("overwrite-1"));
    assert_eq!(
        found(&decision).as_deref(),
        Some("overwrite_1_discards=false")
    );
    gate.release(decision).unwrap();
    assert_eq!(read(&scene), "one\ntwo\nthree\n");
    let replay = gate.log().reader().unwrap().replay().unwrap();
    assert_eq!((replay.decisions, replay.differing.len()), (2, 0));
}

/// The content is the candidate's, and so is what it does to what is there.
#[test]
fn two_overwrites_of_one_file_are_judged_by_their_own_content() {
    let (scene, mut gate) = scene("one\ntwo\n");
    let drops = json!({"action": "overwrite", "path": "log", "content": "one\n", "reward": 9.0});
    let asked = stale("d-1", &[drops, overwrite("one\ntwo\nthree\n")]);
    let decision = gate.decide(&asked, now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("overwrite-2"));
    gate.release(decision).unwrap();
    assert_eq!(read(&scene), "one\ntwo\nthree\n");
}

#[test]
fn where_the_difference_cannot_be_found_out_nothing_newer_is_overwritten() {
    let (scene, _) = scene("one\n");
    let hasty = FileProbe::new(FileQuestion::StagedDiff);
    let hasty = hasty.with(1.0, Duration::from_nanos(1), 0.0).unwrap();
    for (number, instead) in [None, Some(hasty)].into_iter().enumerate() {
        let mut domain = scene.domain();
        domain
            .probes
            .retain(|probe| probe.question() != FileQuestion::StagedDiff);
        domain.probes.extend(instead);
        let mut gate = scene.gate_with(domain, None, |gate| gate);
        let asked = stale(&format!("d-{number}"), &[overwrite("one\ntwo\n")]);
        let decision = gate.decide(&asked, now()).unwrap();
        assert!(outcome(&decision).is_err());
        assert!(gate.release(decision).is_err());
        assert_eq!(read(&scene), "one\n");
    }
}

/// Nothing is looked up that does not matter: where no memory is stale, and where nothing is.
#[test]
fn content_is_compared_only_where_it_decides() {
    let (scene, mut gate) = scene("one\n");
    let write = json!({"action": "write", "path": "new", "content": "one\n"});
    let requests = [
        request(json!({"decision": "d-1", "actions": [overwrite("two\n")]})),
        stale("d-2", &[write]),
    ];
    for asked in requests {
        let decision = gate.decide(&asked, now()).unwrap();
        assert!(outcome(&decision).is_ok());
        let mut made = decision.record().observed.iter();
        assert!(made.all(|made| !made.probe.starts_with("staged_diff")));
        gate.release(decision).unwrap();
    }
    assert_eq!(read(&scene), "two\n");
}

/// What was compared is what is replaced, or nothing is.
#[test]
fn what_comes_between_decision_and_release_is_not_overwritten() {
    type Change = fn(&Scene);
    let changes: [(&str, Change); 5] = [
        ("a line more", |scene| {
            scene.write("log", "one\ntwo\nlate\n");
        }),
        (
            "another line of the same length, its time set back",
            |scene| {
                let time = fs::metadata(scene.path("log")).unwrap().modified().unwrap();
                scene.write("log", "one\nTWO\n");
                let file = fs::File::options().write(true).open(scene.path("log"));
                file.unwrap().set_modified(time).unwrap();
            },
        ),
        ("another file", |scene| {
            scene.write("other", "one\nlate\n");
            fs::rename(scene.path("other"), scene.path("log")).unwrap();
        }),
        ("the same once more", |scene| {
            scene.write("log", "one\ntwo\n");
            let file = fs::File::options().write(true).open(scene.path("log"));
            file.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }),
        ("nothing", |scene| {
            fs::remove_file(scene.path("log")).unwrap();
        }),
    ];
    for (what, change) in changes {
        let (scene, mut gate) = scene("one\ntwo\n");
        let asked = stale("d-1", &[overwrite("one\ntwo\nthree\n")]);
        let decision = gate.decide(&asked, now()).unwrap();
        assert_eq!(outcome(&decision).as_deref(), Ok("overwrite-1"), "{what}");
        change(&scene);
        let before = fs::read(scene.path("log")).ok();
        let refused = gate.release(decision).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`log` is not what was probed",
            "{what}"
        );
        assert_eq!(fs::read(scene.path("log")).ok(), before, "{what}");
    }
}
