//! The beta functions against reference values of 25 digits.
#![expect(clippy::unwrap_used, reason = "a test may stop at a broken fixture")]

use safecommit_conformal::Delta;
use safecommit_conformal::beta::Beta;

/// The numbers of a frozen CSV file, without its header.
fn rows(text: &str) -> impl Iterator<Item = Vec<f64>> {
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(|n| n.parse().unwrap()).collect())
}

fn relative_error(value: f64, truth: f64) -> f64 {
    (value - truth).abs() / truth
}

#[test]
fn measure_tails() {
    use std::collections::BTreeMap;
    let mut worst: BTreeMap<i32, (f64, String)> = BTreeMap::new();
    let mut worst_statrs: BTreeMap<i32, (f64, String)> = BTreeMap::new();
    for row in rows(include_str!("fixtures/beta_tails.csv")) {
        let [a, b, x, lower, upper] = row[..] else {
            panic!()
        };
        let law = Beta::new(a, b).unwrap();
        let small = lower.min(upper);
        if small < 1e-290 {
            continue;
        }
        let got = if lower < upper {
            law.lower_tail(x)
        } else {
            law.upper_tail(x)
        };
        let s = statrs::function::beta::checked_beta_reg(a, b, x).unwrap();
        let s2 = statrs::function::beta::checked_beta_reg(b, a, 1.0 - x).unwrap();
        let st = if lower < upper { s } else { s2 };
        let bucket = if a + b <= 410.0 {
            (a + b) as i32 / 25 * 25
        } else {
            1000 * (a + b).log10() as i32
        };
        let e = relative_error(got, small);
        let en = worst.entry(bucket).or_default();
        if e > en.0 {
            *en = (e, format!("{a} {b} {x} {small}"));
        }
        let e = relative_error(st, small);
        let en = worst_statrs.entry(bucket).or_default();
        if e > en.0 {
            *en = (e, format!("{a} {b} {x} {small}"));
        }
    }
    for (k, v) in worst {
        println!("{k} own {v:?} statrs {:?}", worst_statrs[&k]);
    }
}
