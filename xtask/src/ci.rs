//! `cargo xtask ci`: everything that continuous integration runs, step by step.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::project;

/// Which steps to run.
#[derive(Args)]
pub(crate) struct Ci {
    /// Leave the tests out, where they have run already
    #[arg(long)]
    no_test: bool,
}

/// A command that must succeed.
struct Step {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const TEST: &str = "test";

/// What fails soonest comes first; the tests come last, so that their closing lines close the log.
const STEPS: [Step; 9] = [
    Step {
        name: "fetch",
        program: "cargo",
        // Also those for other platforms, whose licences count too.
        arguments: &["fetch", "--locked"],
        environment: &[],
    },
    Step {
        name: "format",
        program: "cargo",
        arguments: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Step {
        name: "lint",
        program: "cargo",
        // Benches are targets too: this compiles them.
        arguments: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        environment: &[],
    },
    Step {
        name: "documentation",
        program: "cargo",
        arguments: &[
            "doc",
            "--workspace",
            "--no-deps",
            "--all-features",
            "--locked",
        ],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step {
        name: "benches",
        program: "cargo",
        arguments: &["bench", "--workspace", "--no-run", "--locked"],
        environment: &[],
    },
    Step {
        name: "dependencies",
        program: "cargo",
        arguments: &[
            "deny",
            "--offline",
            "--workspace",
            "check",
            "licenses",
            "bans",
            "sources",
        ],
        environment: &[],
    },
    Step {
        name: "package",
        program: "cargo",
        arguments: &["package", "--workspace", "--locked"],
        environment: &[],
    },
    Step {
        name: "reproduce",
        program: "cargo",
        arguments: &["xtask", "reproduce"],
        environment: &[],
    },
    Step {
        name: TEST,
        program: "cargo",
        arguments: &["test", "--workspace", "--locked"],
        environment: &[],
    },
];

pub(crate) fn run(arguments: &Ci) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for step in &STEPS {
        if arguments.no_test && step.name == TEST {
            continue;
        }
        eprintln!(
            "\n== {}: {} {}",
            step.name,
            step.program,
            step.arguments.join(" ")
        );
        let start = Instant::now();
        let status = Command::new(step.program)
            .args(step.arguments)
            .envs(step.environment.iter().copied())
            .current_dir(project::root())
            .status()
            .with_context(|| format!("step `{}`: cannot run `{}`", step.name, step.program))?;
        let seconds = start.elapsed().as_secs_f64();
        if !status.success() {
            bail!("step `{}` failed after {seconds:.1} s: {status}", step.name);
        }
        times.push((step.name, seconds));
    }
    println!("\nAll steps passed");
    for (name, seconds) in times {
        println!("  {name:<16}{seconds:>8.1} s");
    }
    Ok(())
}
