//! What a learned score may not depend on, its fit against other algorithms, and its wire form.

mod fit;
mod independence;
mod wire;

use crate::bounded::Positive;
use crate::generator::{Generator, Split, Suite};
use crate::parameters::Parameters;

use super::{EpisodeWithTerms, FeatureSet, LearnedScore, Likelihood, ScoreForm};

fn ridge(value: f64) -> Positive {
    Positive::try_from(value).unwrap()
}

/// Episodes that no experiment uses.
fn episodes(split: Split, count: u64) -> Vec<EpisodeWithTerms> {
    let parameters = Parameters::project().unwrap();
    let suite = Suite::Experiment { seed: 1_000_003 };
    EpisodeWithTerms::draw_all(&Generator::new(&parameters.generator, suite, split), count)
}

/// A score of every kind, fitted on a few episodes.
fn scores() -> Vec<LearnedScore> {
    let train = episodes(Split::Train, 200);
    let mut scores = Vec::new();
    for features in FeatureSet::ALL {
        for likelihood in Likelihood::ALL {
            for form in ScoreForm::ALL {
                let score = LearnedScore::fit(&train, features, likelihood, form, ridge(1.0));
                scores.push(score.unwrap());
            }
        }
    }
    scores
}
