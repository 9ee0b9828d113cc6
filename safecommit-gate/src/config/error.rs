//! What can be wrong with a configuration.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::calibration::CalibrationFileError;
use crate::files::{FileProbeError, PatternError};
use crate::policy::PolicyError;
use crate::score::ScoreTermError;

/// A configuration that does not hold, with the place: `safecommit.toml:12: probes.status.cost: ...`.
#[derive(Debug)]
pub struct ConfigurationError {
    file: PathBuf,
    line: Option<usize>,
    field: Option<String>,
    problem: Box<ConfigurationProblem>,
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationProblem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// No TOML, a field that there is not, or a value of another type.
    #[error("{0}")]
    Form(String),
    /// A field that has to be there.
    #[error("it is missing")]
    Missing,
    /// Something other than a table.
    #[error("it has to be a table")]
    NoTable,
    /// A text that has no character, or control characters.
    #[error("`{0}` is no name: it is empty or has control characters")]
    Name(String),
    /// A number out of its range.
    #[error("`{value}` is not {range}")]
    Range {
        /// The number.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// A weight of the score.
    #[error(transparent)]
    Weight(#[from] ScoreTermError),
    /// A probe that there is not.
    #[error("there is no probe `{given}`; there are {}", known.join(", "))]
    UnknownProbe {
        /// Its name.
        given: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// A cost, timeout or error rate.
    #[error(transparent)]
    Probe(#[from] FileProbeError),
    /// A pattern of paths.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A path that cannot be followed, or that is not what it has to be.
    #[error("`{path}` cannot be used: {problem}")]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Something of the gate that an agent could change.
    #[error("`{0}` is in the workspace or reached through it, where an agent could change it")]
    InWorkspace(PathBuf),
    /// A workspace in the state directory.
    #[error("the workspace is in the state directory `{0}`")]
    WorkspaceInState(PathBuf),
    /// The policies.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The calibration.
    #[error(transparent)]
    Calibration(#[from] CalibrationFileError),
}

impl ConfigurationError {
    /// About the file as a whole.
    pub(crate) fn of_file(file: &Path, problem: ConfigurationProblem) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            field: None,
            problem: Box::new(problem),
        }
    }

    /// The same about a field.
    pub(super) fn in_field(mut self, field: String) -> Self {
        self.field = Some(field);
        self
    }

    /// About a line, and a field if one is at fault.
    pub(super) fn at(
        file: &Path,
        line: usize,
        field: Option<String>,
        problem: ConfigurationProblem,
    ) -> Self {
        Self {
            file: file.to_owned(),
            line: Some(line),
            field,
            problem: Box::new(problem),
        }
    }

    /// The configuration file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The line, from 1; `None` if the file as a whole is at fault, or another file that it names.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The field at fault, as in `probes.status.cost`; `None` if there is none.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &ConfigurationProblem {
        &self.problem
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.file.display())?;
        if let Some(line) = self.line {
            write!(out, "{line}:")?;
        }
        if let Some(field) = &self.field {
            write!(out, " {field}:")?;
        }
        write!(out, " {}", self.problem)
    }
}

impl std::error::Error for ConfigurationError {}
