//! Where renaming without replacing is not known to work.

use std::convert::Infallible;
use std::path::Path;

use super::error::ExecuteError;
use super::receipt::{JournalEntry, Receipt, Resolution};
use crate::files::Workspace;

/// Executes certified file actions in one workspace, and can undo them: not on this system.
#[derive(Debug)]
pub struct Executor(Infallible);

impl Executor {
    /// There is none on this system.
    ///
    /// # Errors
    ///
    /// [`ExecuteError::NotSupported`].
    pub fn open(_: Workspace, _: impl AsRef<Path>) -> Result<Self, ExecuteError> {
        Err(ExecuteError::NotSupported)
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        match self.0 {}
    }

    /// The entries that were found begun when this executor was opened, and how they ended.
    #[must_use]
    pub fn recovered(&self) -> &[(u64, Resolution)] {
        match self.0 {}
    }

    /// The entries of the journal in their order.
    #[must_use]
    pub fn entries(&self) -> Vec<JournalEntry> {
        match self.0 {}
    }

    /// There is none on this system.
    ///
    /// # Errors
    ///
    /// [`ExecuteError::NotSupported`].
    pub fn read_entries(_: impl AsRef<Path>) -> Result<Vec<JournalEntry>, ExecuteError> {
        Err(ExecuteError::NotSupported)
    }

    /// Removes for good what entries keep in the trash.
    ///
    /// # Errors
    ///
    /// None, since there is no executor.
    pub fn empty_trash(
        &mut self,
        _: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<u64>, ExecuteError> {
        match self.0 {}
    }

    /// Undoes an entry.
    ///
    /// # Errors
    ///
    /// None, since there is no executor.
    pub fn restore(&mut self, _: u64) -> Result<Receipt, ExecuteError> {
        match self.0 {}
    }
}
