//! What a logistic regression minimises, and how.

use smallvec::SmallVec;

use super::Likelihood;
use crate::learned::cholesky::{dot, solve};
use crate::learned::error::FitError;
use crate::learned::training::{EpisodeRows, TrainingSet};

/// Newton's method on these convex objectives takes about ten steps.
const MAX_STEPS: u32 = 100;
/// Half the squared Newton decrement is, near the minimum, what is left to gain in the objective. Below this share of
/// the objective, rounding hides the gain; one more step is taken then, and squares what is left.
const TOLERANCE: f64 = 1e-11;
/// The share of the decrease promised by the gradient that a step has to bring.
const SUFFICIENT: f64 = 1e-4;
/// The shortest step that is tried, as a share of the full one.
const SHORTEST: f64 = 1e-9;

/// The penalised negative log-likelihood, as a function of the coefficients of the features, followed by the
/// intercept where there is one.
pub(super) struct Objective<'a> {
    pub(super) data: &'a TrainingSet,
    pub(super) likelihood: Likelihood,
    pub(super) ridge: f64,
}

/// An objective's gradient and Hessian, the latter's lower triangle.
struct Slope {
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

impl Objective<'_> {
    /// The point of least value, by Newton's method with step halving.
    pub(super) fn minimise(&self) -> Result<Vec<f64>, FitError> {
        let size = self.size();
        let mut point = vec![0.0; size];
        let mut value = self.value(&point);
        for steps in 0..MAX_STEPS {
            let slope = self.slope(&point);
            let Some(direction) = solve(&slope.hessian, &slope.gradient) else {
                return Err(FitError::NotConverged { steps });
            };
            let decrement = dot(&slope.gradient, &direction);
            let along = |length: f64| -> Vec<f64> {
                let moved = point.iter().zip(&direction);
                moved.map(|(at, step)| at - length * step).collect()
            };
            if decrement / 2.0 <= TOLERANCE * (1.0 + value) {
                return Ok(along(1.0));
            }
            let mut length = 1.0;
            loop {
                let next = along(length);
                let reached = self.value(&next);
                if reached <= value - SUFFICIENT * length * decrement {
                    (point, value) = (next, reached);
                    break;
                }
                length /= 2.0;
                // Also where the value is not a number.
                if length < SHORTEST {
                    return Err(FitError::NotConverged { steps });
                }
            }
        }
        Err(FitError::NotConverged { steps: MAX_STEPS })
    }

    fn size(&self) -> usize {
        self.data.width() + usize::from(self.likelihood == Likelihood::Separate)
    }

    fn log_odds(&self, point: &[f64], row: usize) -> f64 {
        let intercept = point.get(self.data.width()).copied().unwrap_or(0.0);
        intercept + dot(self.data.row(row), point)
    }

    fn value(&self, point: &[f64]) -> f64 {
        let mut value = 0.0;
        for episode in self.data.rows() {
            match self.likelihood {
                Likelihood::Separate => {
                    for row in episode.all() {
                        let log_odds = self.log_odds(point, row);
                        value += softplus(log_odds);
                        if row == episode.true_row {
                            value -= log_odds;
                        }
                    }
                }
                Likelihood::WithinEpisode => {
                    let log_odds = episode.all().map(|row| self.log_odds(point, row));
                    let log_odds: Vec<f64> = log_odds.collect();
                    value += log_sum_exp(&log_odds) - log_odds[episode.true_row - episode.first];
                }
            }
        }
        let coefficients = &point[..self.data.width()];
        value + 0.5 * self.ridge * dot(coefficients, coefficients)
    }

    fn slope(&self, point: &[f64]) -> Slope {
        let (size, width) = (self.size(), self.data.width());
        let mut slope = Slope {
            gradient: vec![0.0; size],
            hessian: (1..=size).map(|length| vec![0.0; length]).collect(),
        };
        let mut row_values = vec![1.0; size];
        for episode in self.data.rows() {
            match self.likelihood {
                Likelihood::Separate => {
                    for row in episode.all() {
                        row_values[..width].copy_from_slice(self.data.row(row));
                        let probability = sigmoid(self.log_odds(point, row));
                        let excess = probability - f64::from(u8::from(row == episode.true_row));
                        slope.add(&row_values, excess, probability * (1.0 - probability));
                    }
                }
                Likelihood::WithinEpisode => self.add_episode(point, episode, &mut slope),
            }
        }
        for (feature, coefficient) in point[..width].iter().enumerate() {
            slope.gradient[feature] += self.ridge * coefficient;
            slope.hessian[feature][feature] += self.ridge;
        }
        slope
    }

    /// The part of an episode under the conditional logit: the gradient is the expected features less those of the
    /// true world, the Hessian the covariance of the features under the probabilities.
    fn add_episode(&self, point: &[f64], episode: &EpisodeRows, slope: &mut Slope) {
        let log_odds: Vec<f64> = episode.all().map(|row| self.log_odds(point, row)).collect();
        let normaliser = log_sum_exp(&log_odds);
        let probabilities = log_odds.iter().map(|z| libm::exp(z - normaliser));
        let probabilities: Vec<f64> = probabilities.collect();
        let mut expected = vec![0.0; self.data.width()];
        for (row, probability) in episode.all().zip(&probabilities) {
            for (sum, value) in expected.iter_mut().zip(self.data.row(row)) {
                *sum += probability * value;
            }
        }
        let truth = self.data.row(episode.true_row);
        for ((sum, expected), truth) in slope.gradient.iter_mut().zip(&expected).zip(truth) {
            *sum += expected - truth;
        }
        for (row, probability) in episode.all().zip(&probabilities) {
            let centred: Vec<f64> = self
                .data
                .row(row)
                .iter()
                .zip(&expected)
                .map(|(value, mean)| value - mean)
                .collect();
            slope.add(&centred, 0.0, *probability);
        }
    }
}

impl Slope {
    /// Adds `weight` times the row to the gradient, and `curvature` times its square to the Hessian.
    fn add(&mut self, row: &[f64], weight: f64, curvature: f64) {
        for (sum, value) in self.gradient.iter_mut().zip(row) {
            *sum += weight * value;
        }
        for (line, value) in self.hessian.iter_mut().zip(row) {
            let scaled = curvature * value;
            for (sum, other) in line.iter_mut().zip(row) {
                *sum += scaled * other;
            }
        }
    }
}

impl EpisodeRows {
    fn all(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }
}

/// 1 / (1 + exp(-z)), without overflow.
fn sigmoid(log_odds: f64) -> f64 {
    let small = libm::exp(-log_odds.abs());
    if log_odds >= 0.0 {
        1.0 / (1.0 + small)
    } else {
        small / (1.0 + small)
    }
}

/// ln(1 + exp(z)), without overflow.
pub(in super::super) fn softplus(log_odds: f64) -> f64 {
    log_odds.max(0.0) + libm::log1p(libm::exp(-log_odds.abs()))
}

/// ln of the sum of exp, without overflow. The terms are added from the largest to the smallest, so that their order
/// leaves no trace.
pub(in super::super) fn log_sum_exp(values: &[f64]) -> f64 {
    let mut sorted: SmallVec<[f64; 8]> = values.into();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let Some(&largest) = sorted.first() else {
        return f64::NEG_INFINITY;
    };
    let sum: f64 = sorted.iter().map(|value| libm::exp(value - largest)).sum();
    largest + libm::log(sum)
}
