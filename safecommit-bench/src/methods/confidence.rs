//! How sure the weights are of an action, and how sure is sure enough.

use smallvec::SmallVec;

use super::ProposedWorld;
use crate::bounded::{Positive, Probability};

/// A later action leads only if its share is larger by more than this: shares that are equal may differ
/// in their rounding.
const TOLERANCE: f64 = 1e-12;

/// The share of the weights that an action needs before a method acts on it. Ordered from the least
/// demanding threshold to [`Self::Never`].
///
/// The share of action a over some worlds is the sum of w over those in which a is safe, divided by the
/// sum over all of them, with w = exp(-s / T) (the weights that also rank the probes of Eq. 12 of Akewar and
/// Ranjan, arXiv:2608.04289). It is in [0, 1], and exactly 1 when the action is safe in every one of
/// them. It is a confidence, not a probability: nothing calibrates it.
///
/// ```
/// use safecommit_bench::{ConfidenceThreshold, Probability};
///
/// let half = ConfidenceThreshold::AtLeast(Probability::try_from(0.5)?);
/// assert!(half.passes(0.5) && !half.passes(0.499));
/// assert!(ConfidenceThreshold::ALWAYS.passes(0.0));
/// assert!(!ConfidenceThreshold::Never.passes(1.0));
/// assert!(ConfidenceThreshold::ALWAYS < half && half < ConfidenceThreshold::Never);
/// # Ok::<(), safecommit_bench::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum ConfidenceThreshold {
    /// A share of at least this passes.
    AtLeast(Probability),
    /// No share passes.
    Never,
}

impl ConfidenceThreshold {
    /// Every share passes.
    pub const ALWAYS: Self = Self::AtLeast(Probability::ZERO);

    /// Whether a share is large enough.
    #[must_use]
    pub fn passes(self, share: f64) -> bool {
        match self {
            Self::AtLeast(least) => share >= least.get(),
            Self::Never => false,
        }
    }
}

/// Some worlds with their weights, relative to the heaviest: then no temperature makes all of them zero.
pub(super) struct Weights<'a> {
    worlds: &'a [ProposedWorld],
    weights: SmallVec<[f64; 6]>,
    total: f64,
}

impl<'a> Weights<'a> {
    pub(super) fn of(worlds: &'a [ProposedWorld], temperature: Positive) -> Self {
        let scores = worlds.iter().map(|world| world.score.count());
        let smallest = scores.clone().min().unwrap_or(0);
        let weights: SmallVec<[f64; 6]> = scores
            .map(|score| {
                let distance = f64::from(score - smallest) / 1e6;
                libm::exp(-distance / temperature.get())
            })
            .collect();
        // By position, like the sums over fewer worlds: rounding is monotone, so none of those exceeds it.
        let total = weights.iter().sum();
        Self {
            worlds,
            weights,
            total,
        }
    }

    /// The share of an action, over at least one world.
    pub(super) fn share(&self, action: usize) -> f64 {
        let pairs = self.worlds.iter().zip(&self.weights);
        let safe = pairs.filter(|(world, _)| world.safe >> action & 1 == 1);
        safe.map(|(_, weight)| weight).sum::<f64>() / self.total
    }

    /// The action with the largest share among those that are safe in some world, the first on a tie, and
    /// its share.
    pub(super) fn leading(&self, actions: usize) -> Option<(usize, f64)> {
        let safe_somewhere = self.worlds.iter().fold(0, |set, world| set | world.safe);
        let mut best: Option<(usize, f64)> = None;
        for action in (0..actions).filter(|action| safe_somewhere >> action & 1 == 1) {
            let share = self.share(action);
            if best.is_none_or(|(_, incumbent)| share > incumbent + TOLERANCE) {
                best = Some((action, share));
            }
        }
        best
    }
}
