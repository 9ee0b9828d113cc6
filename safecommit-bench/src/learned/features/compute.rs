//! Computes features.

use crate::micros::Micros;

use super::COUNT;

/// The terms of a world as numbers.
pub(super) struct World {
    terms: [f64; 4],
    score: f64,
    shares: [f64; 4],
    largest: f64,
    smallest: f64,
}

impl World {
    pub(super) fn new(terms: &[Micros; 4]) -> Self {
        let sum: u32 = terms.iter().map(|term| term.count()).sum();
        let shares = if sum == 0 {
            [0.25; 4]
        } else {
            terms.map(|term| f64::from(term.count()) / f64::from(sum))
        };
        Self {
            terms: terms.map(Micros::value),
            score: f64::from(sum) / f64::from(Micros::ONE.count()),
            shares,
            largest: shares.into_iter().fold(0.25, f64::max),
            smallest: shares.into_iter().fold(0.25, f64::min),
        }
    }

    fn has_no_evidence(&self) -> bool {
        self.score <= 0.0
    }

    fn entropy(&self) -> f64 {
        let terms = self.shares.iter().filter(|share| **share > 0.0);
        -terms.map(|share| share * libm::log(*share)).sum::<f64>()
    }
}

/// The values of all features of the world at a position, in the order of [`Feature::ALL`](super::Feature::ALL).
pub(super) fn features(worlds: &[World], at: usize) -> [f64; COUNT] {
    let world = &worlds[at];
    let others = || {
        let beside = worlds
            .iter()
            .enumerate()
            .filter(move |(other, _)| *other != at);
        beside.map(|(_, other)| other)
    };
    let count_of_others = worlds.len() - 1;
    // A share of the others in half counts, so that it is exact until the one division.
    let share_of_others = |halves: usize| halves as f64 / (2 * count_of_others.max(1)) as f64;
    let halves_below = others().map(|other| match other.score.total_cmp(&world.score) {
        std::cmp::Ordering::Less => 2,
        std::cmp::Ordering::Equal => 1,
        std::cmp::Ordering::Greater => 0,
    });
    let without_evidence = others().filter(|other| other.has_no_evidence()).count();
    let lowest = others().map(|other| other.score).reduce(f64::min);
    let in_term = |term: usize| {
        let shares = others().map(move |other| other.shares[term]);
        shares.reduce(f64::max).unwrap_or(0.25)
    };
    let overlap = (0..4).map(|term| world.shares[term] * in_term(term)).sum();
    let indicator = |holds: bool| f64::from(u8::from(holds));
    let [
        provenance_or_age,
        cross_evidence,
        tool_disagreement,
        policy_incompatibility,
    ] = world.terms;
    [
        provenance_or_age,
        cross_evidence,
        tool_disagreement,
        policy_incompatibility,
        world.score,
        world.score * world.score,
        indicator(world.has_no_evidence()),
        world.largest,
        (world.largest - 0.4).max(0.0),
        (world.largest - 0.5).max(0.0),
        world.smallest,
        (0.15 - world.smallest).max(0.0),
        (0.1 - world.smallest).max(0.0),
        world.entropy(),
        (world.largest - 0.25) * (1.0 - world.score),
        share_of_others(halves_below.sum()),
        lowest.map_or(0.0, |lowest| world.score - lowest),
        others().map(|other| other.largest).fold(0.25, f64::max),
        share_of_others(2 * without_evidence),
        overlap,
    ]
}
