//! `audit`: a log that is whole, shown, taken again, diagnosed and exported.

use serde_json::Value;

use crate::gate::{CONFIGURATION, Gate, entry, request};
use crate::program::{Folder, command};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Three decisions: one asks for a probe, one commits after it, one falls back.
pub(crate) fn three() -> Gate {
    let gate = Gate::new();
    let mut committed = request(0.1);
    let said = serde_json::json!({"probe": "status", "outcome": "no"});
    committed
        .observed
        .push(serde_json::from_value(said).unwrap());
    let mut refused = request(0.2);
    refused.probes.clear();
    for world in &mut refused.worlds {
        world.safe.clear();
    }
    let mut asking = request(0.1);
    asking.worlds[0].safe.truncate(1);
    gate.append([
        entry("asks", asking),
        entry("commits", committed),
        entry("falls\nback", refused),
    ]);
    gate
}

#[test]
fn a_log_as_written_verifies_and_replays() {
    let gate = three();
    let text = gate.run("audit verify").prints(0);
    assert!(
        text.starts_with("3 records, as written; the chain ends with "),
        "{text}"
    );
    assert_eq!(
        gate.run("audit replay").prints(0),
        "3 decisions taken again, each to the same bytes\n"
    );
    let none = Gate::new();
    assert!(
        none.run("audit replay")
            .prints(0)
            .starts_with("0 decisions taken again")
    );
    assert_eq!(none.run("audit show").prints(0), "no decision yet\n");
    assert_eq!(none.run("audit show --format json").prints(0), "");
}

#[test]
fn decisions_are_listed_and_shown_by_name_and_number() {
    let gate = three();
    insta::assert_snapshot!("audit_list", gate.run("audit show").prints(0));
    insta::assert_snapshot!(
        "audit_list_json",
        gate.run("audit show --format json").prints(0)
    );
    let shown = gate.run("audit show commits").prints(0);
    insta::assert_snapshot!("audit_show", shown);
    assert_eq!(gate.run("audit show 2").prints(0), shown);

    let record = json(&gate.run("audit show 3 --format json").prints(0));
    assert_eq!(record["entry"]["decision"], "falls\nback");
    assert_eq!(record["entry"]["request"]["actions"][0]["id"], "delete-1");
    let log = gate.path("gate/state/audit.db").display().to_string();
    for (decision, what) in [
        ("4", "there is no decision `4`, there are 3 decisions"),
        (
            "0",
            "there is no decision `0` (`safecommit audit show` lists all)",
        ),
        (
            "commit",
            "there is no decision `commit` (`safecommit audit show` lists all)",
        ),
    ] {
        let run = gate.run(&format!("audit show {decision}"));
        run.fails(1, &format!("{log}: {what}"));
    }
    // A name wins over a number.
    gate.append([entry("1", request(0.3))]);
    let record = json(&gate.run("audit show 1 --format json").prints(0));
    assert_eq!(record["entry"]["decision"], "1");
}

#[test]
fn the_configuration_is_named_or_in_the_environment_or_here() {
    let gate = three();
    let expect = gate.run("audit show").prints(0);
    let run = |directory: &str, variable: Option<&str>| {
        let mut command = command();
        command
            .args(["audit", "show"])
            .env_remove("SAFECOMMIT_CONFIG");
        command.current_dir(gate.path(directory));
        command.envs(variable.map(|file| ("SAFECOMMIT_CONFIG", file)));
        let output = command.output().unwrap();
        (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert_eq!(run("gate", None).0, expect);
    assert_eq!(run(".", Some(CONFIGURATION)).0, expect);
    assert_eq!(run("gate", Some("")).0, expect);
    let missing = run(".", None).1;
    assert!(
        missing.starts_with("error: safecommit.toml: cannot be read: No such file"),
        "{missing}"
    );
    let other = run("gate", Some("other.toml")).1;
    assert!(
        other.starts_with("error: other.toml: cannot be read"),
        "{other}"
    );

    // One in the workspace is not to be trusted.
    let text = format!("workspace = '.'\nstate = '{}'\n", gate.path("s").display());
    gate.0.write("project/safecommit.toml", text);
    let error = run("project", None).1;
    assert!(
        error.contains("`safecommit.toml` is in the workspace"),
        "{error}"
    );
    gate.configure("[support]", "[suport]");
    let run = gate.run("audit show");
    assert!(run.stderr.contains("safecommit.toml:"), "{run:?}");
    assert!(
        run.stderr.contains(": suport: unknown field `suport`"),
        "{run:?}"
    );
}

const LABELS: &str = r#"{"decision": "commits", "true_world": "use=shared"}
{"decision": "falls\nback", "safe_actions": ["move-2"]}
{"decision": "asks", "true_world": "use=unheard of"}
"#;

#[test]
fn failures_are_attributed_and_beta_is_bounded() {
    let gate = three();
    gate.0.write("labels.jsonl", LABELS);
    let diagnose = |more: &str| gate.run(&format!("audit diagnose --labels labels.jsonl {more}"));
    let text = diagnose("").prints(0);
    insta::assert_snapshot!("audit_diagnose", text);
    let found = json(&diagnose("--delta 0.5 --format json").prints(0));
    // The probe erred in one; in the other no world had just that action safe.
    assert_eq!(found["failed"][0]["cause"], "evidence");
    assert_eq!(found["failed"][0]["committed"], "delete-1");
    assert_eq!(found["failed"][1]["cause"], "proposal");
    assert_eq!(found["beta_over_worlds"]["missing"], 1);
    assert_eq!(found["beta_over_worlds"]["cases"], 2);
    // One of two: the probability of at most one, 1 - upper^2, is delta.
    let upper = found["beta_over_worlds"]["upper"].as_f64().unwrap();
    assert!((upper - 0.5_f64.sqrt()).abs() < 1e-9, "{upper}");
    assert_eq!(found["delta"], 0.5);

    // Whether something was safe is not known of a world that was not proposed.
    let label = r#"{"decision": "falls\nback", "true_world": "use=unheard of"}"#;
    gate.0.write("labels.jsonl", label);
    let text = diagnose("").prints(0);
    assert!(
        text.contains("what was safe: `falls\\u{a}back`\n"),
        "{text}"
    );
    assert!(
        text.contains("beta over safety signatures: unknown, no label tells\n"),
        "{text}"
    );

    for (labels, expect) in [
        (
            "{\"decision\": \"x\", \"safe_actions\": []}\n",
            "labels.jsonl: decision `x` is not in the log",
        ),
        (
            "{\"decision\": \"asks\", \"safe_actions\": [\"send\"]}\n",
            "labels.jsonl: decision `asks` has no candidate `send`",
        ),
        (
            "\n{\"decision\": \"asks\"}\n",
            "labels.jsonl:2: a label has `true_world`, `true_facts` or `safe_actions`",
        ),
        (
            "\n{\"decision\": 7}\n",
            "labels.jsonl:2: column 14: invalid type: integer `7`, expected a string",
        ),
    ] {
        gate.0.write("labels.jsonl", labels);
        diagnose("").fails(1, expect);
    }
}

#[test]
fn an_export_is_checked_with_the_key() {
    let gate = three();
    let lines = gate.run("audit export").prints(0);
    assert_eq!(lines.lines().count(), 4);
    let run = gate.run("audit export --out log.jsonl");
    assert!(run.stderr.starts_with("3 records, as written; "), "{run:?}");
    run.prints(0);
    assert_eq!(gate.0.read("log.jsonl"), lines);
    let checked = gate.run("audit export --check log.jsonl").prints(0);
    assert!(checked.starts_with("3 records, as written; "), "{checked}");

    let check = |text: &str, expect: &str| {
        gate.0.write("other.jsonl", text);
        let run = gate.run("audit export --check other.jsonl");
        run.fails(1, &format!("other.jsonl: {expect}"));
    };
    let cut: String = lines
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    check(
        &cut,
        "record 3 and what followed was cut off, there were 3 records",
    );
    check(
        &lines.replacen("files-1", "files-2", 1),
        "record 1 was changed",
    );
    check("", "line 1 of the export: there is none, so no head either");
    // The log is not overwritten by its own export.
    let run = gate.run("audit export --out gate/state/audit.head");
    assert!(run.stderr.contains("it is the input"), "{run:?}");
    gate.run("audit verify").prints(0);
}

#[test]
fn hidden_names_are_found_by_what_they_are() {
    let gate = Gate::new();
    gate.configure("hide = []", "hide = ['decisions', 'paths']");
    let mut hidden = entry("private", request(0.1));
    hidden.error = Some("run/latest vanished".to_owned());
    gate.append([hidden]);
    let list = gate.run("audit show").prints(0);
    assert!(
        !list.contains("private") && list.contains("`hmac:"),
        "{list}"
    );
    let shown = gate.run("audit show private").prints(0);
    assert!(
        !shown.contains("private") && !shown.contains("run/latest"),
        "{shown}"
    );
    assert!(
        shown.contains("kept as codes: decision, question, failure, detail `target-1`"),
        "{shown}"
    );
    gate.run("audit verify").prints(0);
    gate.run("audit replay").prints(0);
    let label = "{\"decision\": \"private\", \"safe_actions\": []}\n";
    gate.0.write("labels.jsonl", label);
    let text = gate.run("audit diagnose --labels labels.jsonl").prints(0);
    assert!(text.starts_with("labelled: 1 of 1 decision"), "{text}");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let gate = three();
    let run = Folder::new().run(["audit", "--help"]);
    assert!(run.prints(0).contains("verify"));
    let mut child = command()
        .args(["audit", "export", "--config"])
        .arg(gate.path(CONFIGURATION))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
