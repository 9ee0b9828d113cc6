//! What the greedy rule comes to from a set of worlds: the rule of `shrinkage.rs` on bit masks.

use super::masks::{Masks, Value};
use crate::shrinkage::{ROUNDING, SCORE_TOLERANCE};

/// Reusable memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Greedy {
    /// M(a), for each set of worlds that blocks an action.
    mass: Vec<f64>,
}

impl Greedy {
    /// What the greedy rule comes to from `set`, with so many probes `left`.
    pub(super) fn value(
        &mut self,
        masks: &Masks,
        set: u64,
        left: usize,
        stopping_score: f64,
    ) -> Value {
        if let Some(ending) = masks.ending(set) {
            return ending;
        }
        let mass = masks.mass(set);
        let chosen = (left > 0).then(|| self.choose(masks, set, mass, stopping_score));
        let Some((probe, cost)) = chosen.flatten() else {
            return Value::stop(mass);
        };
        let mut value = Value {
            uncertified: 0.0,
            cost: cost * mass,
        };
        for part in masks.parts(probe, set) {
            value.add(self.value(masks, part, left - 1, stopping_score));
        }
        value
    }

    /// The probe with the largest Delta / c in `set`, and its cost, if that is above the score at which
    /// the rule stops.
    fn choose(
        &mut self,
        masks: &Masks,
        set: u64,
        total: f64,
        stopping_score: f64,
    ) -> Option<(usize, f64)> {
        let sets = masks.blocking().iter();
        self.mass.clear();
        self.mass
            .extend(sets.map(|blocked| masks.mass(blocked & set)));
        let before = smallest(self.mass.iter().copied());
        let mut best: Option<(usize, f64, f64)> = None;
        for (probe, cost) in masks.probes() {
            if !masks.tells_apart(probe, set) {
                continue;
            }
            // Given that the true world is in the set, as the controller will see it.
            let mut shrinkage = (before - self.after(masks, probe, set)) / total;
            if shrinkage.abs() <= ROUNDING {
                shrinkage = 0.0;
            }
            let score = (shrinkage / cost).clamp(f64::MIN, f64::MAX);
            if best.is_none_or(|(_, _, incumbent)| score > incumbent + SCORE_TOLERANCE) {
                best = Some((probe, cost, score));
            }
        }
        let (probe, cost, score) = best?;
        (score > stopping_score).then_some((probe, cost))
    }

    /// Sum over outcomes of min_a M_y(a).
    fn after(&self, masks: &Masks, probe: usize, set: u64) -> f64 {
        let smallest_in = |part: u64| {
            let sets = masks.blocking().iter();
            smallest(sets.map(|blocked| masks.mass(blocked & part)))
        };
        let mut parts = masks.parts(probe, set);
        let (Some(one), Some(other), None) = (parts.next(), parts.next(), parts.next()) else {
            return masks.parts(probe, set).map(smallest_in).sum();
        };
        // A question about one world takes its weight from what blocks an action, or nothing.
        let (asked, rest) = if one.count_ones() == 1 {
            (one, other)
        } else {
            (other, one)
        };
        if asked.count_ones() > 1 {
            return smallest_in(one) + smallest_in(other);
        }
        let weight = masks.mass(asked);
        let taken = |blocked: u64| if blocked & asked == 0 { 0.0 } else { weight };
        let sets = masks.blocking();
        let yes = smallest(sets.iter().map(|&blocked| taken(blocked)));
        let no = if rest.count_ones() == 1 {
            smallest_in(rest)
        } else {
            let mass = sets.iter().zip(&self.mass);
            smallest(mass.map(|(&blocked, mass)| mass - taken(blocked)))
        };
        yes + no
    }
}

fn smallest(mass: impl Iterator<Item = f64>) -> f64 {
    mass.fold(f64::INFINITY, f64::min)
}
