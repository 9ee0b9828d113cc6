//! The `safecommit` command: one decision, a stream of them, calibration, schemas, the benchmark, and what belongs to a
//! gate: its configuration, its effects undone, its audit log.
//!
//! Thin on purpose: reading, writing and wording are here, every rule is in the libraries.

mod answers;
#[cfg(unix)]
mod audit;
mod bench;
mod calibrate;
mod calibrations;
mod cli;
#[cfg(unix)]
mod configuration;
mod decide;
#[cfg(target_os = "linux")]
mod gate;
mod human;
#[cfg(unix)]
mod init;
mod input;
mod labels;
mod output;
#[cfg(unix)]
mod restore;
mod schema;
mod scores;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};

/// Exit code of a failure; the parser of the command line exits with 2.
const FAILURE: u8 = 1;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| error.exit());
    let result = match cli.command {
        Command::Decide(arguments) => {
            decide::run(&arguments.check().unwrap_or_else(|error| error.exit()))
        }
        Command::Schema(arguments) => schema::run(arguments.form),
        Command::Calibrate(arguments) => {
            calibrate::run(&arguments.check().unwrap_or_else(|error| error.exit()))
        }
        #[cfg(target_os = "linux")]
        Command::Gate(arguments) => {
            gate::run(&arguments.check().unwrap_or_else(|error| error.exit()))
        }
        #[cfg(unix)]
        Command::Init(arguments) => init::run(&arguments),
        #[cfg(unix)]
        Command::Restore(arguments) => restore::run(&arguments),
        #[cfg(unix)]
        Command::Audit(command) => audit::run(&command),
        Command::Bench(command) => bench::run(&command),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            output::error(&in_one_sentence(&error));
            ExitCode::from(FAILURE)
        }
    }
}

/// The error and its causes, without those that the error before already quotes, and without the name of a file before a
/// cause that names it.
fn in_one_sentence(error: &anyhow::Error) -> String {
    let mut sentence = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if sentence.is_empty() || cause.contains(&format!("`{sentence}`")) {
            sentence = cause;
        } else if !sentence.ends_with(&cause) {
            sentence.push_str(": ");
            sentence.push_str(&cause);
        }
    }
    sentence
}
