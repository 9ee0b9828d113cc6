//! The schemas of evidence and labels hold for what their readers take, and not for what is wrong.

use safecommit_gate::EvidenceRecord;
use safecommit_gate::audit::Labels;
use serde_json::{Value, json};

use crate::schema::{Schema, edited, mutations};

fn is_record(value: &Value) -> bool {
    EvidenceRecord::from_json(&value.to_string()).is_ok()
}

fn is_label(value: &Value) -> bool {
    Labels::read(value.to_string().as_bytes()).is_ok_and(|labels| labels.len() == 1)
}

/// Whoever reads takes just what the schema takes, in all mutations of its examples; and there are some of both kinds.
#[track_caller]
fn agree(form: &str, values: &[Value], takes: fn(&Value) -> bool) {
    let schema = Schema::of(form);
    let (mut taken, mut refused) = (0, 0);
    for example in schema.examples() {
        assert!(takes(example), "{example:#}");
        for mutation in mutations(example, values) {
            assert_eq!(
                schema.holds_for(&mutation),
                takes(&mutation),
                "{mutation:#}"
            );
            let count = if takes(&mutation) {
                &mut taken
            } else {
                &mut refused
            };
            *count += 1;
        }
    }
    assert!(
        taken > 10 && refused > 10,
        "{taken} taken, {refused} refused"
    );
}

#[test]
fn a_record_is_what_the_schema_says() {
    let values = [
        Value::Null,
        json!(true),
        json!(0),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("a b"),
        json!("a\u{7f}"),
        json!("\u{85}"),
        json!("x".repeat(257)),
        json!("x".repeat(65_537)),
        json!("ä"),
        json!("user"),
        json!("memory"),
        json!("observation"),
        json!("tool"),
        json!("policy"),
        json!("succeeded"),
        json!("authorization"),
        json!("2026-03-01T08:00:00Z"),
        json!([]),
        json!(["t1", "t2"]),
        json!(["t1", "t1"]),
        json!([""]),
        json!([1]),
        json!(vec!["t"; 1025]),
        json!({}),
    ];
    agree("evidence", &values, is_record);
}

#[test]
fn what_only_some_sources_have_is_said_of_each() {
    let schema = Schema::of("evidence");
    for source in ["user", "memory", "observation", "tool", "policy", "agent"] {
        for status in [None, Some("succeeded"), Some("failed"), Some("timed_out")] {
            for role in [
                None,
                Some("rule"),
                Some("authorization"),
                Some("constraint"),
            ] {
                let mut record = json!({"id": "r", "entity": "e", "attribute": "a", "value": "v", "source": source,
                    "name": "n", "recorded": "2026-03-01T08:00:00Z"});
                if let Some(status) = status {
                    record["tool_status"] = json!(status);
                }
                if let Some(role) = role {
                    record["policy_role"] = json!(role);
                }
                assert_eq!(schema.holds_for(&record), is_record(&record), "{record:#}");
            }
        }
    }
}

/// All that can be written for a part of a time, put together in all ways: what is read as a time the schema takes. That
/// no day is the 31st of February is beyond it.
#[test]
fn every_time_that_is_read_the_schema_takes() {
    let schema = Schema::of("evidence");
    let original = &schema.examples()[1];
    let dates = [
        "2026-03-01",
        "20260301",
        "+002026-03-01",
        "-00202603-01",
        "-002026-03-01",
        "26-03-01",
        "2026-3-1",
        "2026-0301",
        "\u{2212}002026-03-01",
        "",
        " 2026-03-01",
    ];
    let separators = ["T", "t", " ", "", "_"];
    let times = [
        "08",
        "08:00",
        "0800",
        "08:00:00",
        "080000",
        "08:00:00.5",
        "08:00:00,123456789",
        "080000.5",
        "08:0000",
        "8:00",
        "08:00:00.",
        "08:00:00.1234567890",
        "08:00:60",
        "",
    ];
    let offsets = [
        "Z",
        "z",
        "+01",
        "-05:30",
        "+0530",
        "+05:30:15",
        "-053015",
        "+01:00:00.5",
        "+01:00[Europe/Vienna]",
        "Z[UTC][u-ca=iso8601]",
        "Z[!UTC]",
        "",
        "+1",
        "Z ",
        "[UTC]",
        "Z\n",
    ];
    let (mut read, mut taken) = (0, 0);
    for date in dates {
        for separator in separators {
            for time in times {
                for offset in offsets {
                    let text = format!("{date}{separator}{time}{offset}");
                    let record = edited(original, "/recorded", &json!(text));
                    let holds = schema.holds_for(&record);
                    taken += usize::from(holds);
                    if is_record(&record) {
                        assert!(holds, "{text}");
                        read += 1;
                    }
                }
            }
        }
    }
    assert!(read > 500, "{read}");
    // The pattern is close: hardly anything of this is beyond it.
    assert!(taken < read + read / 4, "{taken} taken, {read} read");
}

#[test]
fn a_label_is_what_the_schema_says() {
    let values = [
        Value::Null,
        json!(true),
        json!(0),
        json!(""),
        json!("x"),
        json!("a b"),
        json!([]),
        json!(["delete-1"]),
        json!([1]),
        json!({}),
        json!({"kind": "link"}),
        json!({"kind": "a|b"}),
        json!({"2kind": "link"}),
        json!({"kind": null}),
    ];
    agree("label", &values, is_label);
    let schema = Schema::of("label");
    let both = json!({"decision": "d-1", "true_facts": {"kind": "link"}, "safe_actions": []});
    for (label, good) in [
        (both.clone(), true),
        (edited(&both, "/true_world", &json!("kind=link")), true),
        (json!({"decision": "d-1"}), false),
        (json!({"decision": "d-1", "true_world": null}), false),
        (
            json!({"decision": "d-1", "true_world": null, "safe_actions": []}),
            true,
        ),
        (
            json!({"decision": "d-1", "true_facts": null, "safe_actions": []}),
            false,
        ),
        (edited(&both, "/reason", &json!("no")), false),
        (json!(["d-1", "kind=link"]), false),
    ] {
        assert_eq!(
            (schema.holds_for(&label), is_label(&label)),
            (good, good),
            "{label:#}"
        );
    }
}
