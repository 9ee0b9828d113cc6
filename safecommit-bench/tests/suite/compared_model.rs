//! The suite of compared methods against the second model, and for any number of threads.

use std::collections::BTreeMap;

use safecommit_bench::{
    Cell, ConfidenceThreshold, Episode, EpisodeRecord, ExecutionContainment, Family, FamilyCounts,
    Generator, Method, Parameters, PolicyOnly, SafeCommit, ScalarConfidence, Split, Suite,
    calibrate, simulate, tune_confidence,
};
use safecommit_conformal::Calibration;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::project;

#[derive(Deserialize)]
struct Goldens {
    count_names: Vec<String>,
    thresholds: BTreeMap<u32, Option<f64>>,
    digests: BTreeMap<String, String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    method: String,
    max_probes: u32,
    seed: u64,
    counts: BTreeMap<String, [u64; 5]>,
}

fn goldens() -> Goldens {
    serde_json::from_str(include_str!("../../second-model/goldens/compared.json")).unwrap()
}

fn generator(parameters: &Parameters, seed: u64, split: Split) -> Generator {
    Generator::new(&parameters.generator, Suite::Compared { seed }, split)
}

fn draw(generator: &Generator, count: u64) -> Vec<Episode> {
    let episodes = (0..count).map(|index| generator.draw(index));
    episodes.map(|drawn| drawn.episode().clone()).collect()
}

fn tune(parameters: &Parameters, max_probes: u32) -> ConfidenceThreshold {
    let generator = generator(parameters, parameters.frozen.seed, Split::Validation);
    let validation = draw(&generator, parameters.frozen.episodes(Split::Validation));
    let experiments = &parameters.experiments;
    tune_confidence(
        experiments.alpha,
        experiments.temperature,
        max_probes,
        &validation,
    )
}

fn build(
    name: &str,
    parameters: &Parameters,
    calibration: &Calibration,
    confidence: ConfidenceThreshold,
    max_probes: u32,
) -> Box<dyn Method> {
    let temperature = parameters.experiments.temperature;
    let always = ConfidenceThreshold::ALWAYS;
    match name {
        "scalar_confidence" => Box::new(ScalarConfidence::new(temperature, confidence, max_probes)),
        "policy_only" => Box::new(PolicyOnly::new(temperature, always)),
        "execution_containment" => {
            Box::new(ExecutionContainment::new(temperature, always, max_probes))
        }
        _ => {
            assert_eq!(name, "safecommit");
            let threshold = calibration.threshold();
            Box::new(SafeCommit::new(threshold, temperature.get(), max_probes))
        }
    }
}

#[test]
fn compared_episodes_have_the_bytes_that_the_second_model_gives() {
    let parameters = project();
    let goldens = goldens().digests;
    let seeds = parameters.experiments.seeds.get();
    assert_eq!(goldens.len(), 2 * seeds.len());
    for &seed in seeds {
        for split in [Split::Validation, Split::Test] {
            let generator = generator(&parameters, seed, split);
            let mut components = Vec::new();
            let mut lines = String::new();
            for index in 0..400 {
                let drawn = generator.draw(index);
                generator.components_into(&drawn, &mut components);
                EpisodeRecord::from_drawn(split, &drawn, &components).write_json_line(&mut lines);
                let mediation = drawn.episode().mediation();
                let names = |set: u64| {
                    let actions = (0..3).filter(|action| set >> action & 1 == 1);
                    let names: Vec<String> = actions.map(|action| format!("a{action}")).collect();
                    names.join(",")
                };
                let (reversible, forbidden) = (mediation.reversible(), mediation.hard_forbidden());
                lines.push_str(&format!("{} {}\n", names(reversible), names(forbidden)));
            }
            let digest = Sha256::digest(lines.as_bytes());
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(
                digest,
                goldens[&format!("{seed}/{split}")],
                "{seed} {split}"
            );
        }
    }
}

#[test]
fn every_count_of_compared_methods_is_that_of_the_second_model() {
    let parameters = project();
    let goldens = goldens();
    assert_eq!(
        goldens.count_names,
        ["episodes", "unsafe", "safe", "fallbacks", "spent"]
    );
    let confidence: BTreeMap<u32, ConfidenceThreshold> = goldens
        .thresholds
        .keys()
        .map(|&max_probes| (max_probes, tune(&parameters, max_probes)))
        .collect();
    for (max_probes, golden) in &goldens.thresholds {
        let ConfidenceThreshold::AtLeast(share) = confidence[max_probes] else {
            panic!("no threshold for {max_probes} probes");
        };
        assert!((share.get() - golden.unwrap()).abs() < 1e-12, "{share:?}");
    }
    // Three seeds, three budgets, four methods.
    assert_eq!(goldens.rows.len(), 36);
    for &seed in &parameters.experiments.seeds.get()[..3] {
        let calibration = generator(&parameters, seed, Split::Calibration);
        let calibration = draw(&calibration, parameters.experiments.calibration.get());
        let calibration = calibrate(parameters.experiments.alpha, &calibration);
        let rows: Vec<&Row> = goldens.rows.iter().filter(|row| row.seed == seed).collect();
        let cells: Vec<Cell> = rows
            .iter()
            .map(|row| Cell {
                method: build(
                    &row.method,
                    &parameters,
                    &calibration,
                    confidence[&row.max_probes],
                    row.max_probes,
                ),
                certifies: row.method == "safecommit",
                proposal_miss: 0.0,
                probe_error: 0.0,
            })
            .collect();
        let test = generator(&parameters, seed, Split::Test);
        let counts = simulate(&test, parameters.experiments.test.get(), &cells);
        assert_eq!(rows.len(), 12);
        for (row, counts) in rows.into_iter().zip(counts) {
            for (family, counts) in Family::ALL.into_iter().zip(counts) {
                let what = format!("{} {} {seed} {family}", row.method, row.max_probes);
                let ours = [
                    counts.episodes,
                    counts.unsafe_commits,
                    counts.safe_commits,
                    counts.fallbacks.total(),
                    counts.probes,
                ];
                assert_eq!(ours, row.counts[family.name()], "{what}");
                // No evidence is wrong here: policy never contradicts the true world.
                assert_eq!(counts.unsafe_causes.evidence, 0, "{what}");
                assert_eq!(counts.unsafe_causes.safety_map, 0, "{what}");
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_counts() {
    let parameters = project();
    let calibration = {
        let generator = generator(&parameters, 1_000_003, Split::Calibration);
        calibrate(parameters.experiments.alpha, &draw(&generator, 300))
    };
    let share = 0.7.try_into().unwrap();
    let names = [
        "scalar_confidence",
        "policy_only",
        "execution_containment",
        "safecommit",
    ];
    let cells: Vec<Cell> = names
        .iter()
        .map(|name| Cell {
            method: build(
                name,
                &parameters,
                &calibration,
                ConfidenceThreshold::AtLeast(share),
                2,
            ),
            certifies: *name == "safecommit",
            proposal_miss: 0.05,
            probe_error: 0.05,
        })
        .collect();
    let generator = generator(&parameters, 1_000_003, Split::Test);
    // Not a whole number of tasks.
    let run = |threads: usize| -> Vec<FamilyCounts> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| simulate(&generator, 3_333, &cells))
    };
    let one = run(1);
    assert!(one.iter().flatten().all(|counts| counts.safe_commits > 100));
    for threads in [2, 3, 7] {
        assert_eq!(run(threads), one, "{threads}");
    }
}
