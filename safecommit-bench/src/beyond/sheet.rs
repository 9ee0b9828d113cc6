//! A table of numbers: as text for people, as records for programs.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::counts::Estimate;
use crate::tables::NEW;
use crate::tables::grid::{Align, Grid};

/// A table under construction: headings, then rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Headings of the columns that say what a row is about.
    keys: Vec<&'static str>,
    /// Headings of the figures.
    figures: Vec<&'static str>,
    rows: Vec<Vec<Value>>,
}

/// A cell of a [`Sheet`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A name, or nothing.
    Text(String),
    /// A count.
    Count(u64),
    /// A number, written with this many decimals.
    Number(f64, usize),
    /// A share, written in per cent with two decimals.
    Share(f64),
    /// A mean over the seeds with its standard error, written with this many decimals.
    Mean(Estimate, usize),
    /// A mean share over the seeds, written in per cent with two decimals.
    Rate(Estimate),
}

impl Value {
    /// A name.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A mean share over the seeds.
    #[must_use]
    pub fn rate(estimate: Estimate) -> Self {
        Self::Rate(estimate)
    }

    /// A mean over the seeds.
    #[must_use]
    pub fn mean(estimate: Estimate, decimals: usize) -> Self {
        Self::Mean(estimate, decimals)
    }

    fn written(&self) -> String {
        match *self {
            Self::Text(ref text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value, decimals) => number(value, decimals),
            Self::Share(value) => number(100.0 * value, 2),
            Self::Mean(Estimate { mean, se }, decimals) => {
                format!("{} ± {}", number(mean, decimals), number(se, decimals))
            }
            Self::Rate(share) => per_cent(share),
        }
    }

    /// Rates stay shares; what JSON cannot hold is null.
    fn json(&self) -> Json {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(count) => json!(count),
            Self::Number(value, _) | Self::Share(value) => json!(value),
            Self::Mean(estimate, _) | Self::Rate(estimate) => json!(estimate),
        }
    }
}

/// A mean share with its standard error, in per cent.
pub(super) fn per_cent(Estimate { mean, se }: Estimate) -> String {
    format!("{} ± {}", number(100.0 * mean, 2), number(100.0 * se, 2))
}

/// A number without the sign of a zero.
fn number(value: f64, decimals: usize) -> String {
    if value.is_infinite() {
        return "unbounded".to_owned();
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

impl Sheet {
    /// A table without rows: `keys` say what a row is about, `figures` are what was measured.
    #[must_use]
    pub fn new(keys: &[&'static str], figures: &[&'static str]) -> Self {
        Self {
            keys: keys.to_vec(),
            figures: figures.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: a cell a column, keys first.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Value>) {
        let row: Vec<Value> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.keys.len() + self.figures.len(), "{row:?}");
        self.rows.push(row);
    }

    /// The Markdown text. All figures carry the mark of what is new.
    #[must_use]
    pub fn markdown(&self) -> String {
        let figures = self.keys.len()..self.keys.len() + self.figures.len();
        let keys = self.keys.iter().map(|name| (*name, Align::Left));
        let columns = keys.chain(self.figures.iter().map(|name| (*name, Align::Right)));
        let mut grid = Grid::new(columns).marked(NEW, figures);
        for row in &self.rows {
            grid.push(row.iter().map(Value::written));
        }
        grid.markdown()
    }

    /// The rows as objects, the headings being their keys, in the order of their names.
    #[must_use]
    pub fn records(&self) -> Vec<BTreeMap<String, Json>> {
        let headings: Vec<&str> = self.keys.iter().chain(&self.figures).copied().collect();
        let record = |row: &Vec<Value>| {
            let cells = headings.iter().zip(row);
            cells
                .map(|(name, value)| ((*name).to_owned(), value.json()))
                .collect()
        };
        self.rows.iter().map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_records_say_the_same() {
        let mut sheet = Sheet::new(&["method"], &["UCR", "kappa", "n", "probes"]);
        let estimate = Estimate {
            mean: 0.025,
            se: 0.001,
        };
        sheet.push([
            Value::text("a"),
            Value::rate(estimate),
            Value::Number(f64::INFINITY, 3),
            Value::Count(7),
            Value::mean(estimate, 3),
        ]);
        sheet.push([
            Value::text("b"),
            Value::Share(-0.000_001),
            Value::Number(-1.25, 1),
            Value::Count(0),
            Value::mean(estimate, 1),
        ]);
        let lines: Vec<String> = sheet.markdown().lines().map(str::to_owned).collect();
        assert_eq!(
            lines[0],
            "| method |       ◇ UCR |   ◇ kappa | ◇ n |      ◇ probes |"
        );
        assert_eq!(
            lines[2],
            "| a      | 2.50 ± 0.10 | unbounded |   7 | 0.025 ± 0.001 |"
        );
        assert_eq!(
            lines[3],
            "| b      |        0.00 |      -1.2 |   0 |     0.0 ± 0.0 |"
        );
        let records = sheet.records();
        assert_eq!(records[0]["UCR"], json!({"mean": 0.025, "se": 0.001}));
        assert_eq!(records[0]["kappa"], Json::Null);
        assert_eq!(
            (&records[1]["n"], &records[1]["kappa"]),
            (&json!(0), &json!(-1.25))
        );
    }
}
