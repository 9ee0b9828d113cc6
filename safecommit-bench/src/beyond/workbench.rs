//! The runs that studies share: one a seed, with its episodes and calibrations.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use safecommit_conformal::{Alpha, Calibration};

use super::error::StudyError;
use crate::counts::Counts;
use crate::episode::Episode;
use crate::experiments::draw;
use crate::generator::{Generator, Split, Suite};
use crate::learned::{Choice, EpisodeWithTerms, LearnedScore, choose_on_frozen};
use crate::methods::calibrate;
use crate::parameters::Parameters;
use crate::simulate::{Cell, FamilyCounts, simulate_on};

/// The seeds of the paper's experiments, with their episodes, which are drawn once when first asked for.
///
/// ```
/// use safecommit_bench::Parameters;
/// use safecommit_bench::beyond::Workbench;
///
/// let parameters = Parameters::project()?;
/// let bench = Workbench::new(&parameters);
/// let seeds = bench.over_runs(|run| run.seed());
/// assert_eq!(seeds, *parameters.experiments.seeds.get());
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
pub struct Workbench<'a> {
    parameters: &'a Parameters,
    runs: Arc<Vec<Run<'a>>>,
    learned: Arc<Mutex<Option<Arc<Choice>>>>,
    progress: &'a (dyn Fn() + Sync),
}

/// One seed: its calibration and test episodes, all worlds proposed.
#[derive(Debug)]
pub struct Run<'a> {
    parameters: &'a Parameters,
    seed: u64,
    calibration: OnceLock<Vec<Episode>>,
    test: OnceLock<Vec<Episode>>,
}

impl<'a> Workbench<'a> {
    /// A workbench on which nothing is drawn yet.
    #[must_use]
    pub fn new(parameters: &'a Parameters) -> Self {
        let seeds = parameters.experiments.seeds.get().iter();
        let runs = seeds.map(|&seed| Run {
            parameters,
            seed,
            calibration: OnceLock::new(),
            test: OnceLock::new(),
        });
        Self {
            parameters,
            runs: Arc::new(runs.collect()),
            learned: Arc::default(),
            progress: &|| (),
        }
    }

    /// The same runs, with `progress` told of each that [`Self::over_runs`] has done.
    pub(super) fn reporting<'b>(&self, progress: &'b (dyn Fn() + Sync)) -> Workbench<'b>
    where
        'a: 'b,
    {
        Workbench {
            parameters: self.parameters,
            runs: Arc::clone(&self.runs) as _,
            learned: Arc::clone(&self.learned),
            progress,
        }
    }

    /// All parameters.
    #[must_use]
    pub fn parameters(&self) -> &'a Parameters {
        self.parameters
    }

    /// The learned scores, chosen on the frozen splits when first asked for.
    pub(super) fn learned(&self) -> Result<Arc<Choice>, StudyError> {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(choice) = &*learned {
            return Ok(Arc::clone(choice));
        }
        let choice = Arc::new(choose_on_frozen(self.parameters)?);
        *learned = Some(Arc::clone(&choice));
        Ok(choice)
    }

    /// [`Self::over_runs`] once more, of which `progress` is not told.
    pub(super) fn again_over_runs<T: Send>(&self, each: impl Fn(&Run<'a>) -> T + Sync) -> Vec<T> {
        self.runs.par_iter().map(&each).collect()
    }

    /// Does the same for every seed, in parallel; the results come in the order of the seeds.
    pub fn over_runs<T: Send>(&self, each: impl Fn(&Run<'a>) -> T + Sync) -> Vec<T> {
        let runs = self.runs.par_iter();
        let done = runs.map(|run| {
            let value = each(run);
            (self.progress)();
            value
        });
        done.collect()
    }

    /// [`Self::over_runs`] for what may fail; the first error in the order of the seeds counts.
    pub(super) fn try_over_runs<T: Send>(
        &self,
        each: impl Fn(&Run<'a>) -> Result<T, StudyError> + Sync,
    ) -> Result<Vec<T>, StudyError> {
        self.over_runs(each).into_iter().collect()
    }
}

/// From a list a run, such as what every cell counted there, to a list over the runs for each.
pub(super) fn transposed<T>(by_run: impl IntoIterator<Item = Vec<T>>) -> Vec<Vec<T>> {
    let mut by_cell: Vec<Vec<T>> = Vec::new();
    for run in by_run {
        for (cell, value) in run.into_iter().enumerate() {
            if cell == by_cell.len() {
                by_cell.push(Vec::new());
            }
            by_cell[cell].push(value);
        }
    }
    by_cell
}

impl Run<'_> {
    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The generator of a split of this run.
    #[must_use]
    pub fn generator(&self, split: Split) -> Generator {
        let suite = Suite::Experiment { seed: self.seed };
        Generator::new(&self.parameters.generator, suite, split)
    }

    /// The calibration episodes.
    #[must_use]
    pub fn calibration(&self) -> &[Episode] {
        self.calibration
            .get_or_init(|| self.draw(Split::Calibration, self.parameters.experiments.calibration))
    }

    /// The test episodes.
    #[must_use]
    pub fn test(&self) -> &[Episode] {
        self.test
            .get_or_init(|| self.draw(Split::Test, self.parameters.experiments.test))
    }

    fn draw(&self, split: Split, count: std::num::NonZeroU64) -> Vec<Episode> {
        let suite = Suite::Experiment { seed: self.seed };
        draw(self.parameters, suite, split, count.get())
    }

    /// The episodes of a split with the scores of a learned score.
    pub(super) fn rescored(&self, split: Split, score: &LearnedScore) -> Vec<Episode> {
        let experiments = &self.parameters.experiments;
        let count = match split {
            Split::Test => experiments.test,
            _ => experiments.calibration,
        };
        let episodes = EpisodeWithTerms::draw_all(&self.generator(split), count.get());
        episodes
            .iter()
            .map(|episode| score.rescore(episode))
            .collect()
    }

    /// Split-conformal calibration on the calibration episodes.
    #[must_use]
    pub fn calibrated(&self, alpha: Alpha) -> Calibration {
        calibrate(alpha, self.calibration())
    }

    /// Runs cells on the test episodes.
    #[must_use]
    pub fn simulate(&self, cells: &[Cell]) -> Vec<FamilyCounts> {
        simulate_on(&self.generator(Split::Test), self.test(), cells)
    }
}

/// The counts of all families together.
pub(super) fn total(counts: &FamilyCounts) -> Counts {
    let mut total = Counts::default();
    for family in counts {
        total += *family;
    }
    total
}
