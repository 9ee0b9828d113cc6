//! Cases from CSV, in named columns.

use anyhow::Result;
use safecommit_bench::json;

use super::{BLANK, Cases, Columns, Reading, label_of};
use crate::input::{InputError, Source};

/// Reads a CSV file. One without a single byte has no cases.
pub(super) fn read(source: &Source, columns: &Columns, reading: &Reading<'_>) -> Result<Cases> {
    let text = source.read()?;
    refuse_dropped_rows(source, &text)?;
    let mut cases = Cases::default();
    if text.is_empty() {
        return Ok(cases);
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|error| InputError::new(source, 1, error.to_string()))?;
    let find = |name: &str| {
        find_column(header, name)
            .map_err(|message| InputError::new(source, 1, message).in_field(name))
    };
    let score = find(&columns.score)?;
    let by = columns
        .by
        .iter()
        .map(|name| find(name))
        .collect::<Result<Vec<_>, _>>()?;
    let weight = columns.weight.as_deref().map(find).transpose()?;
    let width = header.len();

    let mut record = csv::StringRecord::new();
    let (mut line, mut counted) = (1, 0);
    loop {
        let start = row_start(&text, reader.position().byte() as usize);
        line += json::line_at(&text.as_bytes()[counted..], start - counted) - 1;
        counted = start;
        let error = |message: String| InputError::new(source, line, message);
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(cases),
            Ok(true) => {}
            Err(fault) => match fault.kind() {
                csv::ErrorKind::UnequalLengths { len, .. } => {
                    let message = format!("the row has {len} fields, the header has {width}");
                    return Err(error(message).into());
                }
                _ => return Err(error(fault.to_string()).into()),
            },
        }
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let labels = by
            .iter()
            .zip(&columns.by)
            .map(|(&column, name)| {
                label_of(cell(column), columns).map_err(|message| error(message).in_field(name))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let score = match cell(score) {
            "" => Err(
                "the score is empty, write `missing` if the true world was not proposed".to_owned(),
            ),
            cell => cell.parse().map_err(|error| format!("{error}")),
        }
        .map_err(|message| error(message).in_field(&columns.score))?;
        let weight = match (weight, &columns.weight) {
            (Some(column), Some(name)) => Some(
                cell(column)
                    .parse()
                    .map_err(|fault| error(format!("{fault}")).in_field(name))?,
            ),
            _ => None,
        };
        cases.add(reading, line, score, &labels, weight)?;
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

const LONE_RETURN: &str = "a carriage return stands without a line feed";

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
