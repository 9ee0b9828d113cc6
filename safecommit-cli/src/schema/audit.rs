//! What is printed of an audit log.

use anyhow::{Context as _, Result};
use safecommit_core::Case;
use safecommit_gate::audit::AuditRecord;
use schemars::Schema;
use serde_json::json;

use super::core::{constrain_probe, example_request, what_goes_with_each_decision};
use super::{definition, describe, written};
use crate::audit::diagnose::Form;
use crate::audit::show::Line;

pub(super) fn record() -> Result<Schema> {
    let mut schema = describe::<AuditRecord>(
        written(),
        "SafeCommit audit record",
        "What `safecommit audit show DECISION --format json` prints: a decision as it stands in the log, with the \
         request and the circumstances. Beyond this schema, the decision follows from the request and the calibration \
         that is named, as `safecommit audit replay` checks.",
        vec![serde_json::to_value(example_record()?)?],
    );
    constrain_probe(&mut schema)?;
    let record = definition(&mut schema, "DecisionRecord")?;
    record.insert("allOf".to_owned(), what_goes_with_each_decision());
    Ok(schema)
}

pub(super) fn line() -> Result<Schema> {
    let record = example_record()?;
    Ok(describe::<Line<'_>>(
        written(),
        "SafeCommit audit line",
        "What `safecommit audit show --format json` prints, a line for each decision of the log: what was decided, in \
         short.",
        vec![serde_json::to_value(Line::of(1, &record.entry))?],
    ))
}

pub(super) fn diagnosis() -> Result<Schema> {
    Ok(describe::<Form<'_>>(
        written(),
        "SafeCommit diagnosis",
        "What `safecommit audit diagnose --format json` prints: which part of the system failed in labelled decisions, \
         and how often the truth was not proposed.",
        vec![serde_json::to_value(Form::example())?],
    ))
}

/// A decision that waits for a probe.
fn example_record() -> Result<AuditRecord> {
    let request = example_request()?;
    let case = Case::new(request.clone())?;
    let record = json!({
        "format": 1,
        "calibration": null,
        "redacted": [{"detail": "targets"}],
        "entry": {
            "decision": "cleanup-1",
            "at": "2026-03-01T12:00:00Z",
            "versions": {"program": "safecommit-gate 0.1.0", "policy": null, "score": "files-1"},
            "group": {"family": "file", "severity": "high", "source": "none"},
            "durations": {"proposing": 120, "deciding": 30, "probing": 0},
            "elapsed_steps": 0,
            "fault": null,
            "request": request,
            "record": case.decide(None).record(),
            "details": {"tool": "shell"},
            "error": null
        }
    });
    serde_json::from_value(record).context("the example is a record of a log")
}
