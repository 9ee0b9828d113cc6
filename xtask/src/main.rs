//! Project tasks: `cargo xtask reproduce` and `cargo xtask ci`.

mod ci;
mod generated;
mod plots;
mod project;
mod readme;
mod report;
mod reproduce;
mod rows;
mod snapshots;
mod stages;
mod write;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    let result = match Arguments::parse().task {
        Task::Reproduce(arguments) => reproduce::run(&arguments),
        Task::Ci(arguments) => ci::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
