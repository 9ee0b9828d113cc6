//! What [`super`] takes as a record, as JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::evidence::{
    EvidenceRecord, MAX_ANCESTORS, MAX_LABEL_BYTES, MAX_TEXT_BYTES, PolicyRole, SourceKind,
    ToolStatus,
};
use crate::fact::IDENTIFIER;

/// What is written as a time: whether there is such a day or hour is beyond a pattern.
const TIME: &str = concat!(
    r"^([0-9]{4}|[+-][0-9]{6})(-[0-9]{2}-[0-9]{2}|[0-9]{4})",
    r"[Tt ][0-9]{2}(:?[0-9]{2}(:?[0-9]{2}([.,][0-9]{1,9})?)?)?",
    r"([Zz]|[+-][0-9]{2}(:?[0-9]{2}(:?[0-9]{2}([.,][0-9]{1,9})?)?)?)",
    r"(\[[^\[\]]+\])*$",
);

impl JsonSchema for EvidenceRecord {
    fn schema_name() -> Cow<'static, str> {
        "EvidenceRecord".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A piece of evidence: a source said, at a time, that an attribute of an entity has a value.",
            "type": "object",
            "additionalProperties": false,
            "required": ["id", "entity", "attribute", "value", "source", "name", "recorded"],
            "properties": {
                "id": label("A name among the records, by which others refer to this one."),
                "entity": text(1, "What it is about, such as the path of a target."),
                "attribute": {
                    "description": "Of what of the entity it gives the value: the name of a fact, or any other.",
                    "type": "string",
                    "maxLength": MAX_LABEL_BYTES,
                    "pattern": IDENTIFIER
                },
                "value": text(0, "The value; numbers and truth values are written out as text."),
                "source": names(
                    SourceKind::NAMES,
                    "Who said it: the person, the agent's memory, a measurement of the host, a tool, or the policy. \
                     What stands in a file, page or message is the output of a tool.",
                ),
                "name": label("Who of that kind: a person, a file of notes, a tool."),
                "tool_status": names(ToolStatus::NAMES, "How the call of the tool ended."),
                "policy_role": names(
                    PolicyRole::NAMES,
                    "What it does for the policy that is in force.",
                ),
                "derived_from": {
                    "description": "The ids of the records that it was made from.",
                    "type": "array",
                    "items": label("The id of a record."),
                    "maxItems": MAX_ANCESTORS,
                    "uniqueItems": true
                },
                "recorded": time("When it was written."),
                "observed": time("When what it says was seen to be so, if that is known.")
            },
            "allOf": [
                {
                    "if": is_from(&[SourceKind::Tool]),
                    "then": {"required": ["tool_status"]},
                    "else": {"properties": {"tool_status": false}}
                },
                {
                    "if": is_from(&[SourceKind::Policy]),
                    "then": {"required": ["policy_role"]}
                },
                {
                    "if": is_from(&[SourceKind::Memory, SourceKind::Observation, SourceKind::Tool]),
                    "then": {"properties": {"policy_role": false}}
                }
            ]
        })
    }
}

/// A short text without control characters. The limit is in bytes, of which a character has at least one.
fn label(description: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_LABEL_BYTES,
        "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$"
    })
}

fn text(shortest: usize, description: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "minLength": shortest,
        "maxLength": MAX_TEXT_BYTES
    })
}

fn names(known: &[&str], description: &str) -> Value {
    json!({"description": description, "type": "string", "enum": known})
}

fn time(description: &str) -> Value {
    json!({
        "description": format!(
            "{description} A date, a time of day and an offset from UTC, as in 2026-03-01T12:00:00Z.",
        ),
        "type": "string",
        "pattern": TIME
    })
}

fn is_from(kinds: &[SourceKind]) -> Value {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    json!({"required": ["source"], "properties": {"source": {"enum": names}}})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;

    use super::super::FIELDS;
    use super::*;

    #[test]
    fn the_schema_has_the_fields_that_the_parser_has() {
        let schema = schema_for!(EvidenceRecord);
        let properties = schema.get("properties").unwrap().as_object().unwrap();
        let named: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(named, BTreeSet::from(FIELDS));
    }
}
