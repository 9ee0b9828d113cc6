//! A set of actions, one bit each.

use smallvec::SmallVec;

use super::{bits, word_count};

/// A set of actions out of a fixed number of candidates, one bit each.
///
/// Up to 128 candidates live inside the value itself; more go to the heap, without a cap.
///
/// ```
/// use safecommit_core::ActionSet;
///
/// let mut safe = ActionSet::empty(3);
/// safe.insert(1);
/// assert!(safe.contains(1) && !safe.contains(0));
/// assert_eq!(safe.iter().collect::<Vec<_>>(), [1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionSet {
    pub(super) actions: usize,
    pub(super) words: SmallVec<[u64; 2]>,
}

impl ActionSet {
    /// No action out of `actions`.
    #[must_use]
    pub fn empty(actions: usize) -> Self {
        Self {
            actions,
            words: SmallVec::from_elem(0, word_count(actions)),
        }
    }

    /// Every one of `actions`.
    #[must_use]
    pub fn full(actions: usize) -> Self {
        let mut set = Self {
            actions,
            words: SmallVec::from_elem(u64::MAX, word_count(actions)),
        };
        set.clear_padding();
        set
    }

    /// How many candidates there are, in the set or not.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// How many actions are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether no action is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether `action` is in the set; false for an index past the candidates.
    #[must_use]
    pub fn contains(&self, action: usize) -> bool {
        self.words
            .get(action / 64)
            .is_some_and(|word| word >> (action % 64) & 1 == 1)
    }

    /// Adds `action`. An index past the candidates is ignored and answered with `false`.
    pub fn insert(&mut self, action: usize) -> bool {
        if action >= self.actions {
            return false;
        }
        self.words[action / 64] |= 1 << (action % 64);
        true
    }

    /// The actions in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        bits(&self.words)
    }

    /// The first action in the set.
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// Bits past the last candidate must stay zero, or they would count as actions.
    fn clear_padding(&mut self) {
        let used = self.actions % 64;
        if let (Some(last), true) = (self.words.last_mut(), used != 0) {
            *last &= (1 << used) - 1;
        }
        if self.actions == 0 {
            self.words.fill(0);
        }
    }
}
