//! Ranks whose coverage holds for the calibration set at hand, not only on average.

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::clopper_pearson::{self, CountError};
use crate::delta::Delta;
use crate::guarantee::Guarantee;
use crate::representation::Misses;
use crate::score::CalibrationScore;

/// The training-conditional ("probably approximately correct") rank among n scores: the smallest k
/// with `P(Beta(k, n + 1 - k) < 1 - alpha) <= delta`, and n + 1 if there is none.
///
/// For independent scores of one continuous distribution that beta law is the coverage of the k-th
/// smallest score, given the calibration set (Vovk 2012, "Conditional validity of inductive
/// conformal predictors"); ties only raise it. So with probability at least `1 - delta` the set at
/// hand covers at least `1 - alpha`. A rank within n needs `n >= ln(delta) / ln(1 - alpha)`.
///
/// The same condition reads: the Clopper-Pearson upper bound at delta on a probability of which
/// `n - k` successes in n trials were seen is at most alpha. That bound is rounded outward, so the
/// rank never errs low.
///
/// # Errors
///
/// [`RankError::Count`] above [`clopper_pearson::MAX_TRIALS`] scores.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Alpha, Delta, ranks};
///
/// let (alpha, delta) = ("0.1".parse::<Alpha>()?, Delta::new(0.05)?);
/// assert_eq!(alpha.rank(1_000), 901);
/// assert_eq!(ranks::training_conditional(alpha, 1_000, delta)?, 916);
/// assert_eq!(ranks::training_conditional(alpha, 28, delta)?, 29); // above n: too few scores
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn training_conditional(alpha: Alpha, n: u64, delta: Delta) -> Result<u64, RankError> {
    Ok(most_losses(alpha, n, delta)?.map_or(n + 1, |losses| n - losses))
}

/// The largest x with `P(Bin(n, alpha) <= x) <= delta`; `None` if even x = 0 is too likely.
pub(crate) fn most_losses(alpha: Alpha, n: u64, delta: Delta) -> Result<Option<u64>, CountError> {
    // The probability of a loss is at most alpha whenever its upper bound is. The nearest double of
    // alpha is off by less than the bound is rounded outward.
    let level = alpha.to_f64();
    let proved = |losses| -> Result<bool, CountError> {
        Ok(clopper_pearson::upper_bound(losses, n, delta)? <= level)
    };
    if n == 0 {
        return Ok(None);
    }
    // With n losses the bound is 1.
    last_proved(n, proved)
}

/// The last number below `unproved` for which `proved` holds, found by bisection; `None` if it does not
/// hold for 0. It must hold up to some number and for none above, and not for `unproved`.
pub(crate) fn last_proved(
    unproved: u64,
    proved: impl Fn(u64) -> Result<bool, CountError>,
) -> Result<Option<u64>, CountError> {
    if !proved(0)? {
        return Ok(None);
    }
    let (mut low, mut high) = (0, unproved);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if proved(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(Some(low))
}

/// The simultaneous rank among n scores: `ceil(n (1 - alpha + sqrt(ln(1 / delta) / (2 n))))`, and
/// n + 1 if that exceeds n.
///
/// By the one-sided inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990),
/// with probability at least `1 - delta` over independent calibration scores the coverage is at
/// least `1 - alpha` for all alpha at once, so alpha may be chosen after seeing the scores.
///
/// # Errors
///
/// [`RankError::Delta`] if delta exceeds one half, where the inequality is not proved;
/// [`RankError::Count`] above [`clopper_pearson::MAX_TRIALS`] scores.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Delta, ranks};
///
/// let delta = Delta::new(0.05)?;
/// assert_eq!(ranks::simultaneous("0.1".parse()?, 1_000, delta)?, 939);
/// assert_eq!(ranks::simultaneous("0.1".parse()?, 100, delta)?, 101); // above n
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simultaneous(alpha: Alpha, n: u64, delta: Delta) -> Result<u64, RankError> {
    if delta.value() > 0.5 {
        return Err(RankError::Delta {
            input: delta.value().to_string(),
        });
    }
    if n > clopper_pearson::MAX_TRIALS {
        return Err(CountError::TooManyTrials { trials: n }.into());
    }
    // n alpha in integers and a fraction; the allowed losses are floor(n alpha - margin).
    let one = 10_u128.pow(u32::from(alpha.scale()));
    let product = u128::from(n) * u128::from(alpha.digits());
    let fraction = (product % one) as f64 / one as f64;
    let margin = (n as f64 * -libm::log(delta.value()) / 2.0).sqrt();
    // Both roundings are far below this, and a rank that is one too high is still valid.
    let rest = fraction - margin * (1.0 + 1e-14) - 1e-15;
    let losses = (product / one) as i128 + rest.floor() as i128;
    Ok(u64::try_from(losses).map_or(n + 1, |losses| n - losses.min(n)))
}

impl Calibration {
    /// Calibrates at the rank of [`training_conditional`]: with probability at least `1 - delta`
    /// this calibration set covers at least `1 - alpha`. The marginal rank falls short of that
    /// about every second time.
    ///
    /// # Errors
    ///
    /// Those of [`training_conditional`].
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Calibration, Delta, Misses, Score};
    ///
    /// let scores: Vec<_> =
    ///     (0..100).map(|i| Score::new(f64::from(i)).map(Into::into)).collect::<Result<_, _>>()?;
    /// let delta = Delta::new(0.05)?;
    /// let calibration =
    ///     Calibration::training_conditional("0.1".parse()?, delta, &scores, Misses::AsListed)?;
    /// assert_eq!(calibration.threshold().to_string(), "95"); // rank 96, and 91 if marginal
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn training_conditional(
        alpha: Alpha,
        delta: Delta,
        scores: &[CalibrationScore],
        misses: Misses,
    ) -> Result<Self, RankError> {
        let rank = training_conditional(alpha, scores.len() as u64, delta)?;
        let guarantee = Guarantee::TrainingConditional { delta };
        Ok(Self::at_rank(alpha, scores, misses, rank, guarantee))
    }

    /// Calibrates at the rank of [`simultaneous`]: with probability at least `1 - delta` all such
    /// thresholds of this calibration set cover at least their `1 - alpha`.
    ///
    /// # Errors
    ///
    /// Those of [`simultaneous`].
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Calibration, Delta, Misses};
    ///
    /// let delta = Delta::new(0.6)?;
    /// assert!(Calibration::simultaneous("0.1".parse()?, delta, &[], Misses::AsListed).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simultaneous(
        alpha: Alpha,
        delta: Delta,
        scores: &[CalibrationScore],
        misses: Misses,
    ) -> Result<Self, RankError> {
        let rank = simultaneous(alpha, scores.len() as u64, delta)?;
        let guarantee = Guarantee::Simultaneous { delta };
        Ok(Self::at_rank(alpha, scores, misses, rank, guarantee))
    }
}

/// Why there is no rank for these numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// Too many scores.
    #[error(transparent)]
    Count(#[from] CountError),
    /// A delta above one half for the simultaneous rank.
    #[error("delta `{input}` exceeds one half, where the simultaneous rank is not proved")]
    Delta {
        /// The delta as given.
        input: String,
    },
}
