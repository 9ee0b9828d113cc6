//! The fact on which a cube is split where some action is not decided.

use smallvec::SmallVec;

use super::{Judge, Outcomes, Statuses, Verdict};
use crate::cube::{Cube, bit};

/// A part of a cube: those of its worlds in which one fact has certain values.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) cube: Cube,
    pub(crate) statuses: Statuses,
    pub(crate) verdicts: Verdicts,
}

/// One an action.
type Verdicts = SmallVec<[Verdict; 8]>;

/// Into how many regions a part is taken to fall for each action that is open in it.
const REGIONS_AN_ACTION: u64 = 4;

impl Judge<'_> {
    /// The parts of a cube by the values of one fact, those values together that are alike to every policy that is
    /// undecided for an open action. `None` where no action is open.
    ///
    /// It is the fact with which the fewest regions can be expected. Where facts are alike in that, the one on which
    /// most hangs: a policy counts once for each open action, and the less the more facts its outcome still depends
    /// on. Where they are alike in that too, the first.
    pub(crate) fn split(&mut self, whole: &Part) -> Option<SmallVec<[Part; 8]>> {
        let mut rules: SmallVec<[usize; 32]> = SmallVec::new();
        let mut hangs: SmallVec<[f64; 16]> = SmallVec::from_elem(0.0, self.map.sizes.len());
        for (of_action, verdict) in self.map.rules_by_action().iter().zip(&whole.verdicts) {
            let undecided = of_action
                .iter()
                .filter(|&&rule| *verdict == Verdict::Open && !whole.statuses[rule].is_settled());
            for &rule in undecided {
                rules.push(rule);
                let facts = self.map.rules[rule].facts.iter().map(|(fact, _)| *fact);
                let varied = facts.filter(|&fact| whole.cube.size(fact) > 1);
                let share = 1.0 / varied.clone().count() as f64;
                varied.for_each(|fact| hangs[fact] += share);
            }
        }
        rules.sort_unstable();
        rules.dedup();
        let mut facts: SmallVec<[usize; 16]> =
            (0..hangs.len()).filter(|&fact| hangs[fact] > 0.0).collect();
        facts.sort_by(|&one, &other| hangs[other].total_cmp(&hangs[one]));
        let mut best: Option<(u64, SmallVec<[Part; 8]>)> = None;
        for fact in facts {
            let groups = self.groups(fact, &rules, &whole.cube);
            // Where an outcome differs, it differs between two values of some fact, so that one has two groups.
            if groups.len() < 2 {
                continue;
            }
            let parts = groups.into_iter();
            let parts = parts.map(|values| self.narrowed(whole, whole.cube.with(fact, values)));
            let parts: SmallVec<[Part; 8]> = parts.collect();
            let expected = parts.iter().map(Part::expected);
            let expected = expected.fold(0, u64::saturating_add);
            if best.as_ref().is_none_or(|(least, _)| expected < *least) {
                best = Some((expected, parts));
            }
        }
        best.map(|(_, parts)| parts)
    }

    /// The cube as a part of itself.
    pub(crate) fn whole(&mut self, cube: Cube) -> Part {
        let statuses = self.statuses(&cube);
        Part {
            verdicts: self.verdicts(&statuses),
            statuses,
            cube,
        }
    }

    /// The part whose worlds are those of a smaller cube.
    pub(crate) fn narrowed(&mut self, whole: &Part, cube: Cube) -> Part {
        let mut statuses = whole.statuses.clone();
        for (at, status) in statuses.iter_mut().enumerate() {
            // What was the same everywhere still is.
            let mut read = self.map.rules[at].facts.iter();
            if !status.is_settled() && read.any(|&(fact, _)| whole.cube.set(fact) != cube.set(fact))
            {
                *status = self.outcomes(at, &cube);
            }
        }
        Part {
            verdicts: self.verdicts(&statuses),
            statuses,
            cube,
        }
    }

    /// The values of a fact, those together that are alike to each of these rules whatever the other facts are.
    fn groups(&mut self, fact: usize, rules: &[usize], cube: &Cube) -> SmallVec<[u64; 8]> {
        let map = self.map;
        let reading: SmallVec<[usize; 32]> = rules
            .iter()
            .copied()
            .filter(|&rule| map.rules[rule].reads(fact))
            .collect();
        let mut groups: SmallVec<[u64; 8]> = SmallVec::new();
        let mut rows: Vec<Option<SmallVec<[Outcomes; 32]>>> = Vec::new();
        for value in cube.values(fact) {
            let row = self.row(&reading, &cube.with(fact, bit(value)));
            match rows.iter().position(|known| row.is_some() && *known == row) {
                Some(same) => groups[same] |= bit(value),
                None => {
                    groups.push(bit(value));
                    rows.push(row);
                }
            }
        }
        groups
    }

    /// What these rules say one after the other, for every combination of the values that they read. `None` if there
    /// are too many.
    fn row(&mut self, rules: &[usize], cube: &Cube) -> Option<SmallVec<[Outcomes; 32]>> {
        let mut row = SmallVec::new();
        for &rule in rules {
            let asked = self.visit(rule, cube, |outcome| {
                row.push(Outcomes::of(outcome));
                true
            });
            if !asked {
                return None;
            }
        }
        Some(row)
    }
}

impl Part {
    /// About how many regions it takes beyond this one.
    fn expected(&self) -> u64 {
        let open = self
            .verdicts
            .iter()
            .filter(|verdict| **verdict == Verdict::Open);
        open.fold(1_u64, |all, _| all.saturating_mul(REGIONS_AN_ACTION)) - 1
    }
}
