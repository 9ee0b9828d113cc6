//! Why a path, a handle or a tree could not be used.

use std::io;

/// Why a path is refused, or what could not be read.
///
/// ```
/// use safecommit_gate::FileError;
///
/// let error = FileError::Parent("run/../etc".to_owned());
/// assert_eq!(error.to_string(), "`run/../etc` has a component `..`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// This system has no handles of directories to resolve paths by.
    #[error("files are not supported on this system")]
    NotSupported,
    /// A path without a character.
    #[error("the path is empty")]
    Empty,
    /// A path with a NUL character.
    #[error("`{0}` has a NUL character")]
    Nul(String),
    /// A path that is not UTF-8; unreadable characters are replaced here.
    #[error("`{0}` is not UTF-8")]
    NotUtf8(String),
    /// A path with a component `..`, whose meaning depends on links.
    #[error("`{0}` has a component `..`")]
    Parent(String),
    /// A path longer than the system can resolve.
    #[error("the path has {length} {unit}, at most {limit} are possible")]
    TooLong {
        /// Its length.
        length: usize,
        /// What was counted: bytes or components.
        unit: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// An absolute path that is not beneath the workspace.
    #[error("`{0}` is outside the workspace")]
    Outside(String),
    /// The workspace itself, which is no target of an action.
    #[error("`{0}` is the workspace itself")]
    WorkspaceItself(String),
    /// A link where a directory or file was to be opened without following.
    #[error("`{0}` is or passes a link")]
    Link(String),
    /// Links that lead to each other without end, or more of them than the system follows.
    #[error("`{0}` leads through a loop of links")]
    Loop(String),
    /// A component before the last that is no directory.
    #[error("`{0}` passes something that is no directory")]
    NotADirectory(String),
    /// A pipe, socket or device, which no action is for.
    #[error("`{0}` is a pipe, socket or device")]
    Special(String),
    /// Something else than a file, where the content of one was to be read.
    #[error("`{0}` is no file")]
    NotAFile(String),
    /// Nothing has this name.
    #[error("`{0}` is missing")]
    Missing(String),
    /// The system denies access.
    #[error("access to `{0}` is denied")]
    Denied(String),
    /// Something changed while it was read.
    #[error("`{0}` changed while it was read")]
    Changed(String),
    /// A directory on the way that may have been put there since the memory.
    #[error("`{0}` may have been put there since the memory")]
    Replaced(String),
    /// More than the limits allow to look at.
    #[error("the limit of {limit} {unit} is exceeded at `{path}`")]
    Limit {
        /// Where in the tree the limit was exceeded; the whole tree is counted, its first name included.
        path: String,
        /// What was counted: names, levels below the first name, or bytes of content.
        unit: &'static str,
        /// The limit as it was given.
        limit: u64,
    },
    /// The time was up.
    #[error("the time was up at `{0}`")]
    TimedOut(String),
    /// The program that reads repositories could not be used.
    #[error("git cannot be used: {0}")]
    Git(String),
    /// Another error of the system.
    #[error("cannot read `{path}`: {kind}")]
    System {
        /// What was to be read.
        path: String,
        /// The kind of error.
        kind: io::ErrorKind,
    },
}

#[cfg(unix)]
impl FileError {
    /// The error of a call on a path.
    pub(crate) fn of(path: impl Into<String>, errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        let path = path.into();
        match errno {
            Errno::LOOP | Errno::XDEV => Self::Link(path),
            Errno::NOTDIR => Self::NotADirectory(path),
            Errno::NOENT => Self::Missing(path),
            Errno::ACCESS | Errno::PERM => Self::Denied(path),
            other => Self::System {
                path,
                kind: io::Error::from(other).kind(),
            },
        }
    }
}
