//! Best-first enumeration of the worlds that beliefs allow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use safecommit_conformal::Score;
use smallvec::SmallVec;

use super::belief::{Belief, Impossible};
use crate::fact::{Assignment, FactError, Facts};
use crate::score::{ScoreTermError, ScoreWeights, score};

/// The proposed worlds, by ascending (score, assignment).
///
/// The score of a world is the weighted sum of the terms of its values (Eq. 9). Worlds are enumerated best first,
/// so that a support that has to be cut is cut at the implausible end: everything left out scores at least
/// [`Cut::next`]. Under a threshold below that nothing plausible is missing; otherwise something may be, and nothing
/// irreversible can be certified.
///
/// ```
/// use safecommit_gate::{Belief, Fact, Facts, ScoreWeights, Support, Terms};
///
/// let facts = Facts::new([Fact::new("kind", ["file", "link"])?, Fact::new("owner", ["own", "other"])?])?;
/// let [kind, owner] = facts.as_slice() else { unreachable!() };
/// let strange = |terms| Terms { provenance_or_age: terms, ..Terms::NONE };
/// let beliefs = [
///     Belief::new(kind, [("link", strange(0.5))])?.supported("file", strange(0.1))?,
///     Belief::new(owner, [("other", strange(0.3))])?.supported("own", Terms::NONE)?,
/// ];
/// let support = Support::enumerate(&facts, &beliefs, &[], &ScoreWeights::EQUAL, 100)?;
/// let scores: Vec<f64> = support.worlds().iter().map(|world| world.score.value()).collect();
/// assert_eq!(scores, [0.1, 0.4, 0.5, 0.8]);
/// assert_eq!(support.cut(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    worlds: Vec<ProposedWorld>,
    contradicted: u64,
    cut: Option<Cut>,
}

/// A proposed world with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedWorld {
    /// What it says.
    pub assignment: Assignment,
    /// Its nonconformity score.
    pub score: Score,
}

/// A support that was not enumerated to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The score of the best world that was left out: no other scores less.
    pub next: Score,
}

/// Why there is no support.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SupportError {
    /// The beliefs are not those of the facts, one each in their order.
    #[error("the beliefs are not about the facts, one each in their order")]
    OtherFacts,
    /// A safety map of other facts.
    #[error("the safety map was bound to other facts")]
    OtherMap,
    /// A fact with more values than regions can tell apart.
    #[error("fact `{fact}` has {values} values, for regions at most 64 are possible")]
    TooManyValues {
        /// The fact.
        fact: String,
        /// How many it has.
        values: usize,
    },
    /// A score that is no number.
    #[error(transparent)]
    Score(#[from] ScoreTermError),
    /// The facts are no facts.
    #[error(transparent)]
    Fact(#[from] FactError),
}

/// How many worlds may be looked at for each one that is proposed: the rest of the looking finds contradictions.
const LOOKED_AT: usize = 64;

impl Support {
    /// The best `limit` worlds that the beliefs allow and that have no [`Impossible`] pair of values. No world at all
    /// where evidence excludes every value of a fact: then it contradicts itself.
    ///
    /// O(limit F log limit) for F facts: a world is made from the one before it in which one value stood one place
    /// better, so each is made once and never before it is due.
    ///
    /// # Errors
    ///
    /// [`SupportError`].
    pub fn enumerate(
        facts: &Facts,
        beliefs: &[Belief],
        impossible: &[Impossible],
        weights: &ScoreWeights,
        limit: usize,
    ) -> Result<Self, SupportError> {
        let same = facts.as_slice().iter().eq(beliefs.iter().map(Belief::fact));
        if !same {
            return Err(SupportError::OtherFacts);
        }
        // The values of each fact by (weighted terms, position).
        let mut ladders: Vec<Vec<(f64, u8)>> = Vec::with_capacity(beliefs.len());
        for belief in beliefs {
            let candidates = belief.candidates();
            let mut ladder: Vec<(f64, u8)> = candidates
                .map(|(value, terms)| (weights.of(&terms), value))
                .collect();
            ladder.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            ladders.push(ladder);
        }
        let mut support = Self {
            worlds: Vec::new(),
            contradicted: 0,
            cut: None,
        };
        if ladders.iter().any(Vec::is_empty) {
            return Ok(support);
        }
        let mut queue = BinaryHeap::new();
        queue.push(Reverse(Rung::at(
            &ladders,
            SmallVec::from_elem(0, ladders.len()),
            0,
        )?));
        let mut looked_at = 0;
        while let Some(Reverse(rung)) = queue.pop() {
            let positions = rung.positions(&ladders);
            let full =
                support.worlds.len() >= limit || looked_at >= limit.saturating_mul(LOOKED_AT);
            if impossible.iter().any(|pair| pair.holds_in(&positions)) {
                if full {
                    support.cut = Some(Cut { next: rung.score });
                    break;
                }
                support.contradicted += 1;
            } else if full {
                support.cut = Some(Cut { next: rung.score });
                break;
            } else {
                support.worlds.push(ProposedWorld {
                    assignment: Assignment::of_positions(positions.iter().copied()),
                    score: rung.score,
                });
            }
            looked_at += 1;
            for fact in rung.from..ladders.len() {
                if rung.places[fact] + 1 < ladders[fact].len() {
                    let mut places = rung.places.clone();
                    places[fact] += 1;
                    queue.push(Reverse(Rung::at(&ladders, places, fact)?));
                }
            }
        }
        // Scores that are equal come in the order of the assignments.
        support.worlds.sort_by(|one, other| {
            let scores = one.score.cmp(&other.score);
            scores.then_with(|| one.assignment.cmp(&other.assignment))
        });
        Ok(support)
    }

    /// The worlds, by ascending (score, assignment).
    #[must_use]
    pub fn worlds(&self) -> &[ProposedWorld] {
        &self.worlds
    }

    /// How many worlds were removed because they have values that cannot be together.
    #[must_use]
    pub fn contradicted(&self) -> u64 {
        self.contradicted
    }

    /// Whether worlds were left out.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }
}

/// A world on its way to the front of the queue.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rung {
    score: Score,
    /// The place of each fact's value on its ladder.
    places: SmallVec<[usize; 16]>,
    /// The first fact whose value may still climb: facts before it did so earlier, so that every world is reached on
    /// one way only.
    from: usize,
}

impl Rung {
    fn at(
        ladders: &[Vec<(f64, u8)>],
        places: SmallVec<[usize; 16]>,
        from: usize,
    ) -> Result<Self, ScoreTermError> {
        // Summed in the order of the facts, so that a larger term never gives a smaller sum.
        let terms = ladders
            .iter()
            .zip(&places)
            .map(|(ladder, place)| ladder[*place].0);
        Ok(Self {
            score: score(terms.sum())?,
            places,
            from,
        })
    }

    fn positions(&self, ladders: &[Vec<(f64, u8)>]) -> SmallVec<[u8; 16]> {
        let places = ladders.iter().zip(&self.places);
        places.map(|(ladder, place)| ladder[*place].1).collect()
    }
}
