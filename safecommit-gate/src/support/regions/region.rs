//! One region: what its worlds have in common.

use std::sync::Arc;

use safecommit_conformal::Score;

use super::split::{Decided, Stopped, WeightedTerms};
use crate::cube::{Cube, Values};
use crate::fact::{Assignment, Facts};
use crate::policy::{Blocker, Reasons};

/// The name of the world that stands for all that a cut support left out.
pub const LEFT_OUT: &str = "left-out";

/// The [name](Region::id) of a region that restricts no fact.
pub(crate) const ANY: &str = "any";

/// As long as names usually are, in bytes.
const NAME: usize = 256;

/// Worlds in all of which the same actions are safe: every combination of some values for each fact.
#[derive(Clone, Debug)]
pub struct Region {
    cube: Cube,
    score: Score,
    stopped: Stopped,
    about: Arc<About>,
}

/// What all regions of a request share.
#[derive(Debug)]
pub(super) struct About {
    pub(super) facts: Facts,
    pub(super) relevant: Vec<usize>,
    pub(super) terms: WeightedTerms,
    pub(super) reasons: Reasons,
}

impl Region {
    pub(super) fn new(decided: Decided, about: &Arc<About>) -> Self {
        Self {
            score: decided.score,
            cube: decided.cube,
            stopped: decided.stopped,
            about: Arc::clone(about),
        }
    }

    /// The score of the least strange of its worlds, over the facts that some policy reads.
    #[must_use]
    pub fn score(&self) -> Score {
        self.score
    }

    /// The least strange of its worlds; of values that are equally strange the first. It can be one with an
    /// [impossible](crate::Impossible) pair of values.
    #[must_use]
    pub fn best(&self) -> Assignment {
        self.about.terms.best(&self.cube)
    }

    /// Whether an action is safe, in every world of the region; otherwise it is in none. One that there is not is not.
    #[must_use]
    pub fn is_safe(&self, action: usize) -> bool {
        self.stopped.get(action).is_some_and(Option::is_none)
    }

    /// The positions of the safe actions, ascending: the row that [`safecommit_core::Problem::add_world`] takes.
    pub fn safe(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.stopped.len()).filter(|&action| self.is_safe(action))
    }

    /// Why an action is not safe: all that stops it in every world of the region, in the order of the policies, and
    /// last whether no policy permits it. In some of its worlds other policies may stop it as well; one that reads more
    /// than 1,024 combinations of the region's values is not named. A policy that fails has the message that it fails
    /// with in one of the worlds. Empty for what is safe, and for what there is not.
    pub fn blockers(&self, action: usize) -> impl Iterator<Item = Blocker<'_>> {
        let stopped = self.stopped.get(action).and_then(Option::as_ref);
        let reasons = stopped.into_iter().flatten();
        reasons.map(|reason| self.about.reasons.blocker(*reason))
    }

    /// The values that a fact has in some world of the region, in their order. None for a fact that there is not.
    pub fn values(&self, fact: usize) -> impl Iterator<Item = &str> {
        let declared = self.about.facts.as_slice().get(fact);
        self.cube
            .values(fact)
            .filter_map(move |value| declared?.values().get(usize::from(value)))
            .map(String::as_str)
    }

    /// How many values a fact has in some world of the region.
    pub(crate) fn number(&self, fact: usize) -> usize {
        self.cube.size(fact)
    }

    /// The positions of the values that a fact has in some world of the region, ascending.
    pub(crate) fn positions(&self, fact: usize) -> Values {
        self.cube.values(fact)
    }

    /// Whether a fact has a value, both by position, in some world of the region.
    #[must_use]
    pub fn admits(&self, fact: usize, value: u8) -> bool {
        self.cube.admits(fact, value)
    }

    /// Whether a world is one of the region.
    #[must_use]
    pub fn contains(&self, world: &Assignment) -> bool {
        self.cube.contains(world.positions())
    }

    /// A name that tells it from the other regions: `fact=value`, several values separated by `|`, for each fact that
    /// some policy reads and that has not all of its values here, in the order of the facts with spaces between;
    /// `any` if there is no such fact.
    #[must_use]
    pub fn id(&self) -> String {
        let mut id = String::with_capacity(NAME);
        for &fact in &self.about.relevant {
            let Some(declared) = self.about.facts.as_slice().get(fact) else {
                continue;
            };
            if self.cube.size(fact) == declared.values().len() {
                continue;
            }
            if !id.is_empty() {
                id.push(' ');
            }
            id.push_str(declared.name());
            for (at, value) in self.values(fact).enumerate() {
                id.push(if at == 0 { '=' } else { '|' });
                id.push_str(value);
            }
        }
        if id.is_empty() {
            id.push_str(ANY);
        }
        id
    }
}
