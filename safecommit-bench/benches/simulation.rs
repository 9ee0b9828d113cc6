//! How long a decision on a benchmark episode takes, and what drawing the episode adds.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark stops at what it did not expect"
)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use safecommit_bench::{
    ConflictAbstention, DrawnEpisode, Generator, Margin, Memory, MethodName, MethodSettings,
    Parameters, Split, Suite, calibrate, decide,
};
use std::hint::black_box;

const EPISODES: u64 = 1_000;

fn decisions(criterion: &mut Criterion) {
    let parameters = Parameters::project().unwrap();
    let suite = Suite::Experiment { seed: 77 };
    let generator = Generator::new(&parameters.generator, suite, Split::Test);
    let drawn: Vec<DrawnEpisode> = (0..EPISODES).map(|index| generator.draw(index)).collect();
    let episodes = drawn.iter().map(DrawnEpisode::episode);
    let calibration = calibrate(parameters.experiments.alpha, episodes);
    let threshold = calibration.threshold();
    let settings = MethodSettings {
        threshold: threshold.clone(),
        temperature: parameters.experiments.temperature.get(),
        max_probes: parameters.experiments.max_probes,
        conflict: ConflictAbstention::new(threshold, Margin::Infinite),
    };
    let mut group = criterion.benchmark_group("thousand_episodes");
    group.throughput(Throughput::Elements(EPISODES));
    group.bench_function("draw", |bencher| {
        let mut buffer = DrawnEpisode::default();
        bencher.iter(|| {
            for index in 0..EPISODES {
                generator.draw_into(index, &mut buffer);
                black_box(&buffer);
            }
        });
    });
    for name in MethodName::ALL {
        let method = name.build(&settings);
        let mut memory = Memory::default();
        group.bench_function(name.name(), |bencher| {
            bencher.iter(|| {
                for drawn in &drawn {
                    let policy = || generator.policy_stream(drawn.index());
                    let episode = drawn.episode();
                    black_box(decide(method.as_ref(), episode, &policy, &mut memory));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, decisions);
criterion_main!(benches);
