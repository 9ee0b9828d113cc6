//! Exact confidence bounds on a probability from k successes in n trials.
//!
//! Clopper and Pearson (1934): for n independent trials of one unknown probability p, with n fixed
//! in advance, each one-sided bound is on its side of p with probability at least `1 - delta`,
//! whatever p is. Looking again and again until a bound is good enough voids that.
//!
//! Bounds are rounded outward: an upper bound is never below the exact one and a lower bound never
//! above it. They are within 2e-12 of the exact bound, relative to the smaller of the bound and its
//! complement, or within two units in the last place. They are the same on every platform.

use crate::beta::{Beta, Point};
use crate::delta::Delta;

/// The largest number of trials: 10^9.
pub const MAX_TRIALS: u64 = 1_000_000_000;

/// The upper bound: the `1 - delta` quantile of Beta(k + 1, n - k), and 1 if `k = n`.
///
/// Without successes this is `1 - delta^(1/n)`.
///
/// # Errors
///
/// [`CountError`] unless `successes <= trials <= MAX_TRIALS`.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Delta, clopper_pearson};
///
/// // No failure in 59 trials: below 5 per cent, at confidence 95 per cent.
/// assert!(clopper_pearson::upper_bound(0, 59, Delta::new(0.05)?)? < 0.05);
/// assert!(clopper_pearson::upper_bound(0, 58, Delta::new(0.05)?)? > 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn upper_bound(successes: u64, trials: u64, delta: Delta) -> Result<f64, CountError> {
    check(successes, trials)?;
    let law = Beta::new(successes as f64 + 1.0, (trials - successes) as f64);
    // With k = n the second shape is zero, which is no beta distribution.
    Ok(law.map_or(1.0, |law| not_below(law.upper_point(delta))))
}

/// The lower bound: the `delta` quantile of Beta(k, n - k + 1), and 0 if `k = 0`.
///
/// If all trials succeed this is `delta^(1/n)`.
///
/// # Errors
///
/// [`CountError`] unless `successes <= trials <= MAX_TRIALS`.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Delta, clopper_pearson};
///
/// let lower = clopper_pearson::lower_bound(50, 50, Delta::new(0.05)?)?;
/// assert!((lower - 0.05_f64.powf(1.0 / 50.0)).abs() < 1e-11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lower_bound(successes: u64, trials: u64, delta: Delta) -> Result<f64, CountError> {
    check(successes, trials)?;
    let law = Beta::new(successes as f64, (trials - successes) as f64 + 1.0);
    // With k = 0 the first shape is zero, which is no beta distribution.
    Ok(law.map_or(0.0, |law| not_above(law.lower_point(delta))))
}

/// The two-sided interval: both bounds at `delta / 2`, so that it holds p with probability at
/// least `1 - delta`.
///
/// # Errors
///
/// [`CountError`] unless `successes <= trials <= MAX_TRIALS`.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Delta, clopper_pearson};
///
/// let (lower, upper) = clopper_pearson::interval(7, 1_000, Delta::new(0.1)?)?;
/// assert!(lower < 0.0033 && 0.0131 < upper);
/// assert_eq!(clopper_pearson::interval(0, 0, Delta::new(0.1)?)?, (0.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn interval(successes: u64, trials: u64, delta: Delta) -> Result<(f64, f64), CountError> {
    let half = delta.half();
    Ok((
        lower_bound(successes, trials, half)?,
        upper_bound(successes, trials, half)?,
    ))
}

fn check(successes: u64, trials: u64) -> Result<(), CountError> {
    if trials > MAX_TRIALS {
        return Err(CountError::TooManyTrials { trials });
    }
    if successes > trials {
        return Err(CountError::TooManySuccesses { successes, trials });
    }
    Ok(())
}

/// Above twenty times the largest relative error that was measured in a quantile or its complement.
const SLACK: f64 = 1e-12;

/// A number that is not below the exact x.
fn not_below(Point { x, y }: Point) -> f64 {
    let bound = if x <= y {
        x * (1.0 + SLACK)
    } else {
        1.0 - y * (1.0 - SLACK)
    };
    bound.next_up().min(1.0)
}

/// A number that is not above the exact x.
fn not_above(Point { x, y }: Point) -> f64 {
    let bound = if x <= y {
        x * (1.0 - SLACK)
    } else {
        1.0 - y * (1.0 + SLACK)
    };
    bound.next_down().max(0.0)
}

/// Counts that are not k successes in n trials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// More successes than trials.
    #[error("`{successes}` successes exceed `{trials}` trials")]
    TooManySuccesses {
        /// The successes as given.
        successes: u64,
        /// The trials as given.
        trials: u64,
    },
    /// More trials than [`MAX_TRIALS`].
    #[error("`{trials}` trials exceed the {MAX_TRIALS} that are supported")]
    TooManyTrials {
        /// The trials as given.
        trials: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_counts_are_refused() {
        let delta = Delta::new(0.05).unwrap();
        let error = upper_bound(3, 2, delta).unwrap_err().to_string();
        assert_eq!(error, "`3` successes exceed `2` trials");
        let error = lower_bound(0, u64::MAX, delta).unwrap_err().to_string();
        assert!(
            error.starts_with("`18446744073709551615` trials exceed"),
            "{error}"
        );
    }
}
