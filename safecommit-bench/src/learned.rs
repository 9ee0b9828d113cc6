//! A nonconformity score that is learned on the terms of Eq. 9: fitted on the train split, chosen on validation,
//! calibrated like any other score after that.

mod cholesky;
mod choose;
mod compare;
mod episode;
mod error;
mod features;
mod logistic;
mod measure;
mod score;
#[cfg(test)]
mod tests;
mod training;
mod wire;

pub use choose::{Candidate, CandidateResult, Choice, choose, choose_on_frozen};
pub use compare::{ScoreComparison, compare_scores};
pub use episode::EpisodeWithTerms;
pub use error::{ChooseError, FitError, LearnedScoreError, TermsError};
pub use features::{Feature, FeatureSet, WorldFeatures};
pub use logistic::{Likelihood, LogisticRegression};
pub use measure::{Criterion, ScoreRun};
pub use score::{LearnedScore, ScoreForm};
pub use training::TrainingSet;
