//! Reading: sources, lines, and errors that name file, line and field.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result};
use safecommit_bench::json::{self, JsonError};
use serde::de::{DeserializeSeed, IgnoredAny};

use crate::terminal::shortened;

/// Where input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl Source {
    pub(crate) fn is_stdin(&self) -> bool {
        *self == Self::Stdin
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
        }
    }

    /// The name for errors.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Opens it for reading line by line.
    pub(crate) fn open(&self) -> Result<Box<dyn BufRead>> {
        Ok(match self {
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::File(path) => {
                let file = File::open(path).with_context(|| self.cannot_read())?;
                Box::new(BufReader::new(file))
            }
        })
    }

    /// Reads all of it, as text.
    pub(crate) fn read(&self) -> Result<String> {
        let mut bytes = Vec::new();
        self.open()?
            .read_to_end(&mut bytes)
            .with_context(|| self.cannot_read())?;
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = json::line_at(error.as_bytes(), valid);
            InputError::new(self, line, NOT_UTF8).into()
        })
    }

    fn cannot_read(&self) -> String {
        format!("cannot read `{}`", self.name())
    }
}

impl FromStr for Source {
    type Err = Infallible;

    fn from_str(argument: &str) -> Result<Self, Infallible> {
        Ok(match argument {
            "-" => Self::Stdin,
            path => Self::File(path.into()),
        })
    }
}

const NOT_UTF8: &str = "the text is not valid UTF-8";

/// The longest line that is read, in bytes without its end.
const LONGEST_LINE: usize = 16 << 20;

/// The memory for lines that is kept from one to the next.
const KEPT: usize = 1 << 20;

/// Reads lines one at a time, in bounded memory.
pub(crate) struct Lines<'a> {
    source: &'a Source,
    reader: Box<dyn BufRead>,
    buffer: Vec<u8>,
    number: usize,
}

/// A line without its end.
pub(crate) struct Line<'a> {
    /// Counted from 1, blank lines included.
    pub(crate) number: usize,
    /// The text, or why it is none.
    pub(crate) text: Result<&'a str, InputError>,
}

impl<'a> Lines<'a> {
    pub(crate) fn open(source: &'a Source) -> Result<Self> {
        Ok(Self {
            source,
            reader: source.open()?,
            buffer: Vec::new(),
            number: 0,
        })
    }

    /// The next line; `None` at the end of the input. The last one need not end in a newline. One that is
    /// longer than [`LONGEST_LINE`] is an error in its place, and the line after it comes next.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        let mut limited = self.reader.by_ref().take(LONGEST_LINE as u64 + 1);
        let read = limited.read_until(b'\n', &mut self.buffer);
        if read.with_context(|| self.source.cannot_read())? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.len() > LONGEST_LINE && !self.buffer.ends_with(b"\n") {
            let rest = self.reader.skip_until(b'\n');
            rest.with_context(|| self.source.cannot_read())?;
            let message = format!("the line is longer than {LONGEST_LINE} bytes");
            return Ok(Some(Line {
                number: self.number,
                text: Err(InputError::new(self.source, self.number, message)),
            }));
        }
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(Line {
            number: self.number,
            text: std::str::from_utf8(bytes)
                .map_err(|_| InputError::new(self.source, self.number, NOT_UTF8)),
        }))
    }
}

/// Input that does not hold, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputError {
    pub(crate) file: String,
    /// Counted from 1.
    pub(crate) line: usize,
    /// Path of the field, as in `worlds[2].score`; `None` if no field is at fault.
    pub(crate) field: Option<String>,
    pub(crate) message: String,
}

impl InputError {
    pub(crate) fn new(source: &Source, line: usize, message: impl Into<String>) -> Self {
        Self {
            file: source.name(),
            line,
            field: None,
            message: shortened(&message.into()),
        }
    }

    pub(crate) fn in_field(mut self, field: &str) -> Self {
        self.field = Some(shortened(field));
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: ", self.file, self.line)?;
        if let Some(field) = &self.field {
            write!(formatter, "{field}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

/// A JSON text with its place in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonText<'a> {
    pub(crate) source: &'a Source,
    /// Number of its first line in the file.
    pub(crate) first_line: usize,
    pub(crate) text: &'a str,
}

impl JsonText<'_> {
    /// Reads one JSON value, with nothing after it.
    pub(crate) fn parse<T>(
        &self,
        seed: impl for<'de> DeserializeSeed<'de, Value = T>,
    ) -> Result<T, InputError> {
        json::parse(self.text, seed).map_err(|error| self.place(&error))
    }

    /// The error in what should be a single request: where a stream of them stands instead, it says how to read one.
    pub(crate) fn explain_single(&self, mut error: InputError) -> InputError {
        let lines = self
            .text
            .lines()
            .filter(|line| !line.trim_ascii().is_empty());
        let first: Vec<&str> = lines.take(2).collect();
        let is_object = |line: &&str| {
            let object = line.trim_ascii_start().starts_with('{');
            object && serde_json::from_str::<IgnoredAny>(line).is_ok()
        };
        if first.len() == 2 && first.iter().all(is_object) {
            error.message += "; a file with a request a line is read with --jsonl";
        }
        error
    }

    /// An error in the value at `field`.
    pub(crate) fn error_at(&self, field: &str, message: String) -> InputError {
        self.place(&JsonError::at(self.text, field, message))
    }

    fn place(&self, error: &JsonError) -> InputError {
        let line = self.first_line + error.line() - 1;
        let placed = InputError::new(self.source, line, error.message());
        match error.field() {
            Some(field) => placed.in_field(field),
            None => placed,
        }
    }
}
