//! Scores made comparable across groups, with groups of few cases drawn towards the whole.

mod folds;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::format::Format;
use crate::representation::Misses;
use crate::score::{CalibrationScore, Score};
use crate::stratum::Stratum;
pub use folds::{CalibrationFold, FittingFold, Folds};

/// An offset and a scale for each group, fitted on a fold of its own.
///
/// `s' = (s - offset_g) / scale_g`. With group means `m_g` of `n_g` cases, pooled variance `v`
/// within groups and grand mean `m`, offsets are of the James-Stein kind (Efron and Morris 1973,
/// "Stein's estimation rule and its competitors"): `offset_g = m + t / (t + v / n_g) (m_g - m)`
/// with `t = max(0, mean of (m_g - m)^2, divisor G - 1, less the mean of v / n_g)`. Logarithms of
/// standard deviations are shrunk alike, with `1 / (2 (n_g - 1))` for `v / n_g`. A group without
/// fitting cases has the grand mean and the pooled scale.
///
/// One quantile of the transformed scores of the other fold then serves all groups. Coverage over
/// all cases is at least `1 - alpha`, whatever the fit, since the transformation does not depend on
/// the calibration fold; coverage within groups is improved, but nothing is guaranteed.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Folds, LoggedSeed, Misses, Score, Shrinkage, Stratum};
///
/// let (low, high): (Stratum, Stratum) = ("low".parse()?, "high".parse()?);
/// let cases = (0..200).map(|i| {
///     let (stratum, base) = if i % 2 == 0 { (&low, 0.0) } else { (&high, 1000.0) };
///     let score = Score::new(base + f64::from(i / 2)).unwrap().into();
///     (format!("case-{i}"), stratum.clone(), score)
/// });
/// let folds = Folds::split(&LoggedSeed::new("fold"), cases);
/// let shrinkage = Shrinkage::fit(&folds.fitting);
/// let shrunk = shrinkage.calibrate("0.1".parse()?, &folds.calibration, Misses::AsListed);
/// assert!(shrunk.retains(&low, Score::new(50.0)?) && !shrunk.retains(&low, Score::new(500.0)?));
/// assert!(shrunk.retains(&high, Score::new(1050.0)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shrinkage {
    format: Format<1>,
    /// For a group that the fitting fold lacks.
    pooled: Transformation,
    groups: BTreeMap<Stratum, Transformation>,
}

/// `s' = (s - offset) / scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Transformation {
    offset: Score,
    scale: Scale,
}

/// A positive number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
struct Scale(f64);

/// A scale that is not a positive number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("scale `{input}` is not a positive finite number")]
struct ScaleError {
    input: String,
}

impl TryFrom<f64> for Scale {
    type Error = ScaleError;

    fn try_from(value: f64) -> Result<Self, ScaleError> {
        if value.is_normal() && value > 0.0 {
            Ok(Self(value))
        } else {
            Err(ScaleError {
                input: value.to_string(),
            })
        }
    }
}

impl From<Scale> for f64 {
    fn from(scale: Scale) -> Self {
        scale.0
    }
}

impl Transformation {
    fn new(offset: f64, scale: f64) -> Self {
        Self {
            offset: clamped(offset),
            scale: Scale::try_from(scale).unwrap_or(Scale(1.0)),
        }
    }

    fn apply(self, score: Score) -> Score {
        clamped((score.value() - self.offset.value()) / self.scale.0)
    }
}

/// The nearest score, 0 for NaN. Clamping keeps the order, and is the same for calibration cases
/// and for later ones, so it costs no validity.
fn clamped(value: f64) -> Score {
    Score::new(value.clamp(-f64::MAX, f64::MAX)).unwrap_or(Score::ZERO)
}

impl Shrinkage {
    /// Fits offsets and scales. Missing scores take no part.
    pub fn fit(fold: &FittingFold) -> Self {
        let mut scores: BTreeMap<&Stratum, Vec<f64>> = BTreeMap::new();
        for (stratum, score) in fold.cases() {
            if let Some(score) = score.observed() {
                scores.entry(stratum).or_default().push(score.value());
            }
        }
        let sizes: Vec<f64> = scores.values().map(|group| group.len() as f64).collect();
        let means: Vec<f64> = scores.values().map(|group| mean(group)).collect();
        let all: Vec<f64> = scores.values().flatten().copied().collect();
        let squares: Vec<f64> = scores
            .values()
            .zip(&means)
            .map(|(group, mean)| group.iter().map(|s| (s - mean) * (s - mean)).sum())
            .collect();
        // Degrees of freedom within groups.
        let freedom = all.len() as f64 - sizes.len() as f64;
        let variance = if freedom > 0.0 {
            squares.iter().sum::<f64>() / freedom
        } else {
            0.0
        };
        let noise: Vec<f64> = sizes.iter().map(|size| variance / size).collect();
        let offsets = shrink(&means, &noise, mean(&all));

        let pooled = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let spread = |(square, size): (&f64, &f64)| {
            let own = square / (size - 1.0);
            // One case, or equal scores: nothing of its own.
            if *size > 1.0 && own > 0.0 {
                (libm::log(own) / 2.0, 1.0 / (2.0 * (size - 1.0)))
            } else {
                (libm::log(pooled), f64::INFINITY)
            }
        };
        let (spreads, noise): (Vec<f64>, Vec<f64>) = squares.iter().zip(&sizes).map(spread).unzip();
        let spreads = shrink(&spreads, &noise, libm::log(pooled));

        let groups = scores.keys().zip(offsets.iter().zip(&spreads));
        Self {
            format: Format,
            pooled: Transformation::new(mean(&all), pooled),
            groups: groups
                .map(|(stratum, (offset, spread))| {
                    let transformation = Transformation::new(*offset, libm::exp(*spread));
                    ((*stratum).clone(), transformation)
                })
                .collect(),
        }
    }

    /// The transformed score of a case. Strictly increasing in the score but for rounding.
    pub fn transform(&self, stratum: &Stratum, score: Score) -> Score {
        self.groups
            .get(stratum)
            .unwrap_or(&self.pooled)
            .apply(score)
    }

    /// Calibrates one quantile of the transformed scores of the other fold.
    pub fn calibrate(
        self,
        alpha: Alpha,
        fold: &CalibrationFold,
        misses: Misses,
    ) -> ShrunkCalibration {
        let transformed: Vec<CalibrationScore> = fold
            .cases()
            .iter()
            .map(|(stratum, score)| match score {
                CalibrationScore::Observed(score) => self.transform(stratum, *score).into(),
                CalibrationScore::Missing => CalibrationScore::Missing,
            })
            .collect();
        ShrunkCalibration {
            calibration: Calibration::split_conformal_with(alpha, &transformed, misses),
            shrinkage: self,
        }
    }
}

/// A calibration in transformed scores, with the transformation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShrunkCalibration {
    shrinkage: Shrinkage,
    calibration: Calibration,
}

impl ShrunkCalibration {
    /// Whether a world of this score stays plausible in a case of this stratum.
    pub fn retains(&self, stratum: &Stratum, score: Score) -> bool {
        let transformed = self.shrinkage.transform(stratum, score);
        self.calibration.threshold().retains(transformed)
    }

    /// The transformation.
    pub fn shrinkage(&self) -> &Shrinkage {
        &self.shrinkage
    }

    /// The calibration, whose threshold is for transformed scores.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }
}

/// Estimates drawn towards their centre, the more the noisier each is.
fn shrink(estimates: &[f64], noise: &[f64], centre: f64) -> Vec<f64> {
    let usable: Vec<(f64, f64)> = estimates
        .iter()
        .copied()
        .zip(noise.iter().copied())
        .filter(|(_, noise)| noise.is_finite())
        .collect();
    let spread: f64 = usable
        .iter()
        .map(|(e, _)| (e - centre) * (e - centre))
        .sum();
    let average = usable.iter().map(|(_, noise)| noise).sum::<f64>() / usable.len().max(1) as f64;
    let between = if usable.len() > 1 {
        (spread / (usable.len() - 1) as f64 - average).max(0.0)
    } else {
        0.0
    };
    let towards = |(estimate, noise): (&f64, &f64)| {
        let trust = if between > 0.0 {
            between / (between + noise)
        } else {
            0.0
        };
        centre + trust * (estimate - centre)
    };
    estimates.iter().zip(noise).map(towards).collect()
}

/// The mean, 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
