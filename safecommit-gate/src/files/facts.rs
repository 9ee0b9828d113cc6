//! The facts of file actions, and what a probe needs to know to find them out.

use jiff::Timestamp;

use super::patterns::{PatternError, Patterns};
use super::walk::Limits;
use crate::execute::Deletion;
use crate::fact::{Fact, FactError, Facts};
use crate::policy::SafetyPolicies;
use crate::score::ScoreWeights;

/// The facts of a target that can change whether deleting, overwriting, moving or writing it is safe.
///
/// | fact | values | meaning |
/// |---|---|---|
/// | `kind` | `file`, `directory`, `link`, `mount`, `missing` | what the name stands for, not followed |
/// | `location` | `inside`, `outside` | where it leads when every link is followed; over a mount is outside |
/// | `leaves_tree` | `no`, `link`, `mount` | whether something below a directory leads out of it |
/// | `owner` | `own`, `other` | of it and all below; of a missing name, of the directory that would hold it |
/// | `writable_by` | `nobody`, `owner`, `others` | what its permission bits say; of a missing name, those of the directory |
/// | `tracked` | `clean`, `dirty`, `untracked`, `none` | whether the last commit of a repository around it has its content |
/// | `only_copy` | `true`, `false` | whether content of it is nowhere else in the workspace |
/// | `changed_since_memory` | `true`, `false` | whether it was changed, or is gone, since the memory that names it |
/// | `protected` | `true`, `false` | whether it, or something below, matches the protected patterns |
/// | `secret` | `true`, `false` | whether it, or something below, matches the secret patterns |
/// | `reversible` | `true`, `false` | whether a staged move of it can be made, and so be undone; not asked of a permanent deletion |
///
/// ```
/// let facts = safecommit_gate::file_facts()?;
/// assert_eq!(facts.as_slice().len(), 11);
/// assert_eq!(facts.as_slice()[0].values()[4], "missing");
/// # Ok::<(), safecommit_gate::FactError>(())
/// ```
///
/// An overwrite has [more](overwrite_facts), which are about its content.
///
/// # Errors
///
/// None: the names are identifiers that differ.
pub fn file_facts() -> Result<Facts, FactError> {
    let facts: [(&str, &[&str]); 11] = [
        ("kind", &["file", "directory", "link", "mount", "missing"]),
        ("location", &["inside", "outside"]),
        ("leaves_tree", &["no", "link", "mount"]),
        ("owner", &["own", "other"]),
        ("writable_by", &["nobody", "owner", "others"]),
        ("tracked", &["clean", "dirty", "untracked", "none"]),
        ("only_copy", TRUTH),
        ("changed_since_memory", TRUTH),
        ("protected", TRUTH),
        ("secret", TRUTH),
        ("reversible", TRUTH),
    ];
    let facts = facts.map(|(name, values)| Fact::new(name, values.iter().copied()));
    Facts::new(facts.into_iter().collect::<Result<Vec<_>, _>>()?)
}

/// The facts of an overwrite that depend on its content, and so are its own: two overwrites of the same target differ in
/// them.
///
/// | fact | values | meaning |
/// |---|---|---|
/// | `discards` | `true`, `false` | whether some line that stands at the target is not kept: all stay but for lines put in at one place |
/// | `base` | `same`, `other`, `unknown` | whether the new content was made from what stands at the target, if it says from what |
///
/// ```
/// let facts = safecommit_gate::overwrite_facts()?;
/// assert_eq!(facts.as_slice()[0].name(), "discards");
/// # Ok::<(), safecommit_gate::FactError>(())
/// ```
///
/// # Errors
///
/// None: the names are identifiers that differ.
pub fn overwrite_facts() -> Result<Facts, FactError> {
    Facts::new([
        Fact::new(DISCARDS, TRUTH.iter().copied())?,
        Fact::new(BASE, ["same", "other", "unknown"])?,
    ])
}

pub(super) const DISCARDS: &str = "discards";

pub(crate) const BASE: &str = "base";

const TRUTH: &[&str] = &["false", "true"];

/// The version of the score of worlds of files: the rule by which evidence is scored, its weights, the half life of evidence
/// in days, and the policies. These belong to it since they say which worlds make one region, and so what the least
/// strange world of a region is; so does a permanent deletion, which policies see as one that is not reversible. `files-1`
/// changes when the same evidence gets another score under the same weights.
pub(crate) fn score_version(
    weights: &ScoreWeights,
    half_life: f64,
    policies: &SafetyPolicies,
    deletion: Deletion,
) -> String {
    let [age, inconsistency, tools, policy] = weights.as_array();
    let policies = policies.version();
    let deletion = match deletion {
        Deletion::Trash => "",
        Deletion::Permanent => " deletion permanent",
    };
    format!(
        "files-1 weights {age} {inconsistency} {tools} {policy} half-life {half_life} d policies {policies}{deletion}"
    )
}

/// What probes of files need to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileSettings {
    /// How much of a tree each probe may look at; the time is cut to the timeout of the probe.
    pub limits: Limits,
    /// The user whose files are one's own.
    pub owner: u32,
    /// When the memory that names the target was recorded.
    pub memory: Option<Timestamp>,
    /// What nobody may change without asking.
    pub protected: Patterns,
    /// What holds keys, passwords or the like.
    pub secret: Patterns,
}

impl FileSettings {
    /// Default limits, the user of this process as the owner, no memory, [`PROTECTED`] and [`SECRET`] as patterns.
    ///
    /// # Errors
    ///
    /// None: the patterns are valid.
    pub fn new() -> Result<Self, PatternError> {
        Ok(Self {
            limits: Limits::default(),
            owner: rustix::process::geteuid().as_raw(),
            memory: None,
            protected: Patterns::new(PROTECTED)?,
            secret: Patterns::new(SECRET)?,
        })
    }
}

/// Protected unless configured otherwise: the data of repositories, the settings of agents and of the gate, and the
/// places where one new file gives somebody access.
pub const PROTECTED: [&str; 21] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".gitmodules",
    ".gitattributes",
    ".github/workflows",
    ".husky",
    ".envrc",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".vscode",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "safecommit.toml",
    ".ssh",
    ".gnupg",
    ".aws",
];

/// Secret unless configured otherwise: the usual names of keys and passwords.
pub const SECRET: [&str; 18] = [
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.keystore",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pypirc",
    ".ssh",
    ".gnupg",
    ".aws",
    "credentials*",
];
