//! The configuration of a gate: one file, checked on the way in.

mod check;
mod document;
mod error;
mod place;
mod raw;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use safecommit_core::SettingsProposal;
use serde::{Deserialize, Serialize};

use crate::audit::{LogKey, RedactedField, Redaction};
use crate::calibration::{CalibrationFileError, GateCalibration};
use crate::domain::{Clarifications, SideEffect};
use crate::execute::Deletion;
use crate::files::{FileProbe, FileQuestion, FileSettings, Limits, Patterns, score_version};
use crate::policy::{FILE_POLICIES, FILE_SCHEMA, PolicyText, SafetyPolicies};
use crate::score::ScoreWeights;

pub use error::{ConfigurationError, ConfigurationProblem};

/// The configuration of a gate, as `safecommit.toml` says it. Paths in the file are relative to its directory, those of
/// the audit log to the state directory. Whatever decides about the gate lies outside the workspace, or an agent that
/// works there could change it: the file itself, policies, calibration, state, log, head and key, and every link on the
/// way to them.
///
/// ```
/// use safecommit_gate::{FileQuestion, GateConfiguration};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("project"))?;
/// let file = folder.path().join("safecommit.toml");
/// std::fs::write(&file, "workspace = 'project'\nstate = 'state'\n[probes.status]\ncost = 2\n")?;
/// let configuration = GateConfiguration::load(&file)?;
/// assert_eq!(configuration.probe(FileQuestion::Status).cost(), 2.0);
/// assert_eq!(configuration.principal(), "agent");
/// assert!(configuration.calibration()?.is_none(), "the threshold is unbounded");
///
/// std::fs::write(&file, "workspace = 'project'\nstate = 'project/state'\n")?;
/// let error = GateConfiguration::load(&file).unwrap_err();
/// assert_eq!((error.line(), error.field()), (Some(2), Some("state")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GateConfiguration {
    file: PathBuf,
    workspace: PathBuf,
    state: PathBuf,
    principal: String,
    policies: Vec<NamedFile>,
    schema: Option<NamedFile>,
    calibration: Option<PathBuf>,
    weights: ScoreWeights,
    half_life_days: f64,
    max_worlds: usize,
    settings: SettingsProposal,
    max_side_effect: SideEffect,
    /// One for each question, in the order of [`FileQuestion::ALL`].
    probes: Vec<FileProbe>,
    clarifications: Clarifications,
    owner: u32,
    protected: Patterns,
    secret: Patterns,
    limits: Limits,
    severities: Severities,
    deletion: Deletion,
    log: PathBuf,
    head: PathBuf,
    key: PathBuf,
    hidden: BTreeSet<Hidden>,
    guarded: Vec<PathBuf>,
}

/// A file of policies: the name under which errors and the digest of the policies know it, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedFile {
    name: String,
    path: PathBuf,
}

/// How grave each action is, in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Severities {
    delete: f64,
    overwrite: f64,
    moving: f64,
    write: f64,
}

/// What the audit log keeps as keyed codes in place of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hidden {
    /// Details that are paths, and these paths wherever else they occur in a text; and the agent's own words, in which a
    /// path may stand: the tool, the ids of evidence that it uses, names of questions to persons.
    Paths,
    /// Names of decisions.
    Decisions,
    /// What went wrong, in words.
    Errors,
}

impl GateConfiguration {
    /// Reads and checks a configuration. Policies and calibration are read by [`Self::policies`] and
    /// [`Self::calibration`], so that what needs neither works without them.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError`] with file, line and field.
    pub fn load(file: &Path) -> Result<Self, ConfigurationError> {
        check::load(file)
    }

    /// The text of a configuration with every default written out and explained, to start one from.
    ///
    /// ```
    /// use safecommit_gate::GateConfiguration;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::create_dir(folder.path().join("project"))?;
    /// let file = folder.path().join("safecommit.toml");
    /// std::fs::write(&file, GateConfiguration::text("project", "state"))?;
    /// assert!(GateConfiguration::load(&file).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn text(workspace: &str, state: &str) -> String {
        text::text(workspace, state, None)
    }

    /// The same with policies of one's own: a file of them, and their schema.
    #[must_use]
    pub fn text_with_policies(
        workspace: &str,
        state: &str,
        policies: &str,
        schema: &str,
    ) -> String {
        text::text(workspace, state, Some((policies, schema)))
    }

    /// The configuration file, without links.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The directory beneath which actions may have effects, without links.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The state directory, without links: journal and trash, and the audit log unless it is elsewhere. It need not exist.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// On whose behalf actions are proposed.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.principal
    }

    /// The safety policies: the ones that come with the crate unless others are configured.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError`] for a file that cannot be read, and for policies that do not hold.
    pub fn policies(&self) -> Result<SafetyPolicies, ConfigurationError> {
        let refuse = |problem| ConfigurationError::of_file(&self.file, problem);
        let read = |field: String, file: &NamedFile| {
            std::fs::read_to_string(&file.path).map_err(|error| {
                refuse(ConfigurationProblem::Path {
                    path: file.path.clone(),
                    problem: error.to_string(),
                })
                .in_field(field)
            })
        };
        let texts = self
            .policies
            .iter()
            .enumerate()
            .map(|(at, file)| read(format!("policies.files[{at}]"), file))
            .collect::<Result<Vec<_>, _>>()?;
        let mut policies: Vec<PolicyText<'_>> = Vec::new();
        for (file, text) in self.policies.iter().zip(&texts) {
            let name = &file.name;
            policies.push(PolicyText { name, text });
        }
        if policies.is_empty() {
            policies.push(FILE_POLICIES);
        }
        let schema = self.schema.as_ref();
        let schema_text = schema.map(|file| read("policies.schema".to_owned(), file));
        let schema_text = schema_text.transpose()?;
        let schema = match (&self.schema, &schema_text) {
            (Some(NamedFile { name, .. }), Some(text)) => PolicyText { name, text },
            _ => FILE_SCHEMA,
        };
        SafetyPolicies::load(&policies, schema).map_err(|error| refuse(error.into()))
    }

    /// The calibration; `None` if none is configured, and then no world is excluded by its score.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError`] for a file that cannot be read or is no calibration, and for one of another
    /// [version of the score](Self::score_version).
    pub fn calibration(&self) -> Result<Option<GateCalibration>, ConfigurationError> {
        let Some(path) = &self.calibration else {
            return Ok(None);
        };
        let refuse = |error: CalibrationFileError| {
            ConfigurationError::of_file(&self.file, ConfigurationProblem::Calibration(error))
                .in_field("calibration.file".to_owned())
        };
        let calibration = GateCalibration::read(path).map_err(refuse)?;
        match calibration.serves(&self.score_version()?) {
            Ok(()) => Ok(Some(calibration)),
            Err(error) => Err(refuse(CalibrationFileError::Foreign {
                file: path.clone(),
                error,
            })),
        }
    }

    /// The weights of the score (Eq. 9 of Akewar and Ranjan, arXiv:2608.04289).
    #[must_use]
    pub fn weights(&self) -> &ScoreWeights {
        &self.weights
    }

    /// After how many days a memory has lost half of its worth: finite, above zero.
    #[must_use]
    pub fn half_life_days(&self) -> f64 {
        self.half_life_days
    }

    /// The version of the score: the rule, its weights, the half-life, the policies, and a permanent deletion. A threshold
    /// serves no other.
    ///
    /// # Errors
    ///
    /// Those of [`Self::policies`].
    pub fn score_version(&self) -> Result<String, ConfigurationError> {
        let policies = self.policies()?;
        Ok(score_version(
            &self.weights,
            self.half_life_days,
            &policies,
            self.deletion,
        ))
    }

    /// The most worlds that are proposed, at least 1. What is beyond is one world more, in which nothing is safe.
    #[must_use]
    pub fn max_worlds(&self) -> usize {
        self.max_worlds
    }

    /// How the controller decides. Its steps of time are milliseconds; probes are chosen by what they tell about what is safe.
    #[must_use]
    pub fn settings(&self) -> SettingsProposal {
        self.settings.clone()
    }

    /// What a probe may do at most that is made without a person.
    #[must_use]
    pub fn max_side_effect(&self) -> SideEffect {
        self.max_side_effect
    }

    /// The probe that asks a question, with its cost, timeout and error rate.
    #[must_use]
    pub fn probe(&self, question: FileQuestion) -> FileProbe {
        let mut probes = self.probes.iter();
        let probe = probes.find(|probe| probe.question() == question);
        probe.cloned().unwrap_or_else(|| FileProbe::new(question))
    }

    /// What asking a person costs, and how often the answer is wrong.
    #[must_use]
    pub fn clarifications(&self) -> Clarifications {
        self.clarifications
    }

    /// What probes of files need to know; no memory.
    #[must_use]
    pub fn file_settings(&self) -> FileSettings {
        FileSettings {
            limits: self.limits,
            owner: self.owner,
            memory: None,
            protected: self.protected.clone(),
            secret: self.secret.clone(),
        }
    }

    /// How much of a tree is looked at.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How grave an action is, in [0, 1]; `None` if there is no such action.
    #[must_use]
    pub fn severity(&self, action: &str) -> Option<f64> {
        match action {
            "delete" => Some(self.severities.delete),
            "overwrite" => Some(self.severities.overwrite),
            "move" => Some(self.severities.moving),
            "write" => Some(self.severities.write),
            _ => None,
        }
    }

    /// What becomes of what is deleted.
    #[must_use]
    pub fn deletion(&self) -> Deletion {
        self.deletion
    }

    /// The group of a severity: `high` from 0.7, `medium` from 0.3, else `low`.
    #[must_use]
    pub fn severity_group(severity: f64) -> &'static str {
        if severity >= 0.7 {
            "high"
        } else if severity >= 0.3 {
            "medium"
        } else {
            "low"
        }
    }

    /// The audit log.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The head of the audit log.
    #[must_use]
    pub fn head(&self) -> &Path {
        &self.head
    }

    /// The key of the audit log.
    #[must_use]
    pub fn key(&self) -> &Path {
        &self.key
    }

    /// What the audit log keeps as codes.
    pub fn hidden(&self) -> impl Iterator<Item = Hidden> + '_ {
        self.hidden.iter().copied()
    }

    /// The redaction that the audit log is kept with; `None` if nothing is hidden. `path_details` are the names of the
    /// details of an entry that hold paths.
    #[must_use]
    pub fn redaction(
        &self,
        key: LogKey,
        path_details: impl IntoIterator<Item = impl Into<String>>,
    ) -> Option<Redaction> {
        let mut fields = Vec::new();
        for hidden in &self.hidden {
            match hidden {
                Hidden::Decisions => fields.push(RedactedField::Decision),
                Hidden::Errors => fields.push(RedactedField::Error),
                Hidden::Paths => {}
            }
        }
        if self.hidden.contains(&Hidden::Paths) {
            let details = path_details.into_iter();
            fields.extend(details.map(|name| RedactedField::Detail(name.into())));
            fields.push(RedactedField::Question);
            // Why a probe failed is said in the words of the system, which name what is at the path.
            fields.push(RedactedField::Failure);
        }
        (!self.hidden.is_empty()).then(|| Redaction::new(key, fields))
    }

    /// Every path that belongs to the gate, with what lies below it: no action may touch one. These are the
    /// configuration, policies, schema, calibration, state, log, head and key, the program that runs, the configured
    /// further ones, and links on the way to any of them. None has a link in it but at its end.
    #[must_use]
    pub fn guarded_paths(&self) -> &[PathBuf] {
        &self.guarded
    }
}
