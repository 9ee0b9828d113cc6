//! Reading: sources, lines, and errors that name file, line and field.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result};
use serde::de::DeserializeSeed;

use crate::locate;
use crate::objects::FromObjects;

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
            let line = locate::line_at(error.as_bytes(), valid);
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

/// Reads lines one at a time, in memory bounded by the longest of them.
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

    /// The next line; `None` at the end of the input. The last one need not end in a newline.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        self.buffer.clear();
        let read = self.reader.read_until(b'\n', &mut self.buffer);
        if read.with_context(|| self.source.cannot_read())? == 0 {
            return Ok(None);
        }
        self.number += 1;
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
            message: message.into(),
        }
    }

    pub(crate) fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
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
        let mut input = serde_json::Deserializer::from_str(self.text);
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(&mut input, &mut track);
        let value = match seed.deserialize(FromObjects(tracked)) {
            Ok(value) => value,
            Err(error) => {
                let path = track.path().to_string();
                // A question mark stands for a key that was not read to its end.
                let known = path.strip_suffix('?').unwrap_or(&path);
                return Err(self.explain(&error, known.trim_end_matches('.')));
            }
        };
        match input.end() {
            Ok(()) => Ok(value),
            Err(error) => Err(self.explain(&error, WHOLE)),
        }
    }

    /// An error in the value at `field`.
    pub(crate) fn error_at(&self, field: &str, message: String) -> InputError {
        let offset = locate::offset(self.text, field).unwrap_or(0);
        self.error(self.line_at(offset), field, message)
    }

    fn error(&self, line: usize, field: &str, message: String) -> InputError {
        let error = InputError::new(self.source, line, message);
        match field {
            "" | WHOLE => error,
            field => error.in_field(field),
        }
    }

    fn line_at(&self, offset: usize) -> usize {
        self.first_line + locate::line_at(self.text.as_bytes(), offset) - 1
    }

    /// Puts a parser's error into our form.
    fn explain(&self, error: &serde_json::Error, path: &str) -> InputError {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let whole = error.to_string();
        let message = whole.strip_suffix(&place).unwrap_or(&whole);
        if !error.is_data() {
            // Broken syntax has a place of its own, and perhaps no field yet.
            let line = self.first_line + error.line().max(1) - 1;
            let message = format!("{message} (column {})", error.column());
            return self.error(line, path, message);
        }
        let (field, message) = name_field(path, message);
        match locate::offset(self.text, &field) {
            Some(offset) => self.error(self.line_at(offset), &field, message),
            None => self.error(self.first_line + error.line().max(1) - 1, &field, message),
        }
    }
}

/// How the path of the whole value is written.
const WHOLE: &str = ".";

/// The field at fault, where the message knows it better than the path, which stops at the object
/// that lacks a field or has one too many.
fn name_field(path: &str, message: &str) -> (String, String) {
    const OBJECT_FAULTS: [&str; 3] = ["missing field `", "duplicate field `", "unknown field `"];
    // Calibrations are checked as a whole, so that only the message says which field is at fault.
    if let Some((field, rest)) = message
        .strip_prefix("calibration field `")
        .and_then(|rest| rest.split_once("`: "))
    {
        return (join(path, field), rest.to_owned());
    }
    let named = OBJECT_FAULTS
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .and_then(|rest| rest.split_once('`'));
    match named {
        Some((field, _)) if !ends_in_field(path, field) => (join(path, field), message.to_owned()),
        _ => (path.to_owned(), message.to_owned()),
    }
}

fn join(path: &str, field: &str) -> String {
    match path {
        "" | WHOLE => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

fn ends_in_field(path: &str, field: &str) -> bool {
    path.strip_suffix(field)
        .is_some_and(|parent| parent.is_empty() || parent.ends_with('.'))
}
