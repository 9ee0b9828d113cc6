//! Coverage with weights, by simulation.

use safecommit_conformal::{NonExchangeable, Threshold, WeightedScores};

use crate::weights::{weight, weights};
use crate::{alpha, score, scores, share, uniforms};

/// From scores, their weights and that of the next case to a threshold.
type Rule<'a> = &'a dyn Fn(&[f64], &[f64], f64) -> Threshold;

/// Two kinds of cases: rare in calibration and strange, frequent later. Weights restore coverage;
/// no weights, no mass at infinity for the next case, or weights sorted apart from their scores do
/// not.
#[test]
fn weights_restore_coverage_under_another_mix() {
    let level = alpha("0.1");
    // A quarter of the calibration cases is strange, and three quarters of those to come.
    let loads = [1.0 / 3.0, 3.0];
    let mut uniform = uniforms(43);
    let mut coverage = |n: usize, rule: Rule<'_>| {
        share(20_000, || {
            let mut case = |strange_share: f64| {
                let strange = uniform() < strange_share;
                let value = if strange {
                    1.0 + uniform()
                } else {
                    1.5 * uniform()
                };
                (value, loads[usize::from(strange)])
            };
            let (values, weights): (Vec<f64>, Vec<f64>) = (0..n).map(|_| case(0.25)).unzip();
            let (tested, load) = case(0.75);
            rule(&values, &weights, load).retains(score(tested))
        })
    };
    let right = |values: &[f64], loads: &[f64], case: f64| {
        let weighted = WeightedScores::new(&scores(values), &weights(loads)).unwrap();
        weighted.calibrate(level, weight(case)).threshold().clone()
    };
    let (weighted, error) = coverage(60, &right);
    assert!(weighted >= 0.9 - error && weighted < 0.98, "{weighted}");
    let (large, error) = coverage(600, &right);
    assert!(
        (large - 0.9).abs() < 0.01 + error && large >= 0.9 - error,
        "{large}"
    );
    let (unweighted, error) = coverage(60, &|values, _, _| {
        right(values, &vec![1.0; values.len()], 1.0)
    });
    assert!(unweighted < 0.9 - error, "{unweighted}");
    let (no_mass, error) = coverage(12, &|values, loads, _| right(values, loads, 0.0));
    assert!(no_mass < 0.9 - error, "{no_mass}");
    let (sorted_apart, _) = coverage(60, &|values, loads, case| {
        let mut loads = loads.to_vec();
        loads.sort_by(|a, b| b.total_cmp(a));
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        right(&values, &loads, case)
    });
    assert!(sorted_apart < 0.8, "{sorted_apart}");
}

/// Under drift the weights of age lose less coverage than no weights; without drift both hold.
#[test]
fn recent_cases_lose_less_under_drift() {
    let level = alpha("0.1");
    let mut uniform = uniforms(47);
    let mut coverage = |drift: f64, decay: f64| {
        share(8_000, || {
            let mut case = |age: usize| uniform() - drift * age as f64;
            let values: Vec<f64> = (1..=100).rev().map(&mut case).collect();
            let kappa = NonExchangeable::with_decay(&scores(&values), decay).unwrap();
            kappa.calibrate(level).threshold().retains(score(case(0)))
        })
    };
    for decay in [1.0, 0.95] {
        let (still, error) = coverage(0.0, decay);
        assert!(still >= 0.9 - error, "{still}");
    }
    let ((plain, error), (recent, _)) = (coverage(0.01, 1.0), coverage(0.01, 0.9));
    assert!(
        plain < 0.7 && recent > plain + 2.0 * error,
        "{plain} {recent}"
    );
}
