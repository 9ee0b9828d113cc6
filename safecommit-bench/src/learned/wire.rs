//! The wire form of a learned score and its validation.

use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use crate::json::FromObjects;
use crate::manifest::hexadecimal;

use super::error::LearnedScoreError;
use super::features::FeatureSet;
use super::logistic::{Likelihood, LogisticRegression};
use super::score::{LearnedScore, ScoreForm};

/// The only format version there is so far. A change of what a feature means is a change of format.
const FORMAT: u64 = 1;

/// A learned score as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireForm {
    format: u64,
    feature_set: FeatureSet,
    features: Vec<String>,
    likelihood: Likelihood,
    form: ScoreForm,
    intercept: f64,
    coefficients: Vec<f64>,
    version: String,
}

/// A [`WireForm`] read from an object alone, not from a list of its values.
pub(super) struct WireObject(WireForm);

impl<'de> Deserialize<'de> for WireObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WireForm::deserialize(FromObjects(deserializer)).map(Self)
    }
}

/// The digest of everything that a score computes with, a line each; numbers as the hexadecimal bits of their
/// doubles, so that no decimal rendering takes part.
pub(super) fn version_of(score: &LearnedScore) -> String {
    let mut text = format!(
        "safecommit learned score\nformat={FORMAT}\nfeature_set={}\nlikelihood={}\nform={}\n",
        score.features(),
        score.likelihood(),
        score.form(),
    );
    let mut line = |name: &str, value: f64| {
        text.push_str(&format!("{name}={:016x}\n", value.to_bits()));
    };
    line("intercept", score.regression().intercept());
    let coefficients = score.regression().coefficients();
    for (feature, coefficient) in score.features().features().iter().zip(coefficients) {
        line(feature.name(), *coefficient);
    }
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

fn names(set: FeatureSet) -> Vec<String> {
    let names = set.features().iter().map(|feature| feature.name());
    names.map(str::to_owned).collect()
}

impl From<LearnedScore> for WireForm {
    fn from(score: LearnedScore) -> Self {
        Self {
            format: FORMAT,
            feature_set: score.features(),
            features: names(score.features()),
            likelihood: score.likelihood(),
            form: score.form(),
            intercept: score.regression().intercept(),
            coefficients: score.regression().coefficients().to_vec(),
            version: score.version(),
        }
    }
}

impl TryFrom<WireObject> for LearnedScore {
    type Error = LearnedScoreError;

    fn try_from(WireObject(wire): WireObject) -> Result<Self, LearnedScoreError> {
        if wire.format != FORMAT {
            return Err(LearnedScoreError::Format { found: wire.format });
        }
        if wire.features != names(wire.feature_set) {
            return Err(LearnedScoreError::Features {
                found: wire.features.join(","),
                set: wire.feature_set,
            });
        }
        let regression = LogisticRegression::of(wire.intercept, wire.coefficients);
        let score = Self::new(wire.feature_set, wire.likelihood, wire.form, regression)?;
        let expected = score.version();
        if wire.version != expected {
            return Err(LearnedScoreError::Version {
                found: wire.version,
                expected,
            });
        }
        Ok(score)
    }
}
