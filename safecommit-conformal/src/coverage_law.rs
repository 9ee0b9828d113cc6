//! The law of the coverage of a split-conformal threshold, given the calibration set.

use std::num::NonZero;

use crate::alpha::Alpha;
use crate::beta::Beta;
use crate::calibration::Calibration;
use crate::delta::Delta;

/// The training-conditional coverage `C = P(s_{n+1} <= kappa | s_1..s_n)` of the threshold of rank
/// k among n scores.
///
/// For independent scores of one continuous distribution, C is distributed as
/// `Beta(k, n + 1 - k)` (Vovk 2012, "Conditional validity of inductive conformal predictors"),
/// whatever that distribution is; ties only raise C. With `k = n + 1` the threshold is unbounded
/// and C is 1. For k from Eq. 14 the mean `k / (n + 1)` is at least `1 - alpha`, but one given
/// calibration set falls short of `1 - alpha` almost every second time; see
/// [`CoverageLaw::shortfall_probability`].
///
/// # Examples
///
/// ```
/// use std::num::NonZero;
/// use safecommit_conformal::CoverageLaw;
///
/// let law = CoverageLaw::new(2_000, 1_901)?;
/// assert_eq!(law.mean(), 1_901.0 / 2_001.0);
/// let fresh_cases = NonZero::new(4_000).unwrap();
/// assert!((law.empirical_standard_error(fresh_cases) - 0.005_965).abs() < 1e-6);
/// # Ok::<(), safecommit_conformal::CoverageLawError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoverageLaw {
    n: u64,
    rank: u64,
    /// The law of `1 - C`, which keeps its digits where coverage is high; `None` if C is 1.
    miscoverage: Option<Beta>,
}

impl CoverageLaw {
    /// The largest number of calibration scores: 10^9.
    pub const MAX_SCORES: u64 = 1_000_000_000;

    /// The law for the threshold of the given rank among `n` scores.
    ///
    /// # Errors
    ///
    /// [`CoverageLawError`] unless `n <= MAX_SCORES` and `1 <= rank <= n + 1`.
    pub fn new(n: u64, rank: u64) -> Result<Self, CoverageLawError> {
        if n > Self::MAX_SCORES {
            return Err(CoverageLawError::TooManyScores { n });
        }
        if rank == 0 || rank > n + 1 {
            return Err(CoverageLawError::Rank { rank, n });
        }
        let miscoverage = Beta::new((n + 1 - rank) as f64, rank as f64).ok();
        Ok(Self {
            n,
            rank,
            miscoverage,
        })
    }

    /// The mean of C: `k / (n + 1)`.
    pub fn mean(&self) -> f64 {
        self.rank as f64 / (self.n + 1) as f64
    }

    /// The variance of C: `k (n + 1 - k) / ((n + 1)^2 (n + 2))`.
    pub fn variance(&self) -> f64 {
        let (k, cases) = (self.rank as f64, (self.n + 1) as f64);
        k / cases * ((cases - k) / cases) / (cases + 1.0)
    }

    /// `P(C <= coverage)`; NaN for NaN.
    pub fn cdf(&self, coverage: f64) -> f64 {
        match self.miscoverage {
            Some(law) => law.swapped().lower_tail(coverage),
            None if coverage.is_nan() => coverage,
            None if coverage < 1.0 => 0.0,
            None => 1.0,
        }
    }

    /// The coverage c with `P(C <= c) = p`: with probability `1 - p` over the calibration set,
    /// coverage is at least c. Not rounded outward; good to `1e-12`.
    pub fn quantile(&self, p: Delta) -> f64 {
        self.miscoverage
            .map_or(1.0, |law| law.swapped().lower_quantile(p))
    }

    /// `P(C < 1 - alpha)`: how probable it is that one calibration set misses the nominal level.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Alpha, CoverageLaw};
    ///
    /// let alpha: Alpha = "0.1".parse()?;
    /// let law = CoverageLaw::new(1_000, alpha.rank(1_000))?;
    /// assert!((law.shortfall_probability(alpha) - 0.484_582).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shortfall_probability(&self, alpha: Alpha) -> f64 {
        self.miscoverage
            .map_or(0.0, |law| law.upper_tail(alpha.to_f64()))
    }

    /// The exact standard error of the share of `fresh` further cases that are covered.
    ///
    /// That share has mean `k / (n + 1)`, and `fresh` times it is beta-binomial, because the fresh
    /// cases share one threshold: with `s = n + 1`, its variance is
    /// `k (s - k) (s + fresh) / (s^2 (s + 1) fresh)`. A binomial error would be too small.
    pub fn empirical_standard_error(&self, fresh: NonZero<u64>) -> f64 {
        let fresh = fresh.get() as f64;
        (self.variance() * (((self.n + 1) as f64 + fresh) / fresh)).sqrt()
    }
}

impl Calibration {
    /// The law of the coverage of this threshold, for independent scores.
    ///
    /// A missing score counts as one above every finite threshold. If the rank fell on a missing
    /// score the threshold is unbounded, and the law tells what was to be expected before.
    ///
    /// # Errors
    ///
    /// [`CoverageLawError::TooManyScores`] if n exceeds [`CoverageLaw::MAX_SCORES`].
    pub fn coverage_law(&self) -> Result<CoverageLaw, CoverageLawError> {
        CoverageLaw::new(self.n(), self.rank())
    }
}

/// Numbers for which there is no [`CoverageLaw`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoverageLawError {
    /// More scores than [`CoverageLaw::MAX_SCORES`].
    #[error(
        "`{n}` calibration scores exceed the {} that are supported",
        CoverageLaw::MAX_SCORES
    )]
    TooManyScores {
        /// The number as given.
        n: u64,
    },
    /// A rank that is not within 1 to n + 1.
    #[error("rank `{rank}` is not within 1 to n + 1 for n `{n}`")]
    Rank {
        /// The rank as given.
        rank: u64,
        /// The number of scores.
        n: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unbounded_threshold_covers_for_sure() {
        let law = CoverageLaw::new(8, 9).unwrap();
        let delta = Delta::new(0.05).unwrap();
        let alpha: Alpha = "0.1".parse().unwrap();
        let fresh = NonZero::new(10).unwrap();
        let values = [
            law.mean(),
            law.quantile(delta),
            law.cdf(1.0),
            law.variance(),
            law.cdf(0.999),
            law.shortfall_probability(alpha),
            law.empirical_standard_error(fresh),
        ];
        assert_eq!(
            values.map(f64::to_bits),
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0].map(f64::to_bits)
        );
    }

    #[test]
    fn not_a_number_has_no_probability() {
        for rank in [8, 9] {
            assert!(CoverageLaw::new(8, rank).unwrap().cdf(f64::NAN).is_nan());
        }
    }

    #[test]
    fn impossible_ranks_are_refused() {
        for (n, rank) in [(8, 0), (8, 10), (0, 2)] {
            let error = CoverageLaw::new(n, rank).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("rank `{rank}` is not within 1 to n + 1 for n `{n}`")
            );
        }
        assert!(CoverageLaw::new(u64::MAX, 1).is_err());
    }
}
