//! Why a store cannot be used.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::evidence::DerivationError;

/// Why a store cannot be opened, read or written. What it held before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceStoreError {
    /// Something else has the database locked, for longer than was waited.
    #[error("`{}` is locked", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// It is no SQLite database, or a damaged one.
    #[error("`{}` is damaged: {what}", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// It is a database of something else.
    #[error("`{}` is no database of evidence", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A newer version made it.
    #[error("`{}` has version {found} of the schema, this program knows up to {known}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The latest version that is known here.
        known: i64,
    },
    /// A record with this id is there already, and is another.
    #[error("evidence `{0}` is there already, and says something else")]
    Changed(String),
    /// No record has this id.
    #[error("evidence `{0}` is not there")]
    Unknown(String),
    /// Records that do not hold together.
    #[error(transparent)]
    Derivation(#[from] DerivationError),
    /// Anything else, such as a full disk or a directory that cannot be written.
    #[error("`{}`: {reason}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        reason: rusqlite::Error,
    },
    /// The file itself cannot be made.
    #[error("`{}`: {reason}", path.display())]
    File {
        /// The database.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
}

pub(super) fn corrupt(path: &Path, what: String) -> EvidenceStoreError {
    EvidenceStoreError::Corrupt {
        path: path.to_owned(),
        what,
    }
}

/// The error that SQLite's stands for.
pub(super) fn explain(path: &Path, reason: rusqlite::Error) -> EvidenceStoreError {
    use rusqlite::Error as E;
    let path = path.to_owned();
    match (&reason, reason.sqlite_error_code()) {
        (_, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => {
            EvidenceStoreError::Locked { path }
        }
        (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        | (E::FromSqlConversionFailure(..) | E::InvalidColumnType(..) | E::Utf8Error(..), _) => {
            corrupt(&path, reason.to_string())
        }
        _ => EvidenceStoreError::Sqlite { path, reason },
    }
}
