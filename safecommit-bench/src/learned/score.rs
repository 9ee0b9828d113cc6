//! The learned score: fixed features, fixed coefficients, and what they make of an episode.

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::bounded::Positive;
use crate::episode::Episode;
use crate::micros::Micros;

use super::episode::EpisodeWithTerms;
use super::error::{FitError, LearnedScoreError};
use super::features::{FeatureSet, WorldFeatures};
use super::logistic::{Likelihood, LogisticRegression, log_sum_exp, softplus};
use super::training::TrainingSet;
use super::wire::{WireForm, WireObject, version_of};

/// What the score of a world is, given the probability p that the regression gives it. The fourth root keeps
/// small probabilities apart on the grid of millionths, and makes weights exp(-score / 0.25) of likely worlds go with
/// the probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreForm {
    /// 1 - p^(1/4): how improbable the world is. A threshold below that of every world leaves an empty set, which
    /// falls back.
    Probability,
    /// 1 - (p / largest p of the episode)^(1/4): how much less probable than the most probable world, which has
    /// score 0. Some world is always retained, so that no episode falls back for want of one; that the true world
    /// was never proposed cannot show in an empty set either.
    AgainstBest,
}

impl ScoreForm {
    /// The forms.
    pub const ALL: [Self; 2] = [Self::Probability, Self::AgainstBest];

    /// The name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Probability => "probability",
            Self::AgainstBest => "against_best",
        }
    }
}

impl fmt::Display for ScoreForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A nonconformity score learned on the terms of Eq. 9 (Akewar and Ranjan, arXiv:2608.04289), to be put in the place of
/// their sum.
///
/// # What it may read
///
/// [`LearnedScore::scores`] is given the four terms of the proposed worlds of an episode and nothing else: not the
/// family, not what worlds hold to be safe, not which world is true. A world's order among the others leaves no
/// trace in its score.
///
/// # What it guarantees
///
/// Fitted on one split and chosen on a second one, it is a fixed function when a third one is calibrated, so Eq. 3 and
/// Proposition 1 hold as for any score: with exchangeable episodes, the true world is retained with probability
/// at least 1 - alpha. (With [`ScoreForm::AgainstBest`] many true worlds have score 0, and the coverage may be
/// well above that.) A bad fit costs probes, never validity.
///
/// A score that looks at other worlds ([`LearnedScore::reads_other_worlds`]) is scored once, when worlds are proposed,
/// and not again after a probe. And it needs more of exchangeability: whoever adds worlds of his own making to a
/// proposal changes the score of the true one, and no calibration on proposals without him covers that. The sum of
/// the terms, and a learned score of one world, cannot be moved in this way.
///
/// # Form
///
/// Serialises to an object with a format version, the names of the features, the coefficients and a digest of all of
/// it, the [version](LearnedScore::version) of the score. Loading checks every field and refuses a digest that does
/// not belong to the others. The digest catches damage; it is no signature.
///
/// ```
/// use safecommit_bench::{
///     EpisodeWithTerms, FeatureSet, Generator, LearnedScore, Likelihood, Parameters, Positive, ScoreForm, Split,
///     Suite, calibrate,
/// };
///
/// let parameters = Parameters::project()?;
/// let draw = |split, count| {
///     let generator = Generator::new(&parameters.generator, Suite::Frozen { seed: 1 }, split);
///     EpisodeWithTerms::draw_all(&generator, count)
/// };
/// let (within, form) = (Likelihood::WithinEpisode, ScoreForm::AgainstBest);
/// let train = draw(Split::Train, 400);
/// let score = LearnedScore::fit(&train, FeatureSet::Episode, within, form, Positive::try_from(1.0)?)?;
///
/// let cases: Vec<_> = draw(Split::Calibration, 99).iter().map(|case| score.rescore(case)).collect();
/// let calibration = calibrate("0.1".parse()?, &cases);
/// assert_eq!(calibration.rank(), 90);
///
/// let json = serde_json::to_string(&score)?;
/// assert_eq!(serde_json::from_str::<LearnedScore>(&json)?, score);
/// assert!(serde_json::from_str::<LearnedScore>(&json.replace("against_best", "probability")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WireObject", into = "WireForm")]
pub struct LearnedScore {
    // Invariants: as many coefficients as the set has features, none beyond MAX_COEFFICIENT in magnitude, nor the
    // intercept, which is 0 within the episode.
    features: FeatureSet,
    likelihood: Likelihood,
    form: ScoreForm,
    regression: LogisticRegression,
}

/// The largest magnitude of a coefficient. Features are at most 2, so log-odds stay far from overflow, and no score is
/// made of something that is not a number.
pub(super) const MAX_COEFFICIENT: f64 = 1e9;

impl LearnedScore {
    /// Fits the score on training episodes. Those whose true world is not proposed are left out: they do not show what
    /// a true world looks like.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the episodes give nothing to learn from, or a coefficient too large for [`LearnedScore::new`].
    pub fn fit<'a>(
        train: impl IntoIterator<Item = &'a EpisodeWithTerms>,
        features: FeatureSet,
        likelihood: Likelihood,
        form: ScoreForm,
        ridge: Positive,
    ) -> Result<Self, FitError> {
        let data = training_set(train, features)?;
        let regression = LogisticRegression::fit(&data, likelihood, ridge)?;
        Ok(Self::new(features, likelihood, form, regression)?)
    }

    /// A score of a regression that was fitted on these features.
    ///
    /// # Errors
    ///
    /// The regression has another number of coefficients than the set has features, one beyond a thousand million,
    /// or an intercept within the episode.
    pub fn new(
        features: FeatureSet,
        likelihood: Likelihood,
        form: ScoreForm,
        regression: LogisticRegression,
    ) -> Result<Self, LearnedScoreError> {
        let (found, expected) = (regression.coefficients().len(), features.features().len());
        if found != expected {
            return Err(LearnedScoreError::Coefficients { found, expected });
        }
        let intercept = regression.intercept();
        let numbers = regression.coefficients().iter().copied();
        for value in numbers.chain([intercept]) {
            // Not a number is not within the range either.
            if !(-MAX_COEFFICIENT..=MAX_COEFFICIENT).contains(&value) {
                return Err(LearnedScoreError::Coefficient { value });
            }
        }
        if likelihood == Likelihood::WithinEpisode && intercept.abs() > 0.0 {
            return Err(LearnedScoreError::Intercept { value: intercept });
        }
        Ok(Self {
            features,
            likelihood,
            form,
            regression,
        })
    }

    /// The same regression in another form.
    #[must_use]
    pub fn with_form(&self, form: ScoreForm) -> Self {
        Self {
            form,
            ..self.clone()
        }
    }

    /// The scores of worlds from the terms of all proposed worlds of their episode, in the same order: in [0, 1],
    /// rounded to a millionth, larger is stranger.
    #[must_use]
    pub fn scores(&self, proposed: &[[Micros; 4]]) -> SmallVec<[Micros; 6]> {
        let features = WorldFeatures::of_proposed(proposed);
        let log_odds: SmallVec<[f64; 6]> = features
            .iter()
            .map(|world| self.regression.log_odds(&world.row(self.features)))
            .collect();
        let log_probabilities: SmallVec<[f64; 6]> = match self.likelihood {
            Likelihood::Separate => log_odds.iter().map(|z| -softplus(-z)).collect(),
            Likelihood::WithinEpisode => {
                let normaliser = log_sum_exp(&log_odds);
                log_odds.iter().map(|z| z - normaliser).collect()
            }
        };
        let reference = match self.form {
            ScoreForm::Probability => 0.0,
            ScoreForm::AgainstBest => log_probabilities.iter().copied().fold(f64::MIN, f64::max),
        };
        log_probabilities
            .iter()
            .map(|log| Micros::clipped(-libm::expm1((log - reference) / 4.0)))
            .collect()
    }

    /// The episode with the learned scores in the place of the default ones, for every method and for
    /// [`calibrate`](crate::calibrate). Nothing else changes, except that worlds which are not proposed have score 1,
    /// which nothing reads.
    #[must_use]
    pub fn rescore(&self, episode: &EpisodeWithTerms) -> Episode {
        episode.with_scores(&self.scores(&episode.proposed_terms()))
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> FeatureSet {
        self.features
    }

    /// What the regression takes for a probability.
    #[must_use]
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    /// What the score makes of the probability.
    #[must_use]
    pub fn form(&self) -> ScoreForm {
        self.form
    }

    /// The regression.
    #[must_use]
    pub fn regression(&self) -> &LogisticRegression {
        &self.regression
    }

    /// Whether the score of a world depends on which other worlds are proposed.
    #[must_use]
    pub fn reads_other_worlds(&self) -> bool {
        !self.features.is_of_one_world()
            || self.likelihood == Likelihood::WithinEpisode
            || self.form == ScoreForm::AgainstBest
    }

    /// The version of the score: the SHA-256 of its format, the names of features, likelihood and form, and the
    /// bits of intercept and coefficients, as 64 lower-case hexadecimal digits. Scores of one version give
    /// equal episodes equal scores.
    #[must_use]
    pub fn version(&self) -> String {
        version_of(self)
    }
}

/// The training set of the proposed worlds of episodes.
pub(super) fn training_set<'a>(
    episodes: impl IntoIterator<Item = &'a EpisodeWithTerms>,
    features: FeatureSet,
) -> Result<TrainingSet, FitError> {
    let mut data = TrainingSet::new(features.features().len());
    for episode in episodes {
        let truth = episode.episode().true_world();
        let proposed = episode.episode().proposed();
        let Some(truth) = proposed.iter().position(|&world| world == truth) else {
            continue;
        };
        let worlds = WorldFeatures::of_proposed(&episode.proposed_terms());
        let rows: SmallVec<[_; 6]> = worlds.iter().map(|world| world.row(features)).collect();
        data.add_episode(&rows, truth)?;
    }
    Ok(data)
}
