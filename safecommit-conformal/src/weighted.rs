//! Weighted conformal calibration, for cases of another mix than the calibration cases.

mod fixed_point;
mod select;
mod table;

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::digest::Digest;
use crate::format::Format;
use crate::guarantee::Guarantee;
use crate::score::{CalibrationScore, Score};
use crate::source::Source;
use crate::threshold::Threshold;
use crate::weight::{EffectiveSize, Weight, WeightError};
use fixed_point::{Entry, Units};
pub use table::{WeightedPValue, WeightedTable};

/// Calibration scores, each with the weight of its case.
///
/// The weight is the density of the mix of cases to come relative to that of the calibration cases,
/// `w = dQ_X / dP_X`, up to one factor for all. A case to come has a weight too, and that mass lies
/// at infinity. The threshold is
///
/// `kappa = inf{t: sum_{s_i <= t} w_i >= (1 - alpha) (sum_i w_i + w)}`,
///
/// unbounded if there is no such score (Tibshirani, Foygel Barber, Candes and Ramdas 2019,
/// "Conformal prediction under covariate shift"). If w is known and only the mix of what the weight
/// depends on has changed, coverage is at least `1 - alpha` under the new mix. Estimated weights
/// cost at most the total variation between the mix that they describe and the true one.
///
/// The comparison is made in integers. Weights are scaled by a power of two so that the largest has
/// 53 bits; what falls below its last bit is rounded down where it counts as covered and up
/// elsewhere, so a threshold never errs low, sums do not depend on their order, and weights within
/// 53 bits of the largest, such as integers, are exact.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Score, Weight, WeightedScores};
///
/// let scores: Vec<_> =
///     (1..=9).map(|i| Score::new(f64::from(i)).map(Into::into)).collect::<Result<_, _>>()?;
/// let weights = [4.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 1.0]
///     .map(|weight| Weight::try_from(weight).unwrap());
/// let weighted = WeightedScores::new(&scores, &weights)?;
/// let calibration = weighted.calibrate("0.2".parse()?, Weight::ONE);
/// assert_eq!(calibration.threshold().to_string(), "7");
/// assert_eq!(
///     calibration.guarantee().to_string(),
///     "weighted (effective size 6.4, for cases of weight at most 1)"
/// );
/// // A case that alone weighs more than alpha of the whole: no threshold is enough.
/// let heavy = weighted.calibrate("0.2".parse()?, Weight::try_from(4.0)?);
/// assert!(heavy.threshold().is_unbounded());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct WeightedScores {
    scores: Vec<CalibrationScore>,
    /// One a score.
    weights: Vec<Weight>,
    /// What was subtracted from logarithms of weights; 0 for plain weights.
    log_offset: f64,
    entries: Vec<Entry>,
    units: Units,
    source: Source,
}

impl WeightedScores {
    /// Scores with the weights of their cases, in the same order.
    ///
    /// # Errors
    ///
    /// [`WeightError::Length`] if there are more of one than of the other.
    pub fn new(scores: &[CalibrationScore], weights: &[Weight]) -> Result<Self, WeightError> {
        Self::with_offset(scores.to_vec(), weights.to_vec(), 0.0)
    }

    /// Scores with the natural logarithms of the weights of their cases, in the same order. Minus
    /// infinity is the weight 0. The largest is subtracted before the exponential, so nothing
    /// overflows, and [`WeightedScores::calibrate_log`] takes the weight of a case in the same form.
    ///
    /// # Errors
    ///
    /// [`WeightError::LogWeight`] for NaN or plus infinity, [`WeightError::Length`] if there are
    /// more scores than logarithms or fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Score, WeightedScores};
    ///
    /// let scores = [0.1, 0.2, 0.3].map(|value| Score::new(value).unwrap().into());
    /// let weighted = WeightedScores::from_log_weights(&scores, &[5000.0; 3])?;
    /// let calibration = weighted.calibrate_log("0.25".parse()?, 5000.0)?;
    /// assert_eq!(calibration.threshold().to_string(), "0.3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_log_weights(
        scores: &[CalibrationScore],
        log_weights: &[f64],
    ) -> Result<Self, WeightError> {
        for log_weight in log_weights {
            check_log(*log_weight)?;
        }
        let largest = log_weights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let log_offset = if largest.is_finite() { largest } else { 0.0 };
        let weights = log_weights
            .iter()
            .map(|log_weight| Weight::try_from(libm::exp(log_weight - log_offset)))
            .collect::<Result<Vec<_>, _>>()?;
        Self::with_offset(scores.to_vec(), weights, log_offset)
    }

    fn with_offset(
        scores: Vec<CalibrationScore>,
        weights: Vec<Weight>,
        log_offset: f64,
    ) -> Result<Self, WeightError> {
        if scores.len() != weights.len() {
            return Err(WeightError::Length {
                scores: scores.len(),
                weights: weights.len(),
            });
        }
        let units = Units::of(&weights);
        let entries = scores
            .iter()
            .zip(&weights)
            .map(|(score, weight)| units.entry(*score, *weight))
            .collect();
        let missing = scores.iter().filter(|score| score.is_missing()).count() as u64;
        let source = Source {
            scores: digest_of(&scores, &weights),
            n: scores.len() as u64,
            missing,
            misses_counted: missing > 0,
        };
        Ok(Self {
            scores,
            weights,
            log_offset,
            entries,
            units,
            source,
        })
    }

    /// The scores, in the order given.
    pub fn scores(&self) -> &[CalibrationScore] {
        &self.scores
    }

    /// The weights in the same order, divided by the largest if they were given as logarithms.
    pub fn weights(&self) -> &[Weight] {
        &self.weights
    }

    /// Kish's effective sample size `(sum w)^2 / sum w^2`.
    pub fn effective_size(&self) -> EffectiveSize {
        EffectiveSize::of(&self.weights)
    }

    /// What a threshold for a case of the given weight promises, to it and to lighter ones.
    pub fn guarantee(&self, case: Weight) -> Guarantee {
        Guarantee::Weighted {
            effective_size: self.effective_size(),
            case_weight: case,
        }
    }

    /// Calibrates at level alpha for a case of the given weight, in linear time. For many cases
    /// use a [`WeightedTable`].
    ///
    /// The threshold is unbounded if no weight is positive, or if that of the case alone exceeds
    /// alpha of the whole.
    pub fn calibrate(&self, alpha: Alpha, case: Weight) -> Calibration {
        self.calibration(alpha, self.kappa(alpha, case), self.guarantee(case))
    }

    /// [`WeightedScores::calibrate`] for the logarithm of a weight.
    ///
    /// # Errors
    ///
    /// [`WeightError::LogWeight`] for NaN or plus infinity.
    pub fn calibrate_log(&self, alpha: Alpha, case: f64) -> Result<Calibration, WeightError> {
        check_log(case)?;
        let weight = libm::exp(case - self.log_offset);
        // A weight beyond all doubles is as good as the largest of them: no threshold is enough.
        let weight = Weight::try_from(weight.min(f64::MAX))?;
        Ok(self.calibrate(alpha, weight))
    }

    /// The threshold of [`WeightedScores::calibrate`] alone, under [`WeightedScores::guarantee`].
    pub fn threshold(&self, alpha: Alpha, case: Weight) -> Threshold {
        let kappa = self.kappa(alpha, case);
        Threshold::calibrated(kappa, alpha, self.guarantee(case), self.source)
    }

    /// The score of that threshold; `None` if it is unbounded.
    pub(crate) fn kappa(&self, alpha: Alpha, case: Weight) -> Option<Score> {
        let case = self.units.rounded_up(case);
        select::smallest_reaching(&self.entries, case, alpha).and_then(Score::from_key)
    }

    pub(crate) fn calibration(
        &self,
        alpha: Alpha,
        kappa: Option<Score>,
        guarantee: Guarantee,
    ) -> Calibration {
        let n = self.source.n;
        let rank = kappa.map_or(n + 1, |kappa| {
            let kappa = kappa.key();
            self.entries
                .iter()
                .filter(|entry| entry.key <= kappa)
                .count() as u64
        });
        Calibration::of(alpha, self.source, rank, kappa, guarantee)
    }

    /// SHA-256 of the scores and weights in the order given: for each case the eight bytes of its
    /// score as in [`Digest::of_scores`], then those of its weight.
    pub fn digest(&self) -> Digest {
        self.source.scores
    }
}

fn digest_of(scores: &[CalibrationScore], weights: &[Weight]) -> Digest {
    let cases = scores.iter().zip(weights);
    Digest::of_words(cases.flat_map(|(score, weight)| {
        let score = score
            .observed()
            .map_or(u64::MAX, |score| score.value().to_bits());
        [score, weight.value().to_bits()]
    }))
}

fn check_log(log_weight: f64) -> Result<(), WeightError> {
    if log_weight < f64::INFINITY {
        Ok(())
    } else {
        Err(WeightError::LogWeight {
            input: log_weight.to_string(),
        })
    }
}

/// Weighted scores as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: Format<1>,
    scores: Vec<CalibrationScore>,
    weights: Vec<Weight>,
    log_offset: Score,
}

impl From<WeightedScores> for Wire {
    fn from(weighted: WeightedScores) -> Self {
        Self {
            format: Format,
            scores: weighted.scores,
            weights: weighted.weights,
            log_offset: Score::new(weighted.log_offset).unwrap_or(Score::ZERO),
        }
    }
}

impl TryFrom<Wire> for WeightedScores {
    type Error = WeightError;

    fn try_from(wire: Wire) -> Result<Self, WeightError> {
        Self::with_offset(wire.scores, wire.weights, wire.log_offset.value())
    }
}
