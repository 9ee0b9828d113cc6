//! The command line: what may be typed, and what it is checked into.

#[cfg(unix)]
mod audit;
mod bench;
mod calibrate;
mod decide;
#[cfg(target_os = "linux")]
mod gate;
#[cfg(unix)]
mod init;
#[cfg(unix)]
mod restore;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

#[cfg(unix)]
pub(crate) use audit::{AuditCommand, DiagnoseArguments, ExportArguments, ShowArguments};
pub(crate) use bench::{BenchCommand, RunArguments};
pub(crate) use calibrate::{Calibrate, CalibrateArguments, Declared, Origin, Promise};
pub(crate) use decide::{Decide, DecideArguments, DecideOutput, Format};
#[cfg(target_os = "linux")]
pub(crate) use gate::{GateArguments, GateCommand};
#[cfg(unix)]
pub(crate) use init::InitArguments;
#[cfg(unix)]
pub(crate) use restore::RestoreArguments;

const EXIT_CODES: &str = "\
Exit codes:
  0  success; for a single `decide` or `gate`: commit
  1  failure: a file that cannot be read or written, or that holds a bad value
  2  usage: an unknown option, a bad value on the command line (such as --alpha 1)
  3  a single `decide` or `gate`: a probe is needed, or an answer
  4  a single `decide` or `gate`: fallback (defer, escalate or abstain)";

/// Decide whether an agent may execute a side-effectful action: only if the action is safe in every
/// explanation of the evidence that is still plausible.
#[derive(Debug, Parser)]
#[command(name = "safecommit", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Decide(DecideArguments),
    Schema(SchemaArguments),
    Calibrate(Box<CalibrateArguments>),
    #[cfg(target_os = "linux")]
    Gate(GateArguments),
    #[cfg(unix)]
    Init(InitArguments),
    #[cfg(unix)]
    Restore(RestoreArguments),
    #[cfg(unix)]
    #[command(subcommand)]
    Audit(AuditCommand),
    #[command(subcommand)]
    Bench(BenchCommand),
}

/// Which gate is meant.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigurationArgument {
    /// The configuration of the gate [default: the environment's SAFECOMMIT_CONFIG, else safecommit.toml
    /// in the current directory]
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
}

/// Who says where the configuration is.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedBy {
    Option,
    Environment,
    Default,
}

#[cfg(unix)]
impl ConfigurationArgument {
    /// The file that is meant, and who says so.
    pub(crate) fn file(&self) -> (std::path::PathBuf, NamedBy) {
        if let Some(file) = &self.config {
            return (file.clone(), NamedBy::Option);
        }
        match std::env::var_os("SAFECOMMIT_CONFIG").filter(|file| !file.is_empty()) {
            Some(file) => (file.into(), NamedBy::Environment),
            None => ("safecommit.toml".into(), NamedBy::Default),
        }
    }
}

/// Print the JSON Schema (draft 2020-12) of a form that is read or written here.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SchemaArguments {
    /// Which form
    #[arg(value_enum)]
    pub(crate) form: SchemaForm,
}

/// The forms that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaForm {
    /// What `decide` reads
    Request,
    /// What `decide --format json` and `decide --jsonl` print
    Decision,
    /// What `gate` reads: the proposal of an agent
    #[cfg(target_os = "linux")]
    Proposal,
    /// What `gate --format json` and `gate --jsonl` print
    #[cfg(target_os = "linux")]
    GateDecision,
    /// What persons answered, which `gate --answers` reads
    #[cfg(target_os = "linux")]
    Answers,
    /// A line of evidence, which `gate --evidence` reads
    Evidence,
    /// A line of what turned out to be true, which `audit diagnose --labels` and `calibrate --labels` read
    Label,
    /// What `audit show DECISION --format json` prints: a record of the log
    #[cfg(unix)]
    AuditRecord,
    /// A line of what `audit show --format json` prints: a decision in the list of all
    #[cfg(unix)]
    AuditLine,
    /// What `audit diagnose --format json` prints
    #[cfg(unix)]
    Diagnosis,
    /// What `calibrate --scores` writes and `decide --calibration` reads
    Calibration,
    /// What `calibrate --audit` writes and a gate reads, if its configuration names it
    GateCalibration,
    /// What `decide --jsonl` and `gate --jsonl` print for a line that is no request
    Error,
}

/// A usage error about options that do not go together.
fn conflict(message: &str) -> clap::Error {
    Cli::command().error(ErrorKind::ArgumentConflict, message)
}

/// A usage error about a value.
fn bad_value(message: impl std::fmt::Display) -> clap::Error {
    Cli::command().error(ErrorKind::ValueValidation, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
