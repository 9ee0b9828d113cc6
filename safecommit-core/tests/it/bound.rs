//! What bounds the probability of an unsafe commit: alpha + beta + error rates, term by term.

use safecommit_conformal::{
    CalibrationScore, Delta, Misses, NonExchangeable, Representation, Score, Weight, WeightedScores,
};
use safecommit_core::{ErrorBound, Probability, RepresentationTerm};

use crate::calibrated::calibration;

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

/// Twenty cases, `missing` of them without their true world.
fn scores(missing: usize) -> Vec<Option<f64>> {
    (0..20)
        .map(|case| (case >= missing).then_some(case as f64 / 20.0))
        .collect()
}

#[test]
fn without_a_calibration_only_beta_and_probes_count() {
    let unknown = ErrorBound::new(None, None, []);
    assert_eq!(unknown.representation(), RepresentationTerm::Unknown);
    assert_eq!((unknown.calibration(), unknown.total()), (None, None));

    let stated = ErrorBound::new(None, Some(probability(0.25)), []);
    assert_eq!(
        stated.representation(),
        RepresentationTerm::Stated(probability(0.25))
    );
    assert_eq!(stated.total(), Some(0.25));
    assert_eq!(
        ErrorBound::new(None, Some(Probability::ZERO), []).total(),
        Some(0.0)
    );
}

#[test]
fn a_calibration_that_did_not_count_misses_leaves_beta_unknown() {
    let calibration = calibration("0.25", &scores(0), Misses::AsListed);
    assert_eq!(calibration.representation(), Representation::NotMeasured);
    let bound = ErrorBound::new(Some(&calibration), None, []);
    assert_eq!(bound.representation(), RepresentationTerm::Unknown);
    assert_eq!(bound.total(), None);
    let stated = ErrorBound::new(Some(&calibration), Some(probability(0.125)), []);
    let total = stated.total().unwrap();
    assert!((0.375..0.375 + 1e-15).contains(&total), "{total}");
}

#[test]
fn misses_counted_under_a_finite_threshold_are_covered_by_alpha() {
    for missing in [0, 2] {
        let calibration = calibration("0.25", &scores(missing), Misses::AllListed);
        assert!(!calibration.threshold().is_unbounded());
        let bound = ErrorBound::new(Some(&calibration), None, []);
        assert_eq!(bound.representation(), RepresentationTerm::CoveredByAlpha);
        let counted = bound.counted().unwrap();
        assert_eq!((counted.missing, counted.cases), (missing as u64, 20));
        let Representation::Counted(misses) = calibration.representation() else {
            panic!("the misses were counted");
        };
        let upper = misses.upper_bound(Delta::new(0.05).unwrap()).unwrap();
        assert!((counted.upper_95.value() - upper).abs() < 1e-15);
        assert_eq!(bound.total(), Some(0.25));
    }
}

/// Under drift coverage falls short of 1 - alpha by a gap that no score tells, so neither does the sum.
#[test]
fn a_calibration_on_drifting_cases_leaves_the_sum_unknown() {
    let scores: Vec<CalibrationScore> = (0..99)
        .map(|case| Score::new(f64::from(case)).unwrap().into())
        .collect();
    let drifting = NonExchangeable::with_decay(&scores, 0.99)
        .unwrap()
        .calibrate("0.1".parse().unwrap());
    let bound = ErrorBound::new(Some(&drifting), Some(probability(0.01)), []);
    assert_eq!(bound.calibration(), Some("0.1".parse().unwrap()));
    assert_eq!(bound.total(), None);
}

/// One miss in twenty calibration cases bounds nothing in a mix that weighs them otherwise, and only a
/// finite threshold covers it.
#[test]
fn misses_under_weights_are_covered_by_alpha_or_unknown() {
    let scores: Vec<CalibrationScore> = (0..20)
        .map(|case| match case {
            0 => CalibrationScore::Missing,
            case => Score::new(f64::from(case)).unwrap().into(),
        })
        .collect();
    let weighted = WeightedScores::new(&scores, &[Weight::ONE; 20]).unwrap();
    let check = |case: f64, stated: Option<f64>, expect: RepresentationTerm, total: Option<f64>| {
        let case = Weight::try_from(case).unwrap();
        let calibration = weighted.calibrate("0.25".parse().unwrap(), case);
        let bound = ErrorBound::new(Some(&calibration), stated.map(probability), []);
        assert_eq!(bound.representation(), expect);
        assert_eq!(bound.counted(), None);
        assert_eq!(bound.total(), total);
    };
    check(1.0, None, RepresentationTerm::CoveredByAlpha, Some(0.25));
    check(100.0, None, RepresentationTerm::Unknown, None);
    let stated = RepresentationTerm::Stated(probability(0.0));
    check(100.0, Some(0.0), stated, Some(0.25));
}

#[test]
fn misses_counted_under_an_unbounded_threshold_stand_on_their_own() {
    // Two misses of twenty at alpha 0.05: rank 20 falls on a missing score.
    let calibration = calibration("0.05", &scores(2), Misses::AllListed);
    assert!(calibration.threshold().is_unbounded());
    let bound = ErrorBound::new(Some(&calibration), None, []);
    let RepresentationTerm::Estimated(upper) = bound.representation() else {
        panic!("{bound:?}");
    };
    let upper = upper.value();
    // By its definition: with this beta, two misses or fewer of twenty have probability 5%.
    let below: f64 = [1.0, 20.0, 190.0]
        .iter()
        .zip(0..)
        .map(|(ways, k)| ways * upper.powi(k) * (1.0 - upper).powi(20 - k))
        .sum();
    assert!((below - 0.05).abs() < 1e-9, "{below}");
    assert!(bound.total().unwrap() >= 0.05 + upper);
    assert!(bound.total().unwrap() < 0.05 + upper + 1e-15);
}

#[test]
fn what_the_request_states_is_added_to_what_alpha_covers() {
    let calibration = calibration("0.25", &scores(2), Misses::AllListed);
    let bound = ErrorBound::new(Some(&calibration), Some(probability(0.5)), []);
    assert_eq!(
        bound.representation(),
        RepresentationTerm::Stated(probability(0.5))
    );
    assert_eq!(bound.counted().unwrap().missing, 2);
    assert!(bound.total().unwrap() >= 0.75);
}

#[test]
fn a_request_cannot_state_less_than_was_measured() {
    let calibration = calibration("0.05", &scores(18), Misses::AllListed);
    assert!(calibration.threshold().is_unbounded());
    for (stated, adopted) in [(0.0, false), (0.9, false), (0.999, true)] {
        let bound = ErrorBound::new(Some(&calibration), Some(probability(stated)), []);
        let counted = bound.counted().unwrap();
        assert_eq!((counted.missing, counted.cases), (18, 20));
        let expected = if adopted {
            RepresentationTerm::Stated(probability(stated))
        } else {
            RepresentationTerm::Estimated(counted.upper_95)
        };
        assert_eq!(bound.representation(), expected);
        assert!(bound.total().unwrap() > 0.95, "{bound:?}");
    }
}

#[test]
fn probes_that_can_err_are_named_and_added() {
    let probes = [("list", 0.0), ("scan", 0.125), ("ask", 0.0625)];
    let named = probes.map(|(name, rate)| (name.to_owned(), probability(rate)));
    let bound = ErrorBound::new(None, Some(probability(0.5)), named);
    let expected = [
        ("scan".to_owned(), probability(0.125)),
        ("ask".to_owned(), probability(0.0625)),
    ];
    assert_eq!(bound.probes(), expected);
    let total = bound.total().unwrap();
    assert!((0.6875..0.6875 + 1e-14).contains(&total), "{total}");
}

#[test]
fn the_total_is_rounded_up_and_never_above_one() {
    // In exact arithmetic a tenth and a fifth are three tenths; the double nearest to 0.3 is below it.
    let rates = [0.1, 0.2].map(|rate| (format!("{rate}"), probability(rate)));
    let bound = ErrorBound::new(None, Some(Probability::ZERO), rates);
    assert!(bound.total().unwrap() > 0.1 + 0.2);
    let tiny = [0.5, 1e-300].map(|rate| (format!("{rate}"), probability(rate)));
    let bound = ErrorBound::new(None, Some(Probability::ZERO), tiny);
    assert_eq!(
        bound.total(),
        Some(0.5_f64.next_up()),
        "a term was lost to rounding"
    );
    let many = vec![("coin".to_owned(), probability(0.9)); 3];
    assert_eq!(
        ErrorBound::new(None, Some(probability(0.9)), many).total(),
        Some(1.0)
    );
}
