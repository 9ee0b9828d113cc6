//! Overwrites of what was changed since it was remembered: whether the new content was made from it is said by a digest, and
//! found out by the staged diff.

use std::fs;
use std::time::{Duration, SystemTime};

use safecommit_conformal::Digest;
use safecommit_core::DecisionKind;
use safecommit_gate::{FileGate, FileProbe, FileQuestion, FileRequest};
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

/// An overwrite that does not say what its content was made from.
fn overwrite(content: &str) -> Value {
    json!({"action": "overwrite", "path": "log", "content": content})
}

/// An overwrite with content that was made from this.
fn revise(content: &str, seen: &str) -> Value {
    let mut action = overwrite(content);
    action["base"] = json!(Digest::of_bytes(seen.as_bytes()));
    action
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
fn what_was_made_from_what_is_there_may_go_over_what_is_newer_and_nothing_else_may() {
    let (scene, mut gate) = scene("one\ntwo\n");
    let found = |decision: &safecommit_gate::FileDecision| {
        let mut observed = decision.record().observed.iter();
        let made = observed.find(|made| made.probe == "staged_diff-overwrite-1");
        made.and_then(|made| made.outcome.clone())
    };
    // The last would bring back a line that somebody took out.
    for (number, (action, answer)) in [
        (overwrite("one\ntwo\nthree\n"), None),
        (
            revise("one\nthree\n", "one\n"),
            Some("overwrite_1_discards=true overwrite_1_base=other"),
        ),
        (
            revise("one\ntwo\ngone\nthree\n", "one\ntwo\ngone\n"),
            Some("overwrite_1_discards=false overwrite_1_base=other"),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let decision = gate
            .decide(&stale(&format!("d-{number}"), &[action]), now())
            .unwrap();
        assert_eq!(outcome(&decision), Err(DecisionKind::Abstain), "{number}");
        assert_eq!(found(&decision).as_deref(), answer, "{number}");
        let worlds = &decision.decided().case().request().worlds;
        let why = "overwrite-1: policy `overwrite-of-newer` forbids it";
        let named = |text: &Option<String>| text.as_deref() == Some(why);
        assert!(worlds.iter().any(|world| named(&world.description)));
        assert!(gate.release(decision).is_err());
    }
    assert_eq!(read(&scene), "one\ntwo\n");

    let informed = revise("one\nthree\n", "one\ntwo\n");
    let decision = gate.decide(&stale("d-4", &[informed]), now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("overwrite-1"));
    assert_eq!(
        found(&decision).as_deref(),
        Some("overwrite_1_discards=true overwrite_1_base=same")
    );
    gate.release(decision).unwrap();
    assert_eq!(read(&scene), "one\nthree\n");
    let replay = gate.log().reader().unwrap().replay().unwrap();
    assert_eq!((replay.decisions, replay.differing.len()), (4, 0));
}

/// A digest that is not of what is there says more than a memory that is missing.
#[test]
fn what_was_made_from_something_else_goes_over_nothing_at_all() {
    let (scene, mut gate) = scene("one\n");
    let decide = |gate: &mut FileGate, decision: &str, action: Value| {
        let asked = request(json!({"decision": decision, "actions": [action]}));
        outcome(&gate.decide(&asked, now()).unwrap())
    };
    let older = decide(&mut gate, "d-1", revise("two\n", "none\n"));
    assert_eq!(older, Err(DecisionKind::Abstain));
    let plain = decide(&mut gate, "d-2", overwrite("two\n"));
    assert_eq!(plain.as_deref(), Ok("overwrite-1"));
    let same = decide(&mut gate, "d-3", revise("two\n", "one\n"));
    assert_eq!(same.as_deref(), Ok("overwrite-1"));
    assert_eq!(read(&scene), "one\n");
}

#[test]
fn a_digest_is_of_an_overwrite_and_is_one() {
    let proposal = |action: Value| {
        let text = json!({"decision": "d", "actions": [action]}).to_string();
        serde_json::from_str::<safecommit_gate::FileProposal>(&text)
    };
    let base = json!(Digest::of_bytes(b"x"));
    for (name, more) in [
        ("delete", json!({})),
        ("write", json!({"content": "x"})),
        ("move", json!({"to": "y"})),
    ] {
        let mut action = more;
        action["action"] = json!(name);
        action["path"] = json!("log");
        action["base"] = base.clone();
        let refused = proposal(action).unwrap().check([]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("actions[0].base: a {name} has no `base`")
        );
    }
    for bad in [json!(""), json!("abc"), json!(7), json!("G".repeat(64))] {
        let mut action = overwrite("x");
        action["base"] = bad;
        assert!(proposal(action).is_err());
    }
}

/// The content is the candidate's, and so is what it does to what is there.
#[test]
fn two_overwrites_of_one_file_are_judged_by_their_own_content() {
    let (scene, mut gate) = scene("one\ntwo\n");
    let mut older = revise("one\nthree\n", "one\n");
    older["reward"] = json!(9.0);
    let asked = stale("d-1", &[older, revise("one\ntwo\nthree\n", "one\ntwo\n")]);
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
        let asked = stale(&format!("d-{number}"), &[revise("one\ntwo\n", "one\n")]);
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
        let asked = stale("d-1", &[revise("one\ntwo\nthree\n", "one\ntwo\n")]);
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
