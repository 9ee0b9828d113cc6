//! The configuration as it is written, before anything in it is checked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::Hidden;

/// The file. What may be left out is an option here, and so is what may not: the check says better what is missing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) workspace: Option<PathBuf>,
    pub(super) state: Option<PathBuf>,
    pub(super) principal: Option<String>,
    #[serde(default)]
    pub(super) policies: Policies,
    pub(super) calibration: Option<Calibration>,
    #[serde(default)]
    pub(super) score: Score,
    #[serde(default)]
    pub(super) support: Support,
    #[serde(default)]
    pub(super) budget: Budget,
    #[serde(default)]
    pub(super) control: Control,
    #[serde(default)]
    pub(super) probes: BTreeMap<String, Probe>,
    #[serde(default)]
    pub(super) clarifications: Clarifications,
    #[serde(default)]
    pub(super) files: Files,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default)]
    pub(super) severity: Severity,
    #[serde(default)]
    pub(super) deletion: Deletion,
    #[serde(default)]
    pub(super) self_protection: SelfProtection,
    #[serde(default)]
    pub(super) audit: Audit,
}

/// What has to be written as a table. Serde would take a list of the values in their order as well, in which a value
/// could stand for another field than the reader thinks.
pub(super) const TABLES: [&str; 14] = [
    "policies",
    "calibration",
    "score",
    "score.weights",
    "support",
    "budget",
    "control",
    "clarifications",
    "files",
    "limits",
    "severity",
    "deletion",
    "self_protection",
    "audit",
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policies {
    pub(super) files: Option<Vec<String>>,
    pub(super) schema: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calibration {
    pub(super) file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Score {
    #[serde(default)]
    pub(super) weights: Weights,
    pub(super) half_life_days: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weights {
    pub(super) provenance_or_age: Option<f64>,
    pub(super) inconsistency: Option<f64>,
    pub(super) tool_disagreement: Option<f64>,
    pub(super) policy_incompatibility: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Support {
    pub(super) max_worlds: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    pub(super) max_probes: Option<u32>,
    pub(super) max_cost: Option<f64>,
    pub(super) max_milliseconds: Option<u64>,
    pub(super) max_side_effect: Option<MaxSideEffect>,
}

/// What probes of files may do.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MaxSideEffect {
    ReadsNames,
    ReadsContent,
    RunsProgram,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Control {
    pub(super) temperature: Option<f64>,
    pub(super) verification: Option<Verification>,
    pub(super) price: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verification {
    WholeSupport,
    MostPlausible,
    Never,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Probe {
    pub(super) cost: Option<f64>,
    pub(super) timeout_milliseconds: Option<u64>,
    pub(super) error_rate: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clarifications {
    pub(super) cost: Option<f64>,
    pub(super) error_rate: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Files {
    pub(super) owner: Option<u32>,
    pub(super) protected: Option<Vec<String>>,
    pub(super) secret: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) entries: Option<u64>,
    pub(super) depth: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) milliseconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Severity {
    pub(super) delete: Option<f64>,
    pub(super) overwrite: Option<f64>,
    #[serde(rename = "move")]
    pub(super) moving: Option<f64>,
    pub(super) write: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deletion {
    pub(super) mode: Option<crate::execute::Deletion>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelfProtection {
    #[serde(default)]
    pub(super) paths: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Audit {
    pub(super) log: Option<PathBuf>,
    pub(super) head: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    #[serde(default)]
    pub(super) hide: Vec<Hidden>,
}
