//! The losses that risk control and Learn-then-Test bound, and the tests behind them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Whose loss a threshold bounds, which says what may be decided under it.
///
/// The loss of acting at a threshold is that of *one* policy: with another budget, another rule of probing
/// or other weights the same threshold leads to other actions, and nothing is known of those. The coverage
/// loss is the exception: whatever is done with a plausible set, an unsafe action that is safe in all of it
/// needs a true world outside, so its bound holds for every policy.
///
/// On the wire `"coverage"`, `{"policy": "<digest>"}` or `"unstated"`.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{ControlledLoss, Digest, RiskCurve, RiskCurves};
///
/// let curves = RiskCurves::binary(vec![RiskCurve::new(0, [])?])?;
/// assert_eq!(curves.controlled_loss(), ControlledLoss::Unstated);
/// let policy = Digest::of_bytes(b"at most two probes");
/// assert_eq!(curves.of_policy(policy).controlled_loss(), ControlledLoss::Policy(policy));
/// # Ok::<(), safecommit_conformal::RiskError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ControlledLoss {
    /// The coverage loss: 1 while the true world is not retained. It bounds every policy.
    Coverage,
    /// The loss of the policy with this digest, and of no other.
    Policy(Digest),
    /// The loss of a policy that nobody stated: it bounds no decision that can be told.
    Unstated,
}

/// The loss that a threshold from conformal risk control bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum LossShape {
    /// The loss itself, which never increases with the threshold.
    Monotone,
    /// The largest loss at this threshold or any above it, which bounds a loss that may increase.
    Envelope,
}

/// The test that decides whether the risk at a threshold is proved to be at most alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum RiskTest {
    /// The exact binomial test, for losses of 0 or 1.
    Binomial,
    /// The smaller of Hoeffding's and Bentkus' bound, for losses from 0 to 1.
    HoeffdingBentkus,
}

impl ControlledLoss {
    /// An unambiguous text, for the checksum of a calibration.
    pub(super) fn canonical(self) -> String {
        match self {
            Self::Coverage => "coverage".to_owned(),
            Self::Policy(policy) => format!("policy:{policy}"),
            Self::Unstated => "unstated".to_owned(),
        }
    }
}

impl fmt::Display for ControlledLoss {
    /// A policy by the first twelve digits of its digest.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coverage => formatter.write_str("the coverage loss"),
            Self::Policy(policy) => {
                write!(formatter, "the loss of policy {:.12}", policy.to_string())
            }
            Self::Unstated => formatter.write_str("the loss of a policy that is not stated"),
        }
    }
}

impl LossShape {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monotone => "monotone",
            Self::Envelope => "envelope",
        }
    }
}

impl RiskTest {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binomial => "binomial",
            Self::HoeffdingBentkus => "hoeffding_bentkus",
        }
    }
}
