//! What can be wrong with training data, with a fit and with episodes that are to be scored.

use safecommit_conformal::Alpha;

use crate::micros::Micros;

use super::choose::Candidate;
use super::features::FeatureSet;

/// Why a regression was not fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is no episode to learn from.
    #[error("no episode to learn from")]
    NoEpisode,
    /// No episode has a world beside the true one, so that there is nothing to tell it from.
    #[error("every world is a true one, so there is nothing to tell them from")]
    OneClass,
    /// A world has another number of features than the others.
    #[error("a world has `{found}` features, expected {expected}")]
    Width {
        /// Its number of features.
        found: usize,
        /// The number of features of the set.
        expected: usize,
    },
    /// A feature is infinite or not a number.
    #[error("feature `{feature}` is `{value}`, which is not finite")]
    NotFinite {
        /// Position of the feature.
        feature: usize,
        /// Its value.
        value: f64,
    },
    /// The true world is not among the worlds.
    #[error("the true world is `{position}`, but there are only {worlds} worlds")]
    TrueWorld {
        /// The position given.
        position: usize,
        /// The number of worlds.
        worlds: usize,
    },
    /// A feature is so large that its mean or its variance overflows.
    #[error("feature `{feature}` is too large to be standardised")]
    TooLarge {
        /// Position of the feature.
        feature: usize,
    },
    /// The regression is no score: a feature hardly varies, so that its coefficient is out of range.
    #[error(transparent)]
    Unusable(#[from] LearnedScoreError),
    /// Newton's method did not reach the minimum.
    #[error("not converged after `{steps}` steps")]
    NotConverged {
        /// The steps made.
        steps: u32,
    },
}

/// Why terms do not belong to an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// Not as many terms as worlds.
    #[error("terms for `{found}` worlds, but the episode has {worlds}")]
    Count {
        /// The terms given.
        found: usize,
        /// The worlds of the episode.
        worlds: usize,
    },
    /// The terms of a world do not sum to its score.
    #[error("the terms of world `{world}` sum to `{sum}` millionths, but its score is {score}")]
    Sum {
        /// Position of the world.
        world: usize,
        /// The sum of its terms, in millionths.
        sum: u32,
        /// Its score.
        score: Micros,
    },
}

/// Why something is no learned score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnedScoreError {
    /// A format version that this release does not know.
    #[error("learned score field `format`: version `{found}` is not known, 1 is")]
    Format {
        /// The version found.
        found: u64,
    },
    /// The names of the features are not those of the set.
    #[error("learned score field `features`: `{found}` are not the features of the set `{set}`")]
    Features {
        /// The names found, joined by commas.
        found: String,
        /// The set.
        set: FeatureSet,
    },
    /// Not a coefficient a feature.
    #[error("learned score field `coefficients`: `{found}` of them for {expected} features")]
    Coefficients {
        /// The coefficients found.
        found: usize,
        /// The features.
        expected: usize,
    },
    /// A coefficient or an intercept that is out of range or not a number.
    #[error("learned score: coefficient or intercept `{value}` is not within a thousand million")]
    Coefficient {
        /// The number found.
        value: f64,
    },
    /// An intercept where it cancels.
    #[error("learned score field `intercept`: `{value}`, but within an episode it must be 0")]
    Intercept {
        /// The intercept found.
        value: f64,
    },
    /// The fields fit each other but not the version.
    #[error("learned score field `version`: `{found}`, but the other fields give `{expected}`")]
    Version {
        /// The version found.
        found: String,
        /// The version of the other fields.
        expected: String,
    },
}

/// Why no score was chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChooseError {
    /// There is no candidate to choose from.
    #[error("no candidate to choose from")]
    NoCandidate,
    /// Too few validation episodes: each half has to give a finite threshold.
    #[error("half of `{found}` validation episodes is too few for a finite threshold at `{alpha}`")]
    TooFewEpisodes {
        /// The episodes given.
        found: usize,
        /// The level.
        alpha: Alpha,
    },
    /// A candidate could not be fitted.
    #[error("candidate `{candidate}`: {reason}")]
    Fit {
        /// The candidate.
        candidate: Candidate,
        /// Why.
        reason: FitError,
    },
}
