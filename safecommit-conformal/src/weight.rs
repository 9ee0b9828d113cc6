//! Weights of cases, and what is reported of them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Defines a validated number with equality and hash by value.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $valid:expr, $error:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "f64"))]
        pub struct $name(f64);

        impl $name {
            /// The number.
            pub fn value(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = WeightError;

            fn try_from(value: f64) -> Result<Self, WeightError> {
                if $valid(value) {
                    // -0.0 becomes 0.0, so that equality and hash agree.
                    Ok(Self(value + 0.0))
                } else {
                    Err($error(value.to_string()))
                }
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> Self {
                number.0
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.to_bits() == other.0.to_bits()
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

number!(
    /// The weight of a case: finite and at least 0. Only ratios of weights matter.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::Weight;
    ///
    /// assert_eq!(Weight::try_from(2.5)?.value(), 2.5);
    /// assert!(Weight::try_from(-1.0).is_err());
    /// # Ok::<(), safecommit_conformal::WeightError>(())
    /// ```
    Weight,
    |value: f64| value.is_finite() && value >= 0.0,
    |input| WeightError::Weight { input }
);

number!(
    /// Kish's effective sample size `(sum w)^2 / sum w^2`: how many equally weighted cases carry as
    /// much information. From 1 to n, or 0 if all weights are 0.
    EffectiveSize,
    |value: f64| value.is_finite() && value >= 0.0,
    |input| WeightError::EffectiveSize { input }
);

number!(
    /// A share of the total mass, from 0 to 1.
    MassShare,
    |value: f64| (0.0..=1.0).contains(&value),
    |input| WeightError::MassShare { input }
);

impl Weight {
    /// The weight 0.
    pub const ZERO: Self = Self(0.0);
    /// The weight 1.
    pub const ONE: Self = Self(1.0);
}

impl FromStr for Weight {
    type Err = WeightError;

    fn from_str(input: &str) -> Result<Self, WeightError> {
        input
            .parse()
            .ok()
            .and_then(|value: f64| Self::try_from(value).ok())
            .ok_or_else(|| WeightError::Weight {
                input: input.to_owned(),
            })
    }
}

impl EffectiveSize {
    /// The effective size of the weights, which are scaled by their largest so that no square
    /// overflows.
    pub(crate) fn of(weights: &[Weight]) -> Self {
        let largest = weights
            .iter()
            .map(|weight| weight.0)
            .fold(0.0_f64, f64::max);
        if largest <= 0.0 {
            return Self(0.0);
        }
        let (mut sum, mut squares) = (0.0, 0.0);
        for weight in weights {
            let share = weight.0 / largest;
            sum += share;
            squares += share * share;
        }
        Self((sum * sum / squares).clamp(1.0, weights.len() as f64))
    }
}

impl MassShare {
    /// The share nearest to `value`.
    pub(crate) fn nearest(value: f64) -> Self {
        Self(value.clamp(0.0, 1.0))
    }
}

/// A number that is no weight, or no summary of weights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightError {
    /// Negative, infinite or NaN.
    #[error("weight `{input}` is not a finite number of at least 0")]
    Weight {
        /// The value as given.
        input: String,
    },
    /// Negative, infinite or NaN.
    #[error("effective size `{input}` is not a finite number of at least 0")]
    EffectiveSize {
        /// The value as given.
        input: String,
    },
    /// Outside 0 to 1.
    #[error("share of mass `{input}` is not within 0 to 1")]
    MassShare {
        /// The value as given.
        input: String,
    },
    /// A logarithm that is NaN or plus infinity.
    #[error("log-weight `{input}` is not a number below infinity")]
    LogWeight {
        /// The value as given.
        input: String,
    },
    /// A list of weights that does not go with the scores.
    #[error("`{weights}` weights do not go with `{scores}` scores")]
    Length {
        /// How many scores.
        scores: usize,
        /// How many weights.
        weights: usize,
    },
    /// A weight above 1 where weights are relative to that of the next case.
    #[error("weight `{input}` exceeds 1, the weight of the next case")]
    AboveOne {
        /// The value as given.
        input: String,
    },
    /// A decay outside (0, 1].
    #[error("decay `{input}` is not above 0 and at most 1")]
    Decay {
        /// The value as given.
        input: String,
    },
    /// A total variation distance outside 0 to 1.
    #[error("total variation `{input}` is not within 0 to 1")]
    TotalVariation {
        /// The value as given.
        input: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_weights_are_weights() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let error = Weight::try_from(bad).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("weight `{bad}` is not a finite number of at least 0")
            );
        }
        for bad in ["", "-1", "nan", "inf", "1e999", "heavy"] {
            let error = bad.parse::<Weight>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("weight `{bad}` is not a finite number of at least 0")
            );
        }
        assert_eq!("2.5".parse(), Weight::try_from(2.5));
        assert_eq!(Weight::try_from(-0.0).unwrap(), Weight::ZERO);
    }

    #[test]
    fn the_effective_size_is_between_one_and_all() {
        let size = |values: &[f64]| {
            let weights: Vec<Weight> = values
                .iter()
                .map(|v| Weight::try_from(*v).unwrap())
                .collect();
            EffectiveSize::of(&weights).value()
        };
        let check = |values: &[f64], expect: f64| {
            assert!((size(values) - expect).abs() < 1e-12, "{values:?}");
        };
        check(&[], 0.0);
        check(&[0.0, 0.0], 0.0);
        check(&[3.0; 7], 7.0);
        check(&[1e300, 0.0, 1e300], 2.0);
        check(&[f64::MAX, 1.0], 1.0);
    }
}
