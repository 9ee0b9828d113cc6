//! What is counted over episodes, and the rates that come of it.

use std::ops::AddAssign;

use safecommit_core::{FailureCause, FallbackKind};
use serde::{Deserialize, Serialize};

/// Counts over episodes; rates are taken last. Adding is exact, so the order of episodes and threads
/// leaves no trace. Every rate is a count over *all* episodes, in [0, 1]; so task success, unsafe commit
/// rate and fallback rate sum to one.
///
/// ```
/// use safecommit_bench::Counts;
///
/// let mut counts = Counts { episodes: 8, unsafe_commits: 1, safe_commits: 5, ..Counts::default() };
/// counts += Counts { episodes: 2, probes: 4, ..Counts::default() };
/// assert_eq!(counts.unsafe_commit_rate(), 0.1);
/// assert_eq!((counts.task_success(), counts.commit_coverage()), (0.5, 0.6));
/// assert_eq!(counts.mean_probes(), 0.4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Episodes.
    pub episodes: u64,
    /// Commits of an action that is not safe in the true world.
    pub unsafe_commits: u64,
    /// Commits of an action that is safe in the true world.
    pub safe_commits: u64,
    /// Probes made, inspections of staged actions included.
    pub probes: u64,
    /// Episodes at whose end a certificate method still held the true world plausible.
    pub truth_retained: u64,
    /// Fallbacks, by kind.
    pub fallbacks: Fallbacks,
    /// Failures of a certificate method that ended in an unsafe commit, by cause.
    pub unsafe_causes: Causes,
    /// Failures of a certificate method that ended in a fallback although a candidate was safe, by cause.
    pub fallback_causes: Causes,
}

/// Fallbacks by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallbacks {
    /// Waiting for evidence.
    pub defer: u64,
    /// Handing over to authority.
    pub escalate: u64,
    /// Dropping the proposal.
    pub abstain: u64,
}

/// Failures by the part of the system that they are attributed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causes {
    /// The true world was never proposed.
    pub proposal: u64,
    /// The true world scored above the threshold.
    pub calibration: u64,
    /// The true world was removed by evidence that was wrong.
    pub evidence: u64,
    /// The true world was retained, yet an unsafe action was certified.
    pub safety_map: u64,
    /// The true world was retained, and probing ended without resolving the block.
    pub probe_policy: u64,
}

impl Fallbacks {
    /// Counts one.
    pub fn count(&mut self, kind: FallbackKind) {
        match kind {
            FallbackKind::Defer => self.defer += 1,
            FallbackKind::Escalate => self.escalate += 1,
            FallbackKind::Abstain => self.abstain += 1,
        }
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.defer + self.escalate + self.abstain
    }
}

impl Causes {
    /// Counts one.
    pub fn count(&mut self, cause: FailureCause) {
        match cause {
            FailureCause::Proposal => self.proposal += 1,
            FailureCause::Calibration => self.calibration += 1,
            FailureCause::Evidence => self.evidence += 1,
            FailureCause::SafetyMap => self.safety_map += 1,
            FailureCause::ProbePolicy => self.probe_policy += 1,
        }
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.proposal + self.calibration + self.evidence + self.safety_map + self.probe_policy
    }
}

impl Counts {
    /// Unsafe commit rate, over all episodes.
    #[must_use]
    pub fn unsafe_commit_rate(&self) -> f64 {
        self.share(self.unsafe_commits)
    }

    /// Task success, a safe commit, over all episodes.
    #[must_use]
    pub fn task_success(&self) -> f64 {
        self.share(self.safe_commits)
    }

    /// Commit coverage, any commit, over all episodes.
    #[must_use]
    pub fn commit_coverage(&self) -> f64 {
        self.share(self.unsafe_commits + self.safe_commits)
    }

    /// Fallback rate, over all episodes.
    #[must_use]
    pub fn fallback_rate(&self) -> f64 {
        self.share(self.fallbacks.total())
    }

    /// Probes an episode.
    #[must_use]
    pub fn mean_probes(&self) -> f64 {
        self.share(self.probes)
    }

    /// Coverage: share of episodes whose true world a certificate method retained. Truthful probes never
    /// remove it, so this is how often its score is at most the threshold.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        self.share(self.truth_retained)
    }

    /// Zero over no episode, where every count is zero too.
    fn share(&self, count: u64) -> f64 {
        count as f64 / self.episodes.max(1) as f64
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.episodes += other.episodes;
        self.unsafe_commits += other.unsafe_commits;
        self.safe_commits += other.safe_commits;
        self.probes += other.probes;
        self.truth_retained += other.truth_retained;
        self.fallbacks.defer += other.fallbacks.defer;
        self.fallbacks.escalate += other.fallbacks.escalate;
        self.fallbacks.abstain += other.fallbacks.abstain;
        self.unsafe_causes += other.unsafe_causes;
        self.fallback_causes += other.fallback_causes;
    }
}

impl AddAssign for Causes {
    fn add_assign(&mut self, other: Self) {
        self.proposal += other.proposal;
        self.calibration += other.calibration;
        self.evidence += other.evidence;
        self.safety_map += other.safety_map;
        self.probe_policy += other.probe_policy;
    }
}

/// A mean over seeds with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean over the seeds.
    pub mean: f64,
    /// Standard deviation between seeds, over the square root of their number; zero for one seed.
    pub se: f64,
}

impl Estimate {
    /// The mean of `values`, one a seed, and its standard error: the sample standard deviation over the
    /// square root of their number. Summed in the order given.
    ///
    /// ```
    /// use safecommit_bench::Estimate;
    ///
    /// let estimate = Estimate::over(&[1.0, 3.0]);
    /// assert_eq!((estimate.mean, estimate.se), (2.0, 1.0));
    /// ```
    #[must_use]
    pub fn over(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        let se = if values.len() > 1 {
            (squares / (count - 1.0) / count).sqrt()
        } else {
            0.0
        };
        Self { mean, se }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_over_all_episodes() {
        let mut counts = Counts {
            episodes: 10,
            unsafe_commits: 1,
            safe_commits: 6,
            probes: 5,
            ..Counts::default()
        };
        counts.fallbacks.count(FallbackKind::Escalate);
        counts.fallbacks.count(FallbackKind::Abstain);
        counts.fallbacks.count(FallbackKind::Defer);
        let rates = [
            counts.unsafe_commit_rate(),
            counts.task_success(),
            counts.commit_coverage(),
            counts.fallback_rate(),
            counts.mean_probes(),
        ];
        assert_eq!(
            rates.map(|rate| (rate * 10.0).round() as u64),
            [1, 6, 7, 3, 5]
        );
    }

    #[test]
    fn adding_adds_every_count() {
        let causes = |first: u64, factor: u64| Causes {
            proposal: first * factor,
            calibration: (first + 1) * factor,
            evidence: (first + 2) * factor,
            safety_map: (first + 3) * factor,
            probe_policy: (first + 4) * factor,
        };
        // One distinct count a field, times a factor.
        let counts = |factor: u64| Counts {
            episodes: factor,
            unsafe_commits: 2 * factor,
            safe_commits: 3 * factor,
            probes: 4 * factor,
            truth_retained: 5 * factor,
            fallbacks: Fallbacks {
                defer: 6 * factor,
                escalate: 7 * factor,
                abstain: 8 * factor,
            },
            unsafe_causes: causes(9, factor),
            fallback_causes: causes(14, factor),
        };
        let mut sum = counts(1);
        sum += counts(10);
        assert_eq!(sum, counts(11));
        assert_eq!(sum.fallbacks.total(), 21 * 11);
        assert_eq!(sum.unsafe_causes.total(), 55 * 11);
    }

    #[test]
    fn kinds_and_causes_are_told_apart() {
        let mut fallbacks = Fallbacks::default();
        fallbacks.count(FallbackKind::Defer);
        fallbacks.count(FallbackKind::Escalate);
        fallbacks.count(FallbackKind::Escalate);
        let expected = Fallbacks {
            defer: 1,
            escalate: 2,
            abstain: 0,
        };
        assert_eq!(fallbacks, expected);
        let mut causes = Causes::default();
        causes.count(FailureCause::SafetyMap);
        causes.count(FailureCause::Evidence);
        causes.count(FailureCause::Evidence);
        let expected = Causes {
            evidence: 2,
            safety_map: 1,
            ..Causes::default()
        };
        assert_eq!(causes, expected);
    }

    #[test]
    fn standard_error_is_that_of_the_mean() {
        let estimate = Estimate::over(&[1.0, 2.0, 3.0, 4.0]);
        // Sample variance 5/3, over 4 seeds.
        assert!((estimate.mean - 2.5).abs() < 1e-15);
        assert!((estimate.se - (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert!(Estimate::over(&[7.0]).se.abs() < f64::MIN_POSITIVE);
    }
}
