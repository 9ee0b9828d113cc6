//! The schema of the database, and whether a database has it.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior};

use super::error::{EvidenceStoreError, corrupt, explain};

/// Marks a database as one of evidence: "SCev" in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x5343_6576;

/// The version of the schema below.
pub(super) const VERSION: i64 = 1;

/// What is in the database, in the order of its making. `record` is the record as JSON and `digest` its
/// SHA-256; the other columns repeat what is looked up.
const SCHEMA: [&str; 3] = [
    "CREATE TABLE evidence (id TEXT PRIMARY KEY NOT NULL, entity TEXT NOT NULL, attribute TEXT NOT NULL, \
     record TEXT NOT NULL, digest BLOB NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX evidence_by_entity ON evidence (entity, attribute)",
    "CREATE INDEX evidence_by_attribute ON evidence (attribute)",
];

pub(super) enum Problem {
    Sqlite(rusqlite::Error),
    Foreign,
    Newer(i64),
    OtherSchema,
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Problem {
    pub(super) fn at(self, path: &Path) -> EvidenceStoreError {
        match self {
            Self::Sqlite(source) => explain(path, source),
            Self::Foreign => EvidenceStoreError::Foreign {
                path: path.to_owned(),
            },
            Self::Newer(found) => EvidenceStoreError::Newer {
                path: path.to_owned(),
                found,
                known: VERSION,
            },
            Self::OtherSchema => corrupt(path, "its tables are not those of evidence".to_owned()),
        }
    }
}

/// Sets the connection up, and makes the tables in an empty database. A database of something else is not written.
pub(super) fn prepare(connection: &mut Connection, lock_wait: Duration) -> Result<(), Problem> {
    // SQLite counts milliseconds in 31 bits.
    connection.busy_timeout(lock_wait.min(Duration::from_millis(i32::MAX as u64)))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let begin = Instant::now();
    loop {
        match make_tables(connection) {
            // Where two connections switch the log on at once, SQLite gives one of them up without waiting.
            Err(error) if is_busy(&error) && begin.elapsed() < lock_wait => {
                std::thread::sleep(Duration::from_millis(2));
            }
            made => break made?,
        }
    }
    check(connection)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn make_tables(connection: &mut Connection) -> Result<(), rusqlite::Error> {
    if !is_empty(connection)? {
        return Ok(());
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made the tables meanwhile.
    if is_empty(&transaction)? {
        for statement in SCHEMA {
            transaction.execute(statement, [])?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

fn check(connection: &Connection) -> Result<(), Problem> {
    if pragma(connection, "application_id")? != APPLICATION_ID {
        return Err(Problem::Foreign);
    }
    match pragma(connection, "user_version")? {
        VERSION => {}
        found if found > VERSION => return Err(Problem::Newer(found)),
        _ => return Err(Problem::OtherSchema),
    }
    if objects(connection)? == SCHEMA {
        Ok(())
    } else {
        Err(Problem::OtherSchema)
    }
}

fn is_empty(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let marks = (
        pragma(connection, "application_id")?,
        pragma(connection, "user_version")?,
    );
    let any = "SELECT 1 FROM sqlite_schema LIMIT 1";
    let any = connection.query_row(any, [], |_| Ok(())).optional()?;
    Ok(marks == (0, 0) && any.is_none())
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// The statements that made what is in the database, but for what SQLite adds itself.
fn objects(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    let query =
        "SELECT coalesce(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' ORDER BY rowid";
    let mut statement = connection.prepare(query)?;
    let objects = statement.query_map([], |row| row.get(0))?;
    objects.collect()
}
