use proptest::prelude::*;
use safecommit_conformal::learn_then_test::{binomial_p_value, hoeffding_bentkus_p_value};
use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, ControlledLoss, Digest, Guarantee, LossShape, Misses,
    RiskCurve, RiskCurves, RiskError, RiskTest, Score,
};

use crate::{alpha, delta, fixture, score};

/// Curves whose sums at the breakpoints are the given ones, which decrease: case i has a loss of 1
/// until the sums fall to i.
fn curves_with_sums(n: u64, breakpoints: &[Score], sums: &[u64]) -> RiskCurves {
    let curve = |case: u64| {
        let steps = breakpoints
            .iter()
            .zip(sums)
            .map(|(b, sum)| (*b, u32::from(case < *sum)));
        RiskCurve::new(u32::from(case < sums[0]), steps).unwrap()
    };
    RiskCurves::binary((0..n).map(curve).collect()).unwrap()
}

/// Equality passes, where libraries refuse it; and where nothing passes there is no threshold.
#[test]
fn risk_control_of_the_reference_with_equality_at_the_boundary() {
    let breakpoints: Vec<Score> = fixture("/risk_control/breakpoints");
    let sums: Vec<u64> = fixture("/risk_control/losses");
    let curves = curves_with_sums(fixture("/risk_control/n"), &breakpoints, &sums);
    let rows: Vec<(Alpha, Score)> = fixture("/risk_control/rows");
    for (level, expect) in rows {
        let calibration = Calibration::risk_controlled(level, &curves).unwrap();
        assert_eq!(calibration.threshold().finite(), Some(expect), "{level}");
        let loss = LossShape::Monotone;
        assert_eq!(
            calibration.guarantee(),
            &Guarantee::RiskControl {
                loss,
                of: ControlledLoss::Unstated
            }
        );
    }
    // One part in 10^18 below equality is not enough, and below 1 / 20 nothing finite is.
    let below = |text: &str| {
        Calibration::risk_controlled(alpha(text), &curves)
            .unwrap()
            .threshold()
            .clone()
    };
    assert_eq!(below("0.099999999999999999").finite(), Some(score(0.5)));
    assert!(below("0.049999999999999999").is_unbounded());
}

/// Three worlds, two actions, chosen anew at each threshold: the loss goes up and down again.
#[test]
fn the_envelope_of_a_loss_that_is_not_monotone() {
    let steps = [(0.1, 0), (0.3, 1), (0.6, 0)].map(|(b, loss)| (score(b), loss));
    let curve = RiskCurve::new(0, steps).unwrap();
    assert_eq!(
        curve.steps().iter().map(|s| s.1).collect::<Vec<_>>(),
        [0, 1, 0]
    );
    let curves = RiskCurves::binary(vec![curve; 9]).unwrap();
    let error = Calibration::risk_controlled(alpha("0.5"), &curves).unwrap_err();
    assert_eq!(error, RiskError::NotMonotone { case: 0 });
    let envelope = curves.envelope();
    let losses: Vec<u32> = envelope.curves()[0].steps().iter().map(|s| s.1).collect();
    assert_eq!(losses, [1, 1, 0]);
    let calibration = Calibration::risk_controlled(alpha("0.5"), &envelope).unwrap();
    assert_eq!(calibration.threshold().to_string(), "0.6");
    let loss = LossShape::Envelope;
    assert_eq!(
        calibration.guarantee(),
        &Guarantee::RiskControl {
            loss,
            of: ControlledLoss::Unstated
        }
    );
    // Learn-then-test needs no envelope, and does not jump over the middle either.
    let tested = Calibration::learn_then_test(alpha("0.5"), delta(0.1), &curves).unwrap();
    assert_eq!(tested.threshold().to_string(), "0.6");
}

#[test]
fn p_values_of_the_reference() {
    let rows: Vec<(u64, u64, Alpha, f64, f64)> = fixture("/risk_p_values/rows");
    for (losses, n, level, binomial, bentkus) in rows {
        let ours = binomial_p_value(losses, n, level).unwrap();
        assert!((ours - binomial).abs() <= 1e-10, "{losses} {n}: {ours}");
        let ours = hoeffding_bentkus_p_value(losses, 1, n, level).unwrap();
        assert!((ours - bentkus).abs() <= 1e-10, "{losses} {n}: {ours}");
    }
    assert!(binomial_p_value(3, 2, alpha("0.1")).is_err());
    assert!(hoeffding_bentkus_p_value(21, 10, 2, alpha("0.1")).is_err());
    let certain = hoeffding_bentkus_p_value(0, 1, 0, alpha("0.1")).unwrap();
    assert_eq!(certain.to_bits(), 1.0_f64.to_bits());
}

/// The binomial tail as a sum of its terms.
#[test]
fn the_binomial_p_value_is_the_tail() {
    for (n, level) in [(1_u32, "0.5"), (20, "0.05"), (49, "0.2"), (120, "0.01")] {
        let p = alpha(level).to_f64();
        let mut term = (1.0 - p).powi(n as i32);
        let mut tail = 0.0;
        for x in 0..=n {
            tail += term;
            let ours = binomial_p_value(u64::from(x), u64::from(n), alpha(level)).unwrap();
            assert!(
                (ours / tail - 1.0).abs() < 1e-11,
                "{x} of {n}: {ours} {tail}"
            );
            term *= f64::from(n - x) / f64::from(x + 1) * p / (1.0 - p);
        }
    }
}

/// 1 in the first case only at a mean of 7 / 25, where floating point takes the ceiling to be 8.
#[test]
fn the_ceiling_of_the_mean_is_taken_in_integers() {
    for (n, losses) in [(25, 7), (29, 15), (35, 29), (38, 21), (39, 25)] {
        let level = alpha("0.9");
        let exact = std::f64::consts::E * binomial_p_value(losses, n, level).unwrap();
        let p = hoeffding_bentkus_p_value(losses, 1, n, level).unwrap();
        assert!(p <= exact.min(1.0) * (1.0 + 1e-12), "{losses} of {n}");
        let ceiling = (n as f64 * (losses as f64 / n as f64)).ceil();
        assert!(ceiling > losses as f64, "{ceiling}");
    }
}

/// A sum of 1.5 losses in 100 counts as 2 for Bentkus' bound, which with 1 would be 0.10: then
/// Hoeffding's, at 0.17, is the smaller.
#[test]
fn a_part_of_a_loss_is_rounded_up() {
    let p = |losses, scale| hoeffding_bentkus_p_value(losses, scale, 100, alpha("0.05")).unwrap();
    let (mean, level) = (0.015_f64, 0.05_f64);
    let exponent = mean * (mean / level).ln() + (1.0 - mean) * ((1.0 - mean) / (1.0 - level)).ln();
    assert!(
        (p(15, 10) - (-100.0 * exponent).exp()).abs() < 1e-12,
        "{}",
        p(15, 10)
    );
    assert!(p(10, 10) < p(11, 10) && p(11, 10) <= p(20, 10));
}

#[test]
fn the_fixed_sequence_of_the_reference() {
    let losses: Vec<u64> = fixture("/fixed_sequence/losses");
    let p_values: Vec<f64> = fixture("/fixed_sequence/p_values");
    let passed: Vec<usize> = fixture("/fixed_sequence/passed");
    let level: Alpha = fixture("/fixed_sequence/alpha");
    let n: u64 = fixture("/fixed_sequence/n");
    for (x, expect) in losses.iter().zip(p_values) {
        assert!((binomial_p_value(*x, n, level).unwrap() - expect).abs() < 1e-10);
    }
    // The safest is the largest threshold: breakpoints descend as losses rise.
    let breakpoints: Vec<Score> = (0..losses.len()).map(|i| score(i as f64)).collect();
    let sums: Vec<u64> = losses.iter().rev().copied().collect();
    let curves = curves_with_sums(n, &breakpoints, &sums);
    let d = delta(fixture("/fixed_sequence/delta"));
    let calibration = Calibration::learn_then_test(level, d, &curves).unwrap();
    let place = losses.len() - 1 - passed.last().unwrap();
    assert_eq!(calibration.threshold().finite(), Some(breakpoints[place]));
    let test = RiskTest::Binomial;
    assert_eq!(
        calibration.guarantee(),
        &Guarantee::LearnThenTest {
            delta: d,
            test,
            of: ControlledLoss::Unstated
        }
    );
}

/// The fixed sequence stops at the first failure, also where a lower threshold would pass again.
#[test]
fn learn_then_test_does_not_jump_over_a_failure() {
    let n = 100;
    let steps = |case| {
        [(0.1, case < 1), (0.5, case < 40), (0.9, false)]
            .map(|(b, loss)| (score(b), u32::from(loss)))
    };
    let curves = (0..n)
        .map(|case| RiskCurve::new(0, steps(case)).unwrap())
        .collect();
    let curves = RiskCurves::binary(curves).unwrap();
    let tested = Calibration::learn_then_test(alpha("0.1"), delta(0.05), &curves).unwrap();
    assert_eq!(tested.threshold().to_string(), "0.9");
}

fn any_score() -> impl Strategy<Value = CalibrationScore> {
    (0_u8..9).prop_map(|value| match value {
        8 => CalibrationScore::Missing,
        value => score(f64::from(value)).into(),
    })
}

/// A loss belongs to the policy that was stated; the coverage loss to all, and one of nobody bounds nobody.
#[test]
fn a_loss_belongs_to_a_policy() {
    let level = alpha("0.1");
    let policy = Digest::of_bytes(b"a policy");
    let acting = RiskCurves::binary(vec![RiskCurve::new(0, []).unwrap(); 99]).unwrap();
    let check = |curves: &RiskCurves, of: ControlledLoss, said: &str| {
        assert_eq!(curves.controlled_loss(), of);
        assert_eq!(curves.envelope().controlled_loss(), of);
        let controlled = Calibration::risk_controlled(level, curves).unwrap();
        let tested = Calibration::learn_then_test(level, delta(0.05), curves).unwrap();
        for calibration in [controlled, tested] {
            let guarantee = calibration.guarantee();
            assert_eq!(guarantee.controlled_loss(), Some(of));
            assert_eq!(
                guarantee.alpha_bounds_the_error(),
                of != ControlledLoss::Unstated
            );
            let expect = (of == ControlledLoss::Policy(policy)).then_some(policy);
            assert_eq!(guarantee.policy(), expect);
            assert!(guarantee.to_string().contains(said), "{guarantee}");
        }
    };
    check(&acting, ControlledLoss::Unstated, "not stated");
    check(
        &acting.clone().of_policy(policy),
        ControlledLoss::Policy(policy),
        &format!("the loss of policy {}", &policy.to_string()[..12]),
    );
    let coverage = RiskCurves::coverage(&vec![score(1.0).into(); 99]);
    check(&coverage, ControlledLoss::Coverage, "the coverage loss");
    let marginal = Calibration::split_conformal(level, &[]);
    assert_eq!(marginal.guarantee().controlled_loss(), None);
    assert!(marginal.guarantee().alpha_bounds_the_error());
}

proptest! {
    /// With the coverage loss both methods are order statistics.
    #[test]
    fn coverage_losses_give_split_conformal_and_training_conditional_thresholds(
        list in prop::collection::vec(any_score(), 0..80),
        digits in 1_u64..100,
    ) {
        let level = Alpha::from_digits(digits, 2).unwrap();
        let curves = RiskCurves::coverage(&list);
        let split = Calibration::split_conformal(level, &list);
        match Calibration::risk_controlled(level, &curves) {
            Ok(risk) => {
                prop_assert_eq!(risk.rank(), split.rank());
                prop_assert_eq!(risk.missing(), split.missing());
                // All cases missing: nothing ever changes, and every threshold passes or none.
                if split.missing() < split.n() || split.threshold().is_unbounded() {
                    prop_assert_eq!(risk.threshold(), split.threshold());
                }
            }
            Err(error) => {
                // Where a missing case is a loss at every threshold, there is none that is valid.
                prop_assert_eq!(error, RiskError::Unattainable { losses: split.missing() });
                prop_assert!(split.threshold().is_unbounded());
            }
        }
        let d = delta(0.1);
        let pac = Calibration::training_conditional(level, d, &list, Misses::AsListed).unwrap();
        if let Ok(tested) = Calibration::learn_then_test(level, d, &curves) {
            prop_assert_eq!(tested.rank(), pac.rank());
            prop_assert_eq!(tested.threshold(), pac.threshold());
        } else {
            prop_assert!(pac.threshold().is_unbounded() && pac.missing() > 0);
        }
    }

    /// The definition, by trying every breakpoint: all thresholds from kappa on pass.
    #[test]
    fn risk_control_is_the_smallest_threshold_from_which_all_pass(
        raw in prop::collection::vec((0_u32..4, prop::collection::vec((0_u8..10, 0_u32..4), 0..5)), 1..15),
        digits in 1_u64..100,
    ) {
        let curves: Vec<RiskCurve> = raw.into_iter().map(|(first, mut steps)| {
            steps.sort_unstable();
            steps.dedup_by_key(|step| step.0);
            RiskCurve::new(first, steps.into_iter().map(|(b, l)| (score(f64::from(b)), l))).unwrap()
        }).collect();
        let curves = RiskCurves::new(3, curves).unwrap();
        let envelope = curves.envelope();
        prop_assert!(envelope.is_monotone());
        let level = Alpha::from_digits(digits, 2).unwrap();
        let n = curves.cases() as u128;
        let passes = |losses: u64| {
            (u128::from(losses) + 3) * 100 <= (n + 1) * 3 * u128::from(digits)
        };
        let sum = |at: f64| -> u64 {
            envelope.curves().iter().map(|c| u64::from(c.at(score(at)))).sum()
        };
        let breakpoints: Vec<f64> = (0..10)
            .filter(|b| curves.curves().iter().any(|c| {
                c.steps().iter().any(|s| s.0 == score(f64::from(*b)))
            }))
            .map(f64::from)
            .collect();
        // The envelope is the largest loss of the case from there on.
        for (raw, upper) in curves.curves().iter().zip(envelope.curves()) {
            for b in -1..11 {
                let largest = (b..11).map(|k| raw.at(score(f64::from(k)))).max();
                prop_assert_eq!(Some(upper.at(score(f64::from(b)))), largest);
            }
        }
        let last: u64 = envelope.curves().iter().map(|c| u64::from(c.last())).sum();
        let expect = breakpoints.iter().copied().find(|b| passes(sum(*b)));
        match Calibration::risk_controlled(level, &envelope) {
            Ok(calibration) => {
                prop_assert!(passes(last) || last == 0);
                prop_assert_eq!(calibration.threshold().finite(), expect.map(score));
            }
            Err(error) => {
                prop_assert_eq!(error, RiskError::Unattainable { losses: last });
                prop_assert!(!passes(last) && last > 0);
            }
        }
    }
}

#[test]
fn losses_that_are_none_are_refused() {
    let step = |b: f64, loss| (score(b), loss);
    let error = RiskCurve::new(0, [step(0.2, 1), step(0.2, 0)])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "breakpoint `0.2` is not above the one before it");
    let curve = RiskCurve::new(0, [step(0.2, 2)]).unwrap();
    let error = RiskCurves::binary(vec![curve.clone()])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the loss `2` of case `0`, counted from 0, exceeds the scale `1`"
    );
    assert_eq!(RiskCurves::new(0, vec![]).unwrap_err(), RiskError::Scale);
    let curves = RiskCurves::new(2, vec![curve]).unwrap();
    let error = curves.clone().with_missing(2).unwrap_err().to_string();
    assert_eq!(error, "`2` missing cases exceed the `1` cases");
    let error = Calibration::risk_controlled(alpha("0.9"), &curves.envelope()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no threshold attains the level: losses sum to `2` even where all is retained"
    );
    // No cases: nothing is known, and the conservative end is unbounded.
    let none = RiskCurves::binary(vec![]).unwrap();
    for calibration in [
        Calibration::risk_controlled(alpha("0.1"), &none).unwrap(),
        Calibration::learn_then_test(alpha("0.1"), delta(0.1), &none).unwrap(),
    ] {
        assert!(calibration.threshold().is_unbounded());
        assert_eq!(calibration.rank(), 1);
    }
}

/// A replay tries each score once, in order, and keeps a step only where the loss changes.
#[test]
fn a_replay_is_the_loss_at_every_threshold() {
    let scores: Vec<Score> = [0.5, 0.1, 0.3, 0.3, 0.9]
        .map(|value| Score::new(value).unwrap())
        .into();
    // Bit i is the loss at the i-th smallest score.
    for losses in 0_u32..16 {
        for first in [0, 1] {
            let mut tried = Vec::new();
            let curve = RiskCurve::replay(scores.iter().copied(), first, |threshold| {
                assert_eq!((threshold.guarantee(), threshold.alpha()), (None, None));
                tried.push(threshold.finite().unwrap());
                losses >> (tried.len() - 1) & 1
            });
            let mut sorted = scores.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(tried, sorted);
            for (place, score) in sorted.iter().enumerate() {
                assert_eq!(
                    curve.at(*score),
                    losses >> place & 1,
                    "{losses:b} at {score}"
                );
            }
            assert_eq!(curve.at(Score::ZERO), first);
            assert!(
                curve
                    .steps()
                    .iter()
                    .scan(first, |before, step| {
                        let changed = *before != step.1;
                        *before = step.1;
                        Some(changed)
                    })
                    .all(|changed| changed)
            );
        }
    }
}
