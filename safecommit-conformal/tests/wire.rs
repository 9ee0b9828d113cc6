//! The written form of a calibration: stable, and refused after any change.
#![expect(
    clippy::unwrap_used,
    reason = "a test may stop where its own input is broken"
)]

use proptest::prelude::*;
use safecommit_conformal::{Calibration, CalibrationScore, Misses, RiskCurves, Score};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn scores(observed: &[f64], missing: usize) -> Vec<CalibrationScore> {
    let observed = observed
        .iter()
        .map(|value| Score::new(*value).unwrap().into());
    observed
        .chain(std::iter::repeat_n(CalibrationScore::Missing, missing))
        .collect()
}

fn written(alpha: &str, scores: &[CalibrationScore]) -> Value {
    serde_json::to_value(Calibration::split_conformal(alpha.parse().unwrap(), scores)).unwrap()
}

/// The checksum as the format defines it, computed apart from the crate.
fn checksum(form: &Value) -> String {
    checksum_with(form, form["guarantee"].as_str().unwrap())
}

/// The same with the guarantee as the line of the checksum has it.
fn checksum_with(form: &Value, guarantee: &str) -> String {
    let threshold = match form["threshold"].as_f64() {
        Some(value) => format!("{:016x}", value.to_bits()),
        None => "unbounded".to_owned(),
    };
    let text = |field: &str| match &form[field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = "safecommit calibration\n".to_owned();
    for field in ["format", "alpha", "n", "missing", "misses_counted", "rank"] {
        lines += &format!("{field}={}\n", text(field));
    }
    lines += &format!("threshold={threshold}\n");
    lines += &format!("guarantee={guarantee}\n");
    lines += &format!("scores_sha256={}\n", text("scores_sha256"));
    Sha256::digest(lines.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn load_error(form: &Value) -> String {
    serde_json::from_value::<Calibration>(form.clone())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_written_form_is_stable() {
    let form = written("0.20", &scores(&[0.5, 0.1, 0.25, 0.75], 1));
    // Both digests computed with Python's hashlib and struct.
    let expect = json!({
        "format": 2,
        "alpha": "0.2",
        "n": 5,
        "missing": 1,
        "misses_counted": true,
        "rank": 5,
        "threshold": null,
        "guarantee": "marginal",
        "scores_sha256": "069ccaf2818eae5953be7bde2f08583c2343796524e0c88568609cff820a88ba",
        "checksum": "cf4585f10f3c786c7e472764c43e3598d64f3168462995099b7129f7cd6ad388",
    });
    assert_eq!(form, expect);
    assert_eq!(form["checksum"], checksum(&form));
}

#[test]
fn every_changed_field_is_refused() {
    for form in [
        written("0.2", &scores(&[0.5, 0.1, 0.25, 0.75], 1)),
        written("0.25", &scores(&[0.5, 0.1, 0.25, 0.75], 0)),
        written("0.25", &scores(&[0.5, 0.1, 0.25, 0.75, 0.3, 0.6], 1)),
        written("0.5", &[]),
    ] {
        let others = [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(1),
            json!(2),
            json!(7),
            json!(-1),
            json!(0.25),
            json!(0.1),
            json!("0.2"),
            json!("0.3"),
            json!(""),
            json!([]),
            json!({}),
            json!("0".repeat(64)),
            json!("F".repeat(64)),
            json!("conditional"),
        ];
        for field in form.as_object().unwrap().keys() {
            for other in &others {
                let mut changed = form.clone();
                changed[field] = other.clone();
                if changed != form {
                    load_error(&changed);
                }
            }
            let mut shorter = form.clone();
            shorter.as_object_mut().unwrap().remove(field);
            assert_eq!(load_error(&shorter), format!("missing field `{field}`"));
        }
        let mut longer = form.clone();
        longer["note"] = json!("harmless");
        assert!(load_error(&longer).starts_with("unknown field `note`"));
    }
}

/// A list of the right values in the order of the fields says nowhere what they are.
#[test]
fn a_list_of_values_is_no_calibration() {
    let scores = scores(&[0.5, 0.1, 0.25, 0.75], 1);
    let calibration = Calibration::split_conformal("0.2".parse().unwrap(), &scores);
    let text = serde_json::to_string(&calibration).unwrap();
    let fields = text.trim_matches(['{', '}']).split(',');
    let values: Vec<&str> = fields
        .map(|field| field.split_once(':').unwrap().1)
        .collect();
    assert_eq!(values.len(), 10);
    let list = format!("[{}]", values.join(","));
    let message = "invalid type: sequence, expected a calibration as an object of named fields";
    let error = serde_json::from_str::<Calibration>(&list).unwrap_err();
    assert!(error.to_string().starts_with(message), "{error}");
    assert_eq!(load_error(&serde_json::from_str(&list).unwrap()), message);
    assert!(load_error(&json!("0.2")).starts_with("invalid type: string"));
}

/// Whoever recomputes the checksum still cannot write a calibration that contradicts itself.
#[test]
fn a_forged_checksum_does_not_hide_a_contradiction() {
    let form = written("0.25", &scores(&[0.5, 0.1, 0.25, 0.75, 0.3, 0.6], 1));
    assert_eq!(
        (&form["rank"], &form["threshold"]),
        (&json!(6), &json!(0.75))
    );
    for (field, value, message) in [
        (
            "format",
            json!(1),
            "calibration field `format`: version `1` is not known, 2 is",
        ),
        (
            "alpha",
            json!("0.5"),
            "calibration field `rank`: `6`, but alpha `0.5` and n `7` give 4",
        ),
        (
            "n",
            json!(9),
            "calibration field `rank`: `6`, but alpha `0.25` and n `9` give 8",
        ),
        (
            "missing",
            json!(8),
            "calibration field `missing`: `8` exceeds the number of cases n, `7`",
        ),
        (
            "missing",
            json!(2),
            "calibration field `threshold`: finite, but rank `6` exceeds the 5",
        ),
        (
            "misses_counted",
            json!(false),
            "calibration field `misses_counted`: `false`, but `1`",
        ),
        (
            "rank",
            json!(5),
            "calibration field `rank`: `5`, but alpha `0.25` and n `7` give 6",
        ),
        (
            "threshold",
            json!(null),
            "calibration field `threshold`: null, but rank `6` is within",
        ),
        (
            "guarantee",
            json!("conditional"),
            "unknown variant `conditional`, expected one of `marginal`, `training_conditional`",
        ),
        (
            "scores_sha256",
            json!("12"),
            "digest `12` is not 64 lower-case hexadecimal digits",
        ),
    ] {
        let mut forged = form.clone();
        forged[field] = value;
        forged["checksum"] = json!(checksum(&forged));
        let error = load_error(&forged);
        assert!(error.starts_with(message), "{field}: {error}");
    }
    let mut forged = written("0.5", &[]);
    forged["scores_sha256"] = form["scores_sha256"].clone();
    forged["checksum"] = json!(checksum(&forged));
    assert!(load_error(&forged).starts_with("calibration field `scores_sha256`"));
}

/// Where losses decide, the rank does not give the threshold away; but a rank above n says that no
/// loss at all is allowed, and then there is no finite threshold.
#[test]
fn a_threshold_without_allowed_losses_is_refused() {
    let curves = RiskCurves::coverage(&scores(&[0.5, 0.1], 0));
    let calibration = Calibration::risk_controlled("0.25".parse().unwrap(), &curves).unwrap();
    let form = serde_json::to_value(&calibration).unwrap();
    assert_eq!(
        (&form["rank"], &form["threshold"]),
        (&json!(3), &json!(null))
    );
    assert_eq!(
        form["checksum"],
        checksum_with(&form, "risk_control loss=monotone of=coverage")
    );
    let mut forged = form;
    forged["threshold"] = json!(0.5);
    forged["checksum"] = json!(checksum_with(
        &forged,
        "risk_control loss=monotone of=coverage"
    ));
    assert!(load_error(&forged).starts_with("calibration field `threshold`: finite, but rank `3`"));
}

/// Files of version 1 lack what version 2 has in some guarantees; that they are of version 1 is said first.
#[test]
fn a_file_of_version_1_is_refused_as_such() {
    for guarantee in [
        r#""marginal""#,
        r#"{"risk_control":{"loss":"envelope"}}"#,
        r#"{"learn_then_test":{"delta":0.05,"test":"binomial"}}"#,
        r#"{"weighted":{"effective_size":6.0}}"#,
    ] {
        let digest = "0".repeat(64);
        let text = format!(
            r#"{{"format":1,"alpha":"0.2","n":5,"missing":1,"misses_counted":true,"rank":5,"threshold":null,"guarantee":{guarantee},"scores_sha256":"{digest}","checksum":"{digest}"}}"#
        );
        let error = serde_json::from_str::<Calibration>(&text).unwrap_err();
        let expect = "calibration field `format`: version `1` is not known, 2 is";
        assert!(error.to_string().starts_with(expect), "{error}");
    }
}

#[test]
fn alpha_as_a_number_says_what_to_write() {
    let mut form = written("0.25", &scores(&[0.5], 0));
    form["alpha"] = json!(0.25);
    assert!(load_error(&form).contains("write alpha as a decimal string"));
}

/// No single changed, removed or doubled byte yields another calibration.
#[test]
fn a_damaged_byte_never_yields_another_calibration() {
    let original =
        Calibration::split_conformal("0.25".parse().unwrap(), &scores(&[0.5, 0.1, 0.75], 0));
    let text = serde_json::to_string(&original).unwrap();
    let mut refused = 0_u32;
    let mut check = |bytes: Vec<u8>| match serde_json::from_slice::<Calibration>(&bytes) {
        Ok(loaded) => assert_eq!(loaded, original, "{}", String::from_utf8_lossy(&bytes)),
        Err(_) => refused += 1,
    };
    for position in 0..text.len() {
        for byte in (b' '..=b'~').chain([0, 0xFF]) {
            let mut changed = text.clone().into_bytes();
            changed[position] = byte;
            check(changed);
        }
        let mut shorter = text.clone().into_bytes();
        shorter.remove(position);
        check(shorter);
        check(text.as_bytes()[..position].to_vec());
    }
    assert!(refused > 25_000, "{refused}");
}

proptest! {
    #[test]
    fn what_was_written_loads(
        digits in 1_u64..1000,
        observed in prop::collection::vec(-1e9..1e9, 0..40),
        missing in 0_usize..4,
        declared: bool,
    ) {
        let alpha = format!("0.{digits:03}").parse().unwrap();
        let misses = if declared { Misses::AllListed } else { Misses::AsListed };
        let calibration =
            Calibration::split_conformal_with(alpha, &scores(&observed, missing), misses);
        let form = serde_json::to_value(&calibration).unwrap();
        prop_assert_eq!(form["checksum"].as_str().unwrap(), checksum(&form));
        let text = serde_json::to_string_pretty(&calibration).unwrap();
        prop_assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
    }

    #[test]
    fn a_changed_number_never_loads(
        observed in prop::collection::vec(0.0..1.0, 20..40),
        field in prop::sample::select(vec!["n", "missing", "rank", "threshold", "format"]),
        change in prop_oneof![-3_i64..0, 1_i64..4],
    ) {
        let mut form = written("0.1", &scores(&observed, 1));
        form[field] = match &form[field] {
            Value::Number(number) if number.is_f64() => {
                let bits = number.as_f64().unwrap().to_bits();
                json!(f64::from_bits(bits.wrapping_add_signed(change)))
            }
            number => json!(number.as_i64().unwrap() + change),
        };
        load_error(&form);
    }
}
