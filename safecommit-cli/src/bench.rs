//! `safecommit bench`: the controlled benchmark.

mod generate;
mod run;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::BenchCommand;

pub(crate) fn run(command: &BenchCommand) -> Result<ExitCode> {
    match command {
        BenchCommand::Generate(arguments) => generate::run(&arguments.out),
        BenchCommand::Run(arguments) => run::run(arguments),
    }
}
