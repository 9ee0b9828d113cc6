//! What is recorded of a decision.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use safecommit_conformal::{Calibration, MondrianCalibration};
use safecommit_core::{DecisionRecord, Fault, ProbeRule, Purpose, Request};
use serde::{Deserialize, Serialize};

use super::chain::ChainHash;
use super::error::AuditError;
use super::redact::RedactedField;
use crate::domain::SideEffect;

const FORMAT: u32 = 1;

/// The most bytes in the canonical form of a record, and in that of a calibration.
pub const MAX_RECORD_BYTES: usize = 32 * 1024 * 1024;

/// One decision, as it is handed to [`AuditLog::append`](super::AuditLog::append): the request, the record that
/// answered it, and the circumstances. The record of the core has what explains the decision: retained classes and
/// signatures, the certificate or the blocking worlds, the next probe and its expected shrinkage, the fallback and
/// its reason. What was expected of the probes that were made already stands in [`Self::probes`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry {
    /// A name that no other decision of the log has. Labels refer to it.
    pub decision: String,
    /// When it was taken, by the clock of whoever took it.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("format" = "date-time")))]
    pub at: Timestamp,
    /// What it was taken with.
    pub versions: Versions,
    /// What calibrations may be grouped by.
    pub group: Group,
    /// How long its parts took.
    pub durations: Durations,
    /// Steps of the time budget that passed after the request was made; see [`Request::elapsed_steps`].
    pub elapsed_steps: u64,
    /// The error on the decision path that whoever ran the controller reported to it.
    pub fault: Option<ReportedFault>,
    /// What was asked.
    pub request: Request,
    /// What was decided and why. Probes that it lists beyond those of the request were made after the request.
    pub record: DecisionRecord,
    /// The probes that the gate made, in their order; empty for a decision that was recorded without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<MadeProbe>,
    /// The facts of the decision with the values that they may have, whether or not these were proposed: what a label can
    /// be about. Empty where nobody knows them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Vec<String>>,
    /// Circumstances in words, such as the command line, by name.
    pub details: BTreeMap<String, String>,
    /// What went wrong in words, if anything did.
    pub error: Option<String>,
    /// What making each probe of the request may do, by their names, as far as that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub side_effects: BTreeMap<String, SideEffect>,
}

/// A probe that was made on the way to a decision: what was expected of it when it was chosen, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MadeProbe {
    /// Its name.
    pub id: String,
    /// Whether it was to certify an action or to verify a certificate.
    pub purpose: Purpose,
    /// The rule that chose it.
    pub rule: ProbeRule,
    /// Expected certificate shrinkage (Eq. 12), in [0, 1].
    pub expected_shrinkage: f64,
    /// Expected shrinkage per unit of cost (Eq. 13).
    pub score: f64,
    /// What the rule compared instead of the score, if it goes by information: nats per unit of cost.
    pub information: Option<f64>,
    /// What came of it; `None` if it failed.
    pub outcome: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// How long it took, in microseconds.
    pub duration: u64,
}

/// What a decision was taken with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// The program.
    pub program: String,
    /// The policies and their schema, such as a digest of them.
    pub policy: Option<String>,
    /// The score of worlds: weights and terms. A threshold serves no other version.
    pub score: Option<String>,
}

/// What calibrations may be grouped by; it has to follow from what is known before the true world is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The family of actions, such as `file`.
    pub family: Option<String>,
    /// How grave the worst candidate is.
    pub severity: Option<String>,
    /// The kind of source of the evidence, such as `memory`.
    pub source: Option<String>,
}

/// How long the parts of a decision took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Durations {
    /// Making worlds from the evidence.
    pub proposing: u64,
    /// Deciding, all steps together.
    pub deciding: u64,
    /// Making probes.
    pub probing: u64,
}

/// An error on the decision path that is reported to a controller from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportedFault {
    /// A safety policy could not be evaluated.
    Policy,
    /// The support was cut before it was complete.
    TruncatedSupport,
}

/// The calibration that a decision was taken under.
#[derive(Clone, Copy, Debug)]
pub enum UsedCalibration<'a> {
    /// None: the threshold was unbounded.
    None,
    /// This one, as in [`Case::decide`](safecommit_core::Case::decide).
    One(&'a Calibration),
    /// The one of the request's stratum, as in [`Case::decide_among`](safecommit_core::Case::decide_among).
    ByStratum(&'a MondrianCalibration),
}

/// A calibration as it is stored, for all decisions or one for each stratum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredCalibration {
    /// One for all decisions.
    One(Box<Calibration>),
    /// One for each stratum.
    ByStratum(MondrianCalibration),
}

/// A decision as it stands in the log. Its canonical form is JSON without white space, fields in the order in which
/// they are declared, names of details sorted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The version of this form.
    pub format: u32,
    /// SHA-256 of the calibration that it was taken under.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<safecommit_conformal::Digest>")
    )]
    pub calibration: Option<ChainHash>,
    /// Which fields hold codes in place of values.
    pub redacted: Vec<RedactedField>,
    /// The decision.
    pub entry: Entry,
}

impl Entry {
    /// A decision with its request and the record that answered it, and nothing known of the circumstances.
    #[must_use]
    pub fn new(
        decision: impl Into<String>,
        at: Timestamp,
        request: Request,
        record: DecisionRecord,
    ) -> Self {
        Self {
            decision: decision.into(),
            at,
            versions: Versions::default(),
            group: Group::default(),
            durations: Durations::default(),
            elapsed_steps: 0,
            fault: None,
            request,
            record,
            probes: Vec::new(),
            facts: BTreeMap::new(),
            details: BTreeMap::new(),
            error: None,
            side_effects: BTreeMap::new(),
        }
    }
}

impl AuditRecord {
    pub(super) fn new(
        calibration: Option<ChainHash>,
        redacted: Vec<RedactedField>,
        entry: Entry,
    ) -> Self {
        Self {
            format: FORMAT,
            calibration,
            redacted,
            entry,
        }
    }

    /// The canonical bytes, which read back as they were written.
    pub(super) fn write(&self) -> Result<Vec<u8>, AuditError> {
        let refuse = |problem: String| AuditError::NotWritable {
            decision: self.entry.decision.clone(),
            problem,
        };
        let bytes = serde_json::to_vec(self).map_err(|error| refuse(error.to_string()))?;
        check_length(&bytes).map_err(refuse)?;
        let back = Self::read(&bytes).map_err(refuse)?;
        if back != *self {
            return Err(refuse("it does not read back as it was".to_owned()));
        }
        Ok(bytes)
    }

    /// Reads canonical bytes; any other form of the same record is refused.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if record.format != FORMAT {
            return Err(format!(
                "it has format {}, known is {FORMAT}",
                record.format
            ));
        }
        match serde_json::to_vec(&record) {
            Ok(canonical) if canonical == bytes => Ok(record),
            Ok(_) => Err("it is not in its canonical form".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Refuses what no line of an export may hold.
pub(super) fn check_length(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(format!("it has more than {MAX_RECORD_BYTES} bytes"));
    }
    Ok(())
}

/// The calibration that governs a request, none at all being a choice too; or the calibrations by stratum, of which none is
/// for it.
pub(crate) type Governing<'c> = Result<Option<Cow<'c, Calibration>>, &'c MondrianCalibration>;

impl<'c> UsedCalibration<'c> {
    pub(crate) fn governing(self, request: &Request) -> Governing<'c> {
        match self {
            Self::None => Ok(None),
            Self::One(one) => Ok(Some(Cow::Borrowed(one))),
            Self::ByStratum(all) => {
                let stratum = request.stratum.as_ref().ok_or(all)?;
                let one = all.calibration(stratum).map_err(|_| all)?;
                Ok(Some(Cow::Owned(one)))
            }
        }
    }

    pub(super) fn store(self) -> Option<StoredCalibration> {
        match self {
            Self::None => None,
            Self::One(calibration) => Some(StoredCalibration::One(Box::new(calibration.clone()))),
            Self::ByStratum(calibrations) => {
                Some(StoredCalibration::ByStratum(calibrations.clone()))
            }
        }
    }
}

impl StoredCalibration {
    pub(crate) fn used(&self) -> UsedCalibration<'_> {
        match self {
            Self::One(calibration) => UsedCalibration::One(calibration),
            Self::ByStratum(calibrations) => UsedCalibration::ByStratum(calibrations),
        }
    }
}

impl From<ReportedFault> for Fault {
    fn from(fault: ReportedFault) -> Self {
        match fault {
            ReportedFault::Policy => Self::Policy,
            ReportedFault::TruncatedSupport => Self::TruncatedSupport,
        }
    }
}
