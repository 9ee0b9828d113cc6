//! The audit log: one record a decision, durable before any effect, chained so that what was recorded stays.
//!
//! A log is a SQLite database in write-ahead mode with `synchronous=FULL`. Record n holds its bytes (canonical JSON,
//! [`AuditRecord`]), the hash of the record before, its own hash
//!
//! ```text
//! hash(n) = SHA-256(hash(n - 1) || n as eight bytes, least significant first || bytes(n))
//! ```
//!
//! and HMAC-SHA-256 of that hash. The *head* is another file, best on another machine or under another user: the
//! number of records and the last hash, with their HMAC. It is replaced twice a record, before the record is
//! committed (it then names the hash that comes next) and after, so that a process killed at any point leaves a log
//! that verifies, and a log that was cut short does not.
//!
//! # What verification finds
//!
//! [`AuditReader::verify`] names the first record that was changed, removed, moved or cut off, by whoever does not
//! have the [`LogKey`]. It cannot find that log *and* head were both put back to an older state together: keep the
//! head where that cannot be done.
//!
//! Both heads of a record are synchronised with their directory before [`AuditLog::append`] returns, so no power loss
//! brings an older one back. What is left: a process that ends between the commit and the second head, or whose append
//! says [`AuditError::HeadNotSettled`], leaves the first one, which admits the log with and without that last record.
//! Until the next append settles it, the removal of that one record is not found.
//!
//! # What a log tells
//!
//! [`AuditReader::replay`] takes every decision again; [`AuditReader::diagnose`] attributes failures to their causes,
//! given labels; [`AuditReader::calibration_scores`] gives the scores to calibrate on. A [`Label`] says what turned out
//! to be true: the name of the true world, its facts as far as they are known, or which actions were safe.

mod chain;
mod diagnose;
mod entry;
mod error;
mod export;
mod head;
mod key;
mod label;
mod reader;
mod redact;
mod reproduce;
mod scores;
mod store;
mod truth;
mod world_name;

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

pub use chain::{ChainHash, Flaw, FlawKind};
pub use diagnose::{Causes, Diagnosis, Failed, MissRate};
pub use entry::{
    AuditRecord, Durations, Entry, Group, MAX_RECORD_BYTES, MadeProbe, ReportedFault,
    UsedCalibration, Versions,
};
pub(crate) use entry::{Governing, StoredCalibration};
pub use error::{AuditError, KeyError, LabelError, Undeclared};
pub use export::{MAX_EXPORT_LINE_BYTES, check_export};
pub use key::LogKey;
pub use label::{Label, Labels, MAX_LABEL_LINE_BYTES};
pub use reader::{AuditReader, Divergence, Replay, Verified};
pub use redact::{RedactedField, Redaction};
pub use scores::{GroupBy, ScoredDecision};
pub use world_name::{Fit, WorldName, WorldNameError};

use chain::Row;
use head::Head;

/// How long to wait for another process that writes to the log.
const WAIT: Duration = Duration::from_secs(5);

/// An audit log to append to. Any number of processes may append to one log; SQLite has them take turns.
///
/// ```
/// use safecommit_core::{Case, Request};
/// use safecommit_gate::audit::{AuditLog, AuditReader, Entry, LogKey, UsedCalibration};
///
/// let directory = tempfile::tempdir()?;
/// let (path, head) = (directory.path().join("audit.db"), directory.path().join("audit.head"));
/// let key = LogKey::from_bytes([7; 32]); // for an example; draw it with `LogKey::create`
///
/// let request: Request = serde_json::from_str(r#"{
///     "actions": [{"id": "delete"}],
///     "worlds": [{"id": "temporary", "score": 0.1, "safe": ["delete"]}]
/// }"#)?;
/// let decision = Case::new(request.clone())?.decide(None);
/// let at = "2026-03-01T12:00:00Z".parse()?;
/// let entry = Entry::new("d-1", at, request, decision.record().clone());
///
/// let mut log = AuditLog::create(&path, &head, key.clone())?;
/// assert_eq!(log.append(&entry, UsedCalibration::None)?.sequence, 1);
/// // Now it is on the medium, and the action may be released.
///
/// let reader = AuditReader::open(&path)?;
/// assert_eq!(reader.verify(&head, &key)?.records, 1);
/// assert!(reader.replay()?.differing.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AuditLog {
    connection: Connection,
    path: PathBuf,
    head: PathBuf,
    key: LogKey,
    redaction: Option<Redaction>,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    /// Its place, from 1.
    pub sequence: u64,
    /// Its hash.
    pub hash: ChainHash,
}

impl AuditLog {
    /// Makes a log without records, and its head. Both are for their owner alone (mode 0600). A creation that was
    /// interrupted may be repeated.
    ///
    /// # Errors
    ///
    /// [`AuditError::Exists`] if there is a head, or anything else than a log without records; those of the database.
    pub fn create(path: &Path, head: &Path, key: LogKey) -> Result<Self, AuditError> {
        if std::fs::symlink_metadata(head).is_ok() {
            return Err(AuditError::Exists(head.to_owned()));
        }
        match head::private(OpenOptions::new().write(true).create_new(true)).open(path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(error.into());
            }
            _ => {}
        }
        let connection = match store::create(path, WAIT) {
            Err(AuditError::NotAnAuditLog(_) | AuditError::Corrupt(_)) => {
                return Err(AuditError::Exists(path.to_owned()));
            }
            created => created?,
        };
        head::sync_directory_of(path)?;
        head::write(head, &key, &Head::settled(0, ChainHash::genesis()))?;
        Ok(Self::new(connection, path, head, key))
    }

    /// Opens a log.
    ///
    /// # Errors
    ///
    /// [`AuditError`] for a file that is no log, or a damaged or newer one, and for a head that is not of this key.
    pub fn open(path: &Path, head: &Path, key: LogKey) -> Result<Self, AuditError> {
        let connection = store::open_to_append(path, WAIT)?;
        head::read(head, &key)?;
        Ok(Self::new(connection, path, head, key))
    }

    fn new(connection: Connection, path: &Path, head: &Path, key: LogKey) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            head: head.to_owned(),
            key,
            redaction: None,
        }
    }

    /// The same log, which keeps codes in place of the values of some fields.
    #[must_use]
    pub fn with_redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = Some(redaction);
        self
    }

    /// The same log, which waits this long for another process that writes to it; 5 s unless said otherwise.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn with_wait(self, wait: Duration) -> Result<Self, AuditError> {
        self.connection.busy_timeout(wait)?;
        Ok(self)
    }

    /// The same log, to read from.
    ///
    /// # Errors
    ///
    /// Those of [`AuditReader::open`].
    pub fn reader(&self) -> Result<AuditReader, AuditError> {
        AuditReader::open(&self.path)
    }

    /// Records a decision. When this returns, the record is on the medium; until then nothing may be released.
    ///
    /// The decision is taken again first, so that every record can be replayed; see [`Entry`] for what is taken
    /// into account. The end of the log has to be the one that the head names.
    ///
    /// # Errors
    ///
    /// [`AuditError`]; nothing was written then, with the exception of [`AuditError::HeadNotSettled`].
    pub fn append(
        &mut self,
        entry: &Entry,
        calibration: UsedCalibration<'_>,
    ) -> Result<Appended, AuditError> {
        let (entry, redacted) = self.prepare(entry, calibration)?;
        let kept = match calibration.store() {
            None => None,
            Some(stored) => {
                let refuse = |problem| AuditError::NotWritable {
                    decision: entry.decision.clone(),
                    problem: format!("its calibration: {problem}"),
                };
                let body = serde_json::to_vec(&stored);
                let body = body.map_err(|error| refuse(error.to_string()))?;
                entry::check_length(&body).map_err(refuse)?;
                Some((ChainHash::of(&body), body))
            }
        };
        let digest = kept.as_ref().map(|(digest, _)| *digest);
        let decision = entry.decision.clone();
        let body = AuditRecord::new(digest, redacted, entry.into_owned()).write()?;

        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        let (count, previous) = store::tail(&transaction)?;
        head::read(&self.head, &self.key)?.admits(count, previous)?;
        if store::holds(&transaction, &decision)? {
            return Err(AuditError::DecisionExists(decision));
        }
        let sequence = count + 1;
        let hash = ChainHash::link(previous.bytes(), sequence, &body);
        if let Some((digest, body)) = &kept {
            store::keep_calibration(&transaction, digest, body)?;
        }
        let row = Row {
            sequence: sequence.cast_signed(),
            decision,
            body,
            previous: previous.bytes().to_vec(),
            hash: hash.bytes().to_vec(),
            mac: hash.code(&self.key).to_vec(),
        };
        store::insert(&transaction, &row)?;
        let next = Some(hash);
        let pending = Head {
            count,
            hash: previous,
            next,
        };
        head::write(&self.head, &self.key, &pending)?;
        transaction.commit()?;
        self.settle()?;
        Ok(Appended { sequence, hash })
    }

    /// [`Self::append`], where details of these names, if they are kept as codes, stand for values that other texts may
    /// hold too: those get the same codes there. `questions` are the names of probes that persons answer.
    pub(crate) fn append_hiding<'v>(
        &mut self,
        entry: &Entry,
        calibration: UsedCalibration<'_>,
        details: impl IntoIterator<Item = &'static str>,
        values: impl IntoIterator<Item = &'v str>,
        questions: impl IntoIterator<Item = &'v str>,
    ) -> Result<Appended, AuditError> {
        let redaction = self.redaction.clone();
        self.redaction = (self.redaction.take()).map(|kept| kept.with_questions(questions));
        let mut fields = details
            .into_iter()
            .map(|name| RedactedField::Detail(name.to_owned()));
        if let Some(kept) = self
            .redaction
            .clone()
            .filter(|kept| fields.any(|field| kept.redacts(&field)))
        {
            self.redaction = Some(values.into_iter().fold(kept, Redaction::hiding));
        }
        let appended = self.append(entry, calibration);
        self.redaction = redaction;
        appended
    }

    /// Brings the head up to the records. Another process may have appended meanwhile and brought it further, so
    /// both are read again, under the lock.
    fn settle(&mut self) -> Result<(), AuditError> {
        let mut settle = || {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            let (count, hash) = store::tail(&transaction)?;
            let head = head::read(&self.head, &self.key)?;
            head.admits(count, hash)?;
            if head.next.is_some() {
                head::write(&self.head, &self.key, &Head::settled(count, hash))?;
            }
            Ok(())
        };
        settle().map_err(|error: AuditError| AuditError::HeadNotSettled(Box::new(error)))
    }

    /// The entry as it is written, and which of its fields hold codes.
    fn prepare<'e>(
        &self,
        entry: &'e Entry,
        calibration: UsedCalibration<'_>,
    ) -> Result<(Cow<'e, Entry>, Vec<RedactedField>), AuditError> {
        if entry.decision.is_empty() {
            return Err(AuditError::NoName);
        }
        if let Some(redaction) = &self.redaction {
            let redacted = redaction.entry(entry, calibration)?;
            return Ok((Cow::Owned(redacted), redaction.fields()));
        }
        let reproduced = reproduce::check(entry, calibration);
        reproduced.map_err(|problem| AuditError::NotReproducible {
            decision: entry.decision.clone(),
            problem,
        })?;
        Ok((Cow::Borrowed(entry), Vec::new()))
    }
}
