//! From what a domain proposes to a decision: worlds, certificate, probes, record.

mod decided;
mod pose;
mod run;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use safecommit_conformal::{Calibration, Stratum};
use safecommit_core::{
    Case, Decision, DecisionKind, DecisionRecord, Request, RequestError, SettingsProposal,
    VerificationProposal, WorldFate,
};

use crate::audit::{Durations, ReportedFault, UsedCalibration};
use crate::domain::{Domain, DomainError, Frame, SideEffect};
use crate::fact::Facts;
use crate::policy::{BindError, SafetyPolicies};
use crate::score::ScoreWeights;
use crate::support::{Beyond, Regions, SupportError};

pub use decided::Decided;
pub(crate) use decided::LEFT_OUT_FOR_OTHERS;
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
    max_side_effect: SideEffect,
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
    /// When the time of the decision began to run, if that was before the gate was asked.
    pub begun: Option<Instant>,
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

/// How many candidates are looked at together before it is known whether that many can be.
const FIRST_LOOK: usize = 4;

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
    /// The candidates that policies could judge and that were left out for others.
    left_out: Vec<usize>,
    probing: Probing,
    /// What the decision is about, also where the way to the worlds failed.
    facts: Facts,
    error: Option<Fallen>,
}

/// What the probes of a decision may do.
#[derive(Debug, Default)]
struct Probing {
    /// Of those that may be made, by their names.
    side_effects: BTreeMap<String, SideEffect>,
    /// Those that would help and may do too much.
    withheld: Vec<(String, SideEffect)>,
    /// How much they may do.
    allowed: Option<SideEffect>,
}

impl Gate {
    /// A gate with weights that are equal, at most 1,024 worlds a decision, probes chosen by what they tell
    /// about what is safe, per cost, and certificates of irreversible actions verified against every proposed world. It makes
    /// no probe that changes something, and asks persons nothing but questions.
    ///
    /// Where some world allows none of the candidates, the expected certificate shrinkage of every probe is zero
    /// (Eq. 12); information about the safety signature is not so blind.
    #[must_use]
    pub fn new(policies: SafetyPolicies) -> Self {
        Self {
            policies,
            weights: ScoreWeights::EQUAL,
            max_worlds: MAX_WORLDS,
            max_side_effect: SideEffect::AsksSystem,
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

    /// The same with probes that may do at most this. Others are not made, and the record says which; a question to a
    /// person, which a person answers, is never too much.
    #[must_use]
    pub fn with_max_side_effect(self, max_side_effect: SideEffect) -> Self {
        Self {
            max_side_effect,
            ..self
        }
    }

    /// The same with these settings of the controller. A step of its time budget is a millisecond here. Scores are relative
    /// whatever they say: those of a gate are, and an agent has a say in what the best explanation seems to be.
    #[must_use]
    pub fn with_settings(self, settings: SettingsProposal) -> Self {
        Self { settings, ..self }
    }

    /// The weights of the terms of the score.
    #[must_use]
    pub fn weights(&self) -> &ScoreWeights {
        &self.weights
    }

    /// How long a decision may go on before no probe is begun any more; `None` if that is not bounded.
    #[must_use]
    pub fn time_budget(&self) -> Option<Duration> {
        self.settings.max_steps.map(Duration::from_millis)
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
        let begun = asked.begun.unwrap_or_else(Instant::now);
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
        let (record, certificate) = match decision {
            Some(decision) => decision.into_parts(),
            None => (fall_back(&case, &governing, fault), None),
        };
        let durations = Durations {
            proposing,
            deciding: micros(begun.elapsed()).saturating_sub(proposing + probing),
            probing,
        };
        Ok(Decided {
            case,
            record,
            certificate,
            durations,
            fault: fault.zip(pose.error.map(|error| error.to_string())),
            made,
            facts: pose.facts,
            left_out: pose.left_out,
            probing: pose.probing,
        })
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
            settings: SettingsProposal {
                relative_scores: true,
                ..self.settings.clone()
            },
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
            match posed {
                // A person is there to say no to what would do too much.
                Some(_) if probe.question.is_none() && probe.side_effect > self.max_side_effect => {
                    pose.probing
                        .withheld
                        .push((probe.id.clone(), probe.side_effect));
                }
                Some(posed) => {
                    let of_probe = (probe.id.clone(), probe.side_effect);
                    pose.probing.side_effects.extend([of_probe]);
                    probes.push(posed);
                }
                None => {}
            }
        }
        pose.probing.allowed = Some(self.max_side_effect);
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
        let all = 0..frame.candidates.len();
        pose.left_out = all
            .filter(|at| frame.candidates[*at].refused.is_none() && !judged.contains(at))
            .collect();
        pose.regions = Some(regions);
        Ok(())
    }

    /// The candidates that policies judge, with the regions of their worlds.
    ///
    /// Candidates for different targets multiply the regions. A support that is cut certifies none of them, so where there
    /// are too many those that are worth least go, the last of several, until the rest can be looked at whole. More
    /// candidates never have fewer regions, so how many can stay is found by doubling and bisection: what it takes to see
    /// that there are too many regions grows with the number of candidates.
    fn regions(&self, frame: &Frame) -> Result<(Vec<usize>, Regions), Fallen> {
        let candidates = frame.candidates.iter().enumerate();
        let mut best_first: Vec<usize> = candidates
            .filter(|(_, candidate)| candidate.refused.is_none())
            .map(|(at, _)| at)
            .collect();
        let worth = |at: usize| frame.candidates[at].reward - frame.candidates[at].severity;
        best_first.sort_by(|one, other| worth(*other).total_cmp(&worth(*one)));
        let all = best_first.len();
        let (mut can, mut cannot, mut found) = (1, all + 1, None);
        while can + 1 < cannot {
            let most = match cannot > all {
                true => all.min(FIRST_LOOK.max(2 * can)),
                false => can.midpoint(cannot),
            };
            let mut judged = best_first[..most].to_vec();
            judged.sort_unstable();
            let regions = self.look(frame, &judged, Beyond::Stop)?;
            match regions.cut() {
                None => (can, found) = (most, Some((judged, regions))),
                Some(_) => cannot = most,
            }
        }
        if let Some(found) = found {
            return Ok(found);
        }
        best_first.truncate(1);
        let regions = self.look(frame, &best_first, Beyond::Best)?;
        Ok((best_first, regions))
    }

    /// The regions of the worlds of these candidates.
    fn look(&self, frame: &Frame, judged: &[usize], beyond: Beyond) -> Result<Regions, Fallen> {
        let described = judged.iter();
        let described = described.map(|at| frame.candidates[*at].description.clone());
        let described: Vec<_> = described.collect();
        let map = self.policies.bind(&frame.facts, &described)?;
        Ok(map.regions_until(
            &frame.facts,
            &frame.beliefs,
            &frame.impossible,
            &self.weights,
            self.max_worlds,
            beyond,
        )?)
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
