//! Numbers that cannot hold nonsense: probabilities, costs.

use serde::{Deserialize, Serialize};

use crate::ProblemError;

/// A probability: a finite number in [0, 1].
///
/// ```
/// use safecommit_core::Probability;
///
/// assert_eq!(Probability::new(0.25)?.value(), 0.25);
/// assert!(Probability::new(1.5).is_err());
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

impl Probability {
    /// Probability zero.
    pub const ZERO: Self = Self(0.0);
    /// Probability one.
    pub const ONE: Self = Self(1.0);

    /// A probability.
    ///
    /// # Errors
    ///
    /// [`ProblemError::NotAProbability`] outside [0, 1] and for NaN.
    pub fn new(value: f64) -> Result<Self, ProblemError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value + 0.0))
        } else {
            Err(ProblemError::NotAProbability { value })
        }
    }

    /// The number in [0, 1].
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Probability {
    type Error = ProblemError;

    fn try_from(value: f64) -> Result<Self, ProblemError> {
        Self::new(value)
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> f64 {
        probability.0
    }
}

/// The cost of a probe, in any one unit: finite and above zero, since it divides (Eq. 13 of Akewar and
/// Ranjan, arXiv:2608.04289).
///
/// ```
/// use safecommit_core::Cost;
///
/// assert_eq!(Cost::new(2.5)?.value(), 2.5);
/// assert!(Cost::new(0.0).is_err());
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Cost(f64);

impl Cost {
    /// A cost of one unit.
    pub const UNIT: Self = Self(1.0);

    /// A cost.
    ///
    /// # Errors
    ///
    /// [`ProblemError::CostNotPositive`] unless finite and above zero.
    pub fn new(value: f64) -> Result<Self, ProblemError> {
        if value.is_finite() && value > 0.0 {
            Ok(Self(value))
        } else {
            Err(ProblemError::CostNotPositive { value })
        }
    }

    /// The number above zero.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_lie_in_the_unit_interval() {
        for good in [0.0, -0.0, 0.5, 1.0] {
            assert!(Probability::new(good).is_ok(), "{good}");
        }
        for bad in [-1e-300, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY] {
            assert!(Probability::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn costs_are_finite_and_positive() {
        for good in [f64::MIN_POSITIVE, 1.0, f64::MAX] {
            assert!(Cost::new(good).is_ok(), "{good}");
        }
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Cost::new(bad).is_err(), "{bad}");
        }
    }
}
