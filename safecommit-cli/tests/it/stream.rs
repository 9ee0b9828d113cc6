//! `decide --jsonl`: a line out for a line in.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Folder, command, example};

fn request(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","actions":[{{"id":"a"}}],"worlds":[{{"id":"w","score":0.5,"safe":["a"]}}]}}"#
    )
}

fn values(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn decisions_come_in_the_order_of_the_input() {
    let input: String = (0..500).map(|at| request(&at.to_string()) + "\n").collect();
    let text = Folder::new()
        .run_on(input, ["decide", "--jsonl", "-"])
        .prints(0);
    let ids: Vec<String> = values(&text)
        .iter()
        .map(|record| record["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, (0..500).map(|at| at.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_stream_exits_with_0_whatever_is_decided() {
    let folder = Folder::new();
    folder.write("stream.jsonl", example("stream.jsonl"));
    let text = folder
        .run(["decide", "stream.jsonl", "--jsonl", "--format", "json"])
        .prints(0);
    let decisions: Vec<Value> = values(&text)
        .iter()
        .map(|record| record["decision"].clone())
        .collect();
    assert_eq!(decisions, ["probe", "commit", "probe", "commit", "defer"]);
}

#[test]
fn a_line_of_a_stream_decides_as_the_single_request_does() {
    let arguments = ["decide", "-", "--format", "json"];
    for line in example("stream.jsonl").lines() {
        let folder = Folder::new();
        let single: Value = serde_json::from_str(&folder.run_on(line, arguments).stdout).unwrap();
        let streamed = folder.run_on(line, ["decide", "-", "--jsonl"]).prints(0);
        assert_eq!(values(&streamed), [single]);
    }
}

#[test]
fn a_malformed_line_gives_an_error_line_in_its_place_and_the_rest_goes_on() {
    let mut input = Vec::new();
    for line in [
        request("first").as_bytes(),
        br#"{"actions": [{"id": "a"}], "worl"#,
        b"",
        b"  \r",
        &request("second")
            .replace(r#"["a"]"#, r#"["b"]"#)
            .into_bytes(),
        b"{\"id\": \"\xff\"}",
        request("third").as_bytes(),
        b"[]",
        &[request("one").as_bytes(), request("two").as_bytes()].concat(),
        &request("fourth").replace("0.5", "1e999").into_bytes(),
        &request("fifth").replace(r#""score":0.5,"#, "").into_bytes(),
    ] {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    // No newline after the last line, and a carriage return before the one of another.
    input.extend_from_slice(request("last").as_bytes());

    let run = Folder::new().run_on(input, ["decide", "-", "--jsonl"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.stderr,
        "error: <stdin>: 7 of 10 lines are no request that can be decided\n"
    );
    let error = |line: usize, field: Value, message: &str| json!({"error": {"file": "<stdin>", "line": line, "field": field, "message": message}});
    let answers: Vec<Value> = values(&run.stdout)
        .into_iter()
        .map(|answer| match answer.get("decision") {
            Some(_) => answer["id"].clone(),
            None => answer,
        })
        .collect();
    assert_eq!(
        answers,
        [
            json!("first"),
            error(2, Value::Null, "EOF while parsing a string (column 32)"),
            error(
                5,
                json!("worlds[0].safe[0]"),
                "`b` is not a declared action"
            ),
            error(6, Value::Null, "the text is not valid UTF-8"),
            json!("third"),
            error(8, Value::Null, "invalid type: sequence, expected an object"),
            error(9, Value::Null, "trailing characters (column 83)"),
            error(
                10,
                json!("worlds[0].score"),
                "number out of range (column 71)"
            ),
            error(11, json!("worlds[0].score"), "missing field `score`"),
            json!("last"),
        ]
    );
}

#[test]
fn an_answer_comes_before_the_next_request_is_there() {
    let mut child = command()
        .args(["decide", "--jsonl", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut requests = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for round in ["1", "2", "3"] {
        requests
            .write_all((request(round) + "\n").as_bytes())
            .unwrap();
        requests.flush().unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(values(&answer)[0]["id"], round);
    }
    drop(requests);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_bad_calibration_stops_a_stream_before_it_starts() {
    let folder = Folder::new();
    folder.write("cal.json", "{");
    let run = folder.run_on(
        request("x"),
        ["decide", "-", "--jsonl", "--calibration", "cal.json"],
    );
    run.fails(1, "cal.json:1: EOF while parsing an object (column 1)");
}

#[test]
fn an_empty_stream_is_answered_by_nothing() {
    for input in ["", "\n\n"] {
        assert_eq!(
            Folder::new()
                .run_on(input, ["decide", "-", "--jsonl"])
                .prints(0),
            ""
        );
    }
}

#[test]
fn a_line_beyond_the_limit_is_answered_by_an_error_and_skipped() {
    const LIMIT: usize = 16 << 20;
    let fill = |line: &str, length: usize| format!("{}{line}", " ".repeat(length - line.len()));
    let request = request("fits");
    let input = [
        fill(&request, LIMIT),
        fill(&request, LIMIT + 1),
        request.clone(),
        "x".repeat(3 * LIMIT),
    ];
    let run = Folder::new().run_on(input.join("\n"), ["decide", "-", "--jsonl"]);
    assert_eq!(run.code, Some(1));
    let answers = values(&run.stdout);
    assert_eq!(answers.len(), 4);
    for (at, answer) in answers.iter().enumerate() {
        if at % 2 == 0 {
            assert_eq!(answer["id"], "fits");
        } else {
            assert_eq!(answer["error"]["line"], at + 1);
            assert_eq!(
                answer["error"]["message"],
                "the line is longer than 16777216 bytes"
            );
        }
    }
}

#[test]
fn what_an_error_quotes_is_shortened() {
    let long = "x".repeat(1_000_000);
    let unknown = request("a").replace(r#"["a"]"#, &format!(r#"["{long}"]"#));
    let key = request("a").replace(r#""id":"a","#, &format!(r#""{long}":1,"#));
    let run = Folder::new().run_on(format!("{unknown}\n{key}\n"), ["decide", "-", "--jsonl"]);
    assert_eq!(run.code, Some(1));
    for line in run.stdout.lines() {
        assert!(line.len() < 2_000, "{} bytes", line.len());
        assert!(line.contains("characters left out"), "{line}");
    }
}

/// Every cut and every change of one byte is answered by one line, and a cut never by a decision.
#[test]
fn damaged_lines_are_answered_one_by_one() {
    let whole = example("stream.jsonl").lines().nth(1).unwrap().to_owned();
    let cuts: Vec<Vec<u8>> = (1..whole.len())
        .map(|end| whole.as_bytes()[..end].to_vec())
        .collect();
    let changes =
        (0..whole.len()).flat_map(|at| b"\0\"{}[],:x-\xff".iter().map(move |byte| (at, *byte)));
    let changes = changes.map(|(at, byte)| {
        let mut changed = whole.clone().into_bytes();
        changed[at] = byte;
        changed
    });
    let lines: Vec<Vec<u8>> = cuts.iter().cloned().chain(changes).collect();
    let mut input = lines.join(&b'\n');
    input.push(b'\n');

    let run = Folder::new().run_on(input, ["decide", "-", "--jsonl"]);
    assert_eq!(run.code, Some(1));
    let answers = values(&run.stdout);
    assert_eq!(answers.len(), lines.len());
    for (at, answer) in answers.iter().enumerate() {
        if let Some(error) = answer.get("error") {
            assert_eq!(error["line"], at + 1);
            assert_ne!(error["message"], "");
        } else {
            assert!(at >= cuts.len(), "{answer}");
            assert!(answer["decision"].is_string(), "{answer}");
        }
    }
}
