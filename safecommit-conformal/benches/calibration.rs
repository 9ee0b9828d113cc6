//! Selection on integer keys beside a full sort, and the beta functions.
#![expect(clippy::unwrap_used, reason = "the inputs are fixed and valid")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use safecommit_conformal::beta::Beta;
use safecommit_conformal::{Alpha, Calibration, CalibrationScore, Delta, Score};

fn scores(count: usize) -> Vec<CalibrationScore> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut uniform = || (random.random::<u64>() >> 11) as f64 * 2.0_f64.powi(-53);
    (0..count)
        .map(|_| Score::new(uniform()).unwrap().into())
        .collect()
}

/// The scores as plain numbers, missing ones as infinity.
fn plain(scores: &[CalibrationScore]) -> Vec<f64> {
    scores
        .iter()
        .map(|score| score.observed().map_or(f64::INFINITY, Score::value))
        .collect()
}

fn keys(scores: &[CalibrationScore]) -> Vec<u64> {
    scores.iter().map(|score| score.key()).collect()
}

fn select_by_key(mut keys: Vec<u64>, rank: usize) -> u64 {
    *keys.select_nth_unstable(rank - 1).1
}

fn select_by_total_cmp(mut scores: Vec<f64>, rank: usize) -> f64 {
    *scores.select_nth_unstable_by(rank - 1, f64::total_cmp).1
}

fn sort_by_total_cmp(mut scores: Vec<f64>, rank: usize) -> f64 {
    scores.sort_unstable_by(f64::total_cmp);
    scores[rank - 1]
}

fn selection(criterion: &mut Criterion) {
    let alpha: Alpha = "0.05".parse().unwrap();
    for count in [1_000_000, 10_000_000] {
        let scores = scores(count);
        let rank = alpha.rank(count as u64) as usize;
        let mut group = criterion.benchmark_group(format!("threshold of {count} scores"));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(500));
        group.bench_function("select on integer keys", |b| {
            b.iter_batched(
                || keys(&scores),
                |k| select_by_key(k, rank),
                BatchSize::PerIteration,
            );
        });
        group.bench_function("select by total_cmp", |b| {
            let run = |s| select_by_total_cmp(s, rank);
            b.iter_batched(|| plain(&scores), run, BatchSize::PerIteration);
        });
        group.bench_function("full sort by total_cmp", |b| {
            let run = |s| sort_by_total_cmp(s, rank);
            b.iter_batched(|| plain(&scores), run, BatchSize::PerIteration);
        });
        group.bench_function("whole calibration with digest", |b| {
            b.iter(|| Calibration::split_conformal(alpha, black_box(&scores)));
        });
        group.finish();
        print_ratios(&scores, rank);
    }
}

/// The ratios within one run, alternating, so that a busy machine slows both sides alike.
fn print_ratios(scores: &[CalibrationScore], rank: usize) {
    const ROUNDS: u32 = 7;
    let mut best = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        let (keys, first, second) = (keys(scores), plain(scores), plain(scores));
        let times = [
            time(|| select_by_key(keys, rank)),
            time(|| select_by_total_cmp(first, rank)),
            time(|| sort_by_total_cmp(second, rank)),
        ];
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
    }
    let ratio = |slow: Duration| slow.as_secs_f64() / best[0].as_secs_f64();
    println!(
        "{} scores: selection on keys {:?}; by total_cmp {:.1} times that; full sort {:.1} times",
        scores.len(),
        best[0],
        ratio(best[1]),
        ratio(best[2]),
    );
}

fn time<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

fn beta(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("beta");
    let delta = Delta::new(0.05).unwrap();
    for (a, b) in [
        (5.0, 50.0),
        (51.0, 950.0),
        (5_001.0, 95_000.0),
        (5e6, 95e6),
        (1e8, 1e8),
    ] {
        let law = Beta::new(a, b).unwrap();
        let x = law.lower_quantile(delta);
        group.bench_function(format!("tail of ({a}, {b})"), |bencher| {
            bencher.iter(|| law.lower_tail(black_box(x)));
        });
        group.bench_function(format!("quantile of ({a}, {b})"), |bencher| {
            bencher.iter(|| law.lower_quantile(black_box(delta)));
        });
    }
    group.finish();
}

criterion_group!(benches, selection, beta);
criterion_main!(benches);
