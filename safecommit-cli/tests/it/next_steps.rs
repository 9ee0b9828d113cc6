//! What is there but not what is wanted, or wanted but not there: the error says what to do next, and only then.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::gate::{CONFIGURATION, Gate};
use crate::gate_files::{delete, one};
use crate::program::{Folder, command, example};

/// What a command says on standard error, with what is in the environment.
fn said(folder: &Folder, arguments: &str, environment: Option<&str>) -> String {
    let mut program: Command = command();
    program
        .args(arguments.split_whitespace())
        .current_dir(folder.path())
        .env_remove("SAFECOMMIT_CONFIG")
        .stdin(Stdio::null());
    if let Some(file) = environment {
        program.env("SAFECOMMIT_CONFIG", file);
    }
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_configuration_that_is_not_there_is_named_or_made() {
    let gate = Gate::new();
    let folder = &gate.0;
    folder.write("request.json", one("d-1", delete("a")).to_string());
    let missing = "cannot be read: No such file or directory (os error 2)";
    for arguments in ["gate request.json", "audit verify", "restore --list"] {
        assert_eq!(
            said(folder, arguments, None),
            format!(
                "error: safecommit.toml: {missing}; name the configuration of a gate with --config or SAFECOMMIT_CONFIG, or \
                 make a gate with `safecommit init --workspace DIR`\n"
            )
        );
    }
    assert_eq!(
        said(folder, "audit verify", Some("none.toml")),
        format!(
            "error: none.toml: {missing}; SAFECOMMIT_CONFIG names it, and --config would name another\n"
        )
    );
    // Whoever names a file knows what it is.
    assert_eq!(
        said(folder, "audit verify --config none.toml", None),
        format!("error: none.toml: {missing}\n")
    );
    let directory = "cannot be read: Is a directory (os error 21)";
    assert_eq!(
        said(folder, "audit verify --config gate", None),
        format!("error: gate: {directory}; the configuration in it is `gate/safecommit.toml`\n")
    );
    assert_eq!(
        said(folder, "audit verify --config project", None),
        format!("error: project: {directory}\n")
    );
    // One that is there and does not hold needs no other.
    gate.configure("state = \"state\"", "stat = \"state\"");
    let run = gate.run("audit verify");
    assert!(
        run.stderr.contains("stat: unknown field") && !run.stderr.contains("init"),
        "{run:?}"
    );
    let text = folder
        .read(CONFIGURATION)
        .replace("# The directory", "# \u{fc}");
    let latin: Vec<u8> = text
        .chars()
        .map(|character| character as u32 as u8)
        .collect();
    folder.write(CONFIGURATION, latin);
    gate.run("audit verify")
        .fails(1, "gate/safecommit.toml:8: the text is not valid UTF-8");
}

#[test]
fn a_stream_is_read_as_one_and_a_single_request_is_not() {
    let gate = Gate::new();
    let (first, second) = (one("d-1", delete("a")), one("d-2", delete("a")));
    gate.0
        .write("requests.jsonl", format!("{first}\n\n{second}\n"));
    let stream = "; a file with a request a line is read with --jsonl";
    gate.run("gate requests.jsonl").fails(
        1,
        &format!("requests.jsonl:3: trailing characters (column 1){stream}"),
    );
    gate.0.write("stream.jsonl", example("stream.jsonl"));
    let run = gate.0.run(["decide", "stream.jsonl"]);
    assert!(run.stderr.ends_with(&format!("{stream}\n")), "{run:?}");
    // Also where the first line has another fault; but not where something else follows.
    let foreign = json!({"decison": "d-1"});
    gate.0
        .write("requests.jsonl", format!("{foreign}\n{second}\n"));
    let run = gate.run("gate requests.jsonl");
    assert!(
        run.stderr.contains("requests.jsonl:1: decison: "),
        "{run:?}"
    );
    assert!(run.stderr.ends_with(&format!("{stream}\n")), "{run:?}");
    gate.0
        .write("requests.jsonl", format!("{first}\nand more\n"));
    gate.run("gate requests.jsonl")
        .fails(1, "requests.jsonl:2: trailing characters (column 1)");

    let pretty = format!("{first:#}\n");
    gate.0.write("request.json", &pretty);
    let run = gate.run("gate request.json --jsonl");
    let lines = pretty.lines().count();
    assert_eq!(
        run.stderr,
        format!(
            "error: request.json: {lines} of {lines} lines are no request that can be decided, or had an effect that failed; \
             a single request of several lines is read without --jsonl\n"
        )
    );
    // A stream whose lines are all wrong is one all the same.
    gate.0
        .write("requests.jsonl", format!("{foreign}\n{foreign}\n"));
    let run = gate.run("gate requests.jsonl --jsonl");
    assert!(run.stderr.ends_with("effect that failed\n"), "{run:?}");
    gate.verify(0);
}

#[test]
fn the_calibration_of_a_gate_is_none_of_a_request() {
    let folder = Folder::new();
    folder.write("request.json", example("1-before-any-probe.json"));
    let decide = "decide request.json --calibration calibration.json";
    let plain = example("calibration.json");
    folder.write("calibration.json", &plain);
    folder.run(decide.split(' ')).prints(3);
    let of_gate = format!(
        "{{\"format\": 1, \"score_version\": \"v\", \"by\": [], \"calibrations\": {{\"one\": {plain}}}}}"
    );
    folder.write("calibration.json", of_gate);
    folder.run(decide.split(' ')).fails(
        1,
        "calibration.json:1: this is the calibration of a gate, as `safecommit calibrate --audit` makes it; `decide` takes \
         one of scores, which `safecommit calibrate --scores` makes",
    );
    folder.write("scores", "{\"score\": 1}\n");
    let run = folder.run("calibrate --scores scores --alpha 0.1".split(' '));
    run.fails(
        1,
        "scores:1: score `{\"score\": 1}` is not a number (JSON is read with --input jsonl)",
    );
}
