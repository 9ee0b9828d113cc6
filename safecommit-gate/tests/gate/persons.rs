//! Questions to persons, authority, evidence under way.

use safecommit_core::DecisionKind;
use safecommit_gate::FileProposal;
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

/// Another owner is expected than the one of the process, so every file is somebody else's.
fn foreign(scene: &Scene) -> safecommit_gate::FileGate {
    let mut domain = scene.domain();
    domain.files.owner += 1;
    scene.gate_with(domain, None, |gate| gate)
}

fn asking(name: &str, probes: &[&str], answers: Value) -> Value {
    json!({
        "decision": name,
        "actions": [{"action": "delete", "path": "plain"}],
        "probes": probes,
        "clarifications": [{"id": "ask", "question": "whose is `plain`?", "path": "plain",
                            "reveals": ["owner", "leaves_tree"], "error_rate": 0.01}],
        "answers": answers,
    })
}

const WITHOUT_TREE: [&str; 7] = [
    "status",
    "location",
    "patterns",
    "dry_run",
    "repository",
    "copies",
    "age",
];

#[test]
fn a_person_is_asked_where_no_probe_is_left_and_the_answer_goes_on() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut gate = scene.gate();
    let decision = gate
        .decide(&request(asking("d-1", &WITHOUT_TREE, json!([]))), now())
        .unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Probe));
    assert_eq!(decision.question(), Some(("ask", "whose is `plain`?")));
    assert!(gate.release(decision).is_err());

    let answer = |owner: &str| json!([{"clarification": "ask", "found": {"owner": owner, "leaves_tree": "no"}}]);
    let decision = gate
        .decide(&request(asking("d-2", &WITHOUT_TREE, answer("own"))), now())
        .unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("delete-1"));
    // That the person may be wrong is a term of the bound.
    assert_eq!(decision.record().bound.probe_errors[0].error_rate, 0.01);
    let decision = gate
        .decide(
            &request(asking("d-3", &WITHOUT_TREE, answer("other"))),
            now(),
        )
        .unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
}

/// An answer that the files contradict leaves no world, and that escalates.
#[test]
fn an_answer_does_not_overrule_what_is_found() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut gate = foreign(&scene);
    let answers = json!([{"clarification": "ask", "found": {"owner": "own", "leaves_tree": "no"}}]);
    let mut asked = asking("d-1", &[], answers);
    asked.as_object_mut().unwrap().remove("probes");
    let decision = gate.decide(&request(asked), now()).unwrap();
    assert!(
        outcome(&decision).is_err(),
        "{:?}",
        decision.record().observed
    );
}

#[test]
fn where_only_authority_is_missing_the_record_says_so() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut gate = scene.gate();
    // Whether it is protected cannot be found out, everything else can.
    let probes = [
        "status",
        "location",
        "tree",
        "dry_run",
        "repository",
        "copies",
        "age",
    ];
    let mut asked = json!({"decision": "d-1", "actions": [{"action": "delete", "path": "plain"}], "probes": probes});
    let decision = gate.decide(&request(asked.clone()), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Escalate));
    assert_eq!(
        decision.record().fallback.as_ref().unwrap().reason,
        "authority_missing"
    );
    // Evidence that is under way does not help there.
    asked["decision"] = json!("d-2");
    asked["fresh_evidence_expected"] = json!(true);
    let decision = gate.decide(&request(asked.clone()), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Escalate));
    // It does where something else is open.
    asked["decision"] = json!("d-3");
    asked["probes"] = json!(["status"]);
    let decision = gate.decide(&request(asked), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Defer));
}

#[test]
fn a_proposal_that_does_not_hold_names_the_field() {
    let refused = |value: Value| {
        let proposal: FileProposal = serde_json::from_str(&value.to_string()).unwrap();
        proposal.check([]).unwrap_err().to_string()
    };
    let action = |action: Value| refused(json!({"decision": "d", "actions": [action]}));
    let with = |field: &str, value: Value| {
        let mut all = json!({"decision": "d", "actions": [{"action": "delete", "path": "a"}]});
        all[field] = value;
        refused(all)
    };
    let long = vec!["a"; 4096].join("/");
    for (found, expected) in [
        (
            action(json!({"action": "delete", "path": "run/../etc"})),
            "actions[0].path: `run/../etc` has a component `..`",
        ),
        (
            action(json!({"action": "delete", "path": "a\u{0}b"})),
            "actions[0].path: `a\\u{0}b` contains NUL",
        ),
        (
            action(json!({"action": "delete", "path": "/etc"})),
            "actions[0].path: `/etc` is absolute, and a target is named from the workspace",
        ),
        (
            action(json!({"action": "delete", "path": "."})),
            "actions[0].path: `.` names nothing below the workspace",
        ),
        (
            action(json!({"action": "move", "path": "a"})),
            "actions[0].to: a move needs `to`",
        ),
        (
            action(json!({"action": "move", "path": "a", "to": "a/b"})),
            "actions[0].to: `a` cannot be moved to `a/b`, which is in it or the same",
        ),
        (
            action(json!({"action": "delete", "path": "a", "content": ""})),
            "actions[0].content: a delete has no `content`",
        ),
        (
            action(json!({"action": "write", "path": "a"})),
            "actions[0].content: a write needs `content`",
        ),
        (with("decision", json!("")), "decision: the name is empty"),
        (
            with("actions", json!([])),
            "actions: the list is empty, at least one action is needed",
        ),
        (
            with("uses", json!(["m1"])),
            "uses[0]: there is no evidence `m1`",
        ),
        (
            with(
                "clarifications",
                json!([{"id": "status-2", "question": "?", "path": "a", "reveals": ["kind"]}]),
            ),
            "clarifications[0].id: `status-2` stands twice",
        ),
        (
            with(
                "clarifications",
                json!([{"id": "q", "question": "are you sure?", "path": "a", "reveals": []}]),
            ),
            "clarifications[0].reveals: a clarification that reveals no fact tells no world from another",
        ),
        (
            with(
                "clarifications",
                json!([{"id": "q", "question": "?", "path": "b", "reveals": ["kind"]}]),
            ),
            "clarifications[0].path: no action is about `b`",
        ),
        (
            with("answers", json!([{"clarification": "q", "found": {}}])),
            "answers[0].clarification: `q` is no clarification of this proposal",
        ),
    ] {
        assert_eq!(found, expected);
    }
    assert!(action(json!({"action": "delete", "path": long})).contains("longer than 4,095 bytes"));
    assert!(
        with("probes", json!(["look"]))
            .starts_with("probes[0]: `look` is no probe; there are `status`, ")
    );
    assert!(with("evidence", json!([{"id": "m1"}])).starts_with("evidence[0]: "));
}
