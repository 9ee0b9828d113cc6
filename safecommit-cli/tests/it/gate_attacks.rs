//! An agent that speaks for others, or reaches for what decides about it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::gate::{CONFIGURATION, Gate};
use crate::gate_files::{delete, moved, one, overwrite, write};
use crate::program::command;

fn gate() -> Gate {
    let gate = Gate::new();
    gate.0.write("project/a", "mine");
    gate
}

#[test]
fn a_request_speaks_for_nobody_else() {
    let gate = gate();
    let record = |source: &str| {
        let mut record = json!({"id": "e1", "entity": "a", "attribute": "owner", "value": "own", "source": source,
            "name": "ada", "recorded": "2026-01-01T00:00:00Z"});
        if source == "policy" {
            record["policy_role"] = json!("authorization");
        }
        record
    };
    for source in ["user", "observation", "policy"] {
        let mut asked = one("d-1", delete("a"));
        asked["evidence"] = json!([record(source)]);
        gate.ask(&asked, "--execute").fails(1, &format!(
            "request.json:1: evidence[0].source: a proposal cannot speak for the {source}: such evidence has to come \
             from whoever runs the gate"
        ));
    }
    // One field given twice, of which one reader might see the first and another the last.
    let twice = record("memory")
        .to_string()
        .replacen('{', "{\"source\": \"user\", ", 1);
    let text = format!(
        "{{\"decision\": \"d-1\", \"actions\": [{}], \"evidence\": [{twice}]}}",
        delete("a")
    );
    gate.0.write("request.json", text);
    let run = gate.run("gate request.json --execute");
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
    assert!(run.stderr.contains("evidence[0]"), "{run:?}");
    let text = format!(
        "{{\"decision\": \"d-1\", \"decision\": \"d-2\", \"actions\": [{}]}}",
        delete("a")
    );
    gate.0.write("request.json", text);
    let run = gate.run("gate request.json --execute");
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
    // Fields that are not the agent's to fill.
    for (field, value) in [
        ("principal", json!("root")),
        (
            "answers",
            json!([{"clarification": "ask", "found": {"owner": "own"}}]),
        ),
        ("probes", json!([])),
        ("beta", json!(0.0)),
        ("severity", json!(0.0)),
        ("threshold", json!(0.0)),
    ] {
        let mut asked = one("d-1", delete("a"));
        asked[field] = value;
        let run = gate.ask(&asked, "--execute");
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        let expected = format!("error: request.json:1: {field}: unknown field `{field}`");
        assert!(run.stderr.starts_with(&expected), "{run:?}");
    }
    // A record of the host cannot be replaced by one of the same name.
    gate.0.write("host.jsonl", record("user").to_string());
    let mut asked = one("d-1", delete("a"));
    asked["evidence"] = json!([record("memory")]);
    gate.ask(&asked, "--execute --evidence host.jsonl")
        .fails(1, "request.json:1: evidence: evidence `e1` stands twice");
    assert_eq!(gate.0.read("project/a"), "mine");
    gate.verify(0);
}

/// What is named after the probes of the gate could pass for one.
#[test]
fn a_question_is_no_probe() {
    let gate = gate();
    for (id, probe) in [
        ("status", "status"),
        ("location-2", "location"),
        ("tree", "tree"),
        ("age-of-file", "age"),
    ] {
        let mut asked = one("d-1", delete("a"));
        asked["clarifications"] =
            json!([{"id": id, "question": "?", "path": "a", "reveals": ["owner"]}]);
        gate.ask(&asked, "--execute").fails(
            1,
            &format!(
                "request.json:1: clarifications[0].id: `{id}` is a name of probes of the gate, which have `{probe}` and \
                 all that begins with `{probe}-`: choose another"
            ),
        );
    }
    gate.verify(0);
}

/// Everything that decides about the agent, as a target in every way.
#[test]
fn nothing_that_decides_is_reached_from_the_workspace() {
    let gate = gate();
    symlink("../gate", gate.path("project/linked")).unwrap();
    symlink("../gate/safecommit.toml", gate.path("project/toml")).unwrap();
    for (name, file) in [
        ("policy", "files.cedar"),
        ("key", "state/audit.key"),
        ("log", "state/audit.db"),
    ] {
        fs::hard_link(
            gate.path("gate").join(file),
            gate.path("project").join(name),
        )
        .unwrap();
    }
    let before = |name: &str| fs::read(gate.path("gate").join(name)).unwrap();
    let (toml, cedar, key) = (
        before("safecommit.toml"),
        before("files.cedar"),
        before("state/audit.key"),
    );
    let mut number = 0;
    let mut ask = |action: Value, code: &[i32]| {
        number += 1;
        let run = gate.ask(&one(&format!("d-{number}"), action.clone()), "--execute");
        assert!(
            run.code.is_some_and(|found| code.contains(&found)),
            "{action}: {run:?}"
        );
    };
    let below = [
        "linked/safecommit.toml",
        "linked/files.cedar",
        "linked/state/audit.db",
        "linked/state",
        "linked",
        "toml",
    ];
    for path in below {
        ask(delete(path), &[4]);
        ask(
            overwrite(path, "permit(principal, action, resource);"),
            &[4],
        );
        ask(moved(path, "mine"), &[4]);
    }
    for path in ["linked/new", "linked/state/audit.db-journal"] {
        ask(write(path, "x"), &[4]);
        ask(moved("a", path), &[4]);
    }
    // Another name of the same file may go or be replaced; the file does not change by it.
    for path in ["policy", "key", "log"] {
        ask(
            overwrite(path, "permit(principal, action, resource);"),
            &[0, 4],
        );
        ask(moved(path, &format!("{path}-moved")), &[0, 4]);
        ask(delete(&format!("{path}-moved")), &[0, 4]);
    }
    assert!(
        before("safecommit.toml") == toml
            && before("files.cedar") == cedar
            && before("state/audit.key") == key
    );
    assert_eq!(gate.0.read("project/a"), "mine");
    gate.verify(number);
}

#[test]
fn a_gate_that_lies_in_the_workspace_or_is_reached_through_it_decides_nothing() {
    let gate = gate();
    symlink("../gate", gate.path("project/linked")).unwrap();
    let copied = Command::new("cp")
        .args(["-a", "gate", "project/gate"])
        .current_dir(gate.path(""))
        .status();
    assert!(copied.unwrap().success());
    gate.0
        .write("request.json", one("d-1", delete("a")).to_string());
    for directory in ["project/gate", "project/linked"] {
        let configuration = format!("{directory}/safecommit.toml");
        let run = gate.0.run([
            "gate",
            "request.json",
            "--execute",
            "--config",
            &configuration,
        ]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(
            run.stderr
                .contains("is in the workspace or reached through it"),
            "{run:?}"
        );
    }
    for (line, inside, field) in [
        (
            "files = [\"files.cedar\"]",
            "files = [\"../project/linked/files.cedar\"]",
            "policies.files[0]",
        ),
        (
            "state = \"state\"",
            "state = \"../project/linked/state\"",
            "state",
        ),
        (
            "key = \"audit.key\"",
            "key = \"../../project/gate/state/audit.key\"",
            "audit.key",
        ),
        (
            "head = \"audit.head\"",
            "head = \"../../project/gate/state/audit.head\"",
            "audit.head",
        ),
    ] {
        let whole = gate.0.read(CONFIGURATION);
        gate.configure(line, inside);
        let run = gate.run("gate request.json --execute");
        assert_eq!(run.code, Some(1), "{run:?}");
        let named = run.stderr.starts_with("error: gate/safecommit.toml:")
            && run.stderr.contains(&format!(": {field}: "));
        assert!(named, "{field}: {run:?}");
        gate.0.write(CONFIGURATION, whole);
    }
    assert_eq!(gate.0.read("project/a"), "mine");
    gate.verify(0);
}

/// The program itself may stand in the workspace, and so may what the host lists.
#[test]
fn the_program_and_what_the_host_lists_are_left_alone() {
    let gate = gate();
    fs::create_dir_all(gate.path("project/tools/bin")).unwrap();
    fs::create_dir_all(gate.path("project/.agent")).unwrap();
    gate.0.write("project/.agent/settings.json", "{}");
    gate.0.write("project/notes", "free");
    symlink(".agent", gate.path("project/alias")).unwrap();
    // By another process: a program that is open for writing, here or in a child that is just starting, does not run.
    let copied = Command::new("cp")
        .arg(command().get_program())
        .arg(gate.path("project/tools/bin/safecommit"))
        .status();
    assert!(copied.unwrap().success());
    gate.configure(
        "paths = []",
        "paths = ['../project/alias/settings.json', '../project/later']",
    );
    let program = gate.path("project/tools/bin/safecommit");
    let mut number = 0;
    let mut ask = |action: Value, code: i32| {
        number += 1;
        gate.0.write(
            "request.json",
            one(&format!("d-{number}"), action.clone()).to_string(),
        );
        let output = Command::new(&program)
            .args([
                "gate",
                "request.json",
                "--execute",
                "--config",
                CONFIGURATION,
            ])
            .current_dir(gate.path(""))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{action}: {output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let guarded = said.contains("it touches what the gate itself rests on");
        assert_eq!(guarded, code == 4, "{action}: {said}");
    };
    let guarded = [
        "tools",
        "tools/bin",
        "tools/bin/safecommit",
        ".agent",
        ".agent/settings.json",
        "alias",
    ];
    for path in guarded {
        ask(delete(path), 4);
        ask(moved(path, "elsewhere"), 4);
        ask(overwrite(path, "x"), 4);
        ask(moved("a", path), 4);
    }
    ask(write("later", "x"), 4);
    ask(write("later/below", "x"), 4);
    // What lies beside it is free.
    ask(delete("notes"), 0);
    ask(write("tools/bin/other", "x"), 0);
    assert_eq!(gate.0.read("project/.agent/settings.json"), "{}");
    assert!(program.exists() && gate.path("project/alias").is_symlink());
    gate.verify(number);
}
