//! The written form of calibrations by stratum: no edit yields other calibrations, and many strata load fast.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use safecommit_conformal::{CalibrationScore, Misses, MondrianCalibration, Stratum, Taxonomy};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{alpha, score};

/// Three strata in two groups, with twenty cases each and one missing among them, shifted by `shift`.
fn mondrian(minimum: u64, shift: f64) -> MondrianCalibration {
    let strata: [Stratum; 3] = ["a/x", "a/y", "b"].map(|path| path.parse().unwrap());
    let mut cases: Vec<(Stratum, CalibrationScore)> = (0..60)
        .map(|i| {
            (
                strata[i % 3].clone(),
                score(shift + (i * 7 % 60) as f64).into(),
            )
        })
        .collect();
    cases[7].1 = CalibrationScore::Missing;
    let taxonomy = Taxonomy::new(strata).unwrap().with_minimum(minimum);
    MondrianCalibration::new(alpha("0.1"), taxonomy, &cases, Misses::AllListed).unwrap()
}

fn error(form: Value) -> String {
    serde_json::from_value::<MondrianCalibration>(form)
        .unwrap_err()
        .to_string()
}

fn form() -> Value {
    serde_json::to_value(mondrian(15, 0.0)).unwrap()
}

/// The checksum as the format defines it, computed apart from the crate.
#[test]
fn the_checksum_is_over_all_fields() {
    let form = form();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut lines = "safecommit calibrations by stratum\nformat=2\n".to_owned();
    lines += &format!("alpha={}\nminimum=15\n", text(&form["alpha"]));
    for stratum in ["3:a/x", "3:a/y", "1:b"] {
        lines += &format!("stratum={stratum}\n");
    }
    for group in form["groups"].as_array().unwrap() {
        lines += &format!("group={}\n", text(&group["checksum"]));
    }
    let expect: String = Sha256::digest(lines)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(form["checksum"], expect);
}

/// A lower minimum would take a stratum off the larger group that it was to fall back to.
#[test]
fn an_edited_minimum_does_not_load() {
    for minimum in [0, 14, 16, u64::MAX] {
        let mut edited = form();
        edited["taxonomy"]["minimum"] = json!(minimum);
        let message = error(edited);
        assert!(
            message.starts_with("mondrian field `checksum`"),
            "{message}"
        );
    }
}

/// It has the alpha, the stratum and the numbers of the one that it replaces, and other scores.
#[test]
fn a_group_of_another_calibration_does_not_load() {
    let other = serde_json::to_value(mondrian(15, 1000.0)).unwrap();
    for group in 0..5 {
        let mut mixed = form();
        assert_ne!(mixed["groups"][group], other["groups"][group]);
        mixed["groups"][group] = other["groups"][group].clone();
        let message = error(mixed);
        assert!(
            message.starts_with("mondrian field `checksum`"),
            "{message}"
        );
    }
}

/// Numbers that do not add up are told before the checksum is.
#[test]
fn parts_have_the_cases_of_the_whole() {
    let whole = mondrian(15, 0.0);
    let strata: Vec<Stratum> = whole.taxonomy().strata().cloned().collect();
    let cases = [(strata[0].clone(), score(1.0).into())];
    let taxonomy = Taxonomy::new(strata).unwrap().with_minimum(15);
    let fewer = MondrianCalibration::new(alpha("0.1"), taxonomy, &cases, Misses::AllListed);
    let fewer = serde_json::to_value(fewer.unwrap()).unwrap();
    for (group, whole) in [(1, "all cases"), (2, "a"), (3, "a"), (4, "all cases")] {
        let mut mixed = form();
        mixed["groups"][group] = fewer["groups"][group].clone();
        let expect = format!("the calibration of `{whole}` has not the cases of its parts");
        let message = error(mixed);
        assert!(message.contains(&expect), "{group}: {message}");
    }
}

/// Every value in the form, by its path.
fn leaves(form: &Value, at: String, found: &mut Vec<String>) {
    match form {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(value, format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, format!("{at}/{index}"), found);
            }
        }
        _ => found.push(at),
    }
}

/// Other values of the same kind.
fn edits(value: &Value, salt: u64) -> Vec<Value> {
    match value {
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) if number.is_u64() => {
            let number = number.as_u64().unwrap();
            let change = 1 + salt % 20;
            vec![json!(number + change), json!(number.saturating_sub(change))]
        }
        Value::Number(number) => {
            let bits = number.as_f64().unwrap().to_bits();
            vec![
                json!(f64::from_bits(bits + 1 + salt % 1000)),
                json!(f64::from_bits(bits - 1 - salt % 1000)),
            ]
        }
        Value::String(text) => {
            let at = salt as usize % (text.len() + 1);
            let digit = char::from_digit(salt as u32 % 10, 10).unwrap();
            let mut swapped: Vec<char> = text.chars().collect();
            if let Some(place) = swapped.get_mut(at) {
                *place = digit;
            }
            let longer = format!("{}{digit}{}", &text[..at], &text[at..]);
            vec![
                json!(swapped.into_iter().collect::<String>()),
                json!(longer),
            ]
        }
        _ => vec![json!(0)],
    }
}

proptest! {
    /// Whichever value is edited, nothing loads.
    #[test]
    fn no_edited_field_loads(place: prop::sample::Index, salt: u64) {
        let good = form();
        let mut places = Vec::new();
        leaves(&good, String::new(), &mut places);
        prop_assert!(places.len() > 45);
        let pointer = place.get(&places);
        let old = good.pointer(pointer).unwrap().clone();
        for new in edits(&old, salt).into_iter().chain([Value::Null]) {
            if new == old {
                continue;
            }
            let mut edited = good.clone();
            *edited.pointer_mut(pointer).unwrap() = new;
            error(edited);
        }
    }
}

/// No single changed or removed byte yields other calibrations.
#[test]
fn a_damaged_byte_never_yields_other_calibrations() {
    let original = mondrian(15, 0.0);
    let text = serde_json::to_string(&original).unwrap();
    let mut refused = 0_u32;
    let mut check = |bytes: Vec<u8>| match serde_json::from_slice::<MondrianCalibration>(&bytes) {
        Ok(loaded) => assert_eq!(loaded, original, "{}", String::from_utf8_lossy(&bytes)),
        Err(_) => refused += 1,
    };
    for position in 0..text.len() {
        for byte in [b'0', b'1', b'9', b'a', b'"', b'/', b' '] {
            let mut changed = text.clone().into_bytes();
            changed[position] = byte;
            check(changed);
        }
        let mut shorter = text.clone().into_bytes();
        shorter.remove(position);
        check(shorter);
    }
    assert!(refused > 10_000, "{refused}");
}

/// Thirty thousand strata: a pass over all of them for each group would be nearly a thousand million steps.
#[test]
fn many_strata_load_in_linear_time() {
    let strata: Vec<Stratum> = (0..30_000)
        .map(|i| format!("wide/{}/{i}", i % 3).parse().unwrap())
        .collect();
    let cases: Vec<_> = strata
        .iter()
        .map(|stratum| (stratum.clone(), score(1.0).into()))
        .collect();
    let taxonomy = Taxonomy::new(strata).unwrap();
    let many = MondrianCalibration::new(alpha("0.1"), taxonomy, &cases, Misses::AsListed).unwrap();
    let text = serde_json::to_string(&many).unwrap();
    let start = Instant::now();
    let loaded: MondrianCalibration = serde_json::from_str(&text).unwrap();
    let took = start.elapsed();
    assert!(loaded == many);
    // Wide enough for a busy machine.
    assert!(took < Duration::from_secs(10), "{took:?}");
}
