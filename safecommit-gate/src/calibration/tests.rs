use safecommit_conformal::{CalibrationScore, Misses, Score, Taxonomy};

use super::*;

fn scores(n: u32) -> Vec<CalibrationScore> {
    (1..=n)
        .map(|i| Score::new(f64::from(i) / f64::from(n + 1)).unwrap().into())
        .collect()
}

fn marginal() -> Calibration {
    Calibration::split_conformal("0.1".parse().unwrap(), &scores(19))
}

fn strata(path: &str) -> MondrianCalibration {
    let stratum: Stratum = path.parse().unwrap();
    let taxonomy = Taxonomy::new([stratum.clone()]).unwrap();
    let cases: Vec<_> = scores(19)
        .into_iter()
        .map(|score| (stratum.clone(), score))
        .collect();
    MondrianCalibration::new("0.1".parse().unwrap(), taxonomy, &cases, Misses::AllListed).unwrap()
}

fn grouped() -> GateCalibration {
    let by = [GroupBy::Family, GroupBy::Source];
    GateCalibration::by_stratum("v", by, strata("file/memory")).unwrap()
}

#[test]
fn what_is_written_is_read() {
    for calibration in [GateCalibration::one("v", marginal()).unwrap(), grouped()] {
        let json = serde_json::to_string_pretty(&calibration).unwrap();
        let back: GateCalibration = serde_json::from_str(&json).unwrap();
        assert_eq!(back, calibration);
        assert_eq!(back.digest().unwrap(), calibration.digest().unwrap());
        assert!(matches!(
            (calibration.by().len(), calibration.used()),
            (0, UsedCalibration::One(_)) | (2, UsedCalibration::ByStratum(_))
        ));
    }
    assert_ne!(
        GateCalibration::one("v", marginal()).unwrap().digest(),
        GateCalibration::one("w", marginal()).unwrap().digest()
    );
}

#[test]
fn what_does_not_go_together_is_refused_made_or_read() {
    use GateCalibrationError as Error;
    let one = |version: &str| GateCalibration::one(version, marginal());
    assert_eq!(one(""), Err(Error::NoVersion));
    let by = |by: &[GroupBy]| GateCalibration::by_stratum("v", by, strata("file/memory"));
    assert_eq!(by(&[]), Err(Error::NoParts));
    let twice = by(&[GroupBy::Source, GroupBy::Source]);
    assert_eq!(twice, Err(Error::Twice("source")));
    assert!(matches!(
        by(&[GroupBy::Source]),
        Err(Error::Labels { parts: 1, .. })
    ));

    let json = serde_json::to_string(&grouped()).unwrap();
    let read = |from: &str, to: &str| {
        let changed = json.replacen(from, to, 1);
        assert_ne!(changed, json, "{from}");
        let error = serde_json::from_str::<GateCalibration>(&changed).unwrap_err();
        error.to_string()
    };
    for (from, to, expect) in [
        ("\"format\":1", "\"format\":2", "has format 2, known is 1"),
        ("\"v\"", "\"\"", "names no version of the score"),
        ("\"source\"", "\"family\"", "`by` has `family` twice"),
        (
            "\"source\"",
            "\"tool\"",
            "`by` has `tool`, which is none of",
        ),
        (
            "[\"family\",\"source\"]",
            "[\"family\"]",
            "stratum `file/memory`",
        ),
        ("[\"family\",\"source\"]", "[]", "does not name"),
        ("\"by\"", "\"of\"", "unknown field `of`"),
        ("by_stratum", "by_strata", "unknown variant `by_strata`"),
        // The calibrations check themselves.
        (
            "\"alpha\":\"0.1\"",
            "\"alpha\":\"0.2\"",
            "has another alpha",
        ),
    ] {
        let found = read(from, to);
        assert!(found.contains(expect), "{from}: {found}");
    }
}

#[test]
fn the_stratum_of_a_group_has_its_labels_in_order() {
    let group = |family: Option<&str>, source: Option<&str>| Group {
        family: family.map(str::to_owned),
        severity: Some("high".to_owned()),
        source: source.map(str::to_owned),
    };
    let of = |family, source| grouped().stratum(&group(family, source));
    assert_eq!(
        of(Some("file"), Some("memory")).unwrap().to_string(),
        "file/memory"
    );
    // A slash would make another stratum of the same path.
    for (family, source) in [
        (None, Some("memory")),
        (Some("file"), None),
        (Some("file/memory"), Some("x")),
        (Some(""), Some("memory")),
    ] {
        assert_eq!(of(family, source), None, "{family:?} {source:?}");
    }
    let one = GateCalibration::one("v", marginal()).unwrap();
    assert_eq!(one.stratum(&group(Some("file"), Some("memory"))), None);
}

#[test]
fn a_file_that_does_not_hold_is_named_with_the_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("calibration.json");
    let message = || GateCalibration::read(&path).unwrap_err().to_string();
    assert!(message().contains("calibration.json: cannot be read: "));
    let json = serde_json::to_string_pretty(&grouped()).unwrap();
    std::fs::write(&path, json.replace("\"by\"", "\"of\"")).unwrap();
    assert!(message().contains("calibration.json:4: unknown field `of`"));
    std::fs::write(&path, &json[..20]).unwrap();
    assert!(message().contains("calibration.json:3: EOF while parsing"));
    std::fs::write(&path, json).unwrap();
    assert_eq!(GateCalibration::read(&path).unwrap(), grouped());
}

#[test]
fn a_calibration_of_another_kind_is_told_from_a_damaged_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("calibration.json");
    let (alpha, delta) = ("0.1".parse().unwrap(), "0.05".parse().unwrap());
    let conditional =
        Calibration::training_conditional(alpha, delta, &scores(99), Misses::AsListed).unwrap();
    let of_scores = "as `safecommit calibrate --scores` makes it";
    for (other, kind) in [
        (
            serde_json::to_string(&marginal()).unwrap(),
            format!("a calibration of scores with the guarantee `marginal`, {of_scores}"),
        ),
        (
            serde_json::to_string(&conditional).unwrap(),
            format!(
                "a calibration of scores with the guarantee `training_conditional`, {of_scores}"
            ),
        ),
        (
            serde_json::to_string(&strata("file/memory")).unwrap(),
            "a calibration of scores by stratum, as `safecommit calibrate --scores --by` makes it"
                .to_owned(),
        ),
    ] {
        std::fs::write(&path, other).unwrap();
        assert_eq!(
            GateCalibration::read(&path).unwrap_err().to_string(),
            format!(
                "{}:1: this is {kind}; a gate takes one that names the version of its scores, which \
                 `safecommit calibrate --audit LOG --labels FILE` makes",
                path.display()
            )
        );
    }
    // One of a gate whose guarantee has another spelling, which serde would take.
    let json = serde_json::to_string(&GateCalibration::one("v", marginal()).unwrap()).unwrap();
    let odd = json.replace("\"marginal\"", "{\"marginal\": null}");
    assert!(serde_json::from_str::<GateCalibration>(&odd).is_ok());
    std::fs::write(&path, odd).unwrap();
    let error = GateCalibration::read(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "calibration.json:1: calibrations.one.guarantee: it is not spelled as `safecommit calibrate` spells it"
        ),
        "{error}"
    );
    // A number is the same with another spelling.
    let threshold = "\"threshold\":0.9";
    assert!(json.contains(threshold), "{json}");
    std::fs::write(&path, json.replace(threshold, "\"threshold\":9.0e-1")).unwrap();
    assert!(GateCalibration::read(&path).is_ok());
    // What is no calibration at all is said to have the wrong fields.
    std::fs::write(&path, "{\"decision\": \"d-1\"}").unwrap();
    let error = GateCalibration::read(&path).unwrap_err().to_string();
    assert!(error.contains(":1: unknown field `decision`"), "{error}");
}
