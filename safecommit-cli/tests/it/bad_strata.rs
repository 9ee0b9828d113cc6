//! Strata and weights that do not hold, and files of calibrations by stratum that were damaged.

use serde_json::{Value, json};

use crate::program::{Folder, example};

/// Calibrating `contents` with these options fails with exactly this message, and writes nothing.
#[track_caller]
fn check(name: &str, contents: &str, options: &str, expect: &str) {
    let folder = Folder::new();
    folder.write(name, contents);
    folder.write("strata.txt", "a\nb\n");
    let arguments = format!("calibrate --scores {name} --alpha 0.1 --out cal.json {options}");
    folder.run(arguments.split(' ')).fails(1, expect);
    assert!(!folder.names().contains(&"cal.json".to_owned()));
}

#[test]
fn strata() {
    let first = "g,score\na,1\n";
    check(
        "s.csv",
        first,
        "--by h",
        "s.csv:1: h: the header has no column `h`, its columns are `g`, `score`",
    );
    check(
        "s.csv",
        &format!("{first},2\n"),
        "--by g",
        "s.csv:3: g: the stratum is empty, but every case belongs to one",
    );
    check(
        "s.csv",
        &format!("{first}a//b,2\n"),
        "--by g",
        "s.csv:3: g: stratum `a//b` has an empty label or a control character",
    );
    check(
        "s.csv",
        "g,h,score\na,b/c,1\n",
        "--by g,h",
        "s.csv:2: h: label `b/c` has a `/`, which only a single field may have",
    );
    check(
        "s.csv",
        &format!("{first}c,2\n"),
        "--by g --stratum a --stratum b",
        "s.csv:3: g: stratum `c` is not declared",
    );
    check(
        "s.csv",
        &format!("{first}c,2\n"),
        "--by g --strata strata.txt",
        "s.csv:3: g: stratum `c` is not declared",
    );
    check(
        "s.csv",
        &format!("{first}a/b,2\n"),
        "--by g",
        "s.csv: stratum `a` contains `a/b`, and both are declared",
    );
    for none in ["", "g,score\n"] {
        check(
            "s.csv",
            none,
            "--by g",
            "s.csv: there is no case, and so no stratum to tell apart (--stratum and --strata \
             declare them)",
        );
    }
    let first = "{\"g\": \"a\", \"score\": 1}\n";
    check(
        "s.jsonl",
        &format!("{first}{{\"score\": 1}}\n"),
        "--by g",
        "s.jsonl:2: g: missing field `g`",
    );
    check(
        "s.jsonl",
        &format!("{first}{{\"score\": 1, \"g\": null}}\n"),
        "--by g",
        "s.jsonl:2: g: a label: a text, a whole number, true or false",
    );
    check(
        "s.jsonl",
        &format!("{first}{{\"score\": 1, \"g\": 0.5}}\n"),
        "--by g",
        "s.jsonl:2: g: a label: a text, a whole number, true or false",
    );
    check(
        "s.jsonl",
        &format!("{first}{{\"score\": 1, \"g\": \"\"}}\n"),
        "--by g",
        "s.jsonl:2: g: the stratum is empty, but every case belongs to one",
    );
}

#[test]
fn files_of_strata() {
    let folder = Folder::new();
    folder.write("s.csv", "g,score\na,1\n");
    let check = |strata: &str, expect: &str| {
        folder.write("strata.txt", strata);
        let arguments = "calibrate --scores s.csv --alpha 0.1 --by g --strata strata.txt";
        folder.run(arguments.split(' ')).fails(1, expect);
    };
    check("", "strata.txt: the taxonomy declares no stratum");
    check(
        "a\n\nb\n",
        "strata.txt:2: the line is blank, but every line is one stratum",
    );
    check(
        "a\nb/\n",
        "strata.txt:2: stratum `b/` has an empty label or a control character",
    );
    check("a\na\n", "strata.txt: stratum `a` is declared twice");
    let deep = ["a"; 33].join("/");
    check(
        &format!("b\n{deep}\n"),
        &format!("strata.txt:2: stratum `{deep}` has `33` labels, at most 32 are allowed"),
    );
    check(
        &"a".repeat(1025),
        "strata.txt:1: a stratum of `1025` bytes is too long, at most 1024 are allowed",
    );
    check(
        "a\na/b\n",
        "strata.txt: stratum `a` contains `a/b`, and both are declared",
    );
    let arguments = "calibrate --scores s.csv --alpha 0.1 --by g --strata absent.txt";
    folder.run(arguments.split(' ')).fails(
        1,
        "cannot read `absent.txt`: No such file or directory (os error 2)",
    );
    folder.write("strata.txt", "a\n");
    let arguments =
        "calibrate --scores s.csv --alpha 0.1 --by g --strata strata.txt --out strata.txt";
    folder
        .run(arguments.split(' '))
        .fails(1, "cannot write `strata.txt`: it is the input `strata.txt`");
}

#[test]
fn weights() {
    let options = "--weight w --case-weight 1";
    for bad in ["NaN", "inf", "-1", "1e999", "heavy", ""] {
        check(
            "s.csv",
            &format!("w,score\n1,1\n{bad},2\n"),
            options,
            &format!("s.csv:3: w: weight `{bad}` is not a finite number of at least 0"),
        );
    }
    check(
        "s.csv",
        "score\n1\n",
        options,
        "s.csv:1: w: the header has no column `w`, its columns are `score`",
    );
    let first = "{\"score\": 1, \"w\": 1}\n";
    for (bad, expect) in [
        ("{\"score\": 1}", "missing field `w`"),
        (
            "{\"score\": 1, \"w\": -1}",
            "weight `-1` is not a finite number of at least 0",
        ),
        (
            "{\"score\": 1, \"w\": 1e999}",
            "number out of range (column 23)",
        ),
        (
            "{\"score\": 1, \"w\": null}",
            "invalid type: null, expected f64",
        ),
    ] {
        check(
            "s.jsonl",
            &format!("{first}{bad}\n"),
            options,
            &format!("s.jsonl:2: w: {expect}"),
        );
    }
}

fn by_stratum() -> Value {
    let folder = Folder::new();
    folder.write("cases.csv", example("earlier-cases.csv"));
    let arguments = "calibrate --scores cases.csv --alpha 0.05 --by task,evidence";
    serde_json::from_str(&folder.run(arguments.split(' ')).prints(0)).unwrap()
}

/// The error of deciding under this calibration file, after the name of the file.
#[track_caller]
fn refused(calibrations: &str, expect: &str) {
    let folder = Folder::new();
    folder.write("cal.json", calibrations);
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    let run = folder.run_on(example("7-stratum-named.json"), arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
    assert_eq!(run.stderr, format!("error: cal.json:{expect}\n"));
}

#[test]
fn damaged_calibrations_by_stratum() {
    let good = by_stratum();
    let check = |pointer: &str, value: Value, expect: &str| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        refused(&bad.to_string(), expect);
    };
    for version in [1, 3] {
        check(
            "/format",
            json!(version),
            &format!("1: format: version `{version}` is not known, 2 is"),
        );
    }
    check(
        "/groups/1/format",
        json!(1),
        "1: groups[1].format: version `1` is not known, 2 is",
    );
    check(
        "/groups/1/rank",
        json!(1),
        "1: groups[1].rank: `1`, but alpha `0.05` and n `54` give 53",
    );
    check(
        "/taxonomy/strata/0",
        json!("a//b"),
        "1: taxonomy.strata[0]: stratum `a//b` has an empty label or a control character",
    );
    check(
        "/taxonomy/strata/0",
        json!("cleanup"),
        "1: taxonomy: stratum `cleanup` contains `cleanup/tool`, and both are declared",
    );
    check(
        "/taxonomy/strata",
        json!([]),
        "1: taxonomy: the taxonomy declares no stratum",
    );
    check(
        "/groups",
        json!([]),
        "1: groups: the calibration of `all cases` is not there",
    );
    let mut swapped = good.clone();
    swapped["groups"].as_array_mut().unwrap().swap(1, 2);
    refused(
        &swapped.to_string(),
        "1: groups: the calibration of `cleanup` is not for that group",
    );
    // Nor does a stratum stop falling back because somebody lowered the minimum.
    let mut edited = good.clone();
    edited["taxonomy"]["minimum"] = json!(7);
    let folder = Folder::new();
    folder.write("cal.json", edited.to_string());
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    let run = folder.run_on(example("7-stratum-named.json"), arguments);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.starts_with("error: cal.json:1: checksum: "),
        "{run:?}"
    );
    // A lowered threshold is an edit, and edits do not pass the checksum.
    let mut edited = good.clone();
    edited["groups"][1]["threshold"] = json!(0.1);
    let folder = Folder::new();
    folder.write("cal.json", edited.to_string());
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    let run = folder.run_on(example("7-stratum-named.json"), arguments);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr
            .starts_with("error: cal.json:1: groups[1].checksum: "),
        "{run:?}"
    );
}

/// Whatever is cut off does not load, and a file that was by stratum is refused as one.
#[test]
fn cut_calibrations_by_stratum() {
    let text = by_stratum().to_string();
    let folder = Folder::new();
    for end in (0..text.len()).step_by(97) {
        folder.write("cal.json", &text[..end]);
        let arguments = ["decide", "-", "--calibration", "cal.json"];
        let run = folder.run_on(example("7-stratum-named.json"), arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        assert!(!run.stderr.contains("unknown field"), "{run:?}");
    }
}
