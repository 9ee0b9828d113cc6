use safecommit_conformal::{CalibrationScore, Score};

use super::routes::{Case, rounded_down};
use super::*;
use crate::beyond::Study;
use crate::parameters::Parameters;

/// Cases with the scores 0, 0.001, 0.002 and so on, the first `missing` of them missed at probability 0.5.
fn cases(count: u32, missing: u32) -> Vec<Case> {
    let case = |position: u32| Case {
        score: CalibrationScore::Observed(Score::new(f64::from(position) / 1000.0).unwrap()),
        uniform: if position < missing { 0.25 } else { 0.75 },
    };
    (0..count).map(case).collect()
}

fn kappa(route: Route, cases: &[Case]) -> Option<Option<f64>> {
    let level = "0.05".parse().unwrap();
    let threshold = route.threshold(level, cases, 0.5).unwrap();
    threshold.map(|threshold| threshold.finite().map(Score::value))
}

/// Of 1,000 cases the folded quantile has rank 951, which exists among the observed up to 49 misses.
#[test]
fn the_folded_quantile_counts_from_the_top_of_all_cases() {
    assert_eq!(kappa(Route::Folded, &cases(1000, 0)), Some(Some(0.950)));
    assert_eq!(kappa(Route::Folded, &cases(1000, 20)), Some(Some(0.970)));
    assert_eq!(kappa(Route::Folded, &cases(1000, 49)), Some(Some(0.999)));
    assert_eq!(kappa(Route::Folded, &cases(1000, 50)), None);
}

/// 0 misses of 1,000 are bounded by 1 - 0.05^(1/1000) = 0.0029912...: 0.0470087 is left, and the rank is
/// 1001 - floor(47.05) = 954. 20 misses are bounded by 0.0289301:
/// 0.0210699 is left, and of 980 observed the rank is 981 - floor(20.67) = 961. (Bounds by bisection on the
/// binomial tail, outside this program.)
#[test]
fn the_split_quantile_counts_among_the_observed_at_what_is_left() {
    assert_eq!(kappa(Route::Split, &cases(1000, 0)), Some(Some(0.953)));
    assert_eq!(kappa(Route::Split, &cases(1000, 20)), Some(Some(0.980)));
    assert_eq!(kappa(Route::Split, &cases(1000, 40)), None);
    // One miss of 100 is bounded by 0.0466: 0.0034 is left, at which 99 scores are too few to exclude any.
    assert_eq!(kappa(Route::Split, &cases(100, 1)), Some(None));
    assert_eq!(kappa(Route::Folded, &cases(100, 1)), Some(Some(0.096)));
}

#[test]
fn levels_are_rounded_down() {
    let check = |level: f64, expect: Option<&str>| {
        let expect = expect.map(|text| text.parse().unwrap());
        assert_eq!(rounded_down(level), expect, "{level}");
    };
    check(0.0, None);
    check(1e-9, None);
    check(1.5e-9, Some("0.000000001"));
    check(0.047_008_7, Some("0.047008699"));
    check(0.047_008_75, Some("0.047008749"));
}

#[test]
fn parts_are_all_episodes_once() {
    for episodes in [0, 1, 19, 20, 4000, 4001] {
        let all: Vec<u64> = (0..CALIBRATIONS)
            .flat_map(|draw| part(episodes, draw))
            .collect();
        assert_eq!(all, (0..episodes).collect::<Vec<_>>());
    }
}

fn small() -> Parameters {
    let text = Parameters::project_toml()
        .replace(
            "calibration = 2000\ntest = 4000\nalpha",
            "calibration = 200\ntest = 200\nalpha",
        )
        .replace("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "[1, 2, 3]");
    Parameters::from_toml(&text).unwrap()
}

/// At level 0.05 the bound from 200 cases leaves nothing from five misses on, and at miss probability 0.05 twice
/// as many are expected.
#[test]
fn without_a_usable_calibration_everything_falls_back() {
    let parameters = small();
    let report = Study::Folding.run(&Workbench::new(&parameters), &|| ());
    let report = report.unwrap();
    assert_eq!(report.records().len(), MISSES.len() * 4);
    let last = &report.records()[MISSES.len() * 4 - 1];
    let key = |heading: &str| last[heading].as_str().unwrap();
    let keys = ["miss probability", "route", "most probes"].map(key);
    assert_eq!(keys, ["0.05", "split", "2"]);
    let mean = |heading: &str| last[heading]["mean"].as_f64().unwrap();
    let usable = mean("usable");
    assert!(
        usable < 0.1 && (mean("FR") - (1.0 - usable)).abs() < 0.05,
        "{last:?}"
    );
}
