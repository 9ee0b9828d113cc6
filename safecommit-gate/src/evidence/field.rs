//! What is wrong with a field of a record.

use super::{MAX_LABEL_BYTES, MAX_TEXT_BYTES};

/// A field of a record of evidence that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}`: {problem}")]
pub struct RecordFieldError {
    /// The field by its name in JSON.
    pub field: String,
    /// What is wrong with it.
    pub problem: FieldProblem,
}

/// What is wrong with a field of a record of evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// A field that records do not have.
    #[error("records have no such field")]
    Unknown,
    /// A field that is not there and has to be.
    #[error("it is missing")]
    Missing,
    /// A field that stands twice.
    #[error("it stands twice")]
    Repeated,
    /// Something other than a text.
    #[error("it is no text")]
    NotText,
    /// Something other than a list of texts.
    #[error("it is no list of texts")]
    NotAList,
    /// A text without a character.
    #[error("it is empty")]
    Empty,
    /// A text that is too long.
    #[error("it has {bytes} bytes, {max} are possible")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// A text with control characters where a label is needed.
    #[error("it has control characters")]
    ControlCharacter,
    /// A name that is no identifier.
    #[error("`{0}` is no identifier: a letter, then letters, digits and `_`")]
    NotAnIdentifier(String),
    /// A name that is none of a few known ones.
    #[error("`{given}` is none of {}", known.join(", "))]
    NoneOf {
        /// The name.
        given: String,
        /// Those that are known.
        known: Vec<&'static str>,
    },
    /// A time that cannot be read.
    #[error("`{given}` is no time such as 2026-03-01T08:00:00Z: {reason}")]
    UnreadableTime {
        /// The text.
        given: String,
        /// Why it is no time.
        reason: String,
    },
    /// A list that is too long.
    #[error("it has more than {max} entries")]
    TooMany {
        /// How many it may have.
        max: usize,
    },
    /// An entry of a list that stands twice.
    #[error("`{0}` stands twice in it")]
    StandsTwice(String),
    /// A field that a source of this kind cannot have: only tools have a status, and only users and policies have
    /// a role.
    #[error("a record whose source is `{0}` cannot have it")]
    NotOfThisSource(&'static str),
}

impl FieldProblem {
    /// This problem in that field.
    pub(super) fn in_field(self, field: &str) -> RecordFieldError {
        RecordFieldError {
            field: field.to_owned(),
            problem: self,
        }
    }
}

/// The beginning of a text that may be of any length and hold anything, fit for a message on one line.
pub(super) fn shown(text: &str) -> String {
    shown_up_to(64, text)
}

/// As [`shown`], up to so many characters.
pub(super) fn shown_up_to(count: usize, text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(count) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if text.chars().nth(count).is_some() {
        shown.push('…');
    }
    shown
}

/// A short text that is not empty and has no control characters.
pub(super) fn check_label(field: &str, text: String) -> Result<String, RecordFieldError> {
    let problem = if text.is_empty() {
        FieldProblem::Empty
    } else if text.len() > MAX_LABEL_BYTES {
        FieldProblem::TooLong {
            bytes: text.len(),
            max: MAX_LABEL_BYTES,
        }
    } else if text.chars().any(char::is_control) {
        FieldProblem::ControlCharacter
    } else {
        return Ok(text);
    };
    Err(problem.in_field(field))
}

/// Any text that is not too long.
pub(super) fn check_text(field: &str, text: String) -> Result<String, RecordFieldError> {
    if text.len() <= MAX_TEXT_BYTES {
        return Ok(text);
    }
    let problem = FieldProblem::TooLong {
        bytes: text.len(),
        max: MAX_TEXT_BYTES,
    };
    Err(problem.in_field(field))
}
