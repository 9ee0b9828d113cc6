//! The decision record: everything needed to explain a decision, and to attribute a failure later.

use safecommit_conformal::{Alpha, Calibration, Digest, Guarantee};
use serde::{Deserialize, Serialize};

use super::Case;
use super::request::Observation;
use crate::bound::{ErrorBound, RepresentationTerm};
use crate::controller::{Controller, Fate, Step};
use crate::fallback::{Fallback, FallbackKind, Fault, Reason, Stop};
use crate::plausible::Plausibility;

/// A decision and why. It is data for people and programs; a record releases nothing, only a
/// [`crate::Certificate`] does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DecisionRecord {
    /// The name that the request gave.
    pub id: Option<String>,
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
    /// The calibration behind the threshold; null without one.
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
    /// The sum, at most 1; null while beta is unknown.
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

/// Writes down where `controller`, started from `case`, stands at `step`.
pub(super) fn write(
    case: &Case,
    calibration: Option<&Calibration>,
    controller: &mut Controller<'_>,
    step: &Step,
) -> DecisionRecord {
    let bound = bound_of(case, calibration, controller);
    let observed = observed(case, controller);
    let fates = controller.fates().to_vec();
    let threshold = controller.threshold().finite().map(|score| score.value());
    let faulty = controller.fault().is_some();
    let plausibility = controller.plausible();
    let mut record = DecisionRecord {
        id: case.request.id.clone(),
        decision: DecisionKind::Probe,
        action: None,
        certificate: None,
        probe: None,
        fallback: None,
        actions: actions(case, plausibility, faulty),
        worlds: worlds(case, &fates, plausibility),
        classes: classes(case, plausibility),
        observed,
        threshold,
        calibration: calibration.map(CalibrationRecord::from),
        bound: BoundRecord::from(&bound),
        subject: case
            .problem
            .subject()
            .0
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    };
    match step {
        Step::Commit(certificate) => {
            let action = action_name(case, certificate.action());
            record.decision = DecisionKind::Commit;
            record.action = Some(action.clone());
            record.certificate = Some(CertificateRecord {
                action,
                safe_in: plausible_names(case, plausibility),
                observations: certificate.observations(),
            });
        }
        Step::Probe(choice) => {
            let proposal = &case.request.probes[choice.probe];
            let outcomes = &case.outcomes[choice.probe];
            record.probe = Some(ProbeRecord {
                id: proposal.id.clone(),
                cost: proposal.cost,
                expected_shrinkage: choice.shrinkage,
                score: choice.score,
                outcomes: outcomes.iter().map(str::to_owned).collect(),
            });
        }
        Step::Fallback(fallback) => {
            record.decision = match fallback.kind {
                FallbackKind::Defer => DecisionKind::Defer,
                FallbackKind::Escalate => DecisionKind::Escalate,
                FallbackKind::Abstain => DecisionKind::Abstain,
            };
            record.fallback = Some(explain(case, fallback));
        }
    }
    record
}

fn actions(case: &Case, plausibility: Plausibility<'_>, faulty: bool) -> Vec<ActionRecord> {
    case.request
        .actions
        .iter()
        .enumerate()
        .map(|(position, action)| {
            let (blocked_by, residual_mass) = match plausibility {
                Plausibility::Plausible(plausible) => (
                    plausible
                        .uncertified_region(position)
                        .map(|world| world_name(case, world))
                        .collect(),
                    Some(plausible.residual_mass(position)),
                ),
                Plausibility::Empty => (Vec::new(), None),
            };
            ActionRecord {
                id: action.id.clone(),
                family: action.family.clone(),
                certified: residual_mass.is_some() && blocked_by.is_empty() && !faulty,
                blocked_by,
                residual_mass,
            }
        })
        .collect()
}

fn worlds(case: &Case, fates: &[Fate], plausibility: Plausibility<'_>) -> Vec<WorldRecord> {
    let mut weights = vec![None; fates.len()];
    if let Plausibility::Plausible(plausible) = plausibility {
        for (world, &weight) in plausible.worlds().zip(plausible.weights()) {
            weights[world] = Some(weight);
        }
    }
    let reason_against = |world: &str| {
        case.request
            .hard_evidence
            .iter()
            .find(|evidence| evidence.world == world)
            .map(|evidence| evidence.reason.clone())
    };
    case.request
        .worlds
        .iter()
        .zip(fates)
        .zip(weights)
        .map(|((world, fate), weight)| {
            let (fate, removed_by) = match *fate {
                Fate::Retained => (WorldFate::Plausible, None),
                Fate::Contradicted => (WorldFate::Contradicted, reason_against(&world.id)),
                Fate::AboveThreshold => (WorldFate::AboveThreshold, None),
                Fate::Refuted { probe } => (WorldFate::Refuted, Some(probe_name(case, probe))),
            };
            WorldRecord {
                id: world.id.clone(),
                score: world.score,
                fate,
                removed_by,
                weight,
            }
        })
        .collect()
}

fn classes(case: &Case, plausibility: Plausibility<'_>) -> Vec<ClassRecord> {
    let Plausibility::Plausible(plausible) = plausibility else {
        return Vec::new();
    };
    plausible
        .classes()
        .into_iter()
        .map(|class| ClassRecord {
            safe: class
                .signature
                .iter()
                .map(|action| action_name(case, action))
                .collect(),
            worlds: class
                .worlds
                .into_iter()
                .map(|world| world_name(case, world))
                .collect(),
        })
        .collect()
}

fn observed(case: &Case, controller: &Controller<'_>) -> Vec<Observation> {
    controller
        .history()
        .iter()
        .map(|report| Observation {
            probe: probe_name(case, report.probe),
            outcome: report
                .outcome
                .and_then(|outcome| case.outcomes[report.probe].name(outcome))
                .map(str::to_owned),
        })
        .collect()
}

fn bound_of(
    case: &Case,
    calibration: Option<&Calibration>,
    controller: &Controller<'_>,
) -> ErrorBound {
    let used = controller
        .history()
        .iter()
        .filter(|report| report.outcome.is_some())
        .map(|report| {
            let rate = case.problem.probes()[report.probe].error_rate();
            (probe_name(case, report.probe), rate)
        });
    ErrorBound::new(calibration, case.beta, used)
}

fn plausible_names(case: &Case, plausibility: Plausibility<'_>) -> Vec<String> {
    match plausibility {
        Plausibility::Plausible(plausible) => plausible
            .worlds()
            .map(|world| world_name(case, world))
            .collect(),
        Plausibility::Empty => Vec::new(),
    }
}

fn action_name(case: &Case, action: usize) -> String {
    case.request.actions[action].id.clone()
}

fn world_name(case: &Case, world: usize) -> String {
    case.request.worlds[world].id.clone()
}

fn probe_name(case: &Case, probe: usize) -> String {
    case.request.probes[probe].id.clone()
}

/// The reason of a fallback as a fixed word and as a sentence.
fn explain(case: &Case, fallback: &Fallback) -> FallbackRecord {
    let (reason, mut explanation) = match fallback.reason {
        Reason::Error(fault) => ("error", fault_sentence(fault)),
        Reason::NoWorldProposed => (
            "no_world_proposed",
            "no world was proposed, so nothing can be certified".to_owned(),
        ),
        Reason::NoWorldPlausible => (
            "no_world_plausible",
            "hard evidence and the threshold leave none of the proposed worlds plausible"
                .to_owned(),
        ),
        Reason::EveryWorldRefuted => (
            "every_world_refuted",
            "what was observed refutes every world that was plausible".to_owned(),
        ),
        Reason::NothingSafeAnywhere => (
            "nothing_safe_anywhere",
            "no candidate action is safe in any plausible world".to_owned(),
        ),
        Reason::AuthorityMissing { .. } => (
            "authority_missing",
            "the request says that authority is missing".to_owned(),
        ),
        Reason::FreshEvidenceExpected { .. } => (
            "fresh_evidence_expected",
            "the request expects fresh evidence".to_owned(),
        ),
        Reason::ProbeRepeatableLater { probe, .. } => (
            "probe_repeatable_later",
            format!(
                "the probe `{}` may be repeated later",
                probe_name(case, probe)
            ),
        ),
        Reason::Unresolved { .. } => (
            "unresolved",
            "every action is unsafe in some plausible world".to_owned(),
        ),
    };
    if let Some(stop) = fallback.reason.stop() {
        explanation.push_str(match stop {
            Stop::NoProbeHelps => "; no remaining probe helps",
            Stop::ProbeBudgetSpent => "; the probe budget is spent",
            Stop::CostBudgetSpent => "; the cost budget buys no probe that helps",
            Stop::StepBudgetSpent => "; the time is up",
        });
    }
    FallbackRecord {
        kind: fallback.kind,
        reason: reason.to_owned(),
        explanation,
    }
}

fn fault_sentence(fault: Fault) -> String {
    format!("an error on the decision path: {fault}")
}

impl From<&Calibration> for CalibrationRecord {
    fn from(calibration: &Calibration) -> Self {
        Self {
            alpha: calibration.alpha(),
            n: calibration.n(),
            rank: calibration.rank(),
            scores: calibration.digest(),
            guarantee: calibration.guarantee(),
        }
    }
}

impl From<&ErrorBound> for BoundRecord {
    fn from(bound: &ErrorBound) -> Self {
        let representation = bound.representation();
        let (source, missing, upper_95) = match representation {
            RepresentationTerm::Unknown => (RepresentationSource::Unknown, None, None),
            RepresentationTerm::Stated(_) => (RepresentationSource::Request, None, None),
            RepresentationTerm::CoveredByAlpha { missing, upper, .. } => (
                RepresentationSource::CoveredByAlpha,
                Some(missing),
                Some(upper),
            ),
            RepresentationTerm::Estimated { missing, upper, .. } => (
                RepresentationSource::Calibration,
                Some(missing),
                Some(upper),
            ),
        };
        Self {
            alpha: bound.calibration(),
            beta: RepresentationRecord {
                source,
                value: representation.value(),
                missing,
                upper_95,
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
