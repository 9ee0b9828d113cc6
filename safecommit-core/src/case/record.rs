//! The decision record: everything needed to explain a decision, and to attribute a failure later.

use safecommit_conformal::{Alpha, Calibration, Digest, Guarantee, Stratum};
use serde::{Deserialize, Serialize};

use super::request::Observation;
use crate::bound::{ErrorBound, RepresentationTerm};
use crate::fallback::FallbackKind;
use crate::probing::ProbeRule;
use crate::shrinkage::Purpose;

/// A decision and why. It is data for people and programs; a record releases nothing, only a
/// [`crate::Certificate`] does.
///
/// ```
/// use safecommit_core::{Case, DecisionRecord, Request};
///
/// let request: Request = serde_json::from_str(r#"{
///     "actions": [{"id": "send"}], "worlds": [{"id": "only", "score": 0.1, "safe": []}]
/// }"#)?;
/// let decision = Case::new(request)?.decide(None);
/// assert_eq!(decision.record().actions[0].blocked_by, ["only"]);
/// // It reads back as it was written.
/// let json = serde_json::to_string(decision.record())?;
/// assert_eq!(&serde_json::from_str::<DecisionRecord>(&json)?, decision.record());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DecisionRecord {
    /// The name that the request gave.
    pub id: Option<String>,
    /// The stratum that the request named.
    pub stratum: Option<Stratum>,
    /// What was decided.
    pub decision: DecisionKind,
    /// The action to execute; null unless the decision is to commit.
    pub action: Option<String>,
    /// What the commit rests on; null unless the decision is to commit.
    pub certificate: Option<CertificateRecord>,
    /// The probe to make; null unless the decision is to probe.
    pub probe: Option<ProbeRecord>,
    /// Why not to act; null for a commit and a probe.
    pub fallback: Option<FallbackRecord>,
    /// Every candidate action with the plausible worlds that block it.
    pub actions: Vec<ActionRecord>,
    /// Every proposed world with where it stands.
    pub worlds: Vec<WorldRecord>,
    /// The plausible worlds grouped by the actions that are safe in them.
    pub classes: Vec<ClassRecord>,
    /// The probes made so far, in their order.
    pub observed: Vec<Observation>,
    /// The threshold on scores; null if unbounded, when no world is excluded by its score.
    pub threshold: Option<f64>,
    /// Whether answers refuted every world below the threshold, so that the worlds left above it were
    /// taken in.
    pub reopened: bool,
    /// The calibration behind the threshold; null without one, and where none is for the stratum.
    pub calibration: Option<CalibrationRecord>,
    /// What bounds the probability of an unsafe commit, term by term.
    pub bound: BoundRecord,
    /// SHA-256 of the request, in hexadecimal: what a certificate of this decision is bound to.
    pub subject: String,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// Execute the action.
    Commit,
    /// Make the probe, then decide again with its outcome.
    Probe,
    /// Wait for evidence.
    Defer,
    /// Hand the decision to somebody with authority.
    Escalate,
    /// Drop the proposal.
    Abstain,
}

/// What a commit rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CertificateRecord {
    /// The certified action.
    pub action: String,
    /// The plausible worlds, in each of which it is safe; at least one.
    pub safe_in: Vec<String>,
    /// How many reports of probes had come in.
    pub observations: usize,
    /// The level at which worlds were excluded by their score; null if none could be: without a calibration,
    /// and in a reopened set.
    pub alpha: Option<Alpha>,
    /// What the threshold of the plausible set promises at that level; null along with it.
    pub guarantee: Option<Guarantee>,
}

/// The probe to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProbeRecord {
    /// Its name.
    pub id: String,
    /// What making it costs.
    pub cost: f64,
    /// Expected certificate shrinkage (Eq. 12), in [0, 1].
    pub expected_shrinkage: f64,
    /// Expected shrinkage per unit cost (Eq. 13).
    pub score: f64,
    /// Whether it is to certify an action or to verify a certificate.
    pub purpose: Purpose,
    /// The rule that chose it.
    pub rule: ProbeRule,
    /// The outcomes that may be reported.
    pub outcomes: Vec<String>,
}

/// Why not to act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FallbackRecord {
    /// What to do instead.
    pub kind: FallbackKind,
    /// The reason, as a fixed word for programs.
    pub reason: String,
    /// The reason in a sentence.
    pub explanation: String,
}

/// A candidate action and what blocks it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActionRecord {
    /// Its name.
    pub id: String,
    /// Its family, as the request names it.
    pub family: Option<String>,
    /// Whether it is safe in every plausible world; never when no world is plausible.
    pub certified: bool,
    /// The plausible worlds in which it is not safe.
    pub blocked_by: Vec<String>,
    /// The mass of those worlds, in [0, 1]; null when no world is plausible.
    pub residual_mass: Option<f64>,
}

/// A proposed world and where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorldRecord {
    /// Its name.
    pub id: String,
    /// Its nonconformity score.
    pub score: f64,
    /// Where it stands.
    pub fate: WorldFate,
    /// What removed it: the probe that refuted it or the hard evidence against it.
    pub removed_by: Option<String>,
    /// Its share of the mass over plausible worlds; null unless plausible.
    pub weight: Option<f64>,
}

/// Where a world stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorldFate {
    /// In the plausible set.
    Plausible,
    /// Removed by hard evidence.
    Contradicted,
    /// Its score exceeds the threshold.
    AboveThreshold,
    /// An observed outcome is impossible in it.
    Refuted,
}

/// Plausible worlds that agree on every action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassRecord {
    /// The actions that are safe in each of them.
    pub safe: Vec<String>,
    /// The worlds.
    pub worlds: Vec<String>,
}

/// The calibration behind a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CalibrationRecord {
    /// Its level.
    pub alpha: Alpha,
    /// How many cases it was computed from.
    pub n: u64,
    /// The rank of the threshold among their scores.
    pub rank: u64,
    /// SHA-256 of the scores.
    pub scores: Digest,
    /// What the threshold promises.
    pub guarantee: Guarantee,
}

/// P(unsafe commit) <= alpha + beta + error rates of the probes used, term by term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BoundRecord {
    /// Calibration error: the level; null without a calibration, when no world is excluded by its
    /// score and the term is zero.
    pub alpha: Option<Alpha>,
    /// Representation error.
    pub beta: RepresentationRecord,
    /// The probes that can err and whose answers were used.
    pub probe_errors: Vec<ProbeErrorRecord>,
    /// The sum, at most 1; null while a term is unknown: beta, the gap of a calibration on cases that are
    /// not exchangeable, or what a calibration for a policy that nobody stated says of this one.
    pub total: Option<f64>,
}

/// What is known of beta, the probability that the true world is not proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RepresentationRecord {
    /// Who says so.
    pub source: RepresentationSource,
    /// What it adds to the bound; null while unknown.
    pub value: Option<f64>,
    /// Calibration cases whose true world was not proposed, if they were counted.
    pub missing: Option<u64>,
    /// One-sided 95% Clopper-Pearson bound on beta from those counts.
    pub upper_95: Option<f64>,
}

/// Where the value of beta comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RepresentationSource {
    /// Nobody measured it.
    Unknown,
    /// The request.
    Request,
    /// The calibration, whose alpha covers both errors together.
    CoveredByAlpha,
    /// The calibration's count, as a bound with confidence 95%, since its threshold is unbounded.
    Calibration,
}

/// A probe whose answer was used and may be wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProbeErrorRecord {
    /// The probe.
    pub probe: String,
    /// The probability that its answer is wrong.
    pub error_rate: f64,
}

impl From<&Calibration> for CalibrationRecord {
    fn from(calibration: &Calibration) -> Self {
        Self {
            alpha: calibration.alpha(),
            n: calibration.n(),
            rank: calibration.rank(),
            scores: calibration.digest(),
            guarantee: calibration.guarantee().clone(),
        }
    }
}

impl From<&ErrorBound> for BoundRecord {
    fn from(bound: &ErrorBound) -> Self {
        let representation = bound.representation();
        let source = match representation {
            RepresentationTerm::Unknown => RepresentationSource::Unknown,
            RepresentationTerm::Stated(_) => RepresentationSource::Request,
            RepresentationTerm::CoveredByAlpha => RepresentationSource::CoveredByAlpha,
            RepresentationTerm::Estimated(_) => RepresentationSource::Calibration,
        };
        let counted = bound.counted();
        Self {
            alpha: bound.calibration(),
            beta: RepresentationRecord {
                source,
                value: representation.value(),
                missing: counted.map(|misses| misses.missing),
                upper_95: counted.map(|misses| misses.upper_95.value()),
            },
            probe_errors: bound
                .probes()
                .iter()
                .map(|(probe, rate)| ProbeErrorRecord {
                    probe: probe.clone(),
                    error_rate: rate.value(),
                })
                .collect(),
            total: bound.total(),
        }
    }
}
