//! Representation error: how often the true world is not among the proposed ones.

use crate::clopper_pearson::{self, CountError};
use crate::delta::Delta;

/// What the caller says about cases whose true world was never proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Misses {
    /// Nothing is said. At least one missing score in the list means that they were counted; none
    /// means that they were not measured, for a list of observed scores cannot tell.
    #[default]
    AsListed,
    /// The list has an entry for every case drawn, missing ones included, even if there are none.
    AllListed,
}

/// What a calibration knows about representation error, reported apart from alpha.
///
/// When the misses are counted they sort last among the scores. The event "the threshold is
/// finite, and the true world is not proposed or scores above it" then has probability at most
/// alpha, for exchangeable cases: with a finite threshold, alpha covers both errors together. With
/// an unbounded threshold alpha says nothing, since every proposed world is retained and what
/// remains is that the true one is not among them, with probability beta.
///
/// When they are not counted, alpha bounds the error given a proposed true world alone, and the
/// unknown beta comes on top: `beta + (1 - beta) alpha` (Akewar and Ranjan, arXiv:2608.04289,
/// Eq. 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Representation {
    /// The cases without a proposed true world are among the calibration cases.
    Counted(MissCount),
    /// The calibration cannot tell.
    NotMeasured,
}

/// How many of the calibration cases lacked their true world.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Calibration, CalibrationScore, Delta, Representation, Score};
///
/// let scores = [CalibrationScore::Observed(Score::ZERO), CalibrationScore::Missing];
/// let calibration = Calibration::split_conformal("0.5".parse()?, &scores);
/// let Representation::Counted(misses) = calibration.representation() else { panic!() };
/// assert_eq!((misses.missing(), misses.cases(), misses.rate()), (1, 2, Some(0.5)));
/// assert!(misses.upper_bound(Delta::new(0.05)?)? > 0.97);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MissCount {
    /// At most `cases`.
    missing: u64,
    cases: u64,
}

impl MissCount {
    /// The caller warrants `missing <= cases`.
    pub(crate) fn new(missing: u64, cases: u64) -> Self {
        debug_assert!(missing <= cases);
        Self { missing, cases }
    }

    /// The number of cases whose true world was not proposed.
    pub fn missing(self) -> u64 {
        self.missing
    }

    /// The number of all cases.
    pub fn cases(self) -> u64 {
        self.cases
    }

    /// The estimate `beta_hat = missing / cases`, from 0 to 1; `None` without cases.
    pub fn rate(self) -> Option<f64> {
        (self.cases > 0).then(|| self.missing as f64 / self.cases as f64)
    }

    /// The Clopper-Pearson upper bound on beta: at least beta with probability at least
    /// `1 - delta`, for independent cases; see [`clopper_pearson::upper_bound`].
    ///
    /// # Errors
    ///
    /// [`CountError::TooManyTrials`] above [`clopper_pearson::MAX_TRIALS`] cases.
    pub fn upper_bound(self, delta: Delta) -> Result<f64, CountError> {
        clopper_pearson::upper_bound(self.missing, self.cases, delta)
    }
}
