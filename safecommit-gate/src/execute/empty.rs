//! Removing from the trash for good.

use std::collections::BTreeSet;

use super::error::ExecuteError;
use super::executor::{Executor, slots};
use super::place;
use super::receipt::Resolution;
use super::record::{Effect, Record};
use crate::files::Target;

impl Executor {
    /// Removes for good what these entries keep in the trash, and gives those of which something was removed, in
    /// their order. From then on they cannot be undone, if that would take what is gone. No link is followed, and
    /// nothing on another file system than that of the trash is removed.
    ///
    /// The journal says so first: what a crash leaves of it is removed at the next start. What cannot be removed stays
    /// and takes up room; it is tried again at each start, and whenever the entry is named again.
    ///
    /// # Errors
    ///
    /// [`ExecuteError::NoSuchEntry`] for an entry that is not in the journal, and [`ExecuteError::Unsettled`]: then
    /// nothing was removed. Others if the system refuses something; entries before that one are done.
    pub fn empty_trash(
        &mut self,
        entries: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<u64>, ExecuteError> {
        self.expect_settled()?;
        let entries: BTreeSet<u64> = entries.into_iter().collect();
        let mut missing = entries.iter();
        if let Some(entry) = missing.find(|entry| !self.journal.entries().contains_key(entry)) {
            return Err(ExecuteError::NoSuchEntry(*entry));
        }
        let mut removed = Vec::new();
        for entry in entries {
            if !self.is_emptied(entry) {
                if self.trashed_if_any(entry)?.is_none() {
                    continue;
                }
                self.journal.append(Record::Emptied { entry })?;
            }
            let slot = self.slot(entry)?;
            if slot.status()?.is_some() {
                place::remove(&slot)?;
                removed.push(entry);
            }
        }
        Ok(removed)
    }

    /// Removes for good what a permanent deletion brought to the trash, if it still is what was decided about.
    pub(super) fn remove_if_permanent(&mut self, number: u64) -> Result<(), ExecuteError> {
        let Some(entry) = self.journal.entries().get(&number) else {
            return Ok(());
        };
        let Effect::Take {
            old,
            permanent: true,
            ..
        } = &entry.effect
        else {
            return Ok(());
        };
        let item = self.trashed(number)?;
        // Whoever holds it open, or stands in it, can change it where it is now.
        let found = item.identity(&self.limits)?;
        let same = found.is_some_and(|found| {
            self.key.is_content(old.content, found.content)
                && found.mode == old.mode
                && (entry.copied || old.is_object(&found))
        });
        if !same {
            return Err(ExecuteError::Changed(item.relative().to_owned()));
        }
        self.journal.append(Record::Emptied { entry: number })?;
        place::remove(&self.slot(number)?)
    }

    /// Goes on with permanent deletions that a crash interrupted: the decision was released.
    pub(super) fn finish_permanent(&mut self) {
        let entries = self.journal.entries().iter();
        let open: Vec<u64> = entries
            .filter(|(_, entry)| {
                entry.effect.is_permanent()
                    && entry.resolution == Some(Resolution::Done)
                    && !entry.emptied
            })
            .map(|(&number, _)| number)
            .collect();
        for entry in open {
            // What was changed in the trash stays there and takes up room, until somebody empties it.
            let _ = self.remove_if_permanent(entry);
        }
    }

    /// Removes what a crash left of emptied slots.
    pub(super) fn finish_emptying(&self) -> Result<(), ExecuteError> {
        for entry in slots(&self.state)? {
            if self.is_emptied(entry) {
                // It only takes up room, and whoever empties it again is told why it stays.
                let _ = self.slot(entry).and_then(|slot| place::remove(&slot));
            }
        }
        Ok(())
    }

    fn is_emptied(&self, entry: u64) -> bool {
        let known = self.journal.entries().get(&entry);
        known.is_some_and(|known| known.emptied)
    }

    fn slot(&self, entry: u64) -> Result<Target, ExecuteError> {
        Ok(self.state.target(format!("trash/{entry}"))?)
    }
}
