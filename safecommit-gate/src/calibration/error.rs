//! What can be wrong with a calibration of the gate.

use std::path::{Path, PathBuf};

use crate::lines::reason;

/// A calibration that does not hold, or not here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateCalibrationError {
    /// No version of the score.
    #[error("the calibration names no version of the score")]
    NoVersion,
    /// Scores of another version.
    #[error(
        "the calibration is for scores of version `{calibrated}`, these are of version `{scored}`"
    )]
    ScoreVersion {
        /// The version that it is for.
        calibrated: String,
        /// The version of the scores at hand.
        scored: String,
    },
    /// A part of the group that is named twice.
    #[error("`by` has `{0}` twice")]
    Twice(&'static str),
    /// A part of the group that there is not.
    #[error("`by` has `{0}`, which is none of family, severity, source")]
    UnknownPart(String),
    /// Parts of the group, but one calibration for all.
    #[error("`by` names what strata are made of, but there is one calibration for all")]
    NoStrata,
    /// Calibrations by stratum without the parts of the group.
    #[error("`by` does not name what the strata are made of")]
    NoParts,
    /// A stratum of another length.
    #[error("stratum `{stratum}` has not as many labels as `by` has parts, which is {parts}")]
    Labels {
        /// The stratum.
        stratum: String,
        /// How many labels it should have.
        parts: usize,
    },
    /// A calibration that cannot be written as JSON.
    #[error("the calibration has no JSON form: {0}")]
    NoForm(String),
}

/// A file that holds no calibration for this gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationFileError {
    /// It cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// It is no JSON of a calibration, or does not hold.
    #[error("{}:{line}: {problem}", file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// It is a calibration, but not one of a gate.
    #[error(
        "{}:1: this is {kind}; a gate takes one that names the version of its scores, which `safecommit calibrate --audit LOG --labels FILE` makes",
        file.display()
    )]
    OtherKind {
        /// The file.
        file: PathBuf,
        /// What it is, and what makes such files.
        kind: String,
    },
    /// It is for other scores.
    #[error("{}: {error}: calibrate anew, on decisions that were scored so", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What it is for.
        error: GateCalibrationError,
    },
}

impl CalibrationFileError {
    pub(super) fn form(file: &Path, error: &serde_json::Error) -> Self {
        Self::Form {
            file: file.to_owned(),
            line: error.line().max(1),
            problem: reason(error),
        }
    }
}
