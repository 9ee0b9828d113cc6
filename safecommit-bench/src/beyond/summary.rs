//! The rates of one cell over the seeds.

use safecommit_conformal::Threshold;

use super::sheet::Value;
use super::workbench::total;
use crate::counts::{Counts, Estimate};
use crate::simulate::FamilyCounts;

/// Mean and standard error over the seeds of what a method did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Unsafe commit rate.
    pub ucr: Estimate,
    /// Task success: a safe commit.
    pub ts: Estimate,
    /// Commit coverage: any commit.
    pub cc: Estimate,
    /// Fallback rate.
    pub fr: Estimate,
    /// Probes an episode.
    pub probes: Estimate,
    /// How often a certificate method retained the true world.
    pub coverage: Estimate,
}

impl Summary {
    /// Of counts, one a seed.
    #[must_use]
    pub fn of(counts: &[Counts]) -> Self {
        let over =
            |rate: fn(&Counts) -> f64| Estimate::over(&counts.iter().map(rate).collect::<Vec<_>>());
        Self {
            ucr: over(Counts::unsafe_commit_rate),
            ts: over(Counts::task_success),
            cc: over(Counts::commit_coverage),
            fr: over(Counts::fallback_rate),
            probes: over(Counts::mean_probes),
            coverage: over(Counts::coverage),
        }
    }

    /// Over all families.
    #[must_use]
    pub fn of_all(by_seed: &[FamilyCounts]) -> Self {
        Self::of(&by_seed.iter().map(total).collect::<Vec<_>>())
    }

    /// Of one family, by its position in [`crate::Family::ALL`].
    #[must_use]
    pub fn of_family(by_seed: &[FamilyCounts], family: usize) -> Self {
        Self::of(
            &by_seed
                .iter()
                .map(|counts| counts[family])
                .collect::<Vec<_>>(),
        )
    }

    /// Unsafe commits, task success, fallbacks and probes, as cells of a table.
    #[must_use]
    pub fn cells(&self) -> [Value; 4] {
        [
            Value::rate(self.ucr),
            Value::rate(self.ts),
            Value::rate(self.fr),
            Value::mean(self.probes, 3),
        ]
    }
}

/// The headings of [`Summary::cells`].
pub(super) const HEADINGS: [&str; 4] = ["UCR", "TS", "FR", "probes"];

/// The mean of thresholds; infinite if one is unbounded.
pub(super) fn mean_threshold<'t>(thresholds: impl IntoIterator<Item = &'t Threshold>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for threshold in thresholds {
        sum += threshold
            .finite()
            .map_or(f64::INFINITY, |kappa| kappa.value());
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}
