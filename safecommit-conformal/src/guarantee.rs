//! What a threshold promises.

mod group;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::delta::Delta;
use crate::ranks;
use crate::weight::{EffectiveSize, MassShare};
pub use group::{AchievedError, GroupCoverage};

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
    Weighted {
        /// How many equally weighted cases carry as much information.
        effective_size: EffectiveSize,
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
    /// The expected loss of the next case is at most alpha, for exchangeable cases.
    RiskControl {
        /// Which loss.
        loss: LossShape,
    },
    /// With probability at least `1 - delta` over the calibration set, the expected loss is at
    /// most alpha; for independent, identically distributed cases and any shape of loss.
    LearnThenTest {
        /// The probability that this calibration set yields a threshold of higher risk.
        delta: Delta,
        /// The test behind it.
        test: RiskTest,
    },
    /// As marginal, through Markov's inequality for conformal e-values; and it stays valid, in the
    /// sense that `E[1{miss} / alpha] <= 1`, for an alpha chosen after seeing everything.
    EValue,
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

    /// Whether alpha alone bounds the error, given the assumptions. Otherwise a gap comes on top
    /// that depends on how far the cases are from exchangeable, which scores cannot tell.
    pub fn alpha_bounds_the_error(&self) -> bool {
        !matches!(self, Self::NonExchangeable { .. })
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

    /// An unambiguous text of all that is in it, for the checksum of a calibration.
    pub(crate) fn canonical(&self) -> String {
        let name = self.name();
        match self {
            Self::Marginal | Self::EValue => name.to_owned(),
            Self::TrainingConditional { delta } | Self::Simultaneous { delta } => {
                format!("{name} delta={}", delta.value())
            }
            Self::Group(group) | Self::GroupAndPool(group) => format!(
                "{name} stratum={:?} achieved={:?}",
                group.stratum().to_path(),
                group.achieved().to_path()
            ),
            Self::Weighted { effective_size } => {
                format!("{name} effective_size={effective_size}")
            }
            Self::NonExchangeable {
                effective_size,
                calibration_mass,
            } => format!(
                "{name} effective_size={effective_size} calibration_mass={calibration_mass}"
            ),
            Self::RiskControl { loss } => format!("{name} loss={}", loss.name()),
            Self::LearnThenTest { delta, test } => {
                format!("{name} delta={} test={}", delta.value(), test.name())
            }
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marginal => formatter.pad("marginal"),
            Self::TrainingConditional { delta } => {
                write!(formatter, "training-conditional (delta {})", delta.value())
            }
            Self::Simultaneous { delta } => {
                write!(formatter, "simultaneous (delta {})", delta.value())
            }
            Self::Group(group) => write!(formatter, "group ({group})"),
            Self::GroupAndPool(group) => write!(
                formatter,
                "group and pool (`{}`, bound by `{}`)",
                group.stratum(),
                group.achieved()
            ),
            Self::Weighted { effective_size } => {
                write!(formatter, "weighted (effective size {effective_size:.1})")
            }
            Self::NonExchangeable {
                effective_size,
                calibration_mass,
            } => write!(
                formatter,
                "non-exchangeable (effective size {effective_size:.1}, gap at most \
                 {calibration_mass:.4} times the largest total variation)"
            ),
            Self::RiskControl { loss } => match loss {
                LossShape::Monotone => formatter.pad("risk-control"),
                LossShape::Envelope => formatter.pad("risk-control (envelope of the loss)"),
            },
            Self::LearnThenTest { delta, test } => {
                let test = match test {
                    RiskTest::Binomial => "exact binomial test",
                    RiskTest::HoeffdingBentkus => "Hoeffding-Bentkus test",
                };
                write!(
                    formatter,
                    "learn-then-test (delta {}, {test})",
                    delta.value()
                )
            }
            Self::EValue => formatter.pad("e-value"),
        }
    }
}
