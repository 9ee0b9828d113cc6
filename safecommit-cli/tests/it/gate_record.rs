//! What the record of a decision of `gate` has beyond the decision: the probes that were made, and what may be labelled.

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::gate_files::{delete, one, overwrite};

/// Where a link in `plain` leads nobody can find out, as no file system has a name so long.
fn unreadable() -> Gate {
    let gate = Gate::new();
    std::fs::create_dir(gate.path("project/plain")).unwrap();
    std::os::unix::fs::symlink("x".repeat(300), gate.path("project/plain/link")).unwrap();
    gate.0.write("project/a", "old");
    gate
}

fn shown(gate: &Gate, decision: &str) -> Value {
    let text = gate
        .run(&format!("audit show {decision} --format json"))
        .prints(0);
    serde_json::from_str::<Value>(&text).unwrap()["entry"].clone()
}

#[test]
fn every_probe_that_was_made_is_in_the_record_with_what_was_expected_of_it() {
    let gate = unreadable();
    let mut asked = one("d-1", delete("plain"));
    asked["actions"]
        .as_array_mut()
        .unwrap()
        .push(overwrite("a", "new"));
    gate.decide(&asked, "", 0);
    let entry = shown(&gate, "d-1");
    let made = entry["probes"].as_array().unwrap();
    let told = made
        .iter()
        .map(|made| json!({"probe": made["id"], "outcome": made["outcome"]}));
    assert_eq!(json!(told.collect::<Vec<_>>()), entry["record"]["observed"]);
    assert!(made.len() > 5, "{made:?}");
    let mut shrinks = false;
    for made in made {
        assert_eq!(made["outcome"].is_null(), made["failure"].is_string());
        assert_eq!(made["failure"].is_string(), made["id"] == "tree", "{made}");
        let number = |field: &str| made[field].as_f64().unwrap();
        let in_range = |share: f64| (0.0..=1.0).contains(&share);
        assert!(in_range(number("expected_shrinkage")) && number("information") > 0.0);
        assert!(made["duration"].as_u64().unwrap() < 10_000_000);
        shrinks |= number("expected_shrinkage") > 0.01;
    }
    assert!(shrinks, "{made:?}");
    let took: u64 = made
        .iter()
        .map(|made| made["duration"].as_u64().unwrap())
        .sum();
    // Each is rounded down.
    let all = entry["durations"]["probing"].as_u64().unwrap();
    assert!(
        (took..=took + made.len() as u64).contains(&all),
        "{took} of {all}"
    );

    let human = gate.run("audit show d-1").prints(0);
    let (_, table) = human.split_once("probes made, in their order:\n").unwrap();
    let rows: Vec<&str> = table.lines().skip(1).take(made.len()).collect();
    for (row, made) in rows.iter().zip(made) {
        assert!(row.starts_with(made["id"].as_str().unwrap()), "{row}");
        assert!(row.contains("what it tells about what is safe, "), "{row}");
        let came = match made["outcome"].as_str() {
            Some(outcome) => format!("`{outcome}`"),
            None => format!("failed: {}", made["failure"].as_str().unwrap()),
        };
        assert!(row.ends_with(&came), "{row}");
    }
    let lines = gate.run("audit export").prints(0);
    let record: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(record["record"]["body"]["entry"]["probes"], entry["probes"]);
    gate.verify(1);
}

/// The reason of a failure is in the words of the system, which name what is below the path.
#[test]
fn why_a_probe_failed_is_hidden_with_the_paths() {
    let gate = unreadable();
    let failure = |decision: &str| {
        gate.decide(&one(decision, delete("plain")), "", 4);
        let entry = shown(&gate, decision);
        let mut made = entry["probes"].as_array().unwrap().iter();
        let failed = made.find(|made| made["id"] == "tree").unwrap();
        failed["failure"].as_str().unwrap().to_owned()
    };
    let plain = failure("d-1");
    assert!(plain.contains("`link`"), "{plain}");
    gate.configure("hide = []", "hide = ['paths']");
    let hidden = failure("d-2");
    assert!(
        hidden.starts_with("hmac:") && hidden.len() == 69,
        "{hidden}"
    );
    gate.verify(2);
}

#[test]
fn a_label_that_says_what_the_decision_cannot_have_is_an_error_at_its_line() {
    let gate = Gate::new();
    gate.0.write("project/a", "old");
    gate.decide(&one("d-1", overwrite("a", "new")), "", 0);
    gate.decide(&one("d-2", delete("a")), "", 0);
    let good = json!({"decision": "d-2", "safe_actions": []});
    let label = |facts: Value| json!({"decision": "d-1", "true_facts": facts});
    let diagnose = "audit diagnose --labels labels.jsonl";
    let calibrate = "calibrate --audit gate/state/audit.db --labels labels.jsonl --alpha 0.5";
    for (wrong, problem) in [
        (
            label(json!({"knd": "file"})),
            "true_facts.knd: decision `d-1` has no fact `knd`; it has `changed_since_memory`, `kind`, ",
        ),
        (
            label(json!({"overwrite_1_discards": "no"})),
            "true_facts.overwrite_1_discards: the fact `overwrite_1_discards` of decision `d-1` has no value `no`; it \
             has `false`, `true`",
        ),
        (
            label(json!({"kind_2": "file"})),
            "true_facts.kind_2: decision `d-1` has no fact `kind_2`; it has ",
        ),
        (
            json!({"decision": "d-1", "true_world": "kind=fil"}),
            "true_world: the fact `kind` of decision `d-1` has no value `fil`; it has `file`, `directory`, `link`, \
             `mount`, `missing`",
        ),
    ] {
        gate.0.write("labels.jsonl", format!("{good}\n{wrong}\n"));
        for run in [gate.run(diagnose), gate.0.run(calibrate.split(' '))] {
            assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
            let expected = format!("error: labels.jsonl:2: {problem}");
            assert!(run.stderr.starts_with(&expected), "{run:?}");
        }
    }
    // What could be and was not proposed is what beta counts: without a memory nothing is proposed to have changed.
    let unproposed = label(
        json!({"kind": "file", "location": "inside", "owner": "own", "protected": "false",
        "secret": "false", "reversible": "true", "tracked": "none", "only_copy": "true", "writable_by": "owner",
        "leaves_tree": "no", "overwrite_1_discards": "true", "overwrite_1_base": "unknown",
        "changed_since_memory": "true"}),
    );
    gate.0
        .write("labels.jsonl", format!("{good}\n{unproposed}\n"));
    let found = gate.run(&format!("{diagnose} --format json")).prints(0);
    let found: Value = serde_json::from_str(&found).unwrap();
    let beta = &found["beta_over_worlds"];
    assert_eq!((&beta["missing"], &beta["cases"]), (&json!(1), &json!(1)));
    gate.0.run(calibrate.split(' ')).prints(0);
}
