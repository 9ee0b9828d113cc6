//! What [`super::check`] takes, where the types do not say it, as JSON Schema.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::FileActionName;
use super::check::HEARD;
use crate::evidence::EvidenceRecord;
use crate::files::file_facts;

/// Records of the kinds that a proposal may have.
pub(super) fn evidence(generator: &mut SchemaGenerator) -> Schema {
    let mut record = generator.subschema_for::<EvidenceRecord>();
    let heard = HEARD.map(|kind| kind.name());
    record.insert("properties".to_owned(), json!({"source": {"enum": heard}}));
    json_schema!({"type": "array", "items": record})
}

/// Which fields each action needs, and which it does not have; null counts as absent.
pub(super) fn what_each_action_has() -> Value {
    use FileActionName::{Move, Overwrite, Write};
    let has = |field: &str, actions: &[FileActionName]| {
        let names: Vec<&str> = actions.iter().map(|action| action.name()).collect();
        json!({
            "if": {"properties": {"action": {"enum": names}}},
            "then": {"required": [field], "properties": {field: {"type": "string"}}},
            "else": {"properties": {field: {"type": "null"}}}
        })
    };
    let only_overwrites_have_a_base = json!({
        "if": {"properties": {"action": {"not": {"const": Overwrite.name()}}}},
        "then": {"properties": {"base": {"type": "null"}}}
    });
    json!([
        has("to", &[Move]),
        has("content", &[Overwrite, Write]),
        only_overwrites_have_a_base
    ])
}

/// Names of facts of files, at least one.
pub(super) fn reveals(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<String> = facts().into_iter().map(|(name, _)| name).collect();
    json_schema!({"type": "array", "items": {"type": "string", "enum": names}, "minItems": 1})
}

/// Facts of files, each with one of its values.
pub(super) fn found(_: &mut SchemaGenerator) -> Schema {
    let values: Map<String, Value> = facts()
        .into_iter()
        .map(|(name, values)| (name, json!({"type": "string", "enum": values})))
        .collect();
    json_schema!({
        "type": "object",
        "properties": values,
        "additionalProperties": false,
        "minProperties": 1
    })
}

/// The facts of files with their values. There are always some: the error of the list is for names that are none.
fn facts() -> Vec<(String, Vec<String>)> {
    let facts = file_facts().unwrap_or_default();
    let facts = facts.as_slice().iter();
    facts
        .map(|fact| (fact.name().to_owned(), fact.values().to_vec()))
        .collect()
}
