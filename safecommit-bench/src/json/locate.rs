//! Where in a JSON text a field stands, for errors found after parsing.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The number of the line, from 1, that holds the byte at `offset`.
#[must_use]
pub fn line_at(text: &[u8], offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// The offset of the value at `path`, as in `worlds[2].safe[0]`; of the innermost object or list on the
/// way that exists, if the value does not. `None` if the text is not JSON.
///
/// The path is matched against the keys that are there, so that keys may hold dots and brackets.
#[must_use]
pub fn offset(text: &str, path: &str) -> Option<usize> {
    let mut value: &RawValue = serde_json::from_str(text).ok()?;
    let mut rest = path;
    loop {
        let step = match value.get().as_bytes().first() {
            Some(b'{') => into_object(value, rest),
            Some(b'[') => into_list(value, rest),
            _ => None,
        };
        match step {
            Some((inner, after)) => (value, rest) = (inner, after),
            // A raw value borrows from the text, so the distance between the two is its offset.
            None => return (value.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize),
        }
    }
}

/// The value of the longest key that `path` starts with, and the path from there.
fn into_object<'a, 'p>(value: &'a RawValue, path: &'p str) -> Option<(&'a RawValue, &'p str)> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let Entries(entries) = serde_json::from_str(value.get()).ok()?;
    entries
        .into_iter()
        .filter_map(|(key, inner)| {
            let rest = path.strip_prefix(key.as_str())?;
            let whole_key = rest.is_empty() || rest.starts_with(['.', '[']);
            whole_key.then_some((inner, rest))
        })
        // The last of equal keys: the one that a parser complains about.
        .min_by_key(|(inner, rest)| (rest.len(), std::cmp::Reverse(inner.get().as_ptr() as usize)))
}

fn into_list<'a, 'p>(value: &'a RawValue, path: &'p str) -> Option<(&'a RawValue, &'p str)> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    let index: usize = index.parse().ok()?;
    let Elements(elements) = serde_json::from_str(value.get()).ok()?;
    Some((elements.get(index).copied()?, rest))
}

/// The entries of an object in their order, equal keys included.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

/// The elements of a list.
struct Elements<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        input.deserialize_map(Object)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Elements<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }

        input.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
{
  "worlds": [
    {"id": "a", "safe": ["x"]},
    {
      "id": "b",
      "safe": ["x",
               "y"]
    }
  ],
  "likelihood": {"a.b[0]": 0.25,
    "a": {"b[0]": 0.5},
    "twice": 1,
    "twice": 2
  }
}"#;

    fn check(path: &str, expect_line: usize, expect_start: &str) {
        let offset = offset(TEXT, path).unwrap();
        assert_eq!(
            line_at(TEXT.as_bytes(), offset),
            expect_line,
            "path `{path}`"
        );
        assert!(TEXT[offset..].starts_with(expect_start), "path `{path}`");
    }

    #[test]
    fn a_path_leads_to_its_value() {
        check(".", 2, "{");
        check("worlds", 3, "[");
        check("worlds[0].safe[0]", 4, "\"x\"");
        check("worlds[1]", 5, "{");
        check("worlds[1].id", 6, "\"b\"");
        check("worlds[1].safe[1]", 8, "\"y\"");
    }

    #[test]
    fn keys_may_hold_dots_and_brackets() {
        check("likelihood.a.b[0]", 11, "0.25");
        check("likelihood.a", 12, "{");
    }

    #[test]
    fn of_equal_keys_the_last_is_meant() {
        check("likelihood.twice", 14, "2");
    }

    #[test]
    fn what_is_not_there_leads_to_what_would_hold_it() {
        check("worlds[1].score", 5, "{");
        check("worlds[7].id", 3, "[");
    }

    #[test]
    fn broken_text_has_no_places() {
        assert_eq!(offset("{\"a\": ", "a"), None);
        assert_eq!(offset("", "."), None);
    }
}
