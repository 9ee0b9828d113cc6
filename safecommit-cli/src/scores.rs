//! Calibration scores from text, JSONL or CSV. Every case counts, so nothing is skipped: a line that is
//! blank, or lacks the score, is an error.

mod csv;
mod jsonl;

use std::collections::BTreeSet;

use anyhow::Result;
use clap::ValueEnum;
use safecommit_conformal::{CalibrationScore, ScoreError, Stratum, Taxonomy, Weight};

use crate::input::{InputError, JsonText, Lines, Source};

/// Form of a file of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A score or the word missing a line
    Text,
    /// A JSON object a line, the score in a named field, null if missing
    Jsonl,
    /// Comma-separated values with a header, the score in a named column
    Csv,
}

impl Kind {
    /// The kind that a source's extension says; text where it says nothing.
    pub(crate) fn of(source: &Source) -> Self {
        let extension = source.path().and_then(|path| path.extension());
        match extension.map(|extension| extension.to_ascii_lowercase()) {
            Some(extension) if extension == "jsonl" || extension == "ndjson" => Self::Jsonl,
            Some(extension) if extension == "csv" => Self::Csv,
            _ => Self::Text,
        }
    }
}

/// Where a case says what.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// The field or column of the score.
    pub(crate) score: String,
    /// Those of the labels of its stratum, from the whole to the part.
    pub(crate) by: Vec<String>,
    /// That of its weight.
    pub(crate) weight: Option<String>,
}

impl Columns {
    /// A name that stands for two things.
    pub(crate) fn twice(&self) -> Option<&str> {
        let mut seen = BTreeSet::new();
        let names = [&self.score]
            .into_iter()
            .chain(&self.by)
            .chain(&self.weight);
        names.map(String::as_str).find(|name| !seen.insert(*name))
    }
}

/// Calibration cases in the order given.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    pub(crate) scores: Vec<CalibrationScore>,
    /// One a score, if strata are told apart.
    pub(crate) strata: Vec<Stratum>,
    /// One a score, if cases are weighted.
    pub(crate) weights: Vec<Weight>,
}

/// Reads the cases of a file, whose strata must be among those declared.
pub(crate) fn read(
    source: &Source,
    kind: Kind,
    columns: &Columns,
    declared: Option<&Taxonomy>,
) -> Result<Cases> {
    let declared = declared.map(|taxonomy| taxonomy.strata().collect());
    let reading = Reading {
        source,
        columns,
        declared,
    };
    match kind {
        Kind::Csv => csv::read(source, columns, &reading),
        Kind::Text | Kind::Jsonl => reading.read_lines(kind),
    }
}

/// Reads a text of strata, one a line.
pub(crate) fn read_strata(source: &Source) -> Result<Vec<Stratum>> {
    let mut lines = Lines::open(source)?;
    let mut strata = Vec::new();
    while let Some(line) = lines.next_line()? {
        let mut text = line.text?;
        if line.number == 1 {
            // Not part of the first label; CSV is read in the same way.
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        let text = text.trim_ascii();
        if text.is_empty() {
            let blank = "the line is blank, but every line is one stratum";
            return Err(InputError::new(source, line.number, blank).into());
        }
        let stratum = text
            .parse()
            .map_err(|error| InputError::new(source, line.number, format!("{error}")))?;
        strata.push(stratum);
    }
    Ok(strata)
}

const BLANK: &str = "the line is blank, but every line is one case";

/// What is read, and what its cases must belong to.
struct Reading<'a> {
    source: &'a Source,
    columns: &'a Columns,
    declared: Option<BTreeSet<&'a Stratum>>,
}

impl Reading<'_> {
    fn read_lines(&self, kind: Kind) -> Result<Cases> {
        let source = self.source;
        let mut lines = Lines::open(source)?;
        let mut cases = Cases::default();
        while let Some(line) = lines.next_line()? {
            let (number, text) = (line.number, line.text?);
            if text.trim_ascii().is_empty() {
                return Err(InputError::new(source, number, BLANK).into());
            }
            if kind == Kind::Text {
                let score = text.trim_ascii().parse();
                let score = score.map_err(|error: ScoreError| {
                    let json = text.trim_ascii_start().starts_with('{');
                    let hint = if json {
                        " (JSON is read with --input jsonl)"
                    } else {
                        ""
                    };
                    InputError::new(source, number, format!("{error}{hint}"))
                })?;
                cases.add(self, number, score, &[], None)?;
                continue;
            }
            let json = JsonText {
                source,
                first_line: number,
                text,
            };
            let row = json.parse(jsonl::RowOf(self.columns))?;
            cases.add(self, number, row.score, &row.labels, row.weight)?;
        }
        Ok(cases)
    }
}

impl Cases {
    /// Adds the case of one line.
    fn add(
        &mut self,
        reading: &Reading<'_>,
        line: usize,
        score: CalibrationScore,
        labels: &[String],
        weight: Option<Weight>,
    ) -> Result<(), InputError> {
        if let Some(field) = reading.columns.by.last() {
            let at =
                |message: String| InputError::new(reading.source, line, message).in_field(field);
            let path = labels.join("/");
            let stratum: Stratum = path.parse().map_err(|error| at(format!("{error}")))?;
            if let Some(declared) = &reading.declared
                && !declared.contains(&stratum)
            {
                return Err(at(format!("stratum `{stratum}` is not declared")));
            }
            self.strata.push(stratum);
        }
        self.weights.extend(weight);
        self.scores.push(score);
        Ok(())
    }
}

/// Checks what one field says of a stratum. If it is the only one, it may be a path; with others it is one
/// label, or `a/b` beside `c` would be the same as `a` beside `b/c`.
fn label_of(text: &str, columns: &Columns) -> Result<String, String> {
    if text.is_empty() {
        return Err("the stratum is empty, but every case belongs to one".to_owned());
    }
    if columns.by.len() > 1 && text.contains('/') {
        return Err(format!(
            "label `{text}` has a `/`, which only a single field may have"
        ));
    }
    Ok(text.to_owned())
}
