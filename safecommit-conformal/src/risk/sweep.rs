//! The smallest threshold down to which losses stay within what is allowed.

use super::{RiskCurves, RiskError};
use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::guarantee::Guarantee;
use crate::score::Score;
use crate::source::Source;

impl RiskCurves {
    /// Walks from the unbounded threshold down, breakpoint by breakpoint, and stops before the
    /// first at which the sum of losses exceeds `allowed`; `None` if nothing at all is allowed.
    ///
    /// If the walk passes below all breakpoints, the threshold is the lowest of them.
    ///
    /// # Errors
    ///
    /// [`RiskError::Unattainable`] if the sum exceeds what is allowed where all is retained, unless
    /// it is 0 there: then the unbounded threshold is the end at which risk is 0 by design.
    fn sweep(&self, allowed: Option<u64>) -> Result<Option<Score>, RiskError> {
        let losses: u64 = self
            .curves()
            .iter()
            .map(|curve| u64::from(curve.last()))
            .sum();
        if allowed.is_none_or(|allowed| losses > allowed) {
            return if losses == 0 {
                Ok(None)
            } else {
                Err(RiskError::Unattainable { losses })
            };
        }
        let allowed = i128::from(allowed.unwrap_or(0));
        // What the sum gains when the threshold falls below a breakpoint.
        let mut gains: Vec<(Score, i64)> = Vec::new();
        for curve in self.curves() {
            let mut before = curve.first();
            for (score, loss) in curve.steps() {
                gains.push((*score, i64::from(before) - i64::from(*loss)));
                before = *loss;
            }
        }
        gains.sort_unstable_by(|one, other| other.cmp(one));
        let mut sum = i128::from(losses);
        let mut kappa = None;
        for same in gains.chunk_by(|one, other| one.0 == other.0) {
            if sum > allowed {
                break;
            }
            // From this breakpoint on the sum is what it is now.
            kappa = same.first().map_or(kappa, |(score, _)| Some(*score));
            sum += same.iter().map(|(_, gain)| i128::from(*gain)).sum::<i128>();
        }
        Ok(kappa)
    }

    /// The calibration with the threshold that `allowed` gives, in units of the scale.
    pub(crate) fn calibrate(
        &self,
        alpha: Alpha,
        allowed: Option<u64>,
        guarantee: Guarantee,
    ) -> Result<Calibration, RiskError> {
        let n = self.cases();
        let whole = allowed.map(|allowed| (allowed / u64::from(self.scale())).min(n));
        let source = Source {
            scores: self.digest(),
            n,
            missing: self.missing().unwrap_or(0),
            misses_counted: self.missing().is_some(),
        };
        let rank = whole.map_or(n + 1, |whole| n - whole);
        let kappa = self.sweep(allowed)?;
        Ok(Calibration::of(alpha, source, rank, kappa, guarantee))
    }
}
