//! `gate` on real files: what it prints, what it does, what it leaves in the log.

use safecommit_gate::{EvidenceRecord, EvidenceStore};
use serde_json::{Value, json};

use crate::gate::Gate;

/// A request for one action.
pub(crate) fn one(decision: &str, action: Value) -> Value {
    json!({"decision": decision, "actions": [action]})
}

pub(crate) fn delete(path: &str) -> Value {
    json!({"action": "delete", "path": path})
}

pub(crate) fn overwrite(path: &str, content: &str) -> Value {
    json!({"action": "overwrite", "path": path, "content": content})
}

pub(crate) fn write(path: &str, content: &str) -> Value {
    json!({"action": "write", "path": path, "content": content})
}

pub(crate) fn moved(path: &str, to: &str) -> Value {
    json!({"action": "move", "path": path, "to": to})
}

impl Gate {
    /// Has the gate decide a request, with `--format json`; what it printed if it printed a decision.
    #[track_caller]
    pub(crate) fn decide(&self, request: &Value, options: &str, code: i32) -> Value {
        let run = self.ask(request, &format!("--format json {options}"));
        serde_json::from_str(&run.prints(code)).unwrap()
    }

    /// Runs `gate` on a request in a file.
    pub(crate) fn ask(&self, request: &Value, options: &str) -> crate::program::Run {
        self.0.write("request.json", request.to_string());
        self.run(&format!("gate request.json {options}"))
    }

    /// The log is as written, and every decision in it comes out again.
    #[track_caller]
    pub(crate) fn verify(&self, decisions: usize) {
        let count = match decisions {
            1 => "1 record, as written; ".to_owned(),
            _ => format!("{decisions} records, as written; "),
        };
        let verified = self.run("audit verify").prints(0);
        assert!(verified.starts_with(&count), "{verified}");
        let replayed = self.run("audit replay").prints(0);
        assert!(replayed.ends_with("each to the same bytes\n"), "{replayed}");
    }
}

/// Words that differ from run to run, left out.
fn without_digests(text: &str) -> String {
    let words = text.split_inclusive(|character: char| !character.is_ascii_hexdigit());
    let words = words.map(|word| match word.len() {
        65 => format!("DIGEST{}", &word[64..]),
        _ => word.to_owned(),
    });
    words.collect()
}

#[test]
fn an_effect_is_decided_recorded_done_and_undone() {
    let gate = Gate::new();
    std::fs::create_dir_all(gate.path("project/run/latest")).unwrap();
    gate.0.write("project/run/latest/part", "temporary");
    let run = gate.ask(&one("d-1", delete("run/latest")), "--execute");
    insta::assert_snapshot!("gate_commit", without_digests(&run.prints(0)));
    assert!(!gate.path("project/run/latest").exists());
    gate.verify(1);
    let shown = gate.run("audit show d-1").prints(0);
    assert!(
        shown.contains("COMMIT delete-1") && shown.contains("delete `run/latest`"),
        "{shown}"
    );
    assert!(
        shown.contains("what each probe may do:\n") && shown.contains("`status`: reads_names"),
        "{shown}"
    );
    let record = gate.run("audit show d-1 --format json").prints(0);
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(
        record["entry"]["side_effects"]["status"],
        json!("reads_names")
    );
    assert!(
        gate.run("restore --list")
            .prints(0)
            .contains("`run/latest`")
    );
    gate.run("restore 1").prints(0);
    assert_eq!(gate.0.read("project/run/latest/part"), "temporary");
}

#[test]
fn the_exit_code_says_what_became_of_it() {
    let gate = Gate::new();
    gate.0.write("project/a", "old");
    std::os::unix::fs::symlink("a", gate.path("project/link")).unwrap();
    let decided = gate.decide(&one("d-1", overwrite("a", "new")), "", 0);
    assert_eq!(
        (&decided["decision"], &decided["sequence"]),
        (&json!("d-1"), &json!(1))
    );
    assert_eq!(decided["effect"], Value::Null);
    assert_eq!(gate.0.read("project/a"), "old");
    let decided = gate.decide(&one("d-2", overwrite("a", "new")), "--execute", 0);
    assert_eq!(decided["effect"], json!({"entry": 1}));
    assert_eq!(decided["record"]["decision"], json!("commit"));
    assert_eq!(gate.0.read("project/a"), "new");
    let decided = gate.decide(&one("d-3", delete("link")), "--execute", 4);
    assert_eq!(decided["effect"], Value::Null);
    assert!(
        decided["blocked"]
            .to_string()
            .contains("policy `link` forbids it")
    );
    let moves = one("d-4", moved("a", "b"));
    assert_eq!(
        gate.decide(&moves, "--execute", 0)["effect"],
        json!({"entry": 2})
    );
    assert_eq!(gate.0.read("project/b"), "new");
    // The same name once more: nothing is decided, and nothing done.
    gate.ask(&one("d-4", delete("b")), "--execute").fails(
        1,
        "request.json:1: decision: the decision was not recorded: decision `d-4` is in the log already: each \
         decision has a name of its own, say another",
    );
    assert_eq!(gate.0.read("project/b"), "new");
    assert_eq!(
        gate.run("gate request.json --jsonl --format human").code,
        Some(2)
    );
    gate.verify(4);
}

#[test]
fn a_question_stops_the_decision_until_a_person_answers() {
    let gate = Gate::new();
    std::fs::create_dir(gate.path("project/plain")).unwrap();
    // Where it leads nobody can find out: no file system has a name so long.
    std::os::unix::fs::symlink("x".repeat(300), gate.path("project/plain/link")).unwrap();
    let asking = |name: &str| {
        json!({
            "decision": name,
            "actions": [delete("plain")],
            "clarifications": [{"id": "ask", "question": "whose is \u{202e}`plain`?", "path": "plain",
                                "reveals": ["owner", "leaves_tree"]}],
        })
    };
    let decided = gate.decide(&asking("d-1"), "--execute", 3);
    let question = json!({"clarification": "ask", "question": "whose is \u{202e}`plain`?", "path": "plain",
        "reveals": ["owner", "leaves_tree"]});
    assert_eq!(decided["question"], question);
    let human = gate.ask(&asking("d-2"), "--execute").prints(3);
    let shown = "question `ask` about `plain`, in the agent's words: whose is \\u{202e}`plain`?\n\
                 for the file of --answers, with one value for each fact:\n";
    let (_, after) = human.split_once(shown).unwrap();
    let form = after.lines().next().unwrap();
    assert!(form.contains("whose is \\u202e`plain`?"), "{form}");

    // The line is a file of answers once the person has chosen.
    gate.0.write("answers.json", form);
    gate.ask(&asking("d-3"), "--execute --answers answers.json")
        .fails(
            1,
            "answers.json:1: [0].found.leaves_tree: `no|link|mount` is no value of the fact `leaves_tree`, whose \
             values are no, link, mount",
        );
    assert!(gate.path("project/plain").exists());
    for (owner, name, code) in [("other", "d-3", 4), ("own", "d-4", 0)] {
        let answers = form
            .replace("own|other", owner)
            .replace("no|link|mount", "no");
        gate.0.write("answers.json", answers);
        gate.decide(&asking(name), "--execute --answers answers.json", code);
        assert_eq!(gate.path("project/plain").exists(), code != 0);
    }
    gate.verify(4);
    gate.run("restore 1").prints(0);
    assert!(gate.path("project/plain/link").is_symlink());
}

#[test]
fn a_stream_answers_line_by_line_and_goes_on_after_an_error() {
    let gate = Gate::new();
    gate.0.write("project/a", "old");
    let lines = [
        one("d-1", delete("a")).to_string(),
        String::new(),
        "{".to_owned(),
        one("d-1", write("a", "again")).to_string(),
        one("d-2", delete("a")).to_string(),
        one("d-3", write("a", "new")).to_string(),
        one("d-4", overwrite("a", "newer")).to_string(),
    ];
    gate.0.write("stream.jsonl", lines.join("\n"));
    let run = gate.run("gate stream.jsonl --jsonl --execute");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("2 of 6 lines"), "{run:?}");
    let answers: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let effects: Vec<&Value> = answers.iter().map(|answer| &answer["effect"]).collect();
    let (entry, none) = (|number: u64| json!({"entry": number}), Value::Null);
    assert_eq!(
        effects,
        [&entry(1), &none, &none, &none, &entry(2), &entry(3)]
    );
    let line = |at: usize| answers[at]["error"]["line"].clone();
    assert_eq!((line(1), line(2)), (json!(3), json!(4)));
    assert_eq!(answers[2]["error"]["field"], json!("decision"));
    assert_eq!(answers[3]["record"]["decision"], json!("abstain"));
    assert_eq!(gate.0.read("project/a"), "newer");
    gate.verify(4);
    // All the way back.
    for (entry, left) in [(3, Some("new")), (2, None), (1, Some("old"))] {
        gate.run(&format!("restore {entry}")).prints(0);
        let found = std::fs::read_to_string(gate.path("project/a")).ok();
        assert_eq!(found.as_deref(), left);
    }
}

/// What the host saw later than the memory outweighs it; evidence comes as lines or from a store.
#[test]
fn evidence_of_the_host_comes_from_lines_and_stores() {
    let gate = Gate::new();
    gate.0.write("project/report", "edited by hand");
    let asked = |name: &str| {
        let mut asked = one(name, overwrite("report", "generated"));
        asked["evidence"] = json!([{"id": "m1", "entity": "report", "attribute": "kind", "value": "file",
            "source": "memory", "name": "notes.md", "recorded": "2020-01-01T00:00:00Z"}]);
        asked
    };
    gate.decide(&asked("d-1"), "", 4);
    let seen = json!({"id": "o1", "entity": "report", "attribute": "kind", "value": "file", "source": "observation",
        "name": "host", "recorded": jiff::Timestamp::now().to_string()});
    gate.0.write("host.jsonl", seen.to_string());
    let record = EvidenceRecord::from_json(&seen.to_string()).unwrap();
    let mut store = EvidenceStore::open(gate.path("host.db"), std::time::Duration::ZERO).unwrap();
    store.append([&record]).unwrap();
    drop(store);
    for (name, file) in [("d-2", "host.jsonl"), ("d-3", "host.db")] {
        gate.decide(&asked(name), &format!("--evidence {file}"), 0);
    }
    // One name for two records, in two files.
    gate.ask(&asked("d-4"), "--evidence host.jsonl --evidence host.db")
        .fails(
            1,
            "`host.db`: evidence `o1` stands twice, first in `host.jsonl` line 1",
        );
    // A name that was mistyped is not taken for no evidence.
    for file in ["hots.db", "hots.jsonl"] {
        gate.ask(&asked("d-4"), &format!("--evidence {file}"))
            .fails(
                1,
                &format!("cannot read `{file}`: No such file or directory (os error 2)"),
            );
        assert!(!gate.path(file).exists());
    }
    gate.verify(3);
}

#[test]
fn hidden_paths_are_nowhere_in_the_log() {
    let gate = Gate::new();
    gate.configure("hide = []", "hide = [\"paths\"]");
    std::fs::create_dir(gate.path("project/quux")).unwrap();
    gate.0.write("project/quux/plugh", "text");
    std::os::unix::fs::symlink("nowhere", gate.path("project/xyzzy")).unwrap();
    let mut asked = one("d-1", delete("quux/plugh"));
    asked["tool"] = json!("rm quux/plugh");
    asked["uses"] = json!(["about quux/plugh"]);
    asked["evidence"] = json!([{"id": "about quux/plugh", "entity": "quux/plugh", "attribute": "kind", "value": "file",
        "source": "memory", "name": "quux/plugh.md", "recorded": "2026-01-01T00:00:00Z"},
        // What is the matter with evidence would tell of directories on the way, and what is said of them.
        {"id": "waldo", "entity": "quux", "attribute": "kind", "value": "garply", "source": "memory", "name": "n",
         "recorded": "2999-01-01T00:00:00Z"},
        {"id": "xyzzy", "entity": "quux", "attribute": "kind", "value": "thud", "source": "memory", "name": "n",
         "recorded": "2026-01-01T00:00:00Z"}]);
    let decided = gate.decide(&asked, "--execute", 0);
    assert_eq!(decided["inconsistencies"].as_array().map(Vec::len), Some(2));
    let shown = gate.run("audit show d-1").prints(0);
    for detail in ["contradictions", "impossible_times"] {
        assert!(shown.contains(&format!("\n  {detail}: hmac:")), "{shown}");
    }
    assert!(!gate.path("project/quux/plugh").exists());
    let mut asked = one("d-2", delete("xyzzy/below"));
    let more = [
        delete("xyzzy"),
        moved("quux", "xyzzy/to"),
        write("quux/plugh/fred", "text"),
    ];
    asked["actions"].as_array_mut().unwrap().extend(more);
    gate.ask(&asked, "--execute");
    expect_nowhere_in_the_log(&gate, &["quux", "plugh", "xyzzy", "fred"]);
    gate.verify(2);
}

#[track_caller]
fn expect_nowhere_in_the_log(gate: &Gate, words: &[&str]) {
    let log = std::fs::read_dir(gate.path("gate/state")).unwrap();
    let names = log.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| name.starts_with("audit.")).collect();
    assert!(names.len() >= 3);
    for name in names {
        let bytes = std::fs::read(gate.path("gate/state").join(&name)).unwrap();
        for word in words {
            let held = bytes
                .windows(word.len())
                .any(|window| window == word.as_bytes());
            assert!(!held, "{name} has `{word}`");
        }
    }
}

/// Each of these words is the agent's own, and none is the path.
#[test]
fn where_everything_is_hidden_the_log_has_no_word_of_the_agent() {
    let gate = Gate::new();
    gate.configure("hide = []", "hide = [\"paths\", \"decisions\", \"errors\"]");
    // So little that a person has to say the rest.
    gate.configure("# max_cost = 100.0", "max_cost = 8.5");
    gate.configure("cost = 100.0", "cost = 0.5");
    gate.0.write("project/quux", "text");
    let asked = |decision: &str| {
        let mut asked = one(decision, delete("quux"));
        asked["tool"] = json!("zork");
        asked["uses"] = json!(["nitfol"]);
        asked["evidence"] = json!([{"id": "nitfol", "entity": "quux", "attribute": "grue", "value": "lurking",
            "source": "memory", "name": "krill.md", "recorded": jiff::Timestamp::now().to_string()}]);
        let reveals = ["leaves_tree", "owner", "protected", "secret"];
        asked["clarifications"] = json!([
            {"id": "gnusto", "question": "rezrov?", "path": "quux", "reveals": reveals},
        ]);
        asked
    };
    let decided = gate.decide(&asked("frobozz"), "", 3);
    assert_eq!(decided["question"]["clarification"], json!("gnusto"));
    let found =
        json!({"leaves_tree": "no", "owner": "own", "protected": "false", "secret": "false"});
    let answers =
        json!([{"clarification": "gnusto", "question": "rezrov?", "path": "quux", "found": found}]);
    gate.0.write("answers.json", answers.to_string());
    gate.decide(&asked("blorple"), "--answers answers.json --execute", 0);
    let words = [
        "quux", "zork", "nitfol", "grue", "lurking", "krill", "gnusto", "rezrov", "frobozz",
        "blorple",
    ];
    expect_nowhere_in_the_log(&gate, &words);
    let shown = gate.run("audit show frobozz").prints(0);
    assert!(
        shown.contains("detail `uses`") && shown.contains("PROBE hmac:"),
        "{shown}"
    );
    // Of the gate's own probes nothing is hidden.
    assert!(shown.contains("`status`"), "{shown}");
    gate.verify(2);
}
