//! The ways not to act, and why.

use safecommit_conformal::Digest;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::report::ReportError;

/// A decision not to act now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// What to do instead.
    pub kind: FallbackKind,
    /// Why.
    pub reason: Reason,
}

/// What to do instead of acting (Eq. 2 of Akewar and Ranjan, arXiv:2608.04289).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FallbackKind {
    /// Wait for evidence that is expected, then decide again.
    Defer,
    /// Hand the decision to somebody with authority.
    Escalate,
    /// Drop the proposal: no candidate is safe in any plausible world.
    Abstain,
}

/// Why a decision fell back. The kind follows from the reason alone.
///
/// ```
/// use safecommit_core::{Fallback, FallbackKind, Reason, Stop};
///
/// let reason = Reason::FreshEvidenceExpected { stop: Stop::NoProbeHelps };
/// assert_eq!(Fallback::from(reason).kind, FallbackKind::Defer);
/// assert_eq!(Reason::NoWorldPlausible.kind(), FallbackKind::Escalate);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// An error on the decision path.
    Error(Fault),
    /// No world was proposed.
    NoWorldProposed,
    /// Hard evidence or the threshold removed every proposed world.
    NoWorldPlausible,
    /// The outcomes observed refute every world that was plausible.
    EveryWorldRefuted,
    /// No candidate action is safe in any plausible world.
    NothingSafeAnywhere,
    /// The request says that authority is missing.
    AuthorityMissing {
        /// Why probing stopped.
        stop: Stop,
    },
    /// The request expects fresh evidence.
    FreshEvidenceExpected {
        /// Why probing stopped.
        stop: Stop,
    },
    /// A probe may be repeated later.
    ProbeRepeatableLater {
        /// Position of the first such probe.
        probe: usize,
        /// Why probing stopped.
        stop: Stop,
    },
    /// Plausible worlds disagree and nothing above applies.
    Unresolved {
        /// Why probing stopped.
        stop: Stop,
    },
}

/// Why no further probe was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// No remaining probe has a score above eta.
    NoProbeHelps,
    /// The limit on the number of probes is reached.
    ProbeBudgetSpent,
    /// What is left of the cost budget buys no probe that helps.
    CostBudgetSpent,
    /// The time is up.
    StepBudgetSpent,
}

/// An error on the decision path. It never ends in a commit (Errors never commit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A report that makes no sense.
    #[error("wrong report: {0}")]
    Report(ReportError),
    /// A nonconformity score is not a finite number.
    #[error("the score of world {world} is not a finite number")]
    Score {
        /// Position that the world would have had.
        world: usize,
    },
    /// The score of a probe is not a number.
    #[error("the expected shrinkage of probe {probe} is not a number")]
    ProbeScore {
        /// Position of the probe.
        probe: usize,
    },
    /// A safety policy could not be evaluated.
    #[error("a safety policy could not be evaluated")]
    Policy,
    /// The support was cut before it was complete.
    #[error("the support was truncated")]
    TruncatedSupport,
    /// The request is of a stratum that no calibration at hand is for, or names none where the
    /// calibration is for a group.
    #[error("no calibration at hand is for the stratum of the request")]
    Stratum,
    /// The threshold bounds the loss of another policy than the one that decides: what its calibration says of
    /// unsafe commits is not about this decision.
    #[error(
        "the calibration bounds the loss of the policy `{calibrated}`, and the settings are those of `{decided}`"
    )]
    OtherPolicy {
        /// The policy that was replayed for the calibration.
        calibrated: Digest,
        /// That of the settings ([`crate::Settings::digest`]).
        decided: Digest,
    },
    /// Two parts of the decision disagree: a defect.
    #[error("the decision path contradicts itself")]
    Inconsistent,
}

impl Reason {
    /// What the reason calls for: escalate on an error or an empty plausible set, abstain when nothing
    /// is safe anywhere, escalate for want of authority, defer when waiting can help, else escalate.
    #[must_use]
    pub fn kind(&self) -> FallbackKind {
        match self {
            Self::Error(_)
            | Self::NoWorldProposed
            | Self::NoWorldPlausible
            | Self::EveryWorldRefuted
            | Self::AuthorityMissing { .. }
            | Self::Unresolved { .. } => FallbackKind::Escalate,
            Self::NothingSafeAnywhere => FallbackKind::Abstain,
            Self::FreshEvidenceExpected { .. } | Self::ProbeRepeatableLater { .. } => {
                FallbackKind::Defer
            }
        }
    }

    /// Why probing stopped, where that is part of the reason.
    #[must_use]
    pub fn stop(&self) -> Option<Stop> {
        match *self {
            Self::AuthorityMissing { stop }
            | Self::FreshEvidenceExpected { stop }
            | Self::ProbeRepeatableLater { stop, .. }
            | Self::Unresolved { stop } => Some(stop),
            _ => None,
        }
    }
}

impl From<Reason> for Fallback {
    fn from(reason: Reason) -> Self {
        Self {
            kind: reason.kind(),
            reason,
        }
    }
}
