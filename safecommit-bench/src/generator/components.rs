//! How a score is split over the four terms of Eq. 9.

use crate::micros::Micros;
use crate::parameters::TermWeights;
use crate::random::RandomStream;

pub(super) fn split_score(
    score: Micros,
    weights: &TermWeights,
    telling: usize,
    stream: &mut RandomStream,
) -> [Micros; 4] {
    let mut shares = [0.0; 4];
    for (term, share) in shares.iter_mut().enumerate() {
        let weight = if term == telling {
            weights.telling
        } else {
            weights.other
        };
        *share = weight.get() * (0.5 + stream.uniform());
    }
    let total = shares[0] + shares[1] + shares[2] + shares[3];
    let mut rest = score.count();
    let mut terms = [Micros::ZERO; 4];
    for term in 0..3 {
        // Truncation is floor for a number that is not negative. The minimum keeps a rounded-up quotient in bounds.
        let count = ((f64::from(score.count()) * shares[term] / total) as u32).min(rest);
        rest -= count;
        terms[term] = Micros::from_count(count).unwrap_or_default();
    }
    terms[3] = Micros::from_count(rest).unwrap_or_default();
    terms
}
