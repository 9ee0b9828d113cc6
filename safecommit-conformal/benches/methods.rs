//! Weighted thresholds beside sorting and summing, and p-values.
#![expect(clippy::unwrap_used, reason = "the inputs are fixed and valid")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use safecommit_conformal::{
    Alpha, CalibrationScore, PValues, Score, Weight, WeightedScores, WeightedTable,
};

fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    move || (random.random::<u64>() >> 11) as f64 * 2.0_f64.powi(-53)
}

/// What a weighted quantile costs the plain way: sort by score, then sum until enough.
fn sort_and_prefix(mut cases: Vec<(f64, f64)>, alpha: f64, case: f64) -> f64 {
    cases.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let total: f64 = cases.iter().map(|case| case.1).sum();
    let enough = (1.0 - alpha) * (total + case);
    let mut sum = 0.0;
    for (score, weight) in cases {
        sum += weight;
        if sum >= enough {
            return score;
        }
    }
    f64::INFINITY
}

fn weighted(criterion: &mut Criterion) {
    let alpha: Alpha = "0.05".parse().unwrap();
    for count in [1_000_000, 10_000_000] {
        let mut uniform = uniforms(1);
        let cases: Vec<(f64, f64)> = (0..count).map(|_| (uniform(), uniform() + 0.5)).collect();
        let scores: Vec<CalibrationScore> = cases
            .iter()
            .map(|case| Score::new(case.0).unwrap().into())
            .collect();
        let weights: Vec<Weight> = cases
            .iter()
            .map(|case| Weight::try_from(case.1).unwrap())
            .collect();
        let weighted = WeightedScores::new(&scores, &weights).unwrap();
        let mut group = criterion.benchmark_group(format!("weighted threshold of {count} scores"));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(500));
        group.bench_function("search", |b| {
            b.iter(|| weighted.threshold(alpha, black_box(Weight::ONE)));
        });
        if count == 1_000_000 {
            let table = WeightedTable::new(&weighted);
            group.bench_function("search in a sorted table", |b| {
                b.iter(|| table.threshold(alpha, black_box(Weight::ONE)));
            });
        }
        group.finish();

        // Alternating, so that a busy machine slows both alike.
        let (mut search, mut sort) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            let (time, ours) = timed(|| weighted.threshold(alpha, Weight::ONE));
            search = time.min(search);
            let copy = cases.clone();
            let (time, plain) = timed(|| sort_and_prefix(copy, 0.05, 1.0));
            sort = time.min(sort);
            let ours = ours.finite().unwrap().value();
            assert!((ours - plain).abs() < 1e-9, "{ours} {plain}");
        }
        let ratio = search.as_secs_f64() / sort.as_secs_f64();
        println!("{count} scores: search {search:?}, sort and prefix {sort:?}: {ratio:.3} of it");
    }
}

fn p_values(criterion: &mut Criterion) {
    const TESTED: usize = 1_000_000;
    let mut uniform = uniforms(2);
    let mut draw = |count: usize| -> Vec<Score> {
        (0..count).map(|_| Score::new(uniform()).unwrap()).collect()
    };
    let calibration: Vec<CalibrationScore> = draw(100_000)
        .into_iter()
        .map(CalibrationScore::Observed)
        .collect();
    let tested = draw(TESTED);
    let p_values = PValues::new(&calibration);
    let mut group = criterion.benchmark_group("1000000 p-values against 100000 scores");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(TESTED as u64));
    group.bench_function("all", |b| b.iter(|| p_values.of_all(black_box(&tested))));
    group.finish();
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = black_box(run());
    (start.elapsed(), result)
}

criterion_group!(benches, weighted, p_values);
criterion_main!(benches);
