//! The schemas of what a gate reads and answers hold for the program as it runs.

use std::marker::PhantomData;

use safecommit_bench::json::parse as read;
use safecommit_gate::{ClarificationAnswer, Executor, FileProposal, Workspace};
use serde_json::{Value, json};

use crate::gate::{Gate, STREAM};
use crate::gate_files::{delete, moved, one, overwrite, write};
use crate::schema::{Schema, edited, mutations, parse};

/// Whether `gate` goes on to decide it.
fn is_proposal(value: &Value) -> bool {
    let proposal = read(&value.to_string(), PhantomData::<FileProposal>);
    proposal.is_ok_and(|proposal| proposal.check([]).is_ok())
}

/// Everything that `takes` takes the schema takes; how much that is, of all.
#[track_caller]
fn takes_no_more(schema: &Schema, values: &[Value], takes: impl Fn(&Value) -> bool) -> [usize; 3] {
    let (mut taken, mut held, mut all) = (0, 0, 0);
    for example in schema.examples() {
        assert!(takes(example), "{example:#}");
        for mutation in mutations(example, values) {
            if takes(&mutation) {
                schema.accepts(&mutation);
                taken += 1;
            }
            held += usize::from(schema.holds_for(&mutation));
            all += 1;
        }
    }
    [taken, held, all]
}

#[test]
fn what_the_gate_takes_the_schema_takes() {
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("run/latest"),
        json!("/etc"),
        json!("a/../b"),
        json!("delete"),
        json!("move"),
        json!("memory"),
        json!("user"),
        json!("kind"),
        json!([]),
        json!(["owner", "kind"]),
        json!([delete("run/latest")]),
        json!(["delete", "run/latest"]),
        json!({}),
    ];
    let schema = Schema::of("proposal");
    let [taken, held, all] = takes_no_more(&schema, &values, is_proposal);
    assert!(taken > 100 && held < all / 2, "{taken}, {held} of {all}");
    // What the schema takes and the gate does not is little: what mentions something that is not there.
    assert!(held < taken + taken / 2, "{held} of {taken}");
}

#[test]
fn what_the_gate_refuses_in_a_proposal_the_schema_refuses() {
    let schema = Schema::of("proposal");
    let good = &schema.examples()[0];
    let gate = Gate::new();
    let mut lines = Vec::new();
    for (pointer, value) in [
        ("/decision", Value::Null),
        ("/decision", json!("")),
        ("/decision", json!("d".repeat(257))),
        ("/decison", json!("d-1")),
        ("/tool", json!(7)),
        ("/actions", Value::Null),
        ("/actions", json!([])),
        ("/actions", json!(vec![delete("a"); 65])),
        ("/actions", json!([{"action": "remove", "path": "a"}])),
        ("/actions", json!([{"action": "delete"}])),
        ("/actions", json!([["delete", "a"]])),
        ("/actions/0/to", json!("archive")),
        ("/actions/0/content", json!("")),
        ("/actions/1/to", Value::Null),
        ("/actions/1/content", json!("")),
        ("/actions/2/content", Value::Null),
        ("/actions/2/to", json!("archive")),
        ("/actions/0/reward", json!("much")),
        ("/actions/0/severity", json!(0)),
        ("/clarifications/0/id", json!("")),
        ("/clarifications/0/reveals", json!([])),
        ("/clarifications/0/reveals", json!(["size"])),
        ("/clarifications/0/error_rate", json!(0)),
        ("/clarifications", json!({})),
        ("/uses", json!([1])),
        ("/evidence/0/source", json!("user")),
        ("/evidence/0/source", json!("observation")),
        ("/evidence/0/tool_status", json!("failed")),
        ("/evidence/1/tool_status", Value::Null),
        ("/evidence/1/policy_role", json!("rule")),
        ("/evidence/0/recorded", json!("yesterday")),
        ("/evidence", json!(["m1"])),
        ("/authority_missing", json!("no")),
        ("/principal", json!("ada")),
    ] {
        let bad = edited(good, pointer, &value);
        schema.rejects(&bad);
        lines.push(bad.to_string());
    }
    for path in [
        "",
        ".",
        "./",
        "././/.",
        "/",
        "/etc",
        "..",
        "../a",
        "a/..",
        "a/../b",
        "./..",
        "a\0",
        ".safecommit-x",
        "a/.safecommit-x/b",
        &"x".repeat(256),
        &"x/".repeat(2048),
    ] {
        let bad = edited(good, "/actions/0/path", &json!(path));
        schema.rejects(&bad);
        lines.push(bad.to_string());
        lines.push(one("d-1", moved("a", path)).to_string());
        schema.rejects(&parse(&lines[lines.len() - 1]));
    }
    let run = gate.0.run_on(lines.join("\n"), STREAM);
    assert_eq!(run.stdout.lines().count(), lines.len());
    let error = Schema::of("error");
    for answer in run.stdout.lines().map(parse) {
        error.accepts(&answer);
    }
}

#[test]
fn every_path_that_names_a_target_holds() {
    let schema = Schema::of("proposal");
    for path in [
        "a",
        "./a",
        "a/",
        "a//b/.",
        ".../a",
        ".a",
        "..a",
        "a..",
        "a/..b",
        "a.safecommit-",
        ".safecommit",
        "\n",
        " ",
        "ä",
        "..\n",
        &"x".repeat(255),
        &"\u{10ffff}".repeat(63),
    ] {
        for proposal in [one("d-1", delete(path)), one("d-1", moved("from", path))] {
            assert!(is_proposal(&proposal), "{proposal}");
            schema.accepts(&proposal);
        }
    }
    // Null counts as absent.
    let mut proposal = one("d-1", delete("a"));
    proposal["tool"] = Value::Null;
    proposal["actions"][0]["to"] = Value::Null;
    proposal["actions"][0]["content"] = Value::Null;
    assert!(is_proposal(&proposal));
    schema.accepts(&proposal);
}

#[test]
fn answers_are_what_the_schema_says() {
    let schema = Schema::of("answers");
    let proposal = Schema::of("proposal").examples()[0].to_string();
    let takes = |answers: &Value| {
        let proposal = read(&proposal, PhantomData::<FileProposal>).unwrap();
        let request = proposal.check([]).unwrap();
        let answers = read(
            &answers.to_string(),
            PhantomData::<Vec<ClarificationAnswer>>,
        );
        answers.is_ok_and(|answers| request.with_answers(answers).is_ok())
    };
    let values = [
        Value::Null,
        json!(7),
        json!(""),
        json!("own"),
        json!("own|other"),
        json!("./run/latest"),
        json!("/run/latest"),
        json!([]),
        json!({}),
        json!({"owner": "own", "kind": "file"}),
        json!({"owner": "own", "size": "small"}),
    ];
    let [taken, held, all] = takes_no_more(&schema, &values, takes);
    assert!(taken > 3 && held < all / 2, "{taken}, {held} of {all}");
    let good = &schema.examples()[0];
    for (pointer, value) in [
        ("/0/clarification", Value::Null),
        ("/0/clarification", json!("")),
        ("/0/path", json!("../run")),
        ("/0/found", json!({})),
        ("/0/found/owner", json!("me")),
        ("/0/found/size", json!("small")),
        ("/0/by", json!("ada")),
    ] {
        let bad = edited(good, pointer, &value);
        schema.rejects(&bad);
        assert!(!takes(&bad), "{bad:#}");
    }
}

/// Commit, with and without an effect, a question and the decision on its answer, fallbacks, probes that failed, an
/// effect that failed, and errors.
#[test]
fn what_a_gate_answers_holds() {
    let (proposal, decision) = (Schema::of("proposal"), Schema::of("gate-decision"));
    let gate = Gate::new();
    gate.0.write("project/a", "old");
    std::fs::create_dir(gate.path("project/plain")).unwrap();
    // Where it leads nobody can find out: no file system has a name so long.
    std::os::unix::fs::symlink("x".repeat(300), gate.path("project/plain/link")).unwrap();
    std::os::unix::fs::symlink("a", gate.path("project/link")).unwrap();
    let asked = |request: &Value, options: &str, code: i32| {
        proposal.accepts(request);
        let decided = gate.decide(request, options, code);
        decision.accepts(&decided);
        proposal.rejects(&decided);
        decided
    };
    let commit = asked(&one("d-1", overwrite("a", "new")), "", 0);
    let done = asked(&one("d-2", overwrite("a", "new")), "--execute", 0);
    let fallback = asked(&one("d-3", delete("link")), "--execute", 4);
    assert_ne!(fallback["blocked"], json!([]));
    let mut question = one("d-4", delete("plain"));
    question["clarifications"] = json!([{"id": "ask", "question": "whose?", "path": "plain", "reveals": ["owner", "leaves_tree"]}]);
    let probe = asked(&question, "--execute", 3);
    assert_ne!(probe["failed_probes"], json!([]));
    let answers = json!([{"clarification": "ask", "question": "whose?", "path": "plain",
        "found": {"owner": "own", "leaves_tree": "no"}}]);
    Schema::of("answers").accepts(&answers);
    gate.0.write("answers.json", answers.to_string());
    question["decision"] = json!("d-5");
    asked(&question, "--execute --answers answers.json", 0);
    let workspace = Workspace::open(gate.load().workspace()).unwrap();
    let held = Executor::open(workspace, gate.load().state()).unwrap();
    let failed = asked(&one("d-6", delete("a")), "--execute", 1);
    assert!(failed["effect"]["failed"].is_string());
    drop(held);

    let lines = [
        one("d-7", delete("a")).to_string(),
        one("d-7", write("a", "again")).to_string(),
        "{".to_owned(),
        one("d-8", write("b", "new")).to_string(),
    ];
    let run = gate.0.run_on(lines.join("\n"), STREAM);
    let answered: Vec<Value> = run.stdout.lines().map(parse).collect();
    let error = Schema::of("error");
    for (answer, is_error) in answered.iter().zip([false, true, true, false]) {
        assert_eq!(
            (decision.holds_for(answer), error.holds_for(answer)),
            (!is_error, is_error),
            "{answer:#}"
        );
    }
    assert_eq!(answered.len(), 4);

    for (good, pointer, value) in [
        (&commit, "/effect", json!("done")),
        (&commit, "/question", probe["question"].clone()),
        (&commit, "/record", json!({})),
        (&commit, "/record/action", Value::Null),
        (&commit, "/record/decision", json!("defer")),
        (&commit, "/sequence", json!(0)),
        (&commit, "/actions", Value::Null),
        (&commit, "/note", json!("mine")),
        (&done, "/effect/failed", json!("too")),
        (&done, "/effect/entry", json!("1")),
        (&fallback, "/effect", done["effect"].clone()),
        (&fallback, "/blocked/0/why", Value::Null),
        (&probe, "/question/reveals", json!("owner")),
        (&probe, "/record/probe", Value::Null),
        (&failed, "/effect/failed", json!(7)),
    ] {
        decision.rejects(&edited(good, pointer, &value));
    }
}

#[test]
fn the_example_proposal_is_one_that_the_gate_decides() {
    let gate = Gate::new();
    std::fs::create_dir_all(gate.path("project/run/latest")).unwrap();
    std::fs::create_dir(gate.path("project/archive")).unwrap();
    let proposal = &Schema::of("proposal").examples()[0].clone();
    let decided = gate.decide(proposal, "", 0);
    Schema::of("gate-decision").accepts(&decided);
    gate.0.write("evidence.jsonl", {
        let records = Schema::of("evidence").examples()[2].clone();
        records.to_string()
    });
    let again = edited(proposal, "/decision", &json!("d-2"));
    gate.decide(&again, "--evidence evidence.jsonl", 0);
}
