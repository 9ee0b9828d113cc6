//! Project tasks: `cargo xtask reproduce` and `cargo xtask ci`.

mod ci;
mod generated;
mod plots;
mod progress;
mod project;
mod report;
mod reproduce;
mod rows;
mod sections;
mod snapshots;
mod stages;
mod write;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::project::Project;

/// Tasks of the project. Exit code 0 on success, 1 on failure, 2 on a usage error.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Regenerate the frozen splits and all tables, and compare them with what the project holds and the
    /// paper states
    Reproduce(reproduce::Reproduce),
    /// Run everything that continuous integration runs
    Ci(ci::Ci),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = Project::find().and_then(|project| match arguments.task {
        Task::Reproduce(arguments) => reproduce::run(&arguments, &project),
        Task::Ci(arguments) => ci::run(&arguments, &project),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is closed, the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
