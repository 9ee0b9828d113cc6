//! Risk control and learn-then-test by simulation, and one quantile for both errors.

use safecommit_conformal::learn_then_test::hoeffding_bentkus_p_value;
use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, ControlledLoss, ErrorSplit, Guarantee, Misses, RiskCurve,
    RiskCurves, RiskTest,
};

use crate::{alpha, delta, fixture, score, scores, share, uniforms};

/// A loss that rises and falls in each case: 1 while the threshold is within a window.
fn window(uniform: &mut dyn FnMut() -> f64) -> (f64, f64) {
    let low = uniform();
    (low, low + 0.3 * uniform())
}

fn window_curve((low, high): (f64, f64)) -> RiskCurve {
    RiskCurve::new(0, [(score(low), 1), (score(high), 0)]).unwrap()
}

/// On the envelope the expected loss of the next case is at most alpha, and near it for the
/// envelope; the first threshold that passes on the raw loss is the degenerate end.
#[test]
fn the_expected_loss_is_controlled() {
    let level = alpha("0.1");
    let mut uniform = uniforms(53);
    let (mut raw_losses, mut envelope_losses) = (0_u32, 0_u32);
    const TRIALS: u32 = 20_000;
    for _ in 0..TRIALS {
        let curves = (0..40)
            .map(|_| window_curve(window(&mut uniform)))
            .collect();
        let curves = RiskCurves::binary(curves).unwrap();
        let kappa = Calibration::risk_controlled(level, &curves.envelope()).unwrap();
        let kappa = kappa.threshold().finite().unwrap();
        let tested = window_curve(window(&mut uniform));
        raw_losses += tested.at(kappa);
        let tested = RiskCurves::binary(vec![tested]).unwrap().envelope();
        envelope_losses += tested.curves()[0].at(kappa);
    }
    let share = |losses: u32| f64::from(losses) / f64::from(TRIALS);
    let error = 4.0 * (0.09 / f64::from(TRIALS)).sqrt();
    let envelope = share(envelope_losses);
    // Without ties it is exactly floor(41 alpha) / 41.
    assert!((envelope - 4.0 / 41.0).abs() < error, "{envelope}");
    assert!(share(raw_losses) <= 0.1 + error, "{}", share(raw_losses));
}

/// How often the risk of the selected threshold exceeds alpha, for losses with known risk; and that
/// with the binomial test replaced by the mean loss itself it does so about every second time.
#[test]
fn learn_then_test_exceeds_the_level_as_rarely_as_stated() {
    let (level, d) = (alpha("0.1"), delta(0.1));
    let mut uniform = uniforms(59);
    let mut exceeded = |calibrate: &dyn Fn(&RiskCurves) -> Calibration| {
        share(10_000, || {
            let values: Vec<f64> = (0..150).map(|_| uniform()).collect();
            let kappa = calibrate(&RiskCurves::coverage(&scores(&values)))
                .threshold()
                .clone();
            kappa
                .finite()
                .is_some_and(|kappa| 1.0 - kappa.value() > 0.1)
        })
    };
    let (tested, error) =
        exceeded(&|curves| Calibration::learn_then_test(level, d, curves).unwrap());
    assert!(tested <= 0.1 + error && tested > 0.03, "{tested}");
    let (controlled, error) =
        exceeded(&|curves| Calibration::risk_controlled(level, curves).unwrap());
    assert!(controlled > 0.1 + error, "{controlled}");
}

/// Losses in tenths through the Hoeffding-Bentkus test: valid, if not tight, and the same as the
/// largest sum whose p-value passes.
#[test]
fn losses_between_zero_and_one_are_tested_with_hoeffding_and_bentkus() {
    let (level, d) = (alpha("0.2"), delta(0.1));
    let mut uniform = uniforms(61);
    let (exceeded, error) = share(3_000, || {
        // Loss u (1 - k) rounded to tenths with breakpoints at hundredths: mean about (1 - k) / 2.
        let curves = (0..100).map(|_| {
            let size = 10.0 * uniform();
            let loss = |k: u32| (size * f64::from(20 - k) / 20.0).floor() as u32;
            let steps = (0..20).map(|k| (score(f64::from(k) / 20.0), loss(k)));
            RiskCurve::new(loss(0), steps).unwrap()
        });
        let curves = RiskCurves::new(10, curves.collect()).unwrap();
        let calibration = Calibration::learn_then_test(level, d, &curves).unwrap();
        let test = RiskTest::HoeffdingBentkus;
        assert_eq!(
            calibration.guarantee(),
            &Guarantee::LearnThenTest {
                delta: d,
                test,
                of: ControlledLoss::Unstated
            }
        );
        let kappa = calibration.threshold().finite().unwrap();
        let sum: u64 = curves.curves().iter().map(|c| u64::from(c.at(kappa))).sum();
        assert!(hoeffding_bentkus_p_value(sum, 10, 100, level).unwrap() <= 0.1);
        // The exact risk at kappa = k / 20: E floor(10 u f) / 10 with f = 1 - k / 20.
        let factor = 1.0 - kappa.value();
        let risk: f64 = (1..10)
            .map(|m| (1.0 - f64::from(m) / (10.0 * factor)).max(0.0))
            .sum();
        risk / 10.0 > 0.2
    });
    assert!(exceeded <= 0.1 + error, "{exceeded}");
}

#[test]
fn one_quantile_for_both_errors_of_the_reference() {
    let (missing, cases): (usize, usize) = (
        fixture("/error_split/missing"),
        fixture("/error_split/cases"),
    );
    let total: Alpha = fixture("/error_split/total");
    let mut list = scores(&(0..cases - missing).map(|i| i as f64).collect::<Vec<_>>());
    list.extend(vec![CalibrationScore::Missing; missing]);
    let calibration = Calibration::split_conformal_with(total, &list, Misses::AllListed);
    assert_eq!(calibration.rank(), fixture::<u64>("/error_split/rank"));
    assert!(!calibration.threshold().is_unbounded());
    let split = ErrorSplit::of(&calibration, delta(fixture("/error_split/delta")))
        .unwrap()
        .unwrap();
    assert!((split.beta_upper() - fixture::<f64>("/error_split/beta_upper")).abs() < 1e-12);
    assert!((split.alpha_left() - fixture::<f64>("/error_split/alpha_left")).abs() < 1e-12);
    assert_eq!(
        (split.cases(), split.missing(), split.above()),
        (300, 2, 12)
    );
    let uncounted = Calibration::split_conformal(total, &scores(&[1.0]));
    assert_eq!(ErrorSplit::of(&uncounted, delta(0.05)), Ok(None));
}

/// The folded quantile is finite where splitting the level leaves nothing for calibration.
#[test]
fn folding_is_valid_and_less_wasteful_than_bounding_the_two_errors_apart() {
    let (total, d) = (alpha("0.05"), delta(0.05));
    let mut uniform = uniforms(67);
    let (mut apart_is_wider, mut trials) = (0, 0);
    let (missed, error) = share(6_000, || {
        let mut case = || {
            if uniform() < 0.02 {
                CalibrationScore::Missing
            } else {
                score(uniform()).into()
            }
        };
        let list: Vec<CalibrationScore> = (0..200).map(|_| case()).collect();
        let tested = case();
        let folded = Calibration::split_conformal_with(total, &list, Misses::AllListed);
        let split = ErrorSplit::of(&folded, d).unwrap().unwrap();
        // What is left of the level, rounded down to a decimal, among the observed alone.
        let left = Alpha::from_digits((split.alpha_left() * 1e6) as u64, 6);
        let observed: Vec<CalibrationScore> =
            list.iter().copied().filter(|s| !s.is_missing()).collect();
        let apart = left.map(|left| {
            Calibration::split_conformal(left, &observed)
                .threshold()
                .clone()
        });
        trials += 1;
        apart_is_wider += u32::from(
            apart.is_ok_and(|apart| apart >= folded.threshold().clone())
                || split.alpha_left() < 1e-6,
        );
        let retained = tested
            .observed()
            .is_some_and(|s| folded.threshold().retains(s));
        !folded.threshold().is_unbounded() && !retained
    });
    assert!(missed <= 0.05 + error && missed > 0.03, "{missed}");
    assert_eq!(apart_is_wider, trials);
}
