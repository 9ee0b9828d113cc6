//! Questions to persons, authority, evidence under way.

use safecommit_core::DecisionKind;
use safecommit_gate::{ClarificationAnswer, FileGate, FileProposal, FileQuestion, FileRequest};
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

const QUESTION: &str = "whose is `plain`?";

fn asking(name: &str) -> FileRequest {
    request(json!({
        "decision": name,
        "actions": [{"action": "delete", "path": "plain"}],
        "clarifications": [{"id": "ask", "question": QUESTION, "path": "plain",
                            "reveals": ["owner", "leaves_tree"]}],
    }))
}

fn answer(change: impl FnOnce(&mut Value)) -> ClarificationAnswer {
    let mut answer = json!({"clarification": "ask", "question": QUESTION, "path": "./plain",
                            "found": {"owner": "own", "leaves_tree": "no"}});
    change(&mut answer);
    serde_json::from_value(answer).unwrap()
}

/// A gate that makes no other probes than these.
fn with_probes(scene: &Scene, makes: impl Fn(FileQuestion) -> bool) -> FileGate {
    let mut domain = scene.domain();
    domain.probes.retain(|probe| makes(probe.question()));
    scene.gate_with(domain, None, |gate| gate)
}

#[test]
fn a_person_is_asked_where_no_probe_is_left_and_the_answer_goes_on() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let mut gate = with_probes(&scene, |question| question != FileQuestion::Tree);
    let decision = gate.decide(&asking("d-1"), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Probe));
    assert_eq!(decision.question(), Some(("ask", QUESTION)));
    assert!(gate.release(decision).is_err());

    let answered = |name, owner: &str| {
        let answer = answer(|answer| answer["found"]["owner"] = json!(owner));
        asking(name).with_answers([answer]).unwrap()
    };
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
    let asked = asking("d-1").with_answers([answer(|_| {})]).unwrap();
    let decision = gate.decide(&asked, now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Abstain));
    let mut made = decision.record().observed.iter();
    assert!(made.all(|made| made.probe != "ask"));
}

#[test]
fn where_only_authority_is_missing_the_record_says_so() {
    let scene = Scene::new();
    scene.write("plain", "text");
    let asked = |name: &str, expected: bool| {
        request(
            json!({"decision": name, "fresh_evidence_expected": expected,
                       "actions": [{"action": "delete", "path": "plain"}]}),
        )
    };
    // Whether it is protected cannot be found out, everything else can.
    let mut gate = with_probes(&scene, |question| question != FileQuestion::Patterns);
    // Evidence that is under way does not help there.
    for (name, expected) in [("d-1", false), ("d-2", true)] {
        let decision = gate.decide(&asked(name, expected), now()).unwrap();
        assert_eq!(outcome(&decision), Err(DecisionKind::Escalate));
        let fallback = decision.record().fallback.as_ref().unwrap();
        assert_eq!(fallback.reason, "authority_missing");
    }
    // It does where something else is open.
    let mut gate = with_probes(&scene, |question| question == FileQuestion::Status);
    let decision = gate.decide(&asked("d-3", true), now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Defer));
}

#[test]
fn a_proposal_that_does_not_hold_names_the_field() {
    let refused = |value: Value| {
        let proposal: FileProposal = serde_json::from_str(&value.to_string()).unwrap();
        proposal.check([]).unwrap_err().to_string()
    };
    type Change = fn(&mut Value);
    let answered = |change: Change| {
        let asked = asking("d").with_answers([answer(change)]);
        asked.unwrap_err().to_string()
    };
    let other_question = "answers[0]: the answer is to another question of that name: its `question` and `path` have to be \
                          those of the proposal";
    let cases: [(Change, &str); 6] = [
        (
            |answer| answer["clarification"] = json!("q"),
            "answers[0].clarification: `q` is no clarification of this proposal",
        ),
        (
            |answer| answer["question"] = json!("may I?"),
            other_question,
        ),
        (|answer| answer["path"] = json!(".env"), other_question),
        (
            |answer| answer["found"] = json!({"owner": "own"}),
            "answers[0].found: the answer does not say `leaves_tree`",
        ),
        (
            |answer| answer["found"]["owner"] = json!("mine"),
            "answers[0].found.owner: `mine` is no value of the fact `owner`, whose values are own, other",
        ),
        (
            |answer| answer["found"]["ownr"] = json!("own"),
            "answers[0].found.ownr: `ownr` is no fact of files",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(answered(change), expected);
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
        (
            action(json!({"action": "overwrite", "path": "a"})),
            "actions[0].content: an overwrite needs `content`",
        ),
        (
            action(json!({"action": "overwrite", "path": "a", "content": "", "to": "b"})),
            "actions[0].to: an overwrite has no `to`",
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
            "clarifications[0].id: `status-2` is a name of probes of the gate, which have `status` and all that begins with \
             `status-`: choose another",
        ),
        (
            with(
                "clarifications",
                json!([{"id": "staged_diff-overwrite-1", "question": "?", "path": "a", "reveals": ["kind"]}]),
            ),
            "clarifications[0].id: `staged_diff-overwrite-1` is a name of probes of the gate, which have `staged_diff` and \
             all that begins with `staged_diff-`: choose another",
        ),
        (
            with(
                "clarifications",
                json!([
                    {"id": "q", "question": "?", "path": "a", "reveals": ["kind"]},
                    {"id": "q", "question": "?", "path": "a", "reveals": ["kind"]}
                ]),
            ),
            "clarifications[1].id: `q` stands twice",
        ),
        (
            with(
                "clarifications",
                json!([{"id": "q", "question": "?", "path": "a", "reveals": ["discards"]}]),
            ),
            "clarifications[0].reveals[0]: `discards` is a fact of an overwrite and not of a target, and no person is asked about it",
        ),
        (
            with(
                "actions",
                json!(vec![json!({"action": "delete", "path": "a"}); 65]),
            ),
            "actions: there are 65, at most 64 are possible",
        ),
        (
            with("decision", json!("d".repeat(257))),
            "decision: it has 257 bytes, at most 256 are possible",
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
    assert_eq!(
        with("evidence", json!([{"id": "m1"}])),
        "evidence[0].entity: it is missing"
    );
    assert_eq!(
        with("evidence", json!(["m1"])),
        "evidence[0]: it is no record of evidence: invalid type: string \"m1\", expected an object with the fields of a \
         record of evidence"
    );
    // Nobody but the host says what was observed, and what the person said.
    let said = json!([{"id": "u1", "entity": "a", "attribute": "owner", "value": "own", "source": "user", "name": "ada",
                       "recorded": "2026-01-01T00:00:00Z"}]);
    assert!(
        with("evidence", said)
            .starts_with("evidence[0].source: a proposal cannot speak for the user")
    );
}
