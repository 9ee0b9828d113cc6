use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, Guarantee, Misses, MondrianCalibration, PValues,
    Representation, Score, Stratum, Taxonomy, Threshold,
};

use crate::{alpha, fixture, score, scores, share, uniforms};

pub(crate) fn stratum(path: &str) -> Stratum {
    path.parse().unwrap()
}

fn cases(list: &[(&str, f64)]) -> Vec<(Stratum, CalibrationScore)> {
    list.iter()
        .map(|(path, value)| (stratum(path), score(*value).into()))
        .collect()
}

#[test]
fn p_values_and_thresholds_of_the_reference() {
    let calibration: Vec<(Stratum, CalibrationScore)> = fixture("/mondrian/calibration");
    let p_values: Vec<(Stratum, Score, f64)> = fixture("/mondrian/p_values");
    for (group, tested, expect) in p_values {
        let own: Vec<CalibrationScore> = calibration
            .iter()
            .filter(|case| case.0 == group)
            .map(|case| case.1)
            .collect();
        let p = PValues::new(&own).of(tested.into()).value();
        assert!((p - expect).abs() <= 1e-15, "{group} {tested}");
    }
    let thresholds: Vec<(Stratum, Alpha, Option<Score>)> = fixture("/mondrian/thresholds");
    for (group, level, expect) in thresholds {
        let taxonomy = Taxonomy::new([stratum("A"), stratum("B")]).unwrap();
        let mondrian =
            MondrianCalibration::new(level, taxonomy, &calibration, Misses::AsListed).unwrap();
        // Without fallback: unbounded for a group that is too small, never its largest score.
        let pool = Calibration::split_conformal(
            level,
            &calibration.iter().map(|c| c.1).collect::<Vec<_>>(),
        );
        let own = mondrian.group_and_pool(&group).unwrap();
        let kappa = expect.map_or(Threshold::UNBOUNDED, |kappa| {
            own_threshold(kappa, level, &calibration, &group)
        });
        assert_eq!(
            own.threshold_for(&group),
            Ok(&kappa.max(pool.threshold().clone())),
            "{group} {level}"
        );
    }
    let needed: Vec<(Alpha, u64)> = fixture("/mondrian/cases_needed");
    let taxonomy = Taxonomy::new([Stratum::ALL]).unwrap();
    for (level, n) in needed {
        assert_eq!(taxonomy.cases_needed(level), n);
        assert!(level.rank(n) <= n && level.rank(n - 1) > n - 1);
    }
}

/// The threshold of the group's own cases, which must be the one expected.
fn own_threshold(
    expect: Score,
    level: Alpha,
    calibration: &[(Stratum, CalibrationScore)],
    group: &Stratum,
) -> Threshold {
    let own: Vec<CalibrationScore> = calibration
        .iter()
        .filter(|case| case.0 == *group)
        .map(|case| case.1)
        .collect();
    let calibration = Calibration::split_conformal(level, &own);
    assert_eq!(calibration.threshold().finite(), Some(expect));
    calibration.threshold().clone()
}

/// Nine cases suffice at level 0.1: a stratum with fewer uses the nearest group that has them.
#[test]
fn fallback_goes_up_by_counts_and_says_how_far() {
    let strata = ["file/high", "file/low", "mail/high", "mail/low", "secret"];
    let taxonomy = || Taxonomy::new(strata.map(stratum)).unwrap();
    let mut list: Vec<(&str, f64)> = (0..9).map(|i| ("file/high", f64::from(i))).collect();
    list.extend((0..8).map(|i| ("mail/high", f64::from(100 + i))));
    list.extend([("mail/low", 300.0), ("file/low", 900.0)]);
    let mondrian =
        MondrianCalibration::new(alpha("0.1"), taxonomy(), &cases(&list), Misses::AsListed)
            .unwrap();
    let check = |path: &str, achieved: &str, threshold: &str| {
        let calibration = mondrian.calibration(&stratum(path)).unwrap();
        let Guarantee::Group(group) = calibration.guarantee() else {
            panic!("{calibration:?}")
        };
        assert_eq!(group.achieved(), &stratum(achieved), "{path}");
        assert_eq!(group.is_conditional(), path == achieved);
        assert_eq!(calibration.threshold().to_string(), threshold, "{path}");
        assert_eq!(calibration.n(), mondrian.cases(&stratum(achieved)));
    };
    check("file/high", "file/high", "8");
    check("file/low", "file", "900");
    check("mail/high", "mail", "300");
    check("mail/low", "mail", "300");
    check("secret", "", "300"); // no case at all: rank 18 of 19 over all cases

    // A declared minimum sends more strata up; a level that no group can serve ends unbounded.
    let cautious = MondrianCalibration::new(
        alpha("0.1"),
        taxonomy().with_minimum(11),
        &cases(&list),
        Misses::AsListed,
    );
    let cautious = cautious
        .unwrap()
        .calibration(&stratum("file/high"))
        .unwrap();
    assert_eq!(cautious.n(), 19);
    let strict =
        MondrianCalibration::new(alpha("0.01"), taxonomy(), &cases(&list), Misses::AsListed)
            .unwrap();
    assert!(
        strict
            .calibration(&stratum("file/high"))
            .unwrap()
            .threshold()
            .is_unbounded()
    );
}

/// Scores play no part in the fallback: nine cases of which one is missing stay on their own, and
/// their threshold is unbounded.
#[test]
fn missing_scores_do_not_send_a_stratum_up() {
    let taxonomy = Taxonomy::new([stratum("a"), stratum("b")]).unwrap();
    let mut list = cases(&[("a", 1.0); 8]);
    list.push((stratum("a"), CalibrationScore::Missing));
    list.extend(cases(&[("b", 1.0); 50]));
    let mondrian =
        MondrianCalibration::new(alpha("0.1"), taxonomy, &list, Misses::AsListed).unwrap();
    let own = mondrian.calibration(&stratum("a")).unwrap();
    assert!(own.threshold().is_unbounded());
    assert_eq!(own.n(), 9);
}

/// A list with one missing score counts them, so the strata without one have none rather than an
/// unknown number.
#[test]
fn a_missing_score_speaks_for_the_whole_list() {
    let taxonomy = || Taxonomy::new([stratum("a"), stratum("b")]).unwrap();
    let representation = |list: &[(Stratum, CalibrationScore)]| {
        let level = alpha("0.5");
        let mondrian = MondrianCalibration::new(level, taxonomy(), list, Misses::AsListed).unwrap();
        mondrian
            .calibration(&stratum("b"))
            .unwrap()
            .representation()
    };
    let mut list = cases(&[("a", 1.0), ("b", 1.0), ("b", 2.0)]);
    assert_eq!(representation(&list), Representation::NotMeasured);
    list.push((stratum("a"), CalibrationScore::Missing));
    let Representation::Counted(misses) = representation(&list) else {
        panic!("one is missing")
    };
    assert_eq!((misses.missing(), misses.cases()), (0, 2));
}

#[test]
fn a_threshold_serves_no_other_stratum() {
    let taxonomy = Taxonomy::new([stratum("a"), stratum("b")]).unwrap();
    let list = cases(&[("a", 1.0), ("b", 2.0)]);
    let mondrian =
        MondrianCalibration::new(alpha("0.5"), taxonomy, &list, Misses::AsListed).unwrap();
    for calibration in [
        mondrian.calibration(&stratum("a")).unwrap(),
        mondrian.group_and_pool(&stratum("a")).unwrap(),
    ] {
        assert!(calibration.threshold_for(&stratum("a")).is_ok());
        for other in ["b", "", "a/b"] {
            let error = calibration
                .threshold_for(&stratum(other))
                .unwrap_err()
                .to_string();
            assert!(
                error.starts_with("the calibration is for stratum `a` and does not serve"),
                "{error}"
            );
        }
    }
    let pooled = Calibration::split_conformal(alpha("0.5"), &scores(&[1.0]));
    assert!(pooled.threshold_for(&stratum("b")).is_ok());
    let own = mondrian.calibration(&stratum("a")).unwrap();
    assert_eq!(own.stratum(), Some(&stratum("a")));
    assert_eq!(
        Calibration::split_conformal(alpha("0.5"), &[]).stratum(),
        None
    );
    assert_eq!(
        mondrian.calibration(&stratum("c")).unwrap_err().to_string(),
        "stratum `c` is not declared"
    );
}

#[test]
fn a_taxonomy_is_unambiguous() {
    let error = |paths: &[&str]| {
        Taxonomy::new(paths.iter().map(|path| stratum(path)))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(error(&[]), "the taxonomy declares no stratum");
    assert_eq!(error(&["a", "a"]), "stratum `a` is declared twice");
    assert_eq!(
        error(&["a/b", "a"]),
        "stratum `a` contains `a/b`, and both are declared"
    );
    assert_eq!(
        error(&["a", ""]),
        "stratum `all cases` contains `a`, and both are declared"
    );
    let taxonomy = Taxonomy::new([stratum("a")]).unwrap();
    let undeclared = MondrianCalibration::new(
        alpha("0.5"),
        taxonomy,
        &cases(&[("b", 1.0)]),
        Misses::AsListed,
    );
    assert_eq!(
        undeclared.unwrap_err().to_string(),
        "stratum `b` is not declared"
    );
}

/// Two groups of which one is stranger: each is covered by its own threshold, the larger of both
/// covers both, and one threshold for all fails the stranger group.
#[test]
fn groups_are_covered_each_by_its_own_threshold() {
    let level = alpha("0.1");
    let mut uniform = uniforms(29);
    let mut coverage = |which: u32| {
        share(20_000, || {
            let mut list = Vec::new();
            for _ in 0..60 {
                list.push((stratum("common"), score(uniform()).into()));
            }
            for _ in 0..15 {
                list.push((stratum("strange"), score(3.0 * uniform()).into()));
            }
            let taxonomy = Taxonomy::new([stratum("common"), stratum("strange")]).unwrap();
            let mondrian =
                MondrianCalibration::new(level, taxonomy, &list, Misses::AsListed).unwrap();
            let group = stratum("strange");
            let threshold = match which {
                0 => mondrian.calibration(&group).unwrap().threshold().clone(),
                1 => mondrian.group_and_pool(&group).unwrap().threshold().clone(),
                _ => {
                    let all: Vec<CalibrationScore> = list.iter().map(|case| case.1).collect();
                    Calibration::split_conformal(level, &all)
                        .threshold()
                        .clone()
                }
            };
            threshold.retains(score(3.0 * uniform()))
        })
    };
    let (own, error) = coverage(0);
    assert!((own - 15.0 / 16.0).abs() <= error, "{own}");
    let (larger, error) = coverage(1);
    assert!(larger >= 15.0 / 16.0 - error, "{larger}");
    let (pooled, error) = coverage(2);
    assert!(pooled < 0.9 - error, "{pooled}");
}
