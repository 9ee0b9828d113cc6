//! Settling an entry that was begun: after a failure at once, after a crash at the next start.
//!
//! What is found under the hidden name goes back to where it was, unless a verified copy of it is in the trash
//! already, or something new has taken the place meanwhile: then it goes on into the trash.

use rustix::io::Errno;

use super::effect::Places;
use super::error::ExecuteError;
use super::executor::Executor;
use super::kept::Kept;
use super::ledger::Entry;
use super::place;
use super::receipt::Resolution;
use super::record::{Effect, Source};
use crate::files::{FileError, Kind, Target};

impl Executor {
    /// Opens the places of an entry; `None` if a directory on the way is gone or not what it was. What a mount covers
    /// now cannot be settled, and waits.
    pub(super) fn places_of(&self, entry: &Entry) -> Result<Option<Places>, ExecuteError> {
        let (path, to) = entry.effect.paths();
        let open = |path: &str| match self.workspace.target(path) {
            Ok(target) => self.check_mount(&target).map(|()| Some(target)),
            Err(FileError::Missing(_) | FileError::NotADirectory(_) | FileError::Link(_)) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        };
        let Some(target) = open(path)? else {
            return Ok(None);
        };
        let to = match to {
            Some(to) => open(to)?,
            None => None,
        };
        Ok(Some(Places {
            hidden: target.sibling(&entry.hidden)?,
            target,
            to,
        }))
    }

    /// Brings an entry to an end, and says to which.
    pub(super) fn settle(
        &mut self,
        number: u64,
        entry: &Entry,
        places: Option<&Places>,
    ) -> Result<Resolution, ExecuteError> {
        let Some(places) = places else {
            return Ok(match &entry.effect {
                Effect::Take { old, .. } if self.holds(number, old)? => Resolution::Done,
                _ => Resolution::Superseded,
            });
        };
        let Places { target, hidden, to } = places;
        let found = hidden.status()?;
        let resolution = match (&entry.effect, found) {
            (Effect::Take { .. } | Effect::Replace { .. }, Some(_)) if entry.copied => {
                place::remove(hidden)?;
                Resolution::Done
            }
            (Effect::Take { .. } | Effect::Move { .. }, Some(_)) => {
                self.put_back(number, places)?
            }
            (Effect::Take { old, .. }, None) => self.after(number, entry, old, target)?,
            (Effect::Put { new, .. }, Some(_)) => self.withdraw(number, entry, new, hidden)?,
            (Effect::Put { .. }, None) => match &entry.staged {
                Some(staged) if place::is_object(target, staged)? => Resolution::Done,
                Some(_) if target.status()?.is_some() => Resolution::Superseded,
                _ => Resolution::RolledBack,
            },
            (Effect::Replace { old, new, .. }, Some(_)) => {
                let holds_staged = match &entry.staged {
                    Some(staged) => place::is_object(hidden, staged)?,
                    None => !place::is_object(hidden, old)?,
                };
                if holds_staged {
                    self.withdraw(number, entry, new, hidden)?
                } else {
                    self.exchange_back(number, entry, new, places)?
                }
            }
            (Effect::Replace { old, .. }, None) => self.after(number, entry, old, target)?,
            (Effect::Move { old, .. }, None) => match to {
                Some(to) if place::is_object(to, old)? => Resolution::Done,
                _ if place::is_object(target, old)? => Resolution::RolledBack,
                _ => Resolution::Superseded,
            },
        };
        Ok(resolution)
    }

    /// What left its name and is no longer hidden either: it is in the trash, or never left.
    fn after(
        &self,
        number: u64,
        entry: &Entry,
        old: &Kept,
        target: &Target,
    ) -> Result<Resolution, ExecuteError> {
        Ok(if entry.copied {
            Resolution::Done
        } else if place::is_object(target, old)? {
            // It went back, and a crash came before a copy of it was dropped.
            let now = target.identity(&self.limits)?;
            if now.is_some_and(|now| self.key.is_renamed(old, &now)) {
                self.drop_unfinished_copy(number)?;
            }
            Resolution::RolledBack
        } else if self.holds(number, old)? {
            Resolution::Done
        } else if entry.staged.is_some() || self.trashed_if_any(number)?.is_some() {
            Resolution::Superseded
        } else {
            Resolution::RolledBack
        })
    }

    fn put_back(&mut self, number: u64, places: &Places) -> Result<Resolution, ExecuteError> {
        match place::rename_new(&places.hidden, &places.target) {
            Ok(()) => {
                self.drop_unfinished_copy(number)?;
                Ok(Resolution::RolledBack)
            }
            Err(Errno::EXIST) => {
                self.stow(number, &places.hidden)?;
                Ok(Resolution::Superseded)
            }
            Err(errno) => Err(cannot_go_back(errno, &places.target)),
        }
    }

    fn exchange_back(
        &mut self,
        number: u64,
        entry: &Entry,
        new: &Source,
        places: &Places,
    ) -> Result<Resolution, ExecuteError> {
        let Places { target, hidden, .. } = places;
        let is_ours = match &entry.staged {
            Some(staged) => place::is_object(target, staged)?,
            None => false,
        };
        if !is_ours {
            return self.put_back(number, places);
        }
        place::exchange(hidden, target).map_err(|errno| cannot_go_back(errno, target))?;
        self.drop_unfinished_copy(number)?;
        self.withdraw(number, entry, new, hidden)
    }

    /// Takes back what was made under the hidden name and never put in place.
    fn withdraw(
        &mut self,
        number: u64,
        entry: &Entry,
        new: &Source,
        hidden: &Target,
    ) -> Result<Resolution, ExecuteError> {
        let found = hidden.status()?;
        let is_ours = match (&entry.staged, new) {
            (Some(staged), _) => place::is_object(hidden, staged)?,
            (None, Source::Bytes { .. }) => found.is_none_or(|found| found.kind == Kind::File),
            (None, Source::Trash { .. }) => true,
        };
        if !is_ours {
            // Somebody exchanged names at the same moment.
            if found.is_some() {
                self.stow(number, hidden)?;
            }
            return Ok(Resolution::Superseded);
        }
        match new {
            Source::Trash { entry, item } => {
                let source = self.trashed(*entry)?;
                match place::rename_new(hidden, &source) {
                    // It was copied, and what it was copied from is there still.
                    Err(Errno::XDEV | Errno::EXIST)
                        if source.status()?.is_some() && !place::is_object(hidden, item)? =>
                    {
                        place::remove(hidden)?;
                    }
                    renamed => renamed.map_err(|errno| cannot_go_back(errno, hidden))?,
                }
            }
            Source::Bytes { .. } => place::remove(hidden)?,
        }
        Ok(Resolution::RolledBack)
    }

    /// Once the thing itself is back, a copy of it that was begun is of no use to anybody.
    fn drop_unfinished_copy(&self, number: u64) -> Result<(), ExecuteError> {
        match self.trashed_if_any(number)? {
            Some(item) => place::remove(&item),
            None => Ok(()),
        }
    }

    /// Whether the trash holds what an identity was taken of, or a faithful copy.
    fn holds(&self, number: u64, old: &Kept) -> Result<bool, ExecuteError> {
        let Some(item) = self.trashed_if_any(number)? else {
            return Ok(false);
        };
        let found = item.identity(&self.limits)?;
        Ok(found.is_some_and(|found| {
            old.is_object(&found) || self.key.is_content(old.content, found.content)
        }))
    }
}

fn cannot_go_back(errno: Errno, target: &Target) -> ExecuteError {
    ExecuteError::io(format!("cannot put `{}` back", target.relative()))(errno)
}
