//! What the paper's text states, and how far our results are from it.

mod claims;
mod compare;
mod guarantees;
mod raw;
mod tolerances;

use safecommit_conformal::Alpha;

use crate::counts::Estimate;
use crate::episode::Family;
use crate::experiments::{Experiment, Row, Setting};
use crate::methods::MethodName;

pub use compare::{Claim, Comparison, Findings};
pub use guarantees::Bound;
pub use raw::PublishedError;
pub use tolerances::{TOLERANCES, Tolerances};

/// The project's own file of published figures.
const PROJECT: &str = include_str!("../data/published.toml");

/// The figures and statements of the paper's text, checked on the way in.
///
/// The text states fewer cells than the paper's tables hold. A cell that is not here is unknown to us, and what
/// the simulator gives for it is a prediction.
///
/// ```
/// use safecommit_bench::{MethodName, Metric, Published};
///
/// let published = Published::project()?;
/// let single = published.figures().iter().find(|figure| figure.method == MethodName::SingleWorld);
/// let single = single.expect("the text states one figure for it");
/// assert_eq!((single.metric, single.value), (Metric::Ucr, 41.2));
///
/// let error = Published::from_toml("[main]\nsingle_world = { ucr = 141.2 }").unwrap_err();
/// assert_eq!(error.field(), "main.single_world.ucr");
/// # Ok::<(), safecommit_bench::PublishedError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    setting: PublishedSetting,
    figures: Vec<Figure>,
    family: FamilyFigures,
    same_budgets: Vec<(u32, u32)>,
}

/// A cell of one of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The experiment that its table is about.
    pub experiment: Experiment,
    /// The method.
    pub method: MethodName,
    /// Level of the calibration.
    pub alpha: Alpha,
    /// Most probes an episode.
    pub max_probes: u32,
    /// What is measured.
    pub metric: Metric,
    /// The stated value, in the unit of the metric.
    pub value: f64,
}

/// A measured quantity, over all episodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Unsafe commit rate, in per cent.
    Ucr,
    /// Task success, a safe commit, in per cent.
    Ts,
    /// Commit coverage, any commit, in per cent.
    Cc,
    /// Fallback rate, in per cent.
    Fr,
    /// Probes an episode.
    Probes,
}

/// The setting that the text states for all experiments.
#[derive(Clone, Debug, PartialEq)]
struct PublishedSetting {
    seeds: usize,
    calibration_episodes: u64,
    test_episodes: u64,
    alpha: Alpha,
    max_probes: u32,
    worlds: [u32; 2],
    actions: usize,
    families: Vec<Family>,
}

/// What the text states about families; per cent.
#[derive(Clone, Debug, PartialEq)]
struct FamilyFigures {
    /// Lowest and highest unsafe commit rate of SafeCommit.
    ucr_range: [f64; 2],
    /// Lowest task success of SafeCommit.
    ts_min: f64,
    /// Where SafeCommit commits unsafely most often.
    hardest: Vec<Family>,
    /// Where acting on one world does.
    single_world_hardest: Vec<Family>,
    /// Where the generic probe does.
    generic_one_probe_weakest: Family,
}

impl Metric {
    /// All metrics, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::Ucr, Self::Ts, Self::Cc, Self::Fr, Self::Probes];

    /// The heading in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ucr => "UCR",
            Self::Ts => "TS",
            Self::Cc => "CC",
            Self::Fr => "FR",
            Self::Probes => "probes",
        }
    }

    /// The estimate of a row, in the unit of the metric.
    #[must_use]
    pub fn of(self, row: &Row) -> Estimate {
        let (estimate, scale) = match self {
            Self::Ucr => (row.ucr, 100.0),
            Self::Ts => (row.ts, 100.0),
            Self::Cc => (row.cc, 100.0),
            Self::Fr => (row.fr, 100.0),
            Self::Probes => (row.probes, 1.0),
        };
        Estimate {
            mean: estimate.mean * scale,
            se: estimate.se * scale,
        }
    }

    /// Decimals that a mean over the seeds is worth, given its standard error.
    #[must_use]
    pub fn decimals(self) -> usize {
        match self {
            Self::Probes => 3,
            _ => 2,
        }
    }

    /// The unit of a difference, for messages.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Probes => "probes",
            _ => "points",
        }
    }
}

impl Figure {
    /// The setting that the figure is about. SafeCommit with a budget of no probe is
    /// [`MethodName::SafecommitNoProbe`].
    fn is_about(&self, setting: &Setting) -> bool {
        canonical(self.method, self.max_probes) == canonical(setting.method, setting.max_probes)
            && self.alpha == setting.alpha
            && setting.beta.abs() < f64::MIN_POSITIVE
    }
}

/// The method and budget by which a setting goes, since two names stand for one way to decide.
fn canonical(method: MethodName, max_probes: u32) -> (MethodName, u32) {
    match (method, max_probes) {
        (MethodName::Safecommit, 0) => (MethodName::SafecommitNoProbe, 0),
        _ => (method, method.probes_within(max_probes)),
    }
}

impl Published {
    /// The figures that the project compares itself with.
    ///
    /// # Errors
    ///
    /// None as the project is released; a data file that was edited may hold one.
    pub fn project() -> Result<Self, PublishedError> {
        Self::from_toml(PROJECT)
    }

    /// The stated cells, in the order of experiments.
    #[must_use]
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Whether the text states this metric for the setting, in any of its tables. Such a cell is matched, not
    /// predicted: the generator's parameters were chosen with it in view.
    #[must_use]
    pub fn states(&self, setting: &Setting, metric: Metric) -> bool {
        self.figures
            .iter()
            .any(|figure| figure.metric == metric && figure.is_about(setting))
    }
}

#[cfg(test)]
mod tests;
