//! The file form of the published figures.

use std::collections::BTreeMap;

use safecommit_conformal::Alpha;
use serde::Deserialize;

use super::{FamilyFigures, Figure, Metric, Published, PublishedSetting};
use crate::bounded::NonNegative;
use crate::episode::Family;
use crate::experiments::Experiment;
use crate::field_path::{WHOLE, field_path};
use crate::methods::MethodName;

/// A file of published figures that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("published figure `{field}`: {reason}")]
pub struct PublishedError {
    field: String,
    reason: String,
}

impl PublishedError {
    fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            reason: reason.into(),
        }
    }

    /// The field at fault, as in `main.single_world.ucr`; `.` if the file is no TOML.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    setting: RawSetting,
    main: RawMain,
    family: RawFamily,
    probe_budget: BTreeMap<String, RawCells>,
    alpha: BTreeMap<String, RawCells>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSetting {
    seeds: usize,
    calibration_episodes: u64,
    test_episodes: u64,
    alpha: f64,
    max_probes: u32,
    worlds_per_episode: [u32; 2],
    actions_per_episode: usize,
    families: Vec<Family>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMain {
    single_world: RawCells,
    safecommit_no_probe: RawCells,
    safecommit: RawCells,
    // A statement is read so that a file that says something else is refused; the claims check it.
    #[expect(dead_code, reason = "its type allows one value")]
    generic_one_probe: RawGeneric,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the type of each field allows one value")]
struct RawGeneric {
    ucr_vs_safecommit: AboutTwice,
    ts_vs_safecommit: Lower,
}

#[derive(Deserialize)]
enum AboutTwice {
    #[serde(rename = "about twice")]
    AboutTwice,
}

#[derive(Deserialize)]
enum Lower {
    #[serde(rename = "lower")]
    Lower,
}

#[derive(Deserialize)]
enum InEveryFamily {
    #[serde(rename = "in every family")]
    InEveryFamily,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFamily {
    ucr_range: [Percent; 2],
    ts_min: Percent,
    hardest: Vec<Family>,
    single_world_hardest: Vec<Family>,
    generic_one_probe_weakest: Family,
    #[expect(dead_code, reason = "its type allows one value")]
    generic_one_probe_below_single_world: InEveryFamily,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCells {
    ucr: Option<Percent>,
    ts: Option<Percent>,
    cc: Option<Percent>,
    fr: Option<Percent>,
    probes: Option<NonNegative>,
    same_as: Option<String>,
}

/// A rate in per cent.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
struct Percent(f64);

impl TryFrom<f64> for Percent {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if (0.0..=100.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(format!("`{value}` is not per cent, in [0, 100]"))
        }
    }
}

impl RawCells {
    /// The cells that are stated, in the order of the metrics.
    fn stated(&self) -> impl Iterator<Item = (Metric, f64)> {
        let rates = [self.ucr, self.ts, self.cc, self.fr];
        let rates = rates.map(|rate| rate.map(|Percent(value)| value));
        let probes = self.probes.map(NonNegative::get);
        Metric::ALL
            .into_iter()
            .zip(rates.into_iter().chain([probes]))
            .filter_map(|(metric, value)| Some((metric, value?)))
    }
}

impl Published {
    /// Reads a file of published figures.
    ///
    /// # Errors
    ///
    /// The text is no TOML, a field is missing, unknown or out of its range; the error names it.
    pub fn from_toml(text: &str) -> Result<Self, PublishedError> {
        let deserializer = toml::Deserializer::parse(text)
            .map_err(|error| PublishedError::new(WHOLE, error.message()))?;
        let raw: Raw = serde_path_to_error::deserialize(deserializer).map_err(|error| {
            PublishedError::new(field_path(error.path()), error.inner().message())
        })?;
        raw.check()
    }
}

impl Raw {
    fn check(self) -> Result<Published, PublishedError> {
        let setting = self.setting.check()?;
        let mut figures = Vec::new();
        let mut add = |experiment, method, alpha, max_probes, cells: &RawCells| {
            figures.extend(cells.stated().map(|(metric, value)| Figure {
                experiment,
                method,
                alpha,
                max_probes,
                metric,
                value,
            }));
        };
        let (alpha, budget) = (setting.alpha, setting.max_probes);
        for (method, cells) in [
            (MethodName::SingleWorld, &self.main.single_world),
            (
                MethodName::SafecommitNoProbe,
                &self.main.safecommit_no_probe,
            ),
            (MethodName::Safecommit, &self.main.safecommit),
        ] {
            add(
                Experiment::Main,
                method,
                alpha,
                method.probes_within(budget),
                cells,
            );
        }
        let mut same_budgets = Vec::new();
        for (key, cells) in &self.probe_budget {
            let field = format!("probe_budget.{key}");
            let budget = number(&field, key)?;
            add(
                Experiment::ProbeBudget,
                MethodName::Safecommit,
                alpha,
                budget,
                cells,
            );
            if let Some(other) = &cells.same_as {
                if !self.probe_budget.contains_key(other) {
                    let reason = format!("no probe budget `{other}` to be the same as");
                    return Err(PublishedError::new(field, reason));
                }
                same_budgets.push((budget, number(&field, other)?));
            }
        }
        for (key, cells) in &self.alpha {
            let level = key
                .parse::<Alpha>()
                .map_err(|error| PublishedError::new(format!("alpha.{key}"), error.to_string()))?;
            add(
                Experiment::Alpha,
                MethodName::Safecommit,
                level,
                budget,
                cells,
            );
        }
        Ok(Published {
            setting,
            figures,
            family: self.family.check()?,
            same_budgets,
        })
    }
}

impl RawSetting {
    fn check(self) -> Result<PublishedSetting, PublishedError> {
        let alpha =
            self.alpha
                .to_string()
                .parse()
                .map_err(|error: safecommit_conformal::AlphaError| {
                    PublishedError::new("setting.alpha", error.to_string())
                })?;
        Ok(PublishedSetting {
            seeds: self.seeds,
            calibration_episodes: self.calibration_episodes,
            test_episodes: self.test_episodes,
            alpha,
            max_probes: self.max_probes,
            worlds: self.worlds_per_episode,
            actions: self.actions_per_episode,
            families: self.families,
        })
    }
}

impl RawFamily {
    fn check(self) -> Result<FamilyFigures, PublishedError> {
        let [Percent(low), Percent(high)] = self.ucr_range;
        if high < low {
            let reason = format!("ends at `{high}`, below its beginning `{low}`");
            return Err(PublishedError::new("family.ucr_range", reason));
        }
        Ok(FamilyFigures {
            ucr_range: [low, high],
            ts_min: self.ts_min.0,
            hardest: self.hardest,
            single_world_hardest: self.single_world_hardest,
            generic_one_probe_weakest: self.generic_one_probe_weakest,
        })
    }
}

fn number(field: &str, text: &str) -> Result<u32, PublishedError> {
    text.parse()
        .map_err(|error| PublishedError::new(field, format!("`{text}` is no budget: {error}")))
}
