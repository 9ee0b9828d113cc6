//! The fact on which a cube is split where some action is not decided.

use smallvec::SmallVec;

use super::{Judge, Outcomes, Statuses, Verdict};
use crate::cube::{Cube, bit};

/// A cube with what policies say in it. The statuses of rules for actions that are decided may be those of a cube that
/// it is a part of.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) cube: Cube,
    pub(super) statuses: Statuses,
    pub(crate) verdicts: Verdicts,
}

/// One an action.
type Verdicts = SmallVec<[Verdict; 8]>;

/// Values of one fact that are alike, with what policies say in the part of the cube with one of these.
struct Group {
    values: u64,
    statuses: Statuses,
    verdicts: Verdicts,
}

type Groups = SmallVec<[Group; 8]>;

type Row = SmallVec<[Outcomes; 32]>;

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
        let mut best: Option<(u64, usize, Groups)> = None;
        for fact in facts {
            let groups = self.groups(fact, &rules, whole);
            // Where an outcome differs, it differs between two values of some fact, so that one has two groups.
            if groups.len() < 2 {
                continue;
            }
            let expected = groups.iter().map(Group::expected);
            let expected = expected.fold(0, u64::saturating_add);
            if best.as_ref().is_none_or(|(least, ..)| expected < *least) {
                best = Some((expected, fact, groups));
            }
        }
        let (_, fact, groups) = best?;
        let parts = groups.into_iter().map(|group| Part {
            cube: whole.cube.with(fact, group.values),
            statuses: group.statuses,
            verdicts: group.verdicts,
        });
        Some(parts.collect())
    }

    /// The cube as a part of itself.
    pub(crate) fn whole(&mut self, cube: Cube) -> Part {
        let rules = 0..self.map.rules.len();
        let statuses: Statuses = rules.map(|rule| self.outcomes(rule, &cube)).collect();
        let actions = self.map.rules_by_action().iter();
        let verdicts = actions.map(|rules| self.verdict(rules, &statuses));
        Part {
            verdicts: verdicts.collect(),
            statuses,
            cube,
        }
    }

    /// The part whose worlds are those of a smaller cube.
    pub(crate) fn narrowed(&mut self, whole: &Part, cube: Cube) -> Part {
        let mut statuses = whole.statuses.clone();
        for (rule, status) in statuses.iter_mut().enumerate() {
            // What was the same everywhere still is.
            let mut read = self.map.rules[rule].facts.iter();
            if !status.is_settled() && read.any(|&(fact, _)| whole.cube.set(fact) != cube.set(fact))
            {
                *status = self.outcomes(rule, &cube);
            }
        }
        Part {
            verdicts: self.verdicts(whole, &statuses),
            statuses,
            cube,
        }
    }

    /// What was decided for the whole still is.
    fn verdicts(&self, whole: &Part, statuses: &[Outcomes]) -> Verdicts {
        let actions = self.map.rules_by_action().iter().zip(&whole.verdicts);
        let verdicts = actions.map(|(rules, verdict)| match verdict {
            Verdict::Open => self.verdict(rules, statuses),
            decided => *decided,
        });
        verdicts.collect()
    }

    /// The values of a fact, those together that are alike to each of these rules whatever the other facts are.
    fn groups(&mut self, fact: usize, rules: &[usize], whole: &Part) -> Groups {
        let map = self.map;
        let reading = rules.iter().copied();
        let reading: SmallVec<[usize; 32]> = reading
            .filter(|&rule| map.rules[rule].reads(fact))
            .collect();
        let mut groups = Groups::new();
        let mut rows: SmallVec<[Option<Row>; 8]> = SmallVec::new();
        for value in whole.cube.values(fact) {
            let part = whole.cube.with(fact, bit(value));
            let mut statuses = Statuses::from_slice(&whole.statuses);
            let row = self.row(&reading, &part, &mut statuses);
            match rows.iter().position(|known| row.is_some() && *known == row) {
                Some(same) => groups[same].values |= bit(value),
                None => {
                    rows.push(row);
                    groups.push(Group {
                        values: bit(value),
                        verdicts: self.verdicts(whole, &statuses),
                        statuses,
                    });
                }
            }
        }
        groups
    }

    /// What these rules say one after the other, for every combination of the values that they read; `None` if there
    /// are too many. The statuses of these rules become those in the cube.
    fn row(&mut self, rules: &[usize], cube: &Cube, statuses: &mut Statuses) -> Option<Row> {
        let mut row = Some(Row::new());
        for &rule in rules {
            let mut all = Outcomes::default();
            let asked = self.visit(rule, cube, |outcome| {
                let outcome = Outcomes::of(outcome);
                all = all.or(outcome);
                if let Some(row) = &mut row {
                    row.push(outcome);
                }
                true
            });
            statuses[rule] = if asked { all } else { Outcomes::ANY };
            row = row.filter(|_| asked);
        }
        row
    }
}

impl Group {
    /// About how many regions it takes beyond one.
    fn expected(&self) -> u64 {
        let open = self
            .verdicts
            .iter()
            .filter(|verdict| **verdict == Verdict::Open);
        open.fold(1_u64, |all, _| all.saturating_mul(REGIONS_AN_ACTION)) - 1
    }
}
