//! Best-first splitting of cubes until every action is decided on each.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use safecommit_conformal::Score;
use smallvec::SmallVec;

use super::super::belief::{Belief, Impossible};
use super::super::error::{Cut, SupportError};
use super::memory::Split;
use crate::cube::{Cube, MOST_VALUES, bit};
use crate::fact::{Assignment, Facts};
use crate::policy::{Judge, Part, Reason, Verdict};
use crate::score::{ScoreTermError, ScoreWeights, score};

/// How many cubes may be looked at for each region.
const LOOKED_AT: usize = 64;

/// What was found: the regions in their order, where it ended, and how many cubes were looked at.
pub(super) struct Found {
    pub(super) decided: Vec<Decided>,
    pub(super) cut: Option<Cut>,
    pub(super) looked_at: usize,
}

/// What to do where there are more regions than wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// Find the best of them.
    Best,
    /// Stop as soon as it is seen, which is much sooner: the regions found until then are not the best. Where values of three
    /// facts or more exclude each other, that may also be where there would have been just enough room.
    Stop,
}

/// By action: what stops it, `None` where it is safe.
pub(super) type Stopped = SmallVec<[Option<SmallVec<[Reason; 2]>>; 4]>;

/// A cube on which every action is decided.
pub(super) struct Decided {
    pub(super) score: Score,
    pub(super) cube: Cube,
    pub(super) stopped: Stopped,
}

/// The proposed values, and what speaks against each.
pub(super) struct Proposed<'r> {
    cube: Cube,
    terms: WeightedTerms,
    relevant: &'r [usize],
}

/// The weighted terms by fact and value; of values that are not proposed, nothing.
#[derive(Debug)]
pub(super) struct WeightedTerms(Vec<SmallVec<[f64; 8]>>);

/// A part that waits, in the order of score and values.
struct Waiting {
    score: Score,
    part: Part,
}

pub(super) fn split(
    proposed: &Proposed<'_>,
    contradictions: &Contradictions,
    judge: &mut Judge<'_>,
    limit: usize,
    beyond: Beyond,
) -> Result<Found, SupportError> {
    let mut found = Found {
        decided: Vec::new(),
        cut: None,
        looked_at: 0,
    };
    let mut queue = BinaryHeap::new();
    let mut root = proposed.cube.clone();
    if !root.is_empty() && contradictions.remove(&mut root) {
        queue.push(Reverse(Waiting {
            score: proposed.score(&root)?,
            part: judge.whole(root),
        }));
    }
    while let Some(Reverse(Waiting { score, part })) = queue.pop() {
        let decided = found.decided.len();
        // What waits makes at least one region each.
        let too_many = beyond == Beyond::Stop && decided + queue.len() >= limit;
        if too_many || decided >= limit || found.looked_at >= most_looked_at(limit) {
            found.cut = Some(Cut { next: score });
            break;
        }
        found.looked_at += 1;
        let Some(parts) = judge.split(&part) else {
            let verdicts = part.verdicts.iter().enumerate();
            let stopped = verdicts.map(|(action, verdict)| match verdict {
                Verdict::Safe => None,
                Verdict::Unsafe | Verdict::Open => Some(judge.reasons(action, &part)),
            });
            found.decided.push(Decided {
                stopped: stopped.collect(),
                score,
                cube: part.cube,
            });
            continue;
        };
        for smaller in parts {
            let mut cube = smaller.cube.clone();
            if contradictions.remove(&mut cube) {
                let part = match cube == smaller.cube {
                    true => smaller,
                    false => judge.narrowed(&smaller, cube),
                };
                let score = proposed.score(&part.cube)?;
                queue.push(Reverse(Waiting { score, part }));
            }
        }
    }
    sort(&mut found.decided);
    Ok(found)
}

/// The regions of a split that is known, if it would not be cut.
pub(super) fn of_known(
    split: &Split,
    proposed: &Proposed<'_>,
    limit: usize,
) -> Result<Option<Vec<Decided>>, SupportError> {
    if split.decided.len() >= limit || split.looked_at >= most_looked_at(limit) {
        return Ok(None);
    }
    let mut regions = Vec::with_capacity(split.decided.len());
    for (cube, stopped) in &split.decided {
        regions.push(Decided {
            score: proposed.score(cube)?,
            cube: cube.clone(),
            stopped: stopped.clone(),
        });
    }
    sort(&mut regions);
    Ok(Some(regions))
}

fn most_looked_at(limit: usize) -> usize {
    limit.saturating_mul(LOOKED_AT)
}

/// Scores that are equal come in the order of the values.
fn sort(decided: &mut [Decided]) {
    decided.sort_by(|one, other| {
        let scores = one.score.cmp(&other.score);
        scores.then_with(|| one.cube.cmp(&other.cube))
    });
}

impl<'r> Proposed<'r> {
    pub(super) fn new(
        facts: &Facts,
        beliefs: &[Belief],
        relevant: &'r [usize],
        weights: &ScoreWeights,
    ) -> Result<Self, SupportError> {
        let facts = facts.as_slice();
        if !facts.iter().eq(beliefs.iter().map(Belief::fact)) {
            return Err(SupportError::OtherFacts);
        }
        if let Some(fact) = facts.iter().find(|fact| fact.values().len() > MOST_VALUES) {
            return Err(SupportError::TooManyValues {
                fact: fact.name().to_owned(),
                values: fact.values().len(),
            });
        }
        let mut sets = Vec::with_capacity(facts.len());
        let mut terms = Vec::with_capacity(facts.len());
        for belief in beliefs {
            let mut set = 0;
            let mut of_values = SmallVec::from_elem(0.0, belief.fact().values().len());
            for (value, terms) in belief.candidates() {
                set |= bit(value);
                of_values[usize::from(value)] = weights.of(&terms);
            }
            sets.push(set);
            terms.push(of_values);
        }
        Ok(Self {
            cube: Cube::new(sets),
            terms: WeightedTerms(terms),
            relevant,
        })
    }

    pub(super) fn into_terms(self) -> WeightedTerms {
        self.terms
    }

    /// The worlds that are proposed.
    pub(super) fn cube(&self) -> &Cube {
        &self.cube
    }

    /// The score of the least strange world. Summed in the order of the facts, so that a part never scores less than
    /// the whole.
    fn score(&self, cube: &Cube) -> Result<Score, ScoreTermError> {
        let terms = &self.terms;
        let least = self.relevant.iter().map(|&fact| terms.least(cube, fact).1);
        score(least.sum())
    }
}

impl WeightedTerms {
    /// The least strange world; of values that are equally strange the first.
    pub(super) fn best(&self, cube: &Cube) -> Assignment {
        let facts = 0..self.0.len();
        Assignment::of_positions(facts.map(|fact| self.least(cube, fact).0))
    }

    /// The least strange value of a fact with its weighted terms.
    fn least(&self, cube: &Cube, fact: usize) -> (u8, f64) {
        let values = cube
            .values(fact)
            .map(|value| (value, self.0[fact][usize::from(value)]));
        let least = values.reduce(|least, other| if other.1 < least.1 { other } else { least });
        least.unwrap_or((0, 0.0))
    }
}

/// Values that cannot be together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contradictions(Vec<Contradiction>);

/// A value with all values of another fact that it cannot be together with.
#[derive(Debug, PartialEq, Eq)]
struct Contradiction {
    fact: usize,
    value: u64,
    other: usize,
    not_with: u64,
}

impl Contradictions {
    pub(super) fn new(impossible: &[Impossible], facts: usize) -> Self {
        let mut not_with = BTreeMap::new();
        // No world has both values of two facts of which there is but one.
        let ours = |pair: &&Impossible| pair.one.0.max(pair.other.0) < facts;
        for pair in impossible.iter().filter(ours) {
            let (one, other) = (pair.one, pair.other);
            for ((fact, value), (other, other_value)) in [(one, other), (other, one)] {
                // A value that is impossible with itself is so with all.
                let itself = (fact, value) == (other, other_value);
                let not = if itself { u64::MAX } else { bit(other_value) };
                *not_with.entry((fact, value, other)).or_insert(0) |= not;
            }
        }
        let all = not_with.into_iter();
        let all = all.map(|((fact, value, other), not_with)| Contradiction {
            fact,
            value: bit(value),
            other,
            not_with,
        });
        Self(all.collect())
    }

    /// Removes every value that is impossible with all values that another fact has left, until there is none. Whether
    /// a world may be left: if not, there is none that is possible.
    fn remove(&self, cube: &mut Cube) -> bool {
        loop {
            let mut removed = false;
            for pair in &self.0 {
                let here = cube.set(pair.fact) & pair.value != 0;
                if here && cube.set(pair.other) & !pair.not_with == 0 {
                    if !cube.keep(pair.fact, !pair.value) {
                        return false;
                    }
                    removed = true;
                }
            }
            if !removed {
                return true;
            }
        }
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.cmp(&other.score);
        scores.then_with(|| self.part.cube.cmp(&other.part.cube))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}
