//! Weights fixed in advance for cases that may drift.

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::guarantee::Guarantee;
use crate::score::CalibrationScore;
use crate::weight::{MassShare, Weight, WeightError};
use crate::weighted::WeightedScores;

/// Calibration scores with weights in [0, 1] that say how far each case is trusted to be like the
/// next one, whose weight is 1.
///
/// The weights must be fixed without looking at the data, for example by age. With the normalised
/// weights `w~_i = w_i / (1 + sum_j w_j)` and the remaining mass `1 / (1 + sum_j w_j)` at infinity,
/// the threshold is their `1 - alpha` quantile, and coverage is at least
///
/// `1 - alpha - sum_i w~_i TV_i`,
///
/// where `TV_i` is the total variation between the data and the data with case i and the next one
/// exchanged (Foygel Barber, Candes, Ramdas and Tibshirani 2023, "Conformal prediction beyond
/// exchangeability", Annals of Statistics 51(2), Theorem 2). These distances are not known from
/// scores; [`NonExchangeable::gap`] takes assumed ones. For exchangeable cases the gap is 0.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{NonExchangeable, Score};
///
/// let scores = [0.1, 0.35, 0.2, 0.55, 0.4, 0.6, 0.15, 0.8, 0.7]
///     .map(|value| Score::new(value).unwrap().into());
/// let recent = NonExchangeable::with_decay(&scores, 0.9)?;
/// assert_eq!(recent.calibrate("0.3".parse()?).threshold().to_string(), "0.7");
/// assert!((recent.gap(&[0.05; 9])? - 0.042_323_300_336).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WeightedScores", into = "WeightedScores")]
pub struct NonExchangeable {
    /// With plain weights of at most 1.
    weighted: WeightedScores,
}

impl NonExchangeable {
    /// Scores with the weights of their cases, in the same order.
    ///
    /// # Errors
    ///
    /// [`WeightError::AboveOne`], or [`WeightError::Length`] if there are more of one than of the
    /// other.
    pub fn new(scores: &[CalibrationScore], weights: &[Weight]) -> Result<Self, WeightError> {
        WeightedScores::new(scores, weights)?.try_into()
    }

    /// Scores from the oldest to the newest, with the weights `decay^(n + 1 - i)` for the i-th.
    ///
    /// # Errors
    ///
    /// [`WeightError::Decay`] unless `0 < decay <= 1`.
    pub fn with_decay(scores: &[CalibrationScore], decay: f64) -> Result<Self, WeightError> {
        if !(decay > 0.0 && decay <= 1.0) {
            return Err(WeightError::Decay {
                input: decay.to_string(),
            });
        }
        let mut weight = 1.0;
        let mut weights = Vec::with_capacity(scores.len());
        for _ in scores {
            weight *= decay;
            weights.push(Weight::try_from(weight)?);
        }
        weights.reverse();
        Self::new(scores, &weights)
    }

    /// Calibrates at level alpha, in linear time.
    pub fn calibrate(&self, alpha: Alpha) -> Calibration {
        let total = 1.0 + self.total();
        let guarantee = Guarantee::NonExchangeable {
            effective_size: self.weighted.effective_size(),
            calibration_mass: MassShare::nearest(self.total() / total),
        };
        let kappa = self.weighted.kappa(alpha, Weight::ONE);
        self.weighted.calibration(alpha, kappa, guarantee)
    }

    /// The normalised weights `w~_i` of the calibration cases in their order.
    pub fn normalised_weights(&self) -> Vec<f64> {
        let total = 1.0 + self.total();
        let weights = self.weighted.weights().iter();
        weights.map(|weight| weight.value() / total).collect()
    }

    /// How much coverage may fall short of `1 - alpha` if these were the total variation distances
    /// of the cases, in their order: `sum_i w~_i TV_i`, from 0 to 1.
    ///
    /// # Errors
    ///
    /// [`WeightError::TotalVariation`] for a number outside [0, 1], [`WeightError::Length`] unless
    /// there is one a case.
    pub fn gap(&self, total_variations: &[f64]) -> Result<f64, WeightError> {
        let weights = self.normalised_weights();
        if weights.len() != total_variations.len() {
            return Err(WeightError::Length {
                scores: weights.len(),
                weights: total_variations.len(),
            });
        }
        let mut gap = 0.0;
        for (weight, distance) in weights.iter().zip(total_variations) {
            if !(0.0..=1.0).contains(distance) {
                return Err(WeightError::TotalVariation {
                    input: distance.to_string(),
                });
            }
            gap += weight * distance;
        }
        Ok(gap.min(1.0))
    }

    fn total(&self) -> f64 {
        self.weighted
            .weights()
            .iter()
            .map(|weight| weight.value())
            .sum()
    }
}

impl TryFrom<WeightedScores> for NonExchangeable {
    type Error = WeightError;

    fn try_from(weighted: WeightedScores) -> Result<Self, WeightError> {
        match weighted
            .weights()
            .iter()
            .find(|weight| weight.value() > 1.0)
        {
            Some(weight) => Err(WeightError::AboveOne {
                input: weight.to_string(),
            }),
            None => Ok(Self { weighted }),
        }
    }
}

impl From<NonExchangeable> for WeightedScores {
    fn from(weights: NonExchangeable) -> Self {
        weights.weighted
    }
}
