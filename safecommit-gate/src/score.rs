//! The default nonconformity score of a world (Eq. 9): four terms, weighted and summed over its facts.

use safecommit_conformal::{Score, ScoreError};

/// What speaks against one value of one fact: the four terms of the default score (Akewar and Ranjan,
/// arXiv:2608.04289, Eq. 9), each finite and at least zero, larger is stranger.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// How old, or how badly sourced, the evidence for the value is.
    pub provenance_or_age: f64,
    /// How much the sources contradict each other about it.
    pub inconsistency: f64,
    /// How far it is from what tools say at present.
    pub tool_disagreement: f64,
    /// How far it is from what policies presuppose.
    pub policy_incompatibility: f64,
}

/// The weights of the four terms, in their order: finite, at least zero. They belong to the version of the score:
/// a threshold that was calibrated under other weights governs nothing here.
///
/// ```
/// use safecommit_gate::{ScoreWeights, Terms};
///
/// let weights = ScoreWeights::new([1.0, 2.0, 1.0, 0.5])?;
/// let terms = Terms { inconsistency: 0.25, policy_incompatibility: 1.0, ..Terms::default() };
/// assert_eq!(weights.of(&terms), 1.0);
/// assert!(ScoreWeights::new([1.0, -1.0, 1.0, 1.0]).is_err());
/// # Ok::<(), safecommit_gate::ScoreTermError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreWeights([f64; 4]);

/// A term or weight that is not finite and at least zero, or a score that is too large to be a number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreTermError {
    /// A term.
    #[error("term `{term}` is `{value}`, which is not finite and at least 0")]
    Term {
        /// Which one.
        term: &'static str,
        /// What it is.
        value: f64,
    },
    /// A weight.
    #[error("the weight of `{term}` is `{value}`, which is not finite and at least 0")]
    Weight {
        /// Of which term.
        term: &'static str,
        /// What it is.
        value: f64,
    },
    /// A sum that is too large.
    #[error("the score of a world is no finite number")]
    Overflow,
}

const NAMES: [&str; 4] = [
    "provenance_or_age",
    "inconsistency",
    "tool_disagreement",
    "policy_incompatibility",
];

impl Terms {
    /// Every term is zero: nothing speaks against the value.
    pub const NONE: Self = Self {
        provenance_or_age: 0.0,
        inconsistency: 0.0,
        tool_disagreement: 0.0,
        policy_incompatibility: 0.0,
    };

    /// The terms in their order.
    #[must_use]
    pub fn as_array(&self) -> [f64; 4] {
        [
            self.provenance_or_age,
            self.inconsistency,
            self.tool_disagreement,
            self.policy_incompatibility,
        ]
    }

    pub(crate) fn check(&self) -> Result<(), ScoreTermError> {
        match NAMES
            .into_iter()
            .zip(self.as_array())
            .find(|(_, value)| !holds(*value))
        {
            Some((term, value)) => Err(ScoreTermError::Term { term, value }),
            None => Ok(()),
        }
    }
}

impl ScoreWeights {
    /// Every term counts as it is.
    pub const EQUAL: Self = Self([1.0; 4]);

    /// Weights in the order of the terms.
    ///
    /// # Errors
    ///
    /// [`ScoreTermError::Weight`] unless each is finite and at least zero.
    pub fn new(weights: [f64; 4]) -> Result<Self, ScoreTermError> {
        match NAMES
            .into_iter()
            .zip(weights)
            .find(|(_, value)| !holds(*value))
        {
            Some((term, value)) => Err(ScoreTermError::Weight { term, value }),
            None => Ok(Self(weights)),
        }
    }

    /// The weighted sum of some terms, in their order.
    #[must_use]
    pub fn of(&self, terms: &Terms) -> f64 {
        let [a, b, c, d] = self.0;
        let [p, q, r, s] = terms.as_array();
        a * p + b * q + c * r + d * s
    }

    /// The weights in the order of the terms.
    #[must_use]
    pub fn as_array(&self) -> [f64; 4] {
        self.0
    }
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self::EQUAL
    }
}

impl From<ScoreError> for ScoreTermError {
    fn from(_: ScoreError) -> Self {
        Self::Overflow
    }
}

/// A score from a sum of weighted terms.
pub(crate) fn score(sum: f64) -> Result<Score, ScoreTermError> {
    Ok(Score::new(sum)?)
}

fn holds(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_term_and_weight_is_named() {
        for bad in [f64::NAN, f64::INFINITY, -1e-9] {
            for at in 0..4 {
                let mut values = [0.5; 4];
                values[at] = bad;
                let [
                    provenance_or_age,
                    inconsistency,
                    tool_disagreement,
                    policy_incompatibility,
                ] = values;
                let terms = Terms {
                    provenance_or_age,
                    inconsistency,
                    tool_disagreement,
                    policy_incompatibility,
                };
                assert!(terms.check().unwrap_err().to_string().contains(NAMES[at]));
                assert!(
                    ScoreWeights::new(values)
                        .unwrap_err()
                        .to_string()
                        .contains(NAMES[at])
                );
            }
        }
        assert_eq!(Terms::NONE.check(), Ok(()));
    }
}
