//! Conformal e-values.

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::digest::Digest;
use crate::format::Format;
use crate::guarantee::Guarantee;
use crate::p_value::PValue;
use crate::score::{CalibrationScore, Score};
use crate::source::Source;

/// Calibration scores of at least 0 from which e-values are computed.
///
/// `E(s) = (n + 1) s / (sum_i s_i + s)`, from 0 to n + 1. For exchangeable cases its mean is 1, so
/// by Markov's inequality `P(E >= 1 / alpha) <= alpha` (Gauthier, Bach and Jordan 2025, "E-values
/// expand the scope of conformal prediction", arXiv:2503.13050). A world is retained while
/// `E < 1 / alpha`. That retains more than a p-value does, but averages of e-values of dependent
/// models stay e-values, and alpha may be chosen after seeing them.
///
/// A missing score is infinite, so that every E is 0 and nothing is excluded.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{EValues, Score};
///
/// let scores = [0.5, 0.25, 0.25].map(|value| Score::new(value).unwrap().into());
/// let e_values = EValues::new(&scores)?;
/// assert_eq!(e_values.of(Score::new(1.0)?)?.value(), 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct EValues {
    /// None below 0.
    scores: Vec<CalibrationScore>,
    /// The sum of the scores divided by the largest of them, compensated; at most n.
    sum: f64,
    /// What scores are divided by: the largest, or 1 if there is none above 0.
    unit: f64,
    missing: u64,
}

impl EValues {
    /// The e-values that these calibration scores give.
    ///
    /// # Errors
    ///
    /// [`EValueError::Negative`] for a score below 0.
    pub fn new(scores: &[CalibrationScore]) -> Result<Self, EValueError> {
        let observed = || scores.iter().filter_map(|score| score.observed());
        for score in observed() {
            check(score)?;
        }
        let largest = observed().map(Score::value).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        // Neumaier's compensated sum.
        let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
        for score in observed() {
            let term = score.value() / unit;
            let next = sum + term;
            lost += if sum >= term {
                (sum - next) + term
            } else {
                (term - next) + sum
            };
            sum = next;
        }
        Ok(Self {
            scores: scores.to_vec(),
            sum: sum + lost,
            unit,
            missing: (scores.len() - observed().count()) as u64,
        })
    }

    /// The e-value of a score. With all scores 0, that of 0 is 1.
    ///
    /// # Errors
    ///
    /// [`EValueError::Negative`] for a score below 0.
    pub fn of(&self, tested: Score) -> Result<EValue, EValueError> {
        check(tested)?;
        if self.missing > 0 {
            return Ok(EValue(0.0));
        }
        let cases = self.scores.len() as f64 + 1.0;
        let term = tested.value() / self.unit;
        Ok(EValue(if term.is_infinite() {
            cases
        } else if self.sum + term > 0.0 {
            cases * (term / (self.sum + term))
        } else {
            1.0
        }))
    }

    /// Calibrates at level alpha: a world is retained while `E < 1 / alpha`, which is
    /// `s < sum_i s_i / ((n + 1) alpha - 1)`. The threshold is that number, rounded up by less than
    /// `1e-13` of itself, and unbounded if `(n + 1) alpha <= 1` or a score is missing.
    pub fn calibrate(&self, alpha: Alpha) -> Calibration {
        let n = self.scores.len() as u64;
        let one = 10_u128.pow(u32::from(alpha.scale()));
        // (n + 1) alpha - 1 as a fraction of integers.
        let excess = ((u128::from(n) + 1) * u128::from(alpha.digits())).checked_sub(one);
        let limit = match excess {
            Some(excess) if excess > 0 && self.missing == 0 => {
                let limit = self.sum * self.unit / (excess as f64 / one as f64);
                Score::new(limit * (1.0 + 1e-14)).ok()
            }
            _ => None,
        };
        let retained = |limit: Score| {
            let limit = CalibrationScore::Observed(limit);
            self.scores.iter().filter(|score| **score <= limit).count() as u64
        };
        let source = Source {
            scores: Digest::of_scores(&self.scores),
            n,
            missing: self.missing,
            misses_counted: self.missing > 0,
        };
        let rank = limit.map_or(n + 1, retained);
        Calibration::of(alpha, source, rank, limit, Guarantee::EValue)
    }
}

/// An e-value: at least 0, possibly infinite, with a mean of at most 1 if the world is the true one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct EValue(f64);

impl EValue {
    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether a world of this e-value stays plausible: `E < 1 / alpha`.
    pub fn retained(self, alpha: Alpha) -> bool {
        self.0 * alpha.to_f64() < 1.0
    }

    /// The mean of e-values, dependent or not, which is an e-value; `None` of none.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{EValue, PValues, Score};
    ///
    /// let p = PValues::new(&[Score::ZERO.into()]).of(Score::ZERO.into());
    /// let one = EValue::from_p_value(p);
    /// assert_eq!(EValue::mean(&[one, one]), Some(one));
    /// assert_eq!(EValue::mean(&[]), None);
    /// ```
    pub fn mean(e_values: &[Self]) -> Option<Self> {
        let sum: f64 = e_values.iter().map(|e_value| e_value.0).sum();
        (!e_values.is_empty()).then(|| Self(sum / e_values.len() as f64))
    }

    /// The e-value of a p-value without a parameter to choose: the mean of `k p^(k - 1)` over k in
    /// (0, 1), which is `(1 - p + p ln p) / (p (ln p)^2)` (Vovk and Wang 2021, "E-values:
    /// calibration, combination and applications").
    pub fn from_p_value(p: PValue) -> Self {
        Self(mixture(p.value()))
    }

    /// The e-value `k p^(k - 1)` of a p-value (Shafer, Shen, Vereshchagin and Vovk 2011).
    ///
    /// # Errors
    ///
    /// [`EValueError::Exponent`] unless `0 < k < 1`.
    pub fn from_p_value_power(p: PValue, k: f64) -> Result<Self, EValueError> {
        if !(k > 0.0 && k < 1.0) {
            return Err(EValueError::Exponent {
                input: k.to_string(),
            });
        }
        Ok(Self(power(p.value(), k)))
    }
}

fn power(p: f64, k: f64) -> f64 {
    k * libm::pow(p, k - 1.0)
}

fn mixture(p: f64) -> f64 {
    // With d = -ln p it is (e^d - 1 - d) / d^2. Near p = 1 the terms cancel, and the series is
    // 1/2 + d/6 + d^2/24 + ..., whose next term is below 1e-18 there.
    let d = -libm::log(p);
    if d < 1e-3 {
        0.5 + d / 6.0 + d * d / 24.0 + d * d * d / 120.0 + d * d * d * d / 720.0
    } else {
        (libm::expm1(d) - d) / (d * d)
    }
}

fn check(score: Score) -> Result<(), EValueError> {
    if score < Score::ZERO {
        Err(EValueError::Negative { score })
    } else {
        Ok(())
    }
}

/// Why a number gives no e-value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EValueError {
    /// A score below 0.
    #[error("score `{score}` is below 0, and e-values need scores of at least 0")]
    Negative {
        /// The score.
        score: Score,
    },
    /// An exponent outside (0, 1).
    #[error("exponent `{input}` is not strictly between 0 and 1")]
    Exponent {
        /// As given.
        input: String,
    },
}

/// Scores as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: Format<1>,
    scores: Vec<CalibrationScore>,
}

impl From<EValues> for Wire {
    fn from(e_values: EValues) -> Self {
        Self {
            format: Format,
            scores: e_values.scores,
        }
    }
}

impl TryFrom<Wire> for EValues {
    type Error = EValueError;

    fn try_from(wire: Wire) -> Result<Self, EValueError> {
        Self::new(&wire.scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibrators_are_those_of_the_reference() {
        let all: serde_json::Value =
            serde_json::from_str(include_str!("../tests/fixtures/methods.json")).unwrap();
        let rows: Vec<(f64, f64, f64)> =
            serde_json::from_value(all["e_values"]["calibrators"].clone()).unwrap();
        for (p, half, mixed) in rows {
            assert!((power(p, 0.5) / half - 1.0).abs() < 1e-12, "{p}");
            assert!((mixture(p) / mixed - 1.0).abs() < 1e-12, "{p}");
        }
        assert!((mixture(1.0) - 0.5).abs() < 1e-15);
        // The series joins the formula.
        let (below, above) = (
            mixture(libm::exp(-0.99999e-3)),
            mixture(libm::exp(-1.00001e-3)),
        );
        assert!(
            (above - below - 2e-8 / 6.0).abs() < 1e-9,
            "{}",
            above - below
        );
    }

    /// A calibrator is one if its integral over p in (0, 1) is at most 1; both integrate to 1.
    #[test]
    fn calibrators_integrate_to_one() {
        const STEPS: u32 = 200_000;
        for calibrator in [(|p| power(p, 0.5)) as fn(f64) -> f64, mixture] {
            // With p = x^4 the singularity at 0 goes away.
            let sum: f64 = (0..STEPS)
                .map(|i| (f64::from(i) + 0.5) / f64::from(STEPS))
                .map(|x| calibrator(x.powi(4)) * 4.0 * x.powi(3))
                .sum();
            let integral = sum / f64::from(STEPS);
            assert!(integral < 1.0 + 1e-6 && integral > 0.9, "{integral}");
        }
    }
}
