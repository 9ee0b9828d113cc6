//! Positions of unique names.

use indexmap::IndexSet;

/// Unique names in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(IndexSet<String>);

impl Names {
    /// Adds a name; `None` if it is there already.
    pub(super) fn add(&mut self, name: &str) -> Option<usize> {
        let (position, new) = self.0.insert_full(name.to_owned());
        new.then_some(position)
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.0.get_index_of(name)
    }

    pub(super) fn name(&self, position: usize) -> Option<&str> {
        self.0.get_index(position).map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}
