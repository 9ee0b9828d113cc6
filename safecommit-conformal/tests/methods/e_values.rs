use proptest::prelude::*;
use safecommit_conformal::{
    Alpha, CalibrationScore, EValue, EValueError, EValues, Guarantee, PValues, Score,
};

use crate::{alpha, fixture, score, scores, share, uniforms};

#[test]
fn values_of_the_reference() {
    let calibration: Vec<CalibrationScore> = fixture("/e_values/calibration");
    let e_values = EValues::new(&calibration).unwrap();
    let rows: Vec<(Score, f64)> = fixture("/e_values/rows");
    for (tested, expect) in rows {
        let ours = e_values.of(tested).unwrap().value();
        assert!((ours - expect).abs() <= 1e-12, "{tested}: {ours}");
    }
    let largest = e_values.of(score(f64::MAX)).unwrap().value();
    assert!((largest - 10.0).abs() < 1e-12, "{largest}");
}

#[test]
fn scores_below_zero_and_bad_exponents_are_refused() {
    let error = EValues::new(&scores(&[0.1, -0.5])).unwrap_err().to_string();
    assert_eq!(
        error,
        "score `-0.5` is below 0, and e-values need scores of at least 0"
    );
    let e_values = EValues::new(&scores(&[0.1])).unwrap();
    assert!(matches!(
        e_values.of(score(-1.0)),
        Err(EValueError::Negative { .. })
    ));
    let p = PValues::new(&scores(&[0.1])).of(score(0.1).into());
    for bad in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(EValue::from_p_value_power(p, bad).is_err());
    }
}

#[test]
fn the_ends_are_conservative() {
    // A missing score, no scores, all scores 0, a level too small for n.
    let missing = EValues::new(&[CalibrationScore::Missing, score(1.0).into()]).unwrap();
    let infinite = missing.of(score(1e300)).unwrap();
    assert!(infinite.value() <= 0.0 && infinite.retained(alpha("0.9")));
    assert!(missing.calibrate(alpha("0.9")).threshold().is_unbounded());
    let none = EValues::new(&[]).unwrap();
    assert!(none.calibrate(alpha("0.9")).threshold().is_unbounded());
    let zeros = EValues::new(&scores(&[0.0; 9])).unwrap();
    assert!(zeros.of(Score::ZERO).unwrap().retained(alpha("0.9")));
    assert_eq!(
        zeros.calibrate(alpha("0.2")).threshold().finite(),
        Some(Score::ZERO)
    );
    let few = EValues::new(&scores(&[1.0; 9])).unwrap();
    assert!(few.calibrate(alpha("0.1")).threshold().is_unbounded());
    assert_eq!(few.calibrate(alpha("0.2")).guarantee(), &Guarantee::EValue);
    // Sums beyond all doubles.
    let huge = EValues::new(&scores(&[f64::MAX; 9])).unwrap();
    assert!((huge.of(score(f64::MAX)).unwrap().value() - 1.0).abs() < 1e-12);
    assert!(huge.calibrate(alpha("0.2")).threshold().is_unbounded());
}

proptest! {
    /// The threshold retains what the e-value retains, and next to nothing more.
    #[test]
    fn threshold_and_e_value_agree(
        values in prop::collection::vec(0.0..100.0_f64, 1..40),
        tested in 0.0..400.0_f64,
        digits in 1_u64..100,
    ) {
        let level = Alpha::from_digits(digits, 2).unwrap();
        let e_values = EValues::new(&scores(&values)).unwrap();
        let calibration = e_values.calibrate(level);
        let threshold = calibration.threshold();
        let retained = e_values.of(score(tested)).unwrap().retained(level);
        if let Some(kappa) = threshold.finite() {
            if (tested / kappa.value() - 1.0).abs() > 1e-12 {
                prop_assert_eq!(threshold.retains(score(tested)), retained);
            }
            prop_assert!(!e_values.of(score(kappa.value() * (1.0 + 1e-12))).unwrap().retained(level));
        } else {
            prop_assert!(retained);
        }
    }

    /// Left out in turn, e-values average to one: the mean of 1 holds exactly for exchangeable cases.
    #[test]
    fn e_values_average_to_one(values in prop::collection::vec(0.0..100.0_f64, 1..20)) {
        let of = |index: usize| {
            let mut others = values.clone();
            let tested = others.remove(index);
            EValues::new(&scores(&others)).unwrap().of(score(tested)).unwrap()
        };
        let all: Vec<EValue> = (0..values.len()).map(of).collect();
        prop_assert!((EValue::mean(&all).unwrap().value() - 1.0).abs() < 1e-9);
    }
}

/// `E[1{miss} / alpha] <= 1` for an alpha that is chosen after seeing the e-value; the same choice
/// from a p-value breaks it.
#[test]
fn alpha_may_be_chosen_afterwards_for_e_values_only() {
    const TRIALS: u32 = 20_000;
    let levels: Vec<Alpha> = (1..100)
        .map(|i| Alpha::from_digits(i, 2).unwrap())
        .collect();
    let mut uniform = uniforms(71);
    let (mut e_cost, mut p_cost) = (0.0, 0.0);
    for _ in 0..TRIALS {
        let list = scores(&(0..99).map(|_| uniform().powi(-1)).collect::<Vec<_>>());
        let tested = score(uniform().powi(-1));
        let e_value = EValues::new(&list).unwrap().of(tested).unwrap();
        let p_value = PValues::new(&list).of(tested.into());
        // The smallest level at which the tested world is excluded.
        let cost = |excluded: &dyn Fn(Alpha) -> bool| {
            levels
                .iter()
                .find(|l| excluded(**l))
                .map_or(0.0, |l| 1.0 / l.to_f64())
        };
        e_cost += cost(&|level| !e_value.retained(level)) / f64::from(TRIALS);
        p_cost += cost(&|level| !p_value.exceeds(level)) / f64::from(TRIALS);
    }
    assert!(e_cost < 1.1 && e_cost > 0.2, "{e_cost}");
    assert!(p_cost > 3.0, "{p_cost}");
}

/// Miscoverage stays at most alpha, with the mean of two models that depend on each other too.
#[test]
fn means_of_dependent_e_values_stay_valid() {
    let level = alpha("0.2");
    let mut uniform = uniforms(73);
    let (missed, error) = share(20_000, || {
        let first: Vec<f64> = (0..20).map(|_| uniform()).collect();
        let second: Vec<f64> = first.iter().map(|u| u * u + 0.1 * uniform()).collect();
        let of = |list: &[f64]| {
            let e_values = EValues::new(&scores(&list[1..])).unwrap();
            e_values.of(score(list[0])).unwrap()
        };
        let mean = EValue::mean(&[of(&first), of(&second)]).unwrap();
        !mean.retained(level)
    });
    assert!(missed <= 0.2 + error, "{missed}");
    let mut missed = |level: &str| {
        share(20_000, || {
            let list: Vec<f64> = (0..20).map(|_| uniform().powi(-2)).collect();
            let e_values = EValues::new(&scores(&list)).unwrap();
            !e_values
                .of(score(uniform().powi(-2)))
                .unwrap()
                .retained(alpha(level))
        })
    };
    let (heavy, error) = missed("0.2");
    assert!(heavy <= 0.2 + error && heavy > 0.02, "{heavy}");
}
