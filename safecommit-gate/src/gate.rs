//! From what a domain proposes to a decision: worlds, certificate, probes, record.

mod decided;
mod pose;
mod run;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use safecommit_conformal::{Calibration, Stratum};
use safecommit_core::{
    Case, Decision, DecisionKind, DecisionRecord, Request, RequestError, SettingsProposal,
    VerificationProposal, WorldFate,
};

use crate::audit::{Durations, ReportedFault, UsedCalibration};
use crate::domain::{Domain, DomainError, Frame};
use crate::fact::Facts;
use crate::policy::{BindError, SafetyPolicies};
use crate::score::ScoreWeights;
use crate::support::{Regions, SupportError};

pub use decided::Decided;
use decided::fall_back;
use pose::Posed;
pub use pose::UNEXPECTED;
use run::Run;

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
    /// Somebody with authority has to decide: a fallback is then to escalate, unless nothing is safe in any plausible world.
    pub authority_missing: bool,
    /// Evidence is under way: a fallback is then to defer, unless nothing is safe in any plausible world.
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
    /// The domain could not say what is to be decided.
    #[error(transparent)]
    Domain(#[from] DomainError),
}

/// The most worlds of a decision unless said otherwise.
pub(crate) const MAX_WORLDS: usize = 1024;

/// What went wrong on the way to the worlds: it is an error on the decision path, which escalates.
#[derive(Debug, thiserror::Error)]
enum Fallen {
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
    /// What the decision is about, also where the way to the worlds failed.
    facts: Facts,
    error: Option<Fallen>,
}

impl Gate {
    /// A gate with weights that are equal, at most 1,024 worlds a decision, probes chosen by what they tell
    /// about what is safe, per cost, and certificates of irreversible actions verified against every proposed world.
    ///
    /// Where some world allows none of the candidates, the expected certificate shrinkage of every probe is zero
    /// (Eq. 12); information about the safety signature is not so blind.
    #[must_use]
    pub fn new(policies: SafetyPolicies) -> Self {
        Self {
            policies,
            weights: ScoreWeights::EQUAL,
            max_worlds: MAX_WORLDS,
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

    /// The same with at most so many worlds a decision. Where there are more, candidates that are worth least are left out;
    /// with one candidate, what is left out of its worlds stands as one world, in which nothing irreversible is safe.
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
    /// clarification that was not answered yet. Persons are asked only where no other probe helps any more, and never to
    /// verify what is certified.
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
        let (request, pose) = self.pose(domain, asked, now)?;
        let proposing = micros(begun.elapsed());
        let governing = calibration.governing(&request);
        let mut run = Run {
            domain,
            pose: &pose,
            begun,
            probing: Duration::ZERO,
            made: Vec::new(),
        };
        let (case, decision) = match (&governing, &pose.error) {
            (Err(_), _) | (_, Some(_)) => (Case::new(request)?, None),
            (Ok(calibration), None) => {
                let (case, decision) = self.run(&mut run, request, calibration.as_deref())?;
                (case, Some(decision))
            }
        };
        let (probing, made) = (micros(run.probing), run.made);
        let fault = pose.error.as_ref().map(|_| ReportedFault::Policy);
        let decision = match decision {
            Some(decision) => decided::Outcome::Decision(decision),
            None => decided::Outcome::Record(fall_back(&case, &governing, fault)),
        };
        let durations = Durations {
            proposing,
            deciding: micros(begun.elapsed()).saturating_sub(proposing + probing),
            probing,
        };
        Ok(Decided::new(
            case,
            decision,
            durations,
            fault.zip(pose.error.map(|error| error.to_string())),
            made,
            pose.facts,
        ))
    }

    /// Makes probes and decides; only where no probe is left that helps are persons asked.
    fn run<D: Domain + ?Sized>(
        &self,
        run: &mut Run<'_, D>,
        mut request: Request,
        calibration: Option<&Calibration>,
    ) -> Result<(Case, Decision), GateError> {
        let probes = &run.pose.probes;
        let of_system = (0..probes.len()).filter(|at| !probes[*at].of_person);
        let of_system: Vec<usize> = of_system.collect();
        let everything: Vec<usize> = (0..probes.len()).collect();
        let all = (of_system.len() < probes.len()).then(|| {
            let some = of_system.iter().map(|at| request.probes[*at].clone());
            let some = some.collect();
            std::mem::replace(&mut request.probes, some)
        });
        let (mut case, mut decision) = run.probe(Case::new(request)?, &of_system, calibration)?;
        if let (Some(all), true) = (all, decision.record().decision != DecisionKind::Commit) {
            let mut request = case.request().clone();
            request.probes = all;
            (case, decision) = run.probe(Case::new(request)?, &everything, calibration)?;
        }
        if Self::lacks_authority(run.pose, decision.record()) {
            let mut request = case.request().clone();
            request.authority_missing = true;
            case = Case::new(request)?;
            decision = case.decide(calibration);
        }
        Ok((case, decision))
    }

    fn pose(
        &self,
        domain: &mut (impl Domain + ?Sized),
        asked: &Asked,
        now: Timestamp,
    ) -> Result<(Request, Pose), DomainError> {
        let frame = domain.frame(now)?;
        let mut request = Request {
            id: Some(asked.id.clone()),
            stratum: asked.stratum.clone(),
            actions: pose::actions(&frame, domain.family()),
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
        if let Err(error) = self.fill(&mut request, &mut pose, &frame) {
            pose.error = Some(error);
        }
        pose.facts = frame.facts;
        Ok((request, pose))
    }

    fn fill(&self, request: &mut Request, pose: &mut Pose, frame: &Frame) -> Result<(), Fallen> {
        let (judged, regions) = self.regions(frame)?;
        let mut probes = Vec::with_capacity(frame.probes.len());
        for (at, probe) in frame.probes.iter().enumerate() {
            let posed = Posed::new(at, probe, &frame.facts, &regions);
            let posed = posed.map_err(|outcomes| Fallen::Outcomes {
                probe: probe.id.clone(),
                outcomes,
            })?;
            probes.extend(posed);
        }
        request.worlds = pose::worlds(frame, &judged, &regions);
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

    /// The candidates that policies judge, with the regions of their worlds.
    ///
    /// Candidates for different targets multiply the regions. A support that is cut certifies none of them, so where there
    /// are too many the candidate that is worth least goes, the last of several, until the rest can be looked at whole.
    fn regions(&self, frame: &Frame) -> Result<(Vec<usize>, Regions), Fallen> {
        let candidates = frame.candidates.iter().enumerate();
        let mut judged: Vec<usize> = candidates
            .filter(|(_, candidate)| candidate.refused.is_none())
            .map(|(at, _)| at)
            .collect();
        loop {
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
            let worth = |at: &usize| {
                let candidate = &frame.candidates[*at];
                candidate.reward - candidate.severity
            };
            let last_first = judged.iter().copied().rev();
            let least = last_first.min_by(|one, other| worth(one).total_cmp(&worth(other)));
            match least {
                Some(least) if regions.cut().is_some() && judged.len() > 1 => {
                    judged.retain(|at| *at != least);
                }
                _ => return Ok((judged, regions)),
            }
        }
    }

    /// Whether a decision fell back although only facts of authority stand in the way.
    fn lacks_authority(pose: &Pose, record: &DecisionRecord) -> bool {
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
        stopped && pose::lacks_only_authority(&plausible, regions, &pose.authority, pose.judged)
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

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
