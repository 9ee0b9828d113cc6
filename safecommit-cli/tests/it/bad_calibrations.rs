//! Calibrations that were damaged or edited: none loads, and the error names the field.

use crate::program::{Folder, example};

/// With `old` replaced by `new`, the calibration of the examples fails with `expect`.
#[track_caller]
fn check(old: &str, new: &str, expect: &str) {
    let calibration = example("calibration.json");
    assert_eq!(
        calibration.matches(old).count(),
        1,
        "`{old}` is to occur once"
    );
    let folder = Folder::new();
    folder.write("cal.json", calibration.replace(old, new));
    let request = example("1-before-any-probe.json");
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    folder
        .run_on(request, arguments)
        .fails(1, &format!("cal.json:{expect}"));
}

fn line(start: &str) -> String {
    let calibration = example("calibration.json");
    let found = calibration
        .lines()
        .find(|line| line.trim_start().starts_with(start));
    found.unwrap().trim().to_owned()
}

#[test]
fn the_calibration_itself_is_good() {
    let folder = Folder::new();
    folder.write("cal.json", example("calibration.json"));
    let arguments = ["decide", "-", "--calibration", "cal.json"];
    folder
        .run_on(example("1-before-any-probe.json"), arguments)
        .prints(3);
}

#[test]
fn an_alpha_outside_the_unit_interval() {
    check(
        "\"0.05\"",
        "\"0\"",
        "3: alpha: alpha `0` is not strictly between 0 and 1",
    );
    check(
        "\"0.05\"",
        "\"1.0\"",
        "3: alpha: alpha `1.0` is not strictly between 0 and 1",
    );
    check(
        "\"0.05\"",
        "\"-0.05\"",
        "3: alpha: alpha `-0.05` is not strictly between 0 and 1",
    );
    check(
        "\"0.05\"",
        "\"5%\"",
        "3: alpha: alpha `5%` is not a plain decimal such as `0.05`",
    );
    check(
        "\"0.05\"",
        "0.05",
        "3: alpha: alpha is the number `0.05`: write alpha as a decimal string, such as \"0.05\"",
    );
}

#[test]
fn fields_that_contradict_each_other() {
    check(
        "\"format\": 2",
        "\"format\": 1",
        "2: format: version `1` is not known, 2 is",
    );
    check(
        "\"missing\": 1",
        "\"missing\": 61",
        "5: missing: `61` exceeds the number of cases n, `60`",
    );
    check(
        "\"misses_counted\": true",
        "\"misses_counted\": false",
        "6: misses_counted: `false`, but `1` cases are missing",
    );
    check(
        "\"rank\": 58",
        "\"rank\": 57",
        "7: rank: `57`, but alpha `0.05` and n `60` give 58",
    );
    check(
        &line("\"threshold\""),
        "\"threshold\": null,",
        "8: threshold: null, but rank `58` is within the 59 observed scores, so it must be a number",
    );
    check(
        "\"missing\": 1",
        "\"missing\": 3",
        "8: threshold: finite, but rank `58` exceeds the 57 observed scores, so it must be null",
    );
}

#[test]
fn a_threshold_that_was_edited() {
    let folder = Folder::new();
    let edited =
        example("calibration.json").replace(&line("\"threshold\""), "\"threshold\": 0.25,");
    folder.write("cal.json", edited);
    let run = folder.run_on(
        example("1-before-any-probe.json"),
        ["decide", "-", "--calibration", "cal.json"],
    );
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(
        run.stderr.starts_with("error: cal.json:11: checksum: "),
        "{run:?}"
    );
}

#[test]
fn a_threshold_that_is_not_finite_or_not_there() {
    check(
        &line("\"threshold\""),
        "\"threshold\": NaN,",
        "8: threshold: expected value (column 16)",
    );
    check(
        &line("\"threshold\""),
        "\"threshold\": 1e999,",
        "8: threshold: number out of range (column 20)",
    );
    check(
        &line("\"threshold\""),
        "",
        "1: threshold: missing field `threshold`",
    );
    check(
        "\"n\": 60",
        "\"n\": -60",
        "4: n: invalid value: integer `-60`, expected u64",
    );
}

#[test]
fn a_digest_that_is_none() {
    check(
        &line("\"scores_sha256\""),
        "\"scores_sha256\": \"abc\",",
        "10: scores_sha256: digest `abc` is not 64 lower-case hexadecimal digits",
    );
    let folder = Folder::new();
    folder.write("none.txt", "");
    let calibrate = [
        "calibrate",
        "--scores",
        "none.txt",
        "--alpha",
        "0.05",
        "--out",
        "cal.json",
    ];
    folder.run(calibrate).prints(0);
    let digest = folder
        .read("cal.json")
        .lines()
        .find(|line| line.contains("scores_sha256"))
        .unwrap()
        .to_owned();
    let zeros = format!("  \"scores_sha256\": \"{}\",", "0".repeat(64));
    folder.write("cal.json", folder.read("cal.json").replace(&digest, &zeros));
    let run = folder.run_on(
        example("1-before-any-probe.json"),
        ["decide", "-", "--calibration", "cal.json"],
    );
    run.fails(
        1,
        &format!(
            "cal.json:10: scores_sha256: `{}` is not the digest of no scores",
            "0".repeat(64)
        ),
    );
}
