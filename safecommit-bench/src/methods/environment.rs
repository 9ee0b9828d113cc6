//! What a method may see of an episode.

use safecommit_core::{
    Action, Cost, NO, OutcomeModel, Probability, Problem, ProblemError, Subject, YES,
};
use smallvec::SmallVec;

use crate::episode::{Episode, EpisodeProbe};
use crate::micros::Micros;
use crate::random::RandomStream;

/// An episode as a method sees it: candidate actions, proposed worlds, probes to ask. The true world
/// shows in the answers alone.
pub struct Environment<'a> {
    episode: &'a Episode,
    view: &'a View,
    asked: SmallVec<[usize; 6]>,
    policy: &'a dyn Fn() -> RandomStream,
}

/// A proposed world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposedWorld {
    /// Position in the episode, which breaks ties of score.
    pub position: usize,
    /// Nonconformity score.
    pub score: Micros,
    /// The actions that are safe in it: bit `a` is action `a`.
    pub safe: u64,
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
            policy,
        }
    }

    /// How many candidate actions there are.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.episode.actions()
    }

    /// How many positions of worlds there are, proposed or not.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.episode.worlds().len()
    }

    /// The proposed worlds, by ascending position.
    #[must_use]
    pub fn proposed(&self) -> &'a [ProposedWorld] {
        &self.view.proposed
    }

    /// The episode as a problem of `safecommit-core`: the proposed worlds in their order, the probes in
    /// the order of [`Self::scan`]. `None` if the core refuses it.
    #[must_use]
    pub fn problem(&self) -> Option<&'a Problem> {
        self.view.valid.then_some(&self.view.problem)
    }

    /// The probes by the (score, position) of the world that they ask about: the order in which a tie
    /// between probes is broken.
    #[must_use]
    pub fn scan(&self) -> &'a [usize] {
        &self.view.scan
    }

    /// The probes that may be asked.
    #[must_use]
    pub fn probes(&self) -> &'a [EpisodeProbe] {
        self.episode.probes()
    }

    /// Makes a probe and returns its truthful outcome, [`YES`] or [`NO`].
    pub fn ask(&mut self, probe: usize) -> usize {
        self.asked.push(probe);
        if self.episode.probes()[probe].asks == self.episode.true_world() {
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

    /// The stream for the method's own random choices, from its beginning.
    #[must_use]
    pub fn random(&self) -> RandomStream {
        (self.policy)()
    }
}

/// The proposed worlds of an episode, by ascending position.
pub(super) fn proposed_worlds(episode: &Episode) -> SmallVec<[ProposedWorld; 6]> {
    episode
        .proposed()
        .iter()
        .map(|&position| ProposedWorld {
            position,
            score: episode.worlds()[position].score,
            safe: episode.worlds()[position].safe,
        })
        .collect()
}

/// What methods see of an episode beside the answers, put together once for all of them.
#[derive(Debug)]
pub(crate) struct View {
    proposed: SmallVec<[ProposedWorld; 6]>,
    scan: Vec<usize>,
    problem: Problem,
    valid: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            proposed: SmallVec::new(),
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
        let (proposed, probes) = (&self.proposed, episode.probes());
        // Position among the proposed worlds of the world that a probe asks about.
        let asked = |probe: usize| {
            let asks = probes[probe].asks;
            proposed.iter().position(|world| world.position == asks)
        };
        self.scan.clear();
        self.scan.extend(0..probes.len());
        self.scan.sort_unstable_by_key(|&probe| {
            (asked(probe).map(|world| proposed[world].rank()), probe)
        });
        self.valid = self.fill_problem(episode).is_ok();
    }

    fn fill_problem(&mut self, episode: &Episode) -> Result<(), ProblemError> {
        let problem = &mut self.problem;
        problem.reset(problem.subject());
        for _ in 0..episode.actions() {
            problem.add_action(Action::default())?;
        }
        for world in &self.proposed {
            let safe = (0..episode.actions()).filter(|action| world.safe >> action & 1 == 1);
            problem.add_world(world.score.score(), safe)?;
        }
        for &probe in &self.scan {
            let EpisodeProbe { cost, asks } = episode.probes()[probe];
            let world = self
                .proposed
                .iter()
                .position(|world| world.position == asks);
            let model = OutcomeModel::Identity {
                world: world.ok_or(ProblemError::UnknownWorld { world: asks })?,
            };
            problem.add_probe(Cost::new(cost)?, Probability::ZERO, model)?;
        }
        Ok(())
    }
}
