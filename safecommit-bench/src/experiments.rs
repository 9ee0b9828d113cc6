//! The paper's experiments, over all seeds, as rows of a table.

mod plan;

use rayon::prelude::*;
use safecommit_conformal::{Alpha, Calibration, Threshold};
use serde::Serialize;

use crate::counts::{Counts, Estimate};
use crate::episode::Family;
use crate::generator::{Generator, Split, Suite};
use crate::methods::{ConflictAbstention, Margin, MethodName, MethodSettings, calibrate};
use crate::parameters::Parameters;
use crate::simulate::{Cell, FamilyCounts, simulate};

pub use plan::tuned;

pub(crate) use plan::draw;
use plan::{Planned, levels, plan, tune};

/// An experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// The five methods under the main setting.
    Main,
    /// The same by family.
    Family,
    /// SafeCommit under other limits on probes.
    ProbeBudget,
    /// SafeCommit under other levels.
    Alpha,
    /// All methods when the proposal misses the true world with a probability beta.
    ProposalMiss,
}

impl Experiment {
    /// All experiments, in the order of the tables.
    pub const ALL: [Self; 5] = [
        Self::Main,
        Self::Family,
        Self::ProbeBudget,
        Self::Alpha,
        Self::ProposalMiss,
    ];

    /// The name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Family => "family",
            Self::ProbeBudget => "probe_budget",
            Self::Alpha => "alpha",
            Self::ProposalMiss => "proposal_miss",
        }
    }
}

/// What a row is about; no two rows have the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The method.
    pub method: MethodName,
    /// Level of the calibration.
    pub alpha: Alpha,
    /// Most probes that the method makes in an episode.
    pub max_probes: u32,
    /// Probability that the proposal misses the true world.
    pub beta: f64,
}

/// One row of an experiment: rates over all episodes, mean and standard error over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The experiment.
    pub experiment: Experiment,
    /// The setting.
    pub setting: Setting,
    /// The family; `None` for all families together.
    pub family: Option<Family>,
    /// Episodes over all seeds.
    pub episodes: u64,
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
    /// The counts behind the rates, over all seeds.
    pub counts: Counts,
}

/// How often the threshold retains the true world, against what exchangeability promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Level of the calibration.
    pub alpha: Alpha,
    /// Mean threshold over the seeds; a seed with an unbounded one makes it infinite.
    pub mean_threshold: f64,
    /// Share of true worlds retained, over the seeds.
    pub observed: Estimate,
    /// rank / (n + 1).
    pub expected: f64,
    /// Standard error of the mean over seeds under the beta-binomial law of coverage on fresh
    /// episodes.
    pub exact_se: f64,
}

/// All that the experiments gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The rows, experiment by experiment.
    pub rows: Vec<Row>,
    /// Coverage of the true world, a row a level.
    pub coverage: Vec<Coverage>,
}

impl Results {
    /// The row of an experiment, method and family at a setting.
    #[must_use]
    pub fn find(
        &self,
        experiment: Experiment,
        setting: Setting,
        family: Option<Family>,
    ) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.experiment == experiment && row.setting == setting && row.family == family
        })
    }
}

/// Everything that is fixed before a test episode is drawn: thresholds of every seed and level, and
/// what conflict abstention was tuned to on the frozen splits.
///
/// ```
/// use safecommit_bench::{Experiment, Parameters, Prepared};
///
/// let small = Parameters::project_toml()
///     .replace("calibration = 2000\ntest = 4000\nalpha", "calibration = 30\ntest = 20\nalpha");
/// let parameters = Parameters::from_toml(&small)?;
/// let results = Prepared::new(&parameters).run(&|_| ());
/// let main = results.rows.iter().filter(|row| row.experiment == Experiment::Main);
/// assert_eq!(main.map(|row| row.episodes).collect::<Vec<_>>(), [200; 5]); // ten seeds of 20
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
#[derive(Debug)]
pub struct Prepared<'a> {
    parameters: &'a Parameters,
    plan: Vec<Planned>,
    settings: Vec<Setting>,
    conflict: Vec<(Alpha, ConflictAbstention)>,
    /// Calibrations, seed by seed, one a level.
    calibrations: Vec<Vec<Calibration>>,
}

impl<'a> Prepared<'a> {
    /// Plans the rows, calibrates every seed and tunes conflict abstention.
    #[must_use]
    pub fn new(parameters: &'a Parameters) -> Self {
        let (plan, settings) = plan(parameters);
        let alphas = levels(&settings);
        let seeds = parameters.experiments.seeds.get();
        let calibrations = seeds
            .par_iter()
            .map(|&seed| {
                let suite = Suite::Experiment { seed };
                let cases = parameters.experiments.calibration.get();
                let episodes = draw(parameters, suite, Split::Calibration, cases);
                alphas
                    .iter()
                    .map(|&alpha| calibrate(alpha, &episodes))
                    .collect()
            })
            .collect();
        Self {
            parameters,
            plan,
            conflict: tune(parameters, &settings),
            settings,
            calibrations,
        }
    }

    /// The margins that conflict abstention was tuned to, a level each.
    pub fn margins(&self) -> impl Iterator<Item = (Alpha, Margin)> + '_ {
        self.conflict
            .iter()
            .map(|(alpha, method)| (*alpha, method.margin()))
    }

    /// How many test episodes the seeds have together.
    #[must_use]
    pub fn episodes(&self) -> u64 {
        self.parameters.experiments.test.get() * self.calibrations.len() as u64
    }

    /// How many decisions the settings make on them.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        self.episodes() * self.settings.len() as u64
    }

    /// Simulates every setting on the test episodes of every seed. `progress` hears how many episodes
    /// a finished seed had, from any thread.
    #[must_use]
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Results {
        let counts: Vec<Vec<FamilyCounts>> = self
            .parameters
            .experiments
            .seeds
            .get()
            .par_iter()
            .zip(&self.calibrations)
            .map(|(&seed, calibrations)| {
                let episodes = self.parameters.experiments.test.get();
                let suite = Suite::Experiment { seed };
                let generator = Generator::new(&self.parameters.generator, suite, Split::Test);
                let counts = simulate(&generator, episodes, &self.cells(calibrations));
                progress(episodes);
                counts
            })
            .collect();
        Results {
            rows: self.plan.iter().map(|row| self.row(row, &counts)).collect(),
            coverage: self.coverage(&counts),
        }
    }

    fn cells(&self, calibrations: &[Calibration]) -> Vec<Cell> {
        let unused = ConflictAbstention::new(Threshold::unbounded(), Margin::Infinite);
        self.settings
            .iter()
            .map(|setting| {
                let threshold = at_level(calibrations, setting.alpha)
                    .map_or(Threshold::unbounded(), Calibration::threshold);
                let tuned = self
                    .conflict
                    .iter()
                    .find(|(alpha, _)| *alpha == setting.alpha);
                let method = setting.method.build(&MethodSettings {
                    threshold: threshold.clone(),
                    temperature: self.parameters.experiments.temperature.get(),
                    max_probes: setting.max_probes,
                    conflict: tuned.map_or(&unused, |(_, method)| method).clone(),
                });
                Cell {
                    method,
                    certifies: setting.method.certifies(),
                    proposal_miss: setting.beta,
                    probe_error: 0.0,
                }
            })
            .collect()
    }

    fn row(&self, planned: &Planned, counts: &[Vec<FamilyCounts>]) -> Row {
        let by_seed: Vec<Counts> = counts
            .iter()
            .map(|seed| pick(&seed[planned.setting], planned.family))
            .collect();
        let over = |rate: fn(&Counts) -> f64| {
            Estimate::over(&by_seed.iter().map(rate).collect::<Vec<_>>())
        };
        let mut total = Counts::default();
        for seed in &by_seed {
            total += *seed;
        }
        Row {
            experiment: planned.experiment,
            setting: self.settings[planned.setting],
            family: planned.family.map(|family| Family::ALL[family]),
            episodes: total.episodes,
            ucr: over(Counts::unsafe_commit_rate),
            ts: over(Counts::task_success),
            cc: over(Counts::commit_coverage),
            fr: over(Counts::fallback_rate),
            probes: over(Counts::mean_probes),
            counts: total,
        }
    }

    fn coverage(&self, counts: &[Vec<FamilyCounts>]) -> Vec<Coverage> {
        let plan = self
            .plan
            .iter()
            .filter(|row| row.experiment == Experiment::Alpha);
        plan.map(|row| {
            let alpha = self.settings[row.setting].alpha;
            let seeds = self.calibrations.iter();
            let calibrations: Vec<&Calibration> =
                seeds.filter_map(|seed| at_level(seed, alpha)).collect();
            let observed: Vec<f64> = counts
                .iter()
                .map(|seed| pick(&seed[row.setting], None).coverage())
                .collect();
            let thresholds = calibrations.iter().map(|calibration| {
                let threshold = calibration.threshold().finite();
                threshold.map_or(f64::INFINITY, |score| score.value())
            });
            let count = calibrations.len().max(1) as f64;
            let law = calibrations
                .first()
                .and_then(|calibration| calibration.coverage_law().ok());
            Coverage {
                alpha,
                mean_threshold: thresholds.sum::<f64>() / count,
                observed: Estimate::over(&observed),
                expected: law.as_ref().map_or(1.0, |law| law.mean()),
                exact_se: law.map_or(0.0, |law| {
                    law.empirical_standard_error(self.parameters.experiments.test) / count.sqrt()
                }),
            }
        })
        .collect()
    }
}

/// The calibration of a seed at a level.
fn at_level(calibrations: &[Calibration], alpha: Alpha) -> Option<&Calibration> {
    calibrations
        .iter()
        .find(|calibration| calibration.alpha() == alpha)
}

fn pick(counts: &FamilyCounts, family: Option<usize>) -> Counts {
    match family {
        Some(family) => counts[family],
        None => {
            let mut total = Counts::default();
            for family in counts {
                total += *family;
            }
            total
        }
    }
}
