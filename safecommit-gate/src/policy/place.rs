//! Where in a text an error is, and in which of its policies.

use std::fmt;

/// A line and a column of a text, each counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Place {
    /// The place of a byte of the text; a byte behind its end counts as the end.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let mut byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = text.get(..byte).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}

/// What to call the policy in which a byte of the text lies: its `@id` if it has one, else its number, from 1. For
/// a text that does not parse, so it looks only for strings, comments and the semicolons between policies.
pub(crate) fn policy_at(text: &str, byte: usize) -> String {
    let mut number = 1;
    let (mut start, mut end) = (0, text.len());
    for (at, _) in significant(text).filter(|(_, letter)| *letter == b';') {
        if at >= byte {
            end = at;
            break;
        }
        number += 1;
        start = at + 1;
    }
    let statement = text.get(start..end).unwrap_or_default();
    annotated_id(statement).unwrap_or_else(|| number.to_string())
}

/// The bytes of a text with their positions, without those in strings and comments.
pub(crate) fn significant(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let bytes = text.as_bytes();
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let at = next;
            match *bytes.get(at)? {
                b'"' => next = end_of_string(bytes, at),
                b'/' if bytes.get(at + 1) == Some(&b'/') => next = end_of_line(bytes, at),
                letter => {
                    next = at + 1;
                    return Some((at, letter));
                }
            }
        }
    })
}

/// What is declared in a schema.
pub(crate) enum Declares<'n> {
    /// An entity type, by its name without namespaces.
    Entity(&'n str),
    /// An action.
    Action(&'n str),
}

/// The byte at which a schema, which parses, declares an attribute of something: in its declaration, or else in that of a
/// type that it shares with others, or else where it is declared itself.
pub(crate) fn declaration(text: &str, declares: &Declares<'_>, attribute: Option<&str>) -> usize {
    let (keyword, name) = match declares {
        Declares::Entity(name) => ("entity", *name),
        Declares::Action(name) => ("action", *name),
    };
    let mut statement_start = 0;
    let mut declared = None;
    let ends = significant(text).filter(|(_, letter)| *letter == b';');
    for (end, _) in ends {
        let statement = statement_start..end;
        statement_start = end + 1;
        let mut words = words(text, statement.clone());
        let mut is_keyword = words.by_ref().skip_while(|(_, word)| *word != keyword);
        let Some((start, _)) = is_keyword.next() else {
            continue;
        };
        // The names stand before what they are declared as.
        let head = text.get(start..end).unwrap_or_default();
        let until = head.find(['{', '=']).map_or(end, |at| start + at);
        let mut words = words.take_while(|(at, _)| *at < until);
        if words.any(|(_, word)| word == name) || head.contains(&format!("\"{name}\"")) {
            declared = Some(start..end);
            break;
        }
    }
    let found = attribute.and_then(|attribute| {
        let here = declared
            .clone()
            .and_then(|range| attribute_in(text, range, attribute));
        here.or_else(|| attribute_in(text, 0..text.len(), attribute))
    });
    found
        .or(declared.map(|range| range.start))
        .unwrap_or_default()
}

/// Where an attribute gets its type in a part of a schema.
fn attribute_in(text: &str, range: std::ops::Range<usize>, attribute: &str) -> Option<usize> {
    let gets_type = |at: usize| {
        let after = text.get(at + attribute.len()..).unwrap_or_default();
        after
            .trim_start()
            .trim_start_matches('?')
            .trim_start()
            .starts_with(':')
    };
    let mut words = words(text, range);
    words
        .find(|(at, word)| *word == attribute && gets_type(*at))
        .map(|(at, _)| at)
}

/// The words of a part of a text with their positions, without those in strings and comments.
fn words(text: &str, range: std::ops::Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let is_of_word = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    let mut letters = significant(text)
        .skip_while(move |(at, _)| *at < range.start)
        .take_while(move |(at, _)| *at < range.end)
        .filter(move |(_, letter)| is_of_word(*letter))
        .map(|(at, _)| at)
        .peekable();
    std::iter::from_fn(move || {
        let start = letters.next()?;
        let mut end = start + 1;
        while letters.next_if_eq(&end).is_some() {
            end += 1;
        }
        Some((start, text.get(start..end)?))
    })
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest.iter().position(|byte| *byte == b'\n');
    length.map_or(bytes.len(), |length| at + length)
}

/// The `@id("...")` of a statement, outside its comments.
fn annotated_id(statement: &str) -> Option<String> {
    statement.lines().find_map(|line| {
        let (_, rest) = line.split("//").next()?.split_once("@id(\"")?;
        let (id, _) = rest.split_once('"')?;
        (!id.is_empty()).then(|| id.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "ab\nçd\n";
        assert_eq!(Place::of(text, 0), Place { line: 1, column: 1 });
        assert_eq!(Place::of(text, 2), Place { line: 1, column: 3 });
        assert_eq!(Place::of(text, 5), Place { line: 2, column: 2 });
        assert_eq!(Place::of(text, 4), Place { line: 2, column: 1 }); // inside ç
        assert_eq!(Place::of(text, 99), Place { line: 3, column: 1 });
        assert_eq!(Place::of("", 0).to_string(), "line 1, column 1");
    }

    #[test]
    fn a_policy_is_called_by_its_id_or_its_number() {
        let text = concat!(
            "// a; comment @id(\"no\")\n@id(\"first\") permit(x \";\\\";\" y);\n",
            "forbid(z);\n// @id(\"no\")\n@id(\"third\")\npermit(",
        );
        let at = |needle: &str| policy_at(text, text.find(needle).unwrap());
        assert_eq!(at("permit(x"), "first");
        assert_eq!(at("y)"), "first");
        assert_eq!(at("forbid"), "2");
        assert_eq!(at("\npermit("), "third");
        assert_eq!(policy_at(text, text.len()), "third");
        assert_eq!(policy_at("\"never closed \\", 3), "1");
        assert_eq!(policy_at("", 0), "1");
    }
}
