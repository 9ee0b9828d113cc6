//! Numbers that cannot leave their range.

use serde::{Deserialize, Serialize};

/// A number outside the range of its type.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`{value}` is not {expected}")]
pub struct OutOfRange {
    value: f64,
    expected: &'static str,
}

macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $holds:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64")]
        pub struct $name(f64);

        impl $name {
            /// The number.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = OutOfRange;

            fn try_from(value: f64) -> Result<Self, OutOfRange> {
                let holds: fn(f64) -> bool = $holds;
                if holds(value) {
                    Ok(Self(value))
                } else {
                    Err(OutOfRange { value, expected: $expected })
                }
            }
        }
    };
}

bounded!(
    /// A probability, in [0, 1].
    Probability,
    "in [0, 1]",
    |value| (0.0..=1.0).contains(&value)
);
bounded!(
    /// Any finite number.
    Finite,
    "finite",
    f64::is_finite
);
bounded!(
    /// A finite number that is at least 0.
    NonNegative,
    "finite and at least 0",
    |value| value.is_finite() && value >= 0.0
);
bounded!(
    /// A finite number above 0.
    Positive,
    "finite and above 0",
    |value| value.is_finite() && value > 0.0
);

impl Probability {
    /// The probability 0.
    pub const ZERO: Self = Self(0.0);
}
