//! What somebody gave in the place of a calibration of a gate.

use serde_json::{Map, Value};

/// What a text is if it is a calibration, and one of another kind: how it was made. `None` for one of a gate, however
/// damaged, and for anything else.
pub(super) fn other_kind(text: &[u8]) -> Option<String> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(text) else {
        return None;
    };
    let has = |name: &str| fields.contains_key(name);
    if has("score_version") || has("calibrations") {
        return None;
    }
    if has("taxonomy") && has("groups") {
        return Some(
            "a calibration of scores by stratum, as `safecommit calibrate --scores --by` makes it"
                .to_owned(),
        );
    }
    if has("threshold") && has("scores_sha256") {
        let guarantee = guarantee(&fields).unwrap_or("unknown");
        return Some(format!(
            "a calibration of scores with the guarantee `{guarantee}`, as `safecommit calibrate --scores` makes it"
        ));
    }
    None
}

fn guarantee(fields: &Map<String, Value>) -> Option<&str> {
    match fields.get("guarantee")? {
        Value::String(name) => Some(name),
        Value::Object(named) => named.keys().next().map(String::as_str),
        _ => None,
    }
}
