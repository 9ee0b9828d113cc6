//! Logistic regression by Newton's method, with the same bits everywhere.

mod objective;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded::Positive;

use super::cholesky::dot;
use super::error::FitError;
use super::training::TrainingSet;

use objective::Objective;
pub(super) use objective::{log_sum_exp, softplus};

/// What a regression takes for the probability that a world is the true one, from the log-odds
/// z = intercept + coefficients . features of the worlds of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// Each world for itself: 1 / (1 + exp(-z)), the binary logistic regression.
    Separate,
    /// exp(z) over the sum of exp(z) in the episode: McFadden's conditional logit. It says what is known, that
    /// exactly one world of an episode is the true one. The intercept cancels and is 0.
    WithinEpisode,
}

impl Likelihood {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Separate, Self::WithinEpisode];

    /// The name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Separate => "separate",
            Self::WithinEpisode => "within_episode",
        }
    }
}

impl fmt::Display for Likelihood {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A ridge-penalised logistic regression.
///
/// With the features standardised to mean 0 and variance 1 over the training worlds, the coefficients b minimise
///
/// ```text
/// - sum of ln p(true world)  [- sum of ln (1 - p(other world)), if each world is for itself]  + ridge/2 |b|^2
/// ```
///
/// (the intercept is not penalised). The objective is convex and, with a ridge above 0, has one minimum, which Newton's
/// method with step halving reaches: the iteratively reweighted least squares of generalised linear models. Solving
/// is ours and `exp` and `ln` are `libm`'s, sums run in the order of the episodes: the same data give the same bits on
/// every platform. Common libraries call the platform's `exp`, whose last bit differs between platforms, and then
/// frozen tables could not be compared byte by byte.
///
/// ```
/// use safecommit_bench::{Likelihood, LogisticRegression, Positive, TrainingSet};
///
/// let mut data = TrainingSet::new(1);
/// for offset in [0.0, 0.1, 0.2, 0.3] {
///     data.add_episode(&[[0.2 + offset], [0.7 - offset]], 0)?; // mostly, the true world has less of it
/// }
/// let fit = LogisticRegression::fit(&data, Likelihood::Separate, Positive::try_from(0.01)?)?;
/// assert!(fit.coefficients()[0] < 0.0);
/// assert!(fit.log_odds(&[0.1]) > fit.log_odds(&[0.9]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticRegression {
    intercept: f64,
    coefficients: Vec<f64>,
}

impl LogisticRegression {
    /// Fits the regression.
    ///
    /// # Errors
    ///
    /// [`FitError::NoEpisode`] and [`FitError::OneClass`] if there is nothing to learn from,
    /// [`FitError::TooLarge`] if a feature overflows, [`FitError::NotConverged`] if rounding leaves no way down, as a
    /// tiny ridge on features that depend on one another may.
    pub fn fit(
        data: &TrainingSet,
        likelihood: Likelihood,
        ridge: Positive,
    ) -> Result<Self, FitError> {
        if data.episodes() == 0 {
            return Err(FitError::NoEpisode);
        }
        if data.worlds() == data.episodes() {
            return Err(FitError::OneClass);
        }
        let (standardised, means, scales) = data.standardised();
        let finite = |feature: &usize| (means[*feature] + scales[*feature]).is_finite();
        if let Some(feature) = (0..data.width()).find(|feature| !finite(feature)) {
            return Err(FitError::TooLarge { feature });
        }
        let problem = Objective {
            data: &standardised,
            likelihood,
            ridge: ridge.get(),
        };
        let minimum = problem.minimise()?;
        let width = data.width();
        let mut intercept = minimum.get(width).copied().unwrap_or(0.0);
        let mut coefficients = Vec::with_capacity(width);
        for feature in 0..width {
            let coefficient = minimum[feature] / scales[feature];
            if likelihood == Likelihood::Separate {
                intercept -= coefficient * means[feature];
            }
            coefficients.push(coefficient);
        }
        Ok(Self {
            intercept,
            coefficients,
        })
    }

    /// A regression that was fitted before.
    pub(super) fn of(intercept: f64, coefficients: Vec<f64>) -> Self {
        Self {
            intercept,
            coefficients,
        }
    }

    /// The intercept, for features as they were given.
    #[must_use]
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The coefficients, for features as they were given.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// intercept + coefficients . features; features beyond the width of the regression count for nothing.
    #[must_use]
    pub fn log_odds(&self, features: &[f64]) -> f64 {
        self.intercept + dot(&self.coefficients, features)
    }
}
