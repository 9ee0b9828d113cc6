//! Weighted scores, sorted once for many cases.

use super::WeightedScores;
use super::fixed_point::Units;
use super::select::Sums;
use crate::alpha::Alpha;
use crate::guarantee::Guarantee;
use crate::score::Score;
use crate::source::Source;
use crate::threshold::Threshold;
use crate::weight::{EffectiveSize, Weight};

/// Weighted scores in order, with the sums of their weights: thresholds and p-values for cases of
/// different weights, each in logarithmic time.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Score, Weight, WeightedScores, WeightedTable};
///
/// let scores = [0.1, 0.2, 0.3].map(|value| Score::new(value).unwrap().into());
/// let weighted = WeightedScores::new(&scores, &[Weight::ONE; 3])?;
/// let table = WeightedTable::new(&weighted);
/// assert_eq!(table.threshold("0.25".parse()?, Weight::ONE).to_string(), "0.3");
/// let p = table.p_value(Score::new(0.2)?, Weight::ONE);
/// assert_eq!(p.value(), 0.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct WeightedTable {
    units: Units,
    effective_size: EffectiveSize,
    source: Source,
    /// Distinct keys, ascending.
    keys: Vec<u64>,
    /// The weight up to and including each key, rounded down.
    up_to: Vec<u128>,
    /// The weight from each key on, rounded up; 0 at the end.
    from: Vec<u128>,
}

impl WeightedTable {
    /// Sorts the scores and sums their weights.
    pub fn new(weighted: &WeightedScores) -> Self {
        let mut entries = weighted.entries.clone();
        entries.sort_unstable_by_key(|entry| entry.key);
        let (mut keys, mut up_to) = (Vec::new(), Vec::new());
        let mut groups = Vec::new();
        let mut below = 0_u128;
        for same in entries.chunk_by(|one, other| one.key == other.key) {
            keys.extend(same.first().map(|entry| entry.key));
            below += same
                .iter()
                .map(|entry| u128::from(entry.floor()))
                .sum::<u128>();
            up_to.push(below);
            groups.push(
                same.iter()
                    .map(|entry| u128::from(entry.ceil()))
                    .sum::<u128>(),
            );
        }
        let mut from = vec![0; groups.len() + 1];
        let mut above = 0;
        for (place, weight) in groups.iter().enumerate().rev() {
            above += weight;
            from[place] = above;
        }
        Self {
            units: weighted.units,
            effective_size: weighted.effective_size(),
            source: weighted.source,
            keys,
            up_to,
            from,
        }
    }

    /// What a threshold for a case of the given weight promises, to it and to lighter ones.
    pub fn guarantee(&self, case: Weight) -> Guarantee {
        Guarantee::Weighted {
            effective_size: self.effective_size,
            case_weight: case,
        }
    }

    /// The threshold of [`WeightedScores::calibrate`]. Allocates nothing.
    pub fn threshold(&self, alpha: Alpha, case: Weight) -> Threshold {
        let kappa = self.kappa(alpha, case);
        Threshold::calibrated(kappa, alpha, self.guarantee(case), self.source)
    }

    /// The score of the threshold; `None` if it is unbounded.
    fn kappa(&self, alpha: Alpha, case: Weight) -> Option<Score> {
        let case = self.units.rounded_up(case)?;
        // Whether enough weight lies up to a key only ever changes from no to yes.
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let sums = Sums {
                below: self.up_to[middle],
                above: self.from[middle + 1] + case,
            };
            if sums.reached(alpha) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.keys.get(low).and_then(|key| Score::from_key(*key))
    }

    /// The weighted p-value `(sum_{s_i >= s} w_i + w) / (sum_i w_i + w)` of a score, for a case of
    /// weight w. Rounded up, if at all. A world is retained when it exceeds alpha, which is when
    /// the threshold retains it.
    pub fn p_value(&self, tested: Score, case: Weight) -> WeightedPValue {
        let place = self.keys.partition_point(|&key| key < tested.key());
        let below = place.checked_sub(1).map_or(0, |before| self.up_to[before]);
        match self.units.rounded_up(case) {
            Some(case) => WeightedPValue {
                at_least: self.from[place] + case,
                below,
            },
            // The case outweighs everything: p = 1.
            None => WeightedPValue {
                at_least: 1,
                below: 0,
            },
        }
    }
}

/// A weighted conformal p-value, from above 0 to 1; 1 where there is no weight at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightedPValue {
    at_least: u128,
    below: u128,
}

impl WeightedPValue {
    /// The nearest number.
    pub fn value(self) -> f64 {
        if self.below == 0 {
            return 1.0;
        }
        self.at_least as f64 / (self.at_least + self.below) as f64
    }

    /// Whether `p > alpha`, exactly.
    pub fn exceeds(self, alpha: Alpha) -> bool {
        let sums = Sums {
            below: self.below,
            above: self.at_least,
        };
        !sums.reached(alpha)
    }
}
