//! The command line itself: what is refused, and the help.

use crate::program::{Folder, Run};

#[track_caller]
fn refused(run: &Run, expect: &str) {
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains(expect), "{run:?}");
}

#[test]
fn usage_errors_exit_with_2() {
    let folder = Folder::new();
    folder.write("s.csv", "score\n0.5\n");
    folder.write("s.txt", "0.5\n");
    for (arguments, expect) in [
        ("", "Usage:"),
        ("decode", "unrecognized subcommand 'decode'"),
        ("decide", "REQUEST.json"),
        ("decide a.json --format yaml", "invalid value 'yaml'"),
        (
            "decide - --jsonl --format human",
            "cannot take --format human",
        ),
        (
            "decide - --calibration -",
            "cannot both come from standard input",
        ),
        ("schema requests", "invalid value 'requests'"),
        ("calibrate --scores s.txt", "--alpha"),
        (
            "calibrate --scores s.txt --alpha 1.5",
            "alpha `1.5` is not strictly between 0 and 1",
        ),
        (
            "calibrate --scores s.txt --alpha 0",
            "alpha `0` is not strictly between 0 and 1",
        ),
        (
            "calibrate --scores s.txt --alpha -0.1",
            "alpha `-0.1` is not strictly between 0 and 1",
        ),
        (
            "calibrate --scores s.txt --alpha NaN",
            "alpha `NaN` is not a plain decimal",
        ),
        (
            "calibrate --scores s.txt --alpha 0.1 --field score",
            "--field names a field of JSONL",
        ),
        (
            "calibrate --scores s.txt --alpha 0.1 --by family",
            "--by names a field of JSONL or a column of CSV, but the scores are text",
        ),
        (
            "calibrate --scores s.txt --alpha 0.1 --weight w --case-weight 1",
            "--weight names a field of JSONL or a column of CSV, but the scores are text",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by ",
            "a value is required for '--by <FIELD,...>'",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a,",
            "a value is required for '--by <FIELD,...>'",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by ,a",
            "a value is required for '--by <FIELD,...>'",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a,b,a",
            "the field `a` is named twice",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by score",
            "the field `score` is named twice",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --delta 1",
            "delta `1` is not from 1e-300 to below 1",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --delta -0.5",
            "delta `-0.5` is not from 1e-300 to below 1",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --simultaneous",
            "--delta <DELTA>",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --simultaneous --delta 0.75",
            "delta `0.75` exceeds one half",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --delta 0.1",
            "cannot be used with",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --weight w --case-weight 1",
            "cannot be used with",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --delta 0.1 --weight w --case-weight 1",
            "cannot be used with",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --misses-counted --weight w --case-weight 1",
            "cannot be used with",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --weight w",
            "--case-weight <W>",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --case-weight 1",
            "--weight <FIELD>",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --weight w --case-weight NaN",
            "weight `NaN` is not a finite number of at least 0",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --weight w --case-weight 1e999",
            "weight `1e999` is not a finite number of at least 0",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --weight w --case-weight -1",
            "weight `-1` is not a finite number of at least 0",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --stratum a",
            "--by <FIELD",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --strata f",
            "--by <FIELD",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --minimum 3",
            "--by <FIELD",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --minimum few",
            "invalid value 'few' for '--minimum <N>'",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --strata f --stratum b",
            "cannot be used with",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --stratum b//c",
            "stratum `b//c` has an empty label or a control character",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --stratum b --stratum b",
            "stratum `b` is declared twice",
        ),
        (
            "calibrate --scores s.csv --alpha 0.1 --by a --stratum b --stratum b/c",
            "stratum `b` contains `b/c`, and both are declared",
        ),
        (
            "calibrate --scores - --input csv --alpha 0.1 --by a --strata -",
            "cannot both come from standard input",
        ),
        ("calibrate --alpha 0.1", "--scores <FILE>"),
        ("calibrate --audit a.db --alpha 0.1", "--labels <FILE>"),
        ("calibrate --labels l --alpha 0.1", "--audit <DB>"),
        (
            "calibrate --audit a.db --labels l --scores s.csv --alpha 0.1",
            "cannot be used with",
        ),
        (
            "calibrate --audit a.db --labels l --alpha 0.1 --field q",
            "cannot be used with",
        ),
        (
            "calibrate --audit a.db --labels l --alpha 0.1 --misses-counted",
            "cannot be used with",
        ),
        (
            "calibrate --audit a.db --labels l --alpha 0.1 --by family,tool",
            "a log tells decisions apart by family, severity and source, not by `tool`",
        ),
        (
            "calibrate --audit a.db --labels l --alpha 0.1 --by family,family",
            "the field `family` is named twice",
        ),
        (
            "calibrate --audit a.db --labels - --alpha 0.1 --by family --strata -",
            "the labels and the strata cannot both come from standard input",
        ),
        (
            "bench run --data d --method best --alpha 0.1 --max-probes 2 --decisions -",
            "unknown method `best`",
        ),
        (
            "bench run --data d --method safecommit --alpha 0.1 --max-probes -1 --decisions -",
            "--max-probes",
        ),
    ] {
        refused(&folder.run(arguments.split_whitespace()), expect);
    }
    #[cfg(unix)]
    for (arguments, expect) in [
        ("init", "--workspace <DIR>"),
        ("restore", "<ENTRY|--empty <ENTRY>...|--list>"),
        ("restore 1 --list", "cannot be used with"),
        ("restore first", "invalid value 'first' for '[ENTRY]'"),
        ("restore -1", "unexpected argument '-1'"),
        ("audit", "Usage:"),
        ("audit check", "unrecognized subcommand 'check'"),
        ("audit show --format yaml", "invalid value 'yaml'"),
        ("audit diagnose", "--labels <FILE>"),
        (
            "audit diagnose --labels l --delta 1",
            "delta `1` is not from 1e-300 to below 1",
        ),
        ("audit export --out a --check b", "cannot be used with"),
    ] {
        refused(&folder.run(arguments.split_whitespace()), expect);
    }
    assert_eq!(folder.names(), ["s.csv", "s.txt"]);
}

#[test]
fn every_help_lists_the_exit_codes() {
    for command in [
        "",
        "decide",
        "schema",
        "calibrate",
        "bench",
        "bench generate",
        "bench run",
        #[cfg(target_os = "linux")]
        "gate",
        #[cfg(unix)]
        "init",
        #[cfg(unix)]
        "restore",
        #[cfg(unix)]
        "audit",
        #[cfg(unix)]
        "audit verify",
        #[cfg(unix)]
        "audit show",
        #[cfg(unix)]
        "audit replay",
        #[cfg(unix)]
        "audit diagnose",
        #[cfg(unix)]
        "audit export",
    ] {
        let arguments = command.split_whitespace().chain(["--help"]);
        let help = Folder::new().run(arguments).prints(0);
        for line in [
            "1  failure: ",
            "2  usage: ",
            "3  a single `decide` or `gate`: a probe is needed, or an answer",
            "4  a single `decide` or `gate`: fallback",
        ] {
            assert!(help.contains(line), "{command}: {help}");
        }
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = Folder::new().run(["--version"]).prints(0);
    assert_eq!(
        version,
        concat!("safecommit ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
