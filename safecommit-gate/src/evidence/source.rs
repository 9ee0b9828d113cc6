//! Who said something.

use super::RecordFieldError;
use super::field::{FieldProblem, check_label, shown};

/// Who made a record: a kind with a name, and what only some kinds have.
///
/// ```
/// use safecommit_gate::{PolicyRole, Source, SourceKind, ToolStatus};
///
/// let mail = Source::tool("read_mail", ToolStatus::Succeeded)?;
/// assert_eq!((mail.kind(), mail.tool_status()), (SourceKind::Tool, Some(ToolStatus::Succeeded)));
/// // What a user allows has a role; there is no way to give one to a memory or to the output of a tool.
/// let approval = Source::user_in_role("ada", PolicyRole::Authorization)?;
/// assert_eq!(approval.policy_role(), Some(PolicyRole::Authorization));
/// # Ok::<(), safecommit_gate::RecordFieldError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    kind: SourceKind,
    name: String,
    tool_status: Option<ToolStatus>,
    policy_role: Option<PolicyRole>,
}

/// The kinds of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// The person for whom the agent acts, in their own words.
    User,
    /// What the agent kept from earlier: it has an age and a provenance, and no authority.
    Memory,
    /// What the host or a probe measured itself, such as whether a path is a link. What stands *in* a file, page
    /// or message is the output of a tool: others may have written it.
    Observation,
    /// The output of a tool.
    Tool,
    /// The rules, permissions and limits that are in force.
    Policy,
}

/// How a call of a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolStatus {
    /// It ended, and reported no error.
    Succeeded,
    /// It reported an error.
    Failed,
    /// It did not end in time.
    TimedOut,
}

/// What a record does for the policy that is in force (the constraints `c` of Eq. 1 of arXiv:2608.04289).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyRole {
    /// A rule that stands, such as a retention policy.
    Rule,
    /// A permission or an approval.
    Authorization,
    /// A limit on how something is done.
    Constraint,
}

impl Source {
    /// A user who states something, without allowing or forbidding anything.
    ///
    /// # Errors
    ///
    /// For this and every other source: a name that is empty, longer than
    /// [`MAX_LABEL_BYTES`](super::MAX_LABEL_BYTES), or has control characters.
    pub fn user(name: impl Into<String>) -> Result<Self, RecordFieldError> {
        Self::from_parts(SourceKind::User, name.into(), None, None)
    }

    /// A user who sets a rule, allows something, or limits it.
    ///
    /// # Errors
    ///
    /// As for [`user`](Self::user).
    pub fn user_in_role(
        name: impl Into<String>,
        role: PolicyRole,
    ) -> Result<Self, RecordFieldError> {
        Self::from_parts(SourceKind::User, name.into(), None, Some(role))
    }

    /// A memory.
    ///
    /// # Errors
    ///
    /// As for [`user`](Self::user).
    pub fn memory(name: impl Into<String>) -> Result<Self, RecordFieldError> {
        Self::from_parts(SourceKind::Memory, name.into(), None, None)
    }

    /// A measurement of the host or a probe.
    ///
    /// # Errors
    ///
    /// As for [`user`](Self::user).
    pub fn observation(name: impl Into<String>) -> Result<Self, RecordFieldError> {
        Self::from_parts(SourceKind::Observation, name.into(), None, None)
    }

    /// A tool, and how its call ended.
    ///
    /// # Errors
    ///
    /// As for [`user`](Self::user).
    pub fn tool(name: impl Into<String>, status: ToolStatus) -> Result<Self, RecordFieldError> {
        Self::from_parts(SourceKind::Tool, name.into(), Some(status), None)
    }

    /// A policy, and what this part of it does.
    ///
    /// # Errors
    ///
    /// As for [`user`](Self::user).
    pub fn policy(name: impl Into<String>, role: PolicyRole) -> Result<Self, RecordFieldError> {
        Self::from_parts(SourceKind::Policy, name.into(), None, Some(role))
    }

    /// A source of any kind: a tool needs a status and a policy a role, a user may have a role.
    pub(super) fn from_parts(
        kind: SourceKind,
        name: String,
        tool_status: Option<ToolStatus>,
        policy_role: Option<PolicyRole>,
    ) -> Result<Self, RecordFieldError> {
        let name = check_label("name", name)?;
        let (is_tool, is_policy) = (kind == SourceKind::Tool, kind == SourceKind::Policy);
        let foreign = FieldProblem::NotOfThisSource(kind.name());
        match (tool_status, policy_role) {
            (None, _) if is_tool => Err(FieldProblem::Missing.in_field("tool_status")),
            (Some(_), _) if !is_tool => Err(foreign.in_field("tool_status")),
            (_, None) if is_policy => Err(FieldProblem::Missing.in_field("policy_role")),
            (_, Some(_)) if !is_policy && kind != SourceKind::User => {
                Err(foreign.in_field("policy_role"))
            }
            _ => Ok(Self {
                kind,
                name,
                tool_status,
                policy_role,
            }),
        }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// The name among the sources of its kind.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the call ended; for tools, and only for them.
    #[must_use]
    pub fn tool_status(&self) -> Option<ToolStatus> {
        self.tool_status
    }

    /// What it does for the policy: always for policies, sometimes for users, never for others.
    #[must_use]
    pub fn policy_role(&self) -> Option<PolicyRole> {
        self.policy_role
    }
}

/// The name of each variant in JSON, and the way back.
macro_rules! names {
    ($kind:ident { $($variant:ident => $name:literal),+ }) => {
        impl $kind {
            /// The names of all variants.
            pub(super) const NAMES: &[&str] = &[$($name),+];

            /// The name in JSON.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The variant of this name.
            pub(super) fn of_name(field: &str, given: &str) -> Result<Self, RecordFieldError> {
                match given {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(FieldProblem::NoneOf {
                        given: shown(given),
                        known: Self::NAMES.to_vec(),
                    }
                    .in_field(field)),
                }
            }
        }
    };
}

names!(SourceKind {
    User => "user",
    Memory => "memory",
    Observation => "observation",
    Tool => "tool",
    Policy => "policy"
});
names!(ToolStatus {
    Succeeded => "succeeded",
    Failed => "failed",
    TimedOut => "timed_out"
});
names!(PolicyRole {
    Rule => "rule",
    Authorization => "authorization",
    Constraint => "constraint"
});
