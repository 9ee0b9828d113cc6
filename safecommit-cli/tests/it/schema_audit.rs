//! The schemas of what is printed of an audit log, and of the calibration that is made of it, hold for the program as it
//! runs.

use safecommit_gate::GateCalibration;
use serde_json::{Value, json};

use crate::audit::three;
use crate::gate::Gate;
use crate::gate_files::{delete, one};
use crate::history::{calibrate, forty};
use crate::schema::{Schema, edited, mutations, parse};

/// Each decision of the gate, whole and in the list.
#[track_caller]
fn holds_for_all(gate: &Gate, decisions: usize) -> Vec<Value> {
    let (record, line) = (Schema::of("audit-record"), Schema::of("audit-line"));
    let list = gate.run("audit show --format json").prints(0);
    let lines: Vec<Value> = list.lines().map(parse).collect();
    assert_eq!(lines.len(), decisions);
    let mut records = Vec::new();
    for (number, listed) in (1..).zip(&lines) {
        line.accepts(listed);
        let shown = gate.run(&format!("audit show {number} --format json"));
        let shown = parse(&shown.prints(0));
        record.accepts(&shown);
        record.rejects(listed);
        line.rejects(&shown);
        records.push(shown);
    }
    records
}

#[test]
fn what_is_shown_of_a_log_holds() {
    holds_for_all(&three(), 3);

    // Of a gate, under a calibration, with codes, a probe that failed and an error.
    let gate = Gate::new();
    gate.configure("hide = []", "hide = ['decisions', 'paths', 'errors']");
    gate.0.write("project/a", "mine");
    std::fs::create_dir(gate.path("project/plain")).unwrap();
    std::os::unix::fs::symlink("x".repeat(300), gate.path("project/plain/link")).unwrap();
    gate.decide(&one("d-1", delete("a")), "--execute", 0);
    let mut question = one("d-2", delete("plain"));
    question["clarifications"] = json!([{"id": "ask", "question": "whose?", "path": "plain", "reveals": ["owner", "leaves_tree"]}]);
    gate.decide(&question, "", 3);
    gate.decide(&one("d-3", delete("missing")), "", 4);
    let records = holds_for_all(&gate, 3);
    assert_ne!(records[0]["redacted"], json!([]));

    let schema = Schema::of("audit-record");
    for (pointer, value) in [
        ("/format", json!("1")),
        ("/calibration", json!("none")),
        ("/redacted", json!(["everything"])),
        ("/redacted", json!([{"decision": null}])),
        ("/note", json!("mine")),
        ("/entry/decision", Value::Null),
        ("/entry/at", json!(7)),
        ("/entry/fault", json!("none")),
        ("/entry/group/family", json!(7)),
        ("/entry/durations/proposing", json!(-1)),
        ("/entry/details/tool", json!(["shell"])),
        ("/entry/request/actions", Value::Null),
        ("/entry/record/action", Value::Null),
        ("/entry/record/decision", json!("abstain")),
        ("/entry/note", json!("mine")),
    ] {
        schema.rejects(&edited(&records[0], pointer, &value));
    }
    let schema = Schema::of("audit-line");
    let good = &schema.examples()[0];
    for (pointer, value) in [
        ("/number", json!(0)),
        ("/verdict", json!("perhaps")),
        ("/decision", Value::Null),
        ("/note", json!("mine")),
    ] {
        schema.rejects(&edited(good, pointer, &value));
    }
}

#[test]
fn a_diagnosis_holds() {
    let schema = Schema::of("diagnosis");
    let gate = three();
    let diagnose = |labels: &str| {
        gate.0.write("labels.jsonl", labels);
        let run = gate.run("audit diagnose --labels labels.jsonl --format json");
        let diagnosis = parse(&run.prints(0));
        schema.accepts(&diagnosis);
        diagnosis
    };
    diagnose("");
    let failed = diagnose(
        "{\"decision\": \"commits\", \"true_world\": \"use=shared\"}\n\
         {\"decision\": \"falls\\nback\", \"safe_actions\": [\"move-2\"]}\n",
    );
    assert_ne!(failed["failed"], json!([]));
    diagnose("{\"decision\": \"falls\\nback\", \"true_world\": \"use=unheard of\"}\n");
    for (pointer, value) in [
        ("/labelled", Value::Null),
        ("/unsafe_commits", json!({"bad_luck": 1})),
        ("/undetermined", json!("d-1")),
        ("/failed/0/cause", json!("bad_luck")),
        ("/failed/0/number", json!(0)),
        ("/delta", json!(2)),
        ("/beta_over_worlds/upper", json!(1.5)),
        ("/beta_over_worlds", Value::Null),
        ("/note", json!("mine")),
    ] {
        schema.rejects(&edited(&failed, pointer, &value));
    }
}

#[test]
fn a_calibration_of_a_gate_holds() {
    let (schema, plain) = (Schema::of("gate-calibration"), Schema::of("calibration"));
    let gate = forty();
    for more in [
        "",
        "--delta 0.1",
        "--by severity",
        "--by family,severity,source",
    ] {
        let written = parse(&calibrate(&gate, more).prints(0));
        schema.accepts(&written);
        plain.rejects(&written);
        let inside = &written["calibrations"];
        let inside = inside.get("one").or(inside.get("by_stratum")).unwrap();
        plain.accepts(inside);
        schema.rejects(inside);
    }
}

/// Whatever a gate reads the schema takes, and in all mutations of its examples there are some of both kinds.
#[test]
fn what_a_gate_reads_as_its_calibration_the_schema_takes() {
    let reads = |value: &Value| serde_json::from_value::<GateCalibration>(value.clone()).is_ok();
    let values = [
        Value::Null,
        json!(1),
        json!(2),
        json!(""),
        json!("v"),
        json!([]),
        json!(["family"]),
        json!(["family", "source"]),
        json!(["family", "family"]),
        json!({}),
    ];
    let schema = Schema::of("gate-calibration");
    let (mut taken, mut refused) = (0, 0);
    for example in schema.examples() {
        assert!(reads(example), "{example:#}");
        for mutation in mutations(example, &values) {
            if reads(&mutation) {
                schema.accepts(&mutation);
                taken += 1;
            }
            refused += usize::from(!schema.holds_for(&mutation));
        }
    }
    assert!(
        taken > 5 && refused > 100,
        "{taken} taken, {refused} refused"
    );
    let [one, by_stratum] = [0, 1].map(|at| schema.examples()[at].clone());
    for (bad, pointer, value) in [
        (&one, "/by", json!(["family"])),
        (&one, "/format", json!(2)),
        (&one, "/score_version", json!("")),
        (&one, "/calibrations/one", Value::Null),
        (&by_stratum, "/by", json!([])),
        (&by_stratum, "/by", json!(["family", "family"])),
        (&by_stratum, "/by", json!(["family", "tool"])),
    ] {
        let bad = edited(bad, pointer, &value);
        schema.rejects(&bad);
        assert!(!reads(&bad), "{bad:#}");
    }
}
