//! The generator against the second model's, which is another program in another language.

use std::collections::BTreeMap;

use safecommit_bench::{
    DrawnEpisode, EpisodeRecord, Generator, Split, StreamKey, Suite, render_split,
};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::project;

#[derive(Deserialize)]
struct Goldens {
    episodes: BTreeMap<String, String>,
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn goldens() -> BTreeMap<String, String> {
    let text = include_str!("../../second-model/goldens/digests.json");
    serde_json::from_str::<Goldens>(text).unwrap().episodes
}

#[test]
fn frozen_splits_have_the_bytes_that_the_second_model_gives() {
    let parameters = project();
    let goldens = goldens();
    for split in Split::ALL {
        let key = format!("frozen/{}/{split}", parameters.frozen.seed);
        assert_eq!(
            digest(&render_split(&parameters, split)),
            goldens[&key],
            "{key}"
        );
    }
}

#[test]
fn experiment_seeds_have_the_bytes_that_the_second_model_gives() {
    let parameters = project();
    let goldens = goldens();
    for seed in parameters.experiments.seeds.get() {
        for split in [Split::Calibration, Split::Test] {
            let suite = Suite::Experiment { seed: *seed };
            let generator = Generator::new(&parameters.generator, suite, split);
            let mut drawn = DrawnEpisode::default();
            let mut components = Vec::new();
            let mut lines = String::new();
            for index in 0..100 {
                generator.draw_into(index, &mut drawn);
                generator.components_into(&drawn, &mut components);
                EpisodeRecord::from_drawn(split, &drawn, &components).write_json_line(&mut lines);
            }
            let key = format!("experiment/{seed}/{split}");
            assert_eq!(digest(lines.as_bytes()), goldens[&key], "{key}");
        }
    }
    assert_eq!(
        goldens.len(),
        4 + 2 * parameters.experiments.seeds.get().len()
    );
}

#[test]
fn no_two_purposes_share_a_key() {
    let parameters = project();
    let mut keys = Vec::new();
    let experiments = parameters.experiments.seeds.get();
    let suites = experiments
        .iter()
        .map(|seed| Suite::Experiment { seed: *seed });
    let frozen = Suite::Frozen {
        seed: parameters.frozen.seed,
    };
    let compared = experiments
        .iter()
        .map(|seed| Suite::Compared { seed: *seed });
    for suite in suites.chain(compared).chain([frozen]) {
        for split in Split::ALL {
            for purpose in [
                "worlds",
                "components",
                "proposal",
                "policy",
                "errors",
                "mediation",
            ] {
                let key = StreamKey::derive(suite.name(), suite.seed(), split.name(), purpose);
                keys.push(*key.bytes());
            }
        }
    }
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}
