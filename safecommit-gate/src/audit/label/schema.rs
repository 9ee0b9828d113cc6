//! What [`super::Labels`] takes, where the types do not say it, as JSON Schema.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::fact::IDENTIFIER;

/// At least one of the three ways to say what was true; null counts as absent.
pub(super) fn says_something() -> Value {
    let says = [
        ("true_world", "string"),
        ("true_facts", "object"),
        ("safe_actions", "array"),
    ];
    let says = says
        .map(|(field, kind)| json!({"required": [field], "properties": {field: {"type": kind}}}));
    json!(says)
}

/// A value for each fact; null is none.
pub(super) fn facts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": {"pattern": IDENTIFIER},
        "additionalProperties": {"type": "string", "pattern": IDENTIFIER}
    })
}
