//! The methods beyond the split-conformal threshold: reference values, definitions computed another
//! way, and simulations that wrong formulas fail.
#![expect(clippy::unwrap_used, reason = "a test may stop at a broken fixture")]

mod e_values;
mod groups;
mod mondrian_wire;
mod p_values;
mod ranks;
mod risk;
mod risk_simulated;
mod shrinkage;
mod state;
mod weights;
mod weights_simulated;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use safecommit_conformal::{Alpha, CalibrationScore, Delta, Score};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A part of the file of reference values.
fn fixture<T: DeserializeOwned>(pointer: &str) -> T {
    let all: Value = serde_json::from_str(include_str!("../fixtures/methods.json")).unwrap();
    serde_json::from_value(all.pointer(pointer).unwrap().clone()).unwrap()
}

fn alpha(text: &str) -> Alpha {
    text.parse().unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn score(value: f64) -> Score {
    Score::new(value).unwrap()
}

fn scores(values: &[f64]) -> Vec<CalibrationScore> {
    values.iter().map(|value| score(*value).into()).collect()
}

/// Uniform numbers in [0, 1), the same in every run.
fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    move || (random.random::<u64>() >> 11) as f64 * 2.0_f64.powi(-53)
}

/// The share of `trials` for which `event` holds, and four standard errors of it.
fn share(trials: u32, mut event: impl FnMut() -> bool) -> (f64, f64) {
    let hits = (0..trials).filter(|_| event()).count() as f64;
    let (hits, trials) = (hits / f64::from(trials), f64::from(trials));
    (
        hits,
        4.0 * (hits * (1.0 - hits) / trials).sqrt().max(1.0 / trials),
    )
}
