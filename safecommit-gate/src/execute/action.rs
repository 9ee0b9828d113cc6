//! File actions as canonical values, and the digest that a certificate is bound to.

use safecommit_core::Subject;
use serde::{Deserialize, Serialize};

use crate::files::Digest;

/// Names that begin like this are the executor's own, for the moment in which a change is half made.
pub(super) const RESERVED: &str = ".safecommit-";

/// The path of a target below the workspace, in one spelling: components joined by `/`, without `.`, `..`, empty
/// components or NUL.
///
/// ```
/// use safecommit_gate::TargetPath;
///
/// assert_eq!(TargetPath::new("run//./latest")?, TargetPath::new("run/latest")?);
/// let error = TargetPath::new("run/../../etc").unwrap_err();
/// assert_eq!(error.to_string(), "`run/../../etc` has a component `..`");
/// # Ok::<(), safecommit_gate::ActionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TargetPath(String);

/// What a file is to contain, with its digest.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    bytes: Vec<u8>,
    digest: Digest,
}

/// An action on files below a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Removes a file, a link itself or a whole directory; what becomes of it then says [`Deletion`].
    Delete {
        /// What is removed.
        path: TargetPath,
    },
    /// Replaces the content of a file; what it was goes to the trash.
    Overwrite {
        /// The file.
        path: TargetPath,
        /// What it is to contain.
        content: Content,
    },
    /// Gives a file, link or directory another place in which nothing may be yet.
    Move {
        /// Where it is.
        from: TargetPath,
        /// Where it is to be.
        to: TargetPath,
    },
    /// Makes a file where nothing may be yet.
    Write {
        /// The file.
        path: TargetPath,
        /// What it is to contain.
        content: Content,
    },
}

/// What becomes of what a deletion takes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deletion {
    /// It goes to the trash, from where it can be put back.
    #[default]
    Trash,
    /// It goes to the trash, and from there, once it is known to be what was decided about, it is removed. Nothing brings
    /// it back.
    Permanent,
}

/// Everything besides the actions that a release rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseContext {
    /// A name for the decision; each subject is released once, so an action that is wanted again needs another.
    pub decision: String,
    /// The tool that asked.
    pub tool: String,
    /// The workspace, as its handle displays it.
    pub directory: String,
    /// On whose behalf.
    pub principal: String,
    /// Version of the safety policies.
    pub policy_version: String,
    /// Version of the calibration, or `None` without one.
    pub calibration_version: Option<String>,
    /// What becomes of what is deleted. It is part of what was decided, so that nothing that was certified because it could
    /// be put back is removed for good.
    pub deletion: Deletion,
    /// Digest of the evidence that was decided on. Subjects are written down, so it has to be a keyed one where the
    /// evidence could be guessed: [`LogKey::evidence_digest`](crate::audit::LogKey::evidence_digest).
    pub evidence: Digest,
}

/// The candidate actions of one decision with their context, in canonical form. Its digest is the subject of the
/// decision problem, so that a certificate is good for these very actions in this very context.
///
/// ```
/// use safecommit_gate::{Deletion, Digest, FileAction, Proposal, ReleaseContext, TargetPath};
///
/// let context = ReleaseContext {
///     decision: "clean-up-17".to_owned(),
///     tool: "shell".to_owned(),
///     directory: "/srv/project".to_owned(),
///     principal: "ada".to_owned(),
///     policy_version: "3".to_owned(),
///     calibration_version: None,
///     deletion: Deletion::Trash,
///     evidence: Digest::of_bytes(b""),
/// };
/// let delete = |path: &str| Ok::<_, safecommit_gate::ActionError>(FileAction::Delete { path: TargetPath::new(path)? });
/// let one = Proposal::new(context.clone(), vec![delete("run/latest")?])?;
/// assert_eq!(one.subject(), Proposal::new(context.clone(), vec![delete("run/./latest")?])?.subject());
/// assert_ne!(one.subject(), Proposal::new(context.clone(), vec![delete("run")?])?.subject());
/// let for_good = ReleaseContext { deletion: Deletion::Permanent, ..context };
/// assert_ne!(one.subject(), Proposal::new(for_good, vec![delete("run/latest")?])?.subject());
/// assert_eq!(one.action_name(0).as_deref(), Some("delete-1"));
/// assert!(one.request_id().starts_with("clean-up-17 "));
/// # Ok::<(), safecommit_gate::ActionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    context: ReleaseContext,
    actions: Vec<FileAction>,
    subject: Digest,
}

/// Why a path or a proposal is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// A path that is no target below the workspace.
    #[error("`{}` {problem}", path.escape_default())]
    Path {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A move of something into itself or onto itself.
    #[error("`{from}` cannot be moved to `{to}`, which is in it or the same")]
    IntoItself {
        /// Where it is.
        from: String,
        /// Where it was to be.
        to: String,
    },
    /// No action at all.
    #[error("there is no action")]
    NoAction,
    /// The proposal has no canonical form.
    #[error("the proposal cannot be written down: {0}")]
    Canonical(String),
}

impl Deletion {
    /// Whether an action of this kind would take away for good what it takes away.
    pub(crate) fn is_permanent_for(self, action: &FileAction) -> bool {
        self == Self::Permanent && matches!(action, FileAction::Delete { .. })
    }
}

impl TargetPath {
    /// A path below the workspace.
    ///
    /// # Errors
    ///
    /// [`ActionError::Path`] if it is absolute, names nothing below the workspace, has a component `..`, one longer
    /// than 255 bytes or one that the executor keeps for itself, contains NUL, or is longer than 4,095 bytes.
    pub fn new(path: &str) -> Result<Self, ActionError> {
        let refuse = |problem| {
            Err(ActionError::Path {
                path: path.to_owned(),
                problem,
            })
        };
        if path.len() > 4095 {
            return refuse("is longer than 4,095 bytes");
        }
        if path.starts_with('/') {
            return refuse("is absolute, and a target is named from the workspace");
        }
        if path.contains('\0') {
            return refuse("contains NUL");
        }
        let parts: Vec<&str> = path
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        if parts.is_empty() {
            return refuse("names nothing below the workspace");
        }
        for part in &parts {
            if *part == ".." {
                return refuse("has a component `..`");
            }
            if part.len() > 255 {
                return refuse("has a component longer than 255 bytes");
            }
            if part.starts_with(RESERVED) {
                return refuse("has a component that is kept for changes in progress");
            }
        }
        Ok(Self(parts.join("/")))
    }

    /// The path in its one spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is this path or one beneath it.
    pub(crate) fn is_or_is_in(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(&other.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// What [`TargetPath::new`] takes. Lengths are in bytes, of which a character has at least one.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for TargetPath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TargetPath".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let reserved = RESERVED.replace('.', r"\.");
        schemars::json_schema!({
            "description": "A path below the workspace, without `..`.",
            "type": "string",
            "maxLength": 4095,
            // A component that is more than nothing and `.`; what `..` is refused for stands below.
            "pattern": r"[^./]|\.\.",
            "not": {"pattern": format!(r"^/|\u0000|(^|/)(\.\.(/|$)|{reserved})|[^/]{{256}}")}
        })
    }
}

impl std::fmt::Display for TargetPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Content {
    /// These bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let digest = Digest::of_bytes(&bytes);
        Self { bytes, digest }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Never the bytes themselves, which may be secret.
impl std::fmt::Debug for Content {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Content({} bytes)", self.bytes.len())
    }
}

impl FileAction {
    /// Its name: `delete`, `overwrite`, `move` or `write`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Delete { .. } => "delete",
            Self::Overwrite { .. } => "overwrite",
            Self::Move { .. } => "move",
            Self::Write { .. } => "write",
        }
    }

    /// Every path that it names: what it acts on, and of a move where to.
    pub fn paths(&self) -> impl Iterator<Item = &TargetPath> {
        let to = match self {
            Self::Move { to, .. } => Some(to),
            _ => None,
        };
        std::iter::once(self.path()).chain(to)
    }

    /// What the file is to contain, of an overwrite or write.
    pub(crate) fn content(&self) -> Option<&Content> {
        match self {
            Self::Overwrite { content, .. } | Self::Write { content, .. } => Some(content),
            Self::Delete { .. } | Self::Move { .. } => None,
        }
    }

    /// Its name as the candidate at this position: [`Proposal::action_name`].
    pub(crate) fn candidate_name(&self, position: usize) -> String {
        format!("{}-{}", self.name(), position + 1)
    }

    /// Refuses a move of something into itself.
    pub(crate) fn check(&self) -> Result<(), ActionError> {
        match self {
            Self::Move { from, to } if to.is_or_is_in(from) => Err(ActionError::IntoItself {
                from: from.to_string(),
                to: to.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// The path that it acts on; of a move, where the thing is.
    #[must_use]
    pub fn path(&self) -> &TargetPath {
        match self {
            Self::Delete { path } | Self::Overwrite { path, .. } | Self::Write { path, .. } => path,
            Self::Move { from, .. } => from,
        }
    }
}

/// In words, such as ``move `run/latest` to `archive/latest` `` or ``write `b.txt` (12 bytes)``.
impl std::fmt::Display for FileAction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} `{}`", self.name(), self.path())?;
        if let Self::Move { to, .. } = self {
            write!(formatter, " to `{to}`")?;
        }
        match self.content() {
            Some(content) => write!(formatter, " ({} bytes)", content.bytes.len()),
            None => Ok(()),
        }
    }
}

/// The name of an action with its article, as in `an overwrite`.
pub(crate) fn with_article(action: &str) -> String {
    let article = match action.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => "an",
        false => "a",
    };
    format!("{article} {action}")
}

/// The arguments of an action as they are hashed: content by digest.
#[derive(Serialize)]
struct Canonical<'a> {
    action: &'static str,
    path: &'a str,
    to: Option<&'a str>,
    content: Option<Digest>,
}

impl<'a> From<&'a FileAction> for Canonical<'a> {
    fn from(action: &'a FileAction) -> Self {
        let to = match action {
            FileAction::Move { to, .. } => Some(to.as_str()),
            _ => None,
        };
        Self {
            action: action.name(),
            path: action.path().as_str(),
            to,
            content: action.content().map(Content::digest),
        }
    }
}

impl Proposal {
    /// The candidate actions in the order of the decision problem.
    ///
    /// # Errors
    ///
    /// [`ActionError`] for no action and for a move of something into itself.
    pub fn new(context: ReleaseContext, actions: Vec<FileAction>) -> Result<Self, ActionError> {
        if actions.is_empty() {
            return Err(ActionError::NoAction);
        }
        for action in &actions {
            action.check()?;
        }
        let canonical: Vec<Canonical<'_>> = actions.iter().map(Canonical::from).collect();
        let bytes = serde_json::to_vec(&("safecommit-gate proposal 1", &context, canonical));
        let bytes = bytes.map_err(|error| ActionError::Canonical(error.to_string()))?;
        Ok(Self {
            context,
            actions,
            subject: Digest::of_bytes(&bytes),
        })
    }

    /// SHA-256 of the canonical form: what the decision problem and its certificates are about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        Subject(*self.subject.bytes())
    }

    #[cfg(target_os = "linux")]
    pub(super) fn digest(&self) -> Digest {
        self.subject
    }

    /// The id that a [`safecommit_core::Request`] about this proposal has to have: the decision, a space and the subject
    /// in hexadecimal. Certificates of the request are bound to it, and so to the proposal.
    #[must_use]
    pub fn request_id(&self) -> String {
        format!("{} {}", self.context.decision, self.subject)
    }

    /// The name that an action has to have in such a request: `delete-1`, `move-2`, numbered from 1 in the order of the
    /// candidates. `None` if there is no such candidate.
    #[must_use]
    pub fn action_name(&self, action: usize) -> Option<String> {
        Some(self.actions.get(action)?.candidate_name(action))
    }

    /// An action in words, such as ``delete `run/latest` permanently``. `None` if there is no such candidate.
    #[must_use]
    pub fn describe(&self, action: usize) -> Option<String> {
        let found = self.actions.get(action)?;
        Some(if self.is_permanent(found) {
            format!("{found} permanently")
        } else {
            found.to_string()
        })
    }

    /// Whether nothing can undo what an action of this kind does.
    pub(crate) fn is_permanent(&self, action: &FileAction) -> bool {
        self.context.deletion.is_permanent_for(action)
    }

    /// The candidate actions.
    #[must_use]
    pub fn actions(&self) -> &[FileAction] {
        &self.actions
    }

    /// What the release rests on besides.
    #[must_use]
    pub fn context(&self) -> &ReleaseContext {
        &self.context
    }
}
