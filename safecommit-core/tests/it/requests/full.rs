//! A request that uses every field, and changes to it.

use safecommit_core::Request;
use serde_json::{Value, json};

/// A request that uses every field.
pub(super) fn full() -> Value {
    json!({
        "id": "clean-up",
        "stratum": "file/high",
        "actions": [
            {"id": "delete", "family": "file", "severity": 2.0, "reversible": false, "reward": 1.0},
            {"id": "stage", "family": "file", "severity": 0.5, "reversible": true, "reward": 1.0}
        ],
        "worlds": [
            {"id": "temporary", "score": 0.1, "safe": ["delete"], "description": "as recorded"},
            {"id": "shared", "score": 0.2, "safe": ["stage"]},
            {"id": "impossible", "score": 0.3, "safe": []}
        ],
        "hard_evidence": [{"world": "impossible", "reason": "written before it was created"}],
        "probes": [
            {"id": "ask", "cost": 2.0, "error_rate": 0.01, "repeatable_later": true,
             "asks": "temporary"},
            {"id": "list", "cost": 1.0, "error_rate": 0.0, "repeatable_later": false, "outcomes": [
                {"id": "link", "worlds": ["shared"]},
                {"id": "folder", "worlds": ["temporary", "impossible"]}
            ]},
            {"id": "scan", "cost": 1.0, "error_rate": 0.0, "repeatable_later": false, "outcomes": [
                {"id": "hit", "likelihood": {"temporary": 0.25, "shared": 1.0}},
                {"id": "miss", "likelihood": {"temporary": 0.75, "impossible": 1.0}}
            ]},
            {"id": "peek", "cost": 1.0, "error_rate": 0.0, "repeatable_later": false,
             "outcomes": [{"id": "empty"}, {"id": "used"}], "possible": [[0], [0, 1], [1]]}
        ],
        "observed": [{"probe": "scan", "outcome": "hit"}, {"probe": "list", "outcome": null}],
        "elapsed_steps": 3,
        "authority_missing": true,
        "fresh_evidence_expected": true,
        "beta": 0.01,
        "settings": {
            "temperature": 0.5, "eta": 0.01, "severity_weight": 2.0, "max_probes": 4, "max_cost": 8.0,
            "max_steps": 16, "verification": {"whole_support": {"price": 0.01}},
            "probing": {"random": {"seed": "run 1"}}
        }
    })
}

pub(super) fn parse(value: &Value) -> Result<Request, serde_json::Error> {
    serde_json::from_str(&value.to_string())
}

/// The request with the value at `pointer` replaced, or removed if `null` is not meant.
pub(super) fn changed(pointer: &str, new: Value) -> Value {
    let mut request = full();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match request.pointer_mut(parent).unwrap() {
        Value::Object(fields) => {
            fields.insert(key.to_owned(), new);
        }
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = new,
        other => panic!("`{pointer}` leads into {other}"),
    }
    request
}

pub(super) fn removed(pointer: &str) -> Value {
    let mut request = full();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let fields = request
        .pointer_mut(parent)
        .unwrap()
        .as_object_mut()
        .unwrap();
    assert!(fields.remove(key).is_some(), "`{pointer}` is not there");
    request
}
