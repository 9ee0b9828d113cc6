//! Losses as step functions of the threshold.

mod curve;
mod sweep;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::format::Format;
use crate::guarantee::{ControlledLoss, LossShape};
use crate::score::{CalibrationScore, Score};
pub use curve::RiskCurve;

/// The losses of the calibration cases, each as a function of the threshold, in integers: a loss of
/// `scale` is the largest there can be, and counts as 1.
///
/// A loss only changes where the threshold passes a score of the case's own worlds. The functions
/// are kept with those exact breakpoints, not on a grid.
///
/// A loss of acting is that of one policy, and a threshold that bounds it bounds no other's: say which with
/// [`RiskCurves::of_policy`].
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{RiskCurve, RiskCurves, Score};
///
/// // Safe below 0.1, unsafe from 0.1, safe again from 0.6.
/// let [low, high] = [0.1, 0.6].map(|value| Score::new(value).unwrap());
/// let curve = RiskCurve::new(0, [(low, 1), (high, 0)])?;
/// let curves = RiskCurves::binary(vec![curve])?;
/// assert!(!curves.is_monotone());
/// assert!(curves.envelope().is_monotone());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct RiskCurves {
    /// At least 1.
    scale: u32,
    /// No loss exceeds the scale.
    curves: Vec<RiskCurve>,
    shape: LossShape,
    /// The coverage loss only if every curve is one.
    of: ControlledLoss,
    /// At most the number of curves; `None` if not counted.
    missing: Option<u64>,
}

impl RiskCurves {
    /// Losses from 0 to `scale`.
    ///
    /// # Errors
    ///
    /// [`RiskError::Scale`] if the scale is 0, [`RiskError::Loss`] for a loss above the scale.
    pub fn new(scale: u32, curves: Vec<RiskCurve>) -> Result<Self, RiskError> {
        if scale == 0 {
            return Err(RiskError::Scale);
        }
        for (case, curve) in curves.iter().enumerate() {
            let loss = curve.largest();
            if loss > scale {
                return Err(RiskError::Loss { case, loss, scale });
            }
        }
        Ok(Self {
            scale,
            curves,
            shape: LossShape::Monotone,
            of: ControlledLoss::Unstated,
            missing: None,
        })
    }

    /// Losses of 0 or 1.
    ///
    /// # Errors
    ///
    /// [`RiskError::Loss`] for a larger one.
    pub fn binary(curves: Vec<RiskCurve>) -> Result<Self, RiskError> {
        Self::new(1, curves)
    }

    /// The coverage loss of each case: 1 while the true world is not retained.
    pub fn coverage(scores: &[CalibrationScore]) -> Self {
        let missing = scores.iter().filter(|score| score.is_missing()).count() as u64;
        Self {
            scale: 1,
            curves: scores.iter().copied().map(RiskCurve::coverage).collect(),
            shape: LossShape::Monotone,
            of: ControlledLoss::Coverage,
            missing: (missing > 0).then_some(missing),
        }
    }

    /// The same losses, with the statement that the true world of so many of the cases was not
    /// proposed, and that such cases were not left out.
    ///
    /// # Errors
    ///
    /// [`RiskError::Missing`] if that exceeds the number of cases.
    pub fn with_missing(mut self, missing: u64) -> Result<Self, RiskError> {
        let cases = self.cases();
        if missing > cases {
            return Err(RiskError::Missing { missing, cases });
        }
        self.missing = Some(missing);
        Ok(self)
    }

    /// The same losses, with the statement that the policy with this digest has them: a threshold that bounds
    /// them is for its decisions alone. Without the statement a threshold bounds the decisions of nobody
    /// ([`Guarantee::alpha_bounds_the_error`](crate::Guarantee::alpha_bounds_the_error) is false), unless
    /// the loss is that of [`RiskCurves::coverage`].
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Calibration, Digest, RiskCurve, RiskCurves};
    ///
    /// let curves = RiskCurves::binary(vec![RiskCurve::new(0, [])?; 99])?;
    /// let of = |curves: &RiskCurves| Calibration::risk_controlled("0.05".parse().unwrap(), curves);
    /// assert!(!of(&curves)?.guarantee().alpha_bounds_the_error());
    ///
    /// let policy = Digest::of_bytes(b"at most two probes");
    /// let calibration = of(&curves.of_policy(policy))?;
    /// assert!(calibration.guarantee().alpha_bounds_the_error());
    /// assert_eq!(calibration.guarantee().policy(), Some(policy));
    /// # Ok::<(), safecommit_conformal::RiskError>(())
    /// ```
    #[must_use]
    pub fn of_policy(mut self, policy: Digest) -> Self {
        self.of = ControlledLoss::Policy(policy);
        self
    }

    /// Whose losses they are.
    pub fn controlled_loss(&self) -> ControlledLoss {
        self.of
    }

    /// The upper envelope of each function: the largest loss at this threshold or any above,
    /// `sup over k' >= k of L(k')`, which never increases and is never below the loss itself. A
    /// threshold that controls it controls the loss.
    #[must_use]
    pub fn envelope(&self) -> Self {
        Self {
            curves: self.curves.iter().map(RiskCurve::envelope).collect(),
            shape: LossShape::Envelope,
            ..*self
        }
    }

    /// Whether no loss increases with the threshold.
    pub fn is_monotone(&self) -> bool {
        self.curves.iter().all(RiskCurve::is_monotone)
    }

    /// The number of cases.
    pub fn cases(&self) -> u64 {
        self.curves.len() as u64
    }

    /// The loss that counts as 1.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// The functions, one a case.
    pub fn curves(&self) -> &[RiskCurve] {
        &self.curves
    }

    pub(crate) fn shape(&self) -> LossShape {
        self.shape
    }

    pub(crate) fn missing(&self) -> Option<u64> {
        self.missing
    }

    /// SHA-256 of the functions in the order given, each as its first loss, number of breakpoints,
    /// and then for each breakpoint the bits of its score and the loss from there on, as eight
    /// bytes each.
    pub fn digest(&self) -> Digest {
        Digest::of_words(self.curves.iter().flat_map(RiskCurve::words))
    }
}

/// Losses as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: Format<2>,
    scale: u32,
    shape: LossShape,
    of: ControlledLoss,
    #[serde(deserialize_with = "crate::wire::present")]
    missing: Option<u64>,
    curves: Vec<RiskCurve>,
}

impl From<RiskCurves> for Wire {
    fn from(curves: RiskCurves) -> Self {
        Self {
            format: Format,
            scale: curves.scale,
            shape: curves.shape,
            of: curves.of,
            missing: curves.missing,
            curves: curves.curves,
        }
    }
}

impl TryFrom<Wire> for RiskCurves {
    type Error = RiskError;

    fn try_from(wire: Wire) -> Result<Self, RiskError> {
        let mut curves = Self::new(wire.scale, wire.curves)?;
        if let Some(missing) = wire.missing {
            curves = curves.with_missing(missing)?;
        }
        if wire.of == ControlledLoss::Coverage {
            let other = |curve: &RiskCurve| curves.scale != 1 || !curve.is_coverage();
            if let Some(case) = curves.curves.iter().position(other) {
                return Err(RiskError::NotCoverage { case });
            }
        }
        curves.of = wire.of;
        if wire.shape == LossShape::Envelope {
            if let Some(case) = curves.first_increase() {
                return Err(RiskError::NotMonotone { case });
            }
            curves.shape = LossShape::Envelope;
        }
        Ok(curves)
    }
}

/// Why losses yield no threshold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RiskError {
    /// A scale of 0.
    #[error("the scale of losses is `0`")]
    Scale,
    /// A loss above the scale.
    #[error("the loss `{loss}` of case `{case}`, counted from 0, exceeds the scale `{scale}`")]
    Loss {
        /// The case, counted from 0.
        case: usize,
        /// Its loss.
        loss: u32,
        /// The scale.
        scale: u32,
    },
    /// Breakpoints out of order, or one twice.
    #[error("breakpoint `{breakpoint}` is not above the one before it")]
    Breakpoints {
        /// The breakpoint.
        breakpoint: Score,
    },
    /// More missing cases than cases.
    #[error("`{missing}` missing cases exceed the `{cases}` cases")]
    Missing {
        /// As given.
        missing: u64,
        /// The number of cases.
        cases: u64,
    },
    /// A loss that increases with the threshold, where that is not allowed.
    #[error(
        "the loss of case `{case}`, counted from 0, increases with the threshold: take the envelope"
    )]
    NotMonotone {
        /// The case, counted from 0.
        case: usize,
    },
    /// A loss that is said to be the coverage loss and is not.
    #[error("the loss of case `{case}`, counted from 0, is not the coverage loss of any score")]
    NotCoverage {
        /// The case, counted from 0.
        case: usize,
    },
    /// Losses other than 0 and 1 where counts are needed.
    #[error("losses with scale `{scale}` are not 0 or 1")]
    NotBinary {
        /// The scale.
        scale: u32,
    },
    /// Even an unbounded threshold has losses, and more than the level allows.
    #[error("no threshold attains the level: losses sum to `{losses}` even where all is retained")]
    Unattainable {
        /// The sum of the losses at the unbounded threshold, in units of the scale.
        losses: u64,
    },
    /// More cases than the tests support.
    #[error(transparent)]
    Count(#[from] crate::clopper_pearson::CountError),
}
