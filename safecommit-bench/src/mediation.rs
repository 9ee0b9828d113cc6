//! What stands between a decision and its effect: which actions can be undone, and which are forbidden.

use crate::episode::{Episode, Family, MAX_ACTIONS};
use crate::generator::Role;
use crate::random::RandomStream;

/// Probability that an action of [`Suite::Compared`](crate::Suite::Compared) is reversible.
const REVERSIBLE: f64 = 0.5;
/// Probability that a policy has caught up with drifted authorization there.
const FORBIDS: f64 = 0.5;

/// The actions of an episode that are reversible and those that policy forbids; every method sees both.
///
/// A reversible action can be staged, inspected and rolled back. A forbidden action is never safe in
/// the true world: a hard policy does not err. So a proposed world whose every safe action is
/// forbidden is contradicted by hard evidence. By default nothing is reversible and nothing forbidden,
/// as in the benchmark of the paper (Akewar and Ranjan, arXiv:2608.04289).
///
/// The law of [`Suite::Compared`](crate::Suite::Compared): each action is reversible with probability 0.5; in
/// `authorization_drift`, with probability 0.5, forbidden are the actions that at least one deceptive world
/// supports and no other world does; in the other families nothing is. Draws from the stream
/// `mediation`, in order: for each action one uniform number below 0.5 for being reversible; then, in
/// `authorization_drift` alone, one uniform number below 0.5 for forbidding.
///
/// ```
/// use safecommit_bench::{Generator, Mediation, Parameters, Split, Suite};
///
/// let parameters = Parameters::project()?;
/// let draw = |suite, index| {
///     let generator = Generator::new(&parameters.generator, suite, Split::Test);
///     generator.draw(index).episode().mediation()
/// };
/// assert_eq!(draw(Suite::Experiment { seed: 1 }, 3), Mediation::NONE);
/// let mediation = draw(Suite::Compared { seed: 1 }, 3);
/// assert!(mediation.reversible() < 1 << 3); // three actions
/// assert_eq!(mediation.is_reversible(0), mediation.reversible() & 1 == 1);
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mediation {
    reversible: u64,
    hard_forbidden: u64,
}

/// Why a mediation is none of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MediationError {
    /// It names an action that the episode lacks.
    #[error("no action `{action}` among {actions}")]
    UnknownAction {
        /// The first such action.
        action: usize,
        /// How many actions the episode has.
        actions: usize,
    },
    /// It forbids an action that is safe in the true world.
    #[error("action `{action}` is forbidden, yet safe in the true world")]
    ForbidsSafeAction {
        /// The first such action.
        action: usize,
    },
}

impl Mediation {
    /// Nothing is reversible and nothing forbidden.
    pub const NONE: Self = Self {
        reversible: 0,
        hard_forbidden: 0,
    };

    /// A mediation by sets of actions: bit `a` is action `a`. [`Episode::with_mediation`] checks it.
    #[must_use]
    pub fn new(reversible: u64, hard_forbidden: u64) -> Self {
        Self {
            reversible,
            hard_forbidden,
        }
    }

    /// The actions whose effect can be staged, inspected and undone: bit `a` is action `a`.
    #[must_use]
    pub fn reversible(self) -> u64 {
        self.reversible
    }

    /// The actions that policy forbids: bit `a` is action `a`.
    #[must_use]
    pub fn hard_forbidden(self) -> u64 {
        self.hard_forbidden
    }

    /// Whether the action is reversible.
    #[must_use]
    pub fn is_reversible(self, action: usize) -> bool {
        holds(self.reversible, action)
    }

    /// Whether the action is forbidden.
    #[must_use]
    pub fn is_forbidden(self, action: usize) -> bool {
        holds(self.hard_forbidden, action)
    }

    /// Whether policy contradicts a world in which these actions are safe: there are some, and all are
    /// forbidden. A world in which nothing is safe is not contradicted: no policy speaks against it.
    #[must_use]
    pub fn contradicts(self, safe: u64) -> bool {
        safe != 0 && safe & !self.hard_forbidden == 0
    }

    /// Draws the mediation of an episode whose worlds are drawn.
    pub(crate) fn draw(stream: &mut RandomStream, episode: &Episode, roles: &[Role]) -> Self {
        let reversible = (0..episode.actions())
            .filter(|_| stream.happens(REVERSIBLE))
            .fold(0, |set, action| set | 1 << action);
        let forbids = episode.family() == Family::AuthorizationDrift && stream.happens(FORBIDS);
        let supported = |deceptive: bool| {
            let worlds = episode.worlds().iter().zip(roles);
            worlds
                .filter(|(_, role)| (**role == Role::Deceptive) == deceptive)
                .fold(0, |set, (world, _)| set | world.safe)
        };
        let hard_forbidden = if forbids {
            supported(true) & !supported(false)
        } else {
            0
        };
        Self {
            reversible,
            hard_forbidden,
        }
    }

    pub(crate) fn check(self, episode: &Episode) -> Result<(), MediationError> {
        let actions = episode.actions();
        let named = self.reversible | self.hard_forbidden;
        if let Some(action) = (actions..MAX_ACTIONS).find(|&action| holds(named, action)) {
            return Err(MediationError::UnknownAction { action, actions });
        }
        let mut forbidden = (0..actions).filter(|&action| self.is_forbidden(action));
        match forbidden.find(|&action| episode.is_safe(action)) {
            Some(action) => Err(MediationError::ForbidsSafeAction { action }),
            None => Ok(()),
        }
    }
}

fn holds(set: u64, action: usize) -> bool {
    action < MAX_ACTIONS && set >> action & 1 == 1
}
