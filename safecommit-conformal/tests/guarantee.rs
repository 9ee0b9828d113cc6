//! The guarantee itself, by exhaustive enumeration and by simulation, with the wrong formulas that
//! these checks must be able to tell from the right one.
#![expect(clippy::unwrap_used, reason = "the inputs are fixed and valid")]

use std::num::NonZero;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use safecommit_conformal::{Alpha, Calibration, CalibrationScore, CoverageLaw, Score};

/// A way to calibrate and to decide whether a score is retained.
type Rule = fn(Alpha, &[Score], Score) -> bool;

fn right(alpha: Alpha, scores: &[Score], tested: Score) -> bool {
    let scores: Vec<CalibrationScore> = scores.iter().copied().map(Into::into).collect();
    Calibration::split_conformal(alpha, &scores)
        .threshold()
        .retains(tested)
}

/// The score of a rank, or `None` where it is above n, the plain way.
fn sorted(scores: &[Score], rank: u64) -> Option<Score> {
    let mut scores = scores.to_vec();
    scores.sort_unstable();
    scores.get(rank as usize - 1).copied()
}

fn rank_one_high(alpha: Alpha, scores: &[Score], tested: Score) -> bool {
    let rank = alpha.rank(scores.len() as u64) + 1;
    sorted(scores, rank).is_none_or(|kappa| tested <= kappa)
}

fn rank_one_low(alpha: Alpha, scores: &[Score], tested: Score) -> bool {
    let rank = (alpha.rank(scores.len() as u64) - 1).max(1);
    sorted(scores, rank).is_none_or(|kappa| tested <= kappa)
}

fn strictly_below(alpha: Alpha, scores: &[Score], tested: Score) -> bool {
    let rank = alpha.rank(scores.len() as u64);
    sorted(scores, rank).is_none_or(|kappa| tested < kappa)
}

fn clamped_to_the_largest(alpha: Alpha, scores: &[Score], tested: Score) -> bool {
    let rank = alpha.rank(scores.len() as u64).min(scores.len() as u64);
    sorted(scores, rank).is_none_or(|kappa| tested <= kappa)
}

const MUTANTS: [(&str, Rule); 4] = [
    ("rank one high", rank_one_high),
    ("rank one low", rank_one_low),
    ("strictly below", strictly_below),
    ("clamped to the largest", clamped_to_the_largest),
];

fn alpha(text: &str) -> Alpha {
    text.parse().unwrap()
}

fn score(value: f64) -> Score {
    Score::new(value).unwrap()
}

/// How many of the scores are retained when each in turn is the new case and the others calibrate.
/// For exchangeable scores with these values, this over their number is the exact coverage.
fn left_out_and_retained(rule: Rule, level: Alpha, scores: &[Score]) -> u64 {
    let retained = |index: usize| {
        let mut others = scores.to_vec();
        let tested = others.remove(index);
        rule(level, &others, tested)
    };
    (0..scores.len()).filter(|index| retained(*index)).count() as u64
}

/// Calls `visit` with every multiset of `size` scores with values 0 to 3.
fn multisets(size: usize, visit: &mut dyn FnMut(&[Score])) {
    fn extend(prefix: &mut Vec<Score>, from: u32, size: usize, visit: &mut dyn FnMut(&[Score])) {
        if prefix.len() == size {
            return visit(prefix);
        }
        for value in from..4 {
            prefix.push(score(f64::from(value)));
            extend(prefix, value, size, visit);
            prefix.pop();
        }
    }
    extend(&mut Vec::new(), 0, size, visit);
}

fn least_coverage(rule: Rule, level: Alpha, n: usize) -> u64 {
    let mut least = u64::MAX;
    multisets(n + 1, &mut |scores| {
        least = least.min(left_out_and_retained(rule, level, scores));
    });
    least
}

/// Whether `retained` of `n + 1` is at least `1 - alpha`, in integers.
fn covers(retained: u64, level: Alpha, n: usize) -> bool {
    let one = 10_u128.pow(u32::from(level.scale()));
    u128::from(retained) * one >= (one - u128::from(level.digits())) * (n as u128 + 1)
}

/// Coverage of at least `1 - alpha` on every multiset, and exactly `rank / (n + 1)` without ties.
fn exact_guarantee_holds(rule: Rule, level: Alpha, n: usize) -> bool {
    let distinct: Vec<Score> = (0..=n).map(|i| score(i as f64)).collect();
    covers(least_coverage(rule, level, n), level, n)
        && left_out_and_retained(rule, level, &distinct) == level.rank(n as u64)
}

#[test]
fn least_coverage_of_the_reference() {
    // Alpha as one third is no decimal; 0.34 allows the same two misses in six.
    for (n, level, covered, cases) in [(4, "0.2", 4, 5), (5, "0.34", 4, 6), (3, "0.25", 3, 4)] {
        assert_eq!(n + 1, cases);
        assert_eq!(
            least_coverage(right, alpha(level), n),
            covered,
            "n {n}, alpha {level}"
        );
    }
}

#[test]
fn coverage_is_exact_over_every_multiset() {
    for n in 0..=6 {
        for level in ["0.1", "0.2", "0.25", "0.34", "0.5", "0.9", "0.05", "0.999"] {
            assert!(
                exact_guarantee_holds(right, alpha(level), n),
                "n {n}, alpha {level}"
            );
        }
    }
}

#[test]
fn enumeration_catches_every_wrong_formula() {
    for (name, rule) in MUTANTS {
        // At n = 5 and alpha 0.1 the rank is above n: where clamping under-covers, by 5 / 6.
        let (n, level) = if name == "clamped to the largest" {
            (5, "0.1")
        } else {
            (4, "0.25")
        };
        assert!(exact_guarantee_holds(right, alpha(level), n));
        assert!(
            !exact_guarantee_holds(rule, alpha(level), n),
            "{name} went unnoticed"
        );
    }
    assert_eq!(least_coverage(clamped_to_the_largest, alpha("0.1"), 5), 5);
}

/// A uniform score in [0, 1), on a grid of `grid` values if that is not zero.
fn draw(random: &mut impl Rng, grid: u32) -> Score {
    let uniform = (random.random::<u64>() >> 11) as f64 * 2.0_f64.powi(-53);
    score(if grid == 0 {
        uniform
    } else {
        (uniform * f64::from(grid)).floor()
    })
}

/// The share of trials, each with a calibration set and one new case of its own, that retain the
/// new case; and the standard error of that share.
fn simulated_coverage(rule: Rule, level: Alpha, n: usize, grid: u32) -> (f64, f64) {
    const TRIALS: u32 = 40_000;
    let mut random = ChaCha8Rng::seed_from_u64(20_260_804);
    let mut covered = 0_u32;
    for _ in 0..TRIALS {
        let scores: Vec<Score> = (0..n).map(|_| draw(&mut random, grid)).collect();
        covered += u32::from(rule(level, &scores, draw(&mut random, grid)));
    }
    let share = f64::from(covered) / f64::from(TRIALS);
    (share, (share * (1.0 - share) / f64::from(TRIALS)).sqrt())
}

/// Whether simulated coverage is `rank / (n + 1)` without ties and at least that with ties.
fn simulation_accepts(rule: Rule, level: Alpha, n: usize) -> bool {
    let nominal = level.rank(n as u64) as f64 / (n as f64 + 1.0);
    let (untied, untied_error) = simulated_coverage(rule, level, n, 0);
    let (tied, tied_error) = simulated_coverage(rule, level, n, 5);
    (untied - nominal).abs() <= 4.0 * untied_error.max(1e-9)
        && tied >= nominal - 4.0 * tied_error.max(1e-9)
}

#[test]
fn simulation_accepts_the_right_formula_and_no_other() {
    for (level, n) in [("0.1", 19), ("0.05", 39), ("0.1", 5)] {
        assert!(
            simulation_accepts(right, alpha(level), n),
            "n {n}, alpha {level}"
        );
    }
    for (name, rule) in MUTANTS {
        let n = if name == "clamped to the largest" {
            5
        } else {
            19
        };
        assert!(
            !simulation_accepts(rule, alpha("0.1"), n),
            "{name} went unnoticed"
        );
    }
}

/// With misses counted, "threshold finite, and true world not proposed or above it" has a
/// probability of at most alpha; leaving the misses out of the calibration breaks that.
#[test]
fn alpha_covers_counted_misses_while_the_threshold_is_finite() {
    const TRIALS: u32 = 40_000;
    let (level, n) = (alpha("0.1"), 49);
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut case = || {
        let missing = random.random::<u32>() % 100 < 6;
        if missing {
            CalibrationScore::Missing
        } else {
            draw(&mut random, 0).into()
        }
    };
    let (mut unsafe_counted, mut unsafe_left_out) = (0_u32, 0_u32);
    for _ in 0..TRIALS {
        let all: Vec<CalibrationScore> = (0..n).map(|_| case()).collect();
        let observed: Vec<CalibrationScore> = all
            .iter()
            .copied()
            .filter(|score| !score.is_missing())
            .collect();
        let tested = case();
        let is_unsafe = |scores: &[CalibrationScore]| {
            let threshold = Calibration::split_conformal(level, scores)
                .threshold()
                .clone();
            let retained = tested
                .observed()
                .is_some_and(|score| threshold.retains(score));
            u32::from(!threshold.is_unbounded() && !retained)
        };
        unsafe_counted += is_unsafe(&all);
        unsafe_left_out += is_unsafe(&observed);
    }
    let share = |count: u32| f64::from(count) / f64::from(TRIALS);
    let bound = 0.1 + 4.0 * (0.09 / f64::from(TRIALS)).sqrt();
    assert!(share(unsafe_counted) <= bound, "{}", share(unsafe_counted));
    assert!(share(unsafe_counted) > 0.05, "{}", share(unsafe_counted));
    assert!(share(unsafe_left_out) > bound, "{}", share(unsafe_left_out));
}

/// For uniform scores the coverage of a threshold is the threshold itself, so its law can be
/// compared directly: mean, variance, and the distribution function by the largest gap.
#[test]
fn coverage_follows_its_law() {
    const TRIALS: usize = 20_000;
    let (level, n) = (alpha("0.1"), 29);
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut coverage: Vec<f64> = (0..TRIALS)
        .map(|_| {
            let scores: Vec<CalibrationScore> =
                (0..n).map(|_| draw(&mut random, 0).into()).collect();
            Calibration::split_conformal(level, &scores)
                .threshold()
                .finite()
                .unwrap()
                .value()
        })
        .collect();
    coverage.sort_by(f64::total_cmp);
    // The Kolmogorov-Smirnov distance, which stays below 2.2 / sqrt(TRIALS) but once in 8,000.
    let distance = |law: CoverageLaw| {
        let gap = |(index, value): (usize, &f64)| {
            (law.cdf(*value) - (index as f64 + 0.5) / TRIALS as f64).abs()
        };
        coverage.iter().enumerate().map(gap).fold(0.0, f64::max) * (TRIALS as f64).sqrt()
    };
    let rank = level.rank(n);
    let law = CoverageLaw::new(n, rank).unwrap();
    assert!(distance(law) < 2.2, "{}", distance(law));
    for wrong in [rank - 1, rank + 1] {
        let wrong = CoverageLaw::new(n, wrong).unwrap();
        assert!(distance(wrong) > 20.0, "{}", distance(wrong));
    }
    let mean = coverage.iter().sum::<f64>() / TRIALS as f64;
    let squares: f64 = coverage.iter().map(|value| (value - mean).powi(2)).sum();
    assert!((mean - law.mean()).abs() < 4.0 * (law.variance() / TRIALS as f64).sqrt());
    assert!((squares / TRIALS as f64 / law.variance() - 1.0).abs() < 0.05);
}

/// The mean and variance of the covered share of m fresh cases, from the exact probabilities of
/// every count: fresh cases fall into the n + 1 gaps of the calibration scores as in an urn.
#[test]
fn empirical_coverage_has_the_moments_of_its_exact_law() {
    let choose =
        |n: u64, k: u64| (0..k).fold(1_u128, |c, i| c * u128::from(n - i) / u128::from(i + 1));
    for (n, rank, m) in [(19, 18, 7), (10, 10, 1), (12, 5, 30), (30, 30, 12)] {
        let all = choose(n + m, m) as f64;
        let (mut mean, mut square) = (0.0, 0.0);
        for covered in 0..=m {
            let ways =
                choose(rank + covered - 1, covered) * choose(n - rank + m - covered, m - covered);
            let share = covered as f64 / m as f64;
            mean += ways as f64 / all * share;
            square += ways as f64 / all * share * share;
        }
        let law = CoverageLaw::new(n, rank).unwrap();
        let error = law.empirical_standard_error(NonZero::new(m).unwrap());
        assert!((mean - law.mean()).abs() < 1e-12);
        assert!(
            (square - mean * mean - error * error).abs() < 1e-12,
            "n {n}, rank {rank}, m {m}"
        );
    }
}

#[test]
fn the_streams_of_the_simulations_are_frozen() {
    let mut random = ChaCha8Rng::seed_from_u64(20_260_804);
    let drawn: Vec<String> = (0..3).map(|_| draw(&mut random, 0).to_string()).collect();
    assert_eq!(
        drawn,
        [
            "0.6171731386540318",
            "0.2206948921778369",
            "0.4165145858499538"
        ]
    );
}
