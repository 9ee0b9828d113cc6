//! What a decision rests on: what is at the paths of an action, and in which directories.

use rustix::io::Errno;

use super::action::{FileAction, TargetPath};
use super::error::ExecuteError;
use crate::files::{FileError, Identity, Limits, Target, Workspace, status_of_handle};

/// What is at the path of an action, which directory that path is in, and of a move which directory it goes to.
///
/// It is taken before any other probe of the same action, so that what they say is about this or nothing happens:
/// [`Executor::execute`](super::Executor::execute) refuses everything else.
///
/// ```
/// use safecommit_gate::{Content, FileAction, Limits, TargetPath, Workspace};
///
/// let folder = tempfile::tempdir()?;
/// let workspace = Workspace::open(folder.path())?;
/// let write = FileAction::Write { path: TargetPath::new("made")?, content: Content::new("new") };
/// assert!(write.probe(&workspace, &Limits::default())?.identity().is_none());
///
/// std::fs::write(folder.path().join("made"), "42")?;
/// let probed = write.probe(&workspace, &Limits::default())?;
/// assert_eq!(probed.identity().map(|found| found.size), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    path: Place,
    to: Option<Place>,
    identity: Option<Identity>,
}

/// A path, and device and inode of the directory that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: TargetPath,
    directory: (u64, u64),
}

impl FileAction {
    /// What this action is about now.
    ///
    /// # Errors
    ///
    /// [`FileError`] if a directory of a path is missing, denied or passes a link, or if what is there cannot be read
    /// within the limits.
    pub fn probe(&self, workspace: &Workspace, limits: &Limits) -> Result<Probed, FileError> {
        let target = workspace.target(self.path().as_str())?;
        let to = match self {
            Self::Move { to, .. } => Some(workspace.target(to.as_str())?),
            _ => None,
        };
        self.probe_at(&target, to.as_ref(), limits)
    }

    /// The same of targets that are open already: whatever else is probed through these handles is about the same
    /// directories, and what is released is about no others.
    ///
    /// # Errors
    ///
    /// As [`Self::probe`].
    pub(crate) fn probe_at(
        &self,
        target: &Target,
        to: Option<&Target>,
        limits: &Limits,
    ) -> Result<Probed, FileError> {
        let to = match (self, to) {
            (Self::Move { to: path, .. }, Some(to)) => Some(place(path, to)?),
            _ => None,
        };
        Ok(Probed {
            path: place(self.path(), target)?,
            to,
            identity: target.identity(limits)?,
        })
    }
}

impl Probed {
    /// What was at the path; `None` if nothing was.
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// Whether it is about these very paths.
    pub(super) fn is_of(&self, action: &FileAction) -> bool {
        let to = match action {
            FileAction::Move { to, .. } => Some(to),
            _ => None,
        };
        self.path.path == *action.path() && self.to.as_ref().map(|to| &to.path) == to
    }

    /// Refuses open targets in other directories than those that were probed.
    pub(super) fn expect_directories(
        &self,
        target: &Target,
        to: Option<&Target>,
    ) -> Result<(), ExecuteError> {
        let ends = [(Some(&self.path), Some(target)), (self.to.as_ref(), to)];
        for (probed, target) in ends {
            let Some(target) = target else { continue };
            let found = directory_of(target).map_err(ExecuteError::io(format!(
                "cannot find `{}`",
                target.relative()
            )))?;
            if probed.is_none_or(|probed| probed.directory != found) {
                return Err(ExecuteError::OtherDirectory(target.relative().to_owned()));
            }
        }
        Ok(())
    }
}

fn place(path: &TargetPath, target: &Target) -> Result<Place, FileError> {
    let directory = directory_of(target).map_err(|errno| FileError::of(path.as_str(), errno))?;
    let path = path.clone();
    Ok(Place { path, directory })
}

fn directory_of(target: &Target) -> Result<(u64, u64), Errno> {
    let status = status_of_handle(target.parent())?;
    Ok((status.device, status.inode))
}
