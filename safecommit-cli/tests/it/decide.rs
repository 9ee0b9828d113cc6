//! One decision: verdicts, exit codes, both formats.

use serde_json::Value;

use crate::program::{Folder, example, examples};

/// A request of two actions and two worlds, with `extra` fields after them.
fn request(extra: &str) -> String {
    format!(
        r#"{{"actions": [{{"id": "delete"}}, {{"id": "keep", "reversible": true}}],
            "worlds": [{{"id": "temporary", "score": 0.1, "safe": ["delete"]}},
                       {{"id": "shared", "score": 0.2, "safe": ["keep"]}}]{extra}}}"#
    )
}

#[track_caller]
fn check(request: &str, expect_code: i32, expect_first_line: &str) -> Value {
    let folder = Folder::new();
    let human = folder.run_on(request, ["decide", "-"]).prints(expect_code);
    assert_eq!(human.lines().next(), Some(expect_first_line));
    let json = folder
        .run_on(request, ["decide", "-", "--format", "json"])
        .prints(expect_code);
    serde_json::from_str(&json).unwrap()
}

#[test]
fn each_decision_has_its_exit_code() {
    let commit = request("").replace(r#"["keep"]"#, r#"["delete", "keep"]"#);
    let record = check(&commit, 0, "COMMIT delete");
    assert_eq!(record["action"], "delete");
    assert_eq!(
        record["certificate"]["safe_in"],
        serde_json::json!(["temporary", "shared"])
    );

    let probe = request(r#", "probes": [{"id": "look", "cost": 2, "asks": "shared"}]"#);
    let record = check(&probe, 3, "PROBE look");
    assert_eq!(
        record["probe"]["outcomes"],
        serde_json::json!(["yes", "no"])
    );
    assert!(record["probe"]["expected_shrinkage"].as_f64().unwrap() > 0.0);

    let record = check(&request(""), 4, "ESCALATE");
    assert_eq!(record["fallback"]["reason"], "unresolved");
    assert_eq!(
        record["actions"][0]["blocked_by"],
        serde_json::json!(["shared"])
    );
    assert_eq!(
        record["actions"][1]["blocked_by"],
        serde_json::json!(["temporary"])
    );

    check(&request(r#", "fresh_evidence_expected": true"#), 4, "DEFER");
    check(&request(r#", "authority_missing": true"#), 4, "ESCALATE");
    let hopeless = request("")
        .replace(r#"["delete"]"#, "[]")
        .replace(r#"["keep"]"#, "[]");
    check(&hopeless, 4, "ABSTAIN");
}

#[test]
fn what_is_absent_is_a_decision_and_no_error() {
    let no_worlds = r#"{"actions": [{"id": "delete"}], "worlds": []}"#;
    let record = check(no_worlds, 4, "ESCALATE");
    assert_eq!(record["fallback"]["reason"], "no_world_proposed");

    let contradicted = request(
        r#", "hard_evidence": [{"world": "temporary", "reason": "it has two owners"},
                              {"world": "shared", "reason": "it does not exist"}]"#,
    );
    let record = check(&contradicted, 4, "ESCALATE");
    assert_eq!(record["fallback"]["reason"], "no_world_plausible");
    assert_eq!(record["worlds"][0]["removed_by"], "it has two owners");

    let refuted = request(
        r#", "probes": [{"id": "look", "cost": 1, "outcomes": [
                {"id": "something", "worlds": ["temporary", "shared"]}, {"id": "nothing", "worlds": []}]}],
            "observed": [{"probe": "look", "outcome": "nothing"}]"#,
    );
    let record = check(&refuted, 4, "ESCALATE");
    assert_eq!(record["fallback"]["reason"], "every_world_refuted");
    assert!(
        record["actions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|action| action["certified"] == false)
    );

    assert_eq!(check(&request(""), 4, "ESCALATE")["threshold"], Value::Null);
}

#[test]
fn a_threshold_excludes_worlds_and_an_unbounded_one_does_not() {
    let folder = Folder::new();
    folder.write("request.json", request(""));
    folder.write("four.txt", "0.15\n0.15\n0.15\n0.15\n");
    folder.write("none.txt", "");
    for (scores, code, threshold) in [
        ("four.txt", 0, serde_json::json!(0.15)),
        ("none.txt", 4, Value::Null),
    ] {
        let calibrate = [
            "calibrate",
            "--scores",
            scores,
            "--alpha",
            "0.2",
            "--out",
            "cal.json",
        ];
        folder.run(calibrate).prints(0);
        let decide = [
            "decide",
            "request.json",
            "--calibration",
            "cal.json",
            "--format",
            "json",
        ];
        let record: Value = serde_json::from_str(&folder.run(decide).prints(code)).unwrap();
        assert_eq!(record["threshold"], threshold);
        assert_eq!(record["bound"]["alpha"], "0.2");
        assert_eq!(record["bound"]["total"], Value::Null, "beta is unknown");
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let run = || {
        let folder = Folder::new();
        let arguments = ["decide", "-", "--format", "json"];
        folder
            .run_on(example("1-before-any-probe.json"), arguments)
            .prints(3)
    };
    assert_eq!(run(), run());
}

#[test]
fn the_worked_example_decides_as_its_names_say() {
    let decisions: Vec<(String, String)> = examples(".json")
        .into_iter()
        .filter(|name| name != "calibration.json")
        .map(|name| {
            let run = Folder::new().run_on(example(&name), ["decide", "-"]);
            let verdict = run.stdout.lines().next().unwrap().to_owned();
            let expect_code = match verdict.split(' ').next().unwrap() {
                "COMMIT" => 0,
                "PROBE" => 3,
                _ => 4,
            };
            assert_eq!(run.code, Some(expect_code), "{name}");
            (name, verdict)
        })
        .collect();
    let expect = [
        ("0-smallest.json", "PROBE look-it-up"),
        ("1-before-any-probe.json", "PROBE directory-lookup"),
        ("2a-recipient-current.json", "COMMIT send-note"),
        ("2b-recipient-superseded.json", "COMMIT inspect-file"),
        (
            "2c-lookup-failed.json",
            "PROBE no-follow-link-and-ownership-check",
        ),
        ("3a-plain-directory.json", "COMMIT inspect-file"),
        ("3b-link-to-shared-results.json", "COMMIT send-note"),
        ("4-note-sent.json", "COMMIT stage-outputs"),
        ("5a-deletion-alone.json", "ESCALATE"),
        ("5b-deletion-checked.json", "COMMIT delete-outputs"),
        ("5c-deletion-refuted.json", "ABSTAIN"),
        ("6-contradictory-answers.json", "ESCALATE"),
        ("7-stratum-named.json", "COMMIT stage-outputs"),
    ];
    assert_eq!(
        decisions,
        expect.map(|(name, verdict)| (name.to_owned(), verdict.to_owned()))
    );
}

#[test]
fn human_text_of_a_probe() {
    let text = Folder::new()
        .run_on(example("1-before-any-probe.json"), ["decide", "-"])
        .prints(3);
    insta::assert_snapshot!("human_probe", text);
}

#[test]
fn the_text_says_which_rule_chose_a_probe() {
    let ask = |probing: &str| {
        let request = format!(
            r#"{{"actions": [{{"id": "send"}}],
            "worlds": [{{"id": "usual", "score": 0.1, "safe": ["send"]}},
                       {{"id": "injected", "score": 0.2, "safe": []}}],
            "probes": [{{"id": "look-up", "cost": 1, "asks": "usual"}}],
            "settings": {{"probing": {probing}}}}}"#
        );
        Folder::new().run_on(request, ["decide", "-"])
    };
    // One action alone: the default rule expects nothing of any probe.
    assert!(ask(r#""shrinkage""#).prints(4).starts_with("ESCALATE\n"));
    for (probing, line) in [
        (
            r#""optimal""#,
            "chosen for the least expected cost to a certificate\n",
        ),
        (
            r#""rollout""#,
            "chosen for the least expected cost when shrinkage chooses",
        ),
        (
            r#""information_gain""#,
            "chosen for the information that it gains",
        ),
        (
            r#""safety_information""#,
            "chosen for the information about what is safe that it gains",
        ),
        (
            r#"{"random": {"seed": "run 1"}}"#,
            "drawn at random from the seed\n",
        ),
    ] {
        let text = ask(probing).prints(3);
        assert!(text.starts_with("PROBE look-up\n"), "{text}");
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn human_text_of_a_commit_under_a_calibration() {
    let folder = Folder::new();
    folder.write("cal.json", example("calibration.json"));
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    let text = folder
        .run_on(example("2a-recipient-current.json"), arguments)
        .prints(0);
    insta::assert_snapshot!("human_commit_calibrated", text);
}

#[test]
fn human_text_of_fallbacks() {
    for (snapshot, name) in [
        ("human_escalate", "5a-deletion-alone.json"),
        ("human_abstain", "5c-deletion-refuted.json"),
        ("human_empty_plausible_set", "6-contradictory-answers.json"),
    ] {
        let text = Folder::new()
            .run_on(example(name), ["decide", "-"])
            .prints(4);
        insta::assert_snapshot!(snapshot, text);
    }
    let no_worlds = r#"{"actions": [{"id": "delete"}], "worlds": [], "beta": 0.02}"#;
    let text = Folder::new().run_on(no_worlds, ["decide", "-"]).prints(4);
    insta::assert_snapshot!("human_no_world", text);
}

#[test]
fn names_cannot_drive_the_terminal() {
    let hostile = request("")
        .replace("delete", r"delete\u001b[2J\u202e")
        .replace("shared", r"two\nlines");
    let text = Folder::new().run_on(hostile, ["decide", "-"]).prints(4);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    insta::assert_snapshot!("human_hostile_names", text);

    let hostile = request("").replace(r#"["keep"]"#, r#"["\u001b[31mkeep"]"#);
    Folder::new().run_on(hostile, ["decide", "-"]).fails(
        1,
        r"<stdin>:3: worlds[1].safe[0]: `\u{1b}[31mkeep` is not a declared action",
    );
}

#[test]
fn a_certificate_is_verified_and_a_refuted_set_reopened() {
    let ask = |observed: &str| {
        format!(
            r#"{{"actions": [{{"id": "send"}}, {{"id": "wait"}}],
            "worlds": [{{"id": "near", "score": 0.1, "safe": ["send"]}},
                       {{"id": "far", "score": 0.9, "safe": ["wait"]}}],
            "probes": [{{"id": "ask-near", "cost": 1, "asks": "near"}}],
            "settings": {{"verification": "most_plausible"}}, "observed": [{observed}]}}"#
        )
    };
    let folder = Folder::new();
    folder.write("scores.txt", "0.5\n");
    folder.run([
        "calibrate",
        "--scores",
        "scores.txt",
        "--alpha",
        "0.5",
        "--out",
        "cal.json",
    ]);
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    let text = folder.run_on(ask(""), arguments).prints(3);
    assert!(text.starts_with("PROBE ask-near\n"), "{text}");
    assert!(text.contains("this verifies the certificate"), "{text}");
    let refuted = ask(r#"{"probe": "ask-near", "outcome": "no"}"#);
    let text = folder.run_on(refuted, arguments).prints(0);
    assert!(text.starts_with("COMMIT wait\n"), "{text}");
    assert!(text.contains("\nreopened: "), "{text}");
}
