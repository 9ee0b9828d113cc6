//! The parameters of the benchmark: one data file, checked on the way in.

use std::num::{NonZeroU32, NonZeroU64};

use safecommit_conformal::Alpha;
use serde::{Deserialize, Serialize};

use crate::bounded::{Finite, NonNegative, Positive, Probability};
use crate::episode::{Family, MAX_ACTIONS};
use crate::field_path::{WHOLE, field_path, name_field};
use crate::generator::Split;
use crate::json::FromObjects;

/// The project's own parameter file.
const PROJECT: &str = include_str!("../data/parameters.toml");

/// The parameters of generator, frozen data and experiments.
///
/// ```
/// use safecommit_bench::{Family, Parameters};
///
/// let parameters = Parameters::project()?;
/// assert_eq!(parameters.generator.worlds.max.get(), 6);
/// assert_eq!(parameters.generator.family.of(Family::Poison).deceptive_same.get(), 0.092);
///
/// let changed = Parameters::project_toml().replace("background_sd = 0.145", "background_sd = -1");
/// let error = Parameters::from_toml(&changed).unwrap_err();
/// assert_eq!(error.field(), "generator.background_sd");
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
// Every field checks itself as it is read, and so do the groups whose fields depend on one another; what is
// left for this derived Deserialize is to put checked parts together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The law that episodes are drawn from.
    pub generator: GeneratorParameters,
    /// Seed and sizes of the frozen splits.
    pub frozen: FrozenParameters,
    /// Seeds, sizes and settings of the experiments.
    pub experiments: ExperimentParameters,
}

/// The law that episodes are drawn from; the manifest of frozen data repeats it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorParameters {
    /// Number of actions, in 2..=64.
    pub actions: ActionCount,
    /// Range of the number of worlds, uniform.
    pub worlds: WorldRange,
    /// Price of every probe.
    pub probe_cost: Positive,
    /// Mean score of background worlds before clipping.
    pub background_mean: Finite,
    /// Standard deviation of the scores of background worlds before clipping.
    pub background_sd: NonNegative,
    /// What differs between families.
    pub family: Families,
    /// How a score is split over its four terms.
    pub components: ComponentParameters,
}

/// The parameters of each family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Families {
    /// Of [`Family::Stale`].
    pub stale: FamilyParameters,
    /// Of [`Family::Conflict`].
    pub conflict: FamilyParameters,
    /// Of [`Family::Poison`].
    pub poison: FamilyParameters,
    /// Of [`Family::AuthorizationDrift`].
    pub authorization_drift: FamilyParameters,
}

impl Families {
    /// The parameters of a family.
    #[must_use]
    pub fn of(&self, family: Family) -> &FamilyParameters {
        match family {
            Family::Stale => &self.stale,
            Family::Conflict => &self.conflict,
            Family::Poison => &self.poison,
            Family::AuthorizationDrift => &self.authorization_drift,
        }
    }
}

/// The parameters of one family. Means and standard deviations are those before clipping to [0, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyParameters {
    /// Mean score of the true world.
    pub true_mean: Finite,
    /// Standard deviation of the score of the true world.
    pub true_sd: NonNegative,
    /// Mean score of deceptive worlds.
    pub deceptive_mean: Finite,
    /// Standard deviation of the scores of deceptive worlds.
    pub deceptive_sd: NonNegative,
    /// Probability that a distractor beyond the first is deceptive too.
    pub extra_deceptive: Probability,
    /// Probability that a deceptive world supports the action that is truly safe.
    pub deceptive_same: Probability,
    /// Probability that a background world supports the action that is truly safe.
    pub background_same: Probability,
}

/// The weights of a score's terms, by the role of the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentParameters {
    /// Of the true world.
    pub true_world: TermWeights,
    /// Of deceptive worlds.
    pub deceptive: TermWeights,
    /// Of background worlds.
    pub background: TermWeights,
}

/// The weight of a score's telling term and of each of the other three.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermWeights {
    /// Of the term in which the family's failure shows.
    pub telling: Positive,
    /// Of each other term.
    pub other: Positive,
}

/// Seed and sizes of the frozen splits, in episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenParameters {
    /// Seed of the frozen suite.
    pub seed: u64,
    /// For learning a score.
    pub train: NonZeroU64,
    /// For choosing settings.
    pub validation: NonZeroU64,
    /// For thresholds.
    pub calibration: NonZeroU64,
    /// For results.
    pub test: NonZeroU64,
}

impl FrozenParameters {
    /// The number of episodes of a split.
    #[must_use]
    pub fn episodes(&self, split: Split) -> u64 {
        match split {
            Split::Train => self.train,
            Split::Validation => self.validation,
            Split::Calibration => self.calibration,
            Split::Test => self.test,
        }
        .get()
    }
}

/// Seeds, sizes and settings of the experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentParameters {
    /// One run of everything each.
    pub seeds: Seeds,
    /// Calibration episodes a seed.
    pub calibration: NonZeroU64,
    /// Test episodes a seed.
    pub test: NonZeroU64,
    /// Miscoverage level, a decimal in (0, 1), except in the alpha experiment.
    pub alpha: Alpha,
    /// Most probes an episode, except in the probe-budget experiment.
    pub max_probes: u32,
    /// Temperature T of the weights exp(-s / T) of worlds.
    pub temperature: Positive,
    /// Miscoverage levels of the alpha experiment.
    pub alphas: Vec<Alpha>,
    /// Most probes an episode in the probe-budget experiment.
    pub probe_budgets: Vec<u32>,
    /// Probabilities that the true world is not proposed, in the proposal-miss experiment.
    pub proposal_misses: Vec<Probability>,
}

/// A number of actions in 2..=64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "usize")]
pub struct ActionCount(usize);

impl ActionCount {
    /// The number.
    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }
}

impl TryFrom<usize> for ActionCount {
    type Error = String;

    fn try_from(count: usize) -> Result<Self, String> {
        if (2..=MAX_ACTIONS).contains(&count) {
            Ok(Self(count))
        } else {
            Err(format!("`{count}` is not in 2..={MAX_ACTIONS}"))
        }
    }
}

/// A range of the number of worlds: the true one and at least one distractor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawWorldRange")]
pub struct WorldRange {
    /// Least number, at least 2.
    pub min: NonZeroU32,
    /// Largest number, at least `min` and at most 1,000,000.
    pub max: NonZeroU32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWorldRange {
    min: NonZeroU32,
    max: NonZeroU32,
}

impl TryFrom<RawWorldRange> for WorldRange {
    type Error = String;

    fn try_from(raw: RawWorldRange) -> Result<Self, String> {
        let RawWorldRange { min, max } = raw;
        if min.get() < 2 {
            Err(format!("`min` is `{min}`, expected at least 2"))
        } else if max < min {
            Err(format!("`max` is `{max}`, below `min`, which is `{min}`"))
        } else if max.get() > 1_000_000 {
            Err(format!("`max` is `{max}`, expected at most 1000000"))
        } else {
            Ok(Self { min, max })
        }
    }
}

/// Seeds of the experiments: at least one, no two equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>")]
pub struct Seeds(Vec<u64>);

impl Seeds {
    /// The seeds, in the order of the file.
    #[must_use]
    pub fn get(&self) -> &[u64] {
        &self.0
    }
}

impl TryFrom<Vec<u64>> for Seeds {
    type Error = String;

    fn try_from(seeds: Vec<u64>) -> Result<Self, String> {
        if seeds.is_empty() {
            return Err("no seed".to_owned());
        }
        for (position, seed) in seeds.iter().enumerate() {
            if seeds[..position].contains(seed) {
                return Err(format!("seed `{seed}` twice"));
            }
        }
        Ok(Self(seeds))
    }
}

/// A parameter file that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{field}`: {reason}")]
pub struct ParameterError {
    field: String,
    reason: String,
}

impl ParameterError {
    /// The field at fault, as in `generator.family.poison.true_sd`; `.` if the file is no TOML.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Parameters {
    /// The parameters that the project's frozen data and tables come from.
    ///
    /// # Errors
    ///
    /// None as the project is released; a data file that was edited may hold one.
    pub fn project() -> Result<Self, ParameterError> {
        Self::from_toml(PROJECT)
    }

    /// The text of the project's parameter file, to start a file of one's own from.
    #[must_use]
    pub fn project_toml() -> &'static str {
        PROJECT
    }

    /// Reads a parameter file.
    ///
    /// # Errors
    ///
    /// The text is no TOML, a field is missing, unknown or out of its range; the error names it.
    pub fn from_toml(text: &str) -> Result<Self, ParameterError> {
        let deserializer = toml::Deserializer::parse(text).map_err(|error| ParameterError {
            field: WHOLE.to_owned(),
            reason: error.message().to_owned(),
        })?;
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(deserializer, &mut track);
        Self::deserialize(FromObjects(tracked)).map_err(|error| {
            let (field, reason) = name_field(&field_path(&track.path()), error.message());
            ParameterError { field, reason }
        })
    }
}
