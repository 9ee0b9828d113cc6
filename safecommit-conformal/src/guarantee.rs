//! What a threshold promises.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a calibrated threshold promises, and under which assumption.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Guarantee;
///
/// assert_eq!(Guarantee::Marginal.to_string(), "marginal");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Guarantee {
    /// `P(s_{n+1} <= kappa) >= 1 - alpha` when the n calibration cases and the next one are
    /// exchangeable (Akewar and Ranjan, arXiv:2608.04289, Eq. 3 and 14); without ties also
    /// `<= 1 - alpha + 1 / (n + 1)`.
    ///
    /// The probability is over the calibration set and the next case together. Given one
    /// calibration set the coverage is random, with the law
    /// [`CoverageLaw`](crate::CoverageLaw); and nothing is said about a subgroup of cases.
    Marginal,
}

impl Guarantee {
    /// The name on the wire and in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Marginal => "marginal",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
