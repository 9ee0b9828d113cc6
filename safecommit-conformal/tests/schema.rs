//! The JSON Schema of the wire forms, with the feature `schema`.
#![cfg(feature = "schema")]
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, Misses, MondrianCalibration, Score, Stratum, Taxonomy,
    Threshold,
};
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

fn schema<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

#[test]
fn the_schema_of_a_calibration_requires_what_loading_requires() {
    let schema = schema::<Calibration>();
    let written = serde_json::to_value(Calibration::split_conformal("0.1".parse().unwrap(), &[]));
    requires_all(&schema, written.unwrap());
    assert_eq!(schema["title"], json!("Calibration"));
    assert_eq!(
        schema["$defs"]["Threshold"]["type"],
        json!(["number", "null"])
    );
}

#[test]
fn the_schema_of_calibrations_by_stratum_requires_what_loading_requires() {
    let schema = schema::<MondrianCalibration>();
    let taxonomy = Taxonomy::new([Stratum::ALL]).unwrap();
    let level = "0.1".parse().unwrap();
    let mondrian = MondrianCalibration::new(level, taxonomy, &[], Misses::AsListed).unwrap();
    let written = serde_json::to_value(mondrian).unwrap();
    requires_all(&schema["$defs"]["Taxonomy"], written["taxonomy"].clone());
    requires_all(&schema, written);
    assert_eq!(schema["title"], json!("MondrianCalibration"));
}

/// The schema has the fields of `written`, requires each, and allows no other.
#[track_caller]
fn requires_all(schema: &Value, written: Value) {
    // Whether JSON objects keep their order depends on what else is built with this.
    let mut fields: Vec<String> = written.as_object().unwrap().keys().cloned().collect();
    fields.sort_unstable();
    let mut properties: Vec<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let mut required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap();
    properties.sort_unstable();
    required.sort_unstable();
    assert_eq!((&properties, &required), (&fields, &fields));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn alpha_is_a_string_and_scores_are_numbers() {
    let alpha = schema::<Alpha>();
    assert_eq!(
        (&alpha["type"], &alpha["maxLength"]),
        (&json!("string"), &json!(20))
    );
    assert_eq!(alpha["pattern"], json!(r"^0\.0*[1-9][0-9]*$"));
    assert_eq!(schema::<Score>()["type"], json!("number"));
    assert_eq!(
        schema::<CalibrationScore>()["type"],
        json!(["number", "null"])
    );
    assert_eq!(schema::<Threshold>()["type"], json!(["number", "null"]));
}
