//! What it takes to choose probes by each rule: a controller run, averaged over the ways it may end.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use safecommit_conformal::{LoggedSeed, Score, Threshold};
use safecommit_core::{
    Action, Cost, OutcomeModel, Probability, Probing, Problem, ProblemError, Settings, Subject,
    Workspace, expected_probing,
};

/// `worlds` worlds that disagree about three actions, with a question about each, at unequal costs.
fn disputed(worlds: usize) -> Result<Problem, ProblemError> {
    let mut problem = Problem::new(Subject([0; 32]));
    for _ in 0..3 {
        problem.add_action(Action::default())?;
    }
    for world in 0..worlds {
        let score =
            Score::new((world * 37 % 101) as f64 / 100.0).map_or(Score::ZERO, |score| score);
        problem.add_world(score, [world * world % 3])?;
    }
    for world in 0..worlds {
        let cost = Cost::new(1.0 + (world * 29 % 7) as f64 / 7.0)?;
        let question = OutcomeModel::Identity { world };
        problem.add_probe(cost, Probability::ZERO, question)?;
    }
    Ok(problem)
}

fn rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("expected probing");
    let seed = LoggedSeed::new("bench");
    for worlds in [4, 6, 12, 16] {
        let Ok(problem) = disputed(worlds) else {
            return;
        };
        for (name, rule) in [
            ("shrinkage", Probing::Shrinkage),
            ("optimal", Probing::Optimal),
            ("rollout", Probing::Rollout),
            ("information gain", Probing::InformationGain),
            ("safety information", Probing::SafetyInformation),
            ("random", Probing::Random { seed }),
        ] {
            let settings = Settings::default().with_probing(rule);
            let mut workspace = Workspace::default();
            group.bench_function(BenchmarkId::new(name, worlds), |bencher| {
                bencher.iter(|| {
                    let threshold = Threshold::unbounded();
                    expected_probing(black_box(&problem), &settings, threshold, &mut workspace)
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, rules);
criterion_main!(benches);
