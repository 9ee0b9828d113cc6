//! From what a domain proposes to a decision: worlds, certificate, probes, record.

mod decided;
mod pose;

use std::borrow::Cow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use safecommit_conformal::{Calibration, Stratum};
use safecommit_core::{
    Case, DecisionRecord, Fault, Observation, Request, RequestError, SettingsProposal, Step,
    VerificationProposal, Workspace, WorldFate,
};

use crate::audit::{Durations, ReportedFault, UsedCalibration};
use crate::domain::{Answer, Domain, DomainError, Frame};
use crate::policy::{BindError, SafetyPolicies};
use crate::score::ScoreWeights;
use crate::support::{Region, Regions, SupportError};

pub use decided::Decided;
use pose::Posed;
pub use pose::{LEFT_OUT, UNEXPECTED};

/// Decides what domains propose: in which worlds each candidate is safe is said by policies, which worlds are plausible by a
/// calibration, and what follows by the controller of `safecommit-core`.
///
/// [`Domain`] has an example.
#[derive(Clone, Debug)]
pub struct Gate {
    policies: SafetyPolicies,
    weights: ScoreWeights,
    max_worlds: usize,
    settings: SettingsProposal,
}

/// What is asked of the gate, beside what the domain knows.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The name of the decision in its request and record.
    pub id: String,
    /// The group of decisions that it belongs to, for a calibration by stratum.
    pub stratum: Option<Stratum>,
    /// Somebody with authority has to decide: a fallback is then to escalate.
    pub authority_missing: bool,
    /// Evidence is under way: a fallback is then to defer.
    pub fresh_evidence_expected: bool,
    /// The probability that the true world is not among the proposed ones, if known, in [0, 1].
    pub beta: Option<f64>,
}

/// Why there is no decision at all. Everything that goes wrong later is a decision to fall back, with its reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// What is asked, or what the domain offers, makes no request.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// What went wrong on the way to the worlds.
#[derive(Debug, thiserror::Error)]
enum Fallen {
    #[error(transparent)]
    Domain(#[from] DomainError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Support(#[from] SupportError),
    #[error(
        "probe `{probe}` has {outcomes} outcomes, at most {} are possible",
        pose::MAX_OUTCOMES
    )]
    Outcomes { probe: String, outcomes: usize },
}

/// What the positions of a request stand for.
#[derive(Default)]
struct Pose {
    /// `None` where the way to the worlds failed.
    regions: Option<Regions>,
    authority: Vec<usize>,
    /// In the order of the probes of the request.
    probes: Vec<Posed>,
    /// How many candidates policies judge: the actions of the regions.
    judged: usize,
    error: Option<Fallen>,
}

/// The calibration that governs a request.
enum Governing<'c> {
    Calibration(Option<Cow<'c, Calibration>>),
    /// There is one for each stratum, and none for this one.
    Nothing,
}

impl Gate {
    /// A gate with weights that are equal, at most 4,096 worlds a decision, probes chosen by what they tell
    /// about what is safe, per cost, and certificates of irreversible actions verified against every proposed world.
    ///
    /// Where some world allows none of the candidates, the expected certificate shrinkage of every probe is zero
    /// (Eq. 12); information about the safety signature is not so blind.
    #[must_use]
    pub fn new(policies: SafetyPolicies) -> Self {
        Self {
            policies,
            weights: ScoreWeights::EQUAL,
            max_worlds: 4096,
            settings: SettingsProposal {
                verification: Some(VerificationProposal::WholeSupport { price: 0.0 }),
                probing: Some(safecommit_core::ProbingProposal::SafetyInformation),
                ..SettingsProposal::default()
            },
        }
    }

    /// The same with these weights of the terms of the score.
    #[must_use]
    pub fn with_weights(self, weights: ScoreWeights) -> Self {
        Self { weights, ..self }
    }

    /// The same with at most so many worlds a decision; what is left out then stands as one world, in which nothing
    /// irreversible is safe.
    #[must_use]
    pub fn with_max_worlds(self, max_worlds: usize) -> Self {
        Self { max_worlds, ..self }
    }

    /// The same with these settings of the controller. A step of its time budget is a millisecond here.
    #[must_use]
    pub fn with_settings(self, settings: SettingsProposal) -> Self {
        Self { settings, ..self }
    }

    /// The weights of the terms of the score.
    #[must_use]
    pub fn weights(&self) -> &ScoreWeights {
        &self.weights
    }

    /// The policies.
    #[must_use]
    pub fn policies(&self) -> &SafetyPolicies {
        &self.policies
    }

    /// Decides: makes worlds, then the probes that the controller chooses, until it commits, falls back, or asks for a
    /// clarification that was not answered yet.
    ///
    /// The decision is that of [`Decided::case`], a request that tells what every probe found: deciding it again gives the
    /// same record, to the same bytes. Whatever fails on the way (a frame, a policy that does not bind, a probe) never
    /// commits: it ends in a fallback that says so, or removes no world.
    ///
    /// # Errors
    ///
    /// [`GateError`] for a request that cannot be written down.
    pub fn decide(
        &self,
        domain: &mut (impl Domain + ?Sized),
        asked: &Asked,
        calibration: UsedCalibration<'_>,
        now: Timestamp,
    ) -> Result<Decided, GateError> {
        let begun = Instant::now();
        let (request, pose) = self.pose(domain, asked, now);
        let mut durations = Durations {
            proposing: micros(begun.elapsed()),
            ..Durations::default()
        };
        let governing = governing(calibration, &request);
        let mut case = Case::new(request)?;
        let mut failed = Vec::new();
        let mut record = match (&governing, &pose.error) {
            (Governing::Nothing, _) | (_, Some(_)) => None,
            (Governing::Calibration(calibration), None) => {
                let calibration = calibration.as_deref();
                let probing = Instant::now();
                let (observed, elapsed) = probe(domain, &pose, &case, calibration, &mut failed);
                durations.probing = micros(probing.elapsed());
                case = case.with_observed(observed, elapsed)?;
                let decision = case.decide(calibration);
                if self.lacks_authority(&pose, &case, decision.record()) {
                    let mut request = case.request().clone();
                    request.authority_missing = true;
                    case = Case::new(request)?;
                    Some(case.decide(calibration))
                } else {
                    Some(decision)
                }
            }
        };
        let fault = pose.error.as_ref().map(|_| ReportedFault::Policy);
        let decision = match record.take() {
            Some(decision) => decided::Outcome::Decision(decision),
            None => decided::Outcome::Record(fall_back(&case, calibration, &governing, fault)),
        };
        let total = micros(begun.elapsed());
        durations.deciding = total.saturating_sub(durations.proposing + durations.probing);
        Ok(Decided::new(
            case,
            decision,
            durations,
            fault,
            pose.error.map(|error| error.to_string()),
            failed,
        ))
    }

    fn pose(
        &self,
        domain: &mut (impl Domain + ?Sized),
        asked: &Asked,
        now: Timestamp,
    ) -> (Request, Pose) {
        let mut request = Request {
            id: Some(asked.id.clone()),
            stratum: asked.stratum.clone(),
            actions: Vec::new(),
            worlds: Vec::new(),
            hard_evidence: Vec::new(),
            probes: Vec::new(),
            observed: Vec::new(),
            elapsed_steps: 0,
            authority_missing: asked.authority_missing,
            fresh_evidence_expected: asked.fresh_evidence_expected,
            beta: asked.beta,
            settings: self.settings.clone(),
        };
        let mut pose = Pose::default();
        let framed = domain.frame(now).map_err(Fallen::from);
        let posed = framed.and_then(|frame| {
            request.actions = pose::actions(&frame, domain.family());
            self.fill(&mut request, &mut pose, &frame)
        });
        if let Err(error) = posed {
            pose.error = Some(error);
        }
        (request, pose)
    }

    fn fill(&self, request: &mut Request, pose: &mut Pose, frame: &Frame) -> Result<(), Fallen> {
        let candidates = frame.candidates.iter().enumerate();
        let judged: Vec<usize> = candidates
            .filter(|(_, candidate)| candidate.refused.is_none())
            .map(|(at, _)| at)
            .collect();
        let described: Vec<_> = judged
            .iter()
            .map(|at| frame.candidates[*at].description.clone())
            .collect();
        let map = self.policies.bind(&frame.facts, &described)?;
        let regions = map.regions(
            &frame.facts,
            &frame.beliefs,
            &frame.impossible,
            &self.weights,
            self.max_worlds,
        )?;
        let ids: Vec<String> = regions.as_slice().iter().map(Region::id).collect();
        let mut probes = Vec::with_capacity(frame.probes.len());
        for (at, probe) in frame.probes.iter().enumerate() {
            let posed = Posed::new(at, probe, &frame.facts, &regions, &ids);
            let posed = posed.map_err(|outcomes| Fallen::Outcomes {
                probe: probe.id.clone(),
                outcomes,
            })?;
            probes.extend(posed);
        }
        request.worlds = pose::worlds(frame, &judged, &regions, ids);
        for (posed, proposal) in probes {
            pose.probes.push(posed);
            request.probes.push(proposal);
        }
        pose.authority = frame
            .authority
            .iter()
            .filter_map(|name| frame.facts.position(name))
            .collect();
        pose.judged = judged.len();
        pose.regions = Some(regions);
        Ok(())
    }

    /// Whether a decision fell back although only facts of authority stand in the way.
    fn lacks_authority(&self, pose: &Pose, case: &Case, record: &DecisionRecord) -> bool {
        let Some(regions) = &pose.regions else {
            return false;
        };
        let stopped = record.fallback.as_ref().is_some_and(|fallback| {
            [
                "unresolved",
                "fresh_evidence_expected",
                "probe_repeatable_later",
            ]
            .contains(&fallback.reason.as_str())
        });
        let worlds = record.worlds.iter().enumerate();
        let plausible: Vec<usize> = worlds
            .filter(|(_, world)| world.fate == WorldFate::Plausible)
            .map(|(at, _)| at)
            .collect();
        stopped
            && pose::lacks_only_authority(
                case.request(),
                &plausible,
                regions,
                &pose.authority,
                pose.judged,
            )
    }
}

impl Asked {
    /// A decision of this name, and nothing else.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

/// Makes probes until the controller wants none, or one that only a person can answer: what came of each, and the steps of
/// the time budget that are spent, if all are.
fn probe(
    domain: &mut (impl Domain + ?Sized),
    pose: &Pose,
    case: &Case,
    calibration: Option<&Calibration>,
    failed: &mut Vec<(String, String)>,
) -> (Vec<Observation>, u64) {
    let mut observed = Vec::new();
    let mut memory = Workspace::default();
    let mut controller = case.controller(calibration, &mut memory);
    let begun = Instant::now();
    let limit = case.request().settings.max_steps;
    while let Step::Probe(choice) = controller.next_step() {
        if let Some(limit) = limit.filter(|limit| millis(begun.elapsed()) >= *limit) {
            return (observed, limit);
        }
        let declared = &case.request().probes[choice.probe];
        let posed = &pose.probes[choice.probe];
        let answer = domain.make(posed.offered);
        if answer == Answer::NotYet {
            break;
        }
        let outcome = posed.outcome(&answer);
        if let (None, Answer::Failed(reason)) = (outcome, &answer) {
            failed.push((declared.id.clone(), reason.clone()));
        }
        // A report that is refused makes the controller escalate with that reason.
        let _ = match outcome {
            Some(outcome) => controller.observe(choice.probe, outcome),
            None => controller.probe_failed(choice.probe),
        };
        observed.push(posed.observation(&declared.id, outcome));
    }
    (observed, 0)
}

fn governing<'c>(calibration: UsedCalibration<'c>, request: &Request) -> Governing<'c> {
    match calibration {
        UsedCalibration::None => Governing::Calibration(None),
        UsedCalibration::One(one) => Governing::Calibration(Some(Cow::Borrowed(one))),
        UsedCalibration::ByStratum(all) => {
            let stratum = request.stratum.as_ref();
            match stratum.map(|stratum| all.calibration(stratum)) {
                Some(Ok(one)) => Governing::Calibration(Some(Cow::Owned(one))),
                Some(Err(_)) | None => Governing::Nothing,
            }
        }
    }
}

/// The record of a decision that cannot be taken: no calibration is for it, or the way to its worlds failed.
fn fall_back(
    case: &Case,
    calibration: UsedCalibration<'_>,
    governing: &Governing<'_>,
    fault: Option<ReportedFault>,
) -> DecisionRecord {
    let governed = match (governing, calibration) {
        (Governing::Nothing, UsedCalibration::ByStratum(all)) => {
            return case.decide_among(all).record().clone();
        }
        (Governing::Nothing, _) => None,
        (Governing::Calibration(calibration), _) => calibration.as_deref(),
    };
    let mut memory = Workspace::default();
    let mut controller = case.controller(governed, &mut memory);
    controller.fail(fault.map_or(Fault::Inconsistent, Fault::from));
    match case.record(governed, &mut controller) {
        Ok(record) => record,
        // Not possible for a controller that was just started from this case; and without worlds it escalates too.
        Err(_) => case.decide(governed).record().clone(),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
