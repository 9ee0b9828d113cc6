//! Reading a log: verification, replay, the records themselves.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use super::WAIT;
use super::chain::{ChainHash, Checker, Flaw, FlawKind, Row};
use super::entry::{AuditRecord, StoredCalibration, UsedCalibration};
use super::error::AuditError;
use super::key::LogKey;
use super::reproduce::{self, Reproduced};
use super::{head, store};

/// An audit log to read from. Reading changes nothing and holds nobody up.
#[derive(Debug)]
pub struct AuditReader {
    pub(super) connection: Connection,
    /// What is not as it was created, beside the tables; such a log is only verified.
    pub(super) altered: Option<String>,
}

/// A log that is as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many records it has.
    pub records: u64,
    /// The hash of the last one.
    pub hash: ChainHash,
}

/// What came of taking every decision again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// How many decisions were taken again.
    pub decisions: u64,
    /// Those that came out otherwise.
    pub differing: Vec<Divergence>,
}

/// A decision that came out otherwise than it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// Its place in the log, from 1.
    pub sequence: u64,
    /// The decision.
    pub decision: String,
    /// What differs.
    pub problem: String,
}

/// Calibrations of a log by digest.
pub(super) struct Calibrations(BTreeMap<ChainHash, StoredCalibration>);

impl AuditReader {
    /// Opens a log.
    ///
    /// # Errors
    ///
    /// [`AuditError`] for a file that is no log, and for a damaged or newer one.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let connection = store::open_to_read(path, WAIT)?;
        Ok(Self {
            connection,
            altered: None,
        })
    }

    /// Opens a log to [`verify`](Self::verify), even if something was done to what keeps its records from being changed by
    /// mistake. Whoever changed records on purpose has removed that, and it matters more which records those are.
    ///
    /// # Errors
    ///
    /// As with [`open`](Self::open), but for the triggers and what was added; verification ends with these.
    pub fn open_to_verify(path: &Path) -> Result<Self, AuditError> {
        let (connection, altered) = store::open_to_verify(path, WAIT)?;
        Ok(Self {
            connection,
            altered,
        })
    }

    /// Checks that the log is what was written with this key, and ends where the head says.
    ///
    /// # Errors
    ///
    /// [`AuditError::Flaw`] with the first record that was changed, removed, moved or cut off; [`AuditError::Head`]
    /// for a head that is gone, was changed, or is of another key; others for a database that is damaged or was
    /// added to.
    pub fn verify(&self, head: &Path, key: &LogKey) -> Result<Verified, AuditError> {
        // A head that is the same before and after belongs to what was seen in between.
        for _ in 0..1_000 {
            let before = head::read(head, key)?;
            let snapshot = self.snapshot()?;
            if head::read(head, key)? == before {
                let verified = verify(&snapshot, before, key)?;
                return match &self.altered {
                    None => Ok(verified),
                    Some(name) => Err(AuditError::Schema(name.clone())),
                };
            }
            drop(snapshot);
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(AuditError::Locked)
    }

    /// Takes every decision again from its request and calibration, and compares the bytes of the records.
    ///
    /// # Errors
    ///
    /// [`AuditError`] for a record or calibration that cannot be read.
    pub fn replay(&self) -> Result<Replay, AuditError> {
        let mut replay = Replay {
            decisions: 0,
            differing: Vec::new(),
        };
        let calibrations = self.calibrations()?;
        self.each(|sequence, record| {
            replay.decisions += 1;
            if let Err(problem) = calibrations.check(&record) {
                replay.differing.push(Divergence {
                    sequence,
                    decision: record.entry.decision,
                    problem,
                });
            }
            Ok(())
        })?;
        Ok(replay)
    }

    /// Hands every record with its place to `take`, in their order, without checking the chain.
    ///
    /// # Errors
    ///
    /// [`AuditError`] for a record that cannot be read, and whatever `take` returns.
    pub fn each(
        &self,
        mut take: impl FnMut(u64, AuditRecord) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        store::each(&self.connection, |row: Row| {
            let (sequence, record) = parse(&row)?;
            take(sequence, record)
        })
    }

    /// All records in their order, without checking the chain.
    ///
    /// # Errors
    ///
    /// [`AuditError`] for a record that cannot be read.
    pub fn records(&self) -> Result<Vec<AuditRecord>, AuditError> {
        let mut records = Vec::new();
        self.each(|_, record| {
            records.push(record);
            Ok(())
        })?;
        Ok(records)
    }

    /// The record of a decision; `None` if there is none of this name.
    ///
    /// # Errors
    ///
    /// [`AuditError`] if it cannot be read.
    pub fn record(&self, decision: &str) -> Result<Option<AuditRecord>, AuditError> {
        let row = store::find(&self.connection, decision)?;
        Ok(row
            .map(|row| parse(&row))
            .transpose()?
            .map(|(_, record)| record))
    }

    /// Everything read through it is of one moment.
    pub(super) fn snapshot(&self) -> Result<Transaction<'_>, AuditError> {
        let transaction = self.connection.unchecked_transaction()?;
        store::begin_reading(&transaction)?;
        Ok(transaction)
    }

    pub(super) fn calibrations(&self) -> Result<Calibrations, AuditError> {
        let mut calibrations = BTreeMap::new();
        for (digest, body) in store::calibrations(&self.connection)? {
            let stored = serde_json::from_slice(&body).map_err(|error| {
                let digest = super::chain::hexadecimal(&digest);
                AuditError::Corrupt(format!("calibration `{digest}`: {error}"))
            })?;
            calibrations.insert(ChainHash::of(&body), stored);
        }
        Ok(Calibrations(calibrations))
    }
}

impl Calibrations {
    /// A decision taken again, which has to come out as it was.
    pub(super) fn reproduced(&self, record: &AuditRecord) -> Result<Reproduced, AuditError> {
        self.check(record)
            .map_err(|problem| AuditError::NotReproducible {
                decision: record.entry.decision.clone(),
                problem,
            })
    }

    /// Takes a decision again.
    pub(super) fn check(&self, record: &AuditRecord) -> Result<Reproduced, String> {
        let used = match &record.calibration {
            None => UsedCalibration::None,
            Some(digest) => match self.0.get(digest) {
                Some(stored) => stored.used(),
                None => return Err(format!("calibration `{digest}` is not in the log")),
            },
        };
        reproduce::check(&record.entry, used)
    }
}

fn verify(
    snapshot: &Transaction<'_>,
    head: head::Head,
    key: &LogKey,
) -> Result<Verified, AuditError> {
    let calibrations = store::calibrations(snapshot)?;
    let mut checker = Checker::new(key, head, calibrations);
    store::each(snapshot, |row| {
        checker.check(&row)?;
        Ok::<_, AuditError>(())
    })?;
    let (records, hash) = checker.finish()?;
    store::check_pages(snapshot)?;
    Ok(Verified { records, hash })
}

fn parse(row: &Row) -> Result<(u64, AuditRecord), AuditError> {
    let sequence = u64::try_from(row.sequence).unwrap_or_default();
    let kind = FlawKind::Changed;
    match AuditRecord::read(&row.body) {
        Ok(record) => Ok((sequence, record)),
        Err(_) => Err(Flaw { sequence, kind }.into()),
    }
}
