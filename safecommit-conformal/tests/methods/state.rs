//! Saved states: what was written loads, another version or a contradiction does not.

use safecommit_conformal::{
    Calibration, CalibrationScore, Digest, EValues, Folds, Guarantee, LoggedSeed, Misses,
    MondrianCalibration, NonExchangeable, PValues, RiskCurve, RiskCurves, Shrinkage,
    ShrunkCalibration, Stratum, Taxonomy, Weight, WeightedScores,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{alpha, delta, score, scores};

/// Writes and reads again, and refuses the versions around its own, an unknown field and each absent field.
fn round_trip<T>(state: &T)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(state).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), state);
    let form: Value = serde_json::from_str(&text).unwrap();
    let error = |form: Value| serde_json::from_value::<T>(form).unwrap_err().to_string();
    let known = form["format"].as_u64().unwrap();
    for version in [known - 1, known + 1] {
        let mut other = form.clone();
        other["format"] = json!(version);
        let message = format!("field `format`: version `{version}` is not known, {known} is");
        assert!(error(other).contains(&message));
    }
    let mut longer = form.clone();
    longer["note"] = json!("harmless");
    assert!(error(longer).contains("unknown field `note`"));
    for field in form.as_object().unwrap().keys() {
        let mut shorter = form.clone();
        shorter.as_object_mut().unwrap().remove(field);
        assert_eq!(error(shorter), format!("missing field `{field}`"));
    }
}

fn some_scores() -> Vec<CalibrationScore> {
    let mut list = scores(&(0..60).map(|i| f64::from(i * 7 % 60)).collect::<Vec<_>>());
    list[7] = CalibrationScore::Missing;
    list
}

fn mondrian() -> MondrianCalibration {
    let strata: [Stratum; 3] = ["a/x", "a/y", "b"].map(|path| path.parse().unwrap());
    let cases: Vec<_> = some_scores()
        .into_iter()
        .enumerate()
        .map(|(i, score)| {
            (
                strata[usize::from(i % 2 == 0) + usize::from(i % 10 == 0)].clone(),
                score,
            )
        })
        .collect();
    let taxonomy = Taxonomy::new(strata).unwrap();
    MondrianCalibration::new(alpha("0.1"), taxonomy, &cases, Misses::AllListed).unwrap()
}

fn shrunk() -> ShrunkCalibration {
    let cases = some_scores().into_iter().enumerate();
    let cases = cases.map(|(i, score)| (i.to_string(), "a".parse().unwrap(), score));
    let folds = Folds::split(&LoggedSeed::new("s"), cases);
    Shrinkage::fit(&folds.fitting).calibrate(alpha("0.2"), &folds.calibration, Misses::AsListed)
}

fn weighted() -> WeightedScores {
    let logs: Vec<f64> = (0..60).map(|i| f64::from(i) / 7.0).collect();
    WeightedScores::from_log_weights(&some_scores(), &logs).unwrap()
}

fn curves() -> RiskCurves {
    let curve =
        |i: u32| RiskCurve::new(i % 3, [(score(0.5), 2), (score(f64::from(i)), i % 2)]).unwrap();
    RiskCurves::new(2, (1..40).map(curve).collect()).unwrap()
}

fn policy() -> Digest {
    Digest::of_bytes(b"at most two probes")
}

/// One calibration of each kind.
fn calibrations() -> Vec<Calibration> {
    let (level, d, list) = (alpha("0.1"), delta(0.05), some_scores());
    let group = "b".parse().unwrap();
    let one = vec![Weight::ONE; list.len()];
    let tenths = RiskCurve::new(9, [(score(0.5), 3), (score(0.7), 0)]).unwrap();
    let tenths = RiskCurves::new(10, vec![tenths; 300]).unwrap();
    vec![
        Calibration::split_conformal(level, &list),
        Calibration::training_conditional(level, d, &list, Misses::AsListed).unwrap(),
        Calibration::simultaneous(alpha("0.4"), d, &list, Misses::AsListed).unwrap(),
        mondrian().calibration(&group).unwrap(),
        mondrian().group_and_pool(&group).unwrap(),
        shrunk().calibration().clone(),
        weighted().calibrate_log(level, 3.0).unwrap(),
        NonExchangeable::new(&list, &one).unwrap().calibrate(level),
        Calibration::risk_controlled(level, &RiskCurves::coverage(&list)).unwrap(),
        Calibration::risk_controlled(level, &tenths.envelope()).unwrap(),
        Calibration::learn_then_test(level, d, &RiskCurves::coverage(&list)).unwrap(),
        Calibration::learn_then_test(level, d, &tenths).unwrap(),
        Calibration::risk_controlled(level, &tenths.envelope().of_policy(policy())).unwrap(),
        Calibration::learn_then_test(level, d, &tenths.of_policy(policy())).unwrap(),
        EValues::new(&list[8..]).unwrap().calibrate(level),
    ]
}

#[test]
fn calibrations_of_every_kind_round_trip() {
    let mut names: Vec<&str> = Vec::new();
    for calibration in calibrations() {
        round_trip(&calibration);
        names.push(calibration.guarantee().name());
        let guarantee = serde_json::to_string(calibration.guarantee()).unwrap();
        let back: Guarantee = serde_json::from_str(&guarantee).unwrap();
        assert_eq!(&back, calibration.guarantee());
        assert!(
            guarantee.contains(calibration.guarantee().name()),
            "{guarantee}"
        );
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 10, "{names:?}");
}

#[test]
fn other_states_round_trip() {
    round_trip(&PValues::new(&some_scores()));
    round_trip(&mondrian());
    round_trip(shrunk().shrinkage());
    round_trip(&weighted());
    round_trip(&NonExchangeable::with_decay(&some_scores(), 0.9).unwrap());
    round_trip(&curves());
    round_trip(&curves().envelope());
    round_trip(&curves().of_policy(policy()));
    round_trip(&RiskCurves::coverage(&some_scores()));
    round_trip(&EValues::new(&some_scores()).unwrap());
    let text = serde_json::to_string(&shrunk()).unwrap();
    assert_eq!(
        serde_json::from_str::<ShrunkCalibration>(&text).unwrap(),
        shrunk()
    );
}

/// Any other guarantee on the same numbers is refused, by its rank or by the checksum.
#[test]
fn a_guarantee_cannot_be_exchanged() {
    let calibrations = calibrations();
    for calibration in &calibrations {
        for other in &calibrations {
            if calibration.guarantee() == other.guarantee() {
                continue;
            }
            let mut form = serde_json::to_value(calibration).unwrap();
            form["guarantee"] = serde_json::to_value(other.guarantee()).unwrap();
            let error = serde_json::from_value::<Calibration>(form)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("calibration field `"), "{error}");
        }
    }
}

/// Nor can a part of one: half of each number, and another group or test.
#[test]
fn no_part_of_a_guarantee_can_be_changed() {
    let mut changed = 0;
    for calibration in calibrations() {
        let form = serde_json::to_value(&calibration).unwrap();
        let parts = form["guarantee"]
            .as_object()
            .and_then(|tagged| tagged.values().next());
        for (part, value) in parts.and_then(Value::as_object).into_iter().flatten() {
            let other = match value {
                Value::Number(number) => json!(number.as_f64().unwrap() / 2.0),
                _ if value == "binomial" => json!("hoeffding_bentkus"),
                _ if value == "hoeffding_bentkus" => json!("binomial"),
                _ if value == "monotone" => json!("envelope"),
                _ if value == "envelope" => json!("monotone"),
                _ if value == "coverage" || value.is_object() => json!("unstated"),
                _ if value == "unstated" => json!({"policy": policy()}),
                _ if part == "achieved" => json!(if value == "" { "b" } else { "" }),
                _ => json!("b/c"),
            };
            let mut form = form.clone();
            form["guarantee"][calibration.guarantee().name()][part] = other;
            let error = serde_json::from_value::<Calibration>(form)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("calibration field `"), "{part}: {error}");
            changed += 1;
        }
    }
    assert!(changed > 20, "{changed}");
}

#[test]
fn contradictions_do_not_load() {
    fn check<T: Serialize + DeserializeOwned + std::fmt::Debug>(
        state: &T,
        pointer: &str,
        value: Value,
        message: &str,
    ) {
        let mut form = serde_json::to_value(state).unwrap();
        *form.pointer_mut(pointer).unwrap() = value;
        let error = serde_json::from_value::<T>(form).unwrap_err().to_string();
        assert!(error.contains(message), "{pointer}: {error}");
    }
    check(
        &PValues::new(&scores(&[1.0, 2.0])),
        "/scores/0",
        json!(3.0),
        "exceeds the next",
    );
    check(
        &PValues::new(&scores(&[1.0, 2.0])),
        "/scores/0",
        json!(null),
        "exceeds the next",
    );
    check(&weighted(), "/weights/3", json!(-1.0), "weight `-1` is not");
    check(
        &weighted(),
        "/weights",
        json!([1.0]),
        "`1` weights do not go with `60` scores",
    );
    let recent = NonExchangeable::with_decay(&some_scores(), 0.9).unwrap();
    check(&recent, "/weights/3", json!(1.5), "exceeds 1");
    check(&curves(), "/scale", json!(1), "exceeds the scale");
    check(
        &curves(),
        "/shape",
        json!("envelope"),
        "increases with the threshold",
    );
    check(&curves(), "/missing", json!(100), "missing cases exceed");
    check(
        &curves(),
        "/of",
        json!("coverage"),
        "the loss of case `0`, counted from 0, is not the coverage loss",
    );
    let coverage = RiskCurves::coverage(&some_scores());
    check(
        &coverage,
        "/curves/3/steps/0/1",
        json!(1),
        "the loss of case `3`, counted from 0, is not the coverage loss",
    );
    check(
        &coverage,
        "/scale",
        json!(2),
        "is not the coverage loss of any score",
    );
    check(
        &curves(),
        "/curves/3/steps/1/0",
        json!(0.5),
        "is not above the one before it",
    );
    check(
        shrunk().shrinkage(),
        "/groups/a/scale",
        json!(0.0),
        "scale `0` is not a positive",
    );
    check(
        &EValues::new(&some_scores()).unwrap(),
        "/scores/0",
        json!(-2.0),
        "below 0",
    );
    check(&mondrian(), "/alpha", json!("0.2"), "has another alpha");
    check(&mondrian(), "/taxonomy/strata/0", json!("a"), "contains");
    let mut form = serde_json::to_value(mondrian()).unwrap();
    form["groups"].as_array_mut().unwrap().swap(1, 2);
    let error = serde_json::from_value::<MondrianCalibration>(form)
        .unwrap_err()
        .to_string();
    assert!(error.contains("is not for that group"), "{error}");
    let mut form = serde_json::to_value(mondrian()).unwrap();
    form["groups"].as_array_mut().unwrap().pop();
    let error = serde_json::from_value::<MondrianCalibration>(form)
        .unwrap_err()
        .to_string();
    assert!(error.contains("is not there"), "{error}");
    let group = json!({"group": {"stratum": "a/b", "achieved": "c"}});
    let error = serde_json::from_value::<Guarantee>(group)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "group field `achieved`: `c` does not contain `a/b`");
    let group = json!({"training_conditional": {"delta": 1.5}});
    assert!(serde_json::from_value::<Guarantee>(group).is_err());
}
