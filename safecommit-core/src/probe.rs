//! Probes: low-side-effect ways to learn something, with the outcomes that each world expects.

use crate::problem::ProblemError;
use crate::units::{Cost, Probability};

/// How far the outcome probabilities of a world may be from one, for rounding in their source.
pub const PROBABILITY_SUM_TOLERANCE: f64 = 1e-9;

/// A probe of a [`crate::Problem`]: cost, error rate, outcomes.
#[derive(Clone, Debug)]
pub struct Probe {
    pub(crate) cost: Cost,
    pub(crate) error_rate: Probability,
    pub(crate) repeatable_later: bool,
    pub(crate) kind: Kind,
}

/// P(y | omega) of a probe, as given to [`crate::Problem::add_probe`].
///
/// An outcome removes exactly the worlds in which its probability is zero, and multiplies the weights of
/// the others by it; scores stay as they are.
///
/// ```
/// use safecommit_conformal::Score;
/// use safecommit_core::{Cost, OutcomeModel, Probability, Problem, ProblemError, Subject};
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// problem.add_world(Score::ZERO, [])?;
/// problem.add_world(Score::ZERO, [])?;
/// // The first world yields outcome 0 for certain, the second either one.
/// let rows = [1.0, 0.0, 0.5, 0.5];
/// let model = OutcomeModel::Likelihood { outcomes: 2, rows: &rows };
/// let probe = problem.add_probe(Cost::UNIT, Probability::ZERO, model)?;
/// assert_eq!(problem.likelihood(probe, 0, 1), 0.0);
/// assert_eq!(problem.likelihood(probe, 1, 1), 0.5);
/// # Ok::<(), ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum OutcomeModel<'a> {
    /// "Is `world` the true one?" with a truthful answer: outcome [`YES`] or [`NO`].
    Identity {
        /// The world asked about.
        world: usize,
    },
    /// Each world yields one certain outcome.
    Partition {
        /// How many outcomes the probe declares.
        outcomes: usize,
        /// The outcome of each world.
        outcome_of: &'a [u32],
    },
    /// Each world yields each outcome with a probability; a row of `outcomes` numbers a world. A row
    /// sums to one within [`PROBABILITY_SUM_TOLERANCE`] and is divided by its sum.
    Likelihood {
        /// How many outcomes the probe declares.
        outcomes: usize,
        /// P(y | omega), world by world.
        rows: &'a [f64],
    },
}

/// Outcome of an [`OutcomeModel::Identity`] probe: the world asked about is the true one.
pub const YES: usize = 0;
/// Outcome of an [`OutcomeModel::Identity`] probe: the world asked about is not the true one.
pub const NO: usize = 1;

impl Probe {
    /// What making it costs.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The probability that its answer is wrong. It joins the bound of every decision that used the
    /// answer; the controller otherwise treats the probe as free of error.
    #[must_use]
    pub fn error_rate(&self) -> Probability {
        self.error_rate
    }

    /// Whether it may be repeated later with a new answer.
    #[must_use]
    pub fn repeatable_later(&self) -> bool {
        self.repeatable_later
    }

    /// How many outcomes it declares.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        match self.kind {
            Kind::Identity { .. } => 2,
            Kind::Partition { outcomes, .. } | Kind::Likelihood { outcomes, .. } => outcomes,
        }
    }
}

/// Where the outcomes of a probe stand in [`Outcomes`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Identity { world: usize },
    Partition { outcomes: usize, start: usize },
    Likelihood { outcomes: usize, start: usize },
}

/// The outcome models of all probes of a problem, in two shared tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes {
    certain: Vec<u32>,
    likelihood: Vec<f64>,
}

impl Outcomes {
    pub(crate) fn clear(&mut self) {
        self.certain.clear();
        self.likelihood.clear();
    }

    /// Validates `model` against `worlds` proposed worlds and stores it.
    pub(crate) fn add(
        &mut self,
        worlds: usize,
        model: OutcomeModel<'_>,
    ) -> Result<Kind, ProblemError> {
        match model {
            OutcomeModel::Identity { world } => {
                if world >= worlds {
                    return Err(ProblemError::UnknownWorld { world });
                }
                Ok(Kind::Identity { world })
            }
            OutcomeModel::Partition {
                outcomes,
                outcome_of,
            } => {
                check_size(outcomes, outcome_of.len(), worlds)?;
                for &outcome in outcome_of {
                    check_outcome(outcome as usize, outcomes)?;
                }
                let start = self.certain.len();
                self.certain.extend_from_slice(outcome_of);
                Ok(Kind::Partition { outcomes, start })
            }
            OutcomeModel::Likelihood { outcomes, rows } => {
                check_size(outcomes, rows.len(), worlds.saturating_mul(outcomes))?;
                for (world, row) in rows.chunks_exact(outcomes).enumerate() {
                    for &value in row {
                        Probability::new(value)?;
                    }
                    let sum: f64 = row.iter().sum();
                    if (sum - 1.0).abs() > PROBABILITY_SUM_TOLERANCE {
                        return Err(ProblemError::ProbabilitiesDoNotSumToOne { world, sum });
                    }
                }
                let start = self.likelihood.len();
                for row in rows.chunks_exact(outcomes) {
                    // A row that sums to a little less than one would make a probe that tells nothing
                    // look as if it removed that little.
                    let sum: f64 = row.iter().sum();
                    self.likelihood.extend(row.iter().map(|value| value / sum));
                }
                Ok(Kind::Likelihood { outcomes, start })
            }
        }
    }

    /// P(outcome | world) of `probe`, for a world of the problem.
    pub(crate) fn likelihood(&self, probe: &Probe, world: usize, outcome: usize) -> f64 {
        match probe.kind {
            Kind::Identity { world: asked } => {
                let answer = if asked == world { YES } else { NO };
                indicator(answer == outcome)
            }
            Kind::Partition { start, .. } => {
                indicator(self.certain[start + world] as usize == outcome)
            }
            Kind::Likelihood { outcomes, start } if outcome < outcomes => {
                self.likelihood[start + world * outcomes + outcome]
            }
            Kind::Likelihood { .. } => 0.0,
        }
    }

    /// The outcome of `probe` that alone is possible in `world`; `None` if several are.
    pub(crate) fn only(&self, probe: &Probe, world: usize) -> Option<usize> {
        match probe.kind {
            Kind::Identity { world: asked } => Some(if asked == world { YES } else { NO }),
            Kind::Partition { start, .. } => Some(self.certain(start, world)),
            Kind::Likelihood { outcomes, start } => {
                let row = self.row(start, outcomes, world).iter();
                let mut possible = row.enumerate().filter(|(_, value)| **value > 0.0);
                let (outcome, _) = possible.next()?;
                possible.next().is_none().then_some(outcome)
            }
        }
    }

    /// The certain outcome of `world` under a partition that starts at `start`.
    pub(crate) fn certain(&self, start: usize, world: usize) -> usize {
        self.certain[start + world] as usize
    }

    /// The outcome probabilities of `world` under a likelihood that starts at `start`.
    pub(crate) fn row(&self, start: usize, outcomes: usize, world: usize) -> &[f64] {
        let from = start + world * outcomes;
        &self.likelihood[from..from + outcomes]
    }
}

fn indicator(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

fn check_size(outcomes: usize, entries: usize, expected: usize) -> Result<(), ProblemError> {
    if outcomes == 0 {
        return Err(ProblemError::NoOutcomes);
    }
    if entries != expected {
        return Err(ProblemError::OutcomeModelSize { entries, expected });
    }
    Ok(())
}

fn check_outcome(outcome: usize, outcomes: usize) -> Result<(), ProblemError> {
    if outcome < outcomes {
        Ok(())
    } else {
        Err(ProblemError::UnknownOutcome { outcome, outcomes })
    }
}
