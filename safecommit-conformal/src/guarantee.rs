//! What a threshold promises.

mod group;
mod loss;
mod text;

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::delta::Delta;
use crate::digest::Digest;
use crate::ranks;
use crate::weight::{EffectiveSize, MassShare, Weight};
pub use group::{AchievedError, GroupCoverage};
pub use loss::{ControlledLoss, LossShape, RiskTest};
pub(crate) use text::counted;

/// What a calibrated threshold promises, and under which assumption. Alpha is the level of the
/// [`Calibration`](crate::Calibration) that carries this.
///
/// On the wire externally tagged: `"marginal"`, `{"training_conditional": {"delta": 0.05}}`.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Delta, Guarantee};
///
/// assert_eq!(Guarantee::Marginal.to_string(), "marginal");
/// let guarantee = Guarantee::TrainingConditional { delta: Delta::new(0.05)? };
/// assert_eq!(guarantee.to_string(), "training-conditional (delta 0.05)");
/// # Ok::<(), safecommit_conformal::DeltaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
    /// With probability at least `1 - delta` over the calibration set, its own coverage is at
    /// least `1 - alpha`; for independent, identically distributed cases.
    TrainingConditional {
        /// The probability that this calibration set falls short.
        delta: Delta,
    },
    /// With probability at least `1 - delta` over the calibration set, the coverage is at least
    /// `1 - alpha` for every alpha at once, one chosen after seeing the scores included; for
    /// independent, identically distributed cases.
    Simultaneous {
        /// The probability that this calibration set falls short for some alpha.
        delta: Delta,
    },
    /// Marginal within one group of cases, or within the larger one that its calibration fell back
    /// to.
    Group(GroupCoverage),
    /// Marginal within one group and over all cases too: the threshold is the larger of both.
    GroupAndPool(GroupCoverage),
    /// `P(s <= kappa) >= 1 - alpha` for cases of another mix, whose density relative to that of
    /// the calibration cases is the weight; weights that are estimated cost at most the total
    /// variation between the mix that they describe and the true one.
    ///
    /// It is for cases of at most one weight: the more a case weighs, the higher its threshold has to be.
    Weighted {
        /// How many equally weighted cases carry as much information.
        effective_size: EffectiveSize,
        /// The most that a case to come may weigh, in the unit of
        /// [`WeightedScores::weights`](crate::WeightedScores::weights).
        case_weight: Weight,
    },
    /// `P(s <= kappa) >= 1 - alpha - sum_i w~_i TV_i` for weights fixed in advance, where `TV_i` is
    /// the total variation between the data and the data with case i and the next one exchanged.
    /// The gap is at most the calibration mass times the largest of these distances.
    NonExchangeable {
        /// How many equally weighted cases carry as much information.
        effective_size: EffectiveSize,
        /// The sum of the normalised weights `w~_i` of the calibration cases; the rest of the mass
        /// is at infinity.
        calibration_mass: MassShare,
    },
    /// The expected loss of the next case is at most alpha, for exchangeable cases that are decided by the
    /// policy whose loss it is.
    RiskControl {
        /// The loss itself or what bounds it.
        loss: LossShape,
        /// Whose loss.
        of: ControlledLoss,
    },
    /// With probability at least `1 - delta` over the calibration set, the expected loss is at
    /// most alpha; for independent, identically distributed cases that are decided by the policy whose
    /// loss it is, and any shape of loss.
    LearnThenTest {
        /// The probability that this calibration set yields a threshold of higher risk.
        delta: Delta,
        /// The test behind it.
        test: RiskTest,
        /// Whose loss.
        of: ControlledLoss,
    },
    /// As marginal, through Markov's inequality for conformal e-values; and it stays valid, in the
    /// sense that `E[1{miss} / alpha] <= 1`, for an alpha chosen after seeing everything.
    EValue,
}

impl Guarantee {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Marginal => "marginal",
            Self::TrainingConditional { .. } => "training_conditional",
            Self::Simultaneous { .. } => "simultaneous",
            Self::Group(_) => "group",
            Self::GroupAndPool(_) => "group_and_pool",
            Self::Weighted { .. } => "weighted",
            Self::NonExchangeable { .. } => "non_exchangeable",
            Self::RiskControl { .. } => "risk_control",
            Self::LearnThenTest { .. } => "learn_then_test",
            Self::EValue => "e_value",
        }
    }

    /// Whether alpha alone bounds the error, given the assumptions, for decisions by the
    /// [`policy`](Self::policy) if it is for one. Otherwise a gap comes on top that depends on how far the
    /// cases are from exchangeable, which scores cannot tell; or the loss is that of a policy that nobody
    /// stated.
    pub fn alpha_bounds_the_error(&self) -> bool {
        let stated = self.controlled_loss() != Some(ControlledLoss::Unstated);
        stated && !matches!(self, Self::NonExchangeable { .. })
    }

    /// The policy whose decisions alone it is for; `None` if it does not depend on the policy, or if nobody
    /// stated which it is.
    pub fn policy(&self) -> Option<Digest> {
        match self.controlled_loss() {
            Some(ControlledLoss::Policy(policy)) => Some(policy),
            _ => None,
        }
    }

    /// Whose loss it bounds, if it is about a loss.
    pub fn controlled_loss(&self) -> Option<ControlledLoss> {
        match *self {
            Self::RiskControl { of, .. } | Self::LearnThenTest { of, .. } => Some(of),
            _ => None,
        }
    }

    /// Whether the cases to come are taken to be like the calibration cases, so that what was counted
    /// among these speaks for those. With weights they are of another mix.
    pub fn assumes_like_cases(&self) -> bool {
        !matches!(self, Self::Weighted { .. } | Self::NonExchangeable { .. })
    }

    /// The only rank that n scores can have at this level under this guarantee; `None` if it
    /// depends on more than n. The inner error is that of an impossible n or delta.
    pub(crate) fn expected_rank(
        &self,
        alpha: Alpha,
        n: u64,
    ) -> Option<Result<u64, ranks::RankError>> {
        match *self {
            Self::Marginal | Self::Group(_) | Self::GroupAndPool(_) | Self::RiskControl { .. } => {
                Some(Ok(alpha.rank(n)))
            }
            Self::TrainingConditional { delta }
            | Self::LearnThenTest {
                delta,
                test: RiskTest::Binomial,
                ..
            } => Some(ranks::training_conditional(alpha, n, delta)),
            Self::Simultaneous { delta } => Some(ranks::simultaneous(alpha, n, delta)),
            Self::LearnThenTest { .. }
            | Self::Weighted { .. }
            | Self::NonExchangeable { .. }
            | Self::EValue => None,
        }
    }

    /// Whether the threshold is the score of the calibration's rank, and unbounded exactly when
    /// that rank exceeds the observed scores.
    pub(crate) fn is_order_statistic(&self) -> bool {
        !matches!(self, Self::RiskControl { .. } | Self::LearnThenTest { .. })
    }
}
