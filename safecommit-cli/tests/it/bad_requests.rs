//! Requests that do not hold: the error names file, line and field, and the exit code is 1.

use crate::program::Folder;

const REQUEST: &str = r#"{
  "actions": [
    {"id": "delete", "severity": 0.5},
    {"id": "send"}
  ],
  "worlds": [
    {"id": "w1", "score": 0.1, "safe": ["delete", "send"]},
    {
      "id": "w2",
      "score": 0.25,
      "safe": ["send"]
    }
  ],
  "probes": [
    {"id": "ask", "cost": 1.0, "asks": "w2"},
    {"id": "scan", "cost": 2.0, "error_rate": 0.01, "outcomes": [
      {"id": "clean", "likelihood": {"w1": 0.9,
                                     "w2": 0.3}},
      {"id": "dirty", "likelihood": {"w1": 0.1,
                                     "w2": 0.7}}
    ]},
    {"id": "look", "cost": 1.0, "outcomes": [
      {"id": "here", "worlds": ["w1"]},
      {"id": "gone",
       "worlds": ["w2"]}
    ]}
  ],
  "observed": [
    {"probe": "ask", "outcome": "no"}
  ],
  "beta": 0.01,
  "settings": {"temperature": 0.25, "eta": 0.0,
               "max_cost": 5.0}
}
"#;

/// With `old` replaced by `new`, the request fails with `expect`.
#[track_caller]
fn check(old: &str, new: &str, expect: &str) {
    assert_eq!(REQUEST.matches(old).count(), 1, "`{old}` is to occur once");
    let folder = Folder::new();
    folder.write("request.json", REQUEST.replace(old, new));
    for format in ["human", "json"] {
        let run = folder.run(["decide", "request.json", "--format", format]);
        run.fails(1, &format!("request.json:{expect}"));
    }
    assert_eq!(folder.names(), ["request.json"]);
}

#[test]
fn the_request_itself_is_good() {
    Folder::new().run_on(REQUEST, ["decide", "-"]).prints(0);
}

#[test]
fn numbers_that_are_not_finite() {
    let syntax = "10: worlds[1].score: expected value (column 16)";
    check("0.25,\n", "NaN,\n", syntax);
    check("0.25,\n", "Infinity,\n", syntax);
    check(
        "0.25,\n",
        "-Infinity,\n",
        "10: worlds[1].score: invalid number (column 17)",
    );
    check(
        "0.25,\n",
        "1e999,\n",
        "10: worlds[1].score: number out of range (column 20)",
    );
    check(
        "0.25,\n",
        "-1e999,\n",
        "10: worlds[1].score: number out of range (column 21)",
    );
    check(
        "0.25,\n",
        "\"NaN\",\n",
        "10: worlds[1].score: invalid type: string \"NaN\", expected f64",
    );
    check(
        "0.25,\n",
        "null,\n",
        "10: worlds[1].score: invalid type: null, expected f64",
    );
}

#[test]
fn names_that_stand_twice() {
    check(
        r#""id": "send""#,
        r#""id": "delete""#,
        "4: actions[1].id: `delete` stands twice",
    );
    check(
        r#""id": "w2""#,
        r#""id": "w1""#,
        "9: worlds[1].id: `w1` stands twice",
    );
    check(
        r#""id": "scan""#,
        r#""id": "ask""#,
        "16: probes[1].id: `ask` stands twice",
    );
    check(
        r#""id": "dirty""#,
        r#""id": "clean""#,
        "19: probes[1].outcomes[1].id: `clean` stands twice",
    );
    check(
        r#"["send"]"#,
        r#"["send", "send"]"#,
        "11: worlds[1].safe[1]: `send` stands twice",
    );
    check(
        "\"outcome\": \"no\"}\n",
        "\"outcome\": \"no\"},\n    {\"probe\": \"ask\", \"outcome\": \"yes\"}\n",
        "30: observed[1].probe: `ask` stands twice",
    );
    check(
        "0.1,\n                                     \"w2\"",
        "0.1,\n                                     \"w1\"",
        "19: probes[1].outcomes[1].likelihood: world `w1` stands twice",
    );
}

#[test]
fn names_that_nobody_declared() {
    check(
        r#"["send"]"#,
        r#"["sned"]"#,
        "11: worlds[1].safe[0]: `sned` is not a declared action",
    );
    check(
        r#""asks": "w2""#,
        r#""asks": "w9""#,
        "15: probes[0].asks: `w9` is not a declared world",
    );
    check(
        r#"       "worlds": ["w2"]"#,
        r#"       "worlds": ["w9"]"#,
        "25: probes[2].outcomes[1].worlds[0]: `w9` is not a declared world",
    );
    check(
        r#""w2": 0.7"#,
        r#""w.9[0]": 0.7"#,
        "20: probes[1].outcomes[1].likelihood.w.9[0]: `w.9[0]` is not a declared world",
    );
    check(
        r#""probe": "ask""#,
        r#""probe": "aks""#,
        "29: observed[0].probe: `aks` is not a declared probe",
    );
    check(
        r#""outcome": "no""#,
        r#""outcome": "maybe""#,
        "29: observed[0].outcome: `maybe` is not a declared outcome of the probe",
    );
}

#[test]
fn costs_and_probabilities_out_of_range() {
    for cost in ["0", "-1.5", "-0.0"] {
        let shown: f64 = cost.parse().unwrap();
        let expect =
            format!("15: probes[0].cost: cost `{shown}` is not a finite number above zero");
        check(
            "\"ask\", \"cost\": 1.0",
            &format!("\"ask\", \"cost\": {cost}"),
            &expect,
        );
    }
    check(
        "\"error_rate\": 0.01",
        "\"error_rate\": 1.5",
        "16: probes[1].error_rate: `1.5` is not a probability in [0, 1]",
    );
    check(
        "\"beta\": 0.01",
        "\"beta\": -0.1",
        "31: beta: `-0.1` is not a probability in [0, 1]",
    );
    check(
        r#""w1": 0.9"#,
        r#""w1": 1.9"#,
        "17: probes[1].outcomes[0].likelihood.w1: `1.9` is not a probability in [0, 1]",
    );
    check(
        r#""w1": 0.9"#,
        r#""w1": 0.8"#,
        "16: probes[1].outcomes: the outcome probabilities of world `w1` sum to `0.9`, not to 1",
    );
    check(
        r#"       "worlds": ["w2"]"#,
        r#"       "worlds": ["w2", "w1"]"#,
        "22: probes[2].outcomes: world `w1` stands in 2 outcomes, in exactly one it must",
    );
    check(
        r#"       "worlds": ["w2"]"#,
        r#"       "worlds": []"#,
        "22: probes[2].outcomes: world `w2` stands in 0 outcomes, in exactly one it must",
    );
    check(
        "\"max_cost\": 5.0",
        "\"max_cost\": -5.0",
        "33: settings.max_cost: `-5` is not a finite number of at least zero",
    );
    check(
        "\"temperature\": 0.25",
        "\"temperature\": 0",
        "32: settings.temperature: temperature `0` is out of range: finite, above 0",
    );
    check(
        "\"severity\": 0.5",
        "\"severity\": -0.5",
        "3: actions[0].severity: severity `-0.5` is not a finite number of at least zero",
    );
}

#[test]
fn lists_that_may_not_be_empty() {
    let no_actions = r#"{"worlds": [],
        "actions": []}"#;
    Folder::new().run_on(no_actions, ["decide", "-"]).fails(
        1,
        "<stdin>:2: actions: the list is empty, at least one action is needed",
    );
    let no_outcomes = r#"{"actions": [{"id": "a"}], "worlds": [],
        "probes": [
            {"id": "p", "cost": 1, "outcomes": []}]}"#;
    Folder::new().run_on(no_outcomes, ["decide", "-"]).fails(
        1,
        "<stdin>:3: probes[0].outcomes: the list is empty, at least one outcome is needed",
    );
}

#[test]
fn fields_that_are_missing_unknown_or_double() {
    check(
        "\"score\": 0.25,",
        "",
        "8: worlds[1].score: missing field `score`",
    );
    check(
        "  \"actions\": [",
        "  \"acts\": [",
        "2: acts: unknown field `acts`, expected one of `id`, `stratum`, `actions`, `worlds`, `hard_evidence`, `probes`, `observed`, `elapsed_steps`, `authority_missing`, `fresh_evidence_expected`, `beta`, `settings`",
    );
    check(
        "\"severity\": 0.5",
        "\"sverity\": 0.5",
        "3: actions[0].sverity: unknown field `sverity`, expected one of `id`, `family`, `severity`, `reversible`, `reward`",
    );
    check(
        "\"score\": 0.25,",
        "\"score\": 0.25,\n      \"score\": 0.3,",
        "11: worlds[1].score: duplicate field `score`",
    );
    check(
        ", \"outcome\": \"no\"",
        "",
        "29: observed[0].outcome: missing field `outcome`",
    );
    check(
        "\"asks\": \"w2\"",
        "\"repeatable_later\": true",
        "15: probes[0]: a probe has exactly one of `asks` and `outcomes`",
    );
}

#[test]
fn names_make_no_lines_of_their_own() {
    let request = r#"{"actions":[{"id":"a"}],"worlds":[],"x\nCOMMIT a\nerror: b":1}"#;
    let run = Folder::new().run_on(request, ["decide", "-"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(
        run.stderr.contains(r"x\u{a}COMMIT a\u{a}error: b"),
        "{run:?}"
    );
    let run = Folder::new().run(["decide", "no\nCOMMIT a"]);
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

#[test]
fn lists_in_the_place_of_objects() {
    check(
        r#"{"id": "send"}"#,
        r#"["send"]"#,
        "4: actions[1]: invalid type: sequence, expected an object",
    );
    check(
        r#"{"temperature": 0.25, "eta": 0.0,
               "max_cost": 5.0}"#,
        "[0.25]",
        "32: settings: invalid type: sequence, expected an object",
    );
}

#[test]
fn text_that_is_cut_off_or_goes_on() {
    let folder = Folder::new();
    folder.write("request.json", &REQUEST[..REQUEST.find("0.25,").unwrap()]);
    folder.run(["decide", "request.json"]).fails(
        1,
        "request.json:10: worlds[1].score: EOF while parsing a value (column 15)",
    );
    folder.write("request.json", format!("{REQUEST}}}"));
    folder
        .run(["decide", "request.json"])
        .fails(1, "request.json:35: trailing characters (column 1)");
    folder.write("request.json", "");
    folder
        .run(["decide", "request.json"])
        .fails(1, "request.json:1: EOF while parsing a value (column 0)");
    folder.write("request.json", b"{\n\"id\": \"\xff\"}");
    folder
        .run(["decide", "request.json"])
        .fails(1, "request.json:2: the text is not valid UTF-8");
}

#[test]
fn nesting_without_end_is_an_error() {
    let nested = format!("{{\"actions\": {}", "[".repeat(100_000));
    let run = Folder::new().run_on(nested, ["decide", "-"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.starts_with("error: <stdin>:1: "), "{run:?}");
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    for stream in [&["decide"][..], &["decide", "--jsonl"]] {
        let run = folder.run([stream, &["absent.json"]].concat());
        run.fails(
            1,
            "cannot read `absent.json`: No such file or directory (os error 2)",
        );
        let run = folder.run([stream, &["folder"]].concat());
        run.fails(1, "cannot read `folder`: Is a directory (os error 21)");
    }
    folder.write("request.json", REQUEST);
    folder
        .run(["decide", "request.json", "--calibration", "folder"])
        .fails(1, "cannot read `folder`: Is a directory (os error 21)");
}
