//! Ranks and thresholds against reference values, and against definitions computed another way.
#![expect(clippy::unwrap_used, reason = "a test may stop at a broken fixture")]

use proptest::prelude::*;
use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, CoverageLaw, Delta, Misses, Representation, Score,
    Weight, WeightedScores, WeightedTable, clopper_pearson,
};
use serde::Deserialize;

/// Fixtures from other people's libraries; the file names them.
#[derive(Deserialize)]
struct Fixtures {
    rank: Rows<(u64, Alpha, Option<u64>)>,
    threshold: ThresholdRows,
    floating_point_rank_pitfalls: Rows<(Alpha, u64, u64, u64)>,
    coverage_law: Rows<(u64, Alpha, u64, f64, f64, f64, f64)>,
    clopper_pearson: Rows<(u64, u64, f64, f64, f64)>,
}

#[derive(Deserialize)]
struct Rows<T> {
    rows: Vec<T>,
}

#[derive(Deserialize)]
struct ThresholdRows {
    scores: Vec<CalibrationScore>,
    rows: Vec<(Alpha, u64, Score)>,
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("fixtures/conformal.json")).unwrap()
}

fn close(value: f64, truth: f64) {
    assert!((value - truth).abs() <= 1e-10, "{value}, true {truth}");
}

#[test]
fn ranks_of_the_reference() {
    for (n, alpha, rank) in fixtures().rank.rows {
        assert_eq!(alpha.rank(n), rank.unwrap_or(n + 1), "n {n}, alpha {alpha}");
        let scores: Vec<CalibrationScore> = (1..=n)
            .map(|i| Score::new(i as f64).unwrap().into())
            .collect();
        let threshold = Calibration::split_conformal(alpha, &scores)
            .threshold()
            .clone();
        assert_eq!(
            threshold.finite().map(Score::value),
            rank.map(|rank| rank as f64)
        );
    }
}

#[test]
fn ranks_that_floating_point_gets_wrong() {
    for (alpha, n, exact, wrong) in fixtures().floating_point_rank_pitfalls.rows {
        assert_eq!(alpha.rank(n), exact, "n {n}, alpha {alpha}");
        // The pitfall is real: one of the two usual formulas gives the wrong rank.
        let (cases, level) = ((n + 1) as f64, alpha.to_f64());
        let usual = [
            (cases * (1.0 - level)).ceil() as u64,
            (cases - (cases * level).floor()) as u64,
        ];
        assert!(usual.contains(&wrong), "n {n}, alpha {alpha}: {usual:?}");
    }
}

#[test]
fn thresholds_of_the_reference_with_ties() {
    let ThresholdRows { scores, rows } = fixtures().threshold;
    for (alpha, rank, threshold) in rows {
        let calibration = Calibration::split_conformal(alpha, &scores);
        assert_eq!(calibration.rank(), rank);
        assert_eq!(
            calibration.threshold().finite(),
            Some(threshold),
            "alpha {alpha}"
        );
    }
}

#[test]
fn coverage_law_of_the_reference() {
    for (n, alpha, rank, mean, low, high, shortfall) in fixtures().coverage_law.rows {
        assert_eq!(alpha.rank(n), rank);
        let law = CoverageLaw::new(n, rank).unwrap();
        close(law.mean(), mean);
        close(law.quantile(Delta::new(0.05).unwrap()), low);
        close(law.quantile(Delta::new(0.95).unwrap()), high);
        close(law.shortfall_probability(alpha), shortfall);
        close(law.cdf(1.0 - alpha.to_f64()), shortfall);
    }
}

#[test]
fn clopper_pearson_of_the_reference() {
    for (k, n, delta, lower, upper) in fixtures().clopper_pearson.rows {
        let delta = Delta::new(delta).unwrap();
        close(clopper_pearson::lower_bound(k, n, delta).unwrap(), lower);
        close(clopper_pearson::upper_bound(k, n, delta).unwrap(), upper);
    }
}

#[test]
fn unbounded_when_the_rank_falls_on_a_missing_score() {
    let alpha: Alpha = "0.2".parse().unwrap();
    let observed = |count: u32| (0..count).map(|i| Score::new(f64::from(i)).unwrap().into());
    let with_missing = |count, missing| -> Vec<CalibrationScore> {
        observed(count)
            .chain(std::iter::repeat_n(CalibrationScore::Missing, missing))
            .collect()
    };
    // n = 9, rank 8: the eighth smallest is observed, then missing.
    let bounded = Calibration::split_conformal(alpha, &with_missing(8, 1));
    assert_eq!(bounded.threshold().finite().map(Score::value), Some(7.0));
    let unbounded = Calibration::split_conformal(alpha, &with_missing(7, 2));
    assert!(unbounded.threshold().is_unbounded());
    assert_eq!(
        (unbounded.n(), unbounded.missing(), unbounded.rank()),
        (9, 2, 8)
    );
}

#[test]
fn misses_are_counted_if_some_are_listed_or_all_are_said_to_be() {
    let alpha: Alpha = "0.1".parse().unwrap();
    let observed = CalibrationScore::Observed(Score::ZERO);
    let counted = |scores: &[CalibrationScore], misses| match Calibration::split_conformal_with(
        alpha, scores, misses,
    )
    .representation()
    {
        Representation::Counted(count) => Some((count.missing(), count.cases())),
        Representation::NotMeasured => None,
    };
    assert_eq!(counted(&[observed], Misses::AsListed), None);
    assert_eq!(counted(&[observed], Misses::AllListed), Some((0, 1)));
    assert_eq!(
        counted(&[observed, CalibrationScore::Missing], Misses::AsListed),
        Some((1, 2))
    );
    assert_eq!(counted(&[], Misses::AsListed), None);
    assert_eq!(counted(&[], Misses::AllListed), Some((0, 0)));
}

/// Equal in what is retained, level and guarantee, and yet from other cases: their scores, their number, or
/// what is known of missing ones.
#[test]
fn thresholds_of_other_cases_are_told_apart() {
    let list = |values: &[f64]| -> Vec<CalibrationScore> {
        let scores = values.iter().map(|value| Score::new(*value).unwrap());
        scores.map(Into::into).collect()
    };
    let of = |scores: &[CalibrationScore], misses| {
        let calibration = Calibration::split_conformal_with("0.5".parse().unwrap(), scores, misses);
        calibration.threshold().clone()
    };
    let own = of(&list(&[0.1, 0.5, 0.9]), Misses::AsListed);
    assert!(own.is_same_as(&own.clone()));
    assert!(own.is_same_as(&of(&list(&[0.1, 0.5, 0.9]), Misses::AsListed)));
    let mut missing = list(&[0.1, 0.5]);
    missing.push(CalibrationScore::Missing);
    for other in [
        of(&list(&[0.2, 0.5, 0.9]), Misses::AsListed),
        of(&list(&[0.5]), Misses::AsListed),
        of(&list(&[0.1, 0.5, 0.9]), Misses::AllListed),
        of(&missing, Misses::AsListed),
    ] {
        assert_eq!((&own, own.alpha()), (&other, other.alpha()));
        assert_eq!(own.guarantee(), other.guarantee());
        assert!(!own.is_same_as(&other));
    }
    let weighted = |weight: f64| {
        let weights = [Weight::try_from(weight).unwrap(), Weight::ONE, Weight::ONE];
        WeightedScores::new(&list(&[0.1, 0.5, 0.9]), &weights).unwrap()
    };
    let alpha = "0.5".parse().unwrap();
    let (two, half) = (weighted(2.0), weighted(2.5));
    let own = two.threshold(alpha, Weight::ONE);
    assert!(own.is_same_as(&WeightedTable::new(&two).threshold(alpha, Weight::ONE)));
    assert!(own.is_same_as(two.calibrate(alpha, Weight::ONE).threshold()));
    assert_eq!(own, half.threshold(alpha, Weight::ONE));
    assert!(!own.is_same_as(&half.threshold(alpha, Weight::ONE)));
    // It is for cases of this weight, and that of a heavier one is another.
    let heavier = Weight::try_from(1.25).unwrap();
    assert_eq!(own, two.threshold(alpha, heavier));
    assert!(!own.is_same_as(&two.threshold(alpha, heavier)));
}

fn any_alpha() -> impl Strategy<Value = Alpha> {
    (1_u8..=4).prop_flat_map(|scale| {
        (1..10_u64.pow(u32::from(scale)))
            .prop_map(move |digits| Alpha::from_digits(digits, scale).unwrap())
    })
}

/// Few values, so that ties are common; one in ten missing.
fn any_score() -> impl Strategy<Value = CalibrationScore> {
    prop_oneof![
        6 => (-4_i32..5).prop_map(|i| Score::new(f64::from(i) / 4.0).unwrap().into()),
        3 => (-1e6..1e6).prop_map(|value| Score::new(value).unwrap().into()),
        1 => Just(CalibrationScore::Missing),
    ]
}

fn any_scores() -> impl Strategy<Value = Vec<CalibrationScore>> {
    prop::collection::vec(any_score(), 0..60)
}

/// The threshold by its definition: the smallest score with at least `(1 - alpha)(n + 1)` scores
/// at or below it, counted one by one, in exact fractions.
fn threshold_by_counting(alpha: Alpha, scores: &[CalibrationScore]) -> Option<Score> {
    let one = 10_i128.pow(u32::from(alpha.scale()));
    let needed = (one - i128::from(alpha.digits())) * (scores.len() as i128 + 1);
    let mut observed: Vec<Score> = scores.iter().filter_map(|score| score.observed()).collect();
    observed.sort_by(|a, b| a.value().total_cmp(&b.value()));
    observed.iter().copied().find(|candidate| {
        let at_most = observed
            .iter()
            .filter(|score| score.value() <= candidate.value())
            .count();
        at_most as i128 * one >= needed
    })
}

proptest! {
    #[test]
    fn the_rank_is_the_ceiling(alpha in any_alpha(), n in 0_u64..1_000_000_000_000) {
        let one = 10_u128.pow(u32::from(alpha.scale()));
        let exact = (u128::from(n) + 1) * (one - u128::from(alpha.digits()));
        let rank = u128::from(alpha.rank(n));
        prop_assert!(rank * one >= exact && (rank - 1) * one < exact);
    }

    #[test]
    fn selection_agrees_with_counting(alpha in any_alpha(), scores in any_scores()) {
        let calibration = Calibration::split_conformal(alpha, &scores);
        prop_assert_eq!(calibration.threshold().finite(), threshold_by_counting(alpha, &scores));
    }

    /// A score is retained exactly when its conformal p-value `(#{s_i >= s} + 1) / (n + 1)`
    /// exceeds alpha.
    #[test]
    fn retention_agrees_with_p_values(
        alpha in any_alpha(), scores in any_scores(), score in any_score(),
    ) {
        let threshold = Calibration::split_conformal(alpha, &scores).threshold().clone();
        if let CalibrationScore::Observed(tested) = score {
            let at_least = scores.iter().filter(|other| **other >= score).count() as u128;
            let one = 10_u128.pow(u32::from(alpha.scale()));
            let exceeds = (at_least + 1) * one > u128::from(alpha.digits()) * (scores.len() as u128 + 1);
            prop_assert_eq!(threshold.retains(tested), exceeds);
        }
    }

    #[test]
    fn a_smaller_alpha_never_gives_a_smaller_threshold(
        one in any_alpha(), other in any_alpha(), scores in any_scores(),
    ) {
        let (smaller, larger) = (one.min(other), one.max(other));
        let threshold = |alpha| Calibration::split_conformal(alpha, &scores).threshold().clone();
        prop_assert!(threshold(smaller) >= threshold(larger));
    }

    #[test]
    fn a_missing_score_is_no_smaller_than_any_other(
        alpha in any_alpha(), mut scores in any_scores(), index: prop::sample::Index,
    ) {
        prop_assume!(!scores.is_empty());
        let before = Calibration::split_conformal(alpha, &scores).threshold().clone();
        *index.get_mut(&mut scores) = CalibrationScore::Missing;
        prop_assert!(Calibration::split_conformal(alpha, &scores).threshold().clone() >= before);
    }

    #[test]
    fn order_matters_for_the_digest_alone(
        alpha in any_alpha(),
        (scores, shuffled) in any_scores().prop_flat_map(|s| (Just(s.clone()), Just(s).prop_shuffle())),
    ) {
        let first = Calibration::split_conformal(alpha, &scores);
        let second = Calibration::split_conformal(alpha, &shuffled);
        prop_assert_eq!(first.threshold(), second.threshold());
        prop_assert_eq!(first.representation(), second.representation());
        prop_assert_eq!(first.digest() == second.digest(), scores == shuffled);
    }

    #[test]
    fn a_monotone_transformation_commutes(alpha in any_alpha(), scores in any_scores()) {
        let cube = |score: Score| Score::new(score.value().powi(3)).unwrap();
        let cubes: Vec<CalibrationScore> = scores
            .iter()
            .map(|score| score.observed().map_or(CalibrationScore::Missing, |s| cube(s).into()))
            .collect();
        let threshold = Calibration::split_conformal(alpha, &scores).threshold().finite();
        let cubed = Calibration::split_conformal(alpha, &cubes).threshold().finite();
        prop_assert_eq!(cubed, threshold.map(cube));
    }

    #[test]
    fn alpha_survives_text_and_json(alpha in any_alpha()) {
        prop_assert_eq!(alpha.to_string().parse::<Alpha>(), Ok(alpha));
        let json = serde_json::to_string(&alpha).unwrap();
        prop_assert_eq!(serde_json::from_str::<Alpha>(&json).unwrap(), alpha);
    }

    #[test]
    fn scores_survive_json_bit_by_bit(bits: u64) {
        if let Ok(score) = Score::new(f64::from_bits(bits)) {
            let json = serde_json::to_string(&score).unwrap();
            let back: Score = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(back.value().to_bits(), score.value().to_bits());
        }
    }
}

/// The rank of the threshold of the scores 1 to n, exactly, where libraries that were run on the same scores gave another
/// one: MAPIE 1.5.0, crepes 0.9.1, torchcp 1.2.1, scirs2-stats 0.6.5 and conformal-prediction 2.0.0 lose it to
/// rounding, or take the largest score where no score is enough.
#[test]
fn ranks_are_exact_where_libraries_differ() {
    let unbounded = None;
    let rows: [(u32, &str, Option<u32>, &str); 7] = [
        (9, "0.1", Some(9), "crepes: unbounded"),
        (8, "0.1", unbounded, "scirs2-stats, conformal-prediction: 8"),
        (4, "0.2", Some(4), "crepes: unbounded"),
        (
            19,
            "0.1",
            Some(18),
            "MAPIE 1.5.0, crepes, conformal-prediction: 19",
        ),
        (
            39,
            "0.1",
            Some(36),
            "MAPIE 1.5.0, crepes, conformal-prediction: 37",
        ),
        (
            999,
            "0.059",
            Some(941),
            "torchcp, scirs2-stats, conformal-prediction: 942",
        ),
        (
            9999,
            "0.0003",
            Some(9997),
            "(n + 1) - floor((n + 1) alpha) in doubles: 9998",
        ),
    ];
    for (n, alpha, rank, others) in rows {
        let scores: Vec<CalibrationScore> = (1..=n)
            .map(|score| Score::new(f64::from(score)).unwrap().into())
            .collect();
        let calibration = Calibration::split_conformal(alpha.parse().unwrap(), &scores);
        let threshold = calibration.threshold().finite().map(Score::value);
        assert_eq!(
            threshold,
            rank.map(f64::from),
            "n {n}, alpha {alpha}; {others}"
        );
    }
}
