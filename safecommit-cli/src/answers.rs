//! Decisions as they are printed: one, with its exit code, or one for each line of a stream.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use safecommit_core::DecisionKind;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::IgnoredAny;

use crate::input::{InputError, JsonText, Lines, Source};
use crate::output::{self, Reader};

/// Prints the one answer there is.
pub(crate) fn print_single(mut rendered: String) -> Result<()> {
    if !rendered.ends_with('\n') {
        rendered.push('\n');
    }
    if output::print(rendered.as_bytes())? == Reader::Gone {
        // The exit code alone is no decision: whoever acts on a commit has to see its certificate.
        return Err(anyhow!("cannot write to standard output: nobody reads it"));
    }
    Ok(())
}

/// The exit code of a single decision.
pub(crate) fn exit_code(decision: DecisionKind) -> ExitCode {
    ExitCode::from(match decision {
        DecisionKind::Commit => 0,
        DecisionKind::Probe => 3,
        DecisionKind::Defer | DecisionKind::Escalate | DecisionKind::Abstain => 4,
    })
}

/// Answers every line with a line, each before the next one is read. Lines that are no request, and answers that have
/// `failed`, are counted; if there is any, the error says `what` such lines are.
pub(crate) fn to_lines<A: Serialize>(
    source: &Source,
    mut answer: impl FnMut(JsonText<'_>) -> Result<A, InputError>,
    failed: impl Fn(&A) -> bool,
    what: &str,
) -> Result<ExitCode> {
    let mut lines = Lines::open(source)?;
    let mut written = Vec::new();
    let (mut requests, mut errors) = (0_u64, 0_u64);
    // Whether the first request ends before its end, as a request of several lines does.
    let mut cut = false;
    while let Some(line) = lines.next_line()? {
        let answered = match line.text {
            Ok(text) if text.trim_ascii().is_empty() => continue,
            Ok(text) => {
                if requests == 0 {
                    let value = serde_json::from_str::<IgnoredAny>(text);
                    cut = value.is_err_and(|error| error.is_eof());
                }
                answer(JsonText {
                    source,
                    first_line: line.number,
                    text,
                })
            }
            Err(error) => Err(error),
        };
        requests += 1;
        written.clear();
        match answered {
            Ok(answer) => {
                errors += u64::from(failed(&answer));
                serde_json::to_writer(&mut written, &answer)
            }
            Err(error) => {
                errors += 1;
                serde_json::to_writer(&mut written, &ErrorLine::from(error))
            }
        }
        .context("cannot write a decision as JSON")?;
        written.write_all(b"\n")?;
        if output::print(&written)? == Reader::Gone {
            break;
        }
    }
    if errors > 0 {
        let hint = match cut && errors == requests && requests > 1 {
            true => "; a single request of several lines is read without --jsonl",
            false => "",
        };
        return Err(anyhow!(
            "{}: {errors} of {requests} lines {what}{hint}",
            source.name()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a stream answers to a line that is no request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorLine {
    /// What is wrong, and where.
    pub(crate) error: ErrorPlace,
}

/// What is wrong with a line, and where.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorPlace {
    /// Name of the file as it was given, `<stdin>` for standard input.
    pub(crate) file: String,
    /// Number of the line, from 1, blank lines included.
    #[schemars(range(min = 1))]
    pub(crate) line: usize,
    /// Path of the field at fault, as in `worlds[2].score`; null if the fault is in no field.
    pub(crate) field: Option<String>,
    /// What is wrong.
    pub(crate) message: String,
}

impl From<InputError> for ErrorLine {
    fn from(error: InputError) -> Self {
        let InputError {
            file,
            line,
            field,
            message,
        } = error;
        Self {
            error: ErrorPlace {
                file,
                line,
                field,
                message,
            },
        }
    }
}
