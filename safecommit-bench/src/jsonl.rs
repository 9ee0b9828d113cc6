//! Files of episodes, one a line.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::micros::Micros;
use crate::record::{EpisodeRecord, FieldError};

impl EpisodeRecord {
    /// The record as a line of JSON with its newline: fixed order of fields, no spaces, scores with six decimals.
    #[must_use]
    pub fn to_json_line(&self) -> String {
        let mut line = String::with_capacity(1024);
        self.write_json_line(&mut line);
        line
    }

    /// Appends the record as a line; see [`EpisodeRecord::to_json_line`].
    pub fn write_json_line(&self, line: &mut String) {
        let action = |at: &usize| self.actions()[*at].as_str();
        let world = |at: &usize| self.worlds()[*at].id();
        line.push_str("{\"id\":");
        push_text(line, self.id());
        line.push_str(",\"family\":");
        push_text(line, self.family().name());
        line.push_str(",\"actions\":");
        push_list(line, self.actions(), |line, id| push_text(line, id));
        line.push_str(",\"worlds\":");
        push_list(line, self.worlds(), |line, record| {
            line.push_str("{\"id\":");
            push_text(line, record.id());
            line.push_str(",\"score\":");
            push_micros(line, record.score());
            line.push_str(",\"safe\":");
            push_list(line, record.safe(), |line, at| push_text(line, action(at)));
            if let Some(components) = record.components() {
                line.push_str(",\"components\":");
                push_list(line, components, |line, term| push_micros(line, *term));
            }
            line.push('}');
        });
        line.push_str(",\"proposed\":");
        push_list(line, self.proposed(), |line, at| push_text(line, world(at)));
        line.push_str(",\"probes\":");
        push_list(line, self.probes(), |line, probe| {
            line.push_str("{\"id\":");
            push_text(line, probe.id());
            // The shortest digits that read back as the same number; never infinite, so always JSON.
            line.push_str(&format!(",\"cost\":{:?},\"asks\":", probe.cost()));
            push_text(line, world(&probe.asks()));
            line.push('}');
        });
        line.push_str(",\"true_world\":");
        push_text(line, world(&self.true_world()));
        line.push_str("}\n");
    }
}

fn push_list<T>(line: &mut String, items: &[T], push: impl Fn(&mut String, &T)) {
    line.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        push(line, item);
    }
    line.push(']');
}

fn push_text(line: &mut String, text: &str) {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        line.push('"');
        line.push_str(text);
        line.push('"');
    } else {
        line.push_str(&serde_json::Value::from(text).to_string());
    }
}

fn push_micros(line: &mut String, value: Micros) {
    let mut digits = *b"0.000000";
    let mut count = value.count();
    for digit in digits[2..].iter_mut().rev() {
        *digit = b'0' + (count % 10) as u8;
        count /= 10;
    }
    digits[0] = b'0' + count as u8;
    line.extend(digits.map(char::from));
}

/// Reads the episodes of a file, given its name for errors and its bytes.
///
/// The newline after the last line may be missing. No two episodes share an id.
///
/// # Errors
///
/// The first line that does not hold, with its number (from 1) and the field at fault.
///
/// ```
/// use safecommit_bench::{Parameters, Split, read_episodes, render_rows};
///
/// let mut bytes = render_rows(&Parameters::project()?, Split::Test, 0..3);
/// assert_eq!(read_episodes("test.jsonl", &bytes)?.len(), 3);
/// bytes.truncate(bytes.len() - 3);
/// let error = read_episodes("test.jsonl", &bytes).unwrap_err();
/// assert!(error.to_string().starts_with("`test.jsonl` line 3: field `true_world`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_episodes(file: &str, bytes: &[u8]) -> Result<Vec<EpisodeRecord>, RecordError> {
    let lines: Vec<&[u8]> = match bytes.strip_suffix(b"\n").unwrap_or(bytes) {
        [] if bytes.is_empty() => Vec::new(),
        body => body.split(|byte| *byte == b'\n').collect(),
    };
    // Results are kept in the order of lines, so that the error reported does not depend on threads.
    let parsed: Vec<_> = lines
        .par_iter()
        .map(|line| EpisodeRecord::from_json(line))
        .collect();
    let mut records = Vec::with_capacity(parsed.len());
    for (at, result) in parsed.into_iter().enumerate() {
        records.push(result.map_err(|error| RecordError {
            file: file.to_owned(),
            line: at + 1,
            problem: LineProblem::Field(error),
        })?);
    }
    let mut first_lines = HashMap::with_capacity(records.len());
    for (at, record) in records.iter().enumerate() {
        if let Some(first) = first_lines.insert(record.id(), at + 1) {
            return Err(RecordError {
                file: file.to_owned(),
                line: at + 1,
                problem: LineProblem::RepeatedId {
                    id: record.id().to_owned(),
                    first,
                },
            });
        }
    }
    Ok(records)
}

/// A line of an episode file that does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{file}` line {line}: {problem}")]
pub struct RecordError {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: LineProblem,
}

/// What is wrong with a line of an episode file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineProblem {
    /// A field does not hold.
    #[error("{0}")]
    Field(FieldError),
    /// An earlier line has the same id.
    #[error("field `id`: `{id}` is the id of line {first} too")]
    RepeatedId {
        /// The id.
        id: String,
        /// The earlier line.
        first: usize,
    },
}
