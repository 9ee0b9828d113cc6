//! `calibrate --delta`, `--simultaneous` and `--weight`: rank or threshold, guarantee, summary.

use serde_json::{Value, json};

use crate::program::{Folder, Run, example};

/// Scores 1 to n, one a line.
fn one_to(n: u32) -> String {
    (1..=n).map(|score| format!("{score}\n")).collect()
}

fn calibrate(name: &str, contents: &str, options: &str) -> Run {
    let folder = Folder::new();
    folder.write(name, contents);
    let arguments = format!("calibrate --scores {name} {options}");
    folder.run(arguments.split(' '))
}

#[track_caller]
fn check(name: &str, contents: &str, options: &str, threshold: Value, guarantee: Value) -> String {
    let run = calibrate(name, contents, options);
    assert_eq!(run.code, Some(0), "{run:?}");
    let calibration: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(calibration["threshold"], threshold, "{run:?}");
    assert_eq!(calibration["guarantee"], guarantee);
    // What is unbounded says so to whoever calibrates, and only that.
    assert_eq!(run.stderr.contains("UNBOUNDED"), threshold.is_null());
    run.stderr
}

#[test]
fn a_delta_raises_the_rank() {
    let promise = json!({"training_conditional": {"delta": 0.05}});
    let summary = check(
        "s.txt",
        &one_to(100),
        "--alpha 0.1 --delta 0.05",
        json!(96.0),
        promise.clone(),
    );
    assert!(
        summary.contains(
            "guarantee (training-conditional): with probability at least 1 - 0.05 over the \
             calibration cases, P("
        ),
        "{summary}"
    );
    // ln 0.05 / ln 0.9 = 28.4: with 29 cases the rank is 29, with 28 there is none.
    let options = "--alpha 0.1 --delta 0.05";
    check("s.txt", &one_to(29), options, json!(29.0), promise.clone());
    let summary = check("s.txt", &one_to(28), options, Value::Null, promise.clone());
    assert!(
        summary.contains("rank 29 exceeds the 28 scores that were observed; alpha = 0.1 at delta = 0.05 takes at least 29 cases\n"),
        "{summary}"
    );
    // The rank falls on the missing one.
    let missing = one_to(28) + "missing\n";
    check("s.txt", &missing, options, Value::Null, promise);
}

#[test]
fn all_levels_at_once_take_a_higher_rank() {
    let options = "--alpha 0.1 --delta 0.05 --simultaneous";
    let promise = json!({"simultaneous": {"delta": 0.05}});
    // ceil(1000 (0.9 + sqrt(ln 20 / 2000))) = 939.
    let summary = check(
        "s.txt",
        &one_to(1000),
        options,
        json!(939.0),
        promise.clone(),
    );
    assert!(
        summary.contains("for every alpha at once, one chosen after seeing the scores included"),
        "{summary}"
    );
    check("s.txt", &one_to(100), options, Value::Null, promise);
}

/// One case of weight 4 and eight of weight 1, 12 together, scored by their place.
const WEIGHTED: &str = "weight,score\n4,1\n1,2\n1,3\n1,4\n1,5\n1,6\n1,7\n1,8\n1,9\n";

#[test]
fn weights_move_the_threshold() {
    let promise = |case: f64| json!({"weighted": {"effective_size": 6.0, "case_weight": case}});
    // 0.8 (12 + 1) = 10.4 is reached at 11, which lies on 8; (12 + 3) 0.8 = 12 on 9.
    let options = |case: &str| format!("--alpha 0.2 --weight weight --case-weight {case}");
    let summary = check("s.csv", WEIGHTED, &options("1"), json!(8.0), promise(1.0));
    assert!(
        summary.contains("effective size = 6.0\n")
            && summary.contains("that no case to come weighs more than 1,"),
        "{summary}"
    );
    check("s.csv", WEIGHTED, &options("3"), json!(9.0), promise(3.0));
    // The same cases as objects, and any factor on all weights.
    let jsonl: String = WEIGHTED
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap())
        .map(|(weight, score)| format!("{{\"score\":{score},\"weight\":{weight}e-3}}\n"))
        .collect();
    let thousandth = options("1e-3");
    check("s.jsonl", &jsonl, &thousandth, json!(8.0), promise(1e-3));
}

#[test]
fn a_case_that_alone_exceeds_the_level_leaves_the_threshold_unbounded() {
    let options = "--alpha 0.2 --weight weight --case-weight 4";
    let promise = json!({"weighted": {"effective_size": 6.0, "case_weight": 4.0}});
    let summary = check("s.csv", WEIGHTED, options, Value::Null, promise);
    assert!(
        summary.contains("the observed scores carry 0.750000 of all weight, that of the case to come (4) included; alpha = 0.2 takes at least 1 - 0.2\n"),
        "{summary}"
    );
}

#[test]
fn weights_of_zero_and_at_the_limit_of_numbers() {
    let weights = |weight: &str| {
        (1..=9).fold("weight,score\n".to_owned(), |text, score| {
            text + &format!("{weight},{score}\n")
        })
    };
    let options = |case: &str| format!("--alpha 0.2 --weight weight --case-weight {case}");
    let summary = check(
        "s.csv",
        &weights("0"),
        &options("0"),
        Value::Null,
        json!({"weighted": {"effective_size": 0.0, "case_weight": 0.0}}),
    );
    assert!(
        summary.contains("no calibration case has a weight above 0\n"),
        "{summary}"
    );
    // The sum of these weights is no number, the threshold is that of equal weights: rank 8 of 9.
    for weight in ["1e308", "5e-324"] {
        check(
            "s.csv",
            &weights(weight),
            &options(weight),
            json!(8.0),
            json!({"weighted": {
                "effective_size": 9.0, "case_weight": weight.parse::<f64>().unwrap()
            }}),
        );
    }
    // One case outweighs all others, and it is the strangest.
    let one = weights("1e-300").replace("1e-300,9", "1e300,9");
    check(
        "s.csv",
        &one,
        &options("1e-300"),
        json!(9.0),
        json!({"weighted": {"effective_size": 1.0, "case_weight": 1e-300}}),
    );
}

#[test]
fn missing_cases_keep_their_weight() {
    let options = "--alpha 0.2 --weight weight --case-weight 1";
    let promise = json!({"weighted": {"effective_size": 6.0, "case_weight": 1.0}});
    // 0.8 (12 + 1) = 10.4 is needed, and the observed ones are 8.
    let missing = WEIGHTED.replace("4,1\n", "4,missing\n");
    let summary = check("s.csv", &missing, options, Value::Null, promise);
    assert!(
        summary.contains("beta: the true world was not proposed in 1 of 9 calibration cases, which bounds nothing under another mix"),
        "{summary}"
    );
}

#[test]
fn scores_that_are_all_equal_are_all_retained() {
    let equal = "0.5\n".repeat(40);
    for (options, guarantee) in [
        ("--alpha 0.1", json!("marginal")),
        (
            "--alpha 0.1 --delta 0.05",
            json!({"training_conditional": {"delta": 0.05}}),
        ),
    ] {
        check("s.txt", &equal, options, json!(0.5), guarantee);
    }
    let folder = Folder::new();
    folder.write("s.txt", &equal);
    let arguments = "calibrate --scores s.txt --alpha 0.1 --out cal.json";
    folder.run(arguments.split(' ')).prints(0);
    // At the threshold is in, the next number above it is out.
    let request = format!(
        r#"{{"actions":[{{"id":"a"}}],"worlds":[{{"id":"at","score":0.5,"safe":["a"]}},{{"id":"above","score":{},"safe":[]}}]}}"#,
        0.5_f64.next_up()
    );
    let decide = "decide - --format json --calibration cal.json";
    let record: Value =
        serde_json::from_str(&folder.run_on(request, decide.split(' ')).prints(0)).unwrap();
    let fates = record["worlds"].as_array().unwrap().iter();
    let fates: Vec<_> = fates.map(|world| world["fate"].clone()).collect();
    assert_eq!(fates, ["plausible", "above_threshold"]);
}

/// Each guarantee goes from the file into the decision.
#[test]
fn decisions_carry_the_guarantee() {
    let folder = Folder::new();
    folder.write("cases.csv", example("earlier-cases.csv"));
    folder.write("request.json", example("2a-recipient-current.json"));
    for (options, name) in [
        ("", "marginal guarantee"),
        (
            " --delta 0.05",
            "training-conditional (delta 0.05) guarantee",
        ),
        (
            " --delta 0.05 --simultaneous",
            "simultaneous (delta 0.05) guarantee",
        ),
        (
            " --weight weight --case-weight 2",
            "weighted (effective size 73.8, for cases of weight at most 2) guarantee",
        ),
    ] {
        let calibrate =
            format!("calibrate --scores cases.csv --alpha 0.15 --out cal.json{options}");
        folder.run(calibrate.split(' ')).prints(0);
        let decide = "decide request.json --calibration cal.json";
        let shown = folder.run(decide.split(' ')).prints(0);
        assert!(shown.contains(name), "{shown}");
    }
}

/// A file of weighted thresholds says for which weight it is, and the record of a decision under it too.
#[test]
fn a_weighted_file_is_for_one_weight() {
    let folder = Folder::new();
    folder.write("cases.csv", example("earlier-cases.csv"));
    folder.write("request.json", example("2a-recipient-current.json"));
    let mut checksums = Vec::new();
    for case in [2.0, 2.5] {
        let calibrate = format!(
            "calibrate --scores cases.csv --alpha 0.15 --weight weight --case-weight {case} --out cal.json"
        );
        folder.run(calibrate.split(' ')).prints(0);
        let file: Value = serde_json::from_str(&folder.read("cal.json")).unwrap();
        assert_eq!(file["guarantee"]["weighted"]["case_weight"], case);
        let decide = "decide request.json --format json --calibration cal.json";
        let record: Value = serde_json::from_str(&folder.run(decide.split(' ')).prints(0)).unwrap();
        assert_eq!(record["calibration"]["guarantee"], file["guarantee"]);
        assert_eq!(record["certificate"]["guarantee"], file["guarantee"]);
        checksums.push((file["threshold"].clone(), file["checksum"].clone()));

        let other = folder.read("cal.json").replace(
            &format!("\"case_weight\": {case:.1}"),
            "\"case_weight\": 7.0",
        );
        assert_ne!(other, folder.read("cal.json"));
        folder.write("cal.json", other);
        let run = folder.run(decide.split(' '));
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("checksum: "), "{run:?}");
    }
    assert_eq!(
        checksums[0].0, checksums[1].0,
        "a threshold that serves both"
    );
    assert_ne!(checksums[0].1, checksums[1].1);
}
