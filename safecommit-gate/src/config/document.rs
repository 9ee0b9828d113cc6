//! Where in the text of a configuration a field stands.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A TOML text with the places of its fields.
pub(super) struct Document<'t> {
    text: &'t str,
    table: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// The line, from 1, and what is wrong there.
    pub(super) fn parse(text: &'t str) -> Result<Self, (usize, String)> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Self { text, table }),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                Err((line(text, at), error.message().to_owned()))
            }
        }
    }

    /// The line of a field, from 1, as in `probes.status.cost` or `policies.files[0]`; of what is there of it if it is
    /// not there as a whole.
    pub(super) fn line_of(&self, field: &str) -> usize {
        let mut found = None;
        let mut table = Some(self.table.get_ref());
        for part in field.split('.') {
            let (name, place) = match part.split_once('[') {
                Some((name, place)) => (name, place.trim_end_matches(']').parse::<usize>().ok()),
                None => (part, None),
            };
            let entry = table.and_then(|table| table.iter().find(|(key, _)| key.get_ref() == name));
            let Some((key, value)) = entry else { break };
            found = Some(key.span().start);
            let item = place.and_then(|place| value.get_ref().as_array()?.get(place));
            if let Some(item) = item {
                found = Some(item.span().start);
            }
            table = value.get_ref().as_table();
        }
        line(self.text, found.unwrap_or(0))
    }

    /// The field that stands at an offset.
    pub(super) fn field_at(&self, offset: usize) -> Option<String> {
        in_table(self.table.get_ref(), "", offset)
    }

    /// The line of an offset, from 1.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        line(self.text, offset)
    }

    /// Whether a field is there, and is no table.
    pub(super) fn is_no_table(&self, field: &str) -> bool {
        let mut table = self.table.get_ref();
        for part in field.split('.') {
            let entry = table.iter().find(|(key, _)| key.get_ref() == part);
            match entry.map(|(_, value)| value.get_ref()) {
                None => return false,
                Some(DeValue::Table(inner)) => table = inner,
                Some(_) => return true,
            }
        }
        false
    }
}

/// Spans of tables are those of their headers, so every table is looked into.
fn in_table(table: &DeTable<'_>, path: &str, offset: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let dot = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{dot}{}", key.get_ref());
        let deeper = in_value(value, &path, offset);
        deeper.or_else(|| holds(&key.span(), offset).then_some(path))
    })
}

fn in_value(value: &Spanned<DeValue<'_>>, path: &str, offset: usize) -> Option<String> {
    let deeper = match value.get_ref() {
        DeValue::Table(table) => in_table(table, path, offset),
        DeValue::Array(items) => (0..).zip(items.iter()).find_map(|(place, item)| {
            let place: usize = place;
            in_value(item, &format!("{path}[{place}]"), offset)
        }),
        _ => None,
    };
    deeper.or_else(|| holds(&value.span(), offset).then(|| path.to_owned()))
}

fn holds(span: &Range<usize>, offset: usize) -> bool {
    span.contains(&offset)
}

fn line(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a = 1\n[b]\nc = [1,\n 2]\n[b.d]\ne = { f = 'x' }\n";

    #[test]
    fn a_field_and_its_line_lead_to_each_other() {
        let document = Document::parse(TEXT).unwrap();
        for (field, line, mark) in [
            ("a", 1, "a = "),
            ("b.c", 3, "c = "),
            ("b.c[0]", 3, "1,"),
            ("b.c[1]", 4, "2]"),
            ("b.d.e.f", 6, "'x'"),
        ] {
            assert_eq!(document.line_of(field), line, "{field}");
            let at = TEXT.find(mark).unwrap();
            assert_eq!(document.field_at(at).as_deref(), Some(field));
            assert_eq!(document.line_at(at), line);
        }
        // What is not there is where it should be.
        for (field, line) in [("z", 1), ("b.z", 2), ("b.c[7]", 3), ("b.d.z", 5)] {
            assert_eq!(document.line_of(field), line, "{field}");
        }
        assert!(document.is_no_table("a") && document.is_no_table("b.c"));
        assert!(!document.is_no_table("b.d.e") && !document.is_no_table("z"));
    }

    #[test]
    fn what_is_no_toml_is_placed() {
        let refused = |text| Document::parse(text).err().map(|(line, _)| line);
        assert_eq!(refused("a = 1\nb = \n"), Some(2));
        assert_eq!(refused("a = 1\n\na = 2\n"), Some(3));
        assert_eq!(refused(TEXT), None);
    }
}
