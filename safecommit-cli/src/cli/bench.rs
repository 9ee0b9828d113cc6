//! What `bench` may be asked for.

use std::path::PathBuf;

use clap::Subcommand;
use safecommit_bench::MethodName;
use safecommit_conformal::Alpha;

use super::EXIT_CODES;
use crate::input::Source;

/// Generate the controlled benchmark, or run a method on it.
#[derive(Debug, Subcommand)]
#[command(after_help = EXIT_CODES)]
pub(crate) enum BenchCommand {
    Generate(GenerateArguments),
    Run(RunArguments),
}

/// Write the frozen splits of the benchmark and their manifest.
///
/// The files are train.jsonl, validation.jsonl, calibration.jsonl, test.jsonl and manifest.json, the
/// same bytes on every machine. Each replaces an existing one atomically, the manifest last.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct GenerateArguments {
    /// Directory to write to; made if its parent exists
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Run one method on the test split, with the threshold from the calibration split.
///
/// Writes a decision a line in the order of the test file,
/// {"id","decision","action","probes","kappa"}: decision is commit, defer, escalate or abstain; action
/// is null unless commit; probes are ids in the order made; kappa is the threshold, null if unbounded.
/// Prints counts and rates.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RunArguments {
    /// Directory with the four splits and the manifest that they are checked against
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// Method: single_world, generic_one_probe, conflict_abstention, safecommit_no_probe, safecommit
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: MethodName,

    /// Miscoverage level: a decimal strictly between 0 and 1, such as 0.05
    #[arg(long, value_name = "ALPHA", allow_negative_numbers = true)]
    pub(crate) alpha: Alpha,

    /// Most probes an episode; only safecommit takes a budget
    #[arg(long, value_name = "B")]
    pub(crate) max_probes: u32,

    /// Where to write the decisions, replaced atomically; `-` writes them to standard output, and the
    /// counts to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Source,
}
