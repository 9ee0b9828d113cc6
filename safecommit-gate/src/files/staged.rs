//! What an action would do, without doing it: the dry run of a move or deletion, and the difference that a write makes.

use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use safecommit_conformal::Digest;

use super::error::FileError;
use super::facts::FileSettings;
use super::handle::{Target, Workspace};
use super::identity::read_file;
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
}

impl Target {
    /// What writing this content would change: the lines between the beginning and the end that stay.
    ///
    /// # Errors
    ///
    /// [`FileError::Special`] for anything but a file or nothing, [`FileError`] if it is denied, changes while it is
    /// read, or exceeds the limits.
    pub fn staged_diff(&self, content: &[u8], limits: &Limits) -> Result<StagedDiff, FileError> {
        let before = match self.status()? {
            None => None,
            Some(status) if status.kind == Kind::File => {
                let entry = Entry {
                    parent: self.parent(),
                    name: self.name().as_ref(),
                    below: &[],
                    status: &status,
                };
                let mut bytes = Vec::new();
                read_file(&entry, &mut limits.begin(), &mut |part| {
                    bytes.extend_from_slice(part);
                })?;
                Some(bytes)
            }
            Some(status) if status.kind == Kind::Link => {
                return Err(FileError::Link(self.relative().to_owned()));
            }
            Some(_) => return Err(FileError::Special(self.relative().to_owned())),
        };
        let old: Vec<&[u8]> = lines(before.as_deref().unwrap_or_default());
        let new: Vec<&[u8]> = lines(content);
        let same = |pairs: &mut dyn Iterator<Item = (&&[u8], &&[u8])>| {
            pairs.take_while(|(old, new)| old == new).count()
        };
        let start = same(&mut old.iter().zip(&new));
        let end = same(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
        Ok(StagedDiff {
            before: before.as_deref().map(Digest::of_bytes),
            after: Digest::of_bytes(content),
            first_line: start + 1,
            removed: old.len() - start - end,
            added: new.len() - start - end,
        })
    }
}

fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|&byte| byte == b'\n').collect()
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
