//! The schemas hold for every example and every decision, and not for what is wrong.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

use crate::program::{Folder, example, examples};

/// A schema as it is printed.
pub(crate) struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
    pub(crate) text: Value,
}

impl Schema {
    pub(crate) fn of(form: &str) -> Self {
        let text = Folder::new().run(["schema", form]).prints(0);
        let text: Value = serde_json::from_str(&text).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", text.clone()).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        Self {
            schemas,
            index,
            text,
        }
    }

    pub(crate) fn holds_for(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }

    #[track_caller]
    pub(crate) fn accepts(&self, value: &Value) {
        let error = self.schemas.validate(value, self.index).err();
        let error = error.map(|error| format!("{error:#}"));
        assert_eq!(error, None, "{value:#}");
    }

    #[track_caller]
    pub(crate) fn rejects(&self, value: &Value) {
        assert!(!self.holds_for(value), "{value:#}");
    }

    pub(crate) fn examples(&self) -> &[Value] {
        self.text["examples"].as_array().unwrap()
    }
}

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn requests() -> Vec<Value> {
    let names = examples(".json");
    let single = names.iter().filter(|name| *name != "calibration.json");
    let mut requests: Vec<Value> = single.map(|name| parse(&example(name))).collect();
    requests.extend(example("stream.jsonl").lines().map(parse));
    requests
}

#[test]
fn each_schema_says_what_it_is_and_accepts_its_own_examples() {
    for form in [
        "request",
        "decision",
        #[cfg(target_os = "linux")]
        "proposal",
        #[cfg(target_os = "linux")]
        "gate-decision",
        #[cfg(target_os = "linux")]
        "answers",
        "evidence",
        "label",
        #[cfg(unix)]
        "audit-record",
        #[cfg(unix)]
        "audit-line",
        #[cfg(unix)]
        "diagnosis",
        "calibration",
        "gate-calibration",
        "error",
    ] {
        let schema = Schema::of(form);
        assert_eq!(
            schema.text["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert!(
            schema.text["title"]
                .as_str()
                .unwrap()
                .starts_with("SafeCommit")
        );
        assert!(schema.text["description"].is_string());
        let text = schema.text.to_string();
        for leftover in ["```", "crate::", "# Examples", "](", "[`"] {
            assert!(!text.contains(leftover), "{form}: {leftover}");
        }
        assert!(!schema.examples().is_empty());
        for example in schema.examples() {
            schema.accepts(example);
        }
    }
}

#[test]
fn requests_and_their_decisions_hold() {
    let (request, decision) = (Schema::of("request"), Schema::of("decision"));
    let folder = Folder::new();
    folder.write("cal.json", example("calibration.json"));
    for value in requests() {
        request.accepts(&value);
        decision.rejects(&value);
        for calibration in [&[][..], &["--calibration", "cal.json"]] {
            let arguments = [&["decide", "-", "--format", "json"], calibration].concat();
            let decided = parse(&folder.run_on(value.to_string(), arguments).stdout);
            decision.accepts(&decided);
            request.rejects(&decided);
        }
    }
}

#[test]
fn the_example_request_of_the_schema_decides_as_the_example_decision() {
    let request = Schema::of("request").text["examples"][0].to_string();
    let decided = Folder::new().run_on(request, ["decide", "-", "--format", "json"]);
    assert_eq!(
        parse(&decided.stdout),
        Schema::of("decision").text["examples"][0]
    );
}

#[test]
fn calibrations_hold() {
    let schema = Schema::of("calibration");
    schema.accepts(&parse(&example("calibration.json")));
    let folder = Folder::new();
    for scores in ["", "0.5\n", "missing\n", "1\n2\n3\nmissing\n"] {
        for more in [&[][..], &["--misses-counted"]] {
            let arguments = [&["calibrate", "--scores", "-", "--alpha", "0.250"], more].concat();
            schema.accepts(&parse(&folder.run_on(scores, arguments).prints(0)));
        }
    }
    folder.write("cases.csv", example("earlier-cases.csv"));
    for more in [
        "--by task,evidence",
        "--by task --minimum 50 --misses-counted",
        "--by task --stratum cleanup --stratum message --stratum other/one",
        "--delta 0.05",
        "--delta 0.05 --simultaneous",
        "--weight weight --case-weight 2",
    ] {
        let arguments = format!("calibrate --scores cases.csv --alpha 0.05 {more}");
        let written = folder.run(arguments.split(' ')).prints(0);
        schema.accepts(&parse(&written));
    }
}

#[test]
fn error_lines_hold() {
    let schema = Schema::of("error");
    let answers = Folder::new().run_on(example("broken/stream.jsonl"), ["decide", "-", "--jsonl"]);
    let errors: Vec<Value> = answers
        .stdout
        .lines()
        .map(parse)
        .filter(|answer| answer.get("error").is_some())
        .collect();
    assert_eq!(errors.len(), 2, "{answers:?}");
    for error in &errors {
        schema.accepts(error);
    }
    schema.rejects(&json!({"error": {"file": "a", "line": 0, "field": null, "message": "b"}}));
    schema.rejects(&json!({"error": {"file": "a", "line": 1, "message": "b"}}));
}

/// Puts `value` at `pointer`; null removes the field.
pub(crate) fn edited(original: &Value, pointer: &str, value: &Value) -> Value {
    let mut edited = original.clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let object = edited.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        assert!(object.remove(field).is_some(), "{pointer}");
    } else {
        object.insert(field.to_owned(), value.clone());
    }
    edited
}

#[test]
fn what_the_program_refuses_in_a_request_the_schema_refuses() {
    let schema = Schema::of("request");
    let good = parse(&example("1-before-any-probe.json"));
    for (pointer, value) in [
        ("/actions", Value::Null),
        ("/worlds", Value::Null),
        ("/worlds", json!([["w1-temporary-and-valid", 0.5, []]])),
        ("/actions", json!([])),
        ("/actions/0/id", Value::Null),
        ("/actions/0/id", json!("")),
        ("/actions/0/severity", json!(-1)),
        ("/actions/0/sverity", json!(1)),
        ("/worlds/0/score", Value::Null),
        ("/worlds/0/score", json!("0.5")),
        ("/worlds/0/safe", json!("delete-outputs")),
        ("/probes/0/cost", json!(0)),
        ("/probes/0/cost", json!(-2)),
        ("/probes/0/error_rate", json!(1.5)),
        ("/probes/0/outcomes", json!([])),
        ("/probes/0/outcomes", Value::Null),
        ("/probes/0/asks", json!("w1-temporary-and-valid")),
        (
            "/probes/0/outcomes/0/likelihood",
            json!({"w1-temporary-and-valid": 1}),
        ),
        ("/probes/0/outcomes/0/worlds", Value::Null),
        ("/probes/0/possible", json!([[0]])),
        ("/probes/0/possible", json!([["yes"]])),
        ("/observed", json!([{"probe": "are-you-sure"}])),
        ("/beta", json!(2)),
        ("/beta", json!("unknown")),
        ("/settings", json!({"temperature": 0})),
        ("/settings", json!({"max_probes": -1})),
        ("/settings", json!({"max_probes": 4_294_967_296_u64})),
        ("/settings", json!({"max_cost": -1})),
        ("/priority", json!(1)),
        ("/stratum", json!(7)),
        ("/stratum", json!("a//b")),
        ("/stratum", json!("a/")),
        ("/stratum", json!("a\u{85}")),
    ] {
        let bad = edited(&good, pointer, &value);
        schema.rejects(&bad);
        let run = Folder::new().run_on(bad.to_string(), ["decide", "-"]);
        assert_eq!(run.code, Some(1), "{pointer} {value}: {run:?}");
    }
}

/// Every value of `original` taken out, and replaced by each of `values`.
pub(crate) fn mutations(original: &Value, values: &[Value]) -> Vec<Value> {
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(fields) => {
                let fields = fields.iter();
                fields
                    .map(|(key, child)| (format!("{at}/{key}"), child))
                    .collect()
            }
            Value::Array(elements) => {
                let elements = elements.iter().enumerate();
                elements
                    .map(|(index, child)| (format!("{at}/{index}"), child))
                    .collect()
            }
            _ => Vec::new(),
        };
        for (pointer, child) in children {
            pointers(child, &pointer, found);
            found.push(pointer);
        }
    }

    let mut found = Vec::new();
    pointers(original, "", &mut found);
    let mut mutated = Vec::new();
    for pointer in &found {
        for value in values {
            let mut changed = original.clone();
            *changed.pointer_mut(pointer).unwrap() = value.clone();
            mutated.push(changed);
        }
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        let mut changed = original.clone();
        let parent = changed.pointer_mut(parent).unwrap();
        if let Some(fields) = parent.as_object_mut() {
            fields.remove(last);
        } else if let Some(elements) = parent.as_array_mut() {
            elements.remove(last.parse().unwrap());
        }
        mutated.push(changed);
    }
    mutated
}

#[test]
fn what_the_program_takes_the_schema_takes() {
    let (request, decision) = (Schema::of("request"), Schema::of("decision"));
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(0.5),
        json!(7),
        json!(""),
        json!("x"),
        json!([]),
        json!(["w2-path-repurposed"]),
        json!({}),
        json!({"w1-temporary-and-valid": 1.0}),
    ];
    let mut original = parse(&example("2a-recipient-current.json"));
    original["beta"] = json!(0.01);
    original["stratum"] = json!("cleanup/memory");
    original["hard_evidence"] = json!([{"world": "w1-temporary-and-valid", "reason": "no"}]);
    original["settings"] = json!({
        "temperature": 0.5, "eta": 0.0, "severity_weight": 1.0, "max_probes": 2, "max_cost": 9.0
    });
    let mut rows = vec![json!([0]); original["worlds"].as_array().unwrap().len()];
    rows[0] = json!([0, 1]);
    original["probes"].as_array_mut().unwrap().push(json!({
        "id": "rows", "cost": 1, "outcomes": [{"id": "a"}, {"id": "b"}], "possible": rows
    }));
    let mutated = mutations(&original, &values);
    let lines: Vec<String> = mutated.iter().map(Value::to_string).collect();
    let run = Folder::new().run_on(lines.join("\n"), ["decide", "-", "--jsonl"]);
    let answers: Vec<Value> = run.stdout.lines().map(parse).collect();
    assert_eq!(answers.len(), mutated.len());
    let taken = mutated
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.get("error").is_none());
    let mut count = 0;
    for (mutation, answer) in taken {
        request.accepts(mutation);
        decision.accepts(answer);
        count += 1;
    }
    // The property says something about both kinds.
    assert!(
        count > 100 && count < mutated.len() - 100,
        "{count} of {}",
        mutated.len()
    );
}

#[test]
fn null_counts_as_absent_for_the_schema_as_for_the_program() {
    let schema = Schema::of("request");
    let mut request = parse(&example("1-before-any-probe.json"));
    request["probes"][0]["asks"] = Value::Null;
    request["probes"][0]["outcomes"][0]["likelihood"] = Value::Null;
    request["beta"] = Value::Null;
    schema.accepts(&request);
    Folder::new()
        .run_on(request.to_string(), ["decide", "-"])
        .prints(3);
}

#[test]
fn decisions_and_calibrations_that_make_no_sense_are_refused() {
    let schema = Schema::of("decision");
    let folder = Folder::new();
    let arguments = ["decide", "-", "--format", "json"];
    let commit = parse(
        &folder
            .run_on(example("2a-recipient-current.json"), arguments)
            .stdout,
    );
    for (pointer, value) in [
        ("/decision", json!("probe")),
        ("/decision", json!("perhaps")),
        ("/certificate", Value::Null),
        ("/certificate", json!("sealed")),
        (
            "/fallback",
            json!({"kind": "defer", "reason": "r", "explanation": "e"}),
        ),
        ("/action", Value::Null),
        ("/bound", Value::Null),
        ("/subject", json!(7)),
        ("/worlds/0/fate", json!("gone")),
    ] {
        schema.rejects(&edited(&commit, pointer, &value));
    }
    let mut without_action = commit;
    without_action["action"] = Value::Null;
    schema.rejects(&without_action);

    let schema = Schema::of("calibration");
    let good = parse(&example("calibration.json"));
    for (pointer, value) in [
        ("/alpha", json!(0.05)),
        ("/alpha", json!("0")),
        ("/alpha", json!("1.5")),
        ("/n", json!(-1)),
        ("/threshold", Value::Null),
        ("/threshold", json!("unbounded")),
        ("/scores_sha256", json!("abc")),
        ("/guarantee", json!("absolute")),
        ("/note", json!("mine")),
    ] {
        schema.rejects(&edited(&good, pointer, &value));
    }
    folder.write("cases.csv", example("earlier-cases.csv"));
    let by_stratum = "calibrate --scores cases.csv --alpha 0.05 --by task";
    let good = parse(&folder.run(by_stratum.split(' ')).prints(0));
    for (pointer, value) in [
        ("/alpha", json!(0.05)),
        ("/taxonomy", Value::Null),
        ("/taxonomy/strata", json!([])),
        ("/taxonomy/strata/0", json!("a//b")),
        ("/taxonomy/minimum", json!(-1)),
        ("/groups", json!({})),
        ("/groups/0/threshold", Value::Null),
        ("/note", json!("mine")),
    ] {
        let bad = match pointer {
            "/taxonomy/strata/0" => {
                let mut bad = good.clone();
                bad["taxonomy"]["strata"][0] = value;
                bad
            }
            _ => edited(&good, pointer, &value),
        };
        schema.rejects(&bad);
    }
}
