//! A walk over a tree that follows no link and enters no mount, in the order of the names, within limits.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::error::FileError;
use super::handle::{Target, open_directory};
use super::status::{self, Kind, Place, Status};

/// How much of a tree may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many names, the first included.
    pub entries: u64,
    /// How deep below the first name, at most 512: a handle is open for each level.
    pub depth: u64,
    /// How many bytes of content.
    pub bytes: u64,
    /// How long, in all.
    pub time: Duration,
}

/// A million names, 256 levels, 16 GiB and ten minutes.
impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 1_000_000,
            depth: 256,
            bytes: 16 << 30,
            time: Duration::from_secs(600),
        }
    }
}

/// One name of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'w> {
    /// The handle of the directory that it is in.
    pub(crate) parent: BorrowedFd<'w>,
    /// Its name there.
    pub(crate) name: &'w OsStr,
    /// Its path below the first name, in bytes as the system has them; empty for the first.
    pub(crate) below: &'w [u8],
    /// What the system says about it.
    pub(crate) status: &'w Status,
}

/// No tree is walked deeper, whatever the limits say.
const DEEPEST: u64 = 512;

/// What is left of some limits.
pub(crate) struct Budget {
    limits: Limits,
    entries: u64,
    bytes: u64,
    until: Option<Instant>,
    tolerant: bool,
}

impl Limits {
    pub(crate) fn begin(&self) -> Budget {
        Budget {
            limits: *self,
            entries: 0,
            bytes: 0,
            until: Instant::now().checked_add(self.time),
            tolerant: false,
        }
    }
}

impl Budget {
    /// Passes over what is denied or changes meanwhile, below the first directory.
    pub(crate) fn tolerant(mut self) -> Self {
        self.tolerant = true;
        self
    }

    /// When the time is up.
    pub(crate) const fn until(&self) -> Option<Instant> {
        self.until
    }

    fn enter(&mut self, entry: &Entry<'_>, depth: u64) -> Result<(), FileError> {
        self.entries += 1;
        self.check_time(entry)?;
        let limits = &self.limits;
        check(entry, self.entries, limits.entries, "names")?;
        check(entry, depth, limits.depth.min(DEEPEST), "levels")
    }

    pub(crate) fn read(&mut self, entry: &Entry<'_>, bytes: u64) -> Result<(), FileError> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.check_time(entry)?;
        check(entry, self.bytes, self.limits.bytes, "bytes")
    }

    pub(crate) fn check_time(&self, entry: &Entry<'_>) -> Result<(), FileError> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(FileError::TimedOut(entry.shown())),
            _ => Ok(()),
        }
    }
}

fn check(entry: &Entry<'_>, used: u64, limit: u64, unit: &'static str) -> Result<(), FileError> {
    if used <= limit {
        return Ok(());
    }
    Err(FileError::Limit {
        path: entry.shown(),
        unit,
        limit,
    })
}

impl Entry<'_> {
    /// The path below the first name, or the name of the first, for messages.
    pub(crate) fn shown(&self) -> String {
        let bytes = if self.below.is_empty() {
            self.name.as_bytes()
        } else {
            self.below
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    pub(crate) fn failed(&self, errno: Errno) -> FileError {
        FileError::of(self.shown(), errno)
    }
}

/// What is done at each name.
type Visit<'v> = dyn FnMut(&Entry<'_>, &mut Budget) -> Result<(), FileError> + 'v;

/// Visits the target and, if it is a directory, everything below it: a directory before what is in it, names in the
/// order of their bytes. What vanishes or is swapped while it is entered is [`FileError::Changed`].
pub(crate) fn walk(
    target: &Target,
    status: &Status,
    budget: &mut Budget,
    visit: &mut Visit<'_>,
) -> Result<(), FileError> {
    let mut below = Vec::new();
    let first = Entry {
        parent: target.parent(),
        name: OsStr::new(target.name()),
        below: &[],
        status,
    };
    visit_below(&first, 0, &mut below, budget, visit)
}

/// Visits everything below an open directory, which counts as the first name and is not visited itself.
pub(crate) fn walk_directory(
    directory: BorrowedFd<'_>,
    budget: &mut Budget,
    visit: &mut Visit<'_>,
) -> Result<(), FileError> {
    let status = status::of_handle(directory).map_err(|errno| FileError::of(".", errno))?;
    let first = Entry {
        parent: directory,
        name: OsStr::new("."),
        below: &[],
        status: &status,
    };
    budget.enter(&first, 0)?;
    visit_names(
        directory,
        status.place(),
        &first,
        0,
        &mut Vec::new(),
        budget,
        visit,
    )
}

fn visit_below(
    entry: &Entry<'_>,
    depth: u64,
    below: &mut Vec<u8>,
    budget: &mut Budget,
    visit: &mut Visit<'_>,
) -> Result<(), FileError> {
    budget.enter(entry, depth)?;
    visit(entry, budget)?;
    if entry.status.kind != Kind::Directory {
        return Ok(());
    }
    let directory = open_directory(entry.parent, entry.name).map_err(|errno| match errno {
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR => FileError::Changed(entry.shown()),
        other => entry.failed(other),
    })?;
    let opened = status::of_handle(&directory).map_err(|errno| entry.failed(errno))?;
    if opened != *entry.status {
        return Err(FileError::Changed(entry.shown()));
    }
    visit_names(
        directory.as_fd(),
        opened.place(),
        entry,
        depth,
        below,
        budget,
        visit,
    )?;
    let after = status::of_handle(&directory).map_err(|errno| entry.failed(errno))?;
    if after == opened {
        Ok(())
    } else {
        Err(FileError::Changed(entry.shown()))
    }
}

fn visit_names(
    directory: BorrowedFd<'_>,
    place: Place,
    entry: &Entry<'_>,
    depth: u64,
    below: &mut Vec<u8>,
    budget: &mut Budget,
    visit: &mut Visit<'_>,
) -> Result<(), FileError> {
    let names = sorted_names(directory, entry, budget)?;
    let length = below.len();
    for name in names {
        if length > 0 {
            below.push(b'/');
        }
        below.extend_from_slice(name.as_bytes());
        let visited = visit_name(directory, place, &name, depth, below, budget, visit);
        below.truncate(length);
        match visited {
            Err(FileError::Denied(_) | FileError::Changed(_)) if budget.tolerant => {}
            other => other?,
        }
    }
    Ok(())
}

fn visit_name(
    directory: BorrowedFd<'_>,
    place: Place,
    name: &OsStr,
    depth: u64,
    below: &mut Vec<u8>,
    budget: &mut Budget,
    visit: &mut Visit<'_>,
) -> Result<(), FileError> {
    let status = status::of_name(directory, place, name).map_err(|errno| match errno {
        Errno::NOENT => FileError::Changed(String::from_utf8_lossy(below).into_owned()),
        other => FileError::of(String::from_utf8_lossy(below), other),
    })?;
    let path = below.clone();
    let child = Entry {
        parent: directory,
        name,
        below: &path,
        status: &status,
    };
    visit_below(&child, depth + 1, below, budget, visit)
}

/// The names in a directory, sorted; no more of them are read than may still be visited.
fn sorted_names(
    directory: BorrowedFd<'_>,
    entry: &Entry<'_>,
    budget: &Budget,
) -> Result<Vec<OsString>, FileError> {
    let limit = budget.limits.entries;
    let mut names = Vec::new();
    for found in rustix::fs::Dir::read_from(directory).map_err(|errno| entry.failed(errno))? {
        let found = found.map_err(|errno| entry.failed(errno))?;
        let name = found.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        names.push(OsString::from_vec(name.to_vec()));
        // Those visited before count too, so that the limit that is named is the whole one.
        let found = budget.entries.saturating_add(names.len() as u64);
        check(entry, found, limit, "names")?;
        if names.len().is_multiple_of(1024) {
            budget.check_time(entry)?;
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::Workspace;

    /// Walks over a directory while something happens between the look at `swapped` and the opening of it.
    fn walk_while(swap: impl Fn(&std::path::Path)) -> Result<(), FileError> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("t/swapped")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let target = workspace.target("t").unwrap();
        let status = target.status()?.unwrap();
        walk(
            &target,
            &status,
            &mut Limits::default().begin(),
            &mut |entry, _| {
                if entry.name == "swapped" {
                    swap(folder.path());
                }
                assert!(entry.name != "secret", "entered");
                Ok(())
            },
        )
    }

    #[test]
    fn a_directory_that_is_swapped_before_it_is_opened_is_not_entered() {
        assert_eq!(walk_while(|_| {}), Ok(()));
        let changed = Err(FileError::Changed("swapped".to_owned()));
        let remove = |root: &std::path::Path| fs::remove_dir(root.join("t/swapped")).unwrap();
        assert_eq!(walk_while(remove), changed);
        let other = |root: &std::path::Path| {
            fs::rename(root.join("t/swapped"), root.join("kept")).unwrap();
            fs::create_dir_all(root.join("t/swapped/secret")).unwrap();
        };
        assert_eq!(walk_while(other), changed);
        let link = |root: &std::path::Path| {
            fs::create_dir_all(root.join("outside/secret")).unwrap();
            remove(root);
            std::os::unix::fs::symlink("../outside", root.join("t/swapped")).unwrap();
        };
        assert_eq!(walk_while(link), changed);
        let file = |root: &std::path::Path| {
            remove(root);
            fs::write(root.join("t/swapped"), "").unwrap();
        };
        assert_eq!(walk_while(file), changed);
        let more = |root: &std::path::Path| fs::create_dir(root.join("t/new")).unwrap();
        assert_eq!(walk_while(more), Err(FileError::Changed("t".to_owned())));
    }
}
