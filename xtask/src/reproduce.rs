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
use crate::stages::Stages;
use crate::{plots, project, readme, report, rows, snapshots, write};

/// What to reproduce, and where to write.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// Write the frozen splits, the snapshots and the README's tables instead of comparing them
    #[arg(long)]
    bless: bool,
    /// Write tables.md, tables.json and a plot an experiment into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The directory of the frozen splits, if not the project's
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// All that comes out of the experiments.
pub(crate) struct Outcome {
    pub(crate) published: Published,
    pub(crate) results: Results,
    pub(crate) findings: Findings,
    pub(crate) tables: Vec<Table>,
}

pub(crate) fn run(arguments: &Reproduce) -> anyhow::Result<()> {
    let mut stages = Stages::default();
    let mut failures = Vec::new();
    let parameters = Parameters::project()?;

    let directory = arguments.data.clone().unwrap_or_else(project::data);
    let frozen = stages.time("frozen splits", || {
        let files = render_all(&parameters).into_iter();
        let files = files.map(|file| Generated::bytes(directory.join(file.name), file.bytes));
        settle(files.collect(), arguments.bless)
    });
    failures.extend(frozen?);

    let outcome = experiments(&parameters, &mut stages)?;
    failures.extend(stages.time("snapshots", || {
        let mut files = snapshots::render(&outcome.tables);
        files.push(readme::render(&outcome.tables)?);
        let mut failures = settle(files, arguments.bless)?;
        failures.extend(snapshots::unknown(&outcome.tables)?);
        anyhow::Ok(failures)
    })?);
    if let Some(out) = &arguments.out {
        output(out, &outcome, &mut stages)?;
    }
    failures.extend(outcome.findings.failures());

    let mut stdout = std::io::stdout().lock();
    stdout.write_all(report::render(&outcome.findings).as_bytes())?;
    stdout.write_all(stages.render().as_bytes())?;
    if failures.is_empty() {
        writeln!(stdout, "\nReproduced: {}", what(arguments.bless))?;
        return Ok(());
    }
    for failure in &failures {
        eprintln!("\n{}", failure.trim_end());
    }
    let checks = if failures.len() == 1 {
        "check"
    } else {
        "checks"
    };
    bail!("{} {checks} failed", failures.len());
}

fn what(bless: bool) -> &'static str {
    if bless {
        "every comparison, statement and guarantee holds; frozen splits, snapshots and README are written."
    } else {
        "frozen splits, tables and README are unchanged, every comparison, statement and guarantee holds."
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

/// Writes generated files or compares them with what is there; the failures of the comparison.
fn settle(files: Vec<Generated>, bless: bool) -> anyhow::Result<Vec<String>> {
    let mut failures = Vec::new();
    for file in files {
        if bless {
            file.write()?;
        } else if let Some(failure) = file.difference() {
            failures.push(failure);
        }
    }
    Ok(failures)
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
