//! The log as lines of JSON, and whether such lines are what was written.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{ChainHash, Checker, Flaw, FlawKind, Row};
use super::entry::MAX_RECORD_BYTES;
use super::error::AuditError;
use super::head::{Head, HeadFile};
use super::key::LogKey;
use super::reader::{AuditReader, Verified};
use super::store;
use crate::lines::{LineProblem, next_line, reason};

const FORMAT: u32 = 1;

/// The most bytes in a line of an export, its end not counted. [`check_export`] never holds more than one line besides
/// the calibrations. Every record fits: its line has its body and its decision, which stands in the body too.
pub const MAX_EXPORT_LINE_BYTES: usize = 2 * MAX_RECORD_BYTES + 4096;

/// A line of an export. Bodies stand in it as they were hashed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line<'a> {
    /// The first line. It repeats the head, so that records can be checked as they come.
    AuditLog { format: u32, head: HeadFile },
    /// A calibration; all of them come before the records.
    Calibration {
        digest: ChainHash,
        #[serde(borrow)]
        body: Cow<'a, RawValue>,
    },
    /// A record.
    Record {
        sequence: i64,
        decision: String,
        previous: ChainHash,
        hash: ChainHash,
        mac: ChainHash,
        #[serde(borrow)]
        body: Cow<'a, RawValue>,
    },
}

impl AuditReader {
    /// Writes the log as lines of JSON: a line with the head, one for each calibration, one for each record.
    /// [`check_export`] checks them. The log is verified first.
    ///
    /// # Errors
    ///
    /// Those of [`Self::verify`]; [`AuditError::Io`].
    pub fn export(
        &self,
        head: &Path,
        key: &LogKey,
        mut lines: impl Write,
    ) -> Result<Verified, AuditError> {
        let mut write = |line: &Line<'_>| -> Result<(), AuditError> {
            serde_json::to_writer(&mut lines, line).map_err(std::io::Error::from)?;
            Ok(lines.write_all(b"\n")?)
        };
        let verified = self.verify(head, key)?;
        // What was appended since then is left out, and the head says so.
        write(&Line::AuditLog {
            format: FORMAT,
            head: Head::settled(verified.records, verified.hash).sign(key),
        })?;
        let snapshot = self.snapshot()?;
        let rows = self.named_until(verified.records)?;
        for (digest, body) in store::calibrations(&snapshot)? {
            let digest = hash(&digest, 0)?;
            if rows.contains(&digest) {
                let body = raw(body, 0)?;
                write(&Line::Calibration { digest, body })?;
            }
        }
        store::each(&snapshot, |row| {
            let sequence = u64::try_from(row.sequence).unwrap_or_default();
            if sequence > verified.records {
                return Ok(());
            }
            write(&Line::Record {
                sequence: row.sequence,
                previous: hash(&row.previous, sequence)?,
                hash: hash(&row.hash, sequence)?,
                mac: hash(&row.mac, sequence)?,
                body: raw(row.body, sequence)?,
                decision: row.decision,
            })
        })?;
        drop(snapshot);
        lines.flush()?;
        Ok(verified)
    }

    /// The calibrations that the first records name.
    fn named_until(&self, last: u64) -> Result<BTreeSet<ChainHash>, AuditError> {
        let mut named = BTreeSet::new();
        self.each(|sequence, record| {
            if sequence <= last {
                named.extend(record.calibration);
            }
            Ok(())
        })?;
        Ok(named)
    }
}

/// Checks lines that [`AuditReader::export`] wrote: that each record is what was written with the key, that none is
/// missing, and that the records end where the head says.
///
/// ```
/// use safecommit_gate::audit::{AuditLog, LogKey, check_export};
///
/// let directory = tempfile::tempdir()?;
/// let (path, head) = (directory.path().join("audit.db"), directory.path().join("audit.head"));
/// let key = LogKey::from_bytes([7; 32]);
/// let log = AuditLog::create(&path, &head, key.clone())?;
/// let mut lines = Vec::new();
/// log.reader()?.export(&head, &key, &mut lines)?;
/// assert_eq!(check_export(lines.as_slice(), &key)?.records, 0);
/// assert!(check_export(lines.as_slice(), &LogKey::from_bytes([8; 32])).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`AuditError::Flaw`] with the first record that is not what was written; [`AuditError::Export`] for a line that is
/// no line of an export, has more than [`MAX_EXPORT_LINE_BYTES`] or is out of place, and for a head of another key.
pub fn check_export(mut lines: impl BufRead, key: &LogKey) -> Result<Verified, AuditError> {
    let mut opened: Option<Head> = None;
    let mut calibrations = BTreeMap::new();
    let mut checker: Option<Checker<'_>> = None;
    let mut buffer = Vec::new();
    for number in 1.. {
        let refuse = |problem: String| AuditError::Export {
            line: number,
            problem,
        };
        let text = match next_line(&mut lines, MAX_EXPORT_LINE_BYTES, &mut buffer) {
            Ok(None) => break,
            Ok(Some(text)) => text,
            Err(LineProblem::Read(error)) => return Err(error.into()),
            Err(problem) => return Err(refuse(problem.to_string())),
        };
        let line: Line<'_> = serde_json::from_str(text).map_err(|error| refuse(reason(&error)))?;
        match (line, &opened) {
            (Line::AuditLog { format, head }, None) => {
                if format != FORMAT {
                    return Err(refuse(format!("it has format {format}, known is {FORMAT}")));
                }
                opened = Some(
                    head.open(key)
                        .map_err(|problem| refuse(format!("the head: {problem}")))?,
                );
            }
            (Line::Calibration { digest, body }, Some(_)) if checker.is_none() => {
                calibrations.insert(digest.bytes().to_vec(), body.get().as_bytes().to_vec());
            }
            (
                Line::Record {
                    sequence,
                    decision,
                    previous,
                    hash,
                    mac,
                    body,
                },
                Some(head),
            ) => {
                let checker = checker.get_or_insert_with(|| {
                    Checker::new(key, head.clone(), std::mem::take(&mut calibrations))
                });
                checker.check(&Row {
                    sequence,
                    decision,
                    body: body.get().as_bytes().to_vec(),
                    previous: previous.bytes().to_vec(),
                    hash: hash.bytes().to_vec(),
                    mac: mac.bytes().to_vec(),
                })?;
            }
            _ => return Err(refuse("it is out of place".to_owned())),
        }
    }
    let Some(head) = opened else {
        let problem = "there is none, so no head either".to_owned();
        return Err(AuditError::Export { line: 1, problem });
    };
    let checker = checker.unwrap_or_else(|| Checker::new(key, head, calibrations));
    let (records, hash) = checker.finish()?;
    Ok(Verified { records, hash })
}

fn raw(body: Vec<u8>, sequence: u64) -> Result<Cow<'static, RawValue>, AuditError> {
    let text = String::from_utf8(body).ok();
    let value = text.and_then(|text| RawValue::from_string(text).ok());
    value.map(Cow::Owned).ok_or_else(|| changed(sequence))
}

fn hash(bytes: &[u8], sequence: u64) -> Result<ChainHash, AuditError> {
    bytes
        .try_into()
        .map(ChainHash)
        .map_err(|_| changed(sequence))
}

fn changed(sequence: u64) -> AuditError {
    let kind = FlawKind::Changed;
    Flaw { sequence, kind }.into()
}
