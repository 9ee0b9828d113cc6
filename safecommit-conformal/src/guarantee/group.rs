//! The group that a threshold is for, and the one whose cases it was calibrated on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stratum::Stratum;

/// The stratum that a threshold is for, and the stratum whose calibration cases it came from:
/// itself, or the nearest of its ancestors with enough cases.
///
/// Coverage is at least `1 - alpha` over the cases of `achieved`. Only when both are the same is
/// it conditional on the stratum itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "Wire")
)]
pub struct GroupCoverage {
    stratum: Stratum,
    /// `stratum` or one of its ancestors.
    achieved: Stratum,
}

/// A group and the level that its calibration achieved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "GroupCoverage")
)]
struct Wire {
    /// The group that the threshold is for.
    stratum: Stratum,
    /// The group whose cases it was calibrated on: the same one, or one that contains it.
    achieved: Stratum,
}

impl GroupCoverage {
    /// The caller warrants that `achieved` contains `stratum`.
    pub(crate) fn new(stratum: Stratum, achieved: Stratum) -> Self {
        debug_assert!(achieved.contains(&stratum));
        Self { stratum, achieved }
    }

    /// The stratum that the threshold is for.
    pub fn stratum(&self) -> &Stratum {
        &self.stratum
    }

    /// The stratum whose calibration cases it came from.
    pub fn achieved(&self) -> &Stratum {
        &self.achieved
    }

    /// Whether coverage holds within the stratum itself.
    pub fn is_conditional(&self) -> bool {
        self.stratum == self.achieved
    }
}

impl fmt::Display for GroupCoverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.stratum)?;
        if !self.is_conditional() {
            write!(formatter, ", achieved over `{}`", self.achieved)?;
        }
        Ok(())
    }
}

impl TryFrom<Wire> for GroupCoverage {
    type Error = AchievedError;

    fn try_from(Wire { stratum, achieved }: Wire) -> Result<Self, AchievedError> {
        if achieved.contains(&stratum) {
            Ok(Self { stratum, achieved })
        } else {
            Err(AchievedError { stratum, achieved })
        }
    }
}

impl From<GroupCoverage> for Wire {
    fn from(GroupCoverage { stratum, achieved }: GroupCoverage) -> Self {
        Self { stratum, achieved }
    }
}

/// A stratum that is said to be covered by one that does not contain it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("group field `achieved`: `{achieved}` does not contain `{stratum}`")]
pub struct AchievedError {
    stratum: Stratum,
    achieved: Stratum,
}
