//! What the controller knows about a candidate action beside where it is safe.

use serde::{Deserialize, Serialize};

use crate::ProblemError;
use crate::signature::ActionSet;

/// A candidate action as the release rule sees it: reward, side-effect severity, reversibility.
///
/// ```
/// use safecommit_core::{Action, Reversibility};
///
/// let delete = Action::new(1.0, 0.5, Reversibility::Irreversible)?;
/// assert_eq!(delete.utility(2.0), 0.0); // reward less twice the severity
/// assert!(Action::new(f64::NAN, 0.0, Reversibility::Reversible).is_err());
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    reward: f64,
    severity: f64,
    reversibility: Reversibility,
}

/// Whether an action's effect can be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reversibility {
    /// The effect can be staged, inspected and undone.
    Reversible,
    /// The effect is final once executed: the safe assumption, and the default.
    #[default]
    Irreversible,
}

impl Action {
    /// An action with a `reward` for succeeding and a side-effect `severity`, each in any one unit.
    ///
    /// # Errors
    ///
    /// [`ProblemError::RewardNotFinite`], [`ProblemError::SeverityInvalid`] unless the severity is
    /// finite and at least zero.
    pub fn new(
        reward: f64,
        severity: f64,
        reversibility: Reversibility,
    ) -> Result<Self, ProblemError> {
        if !reward.is_finite() {
            return Err(ProblemError::RewardNotFinite { value: reward });
        }
        if !severity.is_finite() || severity < 0.0 {
            return Err(ProblemError::SeverityInvalid { value: severity });
        }
        Ok(Self {
            reward,
            severity,
            reversibility,
        })
    }

    /// What succeeding is worth.
    #[must_use]
    pub fn reward(&self) -> f64 {
        self.reward
    }

    /// How grave the side effect is, at least zero.
    #[must_use]
    pub fn severity(&self) -> f64 {
        self.severity
    }

    /// Whether the effect can be undone.
    #[must_use]
    pub fn reversibility(&self) -> Reversibility {
        self.reversibility
    }

    /// reward - lambda * severity (Eq. 11).
    #[must_use]
    pub fn utility(&self, severity_weight: f64) -> f64 {
        self.reward - severity_weight * self.severity
    }
}

impl Default for Action {
    /// An irreversible action of reward and severity zero.
    fn default() -> Self {
        Self {
            reward: 0.0,
            severity: 0.0,
            reversibility: Reversibility::Irreversible,
        }
    }
}

/// The release rule (Eq. 10 and 11 of Akewar and Ranjan, arXiv:2608.04289): of the certified actions
/// the one with the largest reward - lambda * severity, the first of them on a tie. It changes
/// utility, never validity.
///
/// `None` when nothing is certified.
///
/// ```
/// use safecommit_core::{Action, ActionSet, Reversibility, release};
///
/// let send = Action::new(1.0, 0.5, Reversibility::Irreversible)?;
/// let stage = Action::new(1.0, 0.1, Reversibility::Reversible)?;
/// assert_eq!(release(&ActionSet::full(2), &[send, stage], 1.0), Some(1));
/// assert_eq!(release(&ActionSet::full(2), &[send, stage], 0.0), Some(0));
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[must_use]
pub fn release(certified: &ActionSet, actions: &[Action], severity_weight: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for action in certified.iter() {
        let utility = actions.get(action)?.utility(severity_weight);
        if best.is_none_or(|(_, incumbent)| utility > incumbent) {
            best = Some((action, utility));
        }
    }
    best.map(|(action, _)| action)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        utilities: &[(f64, f64)],
        certified: &[usize],
        severity_weight: f64,
        want: Option<usize>,
    ) {
        let actions: Vec<_> = utilities
            .iter()
            .map(|&(reward, severity)| {
                Action::new(reward, severity, Reversibility::Irreversible).unwrap()
            })
            .collect();
        let mut set = ActionSet::empty(actions.len());
        for &action in certified {
            set.insert(action);
        }
        assert_eq!(release(&set, &actions, severity_weight), want);
    }

    #[test]
    fn releases_the_best_certified_action_and_the_first_on_a_tie() {
        check(&[(1.0, 0.0), (2.0, 0.0)], &[0, 1], 1.0, Some(1));
        check(&[(1.0, 0.0), (2.0, 0.0)], &[0], 1.0, Some(0));
        check(&[(1.0, 0.0), (2.0, 1.0)], &[0, 1], 1.0, Some(0));
        check(&[(1.0, 0.0), (2.0, 3.0)], &[0, 1], 1.0, Some(0));
        check(&[(1.0, 0.0)], &[], 1.0, None);
        check(&[(f64::MAX, 0.0), (1.0, f64::MAX)], &[1], f64::MAX, Some(1));
    }

    #[test]
    fn rejects_numbers_that_cannot_be_compared() {
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(Action::new(bad, 0.0, Reversibility::Reversible).is_err());
            assert!(Action::new(0.0, bad, Reversibility::Reversible).is_err());
        }
        assert!(Action::new(0.0, -1.0, Reversibility::Reversible).is_err());
    }
}
