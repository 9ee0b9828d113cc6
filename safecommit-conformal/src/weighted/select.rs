//! The smallest score up to which enough weight lies, in linear time.

use std::borrow::Cow;

use super::fixed_point::Entry;
use crate::alpha::Alpha;

/// Up to this many entries are sorted.
const FEW: usize = 4_096;
/// How many entries are looked at to guess where the score is.
const SAMPLE: usize = 4_096;
/// By how many places of the sample the guess may be off on either side: four standard errors of
/// a middle quantile of equal weights.
const SLACK: usize = 128;
/// How many entries are summed in 64 bits: `2^10` weights of at most `2^53`.
const BATCH: usize = 1 << 10;

/// The smallest key among `entries` for which the weight up to it, rounded down, is at least
/// `1 - alpha` of the whole, where everything else and the weight of the case are rounded up.
/// `None` if there is none, or if no weight up to it is positive.
///
/// Each round guesses from a sample two keys between which the answer lies, sums what is below and
/// above them, and goes on with what is in between. A wrong guess costs time, never the answer: the
/// sums tell in which part it is, and a part that is hardly smaller is sorted.
pub(super) fn smallest_reaching(
    entries: &[Entry],
    case: Option<u128>,
    alpha: Alpha,
) -> Option<u64> {
    let mut outside = Sums {
        below: 0,
        above: case?,
    };
    let mut candidates = Cow::Borrowed(entries);
    loop {
        let size = candidates.len();
        if size <= FEW {
            return outside.scan(candidates.into_owned(), alpha);
        }
        let (low, high) = outside.bracket(&candidates, alpha);
        let (below, between, above) = split(&candidates, low, high);
        let between_floor: u128 = between.iter().map(|entry| u128::from(entry.floor())).sum();
        let between_ceil: u128 = between.iter().map(|entry| u128::from(entry.ceil())).sum();
        let rest = |keep: &dyn Fn(u64) -> bool| -> Vec<Entry> {
            candidates
                .iter()
                .copied()
                .filter(|entry| keep(entry.key))
                .collect()
        };
        let up_to_below = Sums {
            below: outside.below + below,
            above: outside.above + between_ceil + above,
        };
        let up_to_between = Sums {
            below: outside.below + below + between_floor,
            above: outside.above + above,
        };
        let next = if up_to_below.reached(alpha) {
            outside.above = up_to_below.above;
            rest(&|key| key < low)
        } else if up_to_between.reached(alpha) {
            outside = Sums {
                below: up_to_below.below,
                above: up_to_between.above,
            };
            between
        } else {
            outside.below = up_to_between.below;
            rest(&|key| key > high)
        };
        if next.len() > size / 2 {
            return outside.scan(next, alpha);
        }
        candidates = Cow::Owned(next);
    }
}

/// The weight below and above the candidates.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    /// Rounded down.
    pub(super) below: u128,
    /// Rounded up, the case included.
    pub(super) above: u128,
}

impl Sums {
    /// Whether what is below is enough.
    pub(super) fn reached(self, alpha: Alpha) -> bool {
        self.below > 0 && alpha.share_reached(self.below, self.above)
    }

    /// The answer by sorting.
    fn scan(mut self, mut entries: Vec<Entry>, alpha: Alpha) -> Option<u64> {
        entries.sort_unstable_by_key(|entry| entry.key);
        self.above += entries
            .iter()
            .map(|entry| u128::from(entry.ceil()))
            .sum::<u128>();
        for same in entries.chunk_by(|one, other| one.key == other.key) {
            for entry in same {
                self.below += u128::from(entry.floor());
                self.above -= u128::from(entry.ceil());
            }
            if self.reached(alpha) {
                return same.first().map(|entry| entry.key);
            }
        }
        None
    }

    /// Two keys, in order, between which a sample suggests that the answer lies.
    fn bracket(self, entries: &[Entry], alpha: Alpha) -> (u64, u64) {
        let stride = entries.len().div_ceil(SAMPLE);
        let mut sample: Vec<Entry> = entries.iter().copied().step_by(stride).collect();
        sample.sort_unstable_by_key(|entry| entry.key);
        let mut sums = self;
        let weight = |amount: u64| u128::from(amount) * stride as u128;
        sums.above += sample
            .iter()
            .map(|entry| weight(entry.ceil()))
            .sum::<u128>();
        let guess = sample.iter().position(|entry| {
            sums.below += weight(entry.floor());
            sums.above -= weight(entry.ceil());
            sums.reached(alpha)
        });
        let guess = guess.unwrap_or(sample.len());
        let key = |place: usize| sample.get(place).map(|entry| entry.key);
        (
            guess.checked_sub(SLACK).and_then(key).unwrap_or(0),
            key(guess + SLACK).unwrap_or(u64::MAX),
        )
    }
}

/// The weight of the entries below `low`, rounded down; those within `low..=high`; the weight of
/// those above, rounded up.
fn split(entries: &[Entry], low: u64, high: u64) -> (u128, Vec<Entry>, u128) {
    let (mut below, mut above, mut between) = (0_u128, 0_u128, Vec::new());
    for batch in entries.chunks(BATCH) {
        let (mut batch_below, mut batch_above) = (0_u64, 0_u64);
        for entry in batch {
            let (is_below, is_above) = (entry.key < low, entry.key > high);
            // Without branches, since which it is cannot be foreseen.
            batch_below += entry.floor() & u64::from(is_below).wrapping_neg();
            batch_above += entry.ceil() & u64::from(is_above).wrapping_neg();
            if !(is_below | is_above) {
                between.push(*entry);
            }
        }
        below += u128::from(batch_below);
        above += u128::from(batch_above);
    }
    (below, between, above)
}
