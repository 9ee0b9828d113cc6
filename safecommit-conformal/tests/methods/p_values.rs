use proptest::prelude::*;
use safecommit_conformal::{Alpha, Calibration, CalibrationScore, LoggedSeed, PValues, Score};

use crate::{alpha, fixture, score, scores, share, uniforms};

#[test]
fn values_and_decisions_of_the_reference() {
    let calibration: Vec<CalibrationScore> = fixture("/p_values/calibration");
    let rows: Vec<(Score, f64, u64, f64)> = fixture("/p_values/rows");
    let retained: Vec<bool> = fixture("/p_values/retained_at_0.2");
    let p_values = PValues::new(&calibration);
    for ((tested, _, numerator, _), retained) in rows.iter().zip(retained) {
        let p = p_values.of((*tested).into());
        assert_eq!((p.numerator(), p.denominator()), (*numerator, 10));
        assert_eq!(p.exceeds(alpha("0.2")), retained, "{tested}");
    }
    let tested: Vec<Score> = rows.iter().map(|row| row.0).collect();
    let one_by_one: Vec<_> = tested.iter().map(|s| p_values.of((*s).into())).collect();
    assert_eq!(p_values.of_all(&tested), one_by_one);
}

#[test]
fn numbers_that_are_no_scores_are_retained_or_lie_beyond() {
    let p_values = PValues::new(&scores(&[0.5, 0.5, 1.0]));
    let value = |tested| p_values.of_number(tested).value();
    let check = |tested: f64, expect: f64| {
        assert_eq!(value(tested).to_bits(), expect.to_bits(), "{tested}");
    };
    check(f64::NAN, 1.0);
    check(-f64::NAN, 1.0);
    check(f64::NEG_INFINITY, 1.0);
    check(f64::INFINITY, 0.25);
    check(0.5, 1.0);
    // Nothing to compare with: everything is retained.
    assert!(
        PValues::new(&[])
            .of(score(9.0).into())
            .exceeds(alpha("0.999"))
    );
}

/// Retained by its p-value or by the threshold is one and the same, ties and missing ones included.
#[test]
fn p_value_and_threshold_agree_on_twenty_thousand_cases_with_ties() {
    let mut uniform = uniforms(3);
    for _ in 0..20_000 {
        let n = (uniform() * 25.0) as usize;
        let calibration: Vec<CalibrationScore> = (0..n)
            .map(|_| match (uniform() * 7.0) as u32 {
                6 => CalibrationScore::Missing,
                value => score(f64::from(value)).into(),
            })
            .collect();
        let level = Alpha::from_digits(1 + (uniform() * 98.0) as u64, 2).unwrap();
        let tested = score((uniform() * 8.0).floor());
        let threshold = Calibration::split_conformal(level, &calibration)
            .threshold()
            .clone();
        let p = PValues::new(&calibration).of(tested.into());
        assert_eq!(
            threshold.retains(tested),
            p.exceeds(level),
            "{calibration:?} at {level}"
        );
    }
}

proptest! {
    #[test]
    fn the_numerator_counts_scores_at_least_as_large(
        values in prop::collection::vec(-3_i8..4, 0..60),
        tested in prop::collection::vec(-4_i8..5, 0..60),
    ) {
        let calibration: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let p_values = PValues::new(&scores(&calibration));
        let tested: Vec<Score> = tested.iter().map(|t| score(f64::from(*t))).collect();
        for (tested, p) in tested.iter().zip(p_values.of_all(&tested)) {
            let at_least = calibration.iter().filter(|s| **s >= tested.value()).count() as u64;
            prop_assert_eq!(p.numerator(), at_least + 1);
        }
    }
}

/// Smoothed p-values are uniform, also with ties: the first two moments, and the same without the
/// tested case among its equals, `(1 + #above + u #equal) / (n + 1)`, which fails.
#[test]
fn smoothed_values_are_uniform_and_a_wrong_formula_is_not() {
    const TRIALS: u32 = 40_000;
    let seed = LoggedSeed::new("simulation");
    let mut uniform = uniforms(5);
    let (mut sums, mut wrong_sums) = ([0.0; 2], [0.0; 2]);
    for trial in 0..TRIALS {
        let mut draw = || (uniform() * 4.0).floor();
        let calibration: Vec<f64> = (0..9).map(|_| draw()).collect();
        let tested = draw();
        let case = trial.to_string();
        let p = PValues::new(&scores(&calibration)).smoothed(score(tested).into(), &seed, &case);
        let above = calibration.iter().filter(|s| **s > tested).count() as f64;
        let equal = calibration.iter().filter(|s| **s >= tested).count() as f64 - above;
        let wrong = (1.0 + above + seed.uniform(&case) * equal) / 10.0;
        for (sums, p) in [(&mut sums, p), (&mut wrong_sums, wrong)] {
            sums[0] += p / f64::from(TRIALS);
            sums[1] += p * p / f64::from(TRIALS);
        }
    }
    // Standard errors of the mean and mean square of uniform numbers.
    let errors = [(1.0_f64 / 12.0).sqrt(), (4.0_f64 / 45.0).sqrt()].map(|e| e / 200.0);
    let uniform_moments = [0.5, 1.0 / 3.0];
    let off = |sums: [f64; 2]| {
        (0..2)
            .map(|i| ((sums[i] - uniform_moments[i]) / errors[i]).abs())
            .fold(0.0, f64::max)
    };
    assert!(off(sums) < 4.0, "{sums:?}");
    assert!(off(wrong_sums) > 10.0, "{wrong_sums:?}");
}

/// `P(p <= alpha) <= alpha`, and exactly `floor((n + 1) alpha) / (n + 1)` without ties; counting
/// only larger scores, `#above / (n + 1)`, is too small a p-value.
#[test]
fn p_values_are_valid_and_without_the_tested_case_are_not() {
    let level = alpha("0.1");
    let mut uniform = uniforms(8);
    let mut run = |wrong: bool| {
        share(40_000, || {
            let calibration: Vec<f64> = (0..19).map(|_| uniform()).collect();
            let p = PValues::new(&scores(&calibration)).of(score(uniform()).into());
            if wrong {
                p.numerator() - 1 <= 2
            } else {
                !p.exceeds(level)
            }
        })
    };
    let (right, error) = run(false);
    assert!((right - 0.1).abs() <= error, "{right}");
    let (wrong, error) = run(true);
    assert!(wrong - 0.1 > error, "{wrong}");
}
