//! [`Probing::Optimal`](super::Probing::Optimal): dynamic programming over sets of worlds.

use super::masks::{Limits, Masks, Value};
use super::{State, probes_left};

pub(super) const LIMITS: Limits = Limits {
    worlds: 16,
    probes: 64,
};

/// Values of the sets met, by number of probes left where that limits, and by set.
#[derive(Clone, Debug, Default)]
pub(super) struct Optimal {
    values: Vec<Value>,
}

/// A value that was not computed yet.
const UNKNOWN: Value = Value {
    uncertified: f64::NAN,
    cost: f64::NAN,
};

impl Optimal {
    /// The first probe of the best rule, by its position in the problem.
    pub(super) fn choose(&mut self, masks: &Masks, state: &State<'_>) -> Option<usize> {
        let left = probes_left(state);
        let levels = |worlds: usize| {
            if is_no_limit(left, worlds) {
                1
            } else {
                left.max(1)
            }
        };
        let most = state.problem.worlds().min(LIMITS.worlds);
        self.values.clear();
        // Room for a later decision of this size that retains more worlds.
        self.values.reserve(levels(most) << most);
        let worlds = masks.worlds();
        self.values.resize(levels(worlds) << worlds, UNKNOWN);
        let follow = |part| self.value(masks, part, left.saturating_sub(1));
        let (_, chosen) = masks.best(masks.all(), follow);
        chosen.map(|probe| masks.position(probe))
    }

    /// What the best rule comes to from `set` with so many probes `left`.
    fn value(&mut self, masks: &Masks, set: u64, left: usize) -> Value {
        if let Some(ending) = masks.ending(set) {
            return ending;
        }
        if left == 0 {
            return Value::stop(masks.mass(set));
        }
        let unlimited = is_no_limit(left, set.count_ones() as usize);
        let level = if unlimited { 0 } else { left };
        let slot = (level << masks.worlds()) + set as usize;
        let known = self.values[slot];
        if !known.cost.is_nan() {
            return known;
        }
        let (value, _) = masks.best(set, |part| self.value(masks, part, left - 1));
        self.values[slot] = value;
        value
    }
}

/// Whether the number of probes left is of no consequence: each takes a world away.
fn is_no_limit(left: usize, worlds: usize) -> bool {
    left >= worlds.saturating_sub(1)
}
