//! Questions to persons, authority, evidence under way.

use safecommit_core::DecisionKind;
use safecommit_gate::{ClarificationAnswer, FileProposal};
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

fn asking(name: &str, probes: &[&str]) -> Value {
    json!({
        "decision": name,
        "actions": [{"action": "delete", "path": "plain"}],
        "probes": probes,
        "clarifications": [{"id": "ask", "question": "whose is `plain`?", "path": "plain",
                            "reveals": ["owner", "leaves_tree"]}],
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

fn answer(owner: &str) -> ClarificationAnswer {
    let answer = json!({"clarification": "ask", "found": {"owner": owner, "leaves_tree": "no"}});
    serde_json::from_value(answer).unwrap()
}

#[test]
fn a_person_is_asked_where_no_probe_is_left_and_the_answer_goes_on() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut gate = scene.gate();
    let asked = |name| request(asking(name, &WITHOUT_TREE));
    let decision = gate.decide(&asked("d-1"), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Probe));
    assert_eq!(decision.question(), Some(("ask", "whose is `plain`?")));
    assert!(gate.release(decision).is_err());

    let answered = |name, owner| asked(name).with_answers([answer(owner)]).unwrap();
    let decision = gate.decide(&answered("d-2", "own"), now()).unwrap();
    assert_eq!(outcome(&decision).as_deref(), Ok("delete-1"));
    // That the person may be wrong is a term of the bound.
    let errors = &decision.record().bound.probe_errors;
    assert_eq!((errors.len(), errors[0].probe.as_str()), (1, "ask"));
    let decision = gate.decide(&answered("d-3", "other"), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
}

/// What can be looked up is looked up, whatever a person says.
#[test]
fn an_answer_does_not_overrule_what_is_found() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut domain = scene.domain();
    // Another owner is expected than the one of the process, so every file is somebody else's.
    domain.files.owner += 1;
    let mut gate = scene.gate_with(domain, None, |gate| gate);
    let mut asked = asking("d-1", &[]);
    asked.as_object_mut().unwrap().remove("probes");
    let asked = request(asked).with_answers([answer("own")]).unwrap();
    let decision = gate.decide(&asked, now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
    assert!(
        decision
            .record()
            .observed
            .iter()
            .all(|made| made.probe != "ask")
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
    let answered = |value: Value| {
        let answer: ClarificationAnswer = serde_json::from_value(value).unwrap();
        let asked = request(asking("d", &["status"])).with_answers([answer]);
        asked.unwrap_err().to_string()
    };
    for (answer, expected) in [
        (
            json!({"clarification": "q", "found": {}}),
            "answers[0].clarification: `q` is no clarification of this proposal",
        ),
        (
            json!({"clarification": "ask", "found": {"owner": "own"}}),
            "answers[0].found: the answer does not say `leaves_tree`",
        ),
        (
            json!({"clarification": "ask", "found": {"owner": "mine", "leaves_tree": "no"}}),
            "answers[0].found.owner: `mine` is no value of a fact `owner` of files",
        ),
    ] {
        assert_eq!(answered(answer), expected);
    }
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
    ] {
        assert_eq!(found, expected);
    }
    assert!(action(json!({"action": "delete", "path": long})).contains("longer than 4,095 bytes"));
    assert!(
        with("probes", json!(["look"]))
            .starts_with("probes[0]: `look` is no probe; there are `status`, ")
    );
    assert!(with("evidence", json!([{"id": "m1"}])).starts_with("evidence[0]: "));
    // Nobody but the host says what was observed, and what the person said.
    let said = json!([{"id": "u1", "entity": "a", "attribute": "owner", "value": "own", "source": "user", "name": "ada",
                       "recorded": "2026-01-01T00:00:00Z"}]);
    assert!(
        with("evidence", said)
            .starts_with("evidence[0].source: a proposal cannot speak for the user")
    );
}
