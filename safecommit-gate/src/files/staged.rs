//! What an action would do, without doing it: the dry run of a move or deletion, and the difference that a write makes.

use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use safecommit_conformal::Digest;
use sha2::{Digest as _, Sha256};

use super::error::FileError;
use super::facts::{BASE, DISCARDS, FileSettings};
use super::handle::{Target, Workspace};
use super::identity::read_file;
use super::probe::Proposed;
use super::status::Kind;
use super::tree::{Found, status_of_parent, truth};
use super::walk::{Entry, Limits};

/// What a write would change.
///
/// ```
/// use safecommit_gate::{Limits, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("list"), "one\ntwo\nthree\n")?;
/// let workspace = Workspace::open(folder.path())?;
/// let staged = workspace.target("list")?.staged_diff(b"one\n2\nthree\nfour\n", &Limits::default())?;
/// assert_eq!((staged.first_line, staged.removed, staged.added), (2, 2, 3));
/// assert!(staged.discards);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StagedDiff {
    /// The digest of what is there; `None` if nothing is.
    pub before: Option<Digest>,
    /// The digest of what would be there.
    pub after: Digest,
    /// The first line that would differ, from 1; one past the last if none does.
    pub first_line: usize,
    /// How many lines there are from the first to the last that would go.
    pub removed: usize,
    /// How many lines would be in their place.
    pub added: usize,
    /// Whether some line that is there would not be there any more. A last line that has no end, and gets one, stays.
    pub discards: bool,
}

impl Target {
    /// What writing this content would change: the lines between the beginning and the end that stay.
    ///
    /// # Errors
    ///
    /// [`FileError::Link`] for a link, [`FileError::NotAFile`] for anything else but a file or nothing, [`FileError`] if it
    /// is denied, changes while it is read, or exceeds the limits.
    pub fn staged_diff(&self, content: &[u8], limits: &Limits) -> Result<StagedDiff, FileError> {
        let mut bytes = Vec::new();
        let is_there = self.read(limits, &mut |part| bytes.extend_from_slice(part))?;
        let before = is_there.then_some(bytes);
        let digest = before.as_deref().map(Digest::of_bytes);
        let mut old = before.unwrap_or_default();
        let changed = Changed::between(&old, content);
        let mut discards = changed.removed > 0;
        if discards && old.last() != Some(&b'\n') {
            // Whoever appends to a last line without an end has to end it first, and loses nothing of it.
            old.push(b'\n');
            discards = Changed::between(&old, content).removed > 0;
        }
        Ok(StagedDiff {
            before: digest,
            after: Digest::of_bytes(content),
            first_line: changed.same + 1,
            removed: changed.removed,
            added: changed.added,
            discards,
        })
    }

    /// Reads the file; whether there is one.
    fn read(&self, limits: &Limits, read: &mut dyn FnMut(&[u8])) -> Result<bool, FileError> {
        let Some(status) = self.status()? else {
            return Ok(false);
        };
        match status.kind {
            Kind::File => {}
            Kind::Link => return Err(FileError::Link(self.relative().to_owned())),
            _ => return Err(FileError::NotAFile(self.relative().to_owned())),
        }
        let entry = Entry {
            parent: self.parent(),
            name: self.name().as_ref(),
            below: &[],
            status: &status,
        };
        read_file(&entry, &mut limits.begin(), read)?;
        Ok(true)
    }
}

/// The lines between those that two contents have in common at their beginning and, of the rest, at their end.
struct Changed {
    /// How many are the same at the beginning.
    same: usize,
    removed: usize,
    added: usize,
}

impl Changed {
    fn between(old: &[u8], new: &[u8]) -> Self {
        let (old, new) = (lines(old), lines(new));
        let same = |pairs: &mut dyn Iterator<Item = (&&[u8], &&[u8])>| {
            pairs.take_while(|(old, new)| old == new).count()
        };
        let start = same(&mut old.iter().zip(&new));
        let end = same(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
        Self {
            same: start,
            removed: old.len() - start - end,
            added: new.len() - start - end,
        }
    }
}

fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|&byte| byte == b'\n').collect()
}

/// `discards`: whether a line of what is there would go if this content were put in its place. Of nothing, and of an empty
/// file, nothing goes. `base`: whether it was made from what is there, if it says from what.
pub(crate) fn staged_facts(
    target: &Target,
    proposed: &Proposed<'_>,
    limits: &Limits,
) -> Result<Found, FileError> {
    let Some(content) = proposed.content else {
        return Ok(Vec::new());
    };
    let found = |discards, before: Option<Digest>| {
        let base = match proposed.base {
            None => "unknown",
            base if base == before => "same",
            Some(_) => "other",
        };
        vec![(DISCARDS, truth(discards)), (BASE, base)]
    };
    let length = content.len() as u64;
    let status = target.status()?;
    // What is longer than all that is to be there cannot stay as a whole, so it does not have to be held.
    if status.is_some_and(|status| status.kind == Kind::File && status.size > length) {
        let mut digest = Sha256::new();
        let is_there =
            proposed.base.is_some() && target.read(limits, &mut |part| digest.update(part))?;
        let before: [u8; 32] = digest.finalize().into();
        return Ok(found(true, is_there.then(|| Digest::from(before))));
    }
    let limits = Limits {
        bytes: limits.bytes.min(length),
        ..*limits
    };
    let staged = target.staged_diff(content, &limits)?;
    Ok(found(staged.discards, staged.before))
}

/// `reversible`: a file, directory or link that this process may move from where it is, or nothing. A move within a file
/// system keeps every byte, so it can be undone; what is mounted cannot be moved.
pub(crate) fn dry_run_facts(
    workspace: &Workspace,
    target: &Target,
    settings: &FileSettings,
) -> Result<Found, FileError> {
    let parent = status_of_parent(target)?;
    let writable = may_access(target, ".", Access::WRITE_OK | Access::EXEC_OK)?;
    let movable = match target.status()? {
        None => true,
        Some(status) => {
            // In a sticky directory only the owners of the name and of the directory may move it.
            let sticky = parent.mode & 0o1000 != 0
                && ![status.owner, parent.owner].contains(&settings.owner)
                && settings.owner != 0;
            !sticky
                && match status.kind {
                    Kind::File | Kind::Link => true,
                    // A directory that moves is written itself, since its parent is another then.
                    Kind::Directory => may_access(target, target.name(), Access::WRITE_OK)?,
                    _ => false,
                }
        }
    };
    let same_place = target.place() == workspace.status().place();
    Ok(vec![(
        "reversible",
        truth(writable && movable && same_place),
    )])
}

/// Whether this process has access to a name in the directory of the target.
fn may_access(target: &Target, name: &str, access: Access) -> Result<bool, FileError> {
    match rustix::fs::accessat(target.parent(), name, access, AtFlags::EACCESS) {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(false),
        Err(errno) => Err(FileError::of(target.relative(), errno)),
    }
}
