//! What a method may see of an episode.

use safecommit_core::{
    Action, Cost, NO, OutcomeModel, Probability, Problem, ProblemError, Reversibility, Subject, YES,
};
use smallvec::SmallVec;

use crate::episode::{Episode, Family};
use crate::mediation::Mediation;
use crate::micros::Micros;
use crate::random::RandomStream;

/// An episode as a method sees it: candidate actions and their mediation, proposed worlds, probes to
/// ask. The true world shows in the answers and in the inspection of staged actions alone; even whether it was
/// proposed does not show, since worlds are numbered among the proposed ones.
pub struct Environment<'a> {
    episode: &'a Episode,
    view: &'a View,
    asked: SmallVec<[usize; 6]>,
    staged: SmallVec<[usize; 2]>,
    /// Bit j: probe j answers wrongly.
    wrong: u64,
    policy: &'a dyn Fn() -> RandomStream,
}

/// What the inspection of a staged action shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// The effect is harmless: the action is safe in the true world.
    Safe,
    /// The action is not safe in the true world; its effect can be rolled back.
    Unsafe,
}

/// A proposed world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposedWorld {
    /// Position among the proposed worlds, which keep the order of the episode; it breaks ties of score.
    pub position: usize,
    /// Nonconformity score.
    pub score: Micros,
    /// The actions that are safe in it: bit `a` is action `a`.
    pub safe: u64,
}

/// A probe that may be asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProposedProbe {
    /// Its price, finite and above zero.
    pub cost: f64,
    /// Position among the proposed worlds of the one that it asks about.
    pub asks: usize,
}

impl ProposedWorld {
    /// The first action that is safe in the world.
    #[must_use]
    pub fn action(&self) -> Option<usize> {
        (self.safe != 0).then(|| self.safe.trailing_zeros() as usize)
    }

    /// The rank of the world: by score, then by position.
    #[must_use]
    pub fn rank(&self) -> (Micros, usize) {
        (self.score, self.position)
    }
}

impl<'a> Environment<'a> {
    /// The episode that `view` was filled from, with the random stream that a method may draw its own
    /// choices from.
    pub(crate) fn new(
        episode: &'a Episode,
        view: &'a View,
        policy: &'a dyn Fn() -> RandomStream,
    ) -> Self {
        Self {
            episode,
            view,
            asked: SmallVec::new(),
            staged: SmallVec::new(),
            wrong: 0,
            policy,
        }
    }

    /// The same, where the probes whose bit is set answer wrongly.
    pub(crate) fn with_wrong_answers(self, wrong: u64) -> Self {
        Self { wrong, ..self }
    }

    /// The family: what kind of evidence misleads, if any does. It is the stratum of methods that are
    /// calibrated group by group; no method of the paper looks at it.
    #[must_use]
    pub fn family(&self) -> Family {
        self.episode.family()
    }

    /// How many candidate actions there are.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.episode.actions()
    }

    /// Which actions are reversible and which are forbidden.
    #[must_use]
    pub fn mediation(&self) -> Mediation {
        self.episode.mediation()
    }

    /// The proposed worlds, by ascending position.
    #[must_use]
    pub fn proposed(&self) -> &'a [ProposedWorld] {
        &self.view.proposed
    }

    /// The episode as a problem of `safecommit-core`: the proposed worlds in their order, the probes in
    /// the order of [`Self::scan`]. A reversible action is marked as one; a forbidden action is safe in no
    /// world, and hard evidence contradicts the worlds in which nothing but forbidden actions is safe.
    /// `None` if the core refuses it.
    #[must_use]
    pub fn problem(&self) -> Option<&'a Problem> {
        self.view.problem()
    }

    /// The probes by the (score, position) of the world that they ask about: the order in which a tie
    /// between probes is broken.
    #[must_use]
    pub fn scan(&self) -> &'a [usize] {
        &self.view.scan
    }

    /// The probes that may be asked.
    #[must_use]
    pub fn probes(&self) -> &'a [ProposedProbe] {
        &self.view.probes
    }

    /// Makes a probe and returns its outcome, [`YES`] or [`NO`]: truthful, unless probes err in this run.
    pub fn ask(&mut self, probe: usize) -> usize {
        self.asked.push(probe);
        let wrong = probe < 64 && self.wrong >> probe & 1 == 1;
        if (self.episode.probes()[probe].asks == self.episode.true_world()) != wrong {
            YES
        } else {
            NO
        }
    }

    /// The probes made, in their order.
    #[must_use]
    pub fn asked(&self) -> &[usize] {
        &self.asked
    }

    /// Stages a reversible action and inspects its effect, which costs as much as a probe. `None`, at no
    /// cost, for an action that is not reversible: it cannot be staged, and nothing of it shows. An
    /// inspection never errs.
    ///
    /// The method decides what follows: it commits the staged action, or falls back, which rolls it back.
    pub fn stage(&mut self, action: usize) -> Option<Inspection> {
        if !self.mediation().is_reversible(action) {
            return None;
        }
        self.staged.push(action);
        Some(if self.episode.is_safe(action) {
            Inspection::Safe
        } else {
            Inspection::Unsafe
        })
    }

    /// The actions staged, in their order.
    #[must_use]
    pub fn staged(&self) -> &[usize] {
        &self.staged
    }

    /// The probes made and actions staged so far: what a budget of probes is spent on.
    #[must_use]
    pub fn spent(&self) -> usize {
        self.asked.len() + self.staged.len()
    }

    /// The stream for the method's own random choices, from its beginning.
    #[must_use]
    pub fn random(&self) -> RandomStream {
        (self.policy)()
    }
}

/// The proposed worlds of an episode, in its order.
pub(super) fn proposed_worlds(episode: &Episode) -> SmallVec<[ProposedWorld; 6]> {
    let worlds = episode.proposed().iter().map(|&at| episode.worlds()[at]);
    worlds
        .enumerate()
        .map(|(position, world)| ProposedWorld {
            position,
            score: world.score,
            safe: world.safe,
        })
        .collect()
}

/// What methods see of an episode beside the answers, put together once for all of them.
#[derive(Debug)]
pub(crate) struct View {
    proposed: SmallVec<[ProposedWorld; 6]>,
    probes: SmallVec<[ProposedProbe; 6]>,
    scan: Vec<usize>,
    problem: Problem,
    valid: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            proposed: SmallVec::new(),
            probes: SmallVec::new(),
            scan: Vec::new(),
            // Nothing outlives the decision on an episode, so one subject serves all.
            problem: Problem::new(Subject([0; 32])),
            valid: false,
        }
    }
}

impl View {
    /// Fills the view from an episode, keeping its memory.
    pub(crate) fn fill(&mut self, episode: &Episode) {
        self.proposed = proposed_worlds(episode);
        self.probes.clear();
        self.probes.extend(episode.probes().iter().map(|probe| {
            let asked = episode.proposed().iter().position(|at| *at == probe.asks);
            ProposedProbe {
                cost: probe.cost,
                // An episode's probes ask about proposed worlds; any other would be refused below.
                asks: asked.unwrap_or(usize::MAX),
            }
        }));
        let (proposed, probes) = (&self.proposed, &self.probes);
        self.scan.clear();
        self.scan.extend(0..probes.len());
        self.scan.sort_unstable_by_key(|&probe| {
            let world = proposed.get(probes[probe].asks);
            (world.map(ProposedWorld::rank), probe)
        });
        self.valid = self
            .fill_problem(episode.actions(), episode.mediation())
            .is_ok();
    }

    /// The problem of the episode, unless the core refuses it.
    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.valid.then_some(&self.problem)
    }

    fn fill_problem(&mut self, actions: usize, mediation: Mediation) -> Result<(), ProblemError> {
        let problem = &mut self.problem;
        problem.reset(problem.subject());
        let reversible = Action::new(0.0, 0.0, Reversibility::Reversible)?;
        for action in 0..actions {
            problem.add_action(if mediation.is_reversible(action) {
                reversible
            } else {
                Action::default()
            })?;
        }
        for world in &self.proposed {
            let allowed = world.safe & !mediation.hard_forbidden();
            let safe = (0..actions).filter(|action| allowed >> action & 1 == 1);
            let position = problem.add_world(world.score.score(), safe)?;
            if mediation.contradicts(world.safe) {
                problem.contradict(position)?;
            }
        }
        for &probe in &self.scan {
            let ProposedProbe { cost, asks } = self.probes[probe];
            let model = OutcomeModel::Identity { world: asks };
            problem.add_probe(Cost::new(cost)?, Probability::ZERO, model)?;
        }
        Ok(())
    }
}
