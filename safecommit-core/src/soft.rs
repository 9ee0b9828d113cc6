//! The soft certificate: a bound on residual mass, weaker than a hard one.

use thiserror::Error;

use crate::plausible::PlausibleSet;
use crate::units::Probability;

/// The finding that the residual mass mu(U(a)) of an action is at most a tolerance rho in [0, 1]
/// (the soft variant of Definition 1 in Akewar and Ranjan, arXiv:2608.04289).
///
/// The mass is a plausibility weight, not a calibrated probability: nothing bounds the rate of unsafe
/// commits under it. It is a type of its own, so it can never pass where a [`crate::Certificate`] is
/// asked for. At rho = 0 it may still hold where the hard one does not: the weight of a world whose
/// score lies some 700 temperatures above the smallest is zero in floating point.
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Controller, Plausibility, Probability, Problem, Settings, Subject, Workspace,
/// };
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// let send = problem.add_action(Action::default())?;
/// problem.add_world(Score::ZERO, [send])?;
/// problem.add_world(Score::new(1.0)?, [])?;
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// let Plausibility::Plausible(plausible) = controller.plausible() else {
///     panic!("two worlds are plausible");
/// };
/// // The second world weighs exp(-1 / 0.25) against 1: about 1.8%.
/// assert!(plausible.certify_softly(send, Probability::new(0.02)?).is_ok());
/// assert!(plausible.certify_softly(send, Probability::new(0.01)?).is_err());
/// assert!(plausible.certify(send).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
