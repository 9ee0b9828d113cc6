//! Causing an effect: everything up to the first failure, which [`super::settle`] then takes from there.

use rustix::io::Errno;

use super::action::Content;
use super::error::ExecuteError;
use super::executor::Executor;
use super::kept::Kept;
use super::place;
use super::record::{Effect, Record, Source};
use super::restore::OTHER_IN_TRASH;
use crate::files::Target;

/// The open handles of one entry. They are opened once and serve until the entry is settled.
pub(super) struct Places {
    /// What is acted on.
    pub(super) target: Target,
    /// The name beside it under which it is worked on.
    pub(super) hidden: Target,
    /// Of a move, where it goes.
    pub(super) to: Option<Target>,
}

impl Executor {
    /// Causes the effect of an entry that is in the journal.
    pub(super) fn cause(
        &mut self,
        entry: u64,
        effect: &Effect,
        places: &Places,
        content: Option<&Content>,
    ) -> Result<(), ExecuteError> {
        let Places { target, hidden, to } = places;
        let shown = || target.relative().to_owned();
        match effect {
            Effect::Take { old, .. } => {
                self.hide(target, hidden, old)?;
                self.stow(entry, hidden)
            }
            Effect::Put { new, .. } => {
                let staged = self.stage(entry, new, hidden, content, None)?;
                self.check_ancestry(target)?;
                place::rename_new(hidden, target).map_err(|errno| arriving(errno, target))?;
                self.expect_arrived(target, hidden, &staged)
            }
            Effect::Replace { old, new, .. } => {
                let staged = self.stage(entry, new, hidden, content, Some(target))?;
                let now = target.identity(&self.limits)?;
                if !now.is_some_and(|now| self.key.is(old, &now)) {
                    return Err(ExecuteError::Changed(shown()));
                }
                self.check_ancestry(target)?;
                place::exchange(hidden, target).map_err(|errno| leaving(errno, target))?;
                self.check_ancestry(target)?;
                let was = hidden.identity(&self.limits)?;
                if !was.is_some_and(|was| self.key.is_renamed(old, &was))
                    || !place::is_object(target, &staged)?
                {
                    return Err(ExecuteError::Changed(shown()));
                }
                self.stow(entry, hidden)
            }
            Effect::Move { old, .. } => {
                let to = to.as_ref().ok_or_else(|| ExecuteError::Changed(shown()))?;
                self.hide(target, hidden, old)?;
                self.check_ancestry(to)?;
                place::rename_new(hidden, to).map_err(|errno| match errno {
                    Errno::XDEV => ExecuteError::OtherFileSystem {
                        from: shown(),
                        to: to.relative().to_owned(),
                    },
                    errno => arriving(errno, to),
                })?;
                self.expect_arrived(to, hidden, old)
            }
        }
    }

    /// Makes sure that what arrived at `at` is in the workspace. If not, it is hidden again, and so can be settled.
    fn expect_arrived(
        &self,
        at: &Target,
        hidden: &Target,
        arrived: &Kept,
    ) -> Result<(), ExecuteError> {
        let Err(left) = self.check_ancestry(at) else {
            return Ok(());
        };
        if place::is_object(at, arrived)? {
            place::rename_new(at, hidden).map_err(|errno| leaving(errno, at))?;
        }
        Err(left)
    }

    /// Takes the target away from its name, and makes sure that it was the right thing in the right place.
    fn hide(&self, target: &Target, hidden: &Target, old: &Kept) -> Result<(), ExecuteError> {
        self.check_ancestry(target)?;
        place::rename_new(target, hidden).map_err(|errno| leaving(errno, target))?;
        self.check_ancestry(target)?;
        match hidden.identity(&self.limits)? {
            Some(found) if self.key.is_renamed(old, &found) => Ok(()),
            _ => Err(ExecuteError::Changed(target.relative().to_owned())),
        }
    }

    /// Makes what is to be put in place, complete and durable, under the hidden name.
    fn stage(
        &mut self,
        entry: u64,
        new: &Source,
        hidden: &Target,
        content: Option<&Content>,
        like: Option<&Target>,
    ) -> Result<Kept, ExecuteError> {
        let expected = match (new, content) {
            (Source::Bytes { .. }, Some(content)) => {
                place::create(hidden, content.bytes(), like)?;
                Some(self.key.code(content.digest()))
            }
            (Source::Bytes { .. }, None) => None,
            (Source::Trash { entry, item }, _) => {
                let source = self.trashed(*entry)?;
                let found = source.identity(&self.limits)?;
                if !found.is_some_and(|found| self.key.is(item, &found)) {
                    return Err(ExecuteError::NotRestorable {
                        entry: *entry,
                        problem: OTHER_IN_TRASH,
                    });
                }
                match place::rename_new(&source, hidden) {
                    Err(Errno::XDEV) => place::copy(&source, hidden)?,
                    renamed => renamed.map_err(|errno| leaving(errno, &source))?,
                }
                item.content
            }
        };
        let staged = hidden.identity(&self.limits)?;
        let staged = staged
            .filter(|staged| expected.is_some() && self.key.is_content(expected, staged.content));
        let staged = staged.ok_or_else(|| ExecuteError::Changed(hidden.relative().to_owned()))?;
        let staged = self.key.kept(&staged);
        self.journal.append(Record::Staged {
            entry,
            staged: staged.clone(),
        })?;
        Ok(staged)
    }

    /// Brings what lies under the hidden name into the trash: by its name alone, or across file systems by copy,
    /// verification and removal.
    pub(super) fn stow(&mut self, entry: u64, hidden: &Target) -> Result<(), ExecuteError> {
        self.make_slot(entry)?;
        let item = self.trashed(entry)?;
        match place::rename_new(hidden, &item) {
            Ok(()) => return Ok(()),
            Err(Errno::XDEV) => {}
            Err(errno) => return Err(leaving(errno, hidden)),
        }
        let old = hidden.identity(&self.limits)?;
        place::remove(&item)?;
        place::copy(hidden, &item)?;
        let copied = item.identity(&self.limits)?;
        let faithful = matches!((&old, &copied), (Some(old), Some(copied))
            if old.content.is_some() && (old.content, old.mode) == (copied.content, copied.mode));
        // What is copied must be what is removed.
        if !faithful || hidden.identity(&self.limits)? != old {
            return Err(ExecuteError::Changed(hidden.relative().to_owned()));
        }
        self.journal.append(Record::Copied { entry })?;
        place::remove(hidden)
    }

    /// Refuses a directory on another mount than the workspace: what is mounted may lie anywhere.
    pub(super) fn check_mount(&self, target: &Target) -> Result<(), ExecuteError> {
        if target.place() == self.workspace.status().place() {
            Ok(())
        } else {
            Err(ExecuteError::Mount(target.relative().to_owned()))
        }
    }

    /// Refuses a directory that was moved out of the workspace, that is or lies in the state directory, or that is on
    /// another mount.
    pub(super) fn check_ancestry(&self, target: &Target) -> Result<(), ExecuteError> {
        let object = |status: &crate::files::Status| (status.device, status.inode);
        let (workspace, state) = (object(self.workspace.status()), object(self.state.status()));
        let found = place::ancestry(target.parent(), workspace, state);
        let found = found.map_err(ExecuteError::io(format!(
            "cannot find `{}`",
            target.relative()
        )))?;
        if found.in_state {
            return Err(ExecuteError::Protected(target.relative().to_owned()));
        }
        self.check_mount(target)?;
        if !found.in_workspace {
            return Err(ExecuteError::Changed(target.relative().to_owned()));
        }
        Ok(())
    }
}

fn leaving(errno: Errno, target: &Target) -> ExecuteError {
    let shown = target.relative().to_owned();
    match errno {
        Errno::NOENT => ExecuteError::Changed(shown),
        Errno::BUSY => ExecuteError::Mount(shown),
        Errno::INVAL | Errno::NOSYS => ExecuteError::NotSupported,
        errno => ExecuteError::io(format!("cannot move `{shown}` away"))(errno),
    }
}

fn arriving(errno: Errno, target: &Target) -> ExecuteError {
    let shown = target.relative().to_owned();
    match errno {
        Errno::EXIST => ExecuteError::Occupied(shown),
        Errno::INVAL | Errno::NOSYS => ExecuteError::NotSupported,
        errno => ExecuteError::io(format!("cannot put `{shown}` in place"))(errno),
    }
}
