//! The database: its tables, how it is opened, what is read and written.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, TransactionBehavior, params,
};

use super::chain::{ChainHash, Row, hexadecimal};
use super::error::AuditError;

const APPLICATION_ID: i64 = 0x5343_4131;
const FORMAT: i64 = 1;

/// Tables and triggers by name, sorted. The triggers are against accidents; against intent there is the key.
const SCHEMA: [(&str, &str); 6] = [
    (
        "calibration",
        "CREATE TABLE calibration (digest BLOB PRIMARY KEY NOT NULL, body BLOB NOT NULL) STRICT",
    ),
    (
        "calibration_keeps",
        "CREATE TRIGGER calibration_keeps BEFORE DELETE ON calibration \
         BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
    ),
    (
        "calibration_stays",
        "CREATE TRIGGER calibration_stays BEFORE UPDATE ON calibration \
         BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
    ),
    (
        "record",
        "CREATE TABLE record (sequence INTEGER PRIMARY KEY, decision TEXT NOT NULL UNIQUE, \
         body BLOB NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL, mac BLOB NOT NULL) STRICT",
    ),
    (
        "record_keeps",
        "CREATE TRIGGER record_keeps BEFORE DELETE ON record \
         BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
    ),
    (
        "record_stays",
        "CREATE TRIGGER record_stays BEFORE UPDATE ON record \
         BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
    ),
];

const COLUMNS: &str = "SELECT sequence, decision, body, previous, hash, mac FROM record";

/// Opens a log to append to.
pub(super) fn open_to_append(path: &Path, wait: Duration) -> Result<Connection, AuditError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    check_form(&connection, path)?;
    make_durable(&connection)?;
    check_what_decisions_touch(&connection)?;
    Ok(connection)
}

/// Whether the calibrations and the last record can be read and are what was written, as far as it shows without the key. All
/// the others are for verification, which takes longer the more there are.
fn check_what_decisions_touch(connection: &Connection) -> Result<(), AuditError> {
    let sql = "PRAGMA quick_check('calibration')";
    let said: String = connection.query_row(sql, [], |row| row.get(0))?;
    if said != "ok" {
        return Err(AuditError::Corrupt(said));
    }
    for (digest, body) in calibrations(connection)? {
        if ChainHash::of(&body).bytes()[..] != digest[..] {
            let problem = format!("calibration `{}` was changed", hexadecimal(&digest));
            return Err(AuditError::Corrupt(problem));
        }
    }
    let sql = format!("{COLUMNS} ORDER BY sequence DESC LIMIT 1");
    let Some(last) = connection.query_row(&sql, [], read_row).optional()? else {
        return Ok(());
    };
    let previous = <&[u8; 32]>::try_from(last.previous.as_slice()).ok();
    let sequence = u64::try_from(last.sequence).ok();
    let hash = previous
        .zip(sequence)
        .map(|(previous, sequence)| ChainHash::link(previous, sequence, &last.body));
    if hash.is_none_or(|hash| hash.bytes()[..] != last.hash[..]) {
        let problem = format!("record {} was changed", last.sequence);
        return Err(AuditError::Corrupt(problem));
    }
    Ok(())
}

/// Opens a log to read from.
pub(super) fn open_to_read(path: &Path, wait: Duration) -> Result<Connection, AuditError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, wait)?;
    check_form(&connection, path)?;
    Ok(connection)
}

/// Opens a log to verify. If only its tables are as they were created, the records can be looked at all the same; then with what
/// else is not.
pub(super) fn open_to_verify(
    path: &Path,
    wait: Duration,
) -> Result<(Connection, Option<String>), AuditError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, wait)?;
    let altered = match check_form(&connection, path) {
        Err(AuditError::Schema(name)) if has_its_tables(&connection)? => Some(name),
        checked => checked.map(|()| None)?,
    };
    Ok((connection, altered))
}

fn has_its_tables(connection: &Connection) -> Result<bool, AuditError> {
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE name = ?1")?;
    for (name, sql) in SCHEMA.iter().filter(|(_, sql)| is_table(sql)) {
        let found: Option<String> = statement.query_row([name], |row| row.get(0)).optional()?;
        if found.as_deref() != Some(*sql) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_table(sql: &str) -> bool {
    sql.starts_with("CREATE TABLE")
}

/// Makes the tables in an empty file, or goes on with a log that has no record: its creation was interrupted.
pub(super) fn create(path: &Path, wait: Duration) -> Result<Connection, AuditError> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    make_durable(&connection)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)";
    if transaction.query_row(sql, [], |row| row.get(0))? {
        check_form(&transaction, path)?;
        if tail(&transaction)?.0 > 0 {
            return Err(AuditError::Exists(path.to_owned()));
        }
    } else {
        let (tables, triggers): (Vec<_>, Vec<_>) =
            SCHEMA.iter().partition(|(_, sql)| is_table(sql));
        for (_, sql) in tables.into_iter().chain(triggers) {
            transaction.execute_batch(sql)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags, wait: Duration) -> Result<Connection, AuditError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite would say that the disk fails.
    if path.is_dir() {
        return Err(AuditError::NotAnAuditLog(path.to_owned()));
    }
    let connection = match Connection::open_with_flags(path, flags) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            return Err(AuditError::CannotOpen(path.to_owned()));
        }
        opened => opened?,
    };
    connection.busy_timeout(wait)?;
    connection.execute_batch("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")?;
    Ok(connection)
}

/// Write-ahead log, with every commit on the medium before it returns.
fn make_durable(connection: &Connection) -> Result<(), AuditError> {
    let mode: String = connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let problem = format!("journal_mode={mode}");
        return Err(AuditError::Schema(problem));
    }
    connection.execute_batch("PRAGMA synchronous=FULL;")?;
    Ok(())
}

fn check_form(connection: &Connection, path: &Path) -> Result<(), AuditError> {
    let pragma = |name: &str| -> Result<i64, AuditError> {
        match connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                Err(AuditError::NotAnAuditLog(path.to_owned()))
            }
            read => Ok(read?),
        }
    };
    if pragma("application_id")? != APPLICATION_ID {
        return Err(AuditError::NotAnAuditLog(path.to_owned()));
    }
    let found = pragma("user_version")?;
    if found > FORMAT {
        let known = FORMAT;
        return Err(AuditError::Newer { found, known });
    }
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut known = SCHEMA.iter();
    while let Some(row) = rows.next()? {
        let (name, sql): (String, String) = (row.get(0)?, row.get(1)?);
        if known.next() != Some(&(name.as_str(), sql.as_str())) {
            return Err(AuditError::Schema(name));
        }
    }
    match known.next() {
        None if found == FORMAT => Ok(()),
        None => Err(AuditError::Schema(format!("user_version={found}"))),
        Some((name, _)) => Err(AuditError::Schema((*name).to_owned())),
    }
}

/// The place and the hash of the last record; those before the first if there is none.
pub(super) fn tail(connection: &Connection) -> Result<(u64, ChainHash), AuditError> {
    let sql = "SELECT sequence, hash FROM record ORDER BY sequence DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let Some((sequence, hash)) = statement.query_row([], read).optional()? else {
        return Ok((0, ChainHash::genesis()));
    };
    let tail = u64::try_from(sequence)
        .ok()
        .zip(<[u8; 32]>::try_from(hash).ok());
    match tail {
        Some((sequence, hash)) => Ok((sequence, ChainHash(hash))),
        None => Err(AuditError::Corrupt(format!(
            "record {sequence} is no record"
        ))),
    }
}

/// Has a transaction see the log as it is now, from here on.
pub(super) fn begin_reading(connection: &Connection) -> Result<(), AuditError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM record)";
    Ok(connection
        .query_row(sql, [], |row| row.get::<_, bool>(0))
        .map(drop)?)
}

pub(super) fn holds(connection: &Connection, decision: &str) -> Result<bool, AuditError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM record WHERE decision = ?1)";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([decision], |row| row.get(0))?)
}

pub(super) fn insert(connection: &Connection, row: &Row) -> Result<(), AuditError> {
    let sql = "INSERT INTO record (sequence, decision, body, previous, hash, mac) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![
        row.sequence,
        row.decision,
        row.body,
        row.previous,
        row.hash,
        row.mac
    ])?;
    Ok(())
}

/// Stores a calibration once. One that is there already has to be the same.
pub(super) fn keep_calibration(
    connection: &Connection,
    digest: &ChainHash,
    body: &[u8],
) -> Result<(), AuditError> {
    let sql = "INSERT INTO calibration (digest, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![digest.bytes(), body])?;
    let sql = "SELECT body FROM calibration WHERE digest = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let kept: Vec<u8> = statement.query_row(params![digest.bytes()], |row| row.get(0))?;
    if kept != body {
        let problem = format!("calibration `{digest}` was changed");
        return Err(AuditError::Corrupt(problem));
    }
    Ok(())
}

/// All calibrations by digest.
pub(super) fn calibrations(
    connection: &Connection,
) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, AuditError> {
    let mut statement = connection.prepare("SELECT digest, body FROM calibration")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Hands every record to `take`, in their order.
pub(super) fn each<E: From<AuditError>>(
    connection: &Connection,
    mut take: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    let database = |error: rusqlite::Error| E::from(AuditError::from(error));
    let sql = format!("{COLUMNS} ORDER BY sequence");
    let mut statement = connection.prepare(&sql).map_err(database)?;
    let mut rows = statement.query([]).map_err(database)?;
    while let Some(row) = rows.next().map_err(database)? {
        take(read_row(row).map_err(database)?)?;
    }
    Ok(())
}

/// The record of one decision.
pub(super) fn find(connection: &Connection, decision: &str) -> Result<Option<Row>, AuditError> {
    let mut statement = connection.prepare(&format!("{COLUMNS} WHERE decision = ?1"))?;
    Ok(statement.query_row([decision], read_row).optional()?)
}

/// Whether the pages of the database fit together.
pub(super) fn check_pages(connection: &Connection) -> Result<(), AuditError> {
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said == "ok" {
        Ok(())
    } else {
        Err(AuditError::Corrupt(said))
    }
}

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        sequence: row.get(0)?,
        // Text that is no UTF-8 was not written here, and will not compare equal.
        decision: String::from_utf8_lossy(row.get_ref(1)?.as_bytes()?).into_owned(),
        body: row.get(2)?,
        previous: row.get(3)?,
        hash: row.get(4)?,
        mac: row.get(5)?,
    })
}
