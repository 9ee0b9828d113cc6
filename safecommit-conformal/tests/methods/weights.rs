use proptest::prelude::*;
use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, Guarantee, NonExchangeable, Score, Weight,
    WeightedScores, WeightedTable,
};

use crate::{alpha, fixture, score, scores, uniforms};

pub(crate) fn weight(value: f64) -> Weight {
    Weight::try_from(value).unwrap()
}

pub(crate) fn weights(values: &[f64]) -> Vec<Weight> {
    values.iter().copied().map(weight).collect()
}

fn reference() -> WeightedScores {
    let scores: Vec<CalibrationScore> = fixture("/weighted/scores");
    let weights: Vec<Weight> = fixture("/weighted/weights");
    WeightedScores::new(&scores, &weights).unwrap()
}

#[test]
fn thresholds_and_p_values_of_the_reference() {
    let weighted = reference();
    let table = WeightedTable::new(&weighted);
    let rows: Vec<(Weight, Alpha, Option<Score>)> = fixture("/weighted/rows");
    for (case, level, expect) in rows {
        let calibration = weighted.calibrate(level, case);
        assert_eq!(calibration.threshold().finite(), expect, "{case} {level}");
        assert_eq!(
            table.threshold(level, case).finite(),
            expect,
            "{case} {level}"
        );
    }
    assert_eq!(
        &table.guarantee(Weight::ONE),
        weighted.calibrate(alpha("0.1"), Weight::ONE).guarantee()
    );
    let size: f64 = fixture("/weighted/effective_size");
    assert!((weighted.effective_size().value() - size).abs() < 1e-12);
    let case: Weight = fixture("/weighted/p_values/case_weight");
    let rows: Vec<(Score, f64)> = fixture("/weighted/p_values/rows");
    for (tested, expect) in rows {
        let p = table.p_value(tested, case).value();
        assert!((p - expect).abs() <= 1e-15, "{tested}: {p}");
    }
}

#[test]
fn drifting_weights_of_the_reference() {
    let scores: Vec<CalibrationScore> = fixture("/non_exchangeable/scores");
    let recent = NonExchangeable::with_decay(&scores, fixture("/non_exchangeable/decay")).unwrap();
    let expect: Vec<f64> = fixture("/non_exchangeable/normalised_weights");
    let ours = recent.normalised_weights();
    assert_eq!(ours.len() + 1, expect.len());
    for (ours, expect) in ours.iter().zip(&expect) {
        assert!((ours - expect).abs() <= 1e-12, "{ours} {expect}");
    }
    let rows: Vec<(Alpha, Option<Score>)> = fixture("/non_exchangeable/thresholds");
    for (level, expect) in rows {
        let calibration = recent.calibrate(level);
        assert_eq!(calibration.threshold().finite(), expect, "{level}");
        let Guarantee::NonExchangeable {
            calibration_mass, ..
        } = calibration.guarantee()
        else {
            panic!("{calibration:?}")
        };
        assert!((calibration_mass.value() + 0.153_533_993_278_762_94 - 1.0).abs() < 1e-12);
        assert!(!calibration.guarantee().alpha_bounds_the_error());
    }
    let gap: f64 = fixture("/non_exchangeable/gap_at_0.05");
    assert!((recent.gap(&[0.05; 9]).unwrap() - gap).abs() <= 1e-12);
    assert_eq!(
        recent.gap(&[0.05; 8]).unwrap_err().to_string(),
        "`8` weights do not go with `9` scores"
    );
    let error = recent.gap(&[1.5; 9]).unwrap_err().to_string();
    assert_eq!(error, "total variation `1.5` is not within 0 to 1");
    for bad in [0.0, -0.5, 1.1, f64::NAN] {
        assert!(NonExchangeable::with_decay(&scores, bad).is_err(), "{bad}");
    }
    let error = NonExchangeable::new(&scores, &[weight(1.5); 9])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "weight `1.5` exceeds 1, the weight of the next case");
}

/// The definition in exact fractions, for integer weights.
fn by_definition(scores: &[f64], weights: &[u32], case: u32, level: Alpha) -> Option<f64> {
    let total: u128 = weights.iter().map(|w| u128::from(*w)).sum::<u128>() + u128::from(case);
    let one = 10_u128.pow(u32::from(level.scale()));
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.into_iter().find(|t| {
        let up_to: u128 = scores
            .iter()
            .zip(weights)
            .filter(|(s, _)| *s <= t)
            .map(|(_, w)| u128::from(*w))
            .sum();
        up_to > 0 && up_to * one >= (one - u128::from(level.digits())) * total
    })
}

proptest! {
    #[test]
    fn thresholds_are_those_of_the_definition(
        cases in prop::collection::vec((0_u8..12, 0_u32..6), 0..40),
        case in 0_u32..8,
        digits in 1_u64..100,
    ) {
        let level = Alpha::from_digits(digits, 2).unwrap();
        let values: Vec<f64> = cases.iter().map(|c| f64::from(c.0)).collect();
        let integers: Vec<u32> = cases.iter().map(|c| c.1).collect();
        let floats: Vec<f64> = integers.iter().copied().map(f64::from).collect();
        let weighted = WeightedScores::new(&scores(&values), &weights(&floats)).unwrap();
        let expect = by_definition(&values, &integers, case, level).map(score);
        let case = weight(f64::from(case));
        prop_assert_eq!(weighted.calibrate(level, case).threshold().finite(), expect);
        let table = WeightedTable::new(&weighted);
        prop_assert_eq!(table.threshold(level, case).finite(), expect);
        for tested in 0..13 {
            let tested = score(f64::from(tested));
            let retained = expect.is_none_or(|kappa| tested <= kappa);
            prop_assert_eq!(table.p_value(tested, case).exceeds(level), retained);
        }
    }

    /// Equal weights give the split-conformal threshold, whatever the weight.
    #[test]
    fn equal_weights_are_no_weights(
        values in prop::collection::vec(-50_i32..50, 0..60),
        size in 1e-300..1e300_f64,
        digits in 1_u64..100,
    ) {
        let level = Alpha::from_digits(digits, 2).unwrap();
        let list = scores(&values.iter().copied().map(f64::from).collect::<Vec<_>>());
        let weighted = WeightedScores::new(&list, &vec![weight(size); list.len()]).unwrap();
        let plain = Calibration::split_conformal(level, &list).threshold().clone();
        prop_assert_eq!(weighted.calibrate(level, weight(size)).threshold().clone(), plain);
    }
}

/// From the index of a case and a uniform number.
type Draw = Box<dyn Fn(usize, f64) -> f64>;

/// Enough scores for sampling, in orders and with ties and weights that mislead the sample: the
/// linear-time search and the sorted table must agree.
#[test]
fn the_search_agrees_with_the_sorted_table_on_many_scores() {
    let mut uniform = uniforms(41);
    const N: usize = 60_000;
    let stride = N.div_ceil(4_096);
    let inputs: [(&str, Draw, Draw); 9] = [
        ("uniform", Box::new(|_, u| u), Box::new(|_, _| 1.0)),
        ("sorted", Box::new(|i, _| i as f64), Box::new(|_, u| u)),
        ("all equal", Box::new(|_, _| 1.0), Box::new(|_, u| u)),
        (
            "few values",
            Box::new(|_, u| (u * 5.0).floor()),
            Box::new(|_, u| u * u),
        ),
        (
            "heavy tail",
            Box::new(|_, u| u),
            Box::new(|_, u| 1.0 / (u * u + 1e-12)),
        ),
        (
            "the sample sees one large score",
            Box::new(move |i, u| if i.is_multiple_of(stride) { 10.0 } else { u }),
            Box::new(|_, _| 1.0),
        ),
        (
            "the sample sees one small score",
            Box::new(move |i, u| if i.is_multiple_of(stride) { -10.0 } else { u }),
            Box::new(|_, _| 1.0),
        ),
        (
            "the sample sees only small scores",
            Box::new(move |i, u| {
                if i.is_multiple_of(stride) {
                    u
                } else {
                    10.0 + u
                }
            }),
            Box::new(|_, _| 1.0),
        ),
        (
            "the sample sees only large scores",
            Box::new(move |i, u| {
                if i.is_multiple_of(stride) {
                    10.0 + u
                } else {
                    u
                }
            }),
            Box::new(move |i, _| if i.is_multiple_of(stride) { 0.0 } else { 1.0 }),
        ),
    ];
    for (name, value, load) in inputs {
        let values: Vec<f64> = (0..N).map(|i| value(i, uniform())).collect();
        let loads: Vec<f64> = (0..N).map(|i| load(i, uniform())).collect();
        let mut list = scores(&values);
        list[N / 2] = CalibrationScore::Missing;
        let weighted = WeightedScores::new(&list, &weights(&loads)).unwrap();
        let table = WeightedTable::new(&weighted);
        for level in ["0.001", "0.05", "0.3", "0.9", "0.999"] {
            for case in [0.0, 1.0, 1e4, 1e12] {
                let (level, case) = (alpha(level), weight(case));
                let calibration = weighted.calibrate(level, case);
                assert_eq!(
                    *calibration.threshold(),
                    table.threshold(level, case),
                    "{name} {level} {case}"
                );
                let kappa = calibration.threshold();
                let retained = list
                    .iter()
                    .filter(|s| s.observed().is_some_and(|s| kappa.retains(s)));
                let rank = if kappa.is_unbounded() {
                    N + 1
                } else {
                    retained.count()
                };
                assert_eq!(calibration.rank(), rank as u64);
            }
        }
    }
}

/// Cases may come in any order as long as each keeps its weight; weights that are sorted apart from
/// their scores give other thresholds.
#[test]
fn weights_go_with_their_scores() {
    let values: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 200)).collect();
    let loads: Vec<f64> = values.iter().map(|v| 1.0 + v * v).collect();
    let threshold = |values: &[f64], loads: &[f64]| {
        let weighted = WeightedScores::new(&scores(values), &weights(loads)).unwrap();
        weighted
            .calibrate(alpha("0.2"), weight(5.0))
            .threshold()
            .clone()
    };
    let straight = threshold(&values, &loads);
    let mut order: Vec<usize> = (0..200).collect();
    for seed in 0..20 {
        let mut uniform = uniforms(seed);
        order.sort_by_cached_key(|_| (uniform() * 1e9) as u64);
        let permuted = |list: &[f64]| order.iter().map(|i| list[*i]).collect::<Vec<_>>();
        assert_eq!(threshold(&permuted(&values), &permuted(&loads)), straight);
        assert_ne!(threshold(&permuted(&values), &loads), straight);
    }
    let mut sorted = loads.clone();
    sorted.sort_by(f64::total_cmp);
    assert_ne!(threshold(&values, &sorted), straight);
}

#[test]
fn extreme_weights_are_answered_on_the_safe_side() {
    let list = scores(&[1.0, 2.0, 3.0]);
    let kappa = |loads: &[f64], case: f64, level: &str| {
        let weighted = WeightedScores::new(&list, &weights(loads)).unwrap();
        weighted
            .calibrate(alpha(level), weight(case))
            .threshold()
            .to_string()
    };
    assert_eq!(kappa(&[0.0; 3], 0.0, "0.5"), "unbounded");
    assert_eq!(kappa(&[0.0; 3], 1.0, "0.5"), "unbounded");
    assert_eq!(kappa(&[f64::MAX; 3], 0.0, "0.5"), "2");
    assert_eq!(kappa(&[f64::MAX; 3], f64::MAX, "0.5"), "2");
    assert_eq!(kappa(&[5e-324; 3], f64::MAX, "0.999"), "unbounded");
    assert_eq!(kappa(&[5e-324; 3], 5e-324, "0.25"), "3");
    assert_eq!(kappa(&[1.0, 0.0, 0.0], 0.0, "0.05"), "1");
    // The next case alone is a quarter: equality at 0.25 is enough, anything more is not.
    assert_eq!(kappa(&[1.0; 3], 1.0, "0.25"), "3");
    assert_eq!(kappa(&[1.0; 3], 1.0_f64.next_up(), "0.25"), "unbounded");
    // A weight too small to count is rounded against the threshold, never for it.
    assert_eq!(kappa(&[1.0, 1.0, 1e-30], 0.0, "0.5"), "2");
    assert_eq!(kappa(&[1.0, 1e-30, 1.0], 0.0, "0.5"), "2");
    assert_eq!(kappa(&[1e-30, 1.0, 1.0], 1e-30, "0.5"), "3"); // 2 by exact numbers
    let empty = WeightedScores::new(&[], &[])
        .unwrap()
        .calibrate(alpha("0.5"), Weight::ONE);
    assert!(empty.threshold().is_unbounded());
    let missing = [CalibrationScore::Missing, score(1.0).into()];
    let missing = WeightedScores::new(&missing, &weights(&[3.0, 1.0])).unwrap();
    let missing = missing.calibrate(alpha("0.5"), Weight::ZERO);
    assert!(missing.threshold().is_unbounded());
    assert_eq!(missing.missing(), 1);
    let error = WeightedScores::new(&list, &weights(&[1.0]))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "`1` weights do not go with `3` scores");
}

#[test]
fn logarithms_of_weights_do_not_overflow() {
    let list = scores(&[1.0, 2.0, 3.0]);
    for shift in [-1e4, 0.0, 1e4] {
        let logs = [shift, shift + 2.0_f64.ln(), f64::NEG_INFINITY];
        let weighted = WeightedScores::from_log_weights(&list, &logs).unwrap();
        let kappa = |level: &str, case: f64| {
            weighted
                .calibrate_log(alpha(level), case)
                .unwrap()
                .threshold()
                .to_string()
        };
        assert_eq!(kappa("0.3", shift), "2"); // 3 of 4
        assert_eq!(kappa("0.2", shift), "unbounded");
        assert_eq!(kappa("0.7", shift - 3.0), "1");
        assert_eq!(kappa("0.999", shift + 1e4), "unbounded");
        assert_eq!(kappa("0.01", f64::NEG_INFINITY), "2");
        assert!(weighted.calibrate_log(alpha("0.5"), f64::NAN).is_err());
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let error = WeightedScores::from_log_weights(&list, &[0.0, bad, 0.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("log-weight `{bad}` is not a number below infinity")
        );
    }
    let nothing = WeightedScores::from_log_weights(&list, &[f64::NEG_INFINITY; 3]).unwrap();
    let nothing = nothing.calibrate_log(alpha("0.5"), 0.0).unwrap();
    assert!(nothing.threshold().is_unbounded());
}
