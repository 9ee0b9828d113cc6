//! One decision to take: candidate actions, proposed worlds, probes, all by position.
//!
//! Names live one layer up, in [`crate::Case`]; here an action, a world, a probe and an outcome is its
//! position. A [`Problem`] can be refilled without a heap allocation, which is how a benchmark decides
//! a million episodes through one.

use safecommit_conformal::Score;

use crate::action::Action;
use crate::fallback::Fault;
use crate::probe::{OutcomeModel, Outcomes, Probe};
use crate::signature::SignatureMatrix;
use crate::units::{Cost, Probability};

mod error;

pub use error::ProblemError;

/// What a decision is about: a digest of the request, chosen by the caller.
///
/// A certificate carries the subject of the problem that it came from, and is refused for another.
/// Two problems that may be told apart need two subjects; a SHA-256 of the request does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subject(pub [u8; 32]);

/// Candidate actions A_t, the support (the proposed worlds with score and safety map) and probes P_t.
///
/// Fill it in the order actions, worlds, probes. Scores are frozen once a world is in: then an unsafe
/// commit is contained in "the true world was never proposed, or its score lies above the threshold"
/// under every probe policy and stopping rule.
///
/// ```
/// use safecommit_conformal::Score;
/// use safecommit_core::{Action, Cost, OutcomeModel, Probability, Problem, Subject};
///
/// let mut problem = Problem::new(Subject([0; 32]));
/// let delete = problem.add_action(Action::default())?;
/// let temporary = problem.add_world(Score::new(0.1)?, [delete])?;
/// let shared = problem.add_world(Score::new(0.2)?, [])?;
/// let probe = problem.add_probe(
///     Cost::UNIT,
///     Probability::ZERO,
///     OutcomeModel::Identity { world: shared },
/// )?;
/// assert_eq!((problem.actions().len(), problem.worlds(), probe), (1, 2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    subject: Subject,
    actions: Vec<Action>,
    support: Support,
    probes: Vec<Probe>,
    outcomes: Outcomes,
    situation: Situation,
    fault: Option<Fault>,
}

/// The support: the worlds proposed, each with its frozen score, its safety map and whether hard
/// evidence contradicts it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Support {
    pub(crate) scores: Vec<Score>,
    pub(crate) signatures: SignatureMatrix,
    pub(crate) contradicted: Vec<bool>,
}

impl Support {
    /// The scores of the worlds that hard evidence leaves.
    pub(crate) fn scores_left(&self) -> impl Iterator<Item = Score> {
        let worlds = self.scores.iter().zip(&self.contradicted);
        worlds.filter_map(|(score, contradicted)| (!contradicted).then_some(*score))
    }
}

/// What the request says about why evidence is missing; it chooses the fallback, never the commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// Somebody with authority has to decide: falls back to escalate.
    pub authority_missing: bool,
    /// Evidence that is under way will arrive: falls back to defer.
    pub fresh_evidence_expected: bool,
}

impl Problem {
    /// A problem about `subject`, without actions, worlds or probes.
    #[must_use]
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            actions: Vec::new(),
            support: Support::default(),
            probes: Vec::new(),
            outcomes: Outcomes::default(),
            situation: Situation::default(),
            fault: None,
        }
    }

    /// Empties the problem for a new `subject`, keeping its memory.
    pub fn reset(&mut self, subject: Subject) {
        self.subject = subject;
        self.actions.clear();
        self.support.scores.clear();
        self.support.signatures.reset(0);
        self.support.contradicted.clear();
        self.probes.clear();
        self.outcomes.clear();
        self.situation = Situation::default();
        self.fault = None;
    }

    /// Adds a candidate action and returns its position.
    ///
    /// # Errors
    ///
    /// [`ProblemError::OutOfOrder`] once there are worlds.
    pub fn add_action(&mut self, action: Action) -> Result<usize, ProblemError> {
        if !self.support.scores.is_empty() {
            return Err(ProblemError::OutOfOrder { what: "an action" });
        }
        self.actions.push(action);
        self.support.signatures.reset(self.actions.len());
        Ok(self.actions.len() - 1)
    }

    /// Adds a proposed world with its nonconformity score and the actions that are safe in it, and
    /// returns its position.
    ///
    /// # Errors
    ///
    /// [`ProblemError::UnknownAction`], [`ProblemError::OutOfOrder`] once there are probes,
    /// [`ProblemError::TooManyWorlds`] past 2^32 - 1. The problem also keeps
    /// [`Fault::TruncatedSupport`] then, so that an error that the caller passes over still ends in an
    /// escalation.
    pub fn add_world(
        &mut self,
        score: Score,
        safe: impl IntoIterator<Item = usize>,
    ) -> Result<usize, ProblemError> {
        // A support with a world too few certifies too much (Errors never commit). So it counts as
        // truncated until the world is in, even if the caller's iterator panics meanwhile.
        let before = self.fault;
        self.fail(Fault::TruncatedSupport);
        let added = self.try_add_world(score, safe)?;
        self.fault = before;
        Ok(added)
    }

    fn try_add_world(
        &mut self,
        score: Score,
        safe: impl IntoIterator<Item = usize>,
    ) -> Result<usize, ProblemError> {
        if !self.probes.is_empty() {
            return Err(ProblemError::OutOfOrder { what: "a world" });
        }
        let world = self.worlds();
        if world >= u32::MAX as usize {
            return Err(ProblemError::TooManyWorlds {
                limit: u32::MAX as usize,
            });
        }
        self.support.signatures.push(safe)?;
        self.support.scores.push(score);
        self.support.contradicted.push(false);
        Ok(world)
    }

    /// Adds a world whose score was computed just now. One that is not finite adds no world: the
    /// problem keeps the fault instead, and every decision on it escalates.
    ///
    /// # Errors
    ///
    /// As [`Self::add_world`].
    pub fn add_scored_world(
        &mut self,
        score: f64,
        safe: impl IntoIterator<Item = usize>,
    ) -> Result<Option<usize>, ProblemError> {
        match Score::new(score) {
            Ok(score) => self.add_world(score, safe).map(Some),
            Err(_) => {
                self.fail(Fault::Score {
                    world: self.worlds(),
                });
                Ok(None)
            }
        }
    }

    /// Keeps an error that occurred while the problem was put together: every decision on it
    /// escalates. The first one stays the reason.
    pub fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Marks a world as contradicted by hard evidence: it is removed before the threshold is looked
    /// at, whatever its score.
    ///
    /// # Errors
    ///
    /// [`ProblemError::UnknownWorld`].
    pub fn contradict(&mut self, world: usize) -> Result<(), ProblemError> {
        let mark = self
            .support
            .contradicted
            .get_mut(world)
            .ok_or(ProblemError::UnknownWorld { world })?;
        *mark = true;
        Ok(())
    }

    /// Adds a probe and returns its position, which is also its place in the scan that breaks ties.
    ///
    /// # Errors
    ///
    /// Those of the outcome model: [`ProblemError::UnknownWorld`], [`ProblemError::NoOutcomes`],
    /// [`ProblemError::OutcomeModelSize`], [`ProblemError::UnknownOutcome`],
    /// [`ProblemError::NotAProbability`], [`ProblemError::ProbabilitiesDoNotSumToOne`].
    pub fn add_probe(
        &mut self,
        cost: Cost,
        error_rate: Probability,
        model: OutcomeModel<'_>,
    ) -> Result<usize, ProblemError> {
        let kind = self.outcomes.add(self.support.scores.len(), model)?;
        self.probes.push(Probe {
            cost,
            error_rate,
            repeatable_later: false,
            kind,
        });
        Ok(self.probes.len() - 1)
    }

    /// Says that the probe may be repeated later with a new answer, so that waiting can help.
    pub fn set_repeatable_later(&mut self, probe: usize) {
        if let Some(probe) = self.probes.get_mut(probe) {
            probe.repeatable_later = true;
        }
    }

    /// Says why evidence is missing.
    pub fn set_situation(&mut self, situation: Situation) {
        self.situation = situation;
    }

    /// What the decision is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// The candidate actions.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// How many worlds were proposed.
    #[must_use]
    pub fn worlds(&self) -> usize {
        self.support.scores.len()
    }

    /// The frozen nonconformity scores, a world each.
    #[must_use]
    pub fn scores(&self) -> &[Score] {
        &self.support.scores
    }

    /// The safety maps, a row a world.
    #[must_use]
    pub fn signatures(&self) -> &SignatureMatrix {
        &self.support.signatures
    }

    /// Whether hard evidence contradicts `world`.
    #[must_use]
    pub fn is_contradicted(&self, world: usize) -> bool {
        self.support
            .contradicted
            .get(world)
            .copied()
            .unwrap_or(false)
    }

    /// The probes, in the order of the scan.
    #[must_use]
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// P(outcome | world) of a probe: zero for anything that does not exist.
    #[must_use]
    pub fn likelihood(&self, probe: usize, world: usize, outcome: usize) -> f64 {
        if world >= self.worlds() {
            return 0.0;
        }
        self.probes
            .get(probe)
            .map_or(0.0, |probe| self.outcomes.likelihood(probe, world, outcome))
    }

    /// Why evidence is missing, as the request says.
    #[must_use]
    pub fn situation(&self) -> Situation {
        self.situation
    }

    /// The error that occurred while the problem was put together, if any.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    pub(crate) fn set_subject(&mut self, subject: Subject) {
        self.subject = subject;
    }

    pub(crate) fn rescore(&mut self, world: usize, score: Score) {
        self.support.scores[world] = score;
    }

    pub(crate) fn set_contradicted(&mut self, world: usize, contradicted: bool) {
        self.support.contradicted[world] = contradicted;
    }

    pub(crate) fn support(&self) -> &Support {
        &self.support
    }

    pub(crate) fn outcomes(&self) -> &Outcomes {
        &self.outcomes
    }
}
