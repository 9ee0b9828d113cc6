//! What comes out of a study.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::chart::Chart;
use super::sheet::Sheet;
use crate::published::Claim;
use crate::tables::Table;

/// The outcome of a study: a table with what it is about and what has to hold, and a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    table: Table,
    records: Vec<BTreeMap<String, Json>>,
    chart: Chart,
    claims: Vec<Claim>,
    extract: Option<Table>,
}

impl Report {
    /// A report. `about` says what is asked, how, and what every column is; `claims` are the statements that
    /// have to hold, each fixed before the results were seen.
    pub(super) fn new(
        name: &'static str,
        title: &'static str,
        about: &str,
        sheet: &Sheet,
        chart: Chart,
        claims: Vec<Claim>,
    ) -> Self {
        Self {
            table: Table::beyond(name, title, about, &sheet.markdown(), &claims),
            records: sheet.records(),
            chart,
            claims,
            extract: None,
        }
    }

    /// The same with a few rows of its table as a table of their own, under another name.
    pub(super) fn with_extract(
        self,
        name: &'static str,
        title: &'static str,
        about: &str,
        sheet: &Sheet,
    ) -> Self {
        let extract = Some(Table::extract(name, title, about, &sheet.markdown()));
        Self { extract, ..self }
    }

    /// A few rows of the table for whoever wants no more, with a name of their own.
    #[must_use]
    pub fn extract(&self) -> Option<&Table> {
        self.extract.as_ref()
    }

    /// The table with its text.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The rows of the table as objects: shares as fractions, means with their standard error.
    #[must_use]
    pub fn records(&self) -> &[BTreeMap<String, Json>] {
        &self.records
    }

    /// The plot.
    #[must_use]
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// What has to hold.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The statements that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = String> + '_ {
        let failing = self.claims.iter().filter(|claim| !claim.holds);
        failing.map(|claim| {
            format!(
                "{}: does not hold: {}: {}",
                self.table.name(),
                claim.statement,
                claim.evidence
            )
        })
    }
}

/// A statement with the numbers that decide it.
pub(super) fn claim(
    statement: impl Into<String>,
    evidence: impl Into<String>,
    holds: bool,
) -> Claim {
    Claim {
        statement: statement.into(),
        evidence: evidence.into(),
        holds,
    }
}
