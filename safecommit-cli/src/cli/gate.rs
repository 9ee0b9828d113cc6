//! What `gate` may be asked for.

use super::{ConfigurationArgument, EXIT_CODES, Format, conflict};
use crate::input::Source;

/// Decide on actions on files, make the probes, record the decision, and with --execute release the effect.
///
/// Reads candidate actions with the evidence around them (`safecommit schema proposal` describes the form). Which
/// worlds explain the evidence, what is safe in each, and what a look at the files tells is found out here, within the
/// budget of the configuration. The decision is in the audit log before anything happens. A question that only a person
/// can answer is printed: ask again under another name of the decision, with --answers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct GateArguments {
    /// JSON file with the request; `-` reads standard input
    #[arg(value_name = "REQUEST.json")]
    request: Source,

    /// Release the effect of an action that was committed
    #[arg(long)]
    execute: bool,

    /// Evidence of whoever runs the gate, which alone may speak for the person, the host and the policy: JSONL, a record
    /// a line (`safecommit schema evidence`), or an SQLite store (.db, .sqlite, .sqlite3); may be repeated
    #[arg(long, value_name = "FILE")]
    evidence: Vec<std::path::PathBuf>,

    /// What persons answered to the questions of the request: a JSON list of {"clarification", "question", "path",
    /// "found": {fact: value}}, as the question is printed. It is no part of the request, so that an agent cannot answer
    /// for them
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    answers: Option<Source>,

    /// Form of the decision [default: human, with --jsonl: json]; `safecommit schema gate-decision` describes the JSON
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Read a stream: a request a line, answered by a decision a line in the same order. A line that is no request, or
    /// whose decision could not be recorded, is answered by {"error":{"file","line","field","message"}}, and the exit
    /// code at the end is 1
    #[arg(long)]
    jsonl: bool,

    #[command(flatten)]
    configuration: ConfigurationArgument,
}

/// What `gate` was asked for.
#[derive(Debug)]
pub(crate) struct GateCommand {
    pub(crate) request: Source,
    pub(crate) execute: bool,
    pub(crate) evidence: Vec<std::path::PathBuf>,
    pub(crate) answers: Option<Source>,
    /// `None` for a stream.
    pub(crate) single: Option<Format>,
    pub(crate) configuration: ConfigurationArgument,
}

impl GateArguments {
    pub(crate) fn check(self) -> Result<GateCommand, clap::Error> {
        let single = match (self.jsonl, self.format) {
            (true, Some(Format::Human)) => {
                return Err(conflict(
                    "--jsonl prints JSON, it cannot take --format human",
                ));
            }
            (true, _) => None,
            (false, format) => Some(format.unwrap_or(Format::Human)),
        };
        if self.request.is_stdin() && self.answers.as_ref().is_some_and(Source::is_stdin) {
            return Err(conflict(
                "the request and the answers cannot both come from standard input",
            ));
        }
        Ok(GateCommand {
            request: self.request,
            execute: self.execute,
            evidence: self.evidence,
            answers: self.answers,
            single,
            configuration: self.configuration,
        })
    }
}
