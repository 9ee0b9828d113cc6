//! The simulator against the second model: the same counts for every setting, seed and family, and the
//! same decisions on the frozen test split, line by line.

use std::collections::BTreeMap;
use std::path::Path;

use safecommit_bench::{
    Cell, ConflictAbstention, Episode, Family, FrozenData, Generator, Margin, Memory, MethodName,
    MethodSettings, Parameters, Split, Suite, Verdict, calibrate, decide, simulate, tune_margin,
};
use safecommit_conformal::{Alpha, Threshold};
use safecommit_core::FallbackKind;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::project;

#[derive(Deserialize)]
struct Goldens {
    calibration_episodes: u64,
    test_episodes: u64,
    count_names: Vec<String>,
    frozen: BTreeMap<String, Tuned>,
    rows: Vec<Row>,
}

/// Threshold and margin in millionths; null if infinite.
#[derive(Deserialize)]
struct Tuned {
    kappa: Option<u32>,
    margin: Option<u32>,
}

#[derive(Deserialize)]
struct Row {
    method: MethodName,
    alpha: Alpha,
    max_probes: u32,
    beta: f64,
    seed: u64,
    kappa: Option<u32>,
    counts: BTreeMap<String, [u64; 9]>,
}

fn goldens() -> Goldens {
    serde_json::from_str(include_str!("../../second-model/goldens/counts.json")).unwrap()
}

fn millionths(threshold: &Threshold) -> Option<u32> {
    let score = threshold.finite()?;
    Some((score.value() * 1e6).round() as u32)
}

fn settings(
    parameters: &Parameters,
    threshold: &Threshold,
    max_probes: u32,
    conflict: ConflictAbstention,
) -> MethodSettings {
    MethodSettings {
        threshold: threshold.clone(),
        temperature: parameters.experiments.temperature.get(),
        max_probes,
        conflict,
    }
}

fn draw(generator: &Generator, count: u64) -> Vec<Episode> {
    let episodes = (0..count).map(|index| generator.draw(index));
    episodes.map(|drawn| drawn.episode().clone()).collect()
}

/// What conflict abstention is tuned to at a level.
fn tune(data: &[Vec<Episode>; 2], alpha: Alpha) -> ConflictAbstention {
    let [calibration, validation] = data;
    let calibration = calibrate(alpha, calibration);
    let margin = tune_margin(alpha, calibration.threshold(), validation);
    ConflictAbstention::new(calibration.threshold(), margin)
}

fn frozen_splits(parameters: &Parameters) -> [Vec<Episode>; 2] {
    [Split::Calibration, Split::Validation].map(|split| {
        let suite = Suite::Frozen {
            seed: parameters.frozen.seed,
        };
        let generator = Generator::new(&parameters.generator, suite, split);
        draw(&generator, parameters.frozen.episodes(split))
    })
}

#[test]
fn margins_are_tuned_alike() {
    let parameters = project();
    let splits = frozen_splits(&parameters);
    let goldens = goldens().frozen;
    assert_eq!(goldens.len(), parameters.experiments.alphas.len());
    for (alpha, golden) in goldens {
        let alpha = alpha.parse().unwrap();
        let calibration = calibrate(alpha, &splits[0]);
        assert_eq!(millionths(calibration.threshold()), golden.kappa, "{alpha}");
        let margin = tune(&splits, alpha).margin();
        let expected = golden.margin.map_or(Margin::Infinite, Margin::Millionths);
        assert_eq!(margin, expected, "{alpha}");
    }
}

#[test]
fn every_count_is_that_of_the_second_model() {
    let parameters = project();
    let splits = frozen_splits(&parameters);
    let goldens = goldens();
    assert_eq!(
        goldens.count_names[..5],
        ["episodes", "unsafe", "safe", "fallbacks", "probes"]
    );
    assert_eq!(
        goldens.count_names[6..],
        ["unsafe_unproposed", "unsafe_above_kappa", "unsafe_retained"]
    );
    let seeds = parameters.experiments.seeds.get();
    // Five methods at six miss probabilities; three more budgets; two more levels.
    assert_eq!(goldens.rows.len(), seeds.len() * (5 * 6 + 3 + 2));
    for seed in seeds {
        let generator = |split| {
            let suite = Suite::Experiment { seed: *seed };
            Generator::new(&parameters.generator, suite, split)
        };
        let calibration = draw(&generator(Split::Calibration), goldens.calibration_episodes);
        let rows: Vec<&Row> = goldens
            .rows
            .iter()
            .filter(|row| row.seed == *seed)
            .collect();
        let cell = |row: &&Row| {
            let calibration = calibrate(row.alpha, &calibration);
            let threshold = calibration.threshold();
            assert_eq!(millionths(threshold), row.kappa);
            let conflict = tune(&splits, row.alpha);
            Cell {
                method: row.method.build(&settings(
                    &parameters,
                    threshold,
                    row.max_probes,
                    conflict,
                )),
                certifies: row.method.certifies(),
                proposal_miss: row.beta,
                probe_error: 0.0,
            }
        };
        let cells: Vec<Cell> = rows.iter().map(cell).collect();
        let counts = simulate(&generator(Split::Test), goldens.test_episodes, &cells);
        for (row, families) in rows.iter().zip(&counts) {
            for (family, counts) in Family::ALL.iter().zip(families) {
                let golden = row.counts[family.name()];
                let found = [
                    counts.episodes,
                    counts.unsafe_commits,
                    counts.safe_commits,
                    counts.fallbacks.total(),
                    counts.probes,
                ];
                let what = format!(
                    "seed {seed} {} alpha {} probes {} beta {} {family}",
                    row.method, row.alpha, row.max_probes, row.beta
                );
                assert_eq!(found, golden[..5], "{what}");
                if row.method.certifies() {
                    let causes = &counts.unsafe_causes;
                    let found = [causes.proposal, causes.calibration, causes.safety_map];
                    assert_eq!(found, golden[6..], "{what}");
                    assert_eq!(causes.total(), counts.unsafe_commits, "{what}");
                }
            }
        }
    }
}

#[test]
fn every_decision_on_the_frozen_test_split_is_that_of_the_second_model() {
    #[derive(Deserialize)]
    struct Digests {
        decisions: BTreeMap<String, String>,
    }
    let text = include_str!("../../second-model/goldens/digests.json");
    let goldens: Digests = serde_json::from_str(text).unwrap();
    assert!(goldens.decisions.len() >= 10);
    let parameters = project();
    let directory = Path::new("data/controlled");
    let data = FrozenData::load(directory).unwrap();
    let splits = [Split::Calibration, Split::Validation].map(|split| data.episodes(split).unwrap());
    for (case, golden) in goldens.decisions {
        let [split, method, alpha, max_probes] = case.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{case}");
        };
        assert_eq!(split, "test");
        let alpha = alpha.parse().unwrap();
        let conflict = tune(&splits, alpha);
        let calibration = calibrate(alpha, &splits[0]);
        let kappa = calibration.threshold();
        let max_probes = max_probes.parse().unwrap();
        let method = method.parse::<MethodName>().unwrap().build(&settings(
            &parameters,
            kappa,
            max_probes,
            conflict,
        ));
        let suite = Suite::Frozen {
            seed: data.manifest().seed(),
        };
        let generator = Generator::new(data.manifest().parameters(), suite, Split::Test);
        let mut memory = Memory::default();
        let mut digest = Sha256::new();
        for (index, record) in data.records(Split::Test).iter().enumerate() {
            let policy = || generator.policy_stream(index as u64);
            let episode = record.to_episode().unwrap();
            let ending = decide(method.as_ref(), &episode, &policy, &mut memory);
            let (decision, action) = match ending.verdict {
                Verdict::Commit { action } => {
                    ("commit", format!("\"{}\"", record.actions()[action]))
                }
                Verdict::Fallback { kind, .. } => (
                    match kind {
                        FallbackKind::Defer => "defer",
                        FallbackKind::Escalate => "escalate",
                        FallbackKind::Abstain => "abstain",
                    },
                    "null".to_owned(),
                ),
            };
            let probes = ending.probes.iter();
            let probes: Vec<&str> = probes.map(|at| record.probes()[*at].id()).collect();
            let kappa = kappa.finite().map(|score| score.value());
            digest.update(format!(
                "{{\"id\":\"{}\",\"decision\":\"{decision}\",\"action\":{action},\
                 \"probes\":{},\"kappa\":{}}}\n",
                record.id(),
                serde_json::to_string(&probes).unwrap(),
                serde_json::to_string(&kappa).unwrap(),
            ));
        }
        let found: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(found, golden, "{case}");
    }
}
