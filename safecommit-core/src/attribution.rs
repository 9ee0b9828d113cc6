//! To which part of the system a failure belongs.

use serde::{Deserialize, Serialize};

use crate::controller::Fate;
use crate::fallback::Reason;

/// The part of the system that a failure is attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The true world was never proposed.
    Proposal,
    /// The true world was proposed, and its score lies above the threshold.
    Calibration,
    /// The true world was proposed and removed by evidence that was wrong: hard evidence, or a probe
    /// that erred. Its rate is the named error rate of the bound.
    Evidence,
    /// The true world was retained, yet an action that is unsafe in it was certified.
    SafetyMap,
    /// The true world was retained and a safe action existed, but probing ended without resolving
    /// which.
    ProbePolicy,
}

/// How a decision failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An action was committed that is not safe in the true world.
    UnsafeCommit,
    /// Nothing was committed although a candidate was safe in the true world.
    Fallback(Reason),
}

/// Attributes a failure of a certificate method, given where the true world stood at the end (`None`:
/// never proposed). `None` for a fallback on an error, whose reason is in the record already.
///
/// ```
/// use safecommit_core::{Failure, FailureCause, Fate, attribute};
///
/// assert_eq!(attribute(None, Failure::UnsafeCommit), Some(FailureCause::Proposal));
/// let excluded = Some(Fate::AboveThreshold);
/// assert_eq!(attribute(excluded, Failure::UnsafeCommit), Some(FailureCause::Calibration));
/// ```
#[must_use]
pub fn attribute(true_world: Option<Fate>, failure: Failure) -> Option<FailureCause> {
    if let Failure::Fallback(Reason::Error(_)) = failure {
        return None;
    }
    Some(match (true_world, failure) {
        (None, _) => FailureCause::Proposal,
        (Some(Fate::AboveThreshold), _) => FailureCause::Calibration,
        (Some(Fate::Contradicted | Fate::Refuted { .. }), _) => FailureCause::Evidence,
        (Some(Fate::Retained), Failure::UnsafeCommit) => FailureCause::SafetyMap,
        (Some(Fate::Retained), Failure::Fallback(_)) => FailureCause::ProbePolicy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fallback::{Fault, Stop};

    #[test]
    fn every_failure_has_its_cause() {
        let unresolved = Failure::Fallback(Reason::Unresolved {
            stop: Stop::ProbeBudgetSpent,
        });
        let check = |fate, failure, cause| assert_eq!(attribute(fate, failure), cause);
        for failure in [Failure::UnsafeCommit, unresolved] {
            check(None, failure, Some(FailureCause::Proposal));
            check(
                Some(Fate::AboveThreshold),
                failure,
                Some(FailureCause::Calibration),
            );
            check(
                Some(Fate::Contradicted),
                failure,
                Some(FailureCause::Evidence),
            );
            check(
                Some(Fate::Refuted { probe: 0 }),
                failure,
                Some(FailureCause::Evidence),
            );
        }
        check(
            Some(Fate::Retained),
            Failure::UnsafeCommit,
            Some(FailureCause::SafetyMap),
        );
        check(
            Some(Fate::Retained),
            unresolved,
            Some(FailureCause::ProbePolicy),
        );
        check(
            Some(Fate::Retained),
            Failure::Fallback(Reason::Error(Fault::Policy)),
            None,
        );
    }
}
