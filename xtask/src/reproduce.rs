//! `cargo xtask reproduce`.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use safecommit_bench::{
    CAUTION, Findings, LEGEND, PROVENANCE, Parameters, Prepared, Published, Results, Table,
    render_all, tables,
};

use crate::generated::Generated;
use crate::project::{DATA, PARAMETERS, Project, RESULTS};
use crate::stages::Stages;
use crate::{plots, readme, report, rows, snapshots, write};

/// What to reproduce, and where to write.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// Write the frozen splits, the snapshots and the tables of README.md and RESULTS.md instead of
    /// comparing them
    #[arg(long)]
    bless: bool,
    /// Write tables.md, tables.json and a plot an experiment into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// All that comes out of the experiments.
pub(crate) struct Outcome {
    pub(crate) published: Published,
    pub(crate) results: Results,
    pub(crate) findings: Findings,
    pub(crate) tables: Vec<Table>,
}

/// What does not hold. It is kept until it is printed, whatever else goes wrong in the meantime.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    /// The value, or a failure more.
    fn take<T>(&mut self, result: anyhow::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.push(format!("{error:#}"));
                None
            }
        }
    }

    /// Writes a generated file or compares it with what is there.
    fn settle(&mut self, file: &Generated, bless: bool) {
        if bless {
            self.take(file.write());
        } else {
            self.0.extend(file.difference());
        }
    }
}

pub(crate) fn run(arguments: &Reproduce, project: &Project) -> anyhow::Result<()> {
    let mut stages = Stages::default();
    let mut failures = Failures::default();
    let outcome = reproduce(arguments, project, &mut stages, &mut failures);

    // First what failed, since standard output may be full or closed.
    let mut stderr = std::io::stderr().lock();
    for failure in &failures.0 {
        let _ = writeln!(stderr, "{}\n", failure.trim_end());
    }
    let failed = failures.0.len();
    let mut text = outcome.map_or_else(String::new, |outcome| {
        report::render(&outcome.tables, &outcome.findings)
    });
    text.push_str(&stages.render());
    if failed == 0 {
        text.push_str(&format!("\nReproduced: {}\n", what(arguments.bless)));
    }
    let mut stdout = std::io::stdout().lock();
    let printed = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context("cannot write to standard output");
    match failed {
        0 => printed,
        1 => bail!("1 check failed, named above"),
        failed => bail!("{failed} checks failed, named above"),
    }
}

/// Runs every stage that can run, and collects what fails in any of them.
fn reproduce(
    arguments: &Reproduce,
    project: &Project,
    stages: &mut Stages,
    failures: &mut Failures,
) -> Option<Outcome> {
    let parameters = failures.take(Parameters::project().map_err(anyhow::Error::from))?;
    // Comparing alone: whoever edits the parameters does not want them back as they were.
    let compiled = Parameters::project_toml().to_owned();
    if let Some(difference) = Generated::text(project, PARAMETERS, compiled).difference() {
        failures.0.push(format!(
            "not what this program was built with: {difference}"
        ));
    }
    stages.time("frozen splits", || {
        for file in render_all(&parameters) {
            let name = format!("{DATA}/{}", file.name);
            failures.settle(
                &Generated::bytes(project, &name, file.bytes),
                arguments.bless,
            );
        }
    });
    let outcome = failures.take(experiments(&parameters, stages))?;
    stages.time("snapshots", || {
        let mut files = snapshots::render(project, &outcome.tables);
        files.extend(failures.take(readme::render(project, &outcome.tables)));
        files.push(Generated::text(project, RESULTS, document(&outcome.tables)));
        for file in &files {
            failures.settle(file, arguments.bless);
        }
        let unknown = failures.take(snapshots::unknown(project, &outcome.tables));
        failures.0.extend(unknown.into_iter().flatten());
    });
    if let Some(out) = &arguments.out {
        failures.take(output(out, &outcome, stages));
    }
    failures.0.extend(outcome.findings.failures());
    Some(outcome)
}

fn what(bless: bool) -> &'static str {
    if bless {
        "every comparison, statement and guarantee holds; frozen splits, snapshots, README and RESULTS are written."
    } else {
        "frozen splits, snapshots, README and RESULTS are unchanged, every comparison, statement and guarantee holds."
    }
}

/// Runs all experiments and renders their tables.
pub(crate) fn experiments(parameters: &Parameters, stages: &mut Stages) -> anyhow::Result<Outcome> {
    let published = Published::project()?;
    let prepared = stages.time("calibration and tuning", || Prepared::new(parameters));
    let results = stages.time("simulation", || {
        let bar = progress_bar(prepared.episodes());
        let results = prepared.run(&|episodes| bar.inc(episodes));
        bar.finish_and_clear();
        results
    });
    let findings = stages.time("comparison", || published.compare(parameters, &results));
    let tables = stages.time("tables", || tables(&published, &results, &findings));
    Ok(Outcome {
        published,
        results,
        findings,
        tables,
    })
}

/// Shows progress on a terminal, and nothing elsewhere.
fn progress_bar(episodes: u64) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(episodes), target);
    let style =
        ProgressStyle::with_template("simulating {wide_bar} {human_pos} of {human_len} episodes");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn output(out: &std::path::Path, outcome: &Outcome, stages: &mut Stages) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("cannot create the directory `{}`", out.display()))?;
    let written = stages.time("tables as files", || {
        write::atomically(&out.join("tables.md"), document(&outcome.tables).as_bytes())?;
        let rows = rows::render(&outcome.results)?;
        write::atomically(&out.join("tables.json"), rows.as_bytes())
    });
    written?;
    stages.time("plots", || {
        for (name, plot) in plots::render(&outcome.published, &outcome.results) {
            write::atomically(&out.join(format!("{name}.svg")), plot.as_bytes())?;
        }
        anyhow::Ok(())
    })
}

fn document(tables: &[Table]) -> String {
    let tables: Vec<String> = tables.iter().map(|table| table.markdown(2)).collect();
    format!(
        "# SafeCommitBench-Controlled\n\n{PROVENANCE} {CAUTION}\n\n{LEGEND}\n\n{}",
        tables.join("\n")
    )
}
