//! What the journal says.

use serde::{Deserialize, Serialize};

use super::kept::{Code, Kept};
use super::receipt::Resolution;
use crate::files::Digest;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Record {
    /// The first line: which workspace the journal is about.
    Opened { format: u32, workspace: String },
    /// The next line of a journal, or the next one after those from before there was a key: a code that no other key
    /// gives. All digests of content are codes under this key from here on.
    Keyed { check: Digest },
    /// An effect is about to be caused; nothing of it was done before this line was durable.
    Intent {
        entry: u64,
        subject: Option<Digest>,
        undoes: Option<u64>,
        effect: Box<Effect>,
    },
    /// What is put in place lies complete and durable under the hidden name.
    Staged { entry: u64, staged: Kept },
    /// What leaves lies complete, verified and durable in the trash of another file system: from here on the
    /// original is removed, and nothing else is possible.
    Copied { entry: u64 },
    /// The effect is over.
    Done { entry: u64, resolution: Resolution },
    /// What the entry keeps in the trash is about to be removed for good, and cannot come back from here on.
    Emptied { entry: u64 },
}

/// What is changed. Paths are from the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Effect {
    /// Into the trash, and out of it for good if that was decided.
    Take {
        path: String,
        old: Kept,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        permanent: bool,
    },
    /// Where nothing was.
    Put { path: String, new: Source },
    /// In place of something, which goes into the trash.
    Replace {
        path: String,
        old: Kept,
        new: Source,
    },
    /// To another place in which nothing was.
    Move { from: String, to: String, old: Kept },
}

/// Where what is put in place comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Source {
    /// Bytes of an action, by the code of their digest.
    Bytes { content: Code },
    /// What an earlier entry took away.
    Trash { entry: u64, item: Kept },
}

impl Effect {
    /// The path that is acted on, and of a move the other one.
    pub(super) fn paths(&self) -> (&str, Option<&str>) {
        match self {
            Self::Take { path, .. } | Self::Put { path, .. } | Self::Replace { path, .. } => {
                (path, None)
            }
            Self::Move { from, to, .. } => (from, Some(to)),
        }
    }

    /// Whether nothing is to be kept of what it takes away.
    pub(super) fn is_permanent(&self) -> bool {
        let Self::Take { permanent, .. } = self else {
            return false;
        };
        *permanent
    }
}

impl Record {
    /// The entry that the line belongs to.
    pub(super) fn entry(&self) -> Option<u64> {
        match self {
            Self::Opened { .. } | Self::Keyed { .. } => None,
            Self::Intent { entry, .. }
            | Self::Staged { entry, .. }
            | Self::Copied { entry }
            | Self::Emptied { entry }
            | Self::Done { entry, .. } => Some(*entry),
        }
    }
}
