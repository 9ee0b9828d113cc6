//! Where a path really leads, with every link followed by us and never by the system.

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::error::FileError;
use super::handle::{Target, Workspace, open_directory};
use super::status::{self, Kind, Place};

/// How many links may be followed on one way, as on Linux.
const MOST_LINKS: usize = 40;

/// Where a path leads when every link on the way, the last included, is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Beneath the workspace, at this path without links.
    Inside {
        /// The path relative to the workspace; empty for the workspace itself.
        path: PathBuf,
        /// Whether nothing is there.
        missing: bool,
    },
    /// Out of the workspace, or to another mount.
    Outside,
}

impl Workspace {
    /// Where a path leads, relative to the workspace or absolute, with links followed. It may have components `..`. An
    /// absolute path, or a link to one, is inside if it begins with [`Workspace::path`]; what is reached over
    /// a mount is outside, since it may be anywhere, and so is what is reached by a way that leaves the workspace and
    /// comes back.
    ///
    /// ```
    /// use safecommit_gate::{Location, Workspace};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// std::fs::create_dir(folder.path().join("run"))?;
    /// std::os::unix::fs::symlink("/usr/share", folder.path().join("run/latest"))?;
    /// std::os::unix::fs::symlink("run/../run", folder.path().join("short"))?;
    /// let workspace = Workspace::open(folder.path())?;
    /// assert_eq!(workspace.resolve("run/latest")?, Location::Outside);
    /// let inside = Location::Inside { path: "run/new".into(), missing: true };
    /// assert_eq!(workspace.resolve("short/new")?, inside);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`FileError`] for an empty path, one with a NUL, a loop of links, something on the way that is denied, no
    /// directory, or changes meanwhile.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Result<Location, FileError> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        match path.as_os_str().as_bytes() {
            [] => return Err(FileError::Empty),
            bytes if bytes.contains(&0) => {
                return Err(FileError::Nul(shown.replace('\0', "\u{fffd}")));
            }
            _ => {}
        }
        let place = self.status().place();
        resolve_beneath(
            self.handle(),
            place,
            self.path(),
            path.as_os_str().as_bytes(),
        )
        .map_err(|errno| failed(&shown, errno))
    }

    /// Whether the directory that a target was opened in still has its path beneath the workspace: it may have been moved
    /// since, within or out of the workspace, and the handle with it.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// std::fs::create_dir_all(folder.path().join("root/dir"))?;
    /// let workspace = safecommit_gate::Workspace::open(folder.path().join("root"))?;
    /// let target = workspace.target("dir/file")?;
    /// assert!(workspace.holds(&target)?);
    /// std::fs::rename(folder.path().join("root/dir"), folder.path().join("moved"))?;
    /// assert!(!workspace.holds(&target)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refuses to tell.
    pub fn holds(&self, target: &Target) -> Result<bool, FileError> {
        let failed = |errno| FileError::of(target.relative(), errno);
        let (directory, _) = target.relative().rsplit_once('/').unwrap_or(("", ""));
        let here = match self.directory(directory) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(false),
            other => status::of_handle(other.map_err(failed)?).map_err(failed)?,
        };
        Ok(here.is_same_object(&status::of_handle(target.parent()).map_err(failed)?))
    }

    /// Where a target leads; it must still be where it was when it was opened.
    pub(crate) fn resolve_target(&self, target: &Target) -> Result<Location, FileError> {
        if self.holds(target)? {
            self.resolve(target.relative())
        } else {
            Err(FileError::Changed(target.relative().to_owned()))
        }
    }
}

fn failed(path: &str, errno: Errno) -> FileError {
    match errno {
        Errno::LOOP => FileError::Loop(path.to_owned()),
        Errno::STALE => FileError::Changed(path.to_owned()),
        other => FileError::of(path, other),
    }
}

/// Where a path leads from an open directory, which had the path `root_path`. [`Errno::LOOP`] for too many links,
/// [`Errno::STALE`] for what changes meanwhile.
pub(crate) fn resolve_beneath(
    root: BorrowedFd<'_>,
    root_place: Place,
    root_path: &Path,
    path: &[u8],
) -> Result<Location, Errno> {
    let mut opened: Vec<(OwnedFd, Place)> = Vec::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut pending: Vec<Vec<u8>> = Vec::new();
    let mut links = 0;
    if !push_path(&mut pending, root_path, path) {
        return Ok(Location::Outside);
    }
    while let Some(name) = pending.pop() {
        if name == b".." {
            opened.pop();
            if names.pop().is_none() {
                return Ok(Location::Outside);
            }
            continue;
        }
        let (at, place) = opened.last().map_or((root, root_place), |(handle, place)| {
            (handle.as_fd(), *place)
        });
        let found = match status::of_name(at, place, &*name) {
            Err(Errno::NOENT) => return Ok(beneath_missing(names, name, pending)),
            found => found?,
        };
        match found.kind {
            Kind::Mount => return Ok(Location::Outside),
            Kind::Link => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP);
                }
                let leads = rustix::fs::readlinkat(at, &*name, Vec::new()).map_err(stale)?;
                if leads.as_bytes().starts_with(b"/") {
                    opened.clear();
                    names.clear();
                }
                if !push_path(&mut pending, root_path, leads.as_bytes()) {
                    return Ok(Location::Outside);
                }
            }
            Kind::Directory => {
                let child = open_directory(at, std::ffi::OsStr::from_bytes(&name));
                let child = child.map_err(|errno| match errno {
                    Errno::LOOP | Errno::NOTDIR => Errno::STALE,
                    other => stale(other),
                })?;
                let status = status::of_handle(&child)?;
                if !status.is_same_object(&found) {
                    return Err(Errno::STALE);
                }
                opened.push((child, status.place()));
                names.push(name);
            }
            Kind::File | Kind::Other => {
                names.push(name);
                if !pending.is_empty() {
                    return Err(Errno::NOTDIR);
                }
            }
        }
    }
    Ok(inside(&names, false))
}

/// Adds the components of a path, first on top; false for an absolute path that is not beneath the root.
fn push_path(pending: &mut Vec<Vec<u8>>, root_path: &Path, path: &[u8]) -> bool {
    let path = if path.starts_with(b"/") {
        let root_path = root_path.as_os_str().as_bytes();
        match path.strip_prefix(root_path) {
            Some(rest) if rest.is_empty() || rest[0] == b'/' || root_path == b"/" => rest,
            _ => return false,
        }
    } else {
        path
    };
    let components = path.split(|&byte| byte == b'/');
    let components = components.filter(|name| !name.is_empty() && *name != b".");
    pending.extend(components.rev().map(<[u8]>::to_vec));
    true
}

/// Below a missing name nothing can be looked up, so a component `..` there counts as leading out.
fn beneath_missing(mut names: Vec<Vec<u8>>, name: Vec<u8>, pending: Vec<Vec<u8>>) -> Location {
    names.push(name);
    names.extend(pending.into_iter().rev());
    if names.iter().any(|name| name == b"..") {
        return Location::Outside;
    }
    inside(&names, true)
}

fn inside(names: &[Vec<u8>], missing: bool) -> Location {
    Location::Inside {
        path: PathBuf::from(OsString::from_vec(names.join(&b'/'))),
        missing,
    }
}

fn stale(errno: Errno) -> Errno {
    match errno {
        Errno::INVAL | Errno::NOENT => Errno::STALE,
        other => other,
    }
}
