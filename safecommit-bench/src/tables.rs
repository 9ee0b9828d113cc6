//! The tables of the experiments as text: same results, same bytes.

mod experiments;
mod findings;
pub(crate) mod grid;

use crate::experiments::{Experiment, Results};
use crate::published::{Claim, Findings, Published};

pub(crate) use experiments::NEW;

/// Where the numbers come from; stands wherever results are shown.
pub const PROVENANCE: &str = "Our generator; parameters chosen to match published figures \
(Akewar and Ranjan, arXiv:2608.04289).";

/// What follows from [`PROVENANCE`] for the reader.
pub const CAUTION: &str = "That a published figure comes out shows that such a benchmark exists, not that the \
paper's result was found independently.";

/// What the marks in the tables mean.
pub const LEGEND: &str = "\
● *matched*: stated in the paper's text, and the parameters were chosen to match it. \
○ *predicted*: a cell that the paper's text does not state; what our simulator gives, and no reproduction. \
◇ *new*: not in the paper. A mark in a heading is for all figures below it.";

/// How rates are written.
pub const UNITS: &str = "UCR unsafe commits, TS task success (safe commits), CC commits of either kind, FR fallbacks, all in per \
cent of all episodes; probes as a mean; ± one standard error of the mean over seeds.";

/// One table, named by what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    name: &'static str,
    title: &'static str,
    figures: String,
    body: String,
}

impl Table {
    /// The name, which is a file name too.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The Markdown text under a heading of this level, 1 to 6: title, legend, table, provenance.
    #[must_use]
    pub fn markdown(&self, level: usize) -> String {
        let marks = "#".repeat(level.clamp(1, 6));
        format!("{marks} {}\n\n{}", self.title, self.body)
    }

    /// The title.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Of an experiment, the table of its rates alone, for a reader who has the legend already; empty for
    /// the other tables.
    #[must_use]
    pub fn figures(&self) -> &str {
        &self.figures
    }

    /// The table of a study beyond the paper.
    pub(crate) fn beyond(
        name: &'static str,
        title: &'static str,
        about: &str,
        figures: &str,
        claims: &[Claim],
    ) -> Self {
        let parts = [
            format!("`cargo xtask reproduce --only {name}`"),
            about.to_owned(),
            figures.to_owned(),
            "What has to hold, fixed before the results were seen:".to_owned(),
            findings::claims(claims, NEW),
        ];
        Self::new(name, title, &parts).with_figures(figures.to_owned())
    }

    /// A few rows of such a table.
    pub(crate) fn extract(
        name: &'static str,
        title: &'static str,
        about: &str,
        figures: &str,
    ) -> Self {
        Self::new(name, title, &[about.to_owned(), figures.to_owned()])
    }

    fn with_figures(self, figures: String) -> Self {
        Self { figures, ..self }
    }

    fn new(name: &'static str, title: &'static str, parts: &[String]) -> Self {
        let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
        Self {
            name,
            title,
            figures: String::new(),
            body: format!("{}\n\n{PROVENANCE}\n", parts.join("\n\n")),
        }
    }
}

/// The names of all [`tables`].
pub fn table_names() -> impl Iterator<Item = &'static str> {
    let experiments = Experiment::ALL.map(Experiment::name).into_iter();
    experiments.chain(["coverage", "published", "guarantees"])
}

/// All tables: one an experiment, then coverage, published against ours, and the guarantees.
///
/// ```
/// use safecommit_bench::{Parameters, Prepared, Published, tables};
///
/// let small = Parameters::project_toml()
///     .replace("calibration = 2000\ntest = 4000\nalpha", "calibration = 30\ntest = 20\nalpha");
/// let parameters = Parameters::from_toml(&small)?;
/// let results = Prepared::new(&parameters).run(&|_| ());
/// let published = Published::project()?;
/// let findings = published.compare(&parameters, &results);
/// let tables = tables(&published, &results, &findings);
/// assert_eq!(tables[0].name(), "main");
/// assert!(tables[0].markdown(2).contains("| single_world "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tables(published: &Published, results: &Results, findings: &Findings) -> Vec<Table> {
    let mut tables: Vec<Table> = Experiment::ALL
        .into_iter()
        .map(|experiment| experiments::table(published, results, experiment))
        .collect();
    tables.push(findings::coverage(results));
    tables.push(findings::published(findings));
    tables.push(findings::guarantees(published, findings));
    tables
}
