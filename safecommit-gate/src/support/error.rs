//! What is left out, and what is refused.

use safecommit_conformal::Score;

use crate::score::ScoreTermError;

/// Worlds that were left out, since there were too many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// No world that was left out scores less.
    pub next: Score,
}

/// Why there are no regions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SupportError {
    /// The beliefs are not those of the facts, one each in their order.
    #[error("the beliefs are not about the facts, one each in their order")]
    OtherFacts,
    /// A safety map of other facts.
    #[error("the safety map was bound to other facts")]
    OtherMap,
    /// A fact with more values than regions can tell apart.
    #[error("fact `{fact}` has {values} values, for regions at most 64 are possible")]
    TooManyValues {
        /// The fact.
        fact: String,
        /// How many it has.
        values: usize,
    },
    /// A score that is no number.
    #[error(transparent)]
    Score(#[from] ScoreTermError),
}
