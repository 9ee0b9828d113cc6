//! Learned scores against the default one, on the experiments' own episodes.

use rayon::prelude::*;

use crate::counts::Estimate;
use crate::episode::Episode;
use crate::generator::{Generator, Split, Suite};
use crate::parameters::Parameters;

use super::episode::EpisodeWithTerms;
use super::measure::{Criterion, ScoreRun};
use super::score::LearnedScore;

/// What came of one score, a run a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreComparison {
    /// The version of the learned score; `None` for the default score.
    pub version: Option<String>,
    /// The runs, in the order of the seeds.
    pub runs: Vec<ScoreRun>,
}

impl ScoreComparison {
    /// The mean of a figure over the seeds, with its standard error.
    #[must_use]
    pub fn over_seeds(&self, figure: impl Fn(&ScoreRun) -> f64) -> Estimate {
        Estimate::over(&self.runs.iter().map(figure).collect::<Vec<_>>())
    }
}

/// Calibrates and tests every score on the calibration and test episodes of every experiment seed, at the level, under
/// the budget and the temperature of the main experiment. The default score comes first, then `scores` in their order; all
/// see the same episodes.
///
/// Spread over the threads of rayon; the result does not depend on their number.
///
/// ```
/// use safecommit_bench::{Parameters, ScoreRun, choose_on_frozen, compare_scores};
///
/// let small = Parameters::project_toml()
///     .replace("train = 2000\nvalidation = 1000", "train = 200\nvalidation = 100")
///     .replace("calibration = 2000\ntest = 4000\nalpha", "calibration = 100\ntest = 100\nalpha");
/// let parameters = Parameters::from_toml(&small)?;
/// let choice = choose_on_frozen(&parameters)?;
/// let [default, learned] = &compare_scores(&parameters, &[&choice.chosen().score])[..] else {
///     unreachable!("one comparison a score");
/// };
/// assert_eq!((default.version.as_ref(), learned.runs.len()), (None, 10));
/// let probes = |score: &safecommit_bench::ScoreComparison| score.over_seeds(ScoreRun::mean_probes).mean;
/// assert!(probes(learned) < probes(default));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn compare_scores(parameters: &Parameters, scores: &[&LearnedScore]) -> Vec<ScoreComparison> {
    let criterion = Criterion::of(&parameters.experiments);
    let seeds = parameters.experiments.seeds.get();
    // Seed by seed, a run a score.
    let runs: Vec<Vec<ScoreRun>> = seeds
        .par_iter()
        .map(|&seed| {
            let draw = |split, count| {
                let suite = Suite::Experiment { seed };
                let generator = Generator::new(&parameters.generator, suite, split);
                EpisodeWithTerms::draw_all(&generator, count)
            };
            let experiments = &parameters.experiments;
            let calibration = draw(Split::Calibration, experiments.calibration.get());
            let test = draw(Split::Test, experiments.test.get());
            let measure = |score: &dyn Fn(&EpisodeWithTerms) -> Episode| {
                let scored = |cases: &[EpisodeWithTerms]| -> Vec<Episode> {
                    cases.iter().map(score).collect()
                };
                criterion.measure(&scored(&calibration), &scored(&test))
            };
            let default = measure(&|case| case.episode().clone());
            let learned = scores
                .iter()
                .map(|score| measure(&|case| score.rescore(case)));
            [default].into_iter().chain(learned).collect()
        })
        .collect();
    let versions = scores.iter().map(|score| Some(score.version()));
    [None]
        .into_iter()
        .chain(versions)
        .enumerate()
        .map(|(position, version)| ScoreComparison {
            version,
            runs: runs.iter().map(|seed| seed[position].clone()).collect(),
        })
        .collect()
}
