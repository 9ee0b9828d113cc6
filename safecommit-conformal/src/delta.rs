//! Error probabilities of confidence statements.

use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The error probability delta of a confidence statement, from 1e-300 to below 1: the statement
/// holds with probability at least `1 - delta`.
///
/// Pass delta itself, never one minus a confidence level: for a small delta that difference has
/// lost most of its digits.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Delta;
///
/// assert_eq!(Delta::new(0.05)?.value(), 0.05);
/// assert!(Delta::new(0.0).is_err());
/// # Ok::<(), safecommit_conformal::DeltaError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "f64")
)]
pub struct Delta(f64);

impl PartialEq for Delta {
    fn eq(&self, other: &Self) -> bool {
        // Neither NaN nor a signed zero is among the values, so this is equality of numbers.
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Delta {}

impl Hash for Delta {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl TryFrom<f64> for Delta {
    type Error = DeltaError;

    fn try_from(value: f64) -> Result<Self, DeltaError> {
        Self::new(value)
    }
}

impl FromStr for Delta {
    type Err = DeltaError;

    fn from_str(input: &str) -> Result<Self, DeltaError> {
        input
            .parse()
            .ok()
            .and_then(|value: f64| Self::new(value).ok())
            .ok_or_else(|| DeltaError {
                input: input.to_owned(),
            })
    }
}

impl From<Delta> for f64 {
    fn from(delta: Delta) -> Self {
        delta.0
    }
}

impl Delta {
    /// The error probability `value`.
    ///
    /// # Errors
    ///
    /// [`DeltaError`] unless `1e-300 <= value < 1`.
    pub fn new(value: f64) -> Result<Self, DeltaError> {
        if (SMALLEST..1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(DeltaError {
                input: value.to_string(),
            })
        }
    }

    /// The error probability as a number, in [1e-300, 1).
    pub fn value(self) -> f64 {
        self.0
    }

    /// Half of it, for each side of a two-sided statement.
    pub(crate) fn half(self) -> Self {
        Self(self.0 / 2.0)
    }
}

/// Smaller numbers are about to lose their digits, and no assumption is that certain anyway.
const SMALLEST: f64 = 1e-300;

/// A number that is not an error probability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("delta `{input}` is not from 1e-300 to below 1")]
pub struct DeltaError {
    /// The value as given.
    input: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usable_probabilities_are_accepted() {
        for bad in [0.0, -0.0, 1e-301, 1.0, -0.1, 2.0, f64::NAN, f64::INFINITY] {
            let error = Delta::new(bad).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("delta `{bad}` is not from 1e-300 to below 1")
            );
        }
        for bad in ["", "0", "1e-400", "1", "-0.1", "nan", "inf", "5%"] {
            let error = bad.parse::<Delta>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("delta `{bad}` is not from 1e-300 to below 1")
            );
        }
        assert_eq!("0.05".parse(), Delta::new(0.05));
        assert!(Delta::new(SMALLEST).is_ok());
        assert!(Delta::new(1.0_f64.next_down()).is_ok());
    }
}
