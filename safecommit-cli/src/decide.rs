//! `safecommit decide`: a request in, a decision out; or a stream of them.

use std::marker::PhantomData;
use std::process::ExitCode;

use anyhow::Result;
use safecommit_core::{Case, DecisionRecord, Request};

use crate::answers;
use crate::calibrations::{self, Calibrations};
use crate::cli::{Decide, DecideOutput, Format};
use crate::human;
use crate::input::{InputError, JsonText, Source};

pub(crate) fn run(arguments: &Decide) -> Result<ExitCode> {
    let calibrations = match &arguments.calibration {
        Some(source) => Some(Calibrations::load(source)?),
        None => None,
    };
    match arguments.output {
        DecideOutput::Single(format) => single(&arguments.request, calibrations.as_ref(), format),
        DecideOutput::Stream => answers::to_lines(
            &arguments.request,
            |json| decide(json, calibrations.as_ref()),
            |_| false,
            "are no request that can be decided",
        ),
    }
}

fn single(
    source: &Source,
    calibrations: Option<&Calibrations>,
    format: Format,
) -> Result<ExitCode> {
    let text = source.read()?;
    let json = JsonText {
        source,
        first_line: 1,
        text: &text,
    };
    let record = decide(json, calibrations).map_err(|error| json.explain_single(error))?;
    answers::print_single(match format {
        Format::Human => human::render(&record),
        Format::Json => serde_json::to_string_pretty(&record)?,
    })?;
    Ok(answers::exit_code(record.decision))
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
