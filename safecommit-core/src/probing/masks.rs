//! What is left of a decision as bit masks over the retained worlds, for the rules that plan ahead.

use std::ops::Range;

use crate::plausible::Retained;
use crate::probe::Probe;
use crate::problem::Problem;
use crate::shrinkage::SCORE_TOLERANCE;

/// How large a decision may be for a rule to plan it.
pub(super) struct Limits {
    /// Retained worlds, at most 64.
    pub(super) worlds: usize,
    /// Probes that tell retained worlds apart.
    pub(super) probes: usize,
}

/// Actions that are blocked by different sets of worlds, at most.
const BLOCKING_SETS: usize = 64;

/// The retained worlds, the sets that block an action and the probes, a bit for each world.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    /// w of each world, normalised.
    weights: Vec<f64>,
    /// The sets of worlds in which an action is not safe, those that contain another left out: whatever
    /// is left, an action that is blocked by more is never certified alone, nor blocked least.
    blocking: Vec<u64>,
    /// The worlds in which some action is safe.
    hopeful: u64,
    probes: Vec<MaskedProbe>,
    /// The worlds that yield each outcome, probe by probe.
    cells: Vec<u64>,
    /// The outcomes of the probe that is being added, in the order of its cells.
    outcomes: Vec<usize>,
    cheapest: f64,
}

/// A probe that tells some of the worlds apart.
#[derive(Clone, Debug)]
struct MaskedProbe {
    position: usize,
    cost: f64,
    cells: Range<usize>,
}

/// What a rule comes to from a set of worlds, jointly with being in that set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    /// Mass of the worlds in which no certificate is reached.
    pub(super) uncertified: f64,
    /// Expected cost of the probes made.
    pub(super) cost: f64,
}

impl Value {
    pub(super) const NOTHING: Self = Self {
        uncertified: 0.0,
        cost: 0.0,
    };

    /// Stopping with this mass uncertified.
    pub(super) const fn stop(mass: f64) -> Self {
        Self {
            uncertified: mass,
            cost: 0.0,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.uncertified += other.uncertified;
        self.cost += other.cost;
    }

    /// Less mass uncertified, or as much and cheaper, by more than rounding in a set of this `mass`.
    fn beats(&self, other: &Self, mass: f64) -> bool {
        let gap = SCORE_TOLERANCE * mass;
        if self.uncertified < other.uncertified - gap {
            return true;
        }
        // Relative, so that costs of any unit are told apart.
        self.uncertified <= other.uncertified + gap
            && self.cost < other.cost * (1.0 - SCORE_TOLERANCE)
    }
}

impl Masks {
    /// Describes the retained worlds, which are weighed, and the probes for which `may_be_made` holds.
    /// `false` if that is beyond `limits` or an outcome is not certain; then there is nothing to plan on.
    pub(super) fn fill(
        &mut self,
        problem: &Problem,
        retained: &Retained,
        limits: &Limits,
        may_be_made: impl Fn(usize, &Probe) -> bool,
    ) -> bool {
        self.clear(problem, limits);
        if retained.members.len() > limits.worlds {
            return false;
        }
        self.weights.extend_from_slice(&retained.weights);
        for row in 0..retained.members.len() {
            let anything_safe = retained.signatures.row(row).iter().any(|&word| word != 0);
            self.hopeful |= u64::from(anything_safe) << row;
        }
        if !self.add_blocking(retained) {
            return false;
        }
        problem
            .probes()
            .iter()
            .enumerate()
            .filter(|(position, probe)| may_be_made(*position, probe))
            .all(|(position, probe)| self.add_probe(problem, retained, limits, position, probe))
    }

    /// Empties the memory, with room for any decision of this size within `limits`.
    fn clear(&mut self, problem: &Problem, limits: &Limits) {
        let worlds = problem.worlds().min(limits.worlds);
        let probes = problem.probes().len().min(limits.probes);
        self.weights.clear();
        self.weights.reserve(worlds);
        self.blocking.clear();
        self.blocking
            .reserve(problem.actions().len().min(BLOCKING_SETS));
        self.hopeful = 0;
        self.probes.clear();
        self.probes.reserve(probes);
        self.cells.clear();
        // One more, for a probe that is looked at and not taken.
        self.cells.reserve((probes + 1) * worlds);
        self.outcomes.clear();
        self.outcomes.reserve(worlds);
        self.cheapest = f64::INFINITY;
    }

    fn add_blocking(&mut self, retained: &Retained) -> bool {
        for action in 0..retained.signatures.actions() {
            let blocked = (0..retained.members.len())
                .filter(|&row| !retained.signatures.is_safe(row, action))
                .fold(0, |set, row| set | 1_u64 << row);
            if self.blocking.contains(&blocked) {
                continue;
            }
            if self.blocking.len() == BLOCKING_SETS {
                return false;
            }
            self.blocking.push(blocked);
        }
        // A set that contains another is larger as a number too.
        self.blocking.sort_unstable();
        let mut kept = 0;
        for at in 0..self.blocking.len() {
            let set = self.blocking[at];
            if !self.blocking[..kept].iter().any(|&less| less & !set == 0) {
                self.blocking[kept] = set;
                kept += 1;
            }
        }
        self.blocking.truncate(kept);
        true
    }

    /// `false` if there are too many probes or an outcome is not certain.
    fn add_probe(
        &mut self,
        problem: &Problem,
        retained: &Retained,
        limits: &Limits,
        position: usize,
        probe: &Probe,
    ) -> bool {
        let start = self.cells.len();
        self.outcomes.clear();
        for (row, &world) in retained.members.iter().enumerate() {
            let Some(outcome) = problem.outcomes().only(probe, world as usize) else {
                return false;
            };
            let known = self.outcomes.iter().position(|&other| other == outcome);
            if known.is_none() {
                self.outcomes.push(outcome);
                self.cells.push(0);
            }
            let cell = known.unwrap_or(self.outcomes.len() - 1);
            self.cells[start + cell] |= 1_u64 << row;
        }
        if self.outcomes.len() < 2 {
            self.cells.truncate(start);
            return true;
        }
        if self.probes.len() == limits.probes {
            return false;
        }
        let cost = probe.cost().value();
        self.cheapest = self.cheapest.min(cost);
        self.probes.push(MaskedProbe {
            position,
            cost,
            cells: start..self.cells.len(),
        });
        true
    }

    /// How many worlds there are.
    pub(super) fn worlds(&self) -> usize {
        self.weights.len()
    }

    /// Every world.
    pub(super) fn all(&self) -> u64 {
        u64::MAX >> (64 - self.worlds().clamp(1, 64))
    }

    /// The sets of worlds that block an action.
    pub(super) fn blocking(&self) -> &[u64] {
        &self.blocking
    }

    /// w(S), summed in the order of the worlds.
    pub(super) fn mass(&self, set: u64) -> f64 {
        let mut left = set;
        let mut mass = 0.0;
        while left != 0 {
            mass += self.weights[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        mass
    }

    /// What becomes of a set in which there is nothing to decide: an action is certified, or none is
    /// safe in any world.
    pub(super) fn ending(&self, set: u64) -> Option<Value> {
        if self.blocking.iter().any(|blocked| blocked & set == 0) {
            Some(Value::NOTHING)
        } else if set & self.hopeful == 0 {
            Some(Value::stop(self.mass(set)))
        } else {
            None
        }
    }

    /// The probes in their order: index and cost.
    pub(super) fn probes(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.probes.iter().map(|probe| probe.cost).enumerate()
    }

    /// Where a probe stands in the problem.
    pub(super) fn position(&self, probe: usize) -> usize {
        self.probes[probe].position
    }

    /// The parts of `set` that the outcomes of a probe leave; the set itself if it tells nothing.
    pub(super) fn parts(&self, probe: usize, set: u64) -> impl Iterator<Item = u64> + '_ {
        self.cells[self.probes[probe].cells.clone()]
            .iter()
            .map(move |cell| cell & set)
            .filter(|&part| part != 0)
    }

    /// Whether a probe tells worlds of `set` apart.
    pub(super) fn tells_apart(&self, probe: usize, set: u64) -> bool {
        self.parts(probe, set).next() != Some(set)
    }

    /// The best of stopping in `set` and of each probe, when `follow` is what comes after it in each part;
    /// the first of equals, stopping before all.
    pub(super) fn best(
        &self,
        set: u64,
        mut follow: impl FnMut(u64) -> Value,
    ) -> (Value, Option<usize>) {
        let mass = self.mass(set);
        let (mut best, mut chosen) = (Value::stop(mass), None);
        for (probe, cost) in self.probes() {
            if !self.tells_apart(probe, set) {
                continue;
            }
            let made = Value {
                uncertified: 0.0,
                cost: cost * mass,
            };
            let mut least = made;
            self.parts(probe, set)
                .for_each(|part| least.add(self.least(part)));
            if !least.beats(&best, mass) {
                continue;
            }
            let mut value = made;
            self.parts(probe, set)
                .for_each(|part| value.add(follow(part)));
            if value.beats(&best, mass) {
                (best, chosen) = (value, Some(probe));
            }
        }
        (best, chosen)
    }

    /// Less than this no rule comes to from `set`: nothing is certified where nothing is safe, and a
    /// certificate for the rest takes a probe.
    fn least(&self, set: u64) -> Value {
        self.ending(set).unwrap_or_else(|| Value {
            uncertified: self.mass(set & !self.hopeful),
            cost: self.cheapest * self.mass(set),
        })
    }
}
