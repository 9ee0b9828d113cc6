//! Sets of actions as bit vectors, and the signatures of many worlds packed row by row.

use smallvec::SmallVec;

mod action_set;

pub use action_set::ActionSet;

/// The signature of a world (Eq. 8 of Akewar and Ranjan, arXiv:2608.04289): the bit vector of its
/// safety map over the candidate actions.
pub type Signature = ActionSet;

/// The signatures of many worlds, one row a world, packed into machine words.
///
/// Certification is one bitwise AND over the rows ([`SignatureMatrix::intersection`]): an action is
/// safe in every world exactly when its bit survives. The pass stops early, at the first look that
/// finds no action left.
///
/// ```
/// use safecommit_core::SignatureMatrix;
///
/// let mut worlds = SignatureMatrix::new(3);
/// worlds.push([0, 1])?;
/// worlds.push([1, 2])?;
/// assert_eq!(worlds.intersection().iter().collect::<Vec<_>>(), [1]);
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignatureMatrix {
    actions: usize,
    words: usize,
    rows: Vec<u64>,
}

/// Rows between two looks at whether any action is left: rarer looks cost nothing, one at every row
/// costs up to three times the pass itself.
const ROWS_BETWEEN_EXITS: usize = 64;

impl SignatureMatrix {
    /// A matrix without rows over `actions` candidates.
    #[must_use]
    pub fn new(actions: usize) -> Self {
        let mut matrix = Self::default();
        matrix.reset(actions);
        matrix
    }

    /// Drops all rows and sets the number of candidates, keeping the memory.
    pub fn reset(&mut self, actions: usize) {
        self.actions = actions;
        self.words = word_count(actions);
        self.rows.clear();
    }

    /// How many worlds there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.words.max(1)
    }

    /// Whether there is no world.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many candidate actions there are.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// Adds a world in which exactly the actions `safe` are safe.
    ///
    /// # Errors
    ///
    /// [`crate::ProblemError::UnknownAction`] for an index past the candidates; no row is added then.
    pub fn push(
        &mut self,
        safe: impl IntoIterator<Item = usize>,
    ) -> Result<(), crate::ProblemError> {
        // The row is put together beside the matrix: an iterator that panics leaves no half of one.
        let mut row = SmallVec::<[u64; 2]>::from_elem(0, self.words);
        for action in safe {
            if action >= self.actions {
                return Err(crate::ProblemError::UnknownAction { action });
            }
            row[action / 64] |= 1 << (action % 64);
        }
        self.rows.extend_from_slice(&row);
        Ok(())
    }

    /// Makes room for this many worlds.
    pub(crate) fn reserve(&mut self, worlds: usize) {
        self.rows.reserve(worlds * self.words);
    }

    /// The packed words of world `row`.
    pub(crate) fn row(&self, row: usize) -> &[u64] {
        &self.rows[row * self.words..(row + 1) * self.words]
    }

    /// Appends row `row` of `other`, which has the same candidates.
    pub(crate) fn push_row_of(&mut self, other: &Self, row: usize) {
        self.rows.extend_from_slice(other.row(row));
    }

    /// Moves row `from` to `to`, for removal in place.
    pub(crate) fn move_row(&mut self, from: usize, to: usize) {
        let start = from * self.words;
        self.rows
            .copy_within(start..start + self.words, to * self.words);
    }

    /// Keeps the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows * self.words);
    }

    /// Whether `action` is safe in world `row`.
    #[must_use]
    pub fn is_safe(&self, row: usize, action: usize) -> bool {
        action < self.actions
            && self
                .rows
                .get(row * self.words + action / 64)
                .is_some_and(|word| word >> (action % 64) & 1 == 1)
    }

    /// The signature of world `row`; nothing is safe in a world that is not there.
    #[must_use]
    pub fn signature(&self, row: usize) -> Signature {
        let start = row.saturating_mul(self.words);
        let words = self.rows.get(start..start.saturating_add(self.words));
        words.map_or_else(
            || ActionSet::empty(self.actions),
            |words| ActionSet {
                actions: self.actions,
                words: SmallVec::from_slice(words),
            },
        )
    }

    /// The actions that are unsafe in world `row`, in ascending order.
    pub(crate) fn unsafe_actions(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let actions = self.actions;
        self.row(row)
            .iter()
            .enumerate()
            .flat_map(move |(at, &word)| {
                let left = actions - at * 64;
                let mask = if left >= 64 {
                    u64::MAX
                } else {
                    (1 << left) - 1
                };
                bits_of_word(!word & mask).map(move |bit| at * 64 + bit)
            })
    }

    /// The actions that are safe in every world: all of them when there is no world, which is why
    /// nothing but a non-empty plausible set may turn this into a certificate (No vacuous truth).
    #[must_use]
    pub fn intersection(&self) -> ActionSet {
        if self.words == 1 {
            // One word stays in a register, which is also what lets the pass run at memory speed.
            let mut left = u64::MAX >> (64 - self.actions);
            for rows in self.rows.chunks(ROWS_BETWEEN_EXITS) {
                left = rows.iter().fold(left, |kept, row| kept & row);
                if left == 0 {
                    break;
                }
            }
            return ActionSet {
                actions: self.actions,
                words: SmallVec::from_buf_and_len([left, 0], 1),
            };
        }
        let mut left = ActionSet::full(self.actions);
        for rows in self.rows.chunks(ROWS_BETWEEN_EXITS * self.words.max(1)) {
            for row in rows.chunks_exact(self.words.max(1)) {
                for (kept, word) in left.words.iter_mut().zip(row) {
                    *kept &= word;
                }
            }
            if left.is_empty() {
                break;
            }
        }
        left
    }

    /// The actions that are safe in at least one world.
    #[must_use]
    pub fn union(&self) -> ActionSet {
        let mut any = ActionSet::empty(self.actions);
        for row in self.rows.chunks_exact(self.words.max(1)) {
            for (kept, word) in any.words.iter_mut().zip(row) {
                *kept |= word;
            }
        }
        any
    }
}

fn word_count(actions: usize) -> usize {
    actions.div_ceil(64)
}

fn bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words
        .iter()
        .enumerate()
        .flat_map(|(at, &word)| bits_of_word(word).map(move |bit| at * 64 + bit))
}

fn bits_of_word(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(actions: usize, worlds: &[&[usize]], safe_in_all: &[usize], safe_in_any: &[usize]) {
        let mut matrix = SignatureMatrix::new(actions);
        for world in worlds {
            matrix.push(world.iter().copied()).unwrap();
        }
        assert_eq!(
            matrix.intersection().iter().collect::<Vec<_>>(),
            safe_in_all
        );
        assert_eq!(matrix.union().iter().collect::<Vec<_>>(), safe_in_any);
    }

    #[test]
    fn intersection_and_union_over_one_word() {
        check(3, &[&[0, 1], &[1, 2]], &[1], &[0, 1, 2]);
        check(3, &[&[], &[1, 2]], &[], &[1, 2]);
        check(64, &[&[0, 63], &[63]], &[63], &[0, 63]);
    }

    #[test]
    fn intersection_and_union_over_many_words() {
        check(65, &[&[0, 64], &[64]], &[64], &[0, 64]);
        check(
            200,
            &[&[0, 70, 199], &[70, 199], &[199, 3]],
            &[199],
            &[0, 3, 70, 199],
        );
    }

    #[test]
    fn the_early_exit_looks_at_every_row_before_it_answers() {
        for actions in [1, 64, 65, 130] {
            for rows in [63, 64, 65, 200] {
                for bad in [0, 62, rows - 1] {
                    let mut matrix = SignatureMatrix::new(actions);
                    for row in 0..rows {
                        let safe = if row == bad {
                            0..actions - 1
                        } else {
                            0..actions
                        };
                        matrix.push(safe).unwrap();
                    }
                    let kept: Vec<_> = matrix.intersection().iter().collect();
                    assert_eq!(kept, (0..actions - 1).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn padding_bits_are_not_actions() {
        for actions in [0, 1, 63, 64, 65, 127, 128, 129, 200] {
            assert_eq!(ActionSet::full(actions).len(), actions);
            assert!(!ActionSet::full(actions).contains(actions));
            assert!(!ActionSet::empty(actions).insert(actions));
        }
    }

    #[test]
    fn unsafe_actions_complement_the_signature() {
        for actions in [3, 64, 65, 130] {
            let mut matrix = SignatureMatrix::new(actions);
            matrix.push([0, actions - 1]).unwrap();
            let unsafe_ones: Vec<_> = matrix.unsafe_actions(0).collect();
            assert_eq!(unsafe_ones, (1..actions - 1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_unknown_action_adds_no_row() {
        let mut matrix = SignatureMatrix::new(2);
        assert!(matrix.push([0, 2]).is_err());
        assert!(matrix.is_empty());
    }
}
