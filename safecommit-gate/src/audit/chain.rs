//! The chain: each record's hash covers the one before, and its code is keyed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use safecommit_conformal::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::entry::AuditRecord;
use super::error::AuditError;
use super::head::Head;
use super::key::LogKey;

const PURPOSE: &str = "record";

/// A SHA-256 hash or HMAC. JSON form: 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Digest", into = "String")]
pub struct ChainHash(pub(super) [u8; 32]);

/// The first record at which a log is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {sequence} {kind}")]
pub struct Flaw {
    /// Its place in the log, from 1.
    pub sequence: u64,
    /// What is wrong there.
    pub kind: FlawKind,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlawKind {
    /// Something in it is not what was written.
    #[error("was changed")]
    Changed,
    /// It is not there, though later ones are.
    #[error("was removed")]
    Removed,
    /// What stands there is another record of the log.
    #[error("is not there, in its place stands record {from}")]
    Moved {
        /// The place that the record was written for.
        from: u64,
    },
    /// It and what followed is not there.
    #[error("and what followed was cut off, there were {records} records")]
    CutOff {
        /// How many records the head counts.
        records: u64,
    },
    /// The head ends before it: the head is an older one.
    #[error("is beyond the head, which counts {records} records: the head is an older one")]
    AfterHead {
        /// How many records the head counts.
        records: u64,
    },
    /// The last record is not the one that the head names.
    #[error("is the last one, but not the last one that the head names")]
    OtherHead,
    /// The calibration that it was decided under is not there.
    #[error("was decided under calibration `{0}`, which was removed")]
    CalibrationRemoved(String),
    /// The calibration that it was decided under is not what was written.
    #[error("was decided under calibration `{0}`, which was changed")]
    CalibrationChanged(String),
}

/// A record as it is stored.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) sequence: i64,
    pub(super) decision: String,
    pub(super) body: Vec<u8>,
    pub(super) previous: Vec<u8>,
    pub(super) hash: Vec<u8>,
    pub(super) mac: Vec<u8>,
}

impl ChainHash {
    /// What the first record of every log follows.
    pub(super) fn genesis() -> Self {
        Self::of(b"safecommit audit log, format 1")
    }

    /// SHA-256 of some bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// SHA-256 over the hash before, the place as eight bytes, least significant first, and the bytes of the record.
    pub(super) fn link(previous: &[u8; 32], sequence: u64, body: &[u8]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(previous);
        hasher.update(sequence.to_le_bytes());
        hasher.update(body);
        Self(hasher.finalize().into())
    }

    /// The code that only a holder of the key can give.
    pub(super) fn code(&self, key: &LogKey) -> [u8; 32] {
        key.code(PURPOSE, &[&self.0])
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Checks records in their order.
pub(super) struct Checker<'k> {
    key: &'k LogKey,
    head: Head,
    calibrations: BTreeMap<Vec<u8>, Vec<u8>>,
    named: BTreeSet<Vec<u8>>,
    count: u64,
    hash: ChainHash,
}

impl<'k> Checker<'k> {
    pub(super) fn new(
        key: &'k LogKey,
        head: Head,
        calibrations: BTreeMap<Vec<u8>, Vec<u8>>,
    ) -> Self {
        Self {
            key,
            head,
            calibrations,
            named: BTreeSet::new(),
            count: 0,
            hash: ChainHash::genesis(),
        }
    }

    /// The next record, which has to be the one that was written there.
    pub(super) fn check(&mut self, row: &Row) -> Result<AuditRecord, Flaw> {
        let sequence = self.count + 1;
        let flaw = |kind| Flaw { sequence, kind };
        if u64::try_from(row.sequence).is_ok_and(|found| found > sequence) {
            return Err(flaw(FlawKind::Removed));
        }
        let hash = ChainHash::link(&self.hash.0, sequence, &row.body);
        let authentic = row.sequence == sequence.cast_signed()
            && row.previous == self.hash.0
            && row.hash == hash.0
            && self.key.verifies(PURPOSE, &[&hash.0], &row.mac);
        if !authentic {
            let moved = self.place_of(row).filter(|from| *from != sequence);
            return Err(flaw(
                moved.map_or(FlawKind::Changed, |from| FlawKind::Moved { from }),
            ));
        }
        let changed = || flaw(FlawKind::Changed);
        let record = AuditRecord::read(&row.body).map_err(|_| changed())?;
        if record.entry.decision != row.decision {
            return Err(changed());
        }
        if let Some(digest) = record.calibration {
            let body = self.calibrations.get(&digest.0[..]);
            let body =
                body.ok_or_else(|| flaw(FlawKind::CalibrationRemoved(digest.to_string())))?;
            if ChainHash::of(body) != digest {
                return Err(flaw(FlawKind::CalibrationChanged(digest.to_string())));
            }
            self.named.insert(digest.0.to_vec());
        }
        (self.count, self.hash) = (sequence, hash);
        Ok(record)
    }

    /// The place for which a record was written, if it was written with the key and is whole.
    fn place_of(&self, row: &Row) -> Option<u64> {
        let previous: &[u8; 32] = row.previous.as_slice().try_into().ok()?;
        if !self.key.verifies(PURPOSE, &[&row.hash], &row.mac) {
            return None;
        }
        let last = self.head.count.saturating_add(1);
        (1..=last).find(|place| row.hash == ChainHash::link(previous, *place, &row.body).0)
    }

    /// The end of the records, which has to be the one that the head names.
    pub(super) fn finish(self) -> Result<(u64, ChainHash), AuditError> {
        self.head.admits(self.count, self.hash)?;
        match self
            .calibrations
            .keys()
            .find(|digest| !self.named.contains(*digest))
        {
            Some(foreign) => Err(AuditError::ForeignCalibration(hexadecimal(foreign))),
            None => Ok((self.count, self.hash)),
        }
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for ChainHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ChainHash({self})")
    }
}

impl From<Digest> for ChainHash {
    fn from(digest: Digest) -> Self {
        Self(*digest.bytes())
    }
}

impl From<ChainHash> for String {
    fn from(hash: ChainHash) -> Self {
        hash.to_string()
    }
}
