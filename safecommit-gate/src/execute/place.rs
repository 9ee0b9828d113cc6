//! Names in open directories: the single steps that change something, and copies across file systems.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid, fchmod,
    fchown, fstat, fsync, futimens, mkdirat, openat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::error::ExecuteError;
use super::interrupt::moment;
use super::kept::Kept;
use crate::files::{Kind, Target, open_directory, status_of_handle, status_of_name};

/// Gives what is at `from` the name `to`, at which nothing may be.
pub(super) fn rename_new(from: &Target, to: &Target) -> Result<(), Errno> {
    rename(from, to, RenameFlags::NOREPLACE)
}

/// Exchanges two names in one step.
pub(super) fn exchange(one: &Target, other: &Target) -> Result<(), Errno> {
    rename(one, other, RenameFlags::EXCHANGE)
}

fn rename(from: &Target, to: &Target, flags: RenameFlags) -> Result<(), Errno> {
    moment();
    renameat_with(from.parent(), from.name(), to.parent(), to.name(), flags)?;
    moment();
    // Where it arrives first: after a power loss a thing may have two names, never none.
    fsync(to.parent())?;
    fsync(from.parent())
}

/// Makes a regular file of these bytes under a new name; with the mode, owner, group and extended attributes of
/// `like`, if there is one, else of a new file.
pub(super) fn create(at: &Target, bytes: &[u8], like: Option<&Target>) -> Result<(), ExecuteError> {
    let mode = if like.is_some() { 0o600 } else { 0o666 };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let failed =
        || ExecuteError::io::<std::io::Error>(format!("cannot write beside `{}`", at.relative()));
    let file = openat(at.parent(), at.name(), flags, Mode::from_raw_mode(mode));
    let mut file = File::from(file.map_err(|errno| failed()(errno.into()))?);
    moment();
    file.write_all(bytes).map_err(failed())?;
    moment();
    if let Some(like) = like {
        let old =
            open_file(like.parent(), OsStr::new(like.name())).map_err(|errno| match errno {
                Errno::LOOP | Errno::NOENT | Errno::NXIO | Errno::AGAIN => {
                    ExecuteError::Changed(like.relative().to_owned())
                }
                errno => failed()(errno.into()),
            })?;
        let stat = fstat(&old).map_err(|errno| failed()(errno.into()))?;
        // As with any write by another program, the set-id bits are not kept.
        give(&file, &stat, 0o1777).map_err(|errno| failed()(errno.into()))?;
        copy_attributes(&old, &file).map_err(|errno| failed()(errno.into()))?;
    }
    file.sync_all().map_err(failed())?;
    fsync(at.parent()).map_err(|errno| failed()(errno.into()))
}

/// Copies a file, link or directory to a new name on another file system, durably, with owners, modes, times and
/// extended attributes.
pub(super) fn copy(from: &Target, to: &Target) -> Result<(), ExecuteError> {
    let name = (from.parent(), OsStr::new(from.name()));
    let place = status_of_handle(from.parent())
        .map_err(ExecuteError::io("cannot copy"))?
        .place();
    copy_name(name, place, (to.parent(), OsStr::new(to.name())))?;
    fsync(to.parent()).map_err(ExecuteError::io("cannot copy"))
}

type Name<'a> = (BorrowedFd<'a>, &'a OsStr);

fn copy_name(from: Name<'_>, place: crate::files::Place, to: Name<'_>) -> Result<(), ExecuteError> {
    let shown = || from.1.to_string_lossy().into_owned();
    let failed = |errno: Errno| ExecuteError::io(format!("cannot copy `{}`", shown()))(errno);
    moment();
    let status = status_of_name(from.0, place, from.1).map_err(failed)?;
    match status.kind {
        Kind::File => copy_file(from, to).map_err(failed),
        Kind::Link => copy_link(from, to).map_err(failed),
        Kind::Directory => {
            let source = open_directory(from.0, from.1).map_err(failed)?;
            mkdirat(to.0, to.1, Mode::RWXU).map_err(failed)?;
            let copied = open_directory(to.0, to.1).map_err(failed)?;
            let stat = fstat(&source).map_err(failed)?;
            let place = status_of_handle(&source).map_err(failed)?.place();
            for name in names(source.as_fd()).map_err(failed)? {
                copy_name((source.as_fd(), &name), place, (copied.as_fd(), &name))?;
            }
            copy_attributes(&source, &copied).map_err(failed)?;
            give(&copied, &stat, 0o7777).map_err(failed)?;
            futimens(&copied, &times(&stat)).map_err(failed)?;
            fsync(&copied).map_err(failed)
        }
        Kind::Mount => Err(ExecuteError::Mount(shown())),
        _ => Err(ExecuteError::NotCopyable {
            path: shown(),
            problem: "it is a pipe, socket or device",
        }),
    }
}

fn copy_file(from: Name<'_>, to: Name<'_>) -> Result<(), Errno> {
    let source = open_file(from.0, from.1)?;
    let stat = fstat(&source)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let copied = openat(to.0, to.1, flags, Mode::RUSR | Mode::WUSR)?;
    let (mut source, mut copied) = (File::from(source), File::from(copied));
    moment();
    std::io::copy(&mut source, &mut copied)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    moment();
    copy_attributes(&source, &copied)?;
    give(&copied, &stat, 0o7777)?;
    futimens(&copied, &times(&stat))?;
    fsync(&copied)
}

fn copy_link(from: Name<'_>, to: Name<'_>) -> Result<(), Errno> {
    let stat = statat(from.0, from.1, AtFlags::SYMLINK_NOFOLLOW)?;
    let leads = rustix::fs::readlinkat(from.0, from.1, Vec::new())?;
    symlinkat(leads, to.0, to.1)?;
    let (owner, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    rustix::fs::chownat(
        to.0,
        to.1,
        Some(owner),
        Some(group),
        AtFlags::SYMLINK_NOFOLLOW,
    )?;
    rustix::fs::utimensat(to.0, to.1, &times(&stat), AtFlags::SYMLINK_NOFOLLOW)
}

/// Removes what has this name and everything below it. No link is followed, no mount entered.
pub(super) fn remove(at: &Target) -> Result<(), ExecuteError> {
    let failed =
        |errno: Errno| ExecuteError::io(format!("cannot remove `{}`", at.relative()))(errno);
    let place = status_of_handle(at.parent()).map_err(failed)?.place();
    remove_name((at.parent(), OsStr::new(at.name())), place).map_err(failed)?;
    fsync(at.parent()).map_err(failed)
}

fn remove_name(at: Name<'_>, place: crate::files::Place) -> Result<(), Errno> {
    moment();
    let status = match status_of_name(at.0, place, at.1) {
        Err(Errno::NOENT) => return Ok(()),
        status => status?,
    };
    match status.kind {
        Kind::Mount => Err(Errno::XDEV),
        Kind::Directory => {
            let directory = open_directory(at.0, at.1)?;
            let opened = status_of_handle(&directory)?;
            if !opened.is_same_object(&status) {
                return Err(Errno::AGAIN);
            }
            if status.mode & 0o700 != 0o700 {
                fchmod(&directory, Mode::RWXU)?;
            }
            for name in names(directory.as_fd())? {
                remove_name((directory.as_fd(), &name), opened.place())?;
            }
            unlinkat(at.0, at.1, AtFlags::REMOVEDIR)
        }
        _ => unlinkat(at.0, at.1, AtFlags::empty()),
    }
}

/// The names in a directory.
pub(super) fn names(directory: BorrowedFd<'_>) -> Result<Vec<std::ffi::OsString>, Errno> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

/// Whether a directory is the workspace or beneath it, and whether it is or lies in the state directory: the way up
/// from an open handle, which no link can bend.
pub(super) fn ancestry(
    directory: BorrowedFd<'_>,
    workspace: (u64, u64),
    state: (u64, u64),
) -> Result<Ancestry, Errno> {
    let mut found = Ancestry::default();
    let mut at = openat(directory, ".", UP, Mode::empty())?;
    let mut here = status_of_handle(&at)?;
    for _ in 0..4096 {
        let object = (here.device, here.inode);
        found.in_workspace |= object == workspace;
        found.in_state |= object == state;
        at = openat(&at, "..", UP, Mode::empty())?;
        let above = status_of_handle(&at)?;
        if above.is_same_object(&here) {
            return Ok(found);
        }
        here = above;
    }
    Err(Errno::NAMETOOLONG)
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ancestry {
    pub(super) in_workspace: bool,
    pub(super) in_state: bool,
}

const UP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Whether a name stands for the very object that an identity was taken of.
pub(super) fn is_object(at: &Target, identity: &Kept) -> Result<bool, ExecuteError> {
    let status = at.status()?;
    Ok(
        status
            .is_some_and(|found| (found.device, found.inode) == (identity.device, identity.inode)),
    )
}

fn open_file(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(parent, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode).is_file() {
        Ok(file)
    } else {
        Err(Errno::AGAIN)
    }
}

/// Gives an open file owner, group and the masked mode of another. The owner first: a change of it clears set-id bits.
fn give(file: impl AsFd, like: &Stat, mask: u32) -> Result<(), Errno> {
    let now = fstat(&file)?;
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid) {
        fchown(
            &file,
            Some(Uid::from_raw(like.st_uid)),
            Some(Gid::from_raw(like.st_gid)),
        )?;
    }
    fchmod(&file, Mode::from_raw_mode(like.st_mode & mask))
}

/// Copies the extended attributes, access lists among them. Labels of the system's security module are its own affair.
fn copy_attributes(from: impl AsFd, to: impl AsFd) -> Result<(), Errno> {
    let mut list = vec![0_u8; 1 << 16];
    let length = match rustix::fs::flistxattr(&from, &mut list[..]) {
        Err(Errno::OPNOTSUPP) => return Ok(()),
        length => length?,
    };
    let mut value = vec![0_u8; 1 << 16];
    for name in list[..length].split(|&byte| byte == 0) {
        if name.is_empty() || name == b"security.selinux" {
            continue;
        }
        let name = OsStr::from_bytes(name);
        let length = rustix::fs::fgetxattr(&from, name, &mut value[..])?;
        rustix::fs::fsetxattr(&to, name, &value[..length], rustix::fs::XattrFlags::empty())?;
    }
    Ok(())
}

fn times(stat: &Stat) -> Timestamps {
    let at = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    Timestamps {
        last_access: at(stat.st_atime, stat.st_atime_nsec as _),
        last_modification: at(stat.st_mtime, stat.st_mtime_nsec as _),
    }
}
