//! What `audit` may be asked for.

use clap::Subcommand;
use safecommit_conformal::Delta;

use super::{ConfigurationArgument, EXIT_CODES, Format};
use crate::input::Source;

/// Check, show and use the audit log of a gate.
#[derive(Debug, Subcommand)]
#[command(after_help = EXIT_CODES)]
pub(crate) enum AuditCommand {
    Verify(VerifyArguments),
    Show(ShowArguments),
    Replay(ReplayArguments),
    Diagnose(DiagnoseArguments),
    Export(ExportArguments),
}

/// Check that the log is as it was written: no record changed, removed, moved or cut off.
///
/// The first record at which it is not is named, and the exit code is 1. Needs the head and the key. It
/// cannot tell that log and head were both put back to an older state: keep the head where that cannot
/// be done.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgument,
}

/// Show a decision of the log, or a line for each.
///
/// What is shown is not verified: `safecommit audit verify` does that.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ShowArguments {
    /// The name of the decision, or its number in the log, from 1; all are listed without it
    #[arg(value_name = "DECISION")]
    pub(crate) decision: Option<String>,

    /// Form of what is shown; of a list, JSON is an object a line
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgument,
}

/// Take every decision again from its record, and compare the bytes.
///
/// Each that comes out otherwise is named, and the exit code is then 1.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgument,
}

/// Attribute failures to their causes, given what turned out to be true, and estimate beta.
///
/// A label is a JSON object a line: the name of a decision, and the true world, facts of it, or the actions that
/// were safe, as in {"decision": "d-1", "true_facts": {"kind": "link"}, "safe_actions": []}. Causes are the
/// proposal (the true world was not among the worlds), the calibration (its score was above the threshold),
/// evidence (it was removed wrongly), the safety map (it was retained, and an unsafe action certified) and the
/// probe policy (probing ended before it was resolved which action is safe). Beta is how often the true world,
/// or a world with just its safe actions, was not proposed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DiagnoseArguments {
    /// What turned out to be true, JSONL (`safecommit schema label`); `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Source,

    /// The bounds on beta hold with probability 1 - DELTA
    #[arg(
        long,
        value_name = "DELTA",
        default_value = "0.05",
        allow_negative_numbers = true
    )]
    pub(crate) delta: Delta,

    /// Form of what is printed
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgument,
}

/// Write the log as lines of JSON, or check such lines. Either needs the key.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ExportArguments {
    /// Where to write, replaced atomically; standard output by default and for `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<Source>,

    /// Check an export instead: that each record is what was written, that none is missing, and that they
    /// end where the head says; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) check: Option<Source>,

    #[command(flatten)]
    pub(crate) configuration: ConfigurationArgument,
}
