//! The key of a journal: a file of its own beside it.
//!
//! It is not the key of the audit log. Undoing must not depend on what becomes of a log, which may be begun anew under
//! another key; and the trash beside the journal has the contents themselves as long as they are kept. What the key is for is
//! that a copy of a journal tells nothing of what was deleted or overwritten.

use std::fs::File;
use std::io::Write as _;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, fsync, openat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::error::ExecuteError;
use super::interrupt::moment;
use super::journal::Journal;
use super::kept::Code;
use super::record::Record;
use crate::audit::LogKey;
use crate::files::{Digest, Workspace};

pub(super) struct JournalKey(LogKey);

const NAME: &str = "journal.key";
/// Its name until it is whole.
const NEW: &str = "journal.key.new";

impl JournalKey {
    /// The key of a journal: made if it has none yet, refused if it is not the one that the journal was written under.
    pub(super) fn of(state: &Workspace, journal: &mut Journal) -> Result<Self, ExecuteError> {
        let refuse = |problem| {
            let path = state.path().join(NAME).display().to_string();
            Err(ExecuteError::JournalKey { path, problem })
        };
        let known = journal.ledger().key();
        let key = match read(state)? {
            Some(key) => key,
            None if known.is_some() => return refuse("it is missing"),
            None => create(state)?,
        };
        let check = Digest::from(key.0.code("journal key", &[]));
        match known {
            None => journal.append(Record::Keyed { check })?,
            Some(known) if known != check => {
                return refuse("the journal was written under another one");
            }
            Some(_) => {}
        }
        Ok(key)
    }

    pub(super) fn code(&self, digest: Digest) -> Code {
        Code::Keyed(Digest::from(self.0.code("journal", &[digest.bytes()])))
    }

    #[cfg(test)]
    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(LogKey::from_bytes(bytes))
    }
}

fn read(state: &Workspace) -> Result<Option<JournalKey>, ExecuteError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match openat(state.handle(), NAME, flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        file => {
            let file = file.map_err(ExecuteError::io(format!("cannot open `{NAME}`")))?;
            let key = LogKey::read_from(&File::from(file), &state.path().join(NAME))?;
            Ok(Some(JournalKey(key)))
        }
    }
}

/// Under another name first: a key is there whole or not at all.
fn create(state: &Workspace) -> Result<JournalKey, ExecuteError> {
    let failed = || ExecuteError::io::<std::io::Error>(format!("cannot make `{NAME}`"));
    let at = state.handle();
    match unlinkat(at, NEW, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed()(errno.into())),
    }
    let (key, bytes) = LogKey::drawn()?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    moment();
    let file = openat(at, NEW, flags, Mode::RUSR | Mode::WUSR);
    let mut file = File::from(file.map_err(|errno| failed()(errno.into()))?);
    moment();
    file.write_all(&bytes).map_err(failed())?;
    file.sync_all().map_err(failed())?;
    moment();
    renameat_with(at, NEW, at, NAME, RenameFlags::NOREPLACE)
        .and_then(|()| fsync(at))
        .map_err(|errno| failed()(errno.into()))?;
    moment();
    Ok(JournalKey(key))
}
