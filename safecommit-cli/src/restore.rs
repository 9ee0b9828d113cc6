//! `safecommit restore`: the effects of a gate, undoing one, and emptying the trash.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use safecommit_gate::{
    ExecuteError, Executor, GateConfiguration, JournalEntry, Resolution, Workspace,
};

use crate::cli::RestoreArguments;
use crate::terminal::one_line;
use crate::{configuration, human, output};

pub(crate) fn run(arguments: &RestoreArguments) -> Result<ExitCode> {
    let configuration = configuration::load(&arguments.configuration)?;
    if arguments.list {
        // Nothing is locked, settled or written for a list.
        let entries = Executor::read_entries(configuration.state())?;
        output::print(list(&entries).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut executor = open(&configuration)?;
    for (entry, resolution) in executor.recovered() {
        let ended = ended(*resolution);
        output::note(&format!("entry {entry} was found begun: {ended}"));
    }
    let text = match arguments.entry {
        Some(entry) => {
            let receipt = executor.restore(entry).map_err(about_entry)?;
            format!("entry {entry} is undone, by entry {}\n", receipt.entry)
        }
        None => {
            let emptied = executor.empty_trash(arguments.empty.iter().copied());
            let emptied = emptied.map_err(about_entry)?;
            let emptied: Vec<String> = emptied.iter().map(u64::to_string).collect();
            match emptied.as_slice() {
                [] => "nothing was in the trash of these\n".to_owned(),
                some => format!("the trash of these is empty: {}\n", some.join(", ")),
            }
        }
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The error, with where to look for another entry if this one will not do.
fn about_entry(error: ExecuteError) -> anyhow::Error {
    match error {
        ExecuteError::NoSuchEntry(_) | ExecuteError::NotRestorable { .. } => {
            anyhow!("{error}; `safecommit restore --list` shows all entries")
        }
        other => other.into(),
    }
}

fn open(configuration: &GateConfiguration) -> Result<Executor> {
    let workspace = Workspace::open(configuration.workspace())?;
    #[cfg(target_os = "linux")]
    let executor = Executor::open_with(workspace, configuration.state(), configuration.limits())?;
    #[cfg(not(target_os = "linux"))]
    let executor = Executor::open(workspace, configuration.state())?;
    Ok(executor)
}

/// A line for each effect.
fn list(entries: &[JournalEntry]) -> String {
    if entries.is_empty() {
        return "no effect yet\n".to_owned();
    }
    let mut table = human::table(["entry", "effect", "path", "stands"]);
    for entry in entries {
        let path = format!("`{}`", one_line(&entry.path));
        table.add_row([
            entry.entry.to_string(),
            entry.effect.to_owned(),
            match &entry.to {
                Some(to) => format!("{path} to `{}`", one_line(to)),
                None => path,
            },
            stands(entry),
        ]);
    }
    human::align_right(&mut table, 0);
    human::lines_of(&table) + "\n"
}

fn stands(entry: &JournalEntry) -> String {
    let ended = match (entry.undone_by, entry.resolution) {
        (Some(later), _) => format!("undone by {later}"),
        (None, Some(resolution)) => ended(resolution).to_owned(),
        (None, None) => "begun".to_owned(),
    };
    let undoes = entry.undoes.map(|earlier| format!(", undoes {earlier}"));
    let done = entry.resolution == Some(Resolution::Done);
    let emptied = match (entry.effect, entry.emptied) {
        ("remove", true) => " for good",
        ("remove", false) if done => ", and still in the trash",
        (_, true) => ", its trash emptied",
        (_, false) => "",
    };
    format!("{ended}{}{emptied}", undoes.unwrap_or_default())
}

fn ended(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Done => "done",
        Resolution::RolledBack => "rolled back",
        Resolution::Superseded => "superseded: somebody else changed the place meanwhile",
    }
}
