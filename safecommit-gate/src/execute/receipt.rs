//! What was done, and how it ended.

use serde::{Deserialize, Serialize};

use crate::files::Digest;

/// How an effect ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The new state is there.
    Done,
    /// The old state is there.
    RolledBack,
    /// Somebody else changed the place meanwhile, so that neither state can be there; what was taken is in the
    /// trash or at its place, and nothing was lost.
    Superseded,
}

/// An effect that was caused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// Its number in the journal, by which it is undone.
    pub entry: u64,
    /// Whether nothing undoes it: it was a permanent deletion.
    pub permanent: bool,
}

/// What the journal says about one effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// Its number.
    pub entry: u64,
    /// What was done: `take` into the trash, `remove` for good, `put` where nothing was, `replace`, `move`.
    pub effect: &'static str,
    /// The path in the workspace.
    pub path: String,
    /// Of a move, where it went.
    pub to: Option<String>,
    /// The subject of the proposal that released it; `None` for what undoes another entry.
    pub subject: Option<Digest>,
    /// The entry that it undoes.
    pub undoes: Option<u64>,
    /// The entry that undid it.
    pub undone_by: Option<u64>,
    /// How it ended; `None` while it is not settled.
    pub resolution: Option<Resolution>,
    /// Whether what it kept in the trash was removed for good, so that it cannot be undone where that would be needed. Of
    /// what was to be removed, `false` means that it is there still: it was changed in the trash, or nobody has gone on yet.
    pub emptied: bool,
}
