//! What a score is worth: SafeCommit with and without probes on episodes that carry it.

use safecommit_conformal::{Alpha, Calibration};

use crate::bounded::Positive;
use crate::counts::Counts;
use crate::episode::Episode;
use crate::methods::{Memory, SafeCommit, calibrate};
use crate::parameters::ExperimentParameters;
use crate::random::StreamKey;
use crate::simulate::{count, decide};

/// The setting under which scores are measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    /// Level of the calibration.
    pub alpha: Alpha,
    /// Most probes an episode.
    pub max_probes: u32,
    /// Temperature T of the weights exp(-s / T).
    pub temperature: Positive,
}

impl Criterion {
    /// The setting of the main experiment.
    #[must_use]
    pub fn of(experiments: &ExperimentParameters) -> Self {
        Self {
            alpha: experiments.alpha,
            max_probes: experiments.max_probes,
            temperature: experiments.temperature,
        }
    }

    /// The loss of episodes, in probes: those made, and the whole budget (or one probe, if there is none) for every
    /// episode that did not end in a safe commit. A whole number, so that ties are ties.
    #[must_use]
    pub fn loss(&self, counts: &Counts) -> u64 {
        let failures = counts.episodes.saturating_sub(counts.safe_commits);
        counts.probes + u64::from(self.max_probes.max(1)) * failures
    }

    /// Calibrates on some episodes and measures on others.
    pub(super) fn measure(&self, calibration: &[Episode], test: &[Episode]) -> ScoreRun {
        let calibration = calibrate(self.alpha, calibration);
        let threshold = calibration.threshold();
        let mut run = ScoreRun {
            retained_worlds: 0,
            without_probes: Counts::default(),
            with_probes: Counts::default(),
            calibration: calibration.clone(),
        };
        let method = |probes| SafeCommit::new(threshold, self.temperature.get(), probes);
        let (without, with) = (method(0), method(self.max_probes));
        // SafeCommit makes no random choice.
        let policy = || StreamKey::derive("unused", 0, "unused", "policy").stream(0);
        let mut memory = Memory::default();
        for episode in test {
            let worlds = episode.proposed().iter().map(|&at| episode.worlds()[at]);
            let retained = worlds.filter(|world| threshold.retains(world.score.score()));
            run.retained_worlds += retained.count() as u64;
            let ending = decide(&without, episode, &policy, &mut memory);
            count(episode, &ending, true, &memory, &mut run.without_probes);
            let ending = decide(&with, episode, &policy, &mut memory);
            count(episode, &ending, true, &memory, &mut run.with_probes);
        }
        run
    }
}

/// What SafeCommit did on test episodes under a score that was calibrated on others.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRun {
    /// The calibration.
    pub calibration: Calibration,
    /// Worlds that the threshold retained, over all test episodes.
    pub retained_worlds: u64,
    /// What came of deciding without probes.
    pub without_probes: Counts,
    /// What came of deciding with the most probes allowed.
    pub with_probes: Counts,
}

impl ScoreRun {
    /// Retained worlds an episode, before any probe.
    #[must_use]
    pub fn mean_retained_worlds(&self) -> f64 {
        self.retained_worlds as f64 / self.with_probes.episodes.max(1) as f64
    }

    /// Probes an episode.
    #[must_use]
    pub fn mean_probes(&self) -> f64 {
        self.with_probes.mean_probes()
    }

    /// Task success without probes.
    #[must_use]
    pub fn task_success_without_probes(&self) -> f64 {
        self.without_probes.task_success()
    }

    /// Task success with probes.
    #[must_use]
    pub fn task_success(&self) -> f64 {
        self.with_probes.task_success()
    }

    /// Unsafe commit rate with probes.
    #[must_use]
    pub fn unsafe_commit_rate(&self) -> f64 {
        self.with_probes.unsafe_commit_rate()
    }

    /// Share of episodes whose true world was retained.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        self.with_probes.coverage()
    }
}
