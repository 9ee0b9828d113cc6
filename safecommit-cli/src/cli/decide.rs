//! What `decide` may be asked for.

use clap::ValueEnum;

use super::{EXIT_CODES, conflict};
use crate::input::Source;

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
    /// no world is excluded by its score. One by stratum serves each request by the `stratum` that it
    /// names; a request of another stratum, or of none, escalates
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
    /// JSON; `safecommit schema` describes what `decide` and `gate` print
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
