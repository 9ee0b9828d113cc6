//! `calibrate --by` and `decide` under calibrations by stratum.

use serde_json::{Value, json};

use crate::program::{Folder, Run, example};

/// Nine cases of `file/high`, one of `file/low`, one of `mail/low`: at level 0.1 a stratum needs nine.
fn cases() -> String {
    let mut text = "family,severity,score\n".to_owned();
    for score in 1..=9 {
        text.push_str(&format!("file,high,{score}\n"));
    }
    text + "file,low,50\nmail,low,20\n"
}

/// A folder with `cal.json`, calibrated on those cases with these options, and the summary of it.
fn calibrated(options: &str) -> (Folder, String) {
    let folder = Folder::new();
    folder.write("cases.csv", cases());
    let arguments = format!("calibrate --scores cases.csv --alpha 0.1 --out cal.json {options}");
    let run = folder.run(arguments.split_whitespace());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    (folder, run.stderr)
}

/// `near` lies below every threshold and `far` above all of them.
fn request(stratum: Option<&str>) -> String {
    let mut request = json!({
        "actions": [{"id": "act"}],
        "worlds": [
            {"id": "near", "score": 0.5, "safe": ["act"]},
            {"id": "far", "score": 1000.0, "safe": []}
        ]
    });
    if let Some(stratum) = stratum {
        request["stratum"] = json!(stratum);
    }
    request.to_string()
}

fn decide(folder: &Folder, stratum: Option<&str>) -> Run {
    let arguments = "decide - --format json --calibration cal.json";
    folder.run_on(request(stratum), arguments.split(' '))
}

#[track_caller]
fn commits(folder: &Folder, stratum: &str, achieved: &str, threshold: f64) {
    let record: Value = serde_json::from_str(&decide(folder, Some(stratum)).prints(0)).unwrap();
    assert_eq!(record["stratum"], stratum);
    assert_eq!(record["threshold"], threshold, "{stratum}");
    let guarantee = json!({"group": {"stratum": stratum, "achieved": achieved}});
    assert_eq!(record["calibration"]["guarantee"], guarantee);
    assert_eq!(record["certificate"]["guarantee"], guarantee);
}

#[track_caller]
fn escalates(record: &Value, explanation: &str) {
    assert_eq!(record["decision"], "escalate");
    assert_eq!(record["fallback"]["reason"], "stratum_not_calibrated");
    assert_eq!(record["fallback"]["explanation"], explanation);
    for absent in ["threshold", "calibration", "certificate", "action"] {
        assert_eq!(record[absent], Value::Null, "{absent}");
    }
}

#[test]
fn each_stratum_has_its_threshold_or_that_of_the_group_around_it() {
    let (folder, summary) = calibrated("--by family,severity");
    commits(&folder, "file/high", "file/high", 9.0);
    commits(&folder, "file/low", "file", 50.0);
    commits(&folder, "mail/low", "", 50.0);
    insta::assert_snapshot!("summary_by_stratum", summary);
}

#[test]
fn what_is_no_stratum_escalates_alone_and_in_streams() {
    let (folder, _) = calibrated("--by family,severity");
    let undeclared = |stratum: &str| {
        format!("the calibrations are by stratum, and `{stratum}` is none of those declared")
    };
    let none = "the calibrations are by stratum, the request names none";
    for (stratum, explanation) in [
        (None, none),
        (Some("file"), &undeclared("file")),
        (Some("admin/high"), &undeclared("admin/high")),
        (Some(""), &undeclared("all cases")),
    ] {
        let record = serde_json::from_str(&decide(&folder, stratum).prints(4)).unwrap();
        escalates(&record, explanation);
    }
    let lines = [None, Some("file/high"), Some("admin"), Some("mail/low")].map(request);
    let arguments = "decide - --jsonl --calibration cal.json";
    let answers = folder
        .run_on(lines.join("\n"), arguments.split(' '))
        .prints(0);
    let answers: Vec<Value> = answers
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    escalates(&answers[0], none);
    assert_eq!(answers[1]["decision"], "commit");
    escalates(&answers[2], &undeclared("admin"));
    assert_eq!(answers[3]["threshold"], 50.0);
    assert_eq!(answers.len(), 4);
}

/// One calibration out of the file, on its own, serves its very stratum.
#[test]
fn a_calibration_for_one_group_decides_no_other() {
    let (folder, _) = calibrated("--by family,severity");
    let all: Value = serde_json::from_str(&folder.read("cal.json")).unwrap();
    let groups = all["groups"].as_array().unwrap();
    let of = |path: &str| {
        groups
            .iter()
            .find(|group| group["guarantee"]["group"]["stratum"] == path)
    };
    folder.write("cal.json", of("file/high").unwrap().to_string());
    commits(&folder, "file/high", "file/high", 9.0);
    for (stratum, said) in [
        (Some("file/low"), "is of `file/low`"),
        (Some("file"), "is of `file`"),
        (None, "names none"),
    ] {
        let record = serde_json::from_str(&decide(&folder, stratum).prints(4)).unwrap();
        escalates(
            &record,
            &format!("the calibration is for stratum `file/high`, the request {said}"),
        );
    }
    // That of the whole file is for the group of all cases, which no request has to name.
    folder.write("cal.json", of("").unwrap().to_string());
    decide(&folder, Some("file/high")).prints(4);
}

#[test]
fn declared_strata_may_lack_cases() {
    let declared = "--stratum file/high --stratum file/low --stratum mail/low --stratum mail/high";
    let (folder, summary) = calibrated(&format!("--by family,severity {declared}"));
    commits(&folder, "mail/high", "", 50.0);
    let empty =
        "`mail/high`: 0 cases, too few: falls back to `all cases`, 11 cases; threshold = 50\n";
    assert!(summary.contains(empty), "{summary}");
    // The same from a file.
    let listed = folder.read("cal.json");
    folder.write("strata.txt", "file/high\nfile/low\r\nmail/low\nmail/high");
    let arguments =
        "calibrate --scores cases.csv --alpha 0.1 --by family,severity --strata strata.txt";
    assert_eq!(folder.run(arguments.split(' ')).prints(0), listed);
    // A byte order mark is no part of the first label.
    folder.write(
        "strata.txt",
        format!("\u{feff}{}", folder.read("strata.txt")),
    );
    assert_eq!(folder.run(arguments.split(' ')).prints(0), listed);
    // No case at all: every stratum is there, and none has a finite threshold.
    folder.write("none.csv", "");
    let arguments =
        "calibrate --scores none.csv --alpha 0.1 --by family --stratum a --out cal.json";
    let run = folder.run(arguments.split(' '));
    let line = "`a`: 0 cases, too few: falls back to `all cases`, 0 cases; UNBOUNDED: rank 1 exceeds the 0 scores that were observed; alpha = 0.1 takes at least 9 cases\n";
    assert!(run.stderr.contains(line), "{run:?}");
    let record: Value = serde_json::from_str(&decide(&folder, Some("a")).prints(4)).unwrap();
    assert_eq!(record["fallback"]["reason"], "unresolved");
}

#[test]
fn a_minimum_sends_more_strata_up() {
    let (folder, _) = calibrated("--by family,severity --minimum 10");
    commits(&folder, "file/high", "file", 50.0);
    let (folder, _) = calibrated("--by family,severity --minimum 11");
    commits(&folder, "file/high", "", 50.0);
    // Not even all cases are that many; they serve, since they do for a finite rank.
    let (folder, _) = calibrated("--by family,severity --minimum 100");
    commits(&folder, "file/high", "", 50.0);
}

#[test]
fn a_missing_case_leaves_its_stratum_unbounded_rather_than_sending_it_up() {
    let folder = Folder::new();
    folder.write(
        "cases.csv",
        cases().replace("file,high,3", "file,high,missing"),
    );
    let arguments = "calibrate --scores cases.csv --alpha 0.1 --by family,severity";
    let run = folder.run(arguments.split(' '));
    let line = "`file/high`: 9 cases; UNBOUNDED: rank 9 exceeds the 8 scores that were observed; alpha = 0.1 takes at least 19 cases if no more than 1 are missing\n";
    assert!(run.stderr.contains(line), "{run:?}");
}

#[test]
fn strata_come_from_objects_and_from_one_path_too() {
    let (folder, _) = calibrated("--by family,severity");
    let expect = folder.read("cal.json");
    let objects: String = cases()
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let score: f64 = cells[2].parse().unwrap();
            json!({"score": score, "family": cells[0], "severity": cells[1]}).to_string() + "\n"
        })
        .collect();
    folder.write("cases.jsonl", objects);
    let arguments = "calibrate --scores cases.jsonl --alpha 0.1 --by family,severity";
    assert_eq!(folder.run(arguments.split(' ')).prints(0), expect);
    folder.write(
        "paths.csv",
        cases()
            .replace("family,severity", "stratum")
            .replace(",high", "/high")
            .replace(",low", "/low"),
    );
    let arguments = "calibrate --scores paths.csv --alpha 0.1 --by stratum";
    assert_eq!(folder.run(arguments.split(' ')).prints(0), expect);

    // Numbers and truth values are labels as well.
    folder.write(
        "levels.jsonl",
        "{\"score\":1,\"level\":-2,\"root\":true}\n{\"score\":1,\"level\":3,\"root\":false}\n",
    );
    let arguments = "calibrate --scores levels.jsonl --alpha 0.1 --by root,level";
    let written: Value = serde_json::from_str(&folder.run(arguments.split(' ')).prints(0)).unwrap();
    assert_eq!(written["taxonomy"]["strata"], json!(["false/3", "true/-2"]));
}

#[test]
fn decisions_show_the_stratum_and_the_group_that_was_achieved() {
    let folder = Folder::new();
    folder.write("cases.csv", example("earlier-cases.csv"));
    let arguments = "calibrate --scores cases.csv --alpha 0.05 --by task,evidence --out cal.json";
    folder.run(arguments.split(' ')).prints(0);
    let request = example("7-stratum-named.json").replace("cleanup/memory", "cleanup/tool");
    let shown = folder
        .run_on(request, ["decide", "-", "--calibration", "cal.json"])
        .prints(0);
    assert!(shown.contains("\nstratum: cleanup/tool\n"), "{shown}");
    let group = "rank 53, group (`cleanup/tool`, achieved over `cleanup`) guarantee)";
    assert!(shown.contains(group), "{shown}");
}

/// A file of thirty thousand strata is read and decided under in a moment.
#[test]
fn many_strata_take_no_longer_than_they_must() {
    let folder = Folder::new();
    let rows: String = (0..30_000).map(|i| format!("g/{i},1\n")).collect();
    folder.write("cases.csv", format!("s,score\n{rows}"));
    let arguments = "calibrate --scores cases.csv --alpha 0.1 --by s --out cal.json";
    assert_eq!(folder.run(arguments.split(' ')).code, Some(0));
    let start = std::time::Instant::now();
    commits(&folder, "g/29999", "g", 1.0);
    let took = start.elapsed();
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
}

/// A label may hold characters that turn the direction of a line; a terminal never sees them.
#[test]
fn labels_are_harmless_to_a_terminal() {
    let label = "a\u{202e}b";
    let folder = Folder::new();
    folder.write("cases.csv", format!("g,score\n{label},1\n"));
    let arguments = "calibrate --scores cases.csv --alpha 0.5 --by g --out cal.json";
    let summary = folder.run(arguments.split(' ')).stderr;
    let decide = ["decide", "-", "--calibration", "cal.json"];
    let served = folder.run_on(request(Some(label)), decide).prints(0);
    let refused = folder.run_on(request(Some("\u{202e}")), decide).prints(4);
    for shown in [summary, served, refused] {
        assert!(!shown.contains('\u{202e}'), "{shown}");
        assert!(shown.contains("u{202e}"), "{shown}");
    }
}
