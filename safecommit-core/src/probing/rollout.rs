//! [`Probing::Rollout`](super::Probing::Rollout): one step of lookahead over the greedy rule.

use super::greedy::Greedy;
use super::masks::{Limits, Masks};
use super::{State, probes_left};

pub(super) const LIMITS: Limits = Limits {
    worlds: 64,
    probes: 128,
};

/// The probe that is cheapest when the greedy rule follows it, by its position in the problem.
///
/// Stopping and what the greedy rule would do are among the choices, so that by induction over the
/// answers to come the rule is never worse than the greedy one.
pub(super) fn choose(masks: &Masks, greedy: &mut Greedy, state: &State<'_>) -> Option<usize> {
    let left = probes_left(state).saturating_sub(1);
    let stopping_score = super::stopping_score(state);
    let follow = |part| greedy.value(masks, part, left, stopping_score);
    let (_, chosen) = masks.best(masks.all(), follow);
    chosen.map(|probe| masks.position(probe))
}
