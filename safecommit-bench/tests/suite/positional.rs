//! Records whose values stand in a list, in the order of the fields: a derived reader takes them.

use safecommit_bench::EpisodeRecord;

use crate::record::{LINE, check};

#[test]
fn lists_in_the_place_of_objects_are_refused() {
    check(
        r#"{"id":"w1","score":1.000000,"safe":[]}"#,
        r#"["w1",1.000000,[]]"#,
        "worlds[1]",
        "invalid type: sequence, expected a world as an object of named fields",
    );
    check(
        r#"{"id":"p0","cost":1.0,"asks":"w0"}"#,
        r#"["p0",1.0,"w0"]"#,
        "probes[0]",
        "expected a probe as an object of named fields",
    );
    // The values of all fields in their order.
    let values: Vec<serde_json::Value> = [
        "id",
        "family",
        "actions",
        "worlds",
        "proposed",
        "probes",
        "true_world",
    ]
    .map(|field| serde_json::from_str::<serde_json::Value>(LINE).unwrap()[field].clone())
    .into();
    let list = serde_json::Value::from(values).to_string();
    let expected = "expected an episode as an object of named fields";
    let error = EpisodeRecord::from_json(list.as_bytes()).unwrap_err();
    assert_eq!(error.field(), ".");
    assert!(error.to_string().contains(expected), "{error}");
    let error = serde_json::from_str::<EpisodeRecord>(&list).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}
