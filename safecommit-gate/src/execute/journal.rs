//! The journal: an append-only file of checksummed lines, each durable before what it announces.
//!
//! What the lines say is in [`super::ledger`]. A last line that is not whole is cut off.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use super::error::ExecuteError;
use super::interrupt::moment;
use super::ledger::{Entry, Ledger};
use super::record::Record;

pub(super) struct Journal {
    file: File,
    ledger: Ledger,
    /// The last number that the trash knows, whether or not the journal does.
    above: u64,
}

impl Journal {
    /// Reads the journal in `file`, and cuts off a last line that is not whole.
    pub(super) fn read(mut file: File) -> Result<Self, ExecuteError> {
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        read.map_err(ExecuteError::io("journal"))?;
        let ledger = Ledger::read(&text)?;
        let cut = ledger.length() < text.len() as u64;
        let journal = Self {
            file,
            ledger,
            above: 0,
        };
        if cut {
            journal.cut()?;
        }
        Ok(journal)
    }

    /// Appends a line and makes it durable. A line that could not be written whole is taken back.
    pub(super) fn append(&mut self, record: Record) -> Result<(), ExecuteError> {
        let (chain, line) = self.ledger.line_of(&record)?;
        moment();
        let start = SeekFrom::Start(self.ledger.length());
        let written = self
            .file
            .seek(start)
            .and_then(|_| self.file.write_all(&line));
        if let Err(error) = written.and_then(|()| self.file.sync_data()) {
            // If even that fails, the next start does it.
            let _ = self.cut();
            return Err(ExecuteError::io("journal")(error));
        }
        moment();
        let noted = self.ledger.note(record, chain, line.len() as u64);
        noted.map_err(|problem| ExecuteError::Journal {
            line: 0,
            problem: problem.to_owned(),
        })
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(super) fn entries(&self) -> &BTreeMap<u64, Entry> {
        self.ledger.entries()
    }

    pub(super) fn next_entry(&self) -> u64 {
        let last = self.entries().last_key_value().map_or(0, |(&last, _)| last);
        last.max(self.above).saturating_add(1)
    }

    /// Gives later entries numbers above this one.
    pub(super) fn number_above(&mut self, last: u64) {
        self.above = self.above.max(last);
    }

    fn cut(&self) -> Result<(), ExecuteError> {
        let cut = self
            .file
            .set_len(self.ledger.length())
            .and_then(|()| self.file.sync_data());
        cut.map_err(ExecuteError::io("journal"))
    }
}
