//! `calibrate --audit`: thresholds from the labelled decisions of a log.

use safecommit_gate::GateCalibration;
use safecommit_gate::audit::UsedCalibration;
use serde_json::Value;

use crate::gate::{Gate, entry, request};
use crate::program::Run;

/// Forty decisions with scores 1 to 40 of a hundred, every fourth of another severity, and their labels.
pub(crate) fn forty() -> Gate {
    let gate = Gate::new();
    let mut labels = String::new();
    let entries = (1..=40).map(|at| {
        let name = format!("d-{at:02}");
        let mut entry = entry(&name, request(f64::from(at) / 100.0));
        if at % 4 == 0 {
            entry.group.severity = Some("low".to_owned());
        }
        // The first world is the true one, known by its name or by what is safe in it.
        labels += &match at {
            40 => format!("{{\"decision\": \"{name}\", \"true_world\": \"use=unheard of\"}}\n"),
            at if at % 2 == 0 => {
                format!(
                    "{{\"decision\": \"{name}\", \"safe_actions\": [\"move-2\", \"delete-1\"]}}\n"
                )
            }
            _ => format!("{{\"decision\": \"{name}\", \"true_world\": \"use=temporary\"}}\n"),
        };
        entry
    });
    let entries: Vec<_> = entries.collect();
    gate.append(entries);
    gate.0.write("labels.jsonl", labels);
    gate
}

pub(crate) fn calibrate(gate: &Gate, more: &str) -> Run {
    let arguments =
        format!("calibrate --audit gate/state/audit.db --labels labels.jsonl --alpha 0.1 {more}");
    gate.0.run(arguments.split_whitespace())
}

#[test]
fn the_threshold_is_that_of_the_true_worlds() {
    let gate = forty();
    let run = calibrate(&gate, "");
    insta::assert_snapshot!("history_one", run.stderr);
    let calibration: GateCalibration = serde_json::from_str(&run.prints(0)).unwrap();
    assert_eq!(calibration.score_version(), "files-1");
    let UsedCalibration::One(one) = calibration.used() else {
        panic!("one for all");
    };
    // ceil(41 * 0.9) = 37: the 37th of 0.01, 0.02 and so on; the last one is missing.
    assert_eq!((one.n(), one.missing(), one.rank()), (40, 1, 37));
    assert_eq!(
        one.threshold()
            .finite()
            .map(|score| score.to_string())
            .as_deref(),
        Some("0.37")
    );

    // The same scores from a text.
    let scores: String = (1..40)
        .map(|at| format!("{}\n", f64::from(at) / 100.0))
        .collect();
    gate.0.write("scores.txt", scores + "missing\n");
    let plain = "calibrate --scores scores.txt --alpha 0.1 --misses-counted";
    let plain: Value = serde_json::from_str(&gate.0.run(plain.split(' ')).prints(0)).unwrap();
    let history: Value = serde_json::from_str(&calibrate(&gate, "").prints(0)).unwrap();
    assert_eq!(history["calibrations"]["one"], plain);
    assert_eq!(history["format"], 1);
}

#[test]
fn strata_are_made_of_the_group() {
    let gate = forty();
    let run = calibrate(&gate, "--by family,severity,source --out cal.json");
    insta::assert_snapshot!("history_by_stratum", run.stderr);
    run.prints(0);
    let calibration = GateCalibration::read(&gate.path("cal.json")).unwrap();
    let group = entry("x", request(0.1)).group;
    let stratum = calibration.stratum(&group).unwrap();
    assert_eq!(stratum.to_string(), "file/high/memory");
    let UsedCalibration::ByStratum(calibrations) = calibration.used() else {
        panic!("one for each stratum");
    };
    let strata: Vec<String> = calibrations
        .taxonomy()
        .strata()
        .map(ToString::to_string)
        .collect();
    assert_eq!(strata, ["file/high/memory", "file/low/memory"]);
    assert_eq!(calibrations.cases(&stratum), 30);

    // The gate takes it if it scores with that version.
    gate.configure(
        "# [calibration]\n# file = \"calibration.json\"",
        "[calibration]\nfile = '../cal.json'",
    );
    let error = gate.load().calibration().unwrap_err().to_string();
    assert!(
        error.contains("is for scores of version `files-1`, these are of"),
        "{error}"
    );
    let version = gate.load().score_version().unwrap();
    let text = gate.0.read("cal.json").replace("files-1", &version);
    gate.0.write("cal.json", text);
    assert!(gate.load().calibration().unwrap().is_some());

    calibrate(&gate, "--by severity --delta 0.1").prints_nothing(2);
    let run = calibrate(&gate, "--by severity --stratum high");
    let log = "gate/state/audit.db";
    run.fails(
        1,
        &format!("{log}: decision `d-04` is of stratum `low`, which is not declared"),
    );
    calibrate(
        &gate,
        "--by severity --stratum high --stratum low --stratum medium",
    )
    .prints(0);
    calibrate(&gate, "--delta 0.1").prints(0);
}

#[test]
fn what_cannot_be_calibrated_on_is_named() {
    let gate = forty();
    let log = "gate/state/audit.db";
    let mut other = entry("other", request(0.1));
    other.versions.score = Some("files-2".to_owned());
    let mut none = entry("none", request(0.1));
    none.versions.score = None;
    none.group.source = None;
    gate.append([other, none]);
    let labels = |names: &[&str]| {
        let label = |name: &&str| format!("{{\"decision\": \"{name}\", \"safe_actions\": []}}\n");
        gate.0
            .write("labels.jsonl", names.iter().map(label).collect::<String>());
    };
    labels(&["d-01", "other"]);
    calibrate(&gate, "").fails(
        1,
        "labels.jsonl: decision `other` was scored with version `files-2`, wanted is version `files-1`",
    );
    labels(&["none"]);
    calibrate(&gate, "").fails(
        1,
        &format!("{log}: decision `none` does not say by which version it was scored"),
    );
    labels(&["d-01", "d-99"]);
    calibrate(&gate, "").fails(1, "labels.jsonl: decision `d-99` is not in the log");
    labels(&[]);
    calibrate(&gate, "").fails(1, "labels.jsonl: there is no label");
    labels(&["d-01", "d-01"]);
    calibrate(&gate, "").fails(1, "labels.jsonl: decision `d-01` is labelled twice");

    // Neither the log nor the labels are written over.
    labels(&["d-01"]);
    for file in [log, "labels.jsonl"] {
        let run = calibrate(&gate, &format!("--out {file}"));
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("it is the input"), "{run:?}");
    }
    gate.run("audit verify").prints(0);
    let missing = "calibrate --audit no.db --labels labels.jsonl --alpha 0.1".split(' ');
    gate.0.run(missing).fails(
        1,
        "the audit log `no.db` cannot be opened: it is missing, or access is denied",
    );
    let missing = format!("calibrate --audit {log} --labels no.jsonl --alpha 0.1");
    let run = gate.0.run(missing.split(' '));
    assert!(run.stderr.contains("cannot read `no.jsonl`"), "{run:?}");
}

impl Run {
    /// The run ended with `code` before it printed anything.
    #[track_caller]
    fn prints_nothing(&self, code: i32) {
        assert_eq!(
            (self.code, self.stdout.as_str()),
            (Some(code), ""),
            "{self:?}"
        );
    }
}
