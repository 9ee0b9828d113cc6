//! What a method may see of an episode.

use safecommit_core::{NO, YES};
use smallvec::SmallVec;

use crate::episode::{Episode, EpisodeProbe};
use crate::micros::Micros;
use crate::random::RandomStream;

/// An episode as a method sees it: candidate actions, proposed worlds, probes to ask. The true world
/// shows in the answers alone.
pub struct Environment<'a> {
    episode: &'a Episode,
    proposed: SmallVec<[ProposedWorld; 6]>,
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
    /// The episode, with the random stream that a method may draw its own choices from.
    pub fn new(episode: &'a Episode, policy: &'a dyn Fn() -> RandomStream) -> Self {
        Self {
            episode,
            proposed: proposed_worlds(episode),
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
    pub fn proposed(&self) -> &[ProposedWorld] {
        &self.proposed
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
