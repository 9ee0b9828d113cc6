//! What the journal keeps of identities and contents.
//!
//! Content may be no more than a name or a yes. Whoever has its plain digest tries one such content after the other until
//! the digest comes out, so the journal has codes under a [key](super::key) instead. Digests in memory are plain.

use serde::{Deserialize, Serialize};

use super::key::JournalKey;
use crate::files::{Digest, Identity, Kind};

/// An identity as the journal keeps it: all of it, but codes in place of the digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) kind: Kind,
    size: u64,
    modified: (i64, u32),
    changed: (i64, u32),
    pub(super) mode: u32,
    owner: u32,
    group: u32,
    pub(super) content: Option<Code>,
    tree: Option<Code>,
}

/// What the journal keeps of a digest: `hmac:` and its HMAC-SHA-256, or the digest itself in lines from before there was a
/// key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum Code {
    Keyed(Digest),
    Plain(Digest),
}

const KEYED: &str = "hmac:";

impl JournalKey {
    pub(super) fn kept(&self, found: &Identity) -> Kept {
        self.in_form_of([None; 2], found)
    }

    /// Whether what was found is what is kept, to the last time of a change.
    pub(super) fn is(&self, kept: &Kept, found: &Identity) -> bool {
        self.in_form_of([kept.content, kept.tree], found) == *kept
    }

    /// Whether it is that under another name: all but the time of the last change of the thing itself, which a new name
    /// changes on most file systems.
    pub(super) fn is_renamed(&self, kept: &Kept, found: &Identity) -> bool {
        let renamed = Kept {
            changed: kept.changed,
            ..self.in_form_of([kept.content, kept.tree], found)
        };
        renamed == *kept
    }

    /// Whether a content is the one that is kept, none at all being one too.
    pub(super) fn is_content(&self, kept: Option<Code>, found: Option<Digest>) -> bool {
        self.code_in_form_of(kept, found) == kept
    }

    /// An identity with codes in the form of these, so that they can be compared; keyed, where there is none.
    fn in_form_of(&self, [content, tree]: [Option<Code>; 2], found: &Identity) -> Kept {
        Kept {
            device: found.device,
            inode: found.inode,
            kind: found.kind,
            size: found.size,
            modified: found.modified,
            changed: found.changed,
            mode: found.mode,
            owner: found.owner,
            group: found.group,
            content: self.code_in_form_of(content, found.content),
            tree: self.code_in_form_of(tree, found.tree),
        }
    }

    fn code_in_form_of(&self, form: Option<Code>, found: Option<Digest>) -> Option<Code> {
        found.map(|found| match form {
            Some(Code::Plain(_)) => Code::Plain(found),
            Some(Code::Keyed(_)) | None => self.code(found),
        })
    }
}

impl Kept {
    /// Whether it is the same object, whatever has changed in it: device and inode.
    pub(super) fn is_object(&self, found: &Identity) -> bool {
        (self.device, self.inode) == (found.device, found.inode)
    }
}

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (digest, form): (_, fn(Digest) -> Self) = match text.strip_prefix(KEYED) {
            Some(code) => (code, Self::Keyed),
            None => (text.as_str(), Self::Plain),
        };
        digest.parse().map(form).map_err(|error| format!("{error}"))
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        match code {
            Code::Keyed(code) => format!("{KEYED}{code}"),
            Code::Plain(digest) => digest.to_string(),
        }
    }
}
