//! `safecommit audit`: the audit log of a gate, checked, shown, taken again, diagnosed, exported.

pub(crate) mod diagnose;
pub(crate) mod show;

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use safecommit_gate::audit::{AuditReader, Verified, check_export};

use crate::cli::{AuditCommand, ConfigurationArgument, ExportArguments};
use crate::input::Source;
use crate::terminal::one_line;
use crate::{configuration, human, output};

pub(crate) fn run(command: &AuditCommand) -> Result<ExitCode> {
    match command {
        AuditCommand::Verify(arguments) => verify(&arguments.configuration),
        AuditCommand::Show(arguments) => show::run(arguments),
        AuditCommand::Replay(arguments) => replay(&arguments.configuration),
        AuditCommand::Diagnose(arguments) => diagnose::run(arguments),
        AuditCommand::Export(arguments) => export(arguments),
    }
}

fn verify(argument: &ConfigurationArgument) -> Result<ExitCode> {
    let configuration = configuration::load(argument)?;
    let key = configuration::read_key(&configuration)?;
    let log = configuration.log();
    let verified = AuditReader::open_to_verify(log)
        .and_then(|reader| reader.verify(configuration.head(), &key))
        .with_context(|| log.display().to_string())?;
    output::print(as_written(verified).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn as_written(verified: Verified) -> String {
    format!(
        "{}, as written; the chain ends with {}\n",
        human::count(verified.records as usize, "record"),
        verified.hash
    )
}

fn replay(argument: &ConfigurationArgument) -> Result<ExitCode> {
    let configuration = configuration::load(argument)?;
    let log = || configuration.log().display().to_string();
    let replay = configuration::open_log(&configuration)?
        .replay()
        .with_context(log)?;
    let (all, differing) = (replay.decisions, &replay.differing);
    if differing.is_empty() {
        let decisions = human::count(all as usize, "decision");
        output::print(format!("{decisions} taken again, each to the same bytes\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines: String = differing
        .iter()
        .map(|found| {
            let (decision, problem) = (one_line(&found.decision), one_line(&found.problem));
            format!("record {}, `{decision}`: {problem}\n", found.sequence)
        })
        .collect();
    output::print(lines.as_bytes())?;
    Err(anyhow!(
        "{}: {} of {all} decisions come out otherwise",
        log(),
        differing.len()
    ))
}

fn export(arguments: &ExportArguments) -> Result<ExitCode> {
    let configuration = configuration::load(&arguments.configuration)?;
    let key = configuration::read_key(&configuration)?;
    if let Some(source) = &arguments.check {
        let verified = check_export(source.open()?, &key).with_context(|| source.name())?;
        output::print(as_written(verified).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(Source::File(path)) = &arguments.out {
        let of_the_log = [
            configuration.log(),
            configuration.head(),
            configuration.key(),
        ];
        output::refuse_inputs(path, of_the_log)?;
    }
    let mut lines = Vec::new();
    let verified = configuration::open_log(&configuration)?
        .export(configuration.head(), &key, &mut lines)
        .with_context(|| configuration.log().display().to_string())?;
    match &arguments.out {
        Some(Source::File(path)) => output::replace(path, &lines)?,
        Some(Source::Stdin) | None => {
            output::print(&lines)?;
        }
    }
    output::note(&as_written(verified));
    Ok(ExitCode::SUCCESS)
}
