//! `safecommit decide`: a request in, a decision out; or a stream of them.

use std::io::Write as _;
use std::marker::PhantomData;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use safecommit_core::{Case, DecisionKind, DecisionRecord, Request};
use schemars::JsonSchema;
use serde::Serialize;

use crate::calibrations::{self, Calibrations};
use crate::cli::{Decide, DecideOutput, Format};
use crate::human;
use crate::input::{InputError, JsonText, Lines, Source};
use crate::output::{self, Reader};

/// Exit code of a single decision to make a probe.
pub(crate) const PROBE_NEEDED: u8 = 3;

/// Exit code of a single decision to fall back.
pub(crate) const FALLBACK: u8 = 4;

pub(crate) fn run(arguments: &Decide) -> Result<ExitCode> {
    let calibrations = match &arguments.calibration {
        Some(source) => Some(Calibrations::load(source)?),
        None => None,
    };
    match arguments.output {
        DecideOutput::Single(format) => single(&arguments.request, calibrations.as_ref(), format),
        DecideOutput::Stream => stream(&arguments.request, calibrations.as_ref()),
    }
}

fn single(
    source: &Source,
    calibrations: Option<&Calibrations>,
    format: Format,
) -> Result<ExitCode> {
    let text = source.read()?;
    let record = decide(
        JsonText {
            source,
            first_line: 1,
            text: &text,
        },
        calibrations,
    )?;
    let mut rendered = match format {
        Format::Human => human::render(&record),
        Format::Json => serde_json::to_string_pretty(&record)?,
    };
    if !rendered.ends_with('\n') {
        rendered.push('\n');
    }
    if output::print(rendered.as_bytes())? == Reader::Gone {
        // The exit code alone is no decision: whoever acts on a commit has to see its certificate.
        return Err(anyhow!("cannot write to standard output: nobody reads it"));
    }
    Ok(ExitCode::from(match record.decision {
        DecisionKind::Commit => 0,
        DecisionKind::Probe => PROBE_NEEDED,
        DecisionKind::Defer | DecisionKind::Escalate | DecisionKind::Abstain => FALLBACK,
    }))
}

/// Answers every line with a line, each before the next one is read.
fn stream(source: &Source, calibrations: Option<&Calibrations>) -> Result<ExitCode> {
    let mut lines = Lines::open(source)?;
    let mut answer = Vec::new();
    let (mut requests, mut errors) = (0_u64, 0_u64);
    while let Some(line) = lines.next_line()? {
        let decided = match line.text {
            Ok(text) if text.trim_ascii().is_empty() => continue,
            Ok(text) => decide(
                JsonText {
                    source,
                    first_line: line.number,
                    text,
                },
                calibrations,
            ),
            Err(error) => Err(error),
        };
        requests += 1;
        answer.clear();
        match decided {
            Ok(record) => serde_json::to_writer(&mut answer, &record),
            Err(error) => {
                errors += 1;
                serde_json::to_writer(&mut answer, &ErrorLine::from(error))
            }
        }
        .context("cannot write a decision as JSON")?;
        answer.write_all(b"\n")?;
        if output::print(&answer)? == Reader::Gone {
            break;
        }
    }
    if errors > 0 {
        return Err(anyhow!(
            "{}: {errors} of {requests} lines are no request that can be decided",
            source.name()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn decide(
    json: JsonText<'_>,
    calibrations: Option<&Calibrations>,
) -> Result<DecisionRecord, InputError> {
    let request = json.parse(PhantomData::<Request>)?;
    let case = Case::new(request)
        .map_err(|error| json.error_at(&error.path, error.problem.to_string()))?;
    Ok(calibrations::decide(&case, calibrations).record().clone())
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
