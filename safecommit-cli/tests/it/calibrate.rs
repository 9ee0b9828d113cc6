//! `calibrate`: thresholds, kinds of input, and what the summary says.

use serde_json::Value;

use crate::program::{Folder, example};

const CSV: &str =
    "case,score,note\n1,0.3,\"a, b\"\n2,missing,\"two\n\nlines\"\n3, 0.1 ,x\n4,0.2,\n";
const JSONL: &str = "{\"case\":1,\"score\":0.3}\n{\"case\":2,\"score\":null}\n{\"score\":0.1,\"other\":{\"score\":[]}}\n{\"score\":2e-1}";
const TEXT: &str = "0.3\nmissing\n 0.1 \r\n2e-1\n";

fn calibrate(name: &str, contents: &str, more: &[&str]) -> (Value, String) {
    let folder = Folder::new();
    folder.write(name, contents);
    let run = folder.run([&["calibrate", "--scores", name, "--alpha", "0.5"], more].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
}

#[test]
fn the_same_scores_in_three_forms_give_one_calibration() {
    let (expect, _) = calibrate("scores.txt", TEXT, &[]);
    assert_eq!(expect["n"], 4);
    assert_eq!(expect["missing"], 1);
    // ceil(5 * 0.5) = 3: the third smallest of 0.1, 0.2, 0.3, missing.
    assert_eq!(
        (&expect["rank"], &expect["threshold"]),
        (&3.into(), &0.3.into())
    );
    for (name, contents, more) in [
        ("scores.csv", CSV, &[][..]),
        ("scores.csv", &CSV.replace('\n', "\r\n"), &[]),
        ("scores.CSV", CSV, &["--field", "score"]),
        // A spreadsheet puts a byte order mark before the header.
        ("scores.csv", "\u{feff}score\n0.3\nmissing\n0.1\n0.2\n", &[]),
        ("scores.jsonl", JSONL, &[]),
        ("scores.ndjson", JSONL, &[]),
        ("scores.data", JSONL, &["--input", "jsonl"]),
        ("scores.jsonl", TEXT, &["--input", "text"]),
    ] {
        assert_eq!(calibrate(name, contents, more).0, expect, "{name} {more:?}");
    }
}

#[test]
fn the_field_is_chosen_by_name() {
    let csv = CSV.replace("score", "first").replace("case", "second");
    let (calibration, _) = calibrate("scores.csv", &csv, &["--field", "second"]);
    assert_eq!(calibration["threshold"], 3.0);
    let jsonl = "{\"q\": 5, \"score\": 1}\n";
    let (calibration, _) = calibrate("scores.jsonl", jsonl, &["--field", "q"]);
    assert_eq!(calibration["threshold"], 5.0);
}

#[test]
fn standard_input_is_text_unless_told() {
    let folder = Folder::new();
    let arguments = ["calibrate", "--scores", "-", "--alpha", "0.5"];
    let text = folder.run_on(TEXT, arguments).prints(0);
    let told = [
        "calibrate",
        "--scores",
        "-",
        "--alpha",
        "0.5",
        "--input",
        "csv",
    ];
    assert_eq!(folder.run_on(CSV, told).prints(0), text);
}

#[test]
fn no_scores_are_an_unbounded_threshold_in_every_form() {
    for (name, contents) in [
        ("scores.txt", ""),
        ("scores.jsonl", ""),
        ("scores.csv", ""),
        ("scores.csv", "score\n"),
    ] {
        let (calibration, summary) = calibrate(name, contents, &[]);
        assert_eq!(calibration["threshold"], Value::Null);
        assert_eq!(calibration["n"], 0);
        assert!(summary.contains("UNBOUNDED"), "{summary}");
    }
}

#[test]
fn the_threshold_of_the_benchmark_has_its_rank() {
    // Scores 1 to 2000, shuffled by a multiplier that is prime to the modulus.
    let scores: String = (0..2000)
        .map(|at| format!("{}\n", at * 7 % 2000 + 1))
        .collect();
    let folder = Folder::new();
    for (alpha, rank) in [("0.01", 1981), ("0.05", 1901), ("0.10", 1801)] {
        let arguments = ["calibrate", "--scores", "-", "--alpha", alpha];
        let text = folder.run_on(&scores, arguments).prints(0);
        let calibration: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(calibration["rank"], rank);
        assert_eq!(calibration["threshold"], f64::from(rank));
    }
}

#[test]
fn summaries() {
    let folder = Folder::new();
    folder.write("scores.txt", example("scores.txt"));
    let summary = |more: &[&str]| {
        let arguments = [&["calibrate", "--scores"], more].concat();
        folder.run(arguments).stderr
    };
    insta::assert_snapshot!(
        "summary_finite",
        summary(&["scores.txt", "--alpha", "0.05"])
    );
    insta::assert_snapshot!(
        "summary_unbounded_missing",
        summary(&["scores.txt", "--alpha", "0.02"])
    );
    folder.write("few.txt", "0.1\n0.2\n0.3\n");
    insta::assert_snapshot!(
        "summary_unbounded_few",
        summary(&["few.txt", "--alpha", "0.05"])
    );
    insta::assert_snapshot!(
        "summary_misses_counted",
        summary(&["few.txt", "--alpha", "0.3", "--misses-counted"])
    );
}

#[test]
fn the_calibration_of_the_examples_comes_from_their_scores() {
    let folder = Folder::new();
    let arguments = ["calibrate", "--scores", "-", "--alpha", "0.05"];
    let text = folder.run_on(example("scores.txt"), arguments).prints(0);
    assert_eq!(text, example("calibration.json"));
}
