//! Fits candidates on one split and chooses among them on another.

use std::fmt;

use rayon::prelude::*;

use crate::bounded::Positive;
use crate::counts::Counts;
use crate::episode::Episode;
use crate::generator::{Generator, Split, Suite};
use crate::parameters::Parameters;

use super::episode::EpisodeWithTerms;
use super::error::ChooseError;
use super::features::FeatureSet;
use super::logistic::Likelihood;
use super::measure::Criterion;
use super::score::{LearnedScore, ScoreForm};

/// What a score may be made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The features.
    pub features: FeatureSet,
    /// What the regression takes for a probability.
    pub likelihood: Likelihood,
    /// What the score makes of the probability.
    pub form: ScoreForm,
    /// The ridge, see [`LogisticRegression`](super::LogisticRegression).
    pub ridge: Positive,
}

impl Candidate {
    /// The candidates of this project, the simpler first: fewer features before more, worlds each for itself before
    /// the episode as a whole, the probability itself before the quotient, the larger ridge before the smaller.
    #[must_use]
    pub fn grid(ridges: &[Positive]) -> Vec<Self> {
        let mut grid = Vec::new();
        for features in FeatureSet::ALL {
            for likelihood in Likelihood::ALL {
                for form in ScoreForm::ALL {
                    grid.extend(ridges.iter().map(|&ridge| Self {
                        features,
                        likelihood,
                        form,
                        ridge,
                    }));
                }
            }
        }
        grid
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            features,
            likelihood,
            form,
            ridge,
        } = self;
        write!(
            formatter,
            "{features} {likelihood} {form} ridge {}",
            ridge.get()
        )
    }
}

/// A candidate, what was fitted, and what came of it on validation.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateResult {
    /// The candidate.
    pub candidate: Candidate,
    /// The score as fitted on the training episodes.
    pub score: LearnedScore,
    /// What SafeCommit did with it on validation.
    pub counts: Counts,
    /// [`Criterion::loss`] of that.
    pub loss: u64,
}

/// All candidates with their results, and which one was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    results: Vec<CandidateResult>,
    chosen: usize,
    default_counts: Counts,
}

impl Choice {
    /// The chosen candidate.
    #[must_use]
    pub fn chosen(&self) -> &CandidateResult {
        &self.results[self.chosen]
    }

    /// The best candidate whose scores do not depend on the other worlds of an episode, so that nobody moves the
    /// score of the true world by adding others. `None` if there was no such candidate.
    #[must_use]
    pub fn best_of_one_world(&self) -> Option<&CandidateResult> {
        let results = self.results.iter();
        results
            .filter(|result| !result.score.reads_other_worlds())
            .min_by_key(|result| result.loss)
    }

    /// All candidates, in the order given.
    #[must_use]
    pub fn results(&self) -> &[CandidateResult] {
        &self.results
    }

    /// What SafeCommit did with the default score on the same episodes.
    #[must_use]
    pub fn default_counts(&self) -> &Counts {
        &self.default_counts
    }
}

/// Fits every candidate on `train` and chooses the one with the least [`Criterion::loss`] on `validation`, the first of
/// several.
///
/// The loss is fixed beforehand. Probes alone would not do: a score that leaves many sets empty asks little and falls
/// back, so an episode that does not end in a safe commit costs as much as the whole budget. Either half of
/// `validation` (the first one the shorter, if their number is odd) is measured under the threshold of the other half.
///
/// # Errors
///
/// There is no candidate, one cannot be fitted, or the halves of `validation` are too few for finite thresholds.
///
/// ```
/// use safecommit_bench::{
///     Candidate, Criterion, EpisodeWithTerms, Generator, Parameters, Positive, Split, Suite, choose,
/// };
///
/// let parameters = Parameters::project()?;
/// let draw = |split, count| {
///     let generator = Generator::new(&parameters.generator, Suite::Experiment { seed: 1 }, split);
///     EpisodeWithTerms::draw_all(&generator, count)
/// };
/// let (train, validation) = (draw(Split::Train, 100), draw(Split::Validation, 100));
/// let candidates = Candidate::grid(&[Positive::try_from(1.0)?]);
/// let choice = choose(&train, &validation, &candidates, &Criterion::of(&parameters.experiments))?;
/// assert_eq!(choice.results().len(), 12);
/// assert!(choice.results().iter().all(|result| choice.chosen().loss <= result.loss));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose(
    train: &[EpisodeWithTerms],
    validation: &[EpisodeWithTerms],
    candidates: &[Candidate],
    criterion: &Criterion,
) -> Result<Choice, ChooseError> {
    let half = (validation.len() / 2) as u64;
    if criterion.alpha.rank(half) > half {
        return Err(ChooseError::TooFewEpisodes {
            found: validation.len(),
            alpha: criterion.alpha,
        });
    }
    let scores = fit(train, candidates)?;
    let results: Vec<CandidateResult> = candidates
        .par_iter()
        .zip(scores)
        .map(|(&candidate, score)| {
            let rescored = validation.iter().map(|episode| score.rescore(episode));
            let counts = both_ways(&rescored.collect::<Vec<_>>(), criterion);
            CandidateResult {
                candidate,
                score,
                loss: criterion.loss(&counts),
                counts,
            }
        })
        .collect();
    let losses = results.iter().enumerate();
    let chosen = losses
        .min_by_key(|(_, result)| result.loss)
        .map(|(position, _)| position)
        .ok_or(ChooseError::NoCandidate)?;
    let unchanged: Vec<Episode> = validation
        .iter()
        .map(|episode| episode.episode().clone())
        .collect();
    Ok(Choice {
        results,
        chosen,
        default_counts: both_ways(&unchanged, criterion),
    })
}

/// [`choose`] among [`Candidate::grid`] with ridges 10, 1, 0.1 and 0.01 on the frozen train and validation splits, by
/// the setting of the main experiment: the learned score of this project.
///
/// # Errors
///
/// As [`choose`], for frozen splits that are too small.
pub fn choose_on_frozen(parameters: &Parameters) -> Result<Choice, ChooseError> {
    let suite = Suite::Frozen {
        seed: parameters.frozen.seed,
    };
    let draw = |split| {
        let generator = Generator::new(&parameters.generator, suite, split);
        EpisodeWithTerms::draw_all(&generator, parameters.frozen.episodes(split))
    };
    let ridges: Vec<Positive> = RIDGES
        .iter()
        .filter_map(|&ridge| Positive::try_from(ridge).ok())
        .collect();
    choose(
        &draw(Split::Train),
        &draw(Split::Validation),
        &Candidate::grid(&ridges),
        &Criterion::of(&parameters.experiments),
    )
}

/// In units of the log-likelihood, for standardised features: around the one that a normal prior of variance 1 gives.
const RIDGES: [f64; 4] = [10.0, 1.0, 0.1, 0.01];

/// The score of every candidate. Those that differ in their form share the regression.
fn fit(
    train: &[EpisodeWithTerms],
    candidates: &[Candidate],
) -> Result<Vec<LearnedScore>, ChooseError> {
    let mut fitted: Vec<LearnedScore> = Vec::with_capacity(candidates.len());
    for (position, &candidate) in candidates.iter().enumerate() {
        let Candidate {
            features,
            likelihood,
            form,
            ridge,
        } = candidate;
        let known = candidates[..position].iter().zip(&fitted);
        let known = known
            .filter(|(other, _)| Candidate { form, ..**other } == candidate)
            .map(|(_, score)| score.with_form(form))
            .next();
        let score = match known {
            Some(score) => score,
            None => LearnedScore::fit(train, features, likelihood, form, ridge)
                .map_err(|reason| ChooseError::Fit { candidate, reason })?,
        };
        fitted.push(score);
    }
    Ok(fitted)
}

/// What SafeCommit did on either half of some episodes under the threshold of the other half.
fn both_ways(episodes: &[Episode], criterion: &Criterion) -> Counts {
    let (first, second) = episodes.split_at(episodes.len() / 2);
    let mut counts = criterion.measure(first, second).with_probes;
    counts += criterion.measure(second, first).with_probes;
    counts
}
