//! What the system says about one name, without following a link.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// What a name stands for. A link is never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory of the same mount as the directory that it is in.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A file or directory on which something is mounted.
    Mount,
    /// A pipe, socket or device.
    Other,
}

impl Kind {
    /// The name, as a value of the fact `kind`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Mount => "mount",
            Self::Other => "other",
        }
    }
}

/// What the system says about a name, without following a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
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
    /// The time of the last change of content, owner, mode or name, which no program can set: seconds since 1970
    /// and nanoseconds.
    pub changed: (i64, u32),
    /// Permission, set-id and sticky bits.
    pub mode: u32,
    /// The user that owns it.
    pub owner: u32,
    /// The group that owns it.
    pub group: u32,
    /// How many names it has.
    pub links: u64,
    /// The mount that it is on, where the system tells.
    pub mount: Option<u64>,
}

/// The device and mount of a directory, to tell what is mounted on an entry of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) device: u64,
    pub(crate) mount: Option<u64>,
}

impl Status {
    pub(crate) fn place(&self) -> Place {
        Place {
            device: self.device,
            mount: self.mount,
        }
    }

    /// Whether both are of the same object: device and inode.
    #[must_use]
    pub fn is_same_object(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The status of an open handle.
pub(crate) fn of_handle(handle: impl AsFd) -> Result<Status, Errno> {
    read(handle.as_fd(), None)
}

/// The status of a name in an open directory, which is at `place`.
pub(crate) fn of_name(
    directory: impl AsFd,
    place: Place,
    name: impl rustix::path::Arg,
) -> Result<Status, Errno> {
    name.into_with_c_str(|name| {
        let mut status = read(directory.as_fd(), Some(name))?;
        if status.place() != place {
            status.kind = Kind::Mount;
        }
        Ok(status)
    })
}

const fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// The status of a name in a directory, or of the handle itself.
#[cfg(target_os = "linux")]
fn read(at: BorrowedFd<'_>, name: Option<&CStr>) -> Result<Status, Errno> {
    use rustix::fs::{StatxFlags, makedev, statx};

    let flags = match name {
        Some(_) => AtFlags::SYMLINK_NOFOLLOW,
        None => AtFlags::EMPTY_PATH,
    };
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let stat = match statx(
        at,
        name.unwrap_or(c""),
        flags | AtFlags::NO_AUTOMOUNT,
        wanted,
    ) {
        Err(Errno::NOSYS) => return read_without_mount(at, name),
        other => other?,
    };
    let mount = (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id);
    Ok(Status {
        device: makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        kind: kind_of(FileType::from_raw_mode(stat.stx_mode.into())),
        size: stat.stx_size,
        modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        mode: u32::from(stat.stx_mode) & 0o7777,
        owner: stat.stx_uid,
        group: stat.stx_gid,
        links: stat.stx_nlink.into(),
        mount,
    })
}

#[cfg(not(target_os = "linux"))]
fn read(at: BorrowedFd<'_>, name: Option<&CStr>) -> Result<Status, Errno> {
    read_without_mount(at, name)
}

/// The status without the mount, from the calls that every Unix has.
fn read_without_mount(at: BorrowedFd<'_>, name: Option<&CStr>) -> Result<Status, Errno> {
    let stat = match name {
        Some(name) => rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?,
        None => rustix::fs::fstat(at)?,
    };
    // The types of the fields differ between systems.
    Ok(Status {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
        changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        mode: stat.st_mode as u32 & 0o7777,
        owner: stat.st_uid,
        group: stat.st_gid,
        links: stat.st_nlink as u64,
        mount: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_ask_agree_but_for_the_mount() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "content").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        let handle = std::fs::File::open(folder.path()).unwrap();
        for name in [None, Some(c"file"), Some(c"link")] {
            let with = read(handle.as_fd(), name).unwrap();
            let without = read_without_mount(handle.as_fd(), name).unwrap();
            assert_eq!(
                Status {
                    mount: None,
                    ..with
                },
                without
            );
        }
        assert_eq!(read(handle.as_fd(), Some(c"none")), Err(Errno::NOENT));
    }
}
