//! Certificate evaluation over packed signatures, beside a form that nests vectors of booleans and
//! beside a plain sum over the same bytes; the scan of the probes; a whole decision.
//!
//! What is compared stands in one group, so that ratios come out of one run. One action is safe in
//! every world, so that no form may leave early.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Controller, Cost, OutcomeModel, Probability, Problem, ProblemError, Settings,
    SignatureMatrix, Step, Subject, Workspace, YES,
};

/// Actions that fill a machine word, so that the packed form is 8 bytes a world and the nested 64.
const ACTIONS: usize = 64;

/// Whether `action` is safe in `world`: the first always, the others in about half of the worlds.
fn is_safe(world: usize, action: usize) -> bool {
    action == 0 || (world.wrapping_mul(0x9E37_79B9) >> (action % 31)) & 1 == 1
}

fn packed(worlds: usize) -> Result<SignatureMatrix, ProblemError> {
    let mut matrix = SignatureMatrix::new(ACTIONS);
    for world in 0..worlds {
        matrix.push((0..ACTIONS).filter(|&action| is_safe(world, action)))?;
    }
    Ok(matrix)
}

fn nested(worlds: usize) -> Vec<Vec<bool>> {
    let row = |world| (0..ACTIONS).map(|action| is_safe(world, action)).collect();
    (0..worlds).map(row).collect()
}

/// The nested form's certificate: an action stays while every world allows it.
fn nested_intersection(worlds: &[Vec<bool>]) -> Vec<bool> {
    let mut left = vec![true; ACTIONS];
    for world in worlds {
        for (kept, safe) in left.iter_mut().zip(world) {
            *kept &= safe;
        }
    }
    left
}

/// The same worlds with the loops the other way round, leaving an action at the first refusal.
fn nested_by_action(worlds: &[Vec<bool>]) -> Vec<bool> {
    (0..ACTIONS)
        .map(|action| worlds.iter().all(|world| world[action]))
        .collect()
}

fn certificate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("certificate");
    for worlds in [8, 64, 1_000, 1_000_000] {
        let Ok(matrix) = packed(worlds) else { return };
        let bytes: Vec<u64> = (0..worlds as u64).collect();
        group.throughput(Throughput::Bytes(8 * worlds as u64));
        group.bench_function(BenchmarkId::new("packed", worlds), |bencher| {
            bencher.iter(|| black_box(&matrix).intersection());
        });
        group.bench_function(BenchmarkId::new("plain sum", worlds), |bencher| {
            bencher.iter(|| {
                black_box(&bytes)
                    .iter()
                    .fold(0_u64, |sum, word| sum.wrapping_add(*word))
            });
        });
        let nested = nested(worlds);
        group.bench_function(BenchmarkId::new("nested", worlds), |bencher| {
            bencher.iter(|| nested_intersection(black_box(&nested)));
        });
        group.bench_function(BenchmarkId::new("nested by action", worlds), |bencher| {
            bencher.iter(|| nested_by_action(black_box(&nested)));
        });
    }
    group.finish();
}

/// `worlds` worlds that disagree about three actions, and a question about each of the first six.
fn disputed(worlds: usize) -> Result<Problem, Box<dyn std::error::Error>> {
    let mut problem = Problem::new(Subject([0; 32]));
    for _ in 0..3 {
        problem.add_action(Action::default())?;
    }
    for world in 0..worlds {
        let score = Score::new((world * 37 % 101) as f64 / 100.0)?;
        problem.add_world(score, [world % 3])?;
    }
    for world in 0..worlds.min(6) {
        let question = OutcomeModel::Identity { world };
        problem.add_probe(Cost::UNIT, Probability::ZERO, question)?;
    }
    let halves: Vec<u32> = (0..worlds).map(|world| (world % 2) as u32).collect();
    let model = OutcomeModel::Partition {
        outcomes: 2,
        outcome_of: &halves,
    };
    problem.add_probe(Cost::UNIT, Probability::ZERO, model)?;
    Ok(problem)
}

fn shrinkage(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shrinkage of seven probes");
    for worlds in [6, 1_000, 100_000] {
        let Ok(problem) = disputed(worlds) else {
            return;
        };
        let (settings, mut workspace) = (Settings::default(), Workspace::default());
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
        group.throughput(Throughput::Elements(worlds as u64));
        group.bench_function(BenchmarkId::from_parameter(worlds), |bencher| {
            bencher.iter(|| controller.shrinkages());
        });
    }
    group.finish();
}

/// Plays the problem to its end, every question answered with yes.
fn decide(problem: &Problem, settings: &Settings, workspace: &mut Workspace) -> usize {
    let mut controller = Controller::start(problem, settings, Threshold::unbounded(), workspace);
    while let Step::Probe(choice) = controller.next_step() {
        if controller.observe(choice.probe, YES).is_err() {
            break;
        }
    }
    controller.history().len()
}

fn decision(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decision");
    let settings = Settings::default();
    for worlds in [6, 1_000] {
        let Ok(problem) = disputed(worlds) else {
            return;
        };
        let mut workspace = Workspace::default();
        group.bench_function(BenchmarkId::from_parameter(worlds), |bencher| {
            bencher.iter(|| decide(black_box(&problem), &settings, &mut workspace));
        });
    }
    group.finish();
}

criterion_group!(benches, certificate, shrinkage, decision);
criterion_main!(benches);
