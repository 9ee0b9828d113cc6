//! Labels of decisions, and whom a fault in them is to be put down to.

use std::path::Path;

use anyhow::{Result, anyhow};
use safecommit_gate::audit::{AuditError, LabelError, Labels};

use crate::input::Source;

/// Reads labels; an error names file and line.
pub(crate) fn read(source: &Source) -> Result<Labels> {
    let file = source.name();
    Labels::read(source.open()?).map_err(|error| match error {
        AuditError::Label(error) => about(&error, &file),
        other => anyhow::Error::from(other).context(file),
    })
}

/// The error in a log, or in the labels that were held against it: what they say of a decision stands in their file.
pub(crate) fn fault(error: AuditError, labels: &Source, log: &Path) -> anyhow::Error {
    match error {
        AuditError::Label(error) => about(&error, &labels.name()),
        other => anyhow::Error::from(other).context(log.display().to_string()),
    }
}

fn about(error: &LabelError, file: &str) -> anyhow::Error {
    match error {
        LabelError::Line { line, problem } => anyhow!("{file}:{line}: {problem}"),
        LabelError::Undeclared { line, undeclared } => anyhow!("{file}:{line}: {undeclared}"),
        other => anyhow!("{file}: {other}"),
    }
}
