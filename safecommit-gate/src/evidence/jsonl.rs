//! Files of records, one a line.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use super::{EvidenceRecord, RecordFieldError, RecordJsonError};
use crate::lines::{LineProblem, next_line};

/// The most bytes in a line, its end not counted. A reader never holds more than one line; every record fits.
pub const MAX_EVIDENCE_LINE_BYTES: usize = 2 * 1024 * 1024;

/// Reads records from JSONL, one at a time: the next line is read when the next record is asked for.
///
/// The end of the last line may be missing; an empty line is an error. After an error there is nothing more.
/// Whether ids differ is not looked at: see [`read_evidence`].
///
/// ```
/// use safecommit_gate::EvidenceReader;
///
/// let file = concat!(
///     r#"{"id":"u1","entity":"run","attribute":"disposable","value":"yes","source":"user","name":"ada","#,
///     r#""recorded":"2026-03-01T08:00:00Z"}"#,
///     "\n",
///     r#"{"id":"u2","entity":"run","attribute":"disposable","value":7}"#,
/// );
/// let mut records = EvidenceReader::new("evidence.jsonl", file.as_bytes());
/// assert_eq!(records.next().unwrap()?.id(), "u1");
/// let error = records.next().unwrap().unwrap_err();
/// assert_eq!(error.to_string(), "`evidence.jsonl` line 2: field `value`: it is no text");
/// assert!(records.next().is_none());
/// # Ok::<(), safecommit_gate::EvidenceFileError>(())
/// ```
#[derive(Debug)]
pub struct EvidenceReader<R> {
    file: String,
    reader: R,
    line: usize,
    ended: bool,
    buffer: Vec<u8>,
}

/// Reads all the records of a file, given its name for errors. Ids differ.
///
/// # Errors
///
/// The first line that does not hold, with its number and the field at fault.
pub fn read_evidence(
    file: &str,
    reader: impl BufRead,
) -> Result<Vec<EvidenceRecord>, EvidenceFileError> {
    let mut records: Vec<EvidenceRecord> = Vec::new();
    let mut first_lines = BTreeMap::new();
    for record in EvidenceReader::new(file, reader) {
        let record = record?;
        let line = records.len() + 1;
        if let Some(first) = first_lines.insert(record.id().to_owned(), line) {
            return Err(EvidenceFileError {
                file: file.to_owned(),
                line,
                problem: EvidenceLineProblem::RepeatedId {
                    id: record.id().to_owned(),
                    first,
                },
            });
        }
        records.push(record);
    }
    Ok(records)
}

/// Writes records as JSONL, in their order, each line with its end; see [`EvidenceRecord::to_json`].
///
/// # Errors
///
/// Those of the writer.
///
/// ```
/// use safecommit_gate::{EvidenceRecord, Proposition, Source, read_evidence, write_evidence};
///
/// let wish = Proposition::new("report.txt", "disposable", "no")?;
/// let record = EvidenceRecord::new("u1", wish, Source::user("ada")?, "2026-03-01T08:00:00Z".parse()?)?;
/// let mut file = Vec::new();
/// write_evidence([&record], &mut file)?;
/// assert_eq!(read_evidence("evidence.jsonl", file.as_slice())?, [record]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_evidence<'r>(
    records: impl IntoIterator<Item = &'r EvidenceRecord>,
    mut writer: impl Write,
) -> io::Result<()> {
    for record in records {
        let mut line = record.to_json();
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
    writer.flush()
}

/// A line of a file of evidence that does not hold.
#[derive(Debug, thiserror::Error)]
#[error("`{file}` line {line}: {problem}")]
pub struct EvidenceFileError {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: EvidenceLineProblem,
}

/// What is wrong with a line of a file of evidence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceLineProblem {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is longer than [`MAX_EVIDENCE_LINE_BYTES`].
    #[error("it has more than {MAX_EVIDENCE_LINE_BYTES} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("column {column}: it is not UTF-8")]
    NotUtf8 {
        /// The first byte that is not, from 1.
        column: usize,
    },
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It is no JSON object.
    #[error("column {column}: {reason}; a record is a JSON object on a line of its own")]
    Json {
        /// Where, from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A field does not hold.
    #[error(transparent)]
    Field(#[from] RecordFieldError),
    /// An earlier line has the same id.
    #[error("field `id`: `{id}` is the id of line {first} too")]
    RepeatedId {
        /// The id.
        id: String,
        /// The earlier line.
        first: usize,
    },
}

impl From<LineProblem> for EvidenceLineProblem {
    fn from(problem: LineProblem) -> Self {
        match problem {
            LineProblem::Read(error) => Self::Read(error),
            LineProblem::TooLong { .. } => Self::TooLong,
            LineProblem::NotUtf8 { column } => Self::NotUtf8 { column },
        }
    }
}

impl<R: BufRead> EvidenceReader<R> {
    /// Reads from `reader`; `file` is its name for errors.
    pub fn new(file: impl Into<String>, reader: R) -> Self {
        Self {
            file: file.into(),
            reader,
            line: 0,
            ended: false,
            buffer: Vec::new(),
        }
    }

    fn read_line(&mut self) -> Result<Option<EvidenceRecord>, EvidenceLineProblem> {
        let read = next_line(&mut self.reader, MAX_EVIDENCE_LINE_BYTES, &mut self.buffer);
        let Some(text) = read? else {
            return Ok(None);
        };
        if text.is_empty() {
            return Err(EvidenceLineProblem::Empty);
        }
        match EvidenceRecord::from_json(text) {
            Ok(record) => Ok(Some(record)),
            Err(RecordJsonError::Json { column, reason, .. }) => {
                Err(EvidenceLineProblem::Json { column, reason })
            }
            Err(RecordJsonError::Field(error)) => Err(error.into()),
        }
    }
}

impl<R: BufRead> Iterator for EvidenceReader<R> {
    type Item = Result<EvidenceRecord, EvidenceFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.line += 1;
        let read = self.read_line();
        self.ended = !matches!(read, Ok(Some(_)));
        let read = read.map_err(|problem| EvidenceFileError {
            file: self.file.clone(),
            line: self.line,
            problem,
        });
        read.transpose()
    }
}
