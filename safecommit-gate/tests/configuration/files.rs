//! Policies, calibration and redaction as they are configured.

use std::fs;

use safecommit_conformal::{Calibration, CalibrationScore, Score};
use safecommit_gate::audit::{LogKey, RedactedField};
use safecommit_gate::{GateCalibration, GateConfiguration, Hidden, SafetyPolicies};

use crate::Place;

#[test]
fn policies_and_calibration_of_ones_own_are_read() {
    let place = Place::new();
    let text = GateConfiguration::text_with_policies("project", "state", "p.cedar", "s");
    let configuration = place.load(&text).unwrap();
    let error = configuration.policies().unwrap_err().to_string();
    assert!(
        error.contains(" policies.files[0]: `")
            && error.contains("p.cedar` cannot be used: No such file"),
        "{error}"
    );
    place.write("s", safecommit_gate::FILE_SCHEMA.text);
    place.write(
        "p.cedar",
        "permit (principal, action, resource)\nwhen { resource.knd };",
    );
    let error = configuration.policies().unwrap_err().to_string();
    assert!(error.contains("p.cedar"), "{error}");
    place.write("p.cedar", safecommit_gate::FILE_POLICIES.text);
    let policies = configuration.policies().unwrap();
    let shipped = SafetyPolicies::for_files().unwrap();
    assert_eq!(policies.policies().len(), shipped.policies().len());

    let scores: Vec<CalibrationScore> = vec![Score::ZERO.into(); 19];
    let calibration = Calibration::split_conformal("0.1".parse().unwrap(), &scores);
    let write = |version: &str| {
        let calibration = GateCalibration::one(version, calibration.clone()).unwrap();
        place.write("c.json", &serde_json::to_string(&calibration).unwrap());
    };
    let configuration = place.with("[calibration]\nfile = 'c.json'\n").unwrap();
    write(&configuration.score_version().unwrap());
    assert!(configuration.calibration().unwrap().is_some());
    write("files-0");
    let error = configuration.calibration().unwrap_err().to_string();
    assert!(
        error.contains("`files-0`, these are of version `files-1 weights"),
        "{error}"
    );
    place.write("c.json", "{\n\"format\": 2}");
    let error = configuration.calibration().unwrap_err().to_string();
    assert!(
        error.contains(" calibration.file: ")
            && error.contains("c.json:2: format: the calibration of a gate has format 2"),
        "{error}"
    );
    fs::remove_file(place.path("c.json")).unwrap();
    assert!(configuration.calibration().is_err());
}

#[test]
fn what_is_hidden_becomes_codes() {
    let place = Place::new();
    let key = || LogKey::from_bytes([1; 32]);
    let fields = |hide: &str| {
        let configuration = place.with(&format!("[audit]\nhide = {hide}\n")).unwrap();
        let redaction = configuration.redaction(key(), ["target-1"]);
        redaction.map(|redaction| format!("{redaction:?}"))
    };
    assert_eq!(fields("[]"), None);
    let expect = [RedactedField::Decision, RedactedField::Error];
    let both = fields("['errors', 'decisions', 'errors']").unwrap();
    assert!(
        both.contains(&format!("{{{:?}, {:?}}}", expect[0], expect[1])),
        "{both}"
    );
    assert!(
        fields("['paths']")
            .unwrap()
            .contains("{Question, Failure, Detail(\"target-1\")}")
    );
    let configuration = place.with("[audit]\nhide = ['paths', 'errors']\n").unwrap();
    let hidden: Vec<_> = configuration.hidden().collect();
    assert_eq!(hidden, [Hidden::Paths, Hidden::Errors]);
}
