//! Scores on a fixed grid, so that they have one value everywhere.

use std::fmt;

use safecommit_conformal::Score;
use serde::{Deserialize, Serialize};

/// A number in [0, 1] as a whole number of millionths.
///
/// Scores are put on this grid when they are drawn or read, before anything uses or writes them.
///
/// ```
/// use safecommit_bench::Micros;
///
/// let score = Micros::clipped(0.183_204_4);
/// assert_eq!(score.count(), 183_204);
/// assert_eq!(score.to_string(), "0.183204");
/// assert_eq!(Micros::clipped(-0.2), Micros::ZERO);
/// assert_eq!(Micros::exact(0.5).map(Micros::count), Ok(500_000));
/// assert!(Micros::exact(0.000_000_5).is_err());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "f64")]
pub struct Micros(u32);

/// Why a number is not on the grid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum MicrosError {
    /// Below 0, above 1, infinite or not a number.
    #[error("`{0}` is not in [0, 1]")]
    OutOfRange(f64),
    /// In range, but not a whole number of millionths.
    #[error("`{0}` has more than six decimals")]
    TooPrecise(f64),
}

impl Micros {
    /// The number 0.
    pub const ZERO: Self = Self(0);
    /// The number 1.
    pub const ONE: Self = Self(1_000_000);
    const SCALE: f64 = 1e6;

    /// The nearest grid point after clipping to [0, 1]; a value halfway goes away from zero. Not a number gives 0.
    #[must_use]
    pub fn clipped(value: f64) -> Self {
        // The cast saturates and maps NaN to 0; round() is exact on every platform.
        Self(((value * Self::SCALE).round() as u32).min(Self::ONE.0))
    }

    /// The grid point that equals this number.
    ///
    /// # Errors
    ///
    /// The number is out of [0, 1], not finite, or between two grid points.
    pub fn exact(value: f64) -> Result<Self, MicrosError> {
        if !(0.0..=1.0).contains(&value) {
            return Err(MicrosError::OutOfRange(value));
        }
        let nearest = Self::clipped(value);
        // A decimal with six places parses to exactly the quotient that value() gives: both are rounded correctly.
        if nearest.value().total_cmp(&(value + 0.0)).is_eq() {
            Ok(nearest)
        } else {
            Err(MicrosError::TooPrecise(value))
        }
    }

    /// This many millionths, or `None` above a million.
    #[must_use]
    pub fn from_count(count: u32) -> Option<Self> {
        (count <= Self::ONE.0).then_some(Self(count))
    }

    /// The number of millionths, in 0..=1,000,000.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0
    }

    /// The number as a nonconformity score.
    #[must_use]
    pub fn score(self) -> Score {
        // A quotient of two finite numbers, the divisor not zero, is finite: the default is never taken.
        Score::new(self.value()).unwrap_or(Score::ZERO)
    }

    /// The number itself, the quotient of the count and a million.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / Self::SCALE
    }
}

impl TryFrom<f64> for Micros {
    type Error = MicrosError;

    fn try_from(value: f64) -> Result<Self, MicrosError> {
        Self::exact(value)
    }
}

impl Serialize for Micros {
    /// As the number itself. JSON lines use [`Display`](fmt::Display) instead, for its fixed six decimals.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}.{:06}",
            self.0 / Self::ONE.0,
            self.0 % Self::ONE.0
        )
    }
}
