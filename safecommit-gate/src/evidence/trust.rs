//! How far a record can be trusted, by who may have had a hand in it.

use super::{EvidenceRecord, SourceKind, ToolStatus};

/// How far a record can be trusted: who may have written what it says, or put it into the mouth of the source.
///
/// The levels are ordered, from the least to the most; the meet of two is the lower one. A derived record has the
/// meet of its source's level and those of all its ancestors, through any depth (see
/// [`EvidenceSet::trust_of`](super::EvidenceSet::trust_of)). So trust never rises along a derivation.
///
/// Trust is not truth: a trusted source can be wrong, and an old observation is. It says who could have made the
/// claim, and so whether the claim may decide against the interest of the person for whom the agent acts.
///
/// | level | records that begin there |
/// |---|---|
/// | `Unknown` | memories without provenance, and outputs of tools that failed or did not end in time |
/// | `Tool` | outputs of tools: what stands in files, pages and messages that anyone may have written |
/// | `Memory` | memories: what the agent wrote itself |
/// | `Observation` | what the host or a probe measured |
/// | `User` | what the person said |
/// | `Policy` | the policy in force |
///
/// A memory that names nothing it was derived from is `Unknown`, as it may have been written after anything was
/// read: leaving the provenance out gains nothing. Naming ancestors can lower a memory's level to theirs, or
/// leave it at `Memory`; it is never above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// Nobody knows whose claim it is.
    Unknown,
    /// Whoever wrote what a tool read.
    Tool,
    /// The agent.
    Memory,
    /// The host or a probe.
    Observation,
    /// The person.
    User,
    /// The policy in force.
    Policy,
}

impl Trust {
    /// The level of a record by itself, as if its ancestors had the highest.
    pub(super) fn of_source(record: &EvidenceRecord) -> Self {
        match record.source().kind() {
            SourceKind::Memory if record.ancestors().is_empty() => Self::Unknown,
            SourceKind::Memory => Self::Memory,
            SourceKind::Tool if record.source().tool_status() != Some(ToolStatus::Succeeded) => {
                Self::Unknown
            }
            SourceKind::Tool => Self::Tool,
            SourceKind::Observation => Self::Observation,
            SourceKind::User => Self::User,
            SourceKind::Policy => Self::Policy,
        }
    }

    /// The lower of the two levels.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        self.min(other)
    }
}
