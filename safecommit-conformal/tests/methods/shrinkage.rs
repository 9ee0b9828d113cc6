use safecommit_conformal::{
    Calibration, CalibrationScore, Folds, LoggedSeed, Misses, Shrinkage, Stratum,
};

use crate::groups::stratum;
use crate::{alpha, score, uniforms};

/// A case of one of three groups that differ in offset and scale.
fn draw(uniform: &mut dyn FnMut() -> f64) -> (Stratum, f64) {
    let noise = uniform() + uniform() + uniform() - 1.5;
    match (uniform() * 20.0) as u32 {
        0 => (stratum("rare"), 5.0 + 3.0 * noise),
        1..8 => (stratum("middle"), 2.0 + noise),
        _ => (stratum("common"), 0.5 * noise),
    }
}

/// Shrunk scores cover 1 - alpha of all cases exactly, and the groups far more evenly than plain
/// scores do; fitting on the calibration fold itself under-covers.
#[test]
fn shrinkage_keeps_marginal_coverage_and_evens_out_groups() {
    let level = alpha("0.1");
    let seed = LoggedSeed::new("folds");
    let mut uniform = uniforms(31);
    let (mut total, mut covered) = ([0.0; 2], [[0.0; 2]; 2]);
    const TRIALS: u32 = 1_500;
    for trial in 0..TRIALS {
        let cases = (0..120).map(|i| {
            let (group, value) = draw(&mut uniform);
            (format!("{trial}-{i}"), group, score(value).into())
        });
        let folds = Folds::split(&seed, cases);
        let shrunk =
            Shrinkage::fit(&folds.fitting).calibrate(level, &folds.calibration, Misses::AsListed);
        let plain: Vec<CalibrationScore> = folds
            .calibration
            .cases()
            .iter()
            .map(|case| case.1)
            .collect();
        let plain = Calibration::split_conformal(level, &plain)
            .threshold()
            .clone();
        for _ in 0..20 {
            let (group, value) = draw(&mut uniform);
            let rare = usize::from(group == stratum("rare"));
            total[rare] += 1.0;
            covered[0][rare] += f64::from(u8::from(shrunk.retains(&group, score(value))));
            covered[1][rare] += f64::from(u8::from(plain.retains(score(value))));
        }
    }
    let all = |covered: [f64; 2]| (covered[0] + covered[1]) / (total[0] + total[1]);
    // Fresh cases of one trial share a threshold: its coverage varies by 0.04 or so.
    let error = 4.0 * 0.06 / f64::from(TRIALS).sqrt();
    for covered in covered {
        assert!(
            all(covered) >= 0.9 - error && all(covered) < 0.93,
            "{covered:?}"
        );
    }
    let rare = |covered: [f64; 2]| covered[1] / total[1];
    assert!(rare(covered[1]) < 0.4, "{}", rare(covered[1]));
    assert!(rare(covered[0]) > 0.65, "{}", rare(covered[0]));
}

#[test]
fn shrinkage_without_information_changes_no_order() {
    let nothing = Shrinkage::fit(&Folds::default().fitting);
    assert_eq!(nothing.transform(&stratum("a"), score(0.7)), score(0.7));
    // All scores equal, missing scores, one case a group, and extremes stay finite and in order.
    let seed = LoggedSeed::new("x");
    for values in [
        vec![1.0; 40],
        vec![f64::MAX; 40],
        vec![5e-324; 40],
        vec![-f64::MAX, f64::MAX],
    ] {
        let cases = values.iter().enumerate().map(|(i, value)| {
            let missing = i % 7 == 3;
            let score = if missing {
                CalibrationScore::Missing
            } else {
                score(*value).into()
            };
            (i.to_string(), stratum(["a", "b"][i % 2]), score)
        });
        let folds = Folds::split(&seed, cases);
        let shrinkage = Shrinkage::fit(&folds.fitting);
        for group in ["a", "b", "c"] {
            let mut before = None;
            for value in [-f64::MAX, -1.0, 0.0, 1e-300, 1.0, f64::MAX] {
                let now = shrinkage.transform(&stratum(group), score(value));
                assert!(before.is_none_or(|before| before <= now), "{group} {value}");
                before = Some(now);
            }
        }
    }
}

/// Fitted on these scores, whose ids all fall into the fitting fold.
fn fitted(groups: &[(&str, &[f64])]) -> Shrinkage {
    let seed = LoggedSeed::new("by hand");
    let ids = (0_u32..)
        .map(|i| i.to_string())
        .filter(|id| seed.uniform(id) < 0.5);
    let values = groups
        .iter()
        .flat_map(|(path, values)| values.iter().map(move |v| (*path, *v)));
    let cases = ids
        .zip(values)
        .map(|(id, (path, v))| (id, stratum(path), score(v).into()));
    let folds = Folds::split(&seed, cases);
    assert!(folds.calibration.cases().is_empty());
    Shrinkage::fit(&folds.fitting)
}

/// The offsets of a case small enough to compute by hand.
#[test]
fn offsets_are_drawn_towards_the_whole() {
    let shrinkage = fitted(&[
        ("a", &[0.0, 2.0]),
        ("b", &[10.0, 12.0]),
        ("c", &[20.0, 22.0]),
    ]);
    // Means 1, 11, 21 around 11; variance within 2 of 3 degrees of freedom, so noise 1; between
    // 200 / 2 - 1 = 99, and trust 99 / 100: offsets 1.1, 11, 20.9. All scales are sqrt(2).
    for (path, offset) in [("a", 1.1), ("b", 11.0), ("c", 20.9), ("d", 11.0)] {
        let shifted = shrinkage.transform(&stratum(path), score(offset + 2.0_f64.sqrt()));
        assert!((shifted.value() - 1.0).abs() < 1e-12, "{path} {shifted}");
    }
}

/// Scales by hand: standard deviations 1 and 10, pooled sqrt(50.5). Their logarithms have noise 1/4
/// each, and 3.7121 between them.
#[test]
fn scales_are_drawn_towards_the_whole() {
    let shrinkage = fitted(&[("a", &[-1.0, 0.0, 1.0]), ("b", &[-10.0, 0.0, 10.0])]);
    let pooled = 50.5_f64.sqrt();
    for (path, scale) in [
        ("a", 1.131712791052301),
        ("b", 9.786768131425875),
        ("c", pooled),
    ] {
        let ours = shrinkage.transform(&stratum(path), score(scale)).value();
        assert!((ours - 1.0).abs() < 1e-9, "{path} {ours}");
    }
}
