//! Facts that a walk over a target tells.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::error::FileError;
use super::facts::FileSettings;
use super::handle::{Target, Workspace, open_directory};
use super::patterns::Patterns;
use super::resolve::{Location, resolve_beneath};
use super::status::{self, Kind, Status};
use super::walk::{Limits, walk};

/// Facts with the one value that each has.
pub(crate) type Found = Vec<(&'static str, &'static str)>;

/// `kind`, `writable_by`.
pub(crate) fn status_facts(target: &Target) -> Result<Found, FileError> {
    let (kind, status) = match target.status()? {
        None => ("missing", status_of_parent(target)?),
        Some(status) if status.kind == Kind::Other => {
            return Err(FileError::Special(target.relative().to_owned()));
        }
        Some(status) => (status.kind.name(), status),
    };
    let writable_by = match status.mode {
        // The bits of a link mean nothing.
        _ if status.kind == Kind::Link => "owner",
        mode if mode & 0o022 != 0 => "others",
        mode if mode & 0o200 != 0 => "owner",
        _ => "nobody",
    };
    Ok(vec![("kind", kind), ("writable_by", writable_by)])
}

/// `location`.
pub(crate) fn location(workspace: &Workspace, target: &Target) -> Result<Found, FileError> {
    let on_other_mount = target.place() != workspace.status().place();
    let location = match workspace.resolve_target(target)? {
        Location::Inside { .. } if !on_other_mount => "inside",
        _ => "outside",
    };
    Ok(vec![("location", location)])
}

/// `leaves_tree`, `owner`.
pub(crate) fn tree_facts(
    workspace: &Workspace,
    target: &Target,
    settings: &FileSettings,
    limits: &Limits,
) -> Result<Found, FileError> {
    let own = |status: &Status| status.owner == settings.owner;
    let Some(first) = target.status()? else {
        let owner = owner_name(own(&status_of_parent(target)?));
        return Ok(vec![("leaves_tree", "no"), ("owner", owner)]);
    };
    let root = match first.kind {
        Kind::Directory => Some(open_again(target, &first)?),
        _ => None,
    };
    let root_path = workspace.path().join(target.relative());
    let (mut links, mut mounts, mut all_own) = (false, false, true);
    walk(target, &first, &mut limits.begin(), &mut |entry, _| {
        all_own &= own(entry.status);
        match (entry.status.kind, &root) {
            (Kind::Mount, _) => mounts = true,
            (Kind::Link, Some(root)) => {
                let to = resolve_beneath(root.as_fd(), first.place(), &root_path, entry.below);
                links |= match to {
                    Ok(Location::Inside { .. }) => false,
                    // What leads nowhere leads out of nothing.
                    Err(Errno::LOOP | Errno::NOTDIR) => false,
                    Ok(Location::Outside) => true,
                    Err(Errno::STALE) => return Err(FileError::Changed(entry.shown())),
                    Err(other) => return Err(entry.failed(other)),
                };
            }
            _ => {}
        }
        Ok(())
    })?;
    let leaves = match (mounts, links) {
        (true, _) => "mount",
        (false, true) => "link",
        (false, false) => "no",
    };
    Ok(vec![
        ("leaves_tree", leaves),
        ("owner", owner_name(all_own)),
    ])
}

/// `protected`, `secret`: by the path, by what is below, by where it leads, and by the paths that what is `arriving` would
/// have here.
pub(crate) fn pattern_facts(
    workspace: &Workspace,
    target: &Target,
    arriving: &[&Target],
    settings: &FileSettings,
    limits: &Limits,
) -> Result<Found, FileError> {
    use std::os::unix::ffi::OsStrExt;

    let mut paths = vec![target.relative().as_bytes().to_vec()];
    if let Some(first) = target.status()? {
        walk(target, &first, &mut limits.begin(), &mut |entry, _| {
            if !entry.below.is_empty() {
                paths.push(join(target.relative().as_bytes(), entry.below));
            }
            Ok(())
        })?;
        if first.kind == Kind::Link
            && let Location::Inside { path, .. } = workspace.resolve_target(target)?
        {
            paths.push(path.as_os_str().as_bytes().to_vec());
        }
    }
    for from in arriving {
        let Some(first) = from.status()? else {
            continue;
        };
        walk(from, &first, &mut limits.begin(), &mut |entry, _| {
            if !entry.below.is_empty() {
                paths.push(join(target.relative().as_bytes(), entry.below));
            }
            Ok(())
        })?;
    }
    let any = |patterns: &Patterns| truth(paths.iter().any(|path| patterns.matches(path)));
    Ok(vec![
        ("protected", any(&settings.protected)),
        ("secret", any(&settings.secret)),
    ])
}

/// The value of a fact that is true or false.
pub(crate) const fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// A path and what is below it.
pub(crate) fn join(path: &[u8], below: &[u8]) -> Vec<u8> {
    match (path, below) {
        (path, []) => path.to_vec(),
        ([], below) => below.to_vec(),
        (path, below) => [path, b"/", below].concat(),
    }
}

pub(crate) fn status_of_parent(target: &Target) -> Result<Status, FileError> {
    status::of_handle(target.parent()).map_err(|errno| FileError::of(target.relative(), errno))
}

/// Opens a target that is a directory, which must be the one that was seen.
pub(crate) fn open_again(
    target: &Target,
    seen: &Status,
) -> Result<std::os::fd::OwnedFd, FileError> {
    let failed = |errno| FileError::of(target.relative(), errno);
    let handle = open_directory(target.parent(), target.name()).map_err(failed)?;
    let found = status::of_handle(&handle).map_err(failed)?;
    if found.is_same_object(seen) {
        return Ok(handle);
    }
    Err(FileError::Changed(target.relative().to_owned()))
}

const fn owner_name(own: bool) -> &'static str {
    if own { "own" } else { "other" }
}
