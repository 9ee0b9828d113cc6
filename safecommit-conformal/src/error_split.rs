//! One level for both errors, and its parts.

use crate::calibration::Calibration;
use crate::clopper_pearson::CountError;
use crate::delta::Delta;
use crate::representation::Representation;

/// How the level of a calibration with counted misses divides between the two errors.
///
/// When a true world that was never proposed counts as missing, last in order, one quantile at
/// level A (say [`Alpha::checked_add`](crate::Alpha::checked_add) of alpha and beta) bounds
/// `P(not proposed, or above kappa) <= A` without an estimate of beta. The parts are for reporting:
/// they are what Eq. 7 of Akewar and Ranjan, arXiv:2608.04289, keeps apart.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Alpha, Calibration, CalibrationScore, Delta, ErrorSplit, Misses, Score};
///
/// let total = "0.04".parse::<Alpha>()?.checked_add("0.01".parse()?)?;
/// let mut scores: Vec<CalibrationScore> =
///     (0..298).map(|i| Score::new(f64::from(i)).map(Into::into)).collect::<Result<_, _>>()?;
/// scores.extend([CalibrationScore::Missing; 2]);
/// let calibration = Calibration::split_conformal_with(total, &scores, Misses::AllListed);
/// assert_eq!(calibration.rank(), 286);
///
/// let split = ErrorSplit::of(&calibration, Delta::new(0.05)?)?.unwrap();
/// assert_eq!((split.missing(), split.above()), (2, 12)); // of 300 cases
/// assert!((split.beta_upper() - 0.020_836).abs() < 1e-6);
/// assert!((split.alpha_left() - 0.029_163).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorSplit {
    cases: u64,
    missing: u64,
    above: u64,
    beta_upper: f64,
    alpha_left: f64,
}

impl ErrorSplit {
    /// The parts of the level of a calibration; `None` if its misses were not counted, or if its
    /// threshold is not the score of its rank (risk control), so that nothing is known of one part.
    ///
    /// # Errors
    ///
    /// [`CountError`] above [`MAX_TRIALS`](crate::clopper_pearson::MAX_TRIALS) cases.
    pub fn of(calibration: &Calibration, delta: Delta) -> Result<Option<Self>, CountError> {
        let Representation::Counted(misses) = calibration.representation() else {
            return Ok(None);
        };
        if !calibration.guarantee().is_order_statistic() {
            return Ok(None);
        }
        let (cases, missing) = (misses.cases(), misses.missing());
        let observed = cases - missing;
        let above = observed.saturating_sub(calibration.rank());
        let beta_upper = misses.upper_bound(delta)?;
        let alpha_left = (calibration.alpha().to_f64() - beta_upper)
            .next_down()
            .max(0.0);
        Ok(Some(Self {
            cases,
            missing,
            above,
            beta_upper,
            alpha_left,
        }))
    }

    /// The number of calibration cases.
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// Calibration cases whose true world was not proposed: representation error.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The most calibration cases whose true world scores above the threshold, calibration error:
    /// those of larger rank, fewer if some are tied with it; 0 if the threshold is unbounded.
    pub fn above(&self) -> u64 {
        self.above
    }

    /// The Clopper-Pearson upper bound on beta at the delta given.
    pub fn beta_upper(&self) -> f64 {
        self.beta_upper
    }

    /// What the bound on beta leaves of the level for calibration error, at least 0 and rounded
    /// down: the alpha at which the two errors bounded one by one reach the same level.
    pub fn alpha_left(&self) -> f64 {
        self.alpha_left
    }
}
