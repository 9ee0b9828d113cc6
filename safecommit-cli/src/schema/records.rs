//! What is written a line each: evidence, and what turned out to be true.

use anyhow::{Context as _, Result};
use safecommit_gate::EvidenceRecord;
use safecommit_gate::audit::{Label, Labels};
use schemars::Schema;
use serde_json::{Value, json};

use super::{describe, read};

pub(super) fn evidence() -> Result<Schema> {
    Ok(describe::<EvidenceRecord>(
        read(),
        "SafeCommit evidence",
        "A record of evidence, as it stands in a line of `safecommit gate --evidence`: a source said, at a time, \
         that an attribute of an entity has a value. In a proposal only memories and outputs of tools may stand. \
         Beyond this schema, ids are unique among all records of a decision, each record that one is derived from is \
         there, none is derived from itself, lengths are counted in bytes, a line has at most 2 MiB, and a time is one \
         that there is: a day of the calendar, an hour of the day.",
        example_records()?,
    ))
}

pub(super) fn label() -> Result<Schema> {
    let examples = json!([
        {
            "decision": "cleanup-1",
            "true_facts": {"kind": "directory", "location": "inside", "leaves_tree": "no", "owner": "own"}
        },
        {"decision": "cleanup-2", "safe_actions": []},
        {"decision": "cleanup-3", "true_world": "kind=link leaves_tree=no"}
    ]);
    let examples: Vec<Label> = serde_json::from_value(examples)?;
    let examples = Labels::new(examples).context("the examples are labels")?;
    Ok(describe::<Label>(
        read(),
        "SafeCommit label",
        "What turned out to be true of a decision, as it stands in a line of `safecommit audit diagnose --labels` and \
         `safecommit calibrate --audit --labels`: its true world, by name or by facts, or the candidates that were \
         safe, or both. Beyond this schema, a decision has one label, is in the log and has the actions, facts and \
         values that are named, the parts of a label do not contradict each other, no fact stands twice, and a line has at most 2 MiB.",
        examples
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>()?,
    ))
}

/// A memory, and the output of a tool that it was made from.
pub(super) fn example_memory() -> [Value; 2] {
    [
        json!({
            "id": "m1",
            "entity": "run/latest",
            "attribute": "kind",
            "value": "directory",
            "source": "memory",
            "name": "notes.md",
            "derived_from": ["t1"],
            "recorded": "2026-03-01T12:05:00Z"
        }),
        json!({
            "id": "t1",
            "entity": "run/latest",
            "attribute": "kind",
            "value": "directory",
            "source": "tool",
            "name": "ls",
            "tool_status": "succeeded",
            "recorded": "2026-03-01T12:00:00Z",
            "observed": "2026-03-01T12:00:00Z"
        }),
    ]
}

/// Records as they are written: also what a policy says.
fn example_records() -> Result<Vec<Value>> {
    let [memory, tool] = example_memory();
    let examples = json!([
        memory,
        tool,
        {
            "id": "p1",
            "entity": "run/latest",
            "attribute": "protected",
            "value": "false",
            "source": "policy",
            "name": "retention.md",
            "policy_role": "rule",
            "recorded": "2026-01-01T00:00:00Z"
        }
    ]);
    let examples: Vec<EvidenceRecord> =
        serde_json::from_value(examples).context("the examples are records")?;
    let examples = examples.iter().map(serde_json::to_value);
    Ok(examples.collect::<Result<_, _>>()?)
}
