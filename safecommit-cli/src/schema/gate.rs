//! What a gate reads and answers.

use anyhow::{Context as _, Result};
use safecommit_core::{Case, Request};
use safecommit_gate::{ClarificationAnswer, FileProposal};
use schemars::Schema;
use serde_json::{Value, json};

use super::core::what_goes_with_each_decision;
use super::{definition, describe, read, written};
use crate::gate::answer::{Answer, Effect, Named};

pub(super) fn proposal() -> Result<Schema> {
    let example = example_proposal();
    // What is read here has a part that is kept as text.
    let proposal: FileProposal = serde_json::from_str(&example.to_string())?;
    let request = proposal.check([]).context("the example is a proposal")?;
    let answers: Vec<ClarificationAnswer> = serde_json::from_value(example_answers())?;
    request
        .with_answers(answers)
        .context("the example answers it")?;
    Ok(describe::<FileProposal>(
        read(),
        "SafeCommit proposal",
        "What an agent asks of `safecommit gate`: candidate actions on files, questions to persons, and evidence. \
         Beyond this schema, no other decision has the name, a move leads out of what is moved, a question has a name \
         that neither another question nor a probe of the gate has and is about a path that an action names, the \
         evidence that is used is there, records hold together as the schema of evidence says, and lengths are counted in \
         bytes.",
        vec![example],
    ))
}

pub(super) fn answers() -> Result<Schema> {
    Ok(describe::<Vec<ClarificationAnswer>>(
        read(),
        "SafeCommit answers",
        "What persons answered to questions of a proposal, as `safecommit gate --answers` reads it. Beyond this \
         schema, an answer repeats the words and the path of its question, gives every fact that the question was to \
         reveal, and is the only one to it.",
        vec![example_answers()],
    ))
}

pub(super) fn decision() -> Result<Schema> {
    let mut schema = describe::<Answer>(
        written(),
        "SafeCommit decision of a gate",
        "What `safecommit gate --format json` prints, and `safecommit gate --jsonl` for each line that is a request: \
         the recorded decision, and what became of its effect. It is data; it releases no action by itself.",
        vec![serde_json::to_value(example_decision()?)?],
    );
    schema.insert("allOf".to_owned(), what_goes_with_the_record());
    let record = definition(&mut schema, "DecisionRecord")?;
    record.insert("allOf".to_owned(), what_goes_with_each_decision());
    Ok(schema)
}

/// Only a commit has an effect, and only a decision that waits for an answer has a question.
fn what_goes_with_the_record() -> Value {
    let only_with = |field: &str, decision: &str| {
        json!({
            "if": {"properties": {field: {"type": "object"}}},
            "then": {"properties": {"record": {"properties": {"decision": {"const": decision}}}}}
        })
    };
    json!([
        only_with("effect", "commit"),
        only_with("question", "probe")
    ])
}

fn example_proposal() -> Value {
    json!({
        "decision": "cleanup-1",
        "tool": "shell",
        "actions": [
            {"action": "delete", "path": "run/latest", "reward": 1.0},
            {"action": "move", "path": "run/latest", "to": "archive/latest", "reward": 0.5},
            {"action": "write", "path": "run/README", "content": "outputs of the last run\n"}
        ],
        "clarifications": [
            {"id": "whose", "question": "whose is `run/latest`?", "path": "run/latest", "reveals": ["owner"]}
        ],
        "uses": ["m1"],
        "evidence": super::records::example_memory(),
        "authority_missing": false,
        "fresh_evidence_expected": false
    })
}

fn example_answers() -> Value {
    json!([{
        "clarification": "whose",
        "question": "whose is `run/latest`?",
        "path": "run/latest",
        "found": {"owner": "own"}
    }])
}

/// A deletion that was done after a look at its target.
fn example_decision() -> Result<Answer> {
    let request = json!({
        "id": "cleanup-1",
        "actions": [{"id": "delete-1", "family": "delete", "severity": 0.5, "reward": 1.0}],
        "worlds": [
            {"id": "kind=file|directory", "score": 0.0, "safe": ["delete-1"]},
            {
                "id": "kind=link|mount|missing",
                "score": 0.25,
                "safe": [],
                "description": "delete-1: policy `link` forbids it"
            }
        ],
        "probes": [{
            "id": "status",
            "cost": 1.0,
            "outcomes": [
                {"id": "kind=directory", "worlds": ["kind=file|directory"]},
                {"id": "kind=link", "worlds": ["kind=link|mount|missing"]}
            ]
        }],
        "observed": [{"probe": "status", "outcome": "kind=directory"}]
    });
    let request: Request = serde_json::from_value(request).context("the example is a request")?;
    Ok(Answer {
        decision: "cleanup-1".to_owned(),
        sequence: 1,
        actions: vec![Named {
            id: "delete-1".to_owned(),
            action: "delete `run/latest`".to_owned(),
            refused: None,
        }],
        question: None,
        blocked: Vec::new(),
        failed_probes: Vec::new(),
        inconsistencies: Vec::new(),
        error: None,
        effect: Some(Effect::Entry(1)),
        record: Case::new(request)?.decide(None).record().clone(),
    })
}
