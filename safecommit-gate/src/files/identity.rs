//! What a target is, so that one can tell later whether it is still the same.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use safecommit_conformal::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::FileError;
use super::handle::Target;
use super::status::{self, Kind, Status};
use super::walk::{Budget, Entry, Limits, walk};

/// What a target is: equal identities mean that nothing that is recorded here has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The number of the inode on the device.
    pub inode: u64,
    /// What it is.
    pub kind: Kind,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change of the content: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// The time of the last change of content, owner, mode or name, which no program can set: seconds since 1970 and
    /// nanoseconds, as fine as the file system keeps it, which may be some milliseconds. It tells of a thing that was
    /// away and came back.
    pub changed: (i64, u32),
    /// Permission, set-id and sticky bits.
    pub mode: u32,
    /// The user that owns it.
    pub owner: u32,
    /// The group that owns it.
    pub group: u32,
    /// What is in it, wherever it is: of a file the digest of its bytes, of a link the digest of where it leads, of a
    /// directory the digest of relative names, kinds, modes and contents of everything below. A faithful copy has the
    /// same. `None` for a mount and for a pipe, socket or device, which are not read.
    pub content: Option<Digest>,
    /// Of a directory, the digest of relative names and whole identities of everything below; `None` for anything else.
    pub tree: Option<Digest>,
}

impl Target {
    /// What the target is now; `None` if nothing has its name. Files are read, links are not followed, mounts not
    /// entered. Trees are read in the order of the names.
    ///
    /// # Errors
    ///
    /// [`FileError`] if something is denied, changes while it is read, or exceeds the limits.
    pub fn identity(&self, limits: &Limits) -> Result<Option<Identity>, FileError> {
        match self.status()? {
            Some(status) => self.identity_from(&status, limits).map(Some),
            None => Ok(None),
        }
    }

    fn identity_from(&self, first: &Status, limits: &Limits) -> Result<Identity, FileError> {
        let (mut whole, mut content) = (Sha256::new(), Sha256::new());
        let mut alone = None;
        walk(self, first, &mut limits.begin(), &mut |entry, budget| {
            let found = content_of(entry, budget)?;
            if entry.below.is_empty() {
                alone = found;
                return Ok(());
            }
            let status = entry.status;
            add_name(&mut whole, entry.below);
            add_identity(&mut whole, status, found);
            add_name(&mut content, entry.below);
            content.update(status.kind.name());
            content.update(status.mode.to_le_bytes());
            add_content(&mut content, found);
            Ok(())
        })?;
        let is_directory = first.kind == Kind::Directory;
        let now = self.status()?;
        if now.as_ref() != Some(first) {
            return Err(FileError::Changed(self.relative().to_owned()));
        }
        Ok(Identity {
            device: first.device,
            inode: first.inode,
            kind: first.kind,
            size: first.size,
            modified: first.modified,
            changed: first.changed,
            mode: first.mode,
            owner: first.owner,
            group: first.group,
            content: if is_directory {
                Some(finished(content))
            } else {
                alone
            },
            tree: is_directory.then(|| finished(whole)),
        })
    }
}

impl Identity {
    /// One digest of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(self.kind.name());
        for number in [self.device, self.inode, self.size] {
            hash.update(number.to_le_bytes());
        }
        add_times_and_owner(
            &mut hash,
            [self.modified, self.changed],
            [self.mode, self.owner, self.group],
        );
        add_content(&mut hash, self.content);
        add_content(&mut hash, self.tree);
        finished(hash)
    }

    /// Whether it is the same object as another identity is of, whatever has changed in it: device and inode.
    #[must_use]
    pub fn is_same_object(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The digest of the content of a file or of where a link leads.
fn content_of(entry: &Entry<'_>, budget: &mut Budget) -> Result<Option<Digest>, FileError> {
    match entry.status.kind {
        Kind::File => digest_of_file(entry, budget).map(Some),
        Kind::Link => {
            let leads = rustix::fs::readlinkat(entry.parent, entry.name, Vec::new());
            let leads = leads.map_err(|errno| match errno {
                Errno::INVAL | Errno::NOENT => FileError::Changed(entry.shown()),
                other => entry.failed(other),
            })?;
            Ok(Some(Digest::of_bytes(leads.as_bytes())))
        }
        _ => Ok(None),
    }
}

/// The digest of a file's bytes, which must not change meanwhile.
pub(crate) fn digest_of_file(entry: &Entry<'_>, budget: &mut Budget) -> Result<Digest, FileError> {
    let mut hash = Sha256::new();
    read_file(entry, budget, &mut |part| hash.update(part))?;
    Ok(finished(hash))
}

/// Reads a file that is still the one that was seen, and that must not change meanwhile, part by part.
pub(crate) fn read_file(
    entry: &Entry<'_>,
    budget: &mut Budget,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), FileError> {
    let file = open_file(entry)?;
    let before = status::of_handle(&file).map_err(|errno| entry.failed(errno))?;
    if before != *entry.status {
        return Err(FileError::Changed(entry.shown()));
    }
    // One byte more than there should be, to see the end with the second read.
    let length = usize::try_from(before.size.min(1 << 16)).unwrap_or(1 << 16) + 1;
    let mut buffer = vec![0_u8; length];
    loop {
        match rustix::io::read(&file, &mut buffer[..]) {
            Ok(0) => break,
            Ok(read) => {
                budget.read(entry, read as u64)?;
                take(&buffer[..read]);
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(entry.failed(errno)),
        }
    }
    let after = status::of_handle(&file).map_err(|errno| entry.failed(errno))?;
    if before == after {
        Ok(())
    } else {
        Err(FileError::Changed(entry.shown()))
    }
}

/// Opens a regular file for reading, without following a link and without waiting for the other end of a pipe.
fn open_file(entry: &Entry<'_>) -> Result<OwnedFd, FileError> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(entry.parent, entry.name, flags, Mode::empty()).map_err(
        |errno| match errno {
            Errno::LOOP | Errno::NOENT | Errno::NXIO => FileError::Changed(entry.shown()),
            other => entry.failed(other),
        },
    )
}

fn finished(hash: Sha256) -> Digest {
    Digest::from(<[u8; 32]>::from(hash.finalize()))
}

/// The length first, so that no two sequences of names give the same bytes.
fn add_name(hash: &mut Sha256, name: &[u8]) {
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
}

fn add_identity(hash: &mut Sha256, status: &Status, content: Option<Digest>) {
    hash.update(status.kind.name());
    for number in [status.device, status.inode, status.size] {
        hash.update(number.to_le_bytes());
    }
    add_times_and_owner(
        hash,
        [status.modified, status.changed],
        [status.mode, status.owner, status.group],
    );
    add_content(hash, content);
}

fn add_times_and_owner(hash: &mut Sha256, times: [(i64, u32); 2], numbers: [u32; 3]) {
    for (seconds, nanoseconds) in times {
        hash.update(seconds.to_le_bytes());
        hash.update(nanoseconds.to_le_bytes());
    }
    for number in numbers {
        hash.update(number.to_le_bytes());
    }
}

fn add_content(hash: &mut Sha256, content: Option<Digest>) {
    hash.update([u8::from(content.is_some())]);
    if let Some(content) = content {
        hash.update(content.bytes());
    }
}
