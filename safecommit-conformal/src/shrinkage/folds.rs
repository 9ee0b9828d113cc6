//! Two folds that cannot overlap.

use crate::score::CalibrationScore;
use crate::seed::LoggedSeed;
use crate::stratum::Stratum;

/// Cases for fitting a transformation of scores; they never calibrate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FittingFold(Vec<(Stratum, CalibrationScore)>);

/// Cases for calibrating; nothing is ever fitted on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalibrationFold(Vec<(Stratum, CalibrationScore)>);

/// Cases in two folds by their ids, which is the only way to make either: no case is in both, even
/// if it is listed twice.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Folds, LoggedSeed, Score, Stratum};
///
/// let cases = (0..100).map(|i| (i.to_string(), Stratum::ALL, Score::ZERO.into()));
/// let folds = Folds::split(&LoggedSeed::new("fold"), cases);
/// assert_eq!(folds.fitting.cases().len() + folds.calibration.cases().len(), 100);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folds {
    /// About half of the cases.
    pub fitting: FittingFold,
    /// The others.
    pub calibration: CalibrationFold,
}

impl Folds {
    /// Splits cases, each with its id, stratum and score, by whether the uniform number of the id
    /// is below one half. Scores play no part in it.
    pub fn split(
        seed: &LoggedSeed,
        cases: impl IntoIterator<Item = (String, Stratum, CalibrationScore)>,
    ) -> Self {
        let mut folds = Self::default();
        for (id, stratum, score) in cases {
            if seed.uniform(&id) < 0.5 {
                folds.fitting.0.push((stratum, score));
            } else {
                folds.calibration.0.push((stratum, score));
            }
        }
        folds
    }
}

impl FittingFold {
    /// The cases.
    pub fn cases(&self) -> &[(Stratum, CalibrationScore)] {
        &self.0
    }
}

impl CalibrationFold {
    /// The cases.
    pub fn cases(&self) -> &[(Stratum, CalibrationScore)] {
        &self.0
    }
}
