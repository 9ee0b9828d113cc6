//! Requests, evidence and answers that do not hold: each is an error with its place or a fallback, and nothing happens.

use serde_json::{Value, json};

use crate::gate::{Gate, STREAM};
use crate::gate_files::{delete, one, overwrite, write};

fn gate() -> Gate {
    let gate = Gate::new();
    gate.0.write("project/a", "mine");
    gate
}

/// Nothing was done: the one file is there, and no effect is in the journal.
#[track_caller]
fn nothing_happened(gate: &Gate, decisions: usize) {
    assert_eq!(gate.0.read("project/a"), "mine");
    assert_eq!(gate.run("restore --list").prints(0), "no effect yet\n");
    gate.verify(decisions);
}

#[test]
fn a_path_that_names_no_target_is_an_error_at_its_field() {
    let gate = gate();
    for (path, problem) in [
        ("../a", "`../a` has a component `..`"),
        ("b/../a", "`b/../a` has a component `..`"),
        (
            "/etc/passwd",
            "`/etc/passwd` is absolute, and a target is named from the workspace",
        ),
        ("a\u{0}b", "`a\\u{0}b` contains NUL"),
        (".", "`.` names nothing below the workspace"),
        ("", "`` names nothing below the workspace"),
    ] {
        let run = gate.ask(&one("d-1", delete(path)), "--execute");
        run.fails(1, &format!("request.json:1: actions[0].path: {problem}"));
    }
    let long = vec!["a"; 4096].join("/");
    let run = gate.ask(&one("d-1", delete(&long)), "--execute");
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr
            .starts_with("error: request.json:1: actions[0].path: `a/a/"),
        "{run:?}"
    );
    assert!(
        run.stderr.ends_with("is longer than 4,095 bytes\n"),
        "{run:?}"
    );
    nothing_happened(&gate, 0);
}

/// JSON has escapes for half a character, and a file may hold any bytes.
#[test]
fn a_name_that_is_no_text_is_an_error_at_its_place() {
    let gate = gate();
    let text = |path: &[u8]| {
        [
            b"{\"decision\": \"d-1\", \"actions\": [\n{\"action\": \"delete\", \"path\": \"",
            path,
            b"\"}]}\n",
        ]
        .concat()
    };
    for (path, problem) in [
        (&b"a\xff"[..], "the text is not valid UTF-8"),
        (b"a\\ud800", "actions[0].path: "),
        (b"a\\udfffb", "actions[0].path: "),
        (b"\\x61", "actions[0].path: "),
        (b"a\x01", "actions[0].path: "),
    ] {
        gate.0.write("request.json", text(path));
        let run = gate.run("gate request.json --execute");
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        assert!(
            run.stderr
                .starts_with(&format!("error: request.json:2: {problem}")),
            "{run:?}"
        );
    }
    // In a stream the lines after it are answered.
    let mut stream = b"\xff\xfe\n".to_vec();
    stream.extend(one("d-1", delete("missing")).to_string().bytes());
    let run = gate.0.run_on(stream, STREAM);
    assert_eq!(run.code, Some(1));
    let answers: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers[0]["error"]["line"], json!(1));
    assert_eq!(answers[1]["record"]["decision"], json!("abstain"));
    nothing_happened(&gate, 1);
}

#[test]
fn paths_that_lead_nowhere_fall_back() {
    let gate = gate();
    std::os::unix::fs::symlink("loop", gate.path("project/loop")).unwrap();
    std::os::unix::fs::symlink("two", gate.path("project/one")).unwrap();
    std::os::unix::fs::symlink("one", gate.path("project/two")).unwrap();
    std::os::unix::fs::symlink(".", gate.path("project/here")).unwrap();
    let deep = vec!["d"; 2000].join("/");
    let paths = [
        "loop",
        "loop/below",
        "one",
        "one/x",
        "here/a",
        "a/below",
        "missing",
        "no/such",
        &deep,
    ];
    let mut decisions = 0;
    for path in paths {
        for action in [delete(path), overwrite(path, "new"), write(path, "new")] {
            if (action["action"].as_str(), path) == (Some("write"), "missing") {
                continue;
            }
            decisions += 1;
            let decided = gate.decide(&one(&format!("d-{decisions}"), action), "--execute", 4);
            assert_eq!(decided["effect"], Value::Null);
        }
    }
    assert!(gate.path("project/loop").is_symlink() && gate.path("project/one").is_symlink());
    nothing_happened(&gate, decisions);
}

/// Somebody else deletes the files of a stream in the other order.
#[test]
fn files_that_vanish_meanwhile_are_no_trouble() {
    let gate = Gate::new();
    let names: Vec<String> = (0..60).map(|number| format!("v{number}")).collect();
    for name in &names {
        gate.0.write(&format!("project/{name}"), name);
    }
    let stream: String = names
        .iter()
        .map(|name| one(name, delete(name)).to_string() + "\n")
        .collect();
    let project = gate.path("project");
    let (run, removed) = std::thread::scope(|scope| {
        let remover = scope.spawn(|| {
            let mut removed = Vec::new();
            for name in names.iter().rev() {
                if std::fs::remove_file(project.join(name)).is_ok() {
                    removed.push(name.clone());
                }
                std::thread::sleep(std::time::Duration::from_millis(8));
            }
            removed
        });
        let run = gate.0.run_on(stream, STREAM);
        (run, remover.join().unwrap())
    });
    let mut done = Vec::new();
    for (line, name) in run.stdout.lines().zip(&names) {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(&answer["decision"], name);
        if let Some(entry) = answer["effect"]["entry"].as_u64() {
            done.push(name.clone());
            let kept = gate.path(&format!("gate/state/trash/{entry}/item"));
            assert_eq!(std::fs::read_to_string(kept).unwrap(), *name);
        }
    }
    assert!(!done.is_empty() && !removed.is_empty());
    // Each went once: by the gate, which keeps it, or by the other.
    let mut gone = [done, removed].concat();
    gone.sort();
    let mut names = names;
    names.sort();
    assert_eq!(gone, names);
    assert_eq!(std::fs::read_dir(project).unwrap().count(), 0);
    gate.verify(60);
}

fn record(fields: Value) -> String {
    let mut record = json!({"id": "m1", "entity": "a", "attribute": "kind", "value": "file", "source": "memory",
        "name": "notes", "recorded": "2026-01-01T00:00:00Z"});
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record.to_string()
}

#[test]
fn evidence_that_does_not_hold_is_an_error_at_its_line() {
    let gate = gate();
    for (line, problem) in [
        (
            record(json!({"recorded": "2026-13-01T00:00:00Z"})),
            "`host.jsonl` line 2: field `recorded`: ",
        ),
        (record(json!({"source": "nobody"})), "`host.jsonl` line 2: "),
        ("{".to_owned(), "`host.jsonl` line 2: "),
        (
            record(json!({"id": "first"})),
            "`host.jsonl` line 2: evidence `first` stands twice, first in `host.jsonl` line 1",
        ),
    ] {
        gate.0
            .write("host.jsonl", record(json!({"id": "first"})) + "\n" + &line);
        let run = gate.ask(&one("d-1", delete("a")), "--execute --evidence host.jsonl");
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        assert!(
            run.stderr.starts_with(&format!("error: {problem}")),
            "{run:?}"
        );
    }
    gate.0.write("host.db", vec![7; 4096]);
    let run = gate.ask(&one("d-1", delete("a")), "--execute --evidence host.db");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("host.db"), "{run:?}");
    assert_eq!(std::fs::read(gate.path("host.db")).unwrap(), vec![7; 4096]);
    nothing_happened(&gate, 0);
}

/// Observed after it was recorded, or in the future, or two answers to one question: it is weighed, and never believed
/// more than what is found. The answer and the record name it.
#[test]
fn evidence_at_odds_with_itself_makes_nothing_safe() {
    let gate = gate();
    let odd = [
        json!({"id": "m1", "recorded": "2999-01-01T00:00:00Z"}),
        json!({"id": "m2", "recorded": "2020-01-01T00:00:00Z", "observed": "2021-01-01T00:00:00Z"}),
        json!({"id": "m3", "value": "link"}),
        json!({"id": "m4", "value": "missing", "entity": "./a"}),
        json!({"id": "m5", "derived_from": ["m1"]}),
    ];
    let records: Vec<Value> = odd
        .into_iter()
        .map(|odd| serde_json::from_str(&record(odd)).unwrap())
        .collect();
    let future = json!(["recorded_in_the_future", ["m1"]]);
    let late = json!(["observed_after_recorded", ["m2"]]);
    let two = json!(["contradiction", ["m1", "m2", "m3"]]);
    let three = json!(["contradiction", ["m1", "m2", "m3", "m4"]]);
    let four = json!(["contradiction", ["m1", "m2", "m3", "m4", "m5"]]);
    let before = json!(["recorded_before_ancestor", ["m5"]]);
    let expected = [
        json!([future]),
        json!([future, late]),
        json!([two, future, late]),
        json!([three, future, late]),
        json!([four, future, late, before]),
    ];
    for count in 1..=records.len() {
        let mut asked = one(&format!("d-{count}"), overwrite("a", "new"));
        asked["evidence"] = json!(records[..count]);
        let decided = gate.decide(&asked, "--execute", 4);
        assert_eq!(decided["effect"], Value::Null);
        let found = decided["inconsistencies"].as_array().unwrap().iter();
        let found: Vec<Value> = found.map(|it| json!([it["kind"], it["records"]])).collect();
        assert_eq!(json!(found), expected[count - 1]);
    }
    nothing_happened(&gate, records.len());

    let mut asked = one("d-6", overwrite("a", "new"));
    asked["evidence"] = json!(records);
    let said = gate.ask(&asked, "").prints(4);
    let shown = gate.run("audit show d-6").prints(0);
    let contradiction = "evidence contradicts itself on `kind` of `a`: `file` by `m1`, `m2`, `m5`; `link` by `m3`; \
                         `missing` by `m4`";
    let late = "evidence `m2` was observed at 2021-01-01T00:00:00Z, after it was recorded at 2020-01-01T00:00:00Z";
    for text in [contradiction, late] {
        assert!(said.contains(&format!("\n  {text}\n")), "{said}");
        assert!(shown.contains(text), "{shown}");
    }
    assert!(
        shown.contains(&format!("\n  contradictions: {contradiction}\n")),
        "{shown}"
    );
    assert!(
        shown.contains("\n  impossible_times: evidence `m1` was recorded at 2999-"),
        "{shown}"
    );

    // Nothing is the matter, or with nothing that is about the target or said by the agent.
    let host = [
        json!({"id": "h1", "entity": "b", "recorded": "2999-01-01T00:00:00Z"}),
        json!({"id": "h2", "entity": "b", "value": "link"}),
    ];
    gate.0.write("host.jsonl", host.map(record).join("\n"));
    let mut asked = one("d-7", overwrite("a", "new"));
    asked["evidence"] = json!([serde_json::from_str::<Value>(&record(json!({}))).unwrap()]);
    let decided = gate.decide(&asked, "--evidence host.jsonl", 4);
    assert_eq!(decided["inconsistencies"], json!([]));
    let shown = gate.run("audit show d-7").prints(0);
    assert!(
        !shown.contains("contradictions") && !shown.contains("impossible_times"),
        "{shown}"
    );
}

/// A cycle is no evidence at all, and is named record by record.
#[test]
fn evidence_that_is_derived_from_itself_is_refused() {
    let gate = gate();
    let of = |id: &str, from: &str| {
        let record = record(json!({"id": id, "derived_from": [from]}));
        serde_json::from_str::<Value>(&record).unwrap()
    };
    let mut asked = one("d-1", delete("a"));
    asked["evidence"] = json!([of("m1", "m3"), of("m2", "m1"), of("m3", "m2")]);
    gate.ask(&asked, "--execute").fails(
        1,
        "request.json:1: evidence: evidence is derived from itself: `m1` from `m3` from `m2` from `m1`",
    );
    nothing_happened(&gate, 0);
}

#[test]
fn answers_that_do_not_hold_are_an_error_in_their_file() {
    let gate = gate();
    let mut asked = one("d-1", delete("a"));
    asked["clarifications"] =
        json!([{"id": "ask", "question": "whose?", "path": "a", "reveals": ["owner"]}]);
    let answer = |changed: Value| {
        let mut answer =
            json!({"clarification": "ask", "question": "whose?", "path": "a", "found": {}});
        for (field, value) in changed.as_object().unwrap() {
            answer[field] = value.clone();
        }
        json!([answer])
    };
    let other = "answers.json:1: [0]: the answer is to another question of that name: its `question` and `path` have to be \
                 those of the proposal";
    for (answers, problem) in [
        (
            answer(json!({"clarification": "q"})),
            "answers.json:1: [0].clarification: `q` is no clarification of this proposal",
        ),
        (answer(json!({"question": "whose is it?"})), other),
        (answer(json!({"path": "b"})), other),
        (
            answer(json!({})),
            "answers.json:1: [0].found: the answer does not say `owner`",
        ),
        (
            answer(json!({"found": {"owner": "me"}})),
            "answers.json:1: [0].found.owner: `me` is no value of the fact `owner`, whose values are own, other",
        ),
        (
            json!({"clarification": "ask"}),
            "answers.json:1: the file has to be a list of answers, also if there is only one",
        ),
        (
            json!([{"clarification": "ask"}]),
            "answers.json:1: [0].question: missing field `question`",
        ),
    ] {
        gate.0.write("answers.json", answers.to_string());
        gate.ask(&asked, "--execute --answers answers.json")
            .fails(1, problem);
    }
    let twice = r#"[{"clarification": "ask", "question": "whose?", "path": "a",
        "found": {"owner": "other", "owner": "own"}}]"#;
    gate.0.write("answers.json", twice);
    gate.ask(&asked, "--execute --answers answers.json").fails(
        1,
        "answers.json:2: [0].found: the fact `owner` stands twice",
    );
    gate.ask(&asked, "--execute --answers none.json").fails(
        1,
        "cannot read `none.json`: No such file or directory (os error 2)",
    );
    nothing_happened(&gate, 0);
}
