//! The beta functions and Clopper-Pearson bounds against reference values of 25 digits.
#![expect(clippy::unwrap_used, reason = "a test may stop at a broken fixture")]

use safecommit_conformal::beta::{Beta, STATRS_LIMIT};
use safecommit_conformal::{Delta, clopper_pearson};

const TAILS: &str = include_str!("fixtures/beta_tails.csv");
const SAMPLED_TAILS: &str = include_str!("fixtures/beta_tails_sampled.csv");
const QUANTILES: &str = include_str!("fixtures/beta_quantiles.csv");
const CLOPPER_PEARSON: &str = include_str!("fixtures/clopper_pearson.csv");

/// The numbers of a frozen CSV file, without its header.
fn rows<const COLUMNS: usize>(text: &str) -> Vec<[f64; COLUMNS]> {
    let number = |field: &str| field.parse().unwrap();
    let row = |line: &str| {
        line.split(',')
            .map(number)
            .collect::<Vec<f64>>()
            .try_into()
            .unwrap()
    };
    text.lines().skip(1).map(row).collect()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

/// The largest of the errors, and which case had it.
#[derive(Debug, Default)]
struct Worst {
    error: f64,
    case: String,
}

impl Worst {
    fn compare(&mut self, value: f64, truth: f64, case: impl std::fmt::Debug) {
        let error = ((value - truth) / truth).abs();
        if error.is_nan() || error > self.error {
            *self = Self {
                error,
                case: format!("{case:?}: {value:e}, true {truth:e}"),
            };
        }
    }

    #[track_caller]
    fn at_most(&self, bound: f64) {
        println!("worst relative error {:.2e} at {}", self.error, self.case);
        assert!(self.error <= bound, "{self:?}");
    }
}

/// Doubles cannot tell tails below this by their digits.
const SMALLEST: f64 = 1e-290;

#[test]
fn smaller_tails_are_right_to_twelve_digits() {
    let (mut library, mut own) = (Worst::default(), Worst::default());
    let mut points = 0;
    for row @ [a, b, x, lower, upper] in [rows(TAILS), rows(SAMPLED_TAILS)].concat() {
        let law = Beta::new(a, b).unwrap();
        let worst = if a + b <= STATRS_LIMIT {
            &mut library
        } else {
            &mut own
        };
        let (small, value) = if lower < upper {
            (lower, law.lower_tail(x))
        } else {
            (upper, law.upper_tail(x))
        };
        if small < SMALLEST {
            assert!(value <= 2.0 * SMALLEST, "{row:?}: {value:e}");
        } else {
            worst.compare(value, small, row);
            points += 1;
        }
        // The two tails are one computation, so that they sum to one.
        assert!(
            (law.lower_tail(x) + law.upper_tail(x) - 1.0).abs() <= f64::EPSILON,
            "{row:?}"
        );
    }
    assert!(points > 3_500);
    // statrs takes logarithms from the platform, so its last digits may differ.
    library.at_most(3.6e-13);
    own.at_most(3e-13);
}

/// `I_x(a, 1) = x^a` and `I_x(a, 2) = x^a (1 + a (1 - x))`, where the library is off by up to 1e-12.
#[test]
fn tails_of_a_small_second_shape_agree_with_closed_forms() {
    let mut worst = Worst::default();
    for a in 10..=99 {
        for x in [0.9, 0.923_5, 0.952_3, 0.954_915_114_484_872, 0.978_25] {
            let power = power_of(x, a);
            for (b, lower) in [
                (1.0, power),
                (2.0, power * (1.0 + f64::from(a) * (1.0 - x))),
            ] {
                let law = Beta::new(f64::from(a), b).unwrap();
                let (small, value) = if lower < 0.5 {
                    (lower, law.lower_tail(x))
                } else {
                    (1.0 - lower, law.upper_tail(x))
                };
                worst.compare(value, small, (a, b, x));
            }
        }
    }
    worst.at_most(2e-13);
}

/// `x^n` by repeated multiplication, within n roundings: the same on every platform.
fn power_of(x: f64, n: i32) -> f64 {
    (0..n).fold(1.0, |power, _| power * x)
}

#[test]
fn statrs_is_left_before_it_loses_digits() {
    // The reason for a tail of our own: beyond the limit the library's errors grow past any use.
    let mut worst = Worst::default();
    for row @ [a, b, x, lower, upper] in rows(TAILS) {
        if a + b > STATRS_LIMIT && lower < upper && lower > SMALLEST {
            let value = statrs::function::beta::checked_beta_reg(a, b, x).unwrap();
            worst.compare(value, lower, row);
        }
    }
    assert!(
        worst.error > 0.1,
        "the library has improved: measure the limit again, {worst:?}"
    );
}

#[test]
fn quantiles_are_right_to_thirteen_digits() {
    let mut worst = Worst::default();
    for row @ [a, b, p, lower_x, lower_y, upper_x, upper_y] in rows(QUANTILES) {
        let law = Beta::new(a, b).unwrap();
        let mirror = Beta::new(b, a).unwrap();
        let p = delta(p);
        // The smaller of a quantile and its complement has all digits; the complement of a
        // quantile is the opposite quantile of the mirrored law.
        for (x, y, value, complement) in [
            (
                lower_x,
                lower_y,
                law.lower_quantile(p),
                mirror.upper_quantile(p),
            ),
            (
                upper_x,
                upper_y,
                law.upper_quantile(p),
                mirror.lower_quantile(p),
            ),
        ] {
            if x <= y {
                worst.compare(value, x, row);
            } else {
                worst.compare(complement, y, row);
            }
            assert!((value - x).abs() <= 1e-13, "{row:?}: {value:e}");
        }
    }
    worst.at_most(4.1e-14);
}

#[test]
fn clopper_pearson_bounds_are_outward_and_close() {
    let mut widest: f64 = 0.0;
    for row @ [k, n, error, lower, upper] in rows(CLOPPER_PEARSON) {
        let (k, n) = (k as u64, n as u64);
        let low = clopper_pearson::lower_bound(k, n, delta(error)).unwrap();
        let high = clopper_pearson::upper_bound(k, n, delta(error)).unwrap();
        // The reference is the nearest double to the exact bound: strictly beyond it is outward.
        assert!(
            if k == 0 {
                low.to_bits() == 0
            } else {
                low < lower
            },
            "{row:?}: {low:e}"
        );
        assert!(
            if k == n {
                high >= 1.0
            } else {
                high > upper || high >= 1.0
            },
            "{row:?}: {high:e}"
        );
        assert!(high <= 1.0 && low >= 0.0, "{row:?}");
        for (bound, exact) in [(low, lower), (high, upper)] {
            let scale = exact.min(1.0 - exact).max(f64::EPSILON);
            if exact > 0.0 && exact < 1.0 {
                let ulp = f64::EPSILON / scale;
                widest = widest.max((bound - exact).abs() / scale - 2.0 * ulp);
            }
        }
    }
    assert!(widest <= 2e-12, "{widest:e}");
}

#[test]
fn the_interval_halves_delta() {
    let pair = clopper_pearson::interval(12, 345, delta(0.002)).unwrap();
    let low = clopper_pearson::lower_bound(12, 345, delta(0.001)).unwrap();
    let high = clopper_pearson::upper_bound(12, 345, delta(0.001)).unwrap();
    assert_eq!(
        (pair.0.to_bits(), pair.1.to_bits()),
        (low.to_bits(), high.to_bits())
    );
}

/// Inputs on which the library is off by far, errs on the unsafe side, hangs or panics.
#[test]
fn inputs_that_defeat_the_library() {
    let beta = |a, b| Beta::new(a, b).unwrap();
    let close = |value: f64, truth: f64| {
        assert!(
            (value / truth - 1.0).abs() < 1e-5,
            "{value:e}, true {truth:e}"
        );
    };
    // Inaccurate: the library gives 0.365 and -1.15 for these two.
    close(
        1.0 - beta(5_000_001.0, 5_000_000.0).lower_tail(0.5),
        0.500_126_156_6,
    );
    close(beta(1e8, 1e8).lower_tail(0.5), 0.5);
    // On the unsafe side: 4.74174e-6.
    close(
        beta(2.0, 999_999.0).upper_quantile(delta(0.05)),
        4.743_86e-6,
    );
    // No return: 1 - 0.05^(1e-7), and the tail that it leaves.
    close(beta(1.0, 1e7).upper_quantile(delta(0.05)), 2.995_732e-7);
    // No return, panic.
    for p in [1e-60, 1e-165] {
        let x = beta(200.0, 2.0).lower_quantile(delta(p));
        // I_x(200, 2) = 201 x^200 - 200 x^201.
        let tail = (201.0 - 200.0 * x) * (200.0 * x.ln() - p.ln()).exp();
        assert!((tail - 1.0).abs() < 1e-11, "{tail}");
    }
}

#[test]
fn ends_and_shapes_outside_the_range() {
    let law = Beta::new(3.0, 4.0).unwrap();
    for (x, lower) in [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0)] {
        assert!((law.lower_tail(x) - lower).abs() == 0.0);
        assert!((law.upper_tail(x) - (1.0 - lower)).abs() == 0.0);
    }
    assert!(law.lower_tail(f64::NAN).is_nan());
    for shape in [0.0, 0.5, -1.0, 2e9, f64::NAN, f64::INFINITY] {
        let error = Beta::new(1.0, shape).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("beta shape `{shape}` is not within 1 to 1e9")
        );
    }
}
