//! `cargo xtask ci`: everything that continuous integration runs, step by step.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::project::Project;

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
const PACKAGE: &str = "package";
const TARGET: &str = "target";

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
        name: PACKAGE,
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

pub(crate) fn run(arguments: &Ci, project: &Project) -> anyhow::Result<()> {
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
        let mut command = Command::new(step.program);
        command.args(step.arguments);
        let alias = (step.name == PACKAGE).then(target_by_another_name);
        let alias = alias.transpose()?;
        if let Some(directory) = &alias {
            command
                .arg("--target-dir")
                .arg(directory.path().join(TARGET));
        }
        let status = command
            .envs(step.environment.iter().copied())
            .current_dir(project.root())
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

/// A directory whose `target` is the build directory in use, under a path that is new each time.
///
/// Cargo takes packages for immutable: it keeps their sources by the path of the target directory and their
/// version, and under the same path would check what was packaged before a change. Under a new path it
/// unpacks our crates anew, and still finds the dependencies built.
fn target_by_another_name() -> anyhow::Result<tempfile::TempDir> {
    let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
    // This program is at `release/xtask` in it.
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let target = program.ancestors().nth(2).unwrap_or(&program);
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, directory.path().join(TARGET))
        .with_context(|| format!("cannot link to `{}`", target.display()))?;
    #[cfg(not(unix))]
    let _ = target;
    Ok(directory)
}
