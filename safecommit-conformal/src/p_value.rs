//! Conformal p-values.

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::format::Format;
use crate::score::{CalibrationScore, Score};
use crate::seed::LoggedSeed;

/// Calibration scores, sorted once, from which p-values are read in logarithmic time.
///
/// The p-value of a case with score s is `p = (#{i: s_i >= s} + 1) / (n + 1)` (Vovk, Gammerman and
/// Shafer 2005, "Algorithmic Learning in a Random World", with large scores strange). For exchangeable
/// cases `P(p <= alpha) <= alpha`, and a world is retained when `p > alpha`, strictly, which is
/// the same as `s <= kappa` for the threshold of [`Calibration`](crate::Calibration) (Akewar and
/// Ranjan, arXiv:2608.04289, Eq. 14). A missing score sorts last.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Alpha, PValues, Score};
///
/// let scores = [0.3, 0.5, 0.4].map(|value| Score::new(value).unwrap().into());
/// let p = PValues::new(&scores).of(Score::new(0.4)?.into());
/// assert_eq!((p.numerator(), p.denominator()), (3, 4));
/// assert!(p.exceeds("0.7".parse()?) && !p.exceeds("0.75".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct PValues {
    /// The keys of the scores, ascending.
    keys: Vec<u64>,
}

impl PValues {
    /// The p-values that these calibration scores give.
    pub fn new(scores: &[CalibrationScore]) -> Self {
        let mut keys: Vec<u64> = scores.iter().map(|score| score.key()).collect();
        keys.sort_unstable();
        Self { keys }
    }

    /// The number of calibration scores.
    pub fn n(&self) -> u64 {
        self.keys.len() as u64
    }

    /// The p-value of a score, or of a case whose world is missing.
    pub fn of(&self, tested: CalibrationScore) -> PValue {
        let key = tested.key();
        self.at(self.keys.partition_point(|&other| other < key))
    }

    /// The p-value of a number that may not be a score: NaN, of which nothing is known, has p = 1,
    /// so that it is retained; an infinity lies beyond all scores of its sign.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{PValues, Score};
    ///
    /// let p_values = PValues::new(&[Score::ZERO.into()]);
    /// assert_eq!(p_values.of_number(f64::NAN).value(), 1.0);
    /// assert_eq!(p_values.of_number(f64::INFINITY).value(), 0.5);
    /// ```
    pub fn of_number(&self, tested: f64) -> PValue {
        match Score::new(tested) {
            Ok(score) => self.of(score.into()),
            Err(_) if tested > 0.0 => self.of(CalibrationScore::Missing),
            Err(_) => self.at(0),
        }
    }

    /// The p-values of many scores, in their order.
    pub fn of_all(&self, tested: &[Score]) -> Vec<PValue> {
        tested
            .iter()
            .map(|score| self.of((*score).into()))
            .collect()
    }

    /// The p-value of a score with so many calibration scores below it.
    fn at(&self, below: usize) -> PValue {
        PValue {
            numerator: (self.keys.len() - below) as u64 + 1,
            denominator: self.n() + 1,
        }
    }

    /// The smoothed p-value `(#{i: s_i > s} + u (#{i: s_i = s} + 1)) / (n + 1)` with the uniform u
    /// that a logged seed gives to the case. In (0, 1).
    ///
    /// For exchangeable cases and a u that is independent of them it is exactly uniform. Not for
    /// deciding what to retain, where [`PValues::of`] needs no random number at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{LoggedSeed, PValues, Score};
    ///
    /// let p_values = PValues::new(&[Score::ZERO.into()]);
    /// let p = p_values.smoothed(Score::ZERO.into(), &LoggedSeed::new("run 1"), "case 1");
    /// assert!(0.0 < p && p < p_values.of(Score::ZERO.into()).value());
    /// ```
    pub fn smoothed(&self, tested: CalibrationScore, seed: &LoggedSeed, case: &str) -> f64 {
        self.smoothed_at(tested, seed.uniform(case))
    }

    fn smoothed_at(&self, tested: CalibrationScore, u: f64) -> f64 {
        let key = tested.key();
        let below = self.keys.partition_point(|&other| other < key);
        let up_to = self.keys.partition_point(|&other| other <= key);
        let (equal, above) = (up_to - below, self.keys.len() - up_to);
        (above as f64 + u * (equal as f64 + 1.0)) / (self.keys.len() as f64 + 1.0)
    }
}

/// A conformal p-value as an exact fraction, from `1 / (n + 1)` to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PValue {
    /// From 1 to the denominator.
    numerator: u64,
    /// n + 1.
    denominator: u64,
}

impl PValue {
    /// The number of scores at least as large, the tested one included.
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// The number of all scores, the tested one included: n + 1.
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The nearest number.
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Whether `p > alpha`, exactly: whether the tested world is retained at level alpha.
    pub fn exceeds(self, alpha: Alpha) -> bool {
        let above = u128::from(self.numerator);
        let below = u128::from(self.denominator) - above;
        !alpha.share_reached(below, above)
    }
}

/// The p-values as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: Format<1>,
    /// Ascending, missing ones last.
    scores: Vec<CalibrationScore>,
}

impl From<PValues> for Wire {
    fn from(p_values: PValues) -> Self {
        let score = |key: &u64| {
            Score::from_key(*key).map_or(CalibrationScore::Missing, CalibrationScore::Observed)
        };
        Self {
            format: Format,
            scores: p_values.keys.iter().map(score).collect(),
        }
    }
}

impl TryFrom<Wire> for PValues {
    type Error = UnsortedError;

    fn try_from(wire: Wire) -> Result<Self, UnsortedError> {
        let keys: Vec<u64> = wire.scores.iter().map(|score| score.key()).collect();
        match keys.windows(2).position(|pair| pair[0] > pair[1]) {
            Some(position) => Err(UnsortedError { position }),
            None => Ok(Self { keys }),
        }
    }
}

/// Saved scores that are not in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("p-values field `scores`: number `{position}`, counted from 0, exceeds the next")]
pub struct UnsortedError {
    position: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Fixture {
        calibration: Vec<CalibrationScore>,
        rows: Vec<(Score, f64, u64, f64)>,
    }

    #[test]
    fn smoothed_values_are_those_of_the_reference() {
        let all: serde_json::Value =
            serde_json::from_str(include_str!("../tests/fixtures/methods.json")).unwrap();
        let fixture: Fixture = serde_json::from_value(all["p_values"].clone()).unwrap();
        let p_values = PValues::new(&fixture.calibration);
        for (tested, u, numerator, smoothed) in fixture.rows {
            assert_eq!(p_values.of(tested.into()).numerator(), numerator);
            let ours = p_values.smoothed_at(tested.into(), u);
            assert!((ours - smoothed).abs() <= 1e-15, "{tested}: {ours}");
        }
    }
}
