//! Reading JSON strictly, and saying where it fails: the line, and the field by its path.

mod locate;
mod objects;

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeSeed;

use crate::field_path::{WHOLE, field_path, name_field};

pub use locate::{line_at, offset};
pub use objects::FromObjects;

/// Reads one JSON value, with nothing after it; a struct from an object alone (see [`FromObjects`]).
///
/// # Errors
///
/// The text is no JSON, or not of this type: the error has the line and the field.
///
/// ```
/// use std::marker::PhantomData;
/// use safecommit_bench::json::parse;
///
/// let text = "{\n  \"a\": [1,\n    -1]\n}";
/// let error = parse(text, PhantomData::<std::collections::BTreeMap<String, Vec<u8>>>).unwrap_err();
/// assert_eq!((error.line(), error.field()), (3, Some("a[1]")));
/// ```
pub fn parse<T>(
    text: &str,
    seed: impl for<'de> DeserializeSeed<'de, Value = T>,
) -> Result<T, JsonError> {
    let mut input = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut input, &mut track);
    match seed.deserialize(FromObjects(tracked)) {
        Ok(value) => match input.end() {
            Ok(()) => Ok(value),
            Err(error) => Err(explain(text, &error, WHOLE)),
        },
        Err(error) => Err(explain(text, &error, &field_path(&track.path()))),
    }
}

/// Reads one JSON value from bytes, as [`parse`] reads it from text.
pub(crate) fn from_slice<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, JsonError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, PhantomData::<T>),
        Err(error) => Err(JsonError::new(
            line_at(bytes, error.valid_up_to()),
            WHOLE,
            "the text is not valid UTF-8",
        )),
    }
}

/// A JSON text that does not hold, with the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {}{message}", field.as_ref().map(|field| format!("field `{field}`: ")).unwrap_or_default())]
pub struct JsonError {
    line: usize,
    field: Option<String>,
    message: String,
}

impl JsonError {
    /// An error in the value at the path `field`, as in `worlds[2].score`, of a text that is JSON.
    #[must_use]
    pub fn at(text: &str, field: &str, message: impl Into<String>) -> Self {
        let offset = offset(text, field).unwrap_or(0);
        Self::new(line_at(text.as_bytes(), offset), field, message)
    }

    fn new(line: usize, field: &str, message: impl Into<String>) -> Self {
        Self {
            line,
            field: (!field.is_empty() && field != WHOLE).then(|| field.to_owned()),
            message: message.into(),
        }
    }

    /// Number of the line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Path of the field, as in `worlds[2].score`; `None` if no field is at fault.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Puts a parser's error into our form.
fn explain(text: &str, error: &serde_json::Error, path: &str) -> JsonError {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let whole = error.to_string();
    let message = whole.strip_suffix(&place).unwrap_or(&whole);
    let line = error.line().max(1);
    if !error.is_data() {
        // Broken syntax has a place of its own, and perhaps no field yet.
        let message = format!("{message} (column {})", error.column());
        return JsonError::new(line, path, message);
    }
    let (field, message) = name_field(path, message);
    let line = offset(text, &field).map_or(line, |offset| line_at(text.as_bytes(), offset));
    JsonError::new(line, &field, message)
}
