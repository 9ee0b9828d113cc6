//! Why nothing was released, or what became of a release that failed.

use std::io;

use safecommit_core::CertificateError;

use super::receipt::Resolution;
use crate::audit::KeyError;
use crate::files::FileError;

/// Why an action was not executed or not restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The system or the file system cannot rename without replacing, or not exchange two names.
    #[error("effects are not supported here: renaming without replacing is not possible")]
    NotSupported,
    /// The state directory is in the workspace, or the workspace in it.
    #[error("the state directory `{0}` and the workspace must not contain each other")]
    StateInWorkspace(String),
    /// Somebody else could change the state directory.
    #[error("the state directory `{0}` must belong to the user that runs this, with mode 0700")]
    StateExposed(String),
    /// Another executor works on this state directory.
    #[error("the state directory `{0}` is in use")]
    Locked(String),
    /// The journal is about another workspace, or the proposal is.
    #[error("this is about the workspace `{found}`, not `{expected}`")]
    OtherWorkspace {
        /// What it is about.
        found: String,
        /// The workspace of this executor.
        expected: String,
    },
    /// The journal is damaged before its last line.
    #[error("line {line} of the journal: {problem}")]
    Journal {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The key of the journal cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// What is there is not the key that the journal was written under.
    #[error("`{path}` is not the key of the journal: {problem}")]
    JournalKey {
        /// Where the key has to be.
        path: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The certificate was refused.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The request that the certificate is about is not about the proposal.
    #[error("the request is not about this proposal: {0}")]
    OtherRequest(String),
    /// The proposal has no such action.
    #[error("there is no action {0}")]
    NoSuchAction(usize),
    /// One action of this proposal was released before.
    #[error("the proposal was released before, as entry {0}")]
    ReleasedBefore(u64),
    /// Nothing was probed where something has to be, something where nothing may be, or other paths.
    #[error("{} needs {needs}", super::action::with_article(action))]
    Probed {
        /// The name of the action.
        action: &'static str,
        /// What is needed.
        needs: &'static str,
    },
    /// What is there is not what was probed.
    #[error("`{0}` is not what was probed")]
    Changed(String),
    /// What is there is not what an entry that is to be undone left.
    #[error(
        "`{path}` is no longer what entry {entry} left there, and nothing that came since is overwritten"
    )]
    ChangedSince {
        /// What.
        path: String,
        /// The entry that is to be undone.
        entry: u64,
    },
    /// The directory that a path is in is not the one that was probed.
    #[error("`{0}` is in another directory than the one that was probed")]
    OtherDirectory(String),
    /// Something is where nothing may be.
    #[error("something is at `{0}`, and nothing may be")]
    Occupied(String),
    /// Only the content of a file can be overwritten.
    #[error("`{0}` is no regular file")]
    NotAFile(String),
    /// A target that is, contains or lies in the state directory.
    #[error("`{0}` touches the state of the executor")]
    Protected(String),
    /// A target that is, contains or lies in a mount.
    #[error("`{0}` is, contains or lies in a mount")]
    Mount(String),
    /// A move to another file system.
    #[error("`{from}` and `{to}` are on different file systems: write there, then delete here")]
    OtherFileSystem {
        /// Where it is.
        from: String,
        /// Where it was to be.
        to: String,
    },
    /// A thing that cannot be copied to the file system of the trash.
    #[error("`{path}` cannot be copied to the trash: {problem}")]
    NotCopyable {
        /// What.
        path: String,
        /// Why.
        problem: &'static str,
    },
    /// The journal has no such entry.
    #[error("the journal has no entry {0}")]
    NoSuchEntry(u64),
    /// An entry that cannot be undone.
    #[error("entry {entry} cannot be undone: {problem}")]
    NotRestorable {
        /// The entry.
        entry: u64,
        /// Why.
        problem: &'static str,
    },
    /// A path could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system refused.
    #[error("{what}: {error}")]
    System {
        /// Doing what.
        what: String,
        /// What it said.
        error: io::Error,
    },
    /// The effect was begun and failed; how it ended stands in the journal.
    #[error("entry {entry} {}: {cause}", match resolution {
        Resolution::Done => "is done all the same",
        Resolution::RolledBack => "was rolled back",
        Resolution::Superseded => "was overtaken by another change",
    })]
    Failed {
        /// The entry.
        entry: u64,
        /// How it ended.
        resolution: Resolution,
        /// Why it failed.
        cause: Box<ExecuteError>,
    },
    /// The effect was begun, and could neither be ended nor undone yet: opening the executor again tries it.
    #[error("entry {entry} is not settled: {cause}")]
    Unsettled {
        /// The entry.
        entry: u64,
        /// Why.
        cause: Box<ExecuteError>,
    },
}

impl ExecuteError {
    #[cfg(target_os = "linux")]
    pub(super) fn io<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| Self::System {
            what,
            error: error.into(),
        }
    }
}
