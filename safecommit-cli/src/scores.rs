//! Calibration scores from text, JSONL or CSV. Every case counts, so nothing is skipped: a line that is
//! blank, or lacks the score, is an error.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::Result;
use clap::ValueEnum;
use safecommit_bench::json;
use safecommit_conformal::CalibrationScore;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};

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

/// Reads a text of scores, one a line.
pub(crate) fn read_text(source: &Source) -> Result<Vec<CalibrationScore>> {
    read_lines(source, |number, text| {
        text.trim_ascii()
            .parse()
            .map_err(|error| InputError::new(source, number, format!("{error}")))
    })
}

/// Reads the field `name` of every object of a JSONL file.
pub(crate) fn read_jsonl(source: &Source, name: &str) -> Result<Vec<CalibrationScore>> {
    read_lines(source, |number, text| {
        let json = JsonText {
            source,
            first_line: number,
            text,
        };
        json.parse(ScoreField(name))
    })
}

/// Reads the column `name` of a CSV file. A file without a single byte has no cases.
pub(crate) fn read_csv(source: &Source, name: &str) -> Result<Vec<CalibrationScore>> {
    let text = source.read()?;
    refuse_dropped_rows(source, &text)?;
    let mut scores = Vec::new();
    if text.is_empty() {
        return Ok(scores);
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|error| InputError::new(source, 1, error.to_string()))?;
    let column = find_column(header, name)
        .map_err(|message| InputError::new(source, 1, message).in_field(name))?;
    let columns = header.len();

    let mut record = csv::StringRecord::new();
    let (mut line, mut counted) = (1, 0);
    loop {
        let start = row_start(&text, reader.position().byte() as usize);
        line += json::line_at(&text.as_bytes()[counted..], start - counted) - 1;
        counted = start;
        let error = |message: String| InputError::new(source, line, message);
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(scores),
            Ok(true) => {}
            Err(fault) => match fault.kind() {
                csv::ErrorKind::UnequalLengths { len, .. } => {
                    let message = format!("the row has {len} fields, the header has {columns}");
                    return Err(error(message).into());
                }
                _ => return Err(error(fault.to_string()).into()),
            },
        }
        let score = match record.get(column).unwrap_or_default() {
            "" => Err(
                "the score is empty, write `missing` if the true world was not proposed".to_owned(),
            ),
            cell => cell.parse().map_err(|error| format!("{error}")),
        };
        scores.push(score.map_err(|message| error(message).in_field(name))?);
    }
}

fn read_lines(
    source: &Source,
    mut read: impl FnMut(usize, &str) -> Result<CalibrationScore, InputError>,
) -> Result<Vec<CalibrationScore>> {
    let mut lines = Lines::open(source)?;
    let mut scores = Vec::new();
    while let Some(line) = lines.next_line()? {
        let text = line.text?;
        if text.trim_ascii().is_empty() {
            return Err(InputError::new(source, line.number, BLANK).into());
        }
        scores.push(read(line.number, text)?);
    }
    Ok(scores)
}

const BLANK: &str = "the line is blank, but every line is one case";

const LONE_RETURN: &str = "a carriage return stands without a line feed";

/// Reads a JSON object and keeps the score in one field; no key may come twice.
#[derive(Clone, Copy)]
struct ScoreField<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for ScoreField<'_> {
    type Value = CalibrationScore;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ScoreField<'_> {
    type Value = CalibrationScore;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an object with the field `{}`", self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut score = None;
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            if key == self.0 {
                score = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            keys.insert(key);
        }
        score.ok_or_else(|| A::Error::custom(format_args!("missing field `{}`", self.0)))
    }
}

fn find_column(header: &csv::StringRecord, name: &str) -> Result<usize, String> {
    let mut found = header
        .iter()
        .enumerate()
        .filter(|(_, column)| *column == name);
    match (found.next(), found.next()) {
        (Some((column, _)), None) => Ok(column),
        (Some(_), Some(_)) => Err(format!("the column `{name}` stands twice in the header")),
        (None, _) => {
            let columns: Vec<String> = header.iter().map(|column| format!("`{column}`")).collect();
            Err(format!(
                "the header has no column `{name}`, its columns are {}",
                columns.join(", ")
            ))
        }
    }
}

/// Refuses what the CSV parser would pass over in silence: blank lines, which it skips, carriage returns
/// alone, which end a line for it and may hide a blank one, and a quote that is never closed, which
/// swallows the rows after it.
fn refuse_dropped_rows(source: &Source, text: &str) -> Result<(), InputError> {
    /// Where in a field the reader is. Only a quote that begins a field encloses it.
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Row,
        Field,
        Plain,
        /// Since this line.
        Quoted(usize),
        /// A quote in a quoted field: its end, or the first of two that stand for one.
        Quote(usize),
    }

    let (mut at, mut line) = (At::Row, 1);
    let mut bytes = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .bytes()
        .peekable();
    while let Some(byte) = bytes.next() {
        at = match (at, byte) {
            (At::Quoted(since), b'"') => At::Quote(since),
            (At::Quoted(since), _) => At::Quoted(since),
            (At::Quote(since), b'"') => At::Quoted(since),
            (At::Row | At::Field, b'"') => At::Quoted(line),
            (_, b',') => At::Field,
            (_, b'\r') if bytes.peek() != Some(&b'\n') => {
                return Err(InputError::new(source, line, LONE_RETURN));
            }
            (At::Row, b'\r' | b'\n') => return Err(InputError::new(source, line, BLANK)),
            (at, b'\r') => at,
            (_, b'\n') => At::Row,
            _ => At::Plain,
        };
        line += usize::from(byte == b'\n');
    }
    match at {
        At::Quoted(since) => Err(InputError::new(source, since, "a quote is never closed")),
        _ => Ok(()),
    }
}

/// Where the row at or after `offset` starts: after a row that ends in CR LF the parser stands between
/// the two.
fn row_start(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    text.len() - rest.trim_start_matches(['\r', '\n']).len()
}
