//! Written and read again a score is the same, and a changed one is refused.

use serde_json::{Value, json};

use super::{episodes, ridge, scores};
use crate::generator::Split;
use crate::learned::{FeatureSet, FitError, LearnedScore, LearnedScoreError};
use crate::learned::{Likelihood, LogisticRegression, ScoreForm, TrainingSet};
use crate::micros::Micros;

#[test]
fn every_kind_comes_back_the_same() {
    let mut versions = Vec::new();
    for score in scores() {
        let text = serde_json::to_string(&score).unwrap();
        let back: LearnedScore = serde_json::from_str(&text).unwrap();
        assert_eq!(back, score);
        for case in episodes(Split::Test, 20) {
            assert_eq!(back.rescore(&case), score.rescore(&case));
        }
        versions.push(score.version());
    }
    let all = versions.len();
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), all, "no two scores share a version");
}

fn error(value: &Value) -> String {
    let read = serde_json::from_str::<LearnedScore>(&value.to_string());
    read.unwrap_err().to_string()
}

#[test]
fn a_change_of_any_field_is_refused() {
    for score in scores() {
        let whole = serde_json::to_value(&score).unwrap();
        let names: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names.len(), 8);
        for name in &names {
            let mut less = whole.clone();
            less.as_object_mut().unwrap().remove(name);
            assert!(error(&less).contains(&format!("missing field `{name}`")));
        }
        let changes = [
            ("format", json!(2), "version `2` is not known"),
            ("format", json!(-1), "invalid value"),
            ("feature_set", json!("everything"), "unknown variant"),
            (
                "features",
                json!(["score", "sum"]),
                "`score,sum` are not the features",
            ),
            ("likelihood", json!("joint"), "unknown variant"),
            ("form", json!("logit"), "unknown variant"),
            ("intercept", json!(1e10), "`10000000000` is not within"),
            ("intercept", json!(0.125), "0.125"),
            ("coefficients", json!([0.5]), "`1` of them for"),
            ("coefficients", json!(null), "invalid type"),
            ("version", json!("00"), "`00`, but the other fields give"),
        ];
        for (name, value, message) in changes {
            let mut changed = whole.clone();
            changed[name] = value;
            let error = error(&changed);
            // A changed intercept is refused for itself or for the version.
            let of_version = name == "intercept" && error.contains("field `version`");
            assert!(error.contains(message) || of_version, "{name}: {error}");
        }
        let coefficients = whole["coefficients"].as_array().unwrap().len();
        for at in 0..coefficients {
            let mut changed = whole.clone();
            let value = whole["coefficients"][at].as_f64().unwrap();
            changed["coefficients"][at] = json!(value + 1e-9 * (1.0 + value.abs()));
            assert!(error(&changed).contains("field `version`"));
            changed["coefficients"][at] = json!(-1e10);
            assert!(error(&changed).contains("is not within a thousand million"));
        }
        let mut more = whole.clone();
        more["note"] = json!("mine");
        assert!(error(&more).contains("unknown field `note`"));
        let list: Vec<Value> = whole.as_object().unwrap().values().cloned().collect();
        assert!(error(&Value::Array(list)).contains("invalid type: sequence"));
    }
}

#[test]
fn a_regression_that_does_not_fit_is_no_score() {
    let new = |set, likelihood, regression| {
        LearnedScore::new(set, likelihood, ScoreForm::Probability, regression)
    };
    let of =
        |intercept, coefficients: &[f64]| LogisticRegression::of(intercept, coefficients.into());
    let (terms, separate) = (FeatureSet::Terms, Likelihood::Separate);
    assert!(new(terms, separate, of(0.5, &[1.0; 4])).is_ok());
    let coefficients = LearnedScoreError::Coefficients {
        found: 3,
        expected: 4,
    };
    assert_eq!(new(terms, separate, of(0.5, &[1.0; 3])), Err(coefficients));
    let intercept = LearnedScoreError::Intercept { value: 0.5 };
    let within = Likelihood::WithinEpisode;
    assert_eq!(new(terms, within, of(0.5, &[1.0; 4])), Err(intercept));
    for bad in [f64::NAN, f64::INFINITY, -1.1e9] {
        let refused = |result| matches!(result, Err(LearnedScoreError::Coefficient { .. }));
        assert!(refused(new(
            terms,
            separate,
            of(0.5, &[1.0, bad, 0.0, 0.0])
        )));
        assert!(refused(new(terms, separate, of(bad, &[1.0; 4]))));
    }
}

/// The largest coefficients that are allowed still give every world a score. (Each world for itself, all may be
/// certain, and then all score 0.)
#[test]
fn extreme_coefficients_give_scores() {
    for (set, sign) in [(FeatureSet::Episode, 1.0), (FeatureSet::Shape, -1.0)] {
        let coefficients = vec![sign * 1e9; set.features().len()];
        for likelihood in Likelihood::ALL {
            let regression = LogisticRegression::of(0.0, coefficients.clone());
            let score = LearnedScore::new(set, likelihood, ScoreForm::AgainstBest, regression);
            let score = score.unwrap();
            for case in episodes(Split::Test, 50) {
                let scores = score.scores(case.terms());
                let best = scores
                    .iter()
                    .filter(|score| **score == Micros::ZERO)
                    .count();
                assert!(best >= 1, "{scores:?}");
                let told_apart = likelihood == Likelihood::WithinEpisode || sign < 0.0;
                assert_eq!(best < scores.len(), told_apart, "{scores:?}");
            }
        }
    }
}

#[test]
fn a_feature_that_hardly_varies_is_no_score() {
    let mut data = TrainingSet::new(4);
    let tiny = 1e-11;
    for _ in 0..50 {
        data.add_episode(&[[0.0, 0.0, 0.0, tiny], [0.0; 4]], 0)
            .unwrap();
    }
    let fit = LogisticRegression::fit(&data, Likelihood::Separate, ridge(1e-3)).unwrap();
    let score = LearnedScore::new(
        FeatureSet::Terms,
        Likelihood::Separate,
        ScoreForm::Probability,
        fit,
    );
    let error: FitError = score.unwrap_err().into();
    assert!(
        error
            .to_string()
            .contains("is not within a thousand million"),
        "{error}"
    );
}
