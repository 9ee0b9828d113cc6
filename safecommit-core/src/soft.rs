//! The soft certificate: a bound on residual mass, weaker than a hard one.

use thiserror::Error;

use crate::plausible::PlausibleSet;
use crate::units::Probability;

/// The finding that the residual mass mu(U(a)) of an action is at most rho.
///
/// The mass is a plausibility weight, not a calibrated probability: nothing bounds the rate of unsafe
/// commits under it. It is a type of its own, so it can never pass where a [`crate::Certificate`] is
/// asked for:
///
/// ```compile_fail
/// fn execute(_: safecommit_core::Certificate) {}
/// fn try_it(soft: safecommit_core::SoftCertificate) {
///     execute(soft);
/// }
/// ```
#[derive(Debug, PartialEq)]
pub struct SoftCertificate {
    action: usize,
    residual_mass: f64,
    tolerance: Probability,
}

/// An action whose residual mass exceeds the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("residual mass {residual_mass} of action {action} exceeds {}", .tolerance.value())]
pub struct ResidualTooLarge {
    /// The action.
    pub action: usize,
    /// mu(U(a)).
    pub residual_mass: f64,
    /// rho.
    pub tolerance: Probability,
}

impl PlausibleSet<'_> {
    /// The soft certificate of `action` at tolerance rho: mu(U(a)) <= rho.
    ///
    /// # Errors
    ///
    /// [`ResidualTooLarge`] with the mass.
    pub fn certify_softly(
        &self,
        action: usize,
        tolerance: Probability,
    ) -> Result<SoftCertificate, ResidualTooLarge> {
        let residual_mass = self.residual_mass(action);
        if residual_mass <= tolerance.value() {
            Ok(SoftCertificate {
                action,
                residual_mass,
                tolerance,
            })
        } else {
            Err(ResidualTooLarge {
                action,
                residual_mass,
                tolerance,
            })
        }
    }
}

impl SoftCertificate {
    /// Position of the action.
    #[must_use]
    pub fn action(&self) -> usize {
        self.action
    }

    /// mu(U(a)), in [0, rho].
    #[must_use]
    pub fn residual_mass(&self) -> f64 {
        self.residual_mass
    }

    /// rho.
    #[must_use]
    pub fn tolerance(&self) -> Probability {
        self.tolerance
    }
}
