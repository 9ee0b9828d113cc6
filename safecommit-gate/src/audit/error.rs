//! What can be wrong with a log, its key, an entry or a label.

use std::fmt;
use std::path::PathBuf;

use rusqlite::ErrorCode;

use super::chain::Flaw;
use super::world_name::WorldNameError;

/// Why an operation on an audit log did not take place. Whatever was recorded before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Another process holds the log for longer than the time to wait.
    #[error("the audit log is locked by another process")]
    Locked,
    /// There is no such file, or it may not be opened.
    #[error("the audit log `{0}` cannot be opened: it is missing, or access is denied")]
    CannotOpen(PathBuf),
    /// The database is damaged.
    #[error("the audit log is corrupt: {0}")]
    Corrupt(String),
    /// The file is a database of something else, or no database.
    #[error("`{0}` is no audit log")]
    NotAnAuditLog(PathBuf),
    /// The log was written by a newer program.
    #[error("the audit log has format {found}, this program knows formats up to {known}")]
    Newer {
        /// Its format.
        found: i64,
        /// The newest known one.
        known: i64,
    },
    /// Tables, indices or triggers are not those of a log.
    #[error("the tables of the audit log are not as they were created: `{0}`")]
    Schema(String),
    /// There is something at the place of a new log or head.
    #[error("`{0}` is there already")]
    Exists(PathBuf),
    /// No space is left.
    #[error("no space is left for the audit log")]
    DiskFull,
    /// The database may not be written to.
    #[error("the audit log may not be written to")]
    ReadOnly,
    /// Any other error of the database.
    #[error("the audit log cannot be used: {0}")]
    Database(rusqlite::Error),
    /// The head is not there, or no head of this key.
    #[error("the head `{path}` cannot be used: {problem}")]
    Head {
        /// Where it should be.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The record is durable, yet the head could not be brought up to date; do not act on the decision.
    #[error("the record was written, but not its head: {0}")]
    HeadNotSettled(Box<AuditError>),
    /// A record was changed, removed, moved or cut off.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// A calibration that no record names.
    #[error("the log holds calibration `{0}`, which no record names")]
    ForeignCalibration(String),
    /// An entry without a name.
    #[error("the decision has no name")]
    NoName,
    /// An entry whose name is in the log.
    #[error("decision `{0}` is in the log already")]
    DecisionExists(String),
    /// An entry that cannot be replayed: the decision does not follow from request and calibration.
    #[error("decision `{decision}` does not follow from its request and calibration: {problem}")]
    NotReproducible {
        /// The decision.
        decision: String,
        /// What differs.
        problem: String,
    },
    /// An entry that cannot be written as JSON and read back.
    #[error("decision `{decision}` has no JSON form: {problem}")]
    NotWritable {
        /// The decision.
        decision: String,
        /// What is wrong.
        problem: String,
    },
    /// A line of an export that is no such line, or is out of place.
    #[error("line {line} of the export: {problem}")]
    Export {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A bound that cannot be computed.
    #[error("{0}")]
    Bound(String),
    /// Reading or writing a stream failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A label that does not fit the log.
    #[error(transparent)]
    Label(#[from] LabelError),
}

/// What is wrong with the file of a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It cannot be opened, read or written.
    #[error("the key `{path}` cannot be used: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// It is no regular file.
    #[error("the key `{0}` is no regular file")]
    NotAFile(PathBuf),
    /// Others may use it.
    #[error("the key `{path}` has mode {mode:04o}, only its owner may read it: 0600")]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It belongs to another user.
    #[error("the key `{0}` belongs to another user")]
    Owner(PathBuf),
    /// It has another size.
    #[error("the key `{path}` has {bytes} bytes, a key has 32")]
    Length {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
}

/// What is wrong with a label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// A line that is no label.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A decision with two labels.
    #[error("decision `{0}` is labelled twice")]
    Twice(String),
    /// A decision that the log does not hold.
    #[error("decision `{0}` is not in the log")]
    UnknownDecision(String),
    /// A fact that the decision does not have, or a value that the fact cannot have.
    #[error("line {line}: {undeclared}")]
    Undeclared {
        /// The line, from 1.
        line: u64,
        /// What it says, and what there is.
        undeclared: Box<Undeclared>,
    },
    /// A safe action that was no candidate.
    #[error("decision `{decision}` has no candidate `{action}`")]
    UnknownAction {
        /// The decision.
        decision: String,
        /// The action.
        action: String,
    },
    /// Facts for a decision whose worlds do not say theirs: the request was not made by the gate, or names of worlds
    /// are redacted.
    #[error(
        "decision `{decision}` cannot be labelled by facts, it has a world `{world}`: {problem}"
    )]
    NoFacts {
        /// The decision.
        decision: String,
        /// The first such world.
        world: String,
        /// What its name lacks.
        problem: WorldNameError,
    },
    /// A label whose parts cannot all be true.
    #[error("the label of decision `{decision}` contradicts itself: {what}")]
    Contradiction {
        /// The decision.
        decision: String,
        /// Which parts.
        what: &'static str,
    },
    /// A decision that lacks what it is to be grouped by.
    #[error("decision `{decision}` has no {what} to group by")]
    NoGroup {
        /// The decision.
        decision: String,
        /// What it lacks.
        what: &'static str,
    },
    /// A value that cannot be part of a stratum.
    #[error("decision `{decision}` has the {what} `{value}`, which is no label of a stratum")]
    BadGroup {
        /// The decision.
        decision: String,
        /// What it is the value of.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// A decision whose scores are of another version.
    #[error("decision `{decision}` was scored with {found}, wanted is {wanted}")]
    ScoreVersion {
        /// The decision.
        decision: String,
        /// Its version, or that it has none.
        found: String,
        /// The version that was asked for, or that none was.
        wanted: String,
    },
}

/// What a label says of a decision that has no such fact, or of a fact that has no such value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undeclared {
    /// The field of the label, as in `true_facts.kind`.
    pub field: String,
    /// The decision.
    pub decision: String,
    /// The fact.
    pub fact: String,
    /// The value; `None` where there is no such fact.
    pub value: Option<String>,
    /// The values that the fact has, or the facts that the decision has.
    pub known: Vec<String>,
}

impl fmt::Display for Undeclared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            decision,
            fact,
            value,
            known,
        } = self;
        match value {
            None => write!(out, "{field}: decision `{decision}` has no fact `{fact}`"),
            Some(value) => write!(
                out,
                "{field}: the fact `{fact}` of decision `{decision}` has no value `{value}`"
            ),
        }?;
        write!(out, "; it has {}", listed(known))
    }
}

impl LabelError {
    /// The line of the labels that is at fault, from 1; `None` where the log or several lines are.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Line { line, .. } | Self::Undeclared { line, .. } => Some(*line),
            _ => None,
        }
    }
}

/// Names in a sentence; of more than anybody reads, the first.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 24;
    let quoted = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let shown = quoted.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl From<rusqlite::Error> for AuditError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt(error.to_string())
            }
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            _ => Self::Database(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_database_are_told_apart() {
        let of = |code: i32| {
            let error = rusqlite::ffi::Error::new(code);
            AuditError::from(rusqlite::Error::SqliteFailure(error, None))
        };
        use rusqlite::ffi;
        assert!(matches!(of(ffi::SQLITE_BUSY), AuditError::Locked));
        assert!(matches!(of(ffi::SQLITE_LOCKED), AuditError::Locked));
        assert!(matches!(of(ffi::SQLITE_CORRUPT), AuditError::Corrupt(_)));
        assert!(matches!(of(ffi::SQLITE_NOTADB), AuditError::Corrupt(_)));
        assert!(matches!(of(ffi::SQLITE_FULL), AuditError::DiskFull));
        assert!(matches!(of(ffi::SQLITE_READONLY), AuditError::ReadOnly));
        assert!(matches!(of(ffi::SQLITE_MISUSE), AuditError::Database(_)));
    }
}
