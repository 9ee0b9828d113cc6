//! One record as JSON.

#[cfg(feature = "schema")]
mod schema;

use std::fmt;

use jiff::Timestamp;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::{FieldProblem, shown, shown_up_to};
use super::{
    EvidenceRecord, PolicyRole, Proposition, RecordFieldError, Source, SourceKind, ToolStatus,
};

/// The fields of a record in the order in which they are written.
const FIELDS: [&str; 11] = [
    "id",
    "entity",
    "attribute",
    "value",
    "source",
    "name",
    "tool_status",
    "policy_role",
    "derived_from",
    "recorded",
    "observed",
];

impl EvidenceRecord {
    /// The record as one line of JSON without its end: fields in a fixed order, no spaces, times in UTC, fields
    /// without a value left out. Equal records have equal lines.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut line = String::new();
        for (field, value) in self.fields() {
            line.push(if line.is_empty() { '{' } else { ',' });
            // A `Value` displays as JSON without spaces, its texts with quotes and escapes.
            line.push_str(&Value::from(field).to_string());
            line.push(':');
            line.push_str(&value.to_string());
        }
        line.push('}');
        line
    }

    /// Reads a record from JSON: an object with the fields of a record and no others, in any order.
    ///
    /// # Errors
    ///
    /// The text is no JSON object, or a field of it does not hold.
    ///
    /// ```
    /// use safecommit_gate::EvidenceRecord;
    ///
    /// let json = r#"{"id": "m1", "entity": "run/latest", "attribute": "disposable", "value": "yes",
    ///     "source": "memory", "name": "notes.md", "derived_from": ["t1"], "recorded": "2026-03-01T08:05:00Z"}"#;
    /// assert_eq!(EvidenceRecord::from_json(json)?.source().name(), "notes.md");
    ///
    /// let authority = json.replace("\"derived_from\"", "\"policy_role\": \"rule\", \"derived_from\"");
    /// let error = EvidenceRecord::from_json(&authority).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "field `policy_role`: a record whose source is `memory` cannot have it"
    /// );
    /// # Ok::<(), safecommit_gate::RecordJsonError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, RecordJsonError> {
        let fields: Fields = serde_json::from_str(text).map_err(|error| RecordJsonError::Json {
            line: error.line(),
            column: error.column(),
            reason: reason_of(&error),
        })?;
        Ok(fields.into_record()?)
    }

    fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let text = |text: &str| Some(Value::from(text));
        let time = |time: Timestamp| Value::from(time.to_string());
        let source = self.source();
        let ancestors = (!self.ancestors.is_empty()).then(|| Value::from(self.ancestors.clone()));
        let values = [
            text(self.id()),
            text(self.proposition.entity()),
            text(self.proposition.attribute()),
            text(self.proposition.value()),
            text(source.kind().name()),
            text(source.name()),
            source.tool_status().and_then(|status| text(status.name())),
            source.policy_role().and_then(|role| text(role.name())),
            ancestors,
            Some(time(self.recorded)),
            self.observed.map(time),
        ];
        let pairs = FIELDS.into_iter().zip(values);
        pairs.filter_map(|(field, value)| Some((field, value?)))
    }
}

/// A text that is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordJsonError {
    /// It is no JSON object.
    #[error("column {column}: {reason}")]
    Json {
        /// The line within the text, from 1.
        line: usize,
        /// The column within the line, from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A field does not hold.
    #[error(transparent)]
    Field(#[from] RecordFieldError),
}

/// The message of an error without its place.
fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    shown_up_to(256, text.strip_suffix(&place).unwrap_or(&text))
}

impl Serialize for EvidenceRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in self.fields() {
            map.serialize_entry(field, &value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for EvidenceRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        fields.into_record().map_err(D::Error::custom)
    }
}

/// The fields as they stand, so that one that stands twice or is not known is not lost.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object with the fields of a record of evidence")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

impl Fields {
    fn into_record(self) -> Result<EvidenceRecord, RecordFieldError> {
        let mut given: [Option<Value>; FIELDS.len()] = Default::default();
        for (field, value) in self.0 {
            let at = FIELDS.iter().position(|known| **known == field);
            let at = at.ok_or_else(|| FieldProblem::Unknown.in_field(&shown(&field)))?;
            if given[at].replace(value).is_some() {
                return Err(FieldProblem::Repeated.in_field(&field));
            }
        }
        let mut take = |field: &str| {
            let at = FIELDS.iter().position(|known| *known == field)?;
            given[at].take()
        };
        let mut optional = |field: &'static str| match take(field) {
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(FieldProblem::NotText.in_field(field)),
            None => Ok(None),
        };
        let mut needed = |field: &'static str| {
            optional(field)?.ok_or_else(|| FieldProblem::Missing.in_field(field))
        };
        let id = needed("id")?;
        let proposition =
            Proposition::new(needed("entity")?, needed("attribute")?, needed("value")?)?;
        let kind = SourceKind::of_name("source", &needed("source")?)?;
        let name = needed("name")?;
        let recorded = read_time("recorded", &needed("recorded")?)?;
        let status = optional("tool_status")?.map(|text| ToolStatus::of_name("tool_status", &text));
        let role = optional("policy_role")?.map(|text| PolicyRole::of_name("policy_role", &text));
        let observed = optional("observed")?.map(|text| read_time("observed", &text));
        let source = Source::from_parts(kind, name, status.transpose()?, role.transpose()?)?;
        let ancestors = take("derived_from").map_or(Ok(Vec::new()), read_ids)?;
        let record = EvidenceRecord::new(id, proposition, source, recorded)?;
        let record = record.with_ancestors(ancestors)?;
        Ok(match observed.transpose()? {
            Some(observed) => record.with_observed(observed),
            None => record,
        })
    }
}

fn read_ids(value: Value) -> Result<Vec<String>, RecordFieldError> {
    let ids = match value {
        Value::Array(ids) => ids.into_iter().map(|id| match id {
            Value::String(id) => Some(id),
            _ => None,
        }),
        _ => return Err(FieldProblem::NotAList.in_field("derived_from")),
    };
    ids.collect::<Option<_>>()
        .ok_or_else(|| FieldProblem::NotAList.in_field("derived_from"))
}

fn read_time(field: &str, given: &str) -> Result<Timestamp, RecordFieldError> {
    given.parse().map_err(|reason: jiff::Error| {
        let problem = FieldProblem::UnreadableTime {
            given: shown(given),
            reason: shown_up_to(256, &reason.to_string()),
        };
        problem.in_field(field)
    })
}
