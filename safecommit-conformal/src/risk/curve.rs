//! The loss of one case.

use serde::{Deserialize, Serialize};

use super::{RiskCurves, RiskError};
use crate::score::{CalibrationScore, Score};
use crate::threshold::Threshold;

/// The loss of one case as a function of the threshold: constant between breakpoints, and at a
/// breakpoint already what it is after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct RiskCurve {
    /// The loss below the first breakpoint.
    first: u32,
    /// Ascending: the score and the loss from there on.
    steps: Vec<(Score, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    first: u32,
    steps: Vec<(Score, u32)>,
}

impl RiskCurve {
    /// The function that is `first` below all breakpoints, and from each breakpoint on the loss
    /// that stands with it. Above the last one, and for an unbounded threshold, that is the loss.
    ///
    /// # Errors
    ///
    /// [`RiskError::Breakpoints`] unless breakpoints ascend.
    pub fn new(
        first: u32,
        steps: impl IntoIterator<Item = (Score, u32)>,
    ) -> Result<Self, RiskError> {
        let steps: Vec<(Score, u32)> = steps.into_iter().collect();
        match steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            Some(pair) => Err(RiskError::Breakpoints {
                breakpoint: pair[1].0,
            }),
            None => Ok(Self { first, steps }),
        }
    }

    /// The loss of one case by trying out every threshold at which it can change: those at `scores`, the
    /// scores of the case's own worlds, in any order. `first` is the loss below all of them, where
    /// nothing is plausible: 0 for a loss of acting, since an empty plausible set falls back.
    ///
    /// `loss` decides the case once at each of these thresholds, with whatever answers it would have
    /// had there, and it has to be a function of the case and the threshold alone: equal random numbers at
    /// every threshold. The thresholds promise nothing ([`Threshold::is_trial`]), and are for this trial only.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{RiskCurve, Score};
    ///
    /// // An unsafe action is certified while only the world that suggests it is plausible.
    /// let [suggests, forbids] = [0.1, 0.6].map(|value| Score::new(value).unwrap());
    /// let curve = RiskCurve::replay([forbids, suggests], 0, |threshold| {
    ///     u32::from(threshold.retains(suggests) && !threshold.retains(forbids))
    /// });
    /// assert_eq!(curve.steps(), [(suggests, 1), (forbids, 0)]);
    /// ```
    pub fn replay(
        scores: impl IntoIterator<Item = Score>,
        first: u32,
        mut loss: impl FnMut(&Threshold) -> u32,
    ) -> Self {
        let mut scores: Vec<Score> = scores.into_iter().collect();
        scores.sort_unstable();
        scores.dedup();
        let mut steps: Vec<(Score, u32)> = Vec::with_capacity(scores.len());
        for score in scores {
            let here = loss(&Threshold::trial(score));
            if here != steps.last().map_or(first, |(_, loss)| *loss) {
                steps.push((score, here));
            }
        }
        Self { first, steps }
    }

    /// The coverage loss: 1 until the threshold reaches the score of the true world, 1 always if it
    /// is missing.
    pub fn coverage(score: CalibrationScore) -> Self {
        Self {
            first: 1,
            steps: score
                .observed()
                .map(|score| (score, 0))
                .into_iter()
                .collect(),
        }
    }

    /// The loss at a finite threshold.
    pub fn at(&self, threshold: Score) -> u32 {
        let reached = self.steps.partition_point(|(score, _)| *score <= threshold);
        reached
            .checked_sub(1)
            .map_or(self.first, |last| self.steps[last].1)
    }

    /// The loss at an unbounded threshold.
    pub fn last(&self) -> u32 {
        self.steps.last().map_or(self.first, |(_, loss)| *loss)
    }

    /// The loss below the first breakpoint.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The breakpoints, ascending, with the loss from each on.
    pub fn steps(&self) -> &[(Score, u32)] {
        &self.steps
    }

    pub(super) fn largest(&self) -> u32 {
        self.steps
            .iter()
            .map(|(_, loss)| *loss)
            .fold(self.first, u32::max)
    }

    /// Whether it is the coverage loss of some score.
    pub(super) fn is_coverage(&self) -> bool {
        self.first == 1 && matches!(self.steps[..], [] | [(_, 0)])
    }

    pub(super) fn is_monotone(&self) -> bool {
        let mut before = self.first;
        self.steps.iter().all(|(_, loss)| {
            let fine = *loss <= before;
            before = *loss;
            fine
        })
    }

    pub(super) fn envelope(&self) -> Self {
        let mut largest = 0;
        let mut steps = self.steps.clone();
        for (_, loss) in steps.iter_mut().rev() {
            largest = largest.max(*loss);
            *loss = largest;
        }
        Self {
            first: self.first.max(largest),
            steps,
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let steps = self.steps.iter();
        let steps = steps.flat_map(|(score, loss)| [score.value().to_bits(), u64::from(*loss)]);
        [u64::from(self.first), self.steps.len() as u64]
            .into_iter()
            .chain(steps)
    }
}

impl RiskCurves {
    /// The first case whose loss increases with the threshold.
    pub(crate) fn first_increase(&self) -> Option<usize> {
        self.curves().iter().position(|curve| !curve.is_monotone())
    }
}

impl TryFrom<Wire> for RiskCurve {
    type Error = RiskError;

    fn try_from(wire: Wire) -> Result<Self, RiskError> {
        Self::new(wire.first, wire.steps)
    }
}

impl From<RiskCurve> for Wire {
    fn from(curve: RiskCurve) -> Self {
        Self {
            first: curve.first,
            steps: curve.steps,
        }
    }
}
