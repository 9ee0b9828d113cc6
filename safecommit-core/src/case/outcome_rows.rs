//! Which outcomes each world may yield.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A row for each world, in their order: the positions of the outcomes that it may yield.
///
/// All rows stand in one list, so that as many worlds as there may be take two allocations.
///
/// JSON form: a list of lists of numbers.
///
/// ```
/// use safecommit_core::OutcomeRows;
///
/// let mut rows = OutcomeRows::default();
/// rows.push([0, 2]);
/// rows.push([1]);
/// assert_eq!(rows.len(), 2);
/// assert_eq!(rows.iter().collect::<Vec<_>>(), [&[0, 2][..], &[1]]);
/// assert_eq!(serde_json::to_string(&rows)?, "[[0,2],[1]]");
/// assert_eq!(serde_json::from_str::<OutcomeRows>("[[0,2],[1]]")?, rows);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomeRows {
    outcomes: Vec<u32>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl OutcomeRows {
    /// Adds the row of the next world.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.outcomes.extend(row);
        self.ends.push(self.outcomes.len());
    }

    /// How many worlds there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no world.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let row = &self.outcomes[begin..end];
            begin = end;
            row
        })
    }
}

impl<R: IntoIterator<Item = u32>> FromIterator<R> for OutcomeRows {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}

impl Serialize for OutcomeRows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for OutcomeRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Vec<u32>>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}
