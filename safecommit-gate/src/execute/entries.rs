//! What there is to undo.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::error::ExecuteError;
use super::executor::{Executor, expect_private};
use super::ledger::Ledger;
use super::receipt::JournalEntry;
use crate::files::Workspace;

impl Executor {
    /// The entries of the journal in their order.
    #[must_use]
    pub fn entries(&self) -> Vec<JournalEntry> {
        self.journal.ledger().describe()
    }

    /// The entries of the journal in a state directory, in their order, without opening it to act: nothing is locked,
    /// settled or written, so it works beside an open executor and where [`open`](Self::open) fails on an entry that
    /// cannot be settled. An entry that is being written is not there yet. Without a journal there is none.
    ///
    /// # Errors
    ///
    /// [`ExecuteError`] if the directory is missing or may be changed by other users, if the journal is damaged, or the
    /// system refuses something.
    pub fn read_entries(state: impl AsRef<Path>) -> Result<Vec<JournalEntry>, ExecuteError> {
        let state = Workspace::open(state)?;
        expect_private(&state)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(state.handle(), "journal", flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(Vec::new()),
            file => file.map_err(ExecuteError::io("cannot open the journal"))?,
        };
        let mut text = Vec::new();
        let read = File::from(file).read_to_end(&mut text);
        read.map_err(ExecuteError::io("journal"))?;
        Ok(Ledger::read(&text)?.describe())
    }
}
