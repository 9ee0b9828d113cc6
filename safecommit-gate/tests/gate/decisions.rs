//! What is released and what is not, without a calibration.

use safecommit_conformal::{Calibration, CalibrationScore, Score};
use safecommit_core::{DecisionKind, WorldFate};
use safecommit_gate::{Gate, GateCalibration, Patterns};
use serde_json::{Value, json};

use crate::support::{Scene, now, one, outcome, request};

fn delete(path: &str) -> Value {
    json!({"action": "delete", "path": path})
}

/// What the gate says of one action.
fn decide(scene: &Scene, action: Value) -> Result<String, DecisionKind> {
    let mut gate = scene.gate();
    let name = action.to_string();
    outcome(&gate.decide(&one(&name, action), now()).unwrap())
}

#[test]
fn a_plain_directory_goes_once_every_hazard_is_probed_away() {
    let scene = Scene::new();
    scene.write("run/latest/part", "temporary");
    let mut gate = scene.gate();
    let decision = gate
        .decide(&one("d-1", delete("run/latest")), now())
        .unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("delete-1"));
    let receipt = gate.release(decision).unwrap();
    assert!(!scene.path("run/latest").exists());
    assert_eq!(receipt.entry, 1);
}

#[test]
fn what_is_no_plain_thing_of_ones_own_is_left_alone() {
    let scene = Scene::new();
    scene.link("link", "../outside");
    scene.link("tree/way-out", "../../outside");
    scene.write("keys/id_rsa", "key");
    scene.write(".git/config", "[core]");
    scene.write("plain", "text");
    for path in [
        "link",
        "tree",
        "keys",
        ".git",
        "missing",
        "link/shared",
        "no/such",
    ] {
        assert_eq!(
            decide(&scene, delete(path)),
            Err(DecisionKind::Abstain),
            "{path}"
        );
    }
    assert_eq!(decide(&scene, delete("plain")), Ok("delete-1".to_owned()));
}

/// The decision names the policies, world by world.
#[test]
fn the_policy_that_stops_an_action_is_named() {
    let scene = Scene::new();
    scene.link("run/latest", "../../outside");
    let mut gate = scene.gate();
    let decision = gate
        .decide(&one("d-1", delete("run/latest")), now())
        .unwrap();
    let request = decision.decided().case().request();
    let record = decision.record();
    let blocking = &record.actions[0].blocked_by;
    assert!(!blocking.is_empty());
    for world in &request.worlds {
        if blocking.contains(&world.id) {
            let why = world.description.as_deref().unwrap();
            assert!(why.contains("policy `link` forbids it"), "{why}");
        }
    }
    assert!(gate.release(decision).is_err());
    assert!(scene.path("run/latest").is_symlink());
}

#[test]
fn of_several_candidates_the_one_that_is_safe_is_taken() {
    let scene = Scene::new();
    scene.write("run/out", "result");
    scene.write("archive/.keep", "");
    scene.link("run/latest", "../../outside");
    let mut gate = scene.gate();
    let asked = request(json!({"decision": "d-1", "actions": [
        {"action": "delete", "path": "run/latest", "reward": 9.0},
        {"action": "move", "path": "run/out", "to": "archive/out", "reward": 2.0},
    ]}));
    let decision = gate.decide(&asked, now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("move-2"));
    gate.release(decision).unwrap();
    assert_eq!(
        std::fs::read_to_string(scene.path("archive/out")).unwrap(),
        "result"
    );
    assert!(scene.path("run/latest").is_symlink());
}

#[test]
fn content_is_written_where_nothing_is_and_replaced_where_something_is() {
    let scene = Scene::new();
    scene.write("a", "old");
    let mut gate = scene.gate();
    let write = |path: &str| json!({"action": "write", "path": path, "content": "new"});
    let overwrite = |path: &str| json!({"action": "overwrite", "path": path, "content": "new"});
    for (number, (action, expected)) in [
        (write("b"), Ok("write-1".to_owned())),
        (write("a"), Err(DecisionKind::Abstain)),
        (overwrite("c"), Err(DecisionKind::Abstain)),
        (overwrite("a"), Ok("overwrite-1".to_owned())),
    ]
    .into_iter()
    .enumerate()
    {
        let decision = gate
            .decide(&one(&format!("d-{number}"), action), now())
            .unwrap();
        assert_eq!(outcome(&decision), expected);
        if expected.is_ok() {
            gate.release(decision).unwrap();
        }
    }
    for path in ["a", "b"] {
        assert_eq!(std::fs::read_to_string(scene.path(path)).unwrap(), "new");
    }
}

/// Memories are old, and what they name has changed since.
#[test]
fn what_changed_since_the_memory_is_not_overwritten() {
    let scene = Scene::new();
    scene.write("report", "edited by hand");
    let memory = |recorded: &str| {
        json!({"id": "m1", "entity": "report", "attribute": "kind", "value": "file", "source": "memory",
               "name": "notes.md", "recorded": recorded})
    };
    let overwrite = json!({"action": "overwrite", "path": "report", "content": "generated"});
    let asked = |name: &str, recorded: &str| {
        request(json!({"decision": name, "actions": [overwrite], "evidence": [memory(recorded)]}))
    };
    let mut gate = scene.gate();
    let stale = gate
        .decide(&asked("d-1", "2020-01-01T00:00:00Z"), now())
        .unwrap();
    assert_eq!(outcome(&stale), Err(DecisionKind::Abstain));
    let fresh = gate
        .decide(&asked("d-2", &now().to_string()), now())
        .unwrap();
    assert_eq!(outcome(&fresh).as_deref(), Ok("overwrite-1"));
    // A memory from the future is no newer than anything.
    let future = gate
        .decide(&asked("d-3", "2999-01-01T00:00:00Z"), now())
        .unwrap();
    assert_eq!(outcome(&future), Err(DecisionKind::Abstain));
}

#[test]
fn what_the_gate_rests_on_is_never_touched() {
    let scene = Scene::new();
    scene.write("tools/gate/policies", "permit");
    scene.write("tools/other", "text");
    let mut domain = scene.domain();
    domain.guarded = vec![scene.path("tools/gate")];
    let mut gate = scene.gate_with(domain, None, |gate| gate);
    let moved = json!({"action": "move", "path": "tools/other", "to": "tools/gate/other"});
    for (number, action) in [
        delete("tools"),
        delete("tools/gate"),
        delete("tools/gate/policies"),
        moved,
    ]
    .into_iter()
    .enumerate()
    {
        let decision = gate
            .decide(&one(&format!("d-{number}"), action), now())
            .unwrap();
        assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
        assert_eq!(
            decision.refused(0),
            Some("it touches what the gate itself rests on")
        );
    }
    let decision = gate
        .decide(&one("d-9", delete("tools/other")), now())
        .unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("delete-1"));
}

/// With a support that is cut nothing irreversible is certified.
#[test]
fn a_cut_support_certifies_nothing() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut gate = scene.gate_with(scene.domain(), None, |gate: Gate| gate.with_max_worlds(3));
    let decision = gate.decide(&one("d-1", delete("plain")), now()).unwrap();
    assert!(outcome(&decision).is_err());
    let worlds = &decision.record().worlds;
    assert_eq!(worlds.len(), 4);
    assert_eq!(worlds[3].id, safecommit_gate::LEFT_OUT);
}

/// No threshold excludes what nobody has looked at, and no answer refutes it.
#[test]
fn a_cut_support_certifies_nothing_under_any_threshold() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let version = scene.gate().score_version().to_owned();
    let scores = vec![CalibrationScore::from(Score::ZERO); 99];
    let lowest = Calibration::split_conformal("0.1".parse().unwrap(), &scores);
    for (most, expected) in [
        (1, Err(DecisionKind::Escalate)),
        (5, Err(DecisionKind::Escalate)),
        (11, Err(DecisionKind::Escalate)),
        (1024, Ok("delete-1")),
    ] {
        let calibration = GateCalibration::one(&version, lowest.clone()).unwrap();
        let mut gate = scene.gate_with(scene.domain(), Some(calibration), |gate: Gate| {
            gate.with_max_worlds(most)
        });
        let asked = one(&format!("d-{most}"), delete("plain"));
        let decision = gate.decide(&asked, now()).unwrap();
        assert_eq!(decision.record().threshold, Some(0.0));
        let found = outcome(&decision);
        assert_eq!(found.as_deref().map_err(|kind| *kind), expected, "{most}");
        let mut worlds = decision.record().worlds.iter();
        let left_out = worlds.find(|world| world.id == safecommit_gate::LEFT_OUT);
        let fate = left_out.map(|world| &world.fate);
        assert_eq!(fate, (most < 1024).then_some(&WorldFate::Plausible));
    }
}

/// Worlds of several candidates multiply; those that are worth most are judged.
#[test]
fn of_more_candidates_than_can_be_looked_at_the_best_are_judged() {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.write(name, name);
    }
    let actions = json!([
        {"action": "delete", "path": "a", "reward": 2.0},
        {"action": "delete", "path": "b", "reward": 3.0},
        {"action": "delete", "path": "c", "reward": 2.0},
    ]);
    for (number, (most, left_out)) in [
        (1024, ["delete-3"].as_slice()),
        (20, &["delete-1", "delete-3"]),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("d-{number}");
        let mut gate = scene.gate_with(scene.domain(), None, |gate: Gate| {
            gate.with_max_worlds(most)
        });
        let asked = request(json!({"decision": name, "actions": actions}));
        let decision = gate.decide(&asked, now()).unwrap();
        let taken = outcome(&decision).unwrap();
        assert!(!left_out.contains(&taken.as_str()), "{taken}");
        assert!(decision.record().worlds.len() <= most);
        let positions: Vec<usize> = left_out
            .iter()
            .map(|id| id["delete-".len()..].parse::<usize>().unwrap() - 1)
            .collect();
        assert_eq!(decision.decided().left_out(), positions);
        for action in 0..3 {
            let refused = decision.refused(action).is_some();
            assert_eq!(refused, positions.contains(&action));
        }
        let reader = gate.log().reader().unwrap();
        let recorded = reader.record(&name).unwrap().unwrap();
        let said = &recorded.entry.details["left_out"];
        assert!(said.starts_with(&left_out.join(", ")), "{said}");
    }
}

/// The regions of 64 targets are far too many to be counted; that there are more than can be looked at is seen early.
#[test]
fn of_very_many_candidates_the_best_are_judged() {
    let scene = Scene::new();
    let actions = (1..=64).map(|number| {
        scene.write(&format!("part-{number}"), "temporary");
        let reward = f64::from(number % 10);
        json!({"action": "delete", "path": format!("part-{number}"), "reward": reward})
    });
    let actions: Vec<_> = actions.collect();
    let mut gate = scene.gate();
    let asked = request(json!({"decision": "d-1", "actions": actions}));
    let decision = gate.decide(&asked, now()).unwrap();
    assert_eq!(outcome(&decision).unwrap(), "delete-9");
    let worlds = &decision.decided().case().request().worlds;
    for number in 1..=64 {
        let candidate = format!("delete-{number}");
        let judged = worlds.iter().any(|world| world.safe.contains(&candidate));
        assert_eq!(judged, [9, 19].contains(&number), "{candidate}");
    }
}

#[test]
fn every_decision_is_in_the_log_and_comes_out_again() {
    let scene = Scene::new();
    scene.write("plain", "text");
    scene.link("link", "../outside");
    let mut gate = scene.gate();
    for (number, path) in ["plain", "link", "missing"].into_iter().enumerate() {
        gate.decide(&one(&format!("d-{number}"), delete(path)), now())
            .unwrap();
    }
    let reader = gate.log().reader().unwrap();
    let (_, head) = scene.log();
    assert_eq!(reader.verify(&head, &scene.key()).unwrap().records, 3);
    let replay = reader.replay().unwrap();
    assert_eq!((replay.decisions, replay.differing.len()), (3, 0));
    // A name is given once.
    assert!(gate.decide(&one("d-1", delete("plain")), now()).is_err());
}

/// A certificate is for what was there.
#[test]
fn what_changed_after_the_decision_is_refused() {
    let scene = Scene::new();
    scene.write("run/latest/part", "temporary");
    let mut gate = scene.gate();
    let decision = gate
        .decide(&one("d-1", delete("run/latest")), now())
        .unwrap();
    std::fs::rename(scene.path("run/latest"), scene.path("run/kept")).unwrap();
    scene.link("run/latest", "../../outside");
    assert!(gate.release(decision).is_err());
    assert!(scene.path("run/latest").is_symlink());
    assert!(scene.base.path().join("outside/shared").exists());
}

/// What was moved would be protected, or secret, under the name that it would have.
#[test]
fn a_move_is_judged_by_the_names_that_things_would_have() {
    let scene = Scene::new();
    scene.write("staging/live/run.sh", "deploys");
    let mut domain = scene.domain();
    domain.files.protected = Patterns::new(["deploy/live"]).unwrap();
    let mut gate = scene.gate_with(domain, None, |gate| gate);
    let moved = |to: &str| json!({"action": "move", "path": "staging", "to": to});
    let decision = gate.decide(&one("d-1", moved("deploy")), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
    let decision = gate.decide(&one("d-2", moved("other")), now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("move-1"));
}

/// What is probed is what is released, however the directories on the way are exchanged meanwhile.
#[test]
fn directories_that_change_places_do_not_mix_what_is_probed_and_what_is_released() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let scene = Scene::new();
    scene.write("a/f/plain", "text");
    scene.write("b/f/.env", "secret");
    let mut gate = scene.gate();
    let stop = AtomicBool::new(false);
    let (a, b) = (scene.path("a"), scene.path("b"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for number in 0..300 {
            let decision = gate
                .decide(&one(&format!("d-{number}"), delete("a/f")), now())
                .unwrap();
            if decision.record().action.is_some() && gate.release(decision).is_ok() {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let kept = [scene.path("a/f/.env"), scene.path("b/f/.env")];
    assert!(
        kept.iter().any(|path| path.exists()),
        "the secret is where it was"
    );
}
