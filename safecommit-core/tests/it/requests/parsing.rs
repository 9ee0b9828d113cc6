//! What the parser refuses before anything is validated.

use safecommit_core::Request;
use serde_json::{Value, json};

use super::full::{changed, full, parse, removed};

/// The text is refused by the parser with a message that contains `part`.
fn refused(text: &str, part: &str) {
    let error = serde_json::from_str::<Request>(text)
        .unwrap_err()
        .to_string();
    assert!(error.contains(part), "`{error}` does not say `{part}`");
}

#[test]
fn a_field_that_nobody_declared_is_refused() {
    let places = [
        "",
        "/actions/0",
        "/worlds/0",
        "/hard_evidence/0",
        "/probes/0",
        "/probes/1/outcomes/0",
        "/observed/0",
        "/settings",
        "/settings/probing/random",
    ];
    for place in places {
        let request = changed(&format!("{place}/tolerance"), json!(1));
        refused(&request.to_string(), "unknown field `tolerance`");
    }
}

#[test]
fn a_field_that_is_needed_and_absent_is_refused() {
    let needed = [
        "/actions",
        "/worlds",
        "/actions/0/id",
        "/worlds/0/id",
        "/worlds/0/score",
        "/worlds/0/safe",
        "/hard_evidence/0/world",
        "/hard_evidence/0/reason",
        "/probes/0/id",
        "/probes/0/cost",
        "/probes/1/outcomes/0/id",
        "/observed/0/probe",
        "/observed/1/outcome",
    ];
    for pointer in needed {
        let field = pointer.rsplit('/').next().unwrap();
        refused(
            &removed(pointer).to_string(),
            &format!("missing field `{field}`"),
        );
    }
}

#[test]
fn a_key_that_comes_twice_is_refused() {
    let text = full().to_string();
    let twice = text.replace("\"temporary\":0.25", "\"temporary\":0.25,\"temporary\":0.5");
    assert_ne!(twice, text);
    refused(&twice, "world `temporary` stands twice");
    refused(
        &text.replacen('{', "{\"beta\":0.5,", 1),
        "duplicate field `beta`",
    );
}

#[test]
fn null_is_absence_where_absence_is_allowed() {
    for pointer in ["/id", "/beta", "/settings/max_cost", "/actions/0/family"] {
        let null = parse(&changed(pointer, Value::Null)).unwrap();
        assert_eq!(null, parse(&removed(pointer)).unwrap(), "{pointer}");
    }
    for field in ["worlds", "likelihood"] {
        let other = if field == "worlds" { 2 } else { 1 };
        let pointer = format!("/probes/{other}/outcomes/0/{field}");
        assert_eq!(
            parse(&changed(&pointer, Value::Null)).unwrap(),
            parse(&full()).unwrap()
        );
    }
    // An outcome that failed is said, not left out.
    assert_eq!(parse(&full()).unwrap().observed[1].outcome, None);
}
