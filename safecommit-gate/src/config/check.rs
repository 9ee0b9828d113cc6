//! From the text of a configuration to one that holds.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use safecommit_core::{ProbingProposal, SettingsProposal, VerificationProposal};

use super::document::Document;
use super::error::{ConfigurationError, ConfigurationProblem as Problem};
use super::place::Way;
use super::raw::{self, MaxSideEffect, Raw, Verification};
use super::{GateConfiguration, NamedFile, Severities};
use crate::domain::{Clarifications, SideEffect};
use crate::evidence::BeliefRule;
use crate::files::{FileProbe, FileQuestion, Limits, PROTECTED, Patterns, SECRET};
use crate::gate::MAX_WORLDS;
use crate::score::ScoreWeights;

/// The defaults that are not those of another type.
pub(super) const PRINCIPAL: &str = "agent";
pub(super) const MAX_MILLISECONDS: u64 = 60_000;
pub(super) const TEMPERATURE: f64 = 0.25;
pub(super) const PRICE: f64 = 0.0;
pub(super) const SEVERITIES: Severities = Severities {
    delete: 1.0,
    overwrite: 0.8,
    moving: 0.4,
    write: 0.2,
};
pub(super) const LOG: &str = "audit.db";
pub(super) const HEAD: &str = "audit.head";
pub(super) const KEY: &str = "audit.key";

pub(super) fn load(file: &Path) -> Result<GateConfiguration, ConfigurationError> {
    let unreadable = |error| ConfigurationError::of_file(file, Problem::Unreadable(error));
    let bytes = std::fs::read(file).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(valid);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        let problem = Problem::Form("the text is not valid UTF-8".to_owned());
        ConfigurationError::at(file, line, None, problem)
    })?;
    let document = Document::parse(&text).map_err(|(line, message)| {
        ConfigurationError::at(file, line, None, Problem::Form(message))
    })?;
    let check = Check {
        file,
        document: &document,
    };
    let raw = check.read(&text)?;
    check.configuration(raw)
}

/// A file whose fields are checked one after the other.
struct Check<'a> {
    file: &'a Path,
    document: &'a Document<'a>,
}

type Checked<T> = Result<T, ConfigurationError>;

impl Check<'_> {
    fn read(&self, text: &str) -> Checked<Raw> {
        let probes = FileQuestion::ALL.map(|question| format!("probes.{}", question.name()));
        let mut tables = raw::TABLES.into_iter().chain(["probes"]);
        let mut probes = probes.iter().map(String::as_str);
        let is_none = |field: &&str| self.document.is_no_table(field);
        if let Some(field) = tables.find(is_none).or_else(|| probes.find(is_none)) {
            return Err(self.at(field, Problem::NoTable));
        }
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let (line, field) = (self.document.line_at(at), self.document.field_at(at));
            let problem = Problem::Form(error.message().to_owned());
            ConfigurationError::at(self.file, line, field, problem)
        })
    }

    fn configuration(&self, raw: Raw) -> Checked<GateConfiguration> {
        let file = self.way("", self.file)?;
        let directory = file.end.parent().unwrap_or(&file.end).to_owned();
        let workspace = raw.workspace.ok_or(Problem::Missing);
        let workspace = workspace.map_err(|problem| self.at("workspace", problem))?;
        let workspace = self.workspace(&directory.join(workspace))?;
        let mut guarded = Vec::new();
        let mut guard = |field: &str, path: &Path| {
            let way = self.way(field, path)?;
            if way.touches(&workspace.path, workspace.identity) {
                return Err(self.at(field, Problem::InWorkspace(path.to_owned())));
            }
            let end = way.end.clone();
            guarded.extend(way.places());
            Ok(end)
        };

        let file = guard("", self.file)?;
        let state = raw.state.ok_or(Problem::Missing);
        let state = state.map_err(|problem| self.at("state", problem))?;
        let state = guard("state", &directory.join(state))?;
        if workspace.path.starts_with(&state) {
            return Err(self.at("state", Problem::WorkspaceInState(state)));
        }
        let mut policies = Vec::new();
        let listed = raw.policies.files.unwrap_or_default();
        for (at, name) in listed.into_iter().enumerate() {
            let path = guard(&format!("policies.files[{at}]"), &directory.join(&name))?;
            policies.push(NamedFile { name, path });
        }
        let schema = match raw.policies.schema {
            None => None,
            Some(name) => {
                let path = guard("policies.schema", &directory.join(&name))?;
                Some(NamedFile { name, path })
            }
        };
        let calibration = match raw.calibration {
            None => None,
            Some(raw::Calibration { file: None }) => {
                return Err(self.at("calibration.file", Problem::Missing));
            }
            Some(raw::Calibration { file: Some(file) }) => {
                Some(guard("calibration.file", &directory.join(file))?)
            }
        };
        let mut of_state = |field, path: Option<PathBuf>, default| {
            let path = path.unwrap_or_else(|| PathBuf::from(default));
            guard(field, &state.join(path))
        };
        let log = of_state("audit.log", raw.audit.log, LOG)?;
        let head = of_state("audit.head", raw.audit.head, HEAD)?;
        let key = of_state("audit.key", raw.audit.key, KEY)?;
        // What SQLite keeps beside a database.
        for suffix in ["-wal", "-shm", "-journal"] {
            let mut beside = log.clone().into_os_string();
            beside.push(suffix);
            guarded.push(beside.into());
        }
        if let Ok(program) = std::env::current_exe() {
            guarded.extend(self.way("", &program)?.places());
        }
        for (at, path) in raw.self_protection.paths.iter().enumerate() {
            let field = format!("self_protection.paths[{at}]");
            guarded.extend(self.way(&field, &directory.join(path))?.places());
        }
        guarded.sort();
        guarded.dedup();

        Ok(GateConfiguration {
            file,
            workspace: workspace.path,
            state,
            principal: self.principal(raw.principal)?,
            policies,
            schema,
            calibration,
            weights: self.weights(&raw.score.weights)?,
            half_life_days: self.number(
                "score.half_life_days",
                raw.score
                    .half_life_days
                    .unwrap_or_else(|| BeliefRule::default().half_life()),
                "finite, above 0",
                |days| days > 0.0,
            )?,
            max_worlds: self.max_worlds(raw.support.max_worlds)?,
            settings: self.settings(&raw.budget, &raw.control)?,
            max_side_effect: match raw.budget.max_side_effect {
                Some(MaxSideEffect::ReadsNames) => SideEffect::ReadsNames,
                Some(MaxSideEffect::ReadsContent) => SideEffect::ReadsContent,
                Some(MaxSideEffect::RunsProgram) | None => SideEffect::RunsProgram,
            },
            probes: self.probes(&raw.probes)?,
            clarifications: self.clarifications(&raw.clarifications)?,
            owner: (raw.files.owner).unwrap_or_else(|| rustix::process::geteuid().as_raw()),
            protected: self.patterns("files.protected", raw.files.protected, &PROTECTED)?,
            secret: self.patterns("files.secret", raw.files.secret, &SECRET)?,
            limits: self.limits(&raw.limits)?,
            severities: self.severities(&raw.severity)?,
            deletion: raw.deletion.mode.unwrap_or_default(),
            log,
            head,
            key,
            hidden: BTreeSet::from_iter(raw.audit.hide),
            guarded,
        })
    }

    fn workspace(&self, path: &Path) -> Checked<Directory> {
        let refuse = |problem: String| {
            let path = path.to_owned();
            self.at("workspace", Problem::Path { path, problem })
        };
        let real = std::fs::canonicalize(path).map_err(|error| refuse(error.to_string()))?;
        let found = std::fs::metadata(&real).map_err(|error| refuse(error.to_string()))?;
        if !found.is_dir() {
            return Err(refuse("it is no directory".to_owned()));
        }
        Ok(Directory {
            path: real,
            identity: (found.dev(), found.ino()),
        })
    }

    fn way(&self, field: &str, path: &Path) -> Checked<Way> {
        Way::follow(path).map_err(|error| {
            let (path, problem) = (path.to_owned(), error.to_string());
            self.at(field, Problem::Path { path, problem })
        })
    }

    fn principal(&self, given: Option<String>) -> Checked<String> {
        let given = given.unwrap_or_else(|| PRINCIPAL.to_owned());
        if given.is_empty() || given.chars().any(char::is_control) {
            return Err(self.at("principal", Problem::Name(given)));
        }
        Ok(given)
    }

    fn weights(&self, given: &raw::Weights) -> Checked<ScoreWeights> {
        let defaults = ScoreWeights::default().as_array();
        let given = [
            ("provenance_or_age", given.provenance_or_age),
            ("inconsistency", given.inconsistency),
            ("tool_disagreement", given.tool_disagreement),
            ("policy_incompatibility", given.policy_incompatibility),
        ];
        let mut weights = defaults;
        for (at, (name, value)) in given.into_iter().enumerate() {
            weights[at] = value.unwrap_or(defaults[at]);
            // One after the other, so that the error is where the weight is.
            ScoreWeights::new(weights)
                .map_err(|error| self.at(&format!("score.weights.{name}"), error.into()))?;
        }
        ScoreWeights::new(weights).map_err(|error| self.at("score.weights", error.into()))
    }

    fn max_worlds(&self, given: Option<u32>) -> Checked<usize> {
        let given = given.map_or(MAX_WORLDS, |given| given as usize);
        self.least_one("support.max_worlds", given as u64)?;
        Ok(given)
    }

    fn settings(&self, budget: &raw::Budget, control: &raw::Control) -> Checked<SettingsProposal> {
        let least_zero = |value: f64| value >= 0.0;
        let max_cost = budget
            .max_cost
            .map(|cost| self.number("budget.max_cost", cost, "finite, at least 0", least_zero));
        let temperature = self.number(
            "control.temperature",
            control.temperature.unwrap_or(TEMPERATURE),
            "finite, above 0",
            |value| value > 0.0,
        )?;
        let price = self.number(
            "control.price",
            control.price.unwrap_or(PRICE),
            "finite, at least 0",
            least_zero,
        )?;
        Ok(SettingsProposal {
            temperature: Some(temperature),
            max_probes: budget.max_probes,
            max_cost: max_cost.transpose()?,
            max_steps: Some(budget.max_milliseconds.unwrap_or(MAX_MILLISECONDS)),
            verification: Some(match control.verification {
                None | Some(Verification::WholeSupport) => {
                    VerificationProposal::WholeSupport { price }
                }
                Some(Verification::MostPlausible) => VerificationProposal::MostPlausible,
                Some(Verification::Never) => VerificationProposal::Never,
            }),
            // Where some world allows no candidate, no probe has any expected shrinkage.
            probing: Some(ProbingProposal::SafetyInformation),
            ..SettingsProposal::default()
        })
    }

    fn probes(
        &self,
        given: &std::collections::BTreeMap<String, raw::Probe>,
    ) -> Checked<Vec<FileProbe>> {
        let known = FileQuestion::ALL.map(FileQuestion::name);
        if let Some(name) = given.keys().find(|name| !known.contains(&name.as_str())) {
            let problem = Problem::UnknownProbe {
                given: name.clone(),
                known: known.to_vec(),
            };
            return Err(self.at(&format!("probes.{name}"), problem));
        }
        let probe = |question: FileQuestion| {
            let probe = FileProbe::new(question);
            let Some(given) = given.get(question.name()) else {
                return Ok(probe);
            };
            let mut probe = probe;
            let timeout = given.timeout_milliseconds.map(Duration::from_millis);
            // One after the other, so that the error is where the value is.
            for (field, cost, timeout, error_rate) in [
                ("cost", given.cost, None, None),
                ("timeout_milliseconds", None, timeout, None),
                ("error_rate", None, None, given.error_rate),
            ] {
                let changed = probe.clone().with(
                    cost.unwrap_or(probe.cost()),
                    timeout.unwrap_or(probe.timeout()),
                    error_rate.unwrap_or(probe.error_rate()),
                );
                let field = format!("probes.{}.{field}", question.name());
                probe = changed.map_err(|error| self.at(&field, error.into()))?;
            }
            Ok(probe)
        };
        FileQuestion::ALL.into_iter().map(probe).collect()
    }

    fn clarifications(&self, given: &raw::Clarifications) -> Checked<Clarifications> {
        let default = Clarifications::default();
        let cost = given.cost.unwrap_or(default.cost);
        let rate = given.error_rate.unwrap_or(default.error_rate);
        Ok(Clarifications {
            cost: self.number("clarifications.cost", cost, "finite, above 0", |cost| {
                cost > 0.0
            })?,
            error_rate: self.number("clarifications.error_rate", rate, "in [0, 1]", |rate| {
                (0.0..=1.0).contains(&rate)
            })?,
        })
    }

    fn patterns(
        &self,
        field: &str,
        given: Option<Vec<String>>,
        default: &[&str],
    ) -> Checked<Patterns> {
        let Some(given) = given else {
            return Patterns::new(default).map_err(|error| self.at(field, error.into()));
        };
        for (at, pattern) in given.iter().enumerate() {
            let place = || format!("{field}[{at}]");
            Patterns::new([pattern]).map_err(|error| self.at(&place(), error.into()))?;
        }
        Patterns::new(given).map_err(|error| self.at(field, error.into()))
    }

    fn limits(&self, given: &raw::Limits) -> Checked<Limits> {
        let default = Limits::default();
        let limits = Limits {
            entries: given.entries.unwrap_or(default.entries),
            depth: given.depth.unwrap_or(default.depth),
            bytes: given.bytes.unwrap_or(default.bytes),
            time: given
                .milliseconds
                .map_or(default.time, Duration::from_millis),
        };
        self.least_one("limits.entries", limits.entries)?;
        self.least_one("limits.milliseconds", given.milliseconds.unwrap_or(1))?;
        if limits.depth > 512 {
            let value = limits.depth.to_string();
            let range = "at most 512";
            return Err(self.at("limits.depth", Problem::Range { value, range }));
        }
        Ok(limits)
    }

    fn severities(&self, given: &raw::Severity) -> Checked<Severities> {
        let check = |name: &str, given: Option<f64>, default: f64| {
            let field = format!("severity.{name}");
            let within = |value: f64| (0.0..=1.0).contains(&value);
            self.number(&field, given.unwrap_or(default), "in [0, 1]", within)
        };
        Ok(Severities {
            delete: check("delete", given.delete, SEVERITIES.delete)?,
            overwrite: check("overwrite", given.overwrite, SEVERITIES.overwrite)?,
            moving: check("move", given.moving, SEVERITIES.moving)?,
            write: check("write", given.write, SEVERITIES.write)?,
        })
    }

    fn number(
        &self,
        field: &str,
        value: f64,
        range: &'static str,
        holds: impl Fn(f64) -> bool,
    ) -> Checked<f64> {
        if value.is_finite() && holds(value) {
            // No negative zero.
            return Ok(value + 0.0);
        }
        let value = value.to_string();
        Err(self.at(field, Problem::Range { value, range }))
    }

    fn least_one(&self, field: &str, value: u64) -> Checked<()> {
        if value > 0 {
            return Ok(());
        }
        let (value, range) = (value.to_string(), "at least 1");
        Err(self.at(field, Problem::Range { value, range }))
    }

    /// An error in a field; in the file as a whole if the field is empty.
    fn at(&self, field: &str, problem: Problem) -> ConfigurationError {
        if field.is_empty() {
            return ConfigurationError::of_file(self.file, problem);
        }
        let line = self.document.line_of(field);
        ConfigurationError::at(self.file, line, Some(field.to_owned()), problem)
    }
}

struct Directory {
    path: PathBuf,
    identity: (u64, u64),
}
