//! Products of sets of values: some worlds at once.

use smallvec::SmallVec;

/// A set of worlds: for each fact some of its values, a bit each. Every combination of them is a world of it.
///
/// Of cubes that hold worlds the order is that of their values, so that of two cubes that differ in one fact alone the
/// one with the earlier values comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cube(SmallVec<[u64; 16]>);

/// How many values a fact of a cube may have.
pub(crate) const MOST_VALUES: usize = 64;

impl Cube {
    /// The product of these sets, one a fact.
    pub(crate) fn new(sets: impl IntoIterator<Item = u64>) -> Self {
        Self(sets.into_iter().collect())
    }

    /// The values of a fact, a bit each. None of a fact that there is not.
    pub(crate) fn set(&self, fact: usize) -> u64 {
        self.0.get(fact).copied().unwrap_or(0)
    }

    /// The positions of a fact's values, ascending.
    pub(crate) fn values(&self, fact: usize) -> Values {
        Values(self.set(fact))
    }

    /// The least of a fact's values.
    pub(crate) fn least(&self, fact: usize) -> Option<u8> {
        self.values(fact).next()
    }

    /// The next of a fact's values after this one.
    pub(crate) fn after(&self, fact: usize, value: u8) -> Option<u8> {
        // All bits above that of the value.
        let above = u64::MAX.checked_shl(u32::from(value) + 1).unwrap_or(0);
        Values(self.set(fact) & above).next()
    }

    /// How many values a fact has.
    pub(crate) fn size(&self, fact: usize) -> usize {
        self.set(fact).count_ones() as usize
    }

    /// The part in which a fact has one of these values.
    pub(crate) fn with(&self, fact: usize, values: u64) -> Self {
        let mut part = self.clone();
        part.keep(fact, values);
        part
    }

    /// Leaves of a fact's values only these; whether any is left.
    pub(crate) fn keep(&mut self, fact: usize, values: u64) -> bool {
        self.0.get_mut(fact).is_some_and(|set| {
            *set &= values;
            *set != 0
        })
    }

    pub(crate) fn admits(&self, fact: usize, value: u8) -> bool {
        self.set(fact) & bit(value) != 0
    }

    /// Whether a world, one position of a value a fact, is one of the cube.
    pub(crate) fn contains(&self, world: &[u8]) -> bool {
        let mut values = world.iter().enumerate();
        world.len() == self.0.len() && values.all(|(fact, &value)| self.admits(fact, value))
    }

    /// Whether there is no world in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.contains(&0)
    }
}

/// The set of one value; empty for one that no cube has.
pub(crate) fn bit(value: u8) -> u64 {
    1_u64.checked_shl(u32::from(value)).unwrap_or(0)
}

/// The positions of the values of a set, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Values(u64);

impl Iterator for Values {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let value = self.0.trailing_zeros() as u8;
        // Removes the lowest bit.
        self.0 &= self.0.checked_sub(1)?;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_holds_the_combinations_of_its_values() {
        let cube = Cube::new([0b101, 0b10]);
        assert!(cube.contains(&[0, 1]) && cube.contains(&[2, 1]));
        for other in [&[1, 1][..], &[0, 0], &[0], &[0, 1, 0], &[64, 1], &[255, 1]] {
            assert!(!cube.contains(other), "{other:?}");
        }
        assert!(cube.values(0).eq([0, 2]) && cube.values(2).next().is_none());
        assert_eq!(
            [0, 1, 2, 63, 255].map(|value| cube.after(0, value)),
            [Some(2), Some(2), None, None, None]
        );
        assert_eq!(
            [0, 1, 2].map(|fact| cube.least(fact)),
            [Some(0), Some(1), None]
        );
        let mut part = cube.with(0, 0b100);
        assert!(part.values(0).eq([2]) && part < Cube::new([0b1000, 0]));
        assert!(!part.keep(1, 0b1) && part.is_empty() && !cube.is_empty());
    }

    #[test]
    fn sets_reach_from_no_value_to_the_most() {
        assert_eq!((bit(63), bit(64)), (1 << 63, 0));
        assert_eq!(Values(u64::MAX).count(), MOST_VALUES);
        assert_eq!(Values(1 << 63).collect::<Vec<_>>(), [63]);
    }
}
