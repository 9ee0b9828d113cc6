//! `cargo xtask reproduce`.

use std::io::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, bail};
use clap::Args;
use safecommit_bench::beyond::{Report, Study, Workbench};
use safecommit_bench::{
    CAUTION, Findings, LEGEND, PROVENANCE, Parameters, Prepared, Published, Results, Table,
    render_all, tables,
};

use crate::generated::Generated;
use crate::progress::Progress;
use crate::project::{BEYOND, DATA, PARAMETERS, Project, RESULTS};
use crate::stages::Stages;
use crate::{plots, report, rows, sections, snapshots, write};

/// What to reproduce, and where to write.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// Write the frozen splits, the snapshots and the tables of README.md, RESULTS.md and BEYOND.md instead
    /// of comparing them
    #[arg(long)]
    bless: bool,
    /// Run and check only this: `paper`, for the frozen splits and the experiments of the paper, or one
    /// study beyond the paper by its name: frontier, risk_control, probe_choice, groups,
    /// calibration_draws, family_shift, erring_probes, adversary, folding, compared, learned_score
    #[arg(long, value_name = "NAME")]
    only: Option<Section>,
    /// Write tables.md, tables.json, beyond.json, points.json and a plot an experiment into this
    /// directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A part of the whole that can be reproduced alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// The frozen splits and the experiments of the paper.
    Paper,
    /// One study beyond the paper.
    Beyond(Study),
}

impl FromStr for Section {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "paper" => Ok(Self::Paper),
            _ => name.parse().map(Self::Beyond).map_err(|_| {
                let studies = Study::ALL.map(|study| format!("`{study}`"));
                format!("expected `paper` or one of {}", studies.join(", "))
            }),
        }
    }
}

impl Reproduce {
    fn wants(&self, section: Section) -> bool {
        self.only.is_none_or(|only| only == section)
    }
}

/// All that was reproduced.
#[derive(Default)]
struct Outcome {
    paper: Option<Paper>,
    beyond: Vec<Report>,
}

impl Outcome {
    fn tables(&self) -> Vec<&Table> {
        let paper = self.paper.iter().flat_map(|paper| &paper.tables);
        paper.chain(self.beyond.iter().map(Report::table)).collect()
    }
}

/// All that comes out of the experiments of the paper.
pub(crate) struct Paper {
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
    let mut text = String::new();
    if let Some(paper) = &outcome.paper {
        text.push_str(&report::paper(&paper.tables, &paper.findings));
    }
    text.push_str(&report::beyond(&outcome.beyond));
    text.push_str(&stages.render());
    if failed == 0 {
        text.push_str(&format!("\nReproduced: {}\n", what(arguments)));
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
) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(parameters) = failures.take(Parameters::project().map_err(anyhow::Error::from)) else {
        return outcome;
    };
    // Comparing alone: whoever edits the parameters does not want them back as they were.
    let compiled = Parameters::project_toml().to_owned();
    if let Some(difference) = Generated::text(project, PARAMETERS, compiled).difference() {
        failures.0.push(format!(
            "not what this program was built with: {difference}"
        ));
    }
    if arguments.wants(Section::Paper) {
        stages.time("frozen splits", || {
            for file in render_all(&parameters) {
                let name = format!("{DATA}/{}", file.name);
                failures.settle(
                    &Generated::bytes(project, &name, file.bytes),
                    arguments.bless,
                );
            }
        });
        outcome.paper = failures.take(experiments(&parameters, stages));
    }
    let studies = Study::ALL.into_iter();
    let studies: Vec<Study> = studies
        .filter(|study| arguments.wants(Section::Beyond(*study)))
        .collect();
    outcome.beyond = beyond(&parameters, &studies, stages, failures);
    stages.time("snapshots", || {
        compare(arguments, project, &outcome, failures);
    });
    if let Some(out) = &arguments.out {
        failures.take(output(out, &outcome, stages));
    }
    if let Some(paper) = &outcome.paper {
        failures.0.extend(paper.findings.failures());
    }
    let reports = outcome.beyond.iter();
    failures.0.extend(reports.flat_map(Report::failures));
    outcome
}

/// Settles every file of the project that shows a table.
fn compare(arguments: &Reproduce, project: &Project, outcome: &Outcome, failures: &mut Failures) {
    let tables = outcome.tables();
    let mut files = snapshots::render(project, &tables);
    let extracts = outcome.beyond.iter().filter_map(Report::extract);
    let shown: Vec<&Table> = tables.iter().copied().chain(extracts).collect();
    files.extend(failures.take(sections::readme(project, &shown)));
    if let Some(paper) = &outcome.paper {
        let tables: Vec<&Table> = paper.tables.iter().collect();
        files.push(Generated::text(project, RESULTS, document(&tables)));
    }
    let beyond: Vec<&Table> = outcome.beyond.iter().map(Report::table).collect();
    if outcome.beyond.len() == Study::ALL.len() {
        files.push(Generated::text(project, BEYOND, beyond_document(&beyond)));
    } else {
        files.extend(failures.take(sections::replaced(project, BEYOND, 2, &beyond)));
    }
    for file in &files {
        failures.settle(file, arguments.bless);
    }
    let unknown = failures.take(snapshots::unknown(project));
    failures.0.extend(unknown.into_iter().flatten());
}

fn what(arguments: &Reproduce) -> &'static str {
    match (arguments.only, arguments.bless) {
        (None, true) => {
            "every comparison, statement and guarantee holds; frozen splits, snapshots, README, RESULTS and BEYOND are written."
        }
        (None, false) => {
            "frozen splits, snapshots, README, RESULTS and BEYOND are unchanged, every comparison, statement and guarantee holds."
        }
        (Some(_), true) => {
            "this part alone; all that was checked in it holds, and its tables are written."
        }
        (Some(_), false) => {
            "this part alone; all that was checked in it holds, and its tables are unchanged."
        }
    }
}

/// Runs the experiments of the paper and renders their tables.
pub(crate) fn experiments(parameters: &Parameters, stages: &mut Stages) -> anyhow::Result<Paper> {
    let published = Published::project()?;
    let prepared = stages.time("calibration and tuning", || Prepared::new(parameters));
    let results = stages.time("simulation", || {
        let progress = Progress::new("simulation", prepared.episodes(), "episodes");
        prepared.run(&|episodes| progress.add(episodes))
    });
    let findings = stages.time("comparison", || published.compare(parameters, &results));
    let tables = stages.time("tables", || tables(&published, &results, &findings));
    Ok(Paper {
        published,
        results,
        findings,
        tables,
    })
}

/// Runs studies beyond the paper, one after the other.
fn beyond(
    parameters: &Parameters,
    studies: &[Study],
    stages: &mut Stages,
    failures: &mut Failures,
) -> Vec<Report> {
    let bench = Workbench::new(parameters);
    let seeds = parameters.experiments.seeds.get().len() as u64;
    let run = |study: &Study| {
        let report = stages.time(study.name(), || {
            let progress = Progress::new(study.name(), seeds, "seeds");
            study.run(&bench, &|| progress.add(1))
        });
        failures.take(report.with_context(|| format!("study `{study}`")))
    };
    studies.iter().filter_map(run).collect()
}

fn output(out: &std::path::Path, outcome: &Outcome, stages: &mut Stages) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("cannot create the directory `{}`", out.display()))?;
    let written = stages.time("tables as files", || {
        write::atomically(
            &out.join("tables.md"),
            document(&outcome.tables()).as_bytes(),
        )?;
        if let Some(paper) = &outcome.paper {
            let rows = rows::paper(&paper.results)?;
            write::atomically(&out.join("tables.json"), rows.as_bytes())?;
        }
        if !outcome.beyond.is_empty() {
            let rows = rows::beyond(&outcome.beyond)?;
            write::atomically(&out.join("beyond.json"), rows.as_bytes())?;
            let points = rows::points(&outcome.beyond)?;
            write::atomically(&out.join("points.json"), points.as_bytes())?;
        }
        anyhow::Ok(())
    });
    written?;
    stages.time("plots", || {
        let paper = outcome.paper.iter();
        let paper = paper.flat_map(|paper| plots::paper(&paper.published, &paper.results));
        let beyond = outcome.beyond.iter();
        let beyond = beyond.map(|report| (report.table().name(), plots::beyond(report.chart())));
        for (name, plot) in paper.chain(beyond) {
            write::atomically(&out.join(format!("{name}.svg")), plot.as_bytes())?;
        }
        anyhow::Ok(())
    })
}

fn beyond_document(tables: &[&Table]) -> String {
    let sections: Vec<String> = tables
        .iter()
        .map(|table| sections::section(table, 2))
        .collect();
    format!(
        "# Beyond the paper\n\n{PROVENANCE} Nothing below was chosen to match anything: the paper states no figure to \
         compare it with, and every figure is new (◇). Means over the seeds ± one standard error.\n\n{}",
        sections.join("\n")
    )
}

fn document(tables: &[&Table]) -> String {
    let tables: Vec<String> = tables.iter().map(|table| table.markdown(2)).collect();
    format!(
        "# SafeCommitBench-Controlled\n\n{PROVENANCE} {CAUTION}\n\n{LEGEND}\n\n{}",
        tables.join("\n")
    )
}
