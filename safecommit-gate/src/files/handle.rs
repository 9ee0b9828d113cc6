//! Open handles of a workspace and of the directory that a target is in: a path is resolved once, and no link is
//! followed.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::error::FileError;
use super::status::{self, Place, Status};

/// The longest path, in bytes, and the most components, that a target may have.
const LONGEST: (usize, usize) = (4095, 1024);

/// An open handle of the directory beneath which actions may have effects.
///
/// The path that is given is resolved once, when it is opened, and may pass links; afterwards everything goes through
/// the handle, whatever happens to the path.
pub struct Workspace {
    handle: OwnedFd,
    path: PathBuf,
    status: Status,
}

/// What an action is about: an open handle of the directory that it is in, which is beneath the workspace without a
/// link on the way, and its name there. The name need not exist, and may be a link: it is never followed.
///
/// ```
/// use safecommit_gate::{FileError, Kind, Limits, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("run"))?;
/// std::fs::write(folder.path().join("run/out.txt"), "42")?;
/// # #[cfg(unix)]
/// std::os::unix::fs::symlink("/etc", folder.path().join("latest"))?;
///
/// let workspace = Workspace::open(folder.path())?;
/// let target = workspace.target("run/out.txt")?;
/// let identity = target.identity(&Limits::default())?.ok_or("missing")?;
/// assert_eq!((identity.kind, identity.size), (Kind::File, 2));
///
/// let link = workspace.target("latest")?.status()?.ok_or("missing")?;
/// assert_eq!(link.kind, Kind::Link);
/// let through = workspace.target("latest/passwd").unwrap_err();
/// assert_eq!(through, FileError::Link("latest/passwd".to_owned()));
/// # Ok(())
/// # }
/// ```
pub struct Target {
    parent: OwnedFd,
    place: Place,
    relative: String,
    name_at: usize,
}

impl Workspace {
    /// Opens the directory.
    ///
    /// # Errors
    ///
    /// [`FileError`] if it is missing, denied, no directory, has no path in UTF-8, or was replaced meanwhile.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let name = path.to_string_lossy().into_owned();
        let failed = |errno| FileError::of(name.clone(), errno);
        let handle = rustix::fs::open(path, DIRECTORY, Mode::empty()).map_err(failed)?;
        let status = status::of_handle(&handle).map_err(failed)?;
        let proc = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let canonical = std::fs::read_link(proc).or_else(|_| path.canonicalize());
        let canonical = canonical.map_err(|error| FileError::System {
            path: name.clone(),
            kind: error.kind(),
        })?;
        let found = rustix::fs::openat(CWD, &canonical, DIRECTORY, Mode::empty());
        let found = found.and_then(status::of_handle).map_err(failed)?;
        if !found.is_same_object(&status) {
            return Err(FileError::Changed(name));
        }
        if canonical.to_str().is_none() {
            return Err(FileError::NotUtf8(name));
        }
        Ok(Self {
            handle,
            path: canonical,
            status,
        })
    }

    /// The path without links that it had when it was opened, to show and to recognise absolute paths by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The handle of the directory.
    #[must_use]
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// What the system said of the directory when it was opened.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// The target that a path names, relative to the workspace or absolute beneath [`path`](Self::path). Components `.`
    /// and repeated or final slashes mean nothing.
    ///
    /// # Errors
    ///
    /// [`FileError`] for a path that is empty, not UTF-8, has a NUL or a component `..`, is outside or the workspace
    /// itself, has more than 4,095 bytes or 1,024 components, or whose directory is missing, denied, passes a link or
    /// something that is no directory.
    pub fn target(&self, path: impl AsRef<Path>) -> Result<Target, FileError> {
        let relative = self.relative(path.as_ref())?;
        let name_at = relative.rfind('/').map_or(0, |slash| slash + 1);
        let directory = relative[..name_at].trim_end_matches('/');
        let parent = self
            .directory(directory)
            .map_err(|errno| FileError::of(&*relative, errno))?;
        let status =
            status::of_handle(&parent).map_err(|errno| FileError::of(&*relative, errno))?;
        Ok(Target {
            parent,
            place: status.place(),
            relative,
            name_at,
        })
    }

    /// The path relative to the workspace, components separated by one slash, by its text alone.
    pub(crate) fn relative(&self, path: &Path) -> Result<String, FileError> {
        let shown = || path.to_string_lossy().into_owned();
        let text = path.to_str().ok_or_else(|| FileError::NotUtf8(shown()))?;
        if text.is_empty() {
            return Err(FileError::Empty);
        }
        if text.contains('\0') {
            return Err(FileError::Nul(shown().replace('\0', "\u{fffd}")));
        }
        // A component that leads up is refused wherever it stands: a prefix of it may be a link.
        if path
            .components()
            .any(|component| component == Component::ParentDir)
        {
            return Err(FileError::Parent(shown()));
        }
        let beneath = if path.is_absolute() {
            path.strip_prefix(&self.path)
                .map_err(|_| FileError::Outside(shown()))?
        } else {
            path
        };
        let names: Vec<&str> = beneath
            .components()
            .filter(|component| matches!(component, Component::Normal(_)))
            .filter_map(|component| component.as_os_str().to_str())
            .collect();
        let relative = names.join("/");
        for (length, unit, limit) in [
            (relative.len(), "bytes", LONGEST.0),
            (names.len(), "components", LONGEST.1),
        ] {
            if length > limit {
                return Err(FileError::TooLong {
                    length,
                    unit,
                    limit,
                });
            }
        }
        if relative.is_empty() {
            return Err(FileError::WorkspaceItself(shown()));
        }
        Ok(relative)
    }

    /// A directory beneath the workspace, opened without following a link.
    pub(crate) fn directory(&self, relative: &str) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve =
                ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            let path = if relative.is_empty() { "." } else { relative };
            match rustix::fs::openat2(&self.handle, path, DIRECTORY, Mode::empty(), resolve) {
                // An older kernel, a sandbox that filters the call, or a rename at the same time.
                Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
                other => return other,
            }
        }
        descend(self.handle.as_fd(), relative)
    }
}

impl Target {
    /// The handle of the directory that it is in.
    #[must_use]
    pub fn parent(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }

    /// Its name in that directory: one component.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.relative[self.name_at..]
    }

    /// Its path relative to the workspace, with one slash between components.
    #[must_use]
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// What the system says about the name now, without following it; `None` if nothing has it.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refuses to tell.
    pub fn status(&self) -> Result<Option<Status>, FileError> {
        match status::of_name(&self.parent, self.place, self.name()) {
            Ok(status) => Ok(Some(status)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(FileError::of(&*self.relative, errno)),
        }
    }

    /// Another name in the same open directory.
    #[cfg(target_os = "linux")]
    pub(crate) fn sibling(&self, name: &str) -> Result<Self, FileError> {
        let parent = self.parent.try_clone().map_err(|error| FileError::System {
            path: self.relative.clone(),
            kind: error.kind(),
        })?;
        Ok(Self {
            parent,
            place: self.place,
            relative: format!("{}{name}", &self.relative[..self.name_at]),
            name_at: self.name_at,
        })
    }

    pub(crate) const fn place(&self) -> Place {
        self.place
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Workspace")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Target")
            .field("relative", &self.relative)
            .finish_non_exhaustive()
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Opens a directory component by component, each without following a link.
fn descend(root: BorrowedFd<'_>, relative: &str) -> Result<OwnedFd, Errno> {
    let mut at = rustix::fs::openat(root, ".", DIRECTORY, Mode::empty())?;
    for name in relative.split('/').filter(|name| !name.is_empty()) {
        at = open_directory(at.as_fd(), name)?;
    }
    Ok(at)
}

/// Opens the directory of this name in an open directory. A link is an error of its own, as with `openat2`.
pub(crate) fn open_directory(
    parent: BorrowedFd<'_>,
    name: impl AsRef<OsStr>,
) -> Result<OwnedFd, Errno> {
    let name = name.as_ref();
    let flags = DIRECTORY | OFlags::NOFOLLOW;
    rustix::fs::openat(parent, name, flags, Mode::empty()).map_err(|errno| {
        let is_link = || {
            let found = rustix::fs::statat(parent, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink())
        };
        if errno == Errno::NOTDIR && is_link() {
            Errno::LOOP
        } else {
            errno
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_by_step_opens_what_one_call_opens_and_refuses_what_it_refuses() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        for (leads, link) in [
            ("b", "a/link"),
            ("/", "out"),
            ("..", "a/b/up"),
            ("loop", "loop"),
        ] {
            std::os::unix::fs::symlink(leads, root.join(link)).unwrap();
        }
        let workspace = Workspace::open(root).unwrap();
        let (mut opened, mut refused) = (0, 0);
        for path in [
            "", "a", "a/b", "a/b/c", "a/link", "a/link/c", "a/file", "a/file/x", "out", "out/etc",
            "a/b/up", "a/b/up/b", "loop", "loop/x", "none", "none/x",
        ] {
            let at_once = workspace
                .directory(path)
                .map(|handle| status::of_handle(handle).unwrap());
            let in_steps = descend(workspace.handle(), path);
            let in_steps = in_steps.map(|handle| status::of_handle(handle).unwrap());
            assert_eq!(at_once, in_steps, "{path}");
            *(if at_once.is_ok() {
                &mut opened
            } else {
                &mut refused
            }) += 1;
        }
        assert_eq!((opened, refused), (4, 12));
    }
}
