//! The command line: what may be typed, and what it is checked into.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use safecommit_bench::MethodName;
use safecommit_conformal::Alpha;

use crate::input::Source;
use crate::scores::Kind;

const EXIT_CODES: &str = "\
Exit codes:
  0  success; for a single `decide`: commit
  1  failure: a file that cannot be read or written, or that holds a bad value
  2  usage: an unknown option, a bad value on the command line (such as --alpha 1)
  3  a single `decide`: a probe is needed
  4  a single `decide`: fallback (defer, escalate or abstain)";

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
    Calibrate(CalibrateArguments),
    #[command(subcommand)]
    Bench(BenchCommand),
}

/// Decide on a request: commit an action, make a probe, or fall back.
///
/// Reads candidate actions, worlds with scores and safe actions, probes and their outcomes so far
/// (`safecommit schema request` describes the form), and prints the action to commit with its
/// certificate, or the probe to make with its expected certificate shrinkage, or the fallback with
/// its reason; and for every action the plausible worlds that block it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DecideArguments {
    /// JSON file with the request; `-` reads standard input
    #[arg(value_name = "REQUEST.json")]
    request: Source,

    /// Calibration as `safecommit calibrate` writes it; without one the threshold is unbounded, and
    /// no world is excluded by its score
    #[arg(long, value_name = "CAL.json")]
    calibration: Option<Source>,

    /// Form of the decision [default: human, with --jsonl: json]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Read a stream: a request a line, answered by a decision a line in the same order, each as soon
    /// as its request is there. Blank lines are skipped. A line that is no request, or is longer than
    /// 16 MiB, is answered by {"error":{"file","line","field","message"}}, and the exit code at the end is 1
    #[arg(long)]
    jsonl: bool,
}

/// How decisions are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Human,
    /// JSON; `safecommit schema decision` describes it
    Json,
}

/// What `decide` was asked for.
#[derive(Debug)]
pub(crate) struct Decide {
    pub(crate) request: Source,
    pub(crate) calibration: Option<Source>,
    pub(crate) output: DecideOutput,
}

/// One decision or a stream of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecideOutput {
    Single(Format),
    Stream,
}

impl DecideArguments {
    pub(crate) fn check(self) -> Result<Decide, clap::Error> {
        let output = match (self.jsonl, self.format) {
            (true, Some(Format::Human)) => {
                return Err(conflict(
                    "--jsonl prints JSON, it cannot take --format human",
                ));
            }
            (true, _) => DecideOutput::Stream,
            (false, format) => DecideOutput::Single(format.unwrap_or(Format::Human)),
        };
        if self.request.is_stdin() && self.calibration.as_ref().is_some_and(Source::is_stdin) {
            return Err(conflict(
                "the request and the calibration cannot both come from standard input",
            ));
        }
        Ok(Decide {
            request: self.request,
            calibration: self.calibration,
            output,
        })
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
    /// What `calibrate` writes and `decide --calibration` reads
    Calibration,
    /// What `decide --jsonl` prints for a line that is no request
    Error,
}

/// Compute a split-conformal threshold from calibration scores.
///
/// The scores are those of the true worlds of held-out cases, one a case, larger is stranger. The
/// threshold is the r-th smallest with r = (n + 1) - floor((n + 1) alpha); it is unbounded if there
/// are too few scores for that. A case whose true world was never proposed is not left out: write
/// `missing` (text, CSV) or null (JSONL). No scores at all give an unbounded threshold.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CalibrateArguments {
    /// File of scores; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    scores: Source,

    /// Miscoverage level: a decimal strictly between 0 and 1, such as 0.05
    #[arg(long, value_name = "ALPHA", allow_negative_numbers = true)]
    alpha: Alpha,

    /// Name of the field or column that holds the score [default: score]; not for text
    #[arg(long, value_name = "NAME")]
    field: Option<String>,

    /// Form of the scores [default: by the file's extension: .jsonl, .ndjson, .csv, else text]
    #[arg(long, value_enum, value_name = "KIND")]
    input: Option<Kind>,

    /// Say that every case is listed, those whose true world was not proposed included, so that no
    /// missing score means that there was none; else that share (beta) counts as unknown
    #[arg(long)]
    misses_counted: bool,

    /// Where to write the calibration, replaced atomically; standard output by default and for `-`
    #[arg(long, value_name = "FILE")]
    out: Option<Source>,
}

/// What `calibrate` was asked for.
#[derive(Debug)]
pub(crate) struct Calibrate {
    pub(crate) scores: Source,
    pub(crate) alpha: Alpha,
    /// `None` for text.
    pub(crate) field: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) misses_counted: bool,
    /// Standard output if `-` or `None`.
    pub(crate) out: Option<Source>,
}

impl CalibrateArguments {
    pub(crate) fn check(self) -> Result<Calibrate, clap::Error> {
        let kind = self.input.unwrap_or_else(|| Kind::of(&self.scores));
        let field = match (kind, self.field) {
            (Kind::Text, Some(_)) => {
                return Err(conflict(
                    "--field names a field of JSONL or a column of CSV, but the scores are text \
                     (say --input if they are not)",
                ));
            }
            (Kind::Text, None) => None,
            (Kind::Jsonl | Kind::Csv, field) => Some(field.unwrap_or_else(|| "score".to_owned())),
        };
        Ok(Calibrate {
            scores: self.scores,
            alpha: self.alpha,
            field,
            kind,
            misses_counted: self.misses_counted,
            out: self.out,
        })
    }
}

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

/// A usage error about options that do not go together.
fn conflict(message: &str) -> clap::Error {
    Cli::command().error(ErrorKind::ArgumentConflict, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
