//! What the controller is told beforehand: temperature, eta, lambda, budgets, rules.

mod digest;

use crate::probing::Probing;
use crate::problem::ProblemError;

/// The settings of a controller: the policy by which it decides. Two policies are told apart by their
/// [`digest`](Self::digest).
///
/// ```
/// use safecommit_core::{Budget, Settings};
///
/// let settings = Settings::default()
///     .with_temperature(0.25)?
///     .with_budget(Budget::probes(2));
/// assert_eq!(settings.budget().max_probes, Some(2));
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    temperature: f64,
    eta: f64,
    severity_weight: f64,
    budget: Budget,
    verification: Verification,
    probing: Probing,
    relative_scores: bool,
}

/// Whether budget that is left is spent on checking a certificate before it is used.
///
/// A certificate says that an action is safe in every *plausible* world. With probability up to alpha the
/// true world is proposed and yet not plausible, because its score is above the threshold; then the
/// certificate is about the wrong worlds. A truthful answer can show that, before an action that cannot
/// be undone. So with either form of verification:
///
/// - Only irreversible actions are verified. If the budget ends, the certificate stands: verification
///   asks more and never commits less safely, so the bound stays alpha + beta.
/// - When truthful answers have refuted every plausible world, the plausible set is *reopened*: it becomes
///   every proposed world that hard evidence and the answers leave. This is the one exception to the rule
///   that an empty plausible set falls back, and it is sound: the true world was not among the plausible
///   ones, so if it was proposed at all it is among those. A certificate in the reopened set is unsafe
///   only if the true world was never proposed, or an answer was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Verification {
    /// No probe is made once an action is certified, and an empty plausible set falls back: the rule of
    /// the paper.
    #[default]
    Never,
    /// Asks about the most plausible world left that a question can be asked about, the first of equals,
    /// until an answer confirms a world or the budget is spent.
    MostPlausible,
    /// Looks past the threshold: as long as the certified action is not safe in every proposed world that
    /// is left, makes the probe with the largest expected certificate shrinkage (Eq. 12) *over those
    /// worlds*, if that is worth its cost.
    ///
    /// That shrinkage is zero for every probe where some world allows no action at all, and then nothing is
    /// verified. Under [`Probing::SafetyInformation`] the probe is made that tells most about whether the certified
    /// action is safe, I(S; Y) / c for S that it is, in nats per unit cost.
    WholeSupport {
        /// What a probe has to exceed, per unit cost, as shrinkage or in nats: finite, at least zero. At zero
        /// every probe that can help is made; a larger price spends fewer probes.
        price: f64,
    },
}

/// What may be spent on probes in one decision; `None` is no limit.
///
/// ```
/// use safecommit_core::Budget;
///
/// let budget = Budget { max_cost: Some(5.0), ..Budget::probes(2) };
/// assert_eq!((budget.max_probes, budget.max_steps), (Some(2), None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Probes made, failed ones included.
    pub max_probes: Option<u32>,
    /// Sum of the costs of the probes made, failed ones included. A probe that would exceed it, by more
    /// than the rounding of such a sum, is not a candidate.
    pub max_cost: Option<f64>,
    /// Steps of time, in any unit that the runner counts: the controller reads no clock, so whoever
    /// drives it says how many steps have passed ([`crate::Controller::elapse`]).
    pub max_steps: Option<u64>,
}

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self = Self {
        max_probes: None,
        max_cost: None,
        max_steps: None,
    };

    /// At most `max_probes` probes.
    #[must_use]
    pub const fn probes(max_probes: u32) -> Self {
        Self {
            max_probes: Some(max_probes),
            ..Self::UNLIMITED
        }
    }
}

impl Default for Settings {
    /// Temperature 0.25, eta 0, severity weight 1, no limit on probes, no verification, probes chosen by
    /// expected certificate shrinkage per unit cost.
    fn default() -> Self {
        Self {
            temperature: 0.25,
            eta: 0.0,
            severity_weight: 1.0,
            budget: Budget::UNLIMITED,
            verification: Verification::Never,
            probing: Probing::Shrinkage,
            relative_scores: false,
        }
    }
}

impl Settings {
    /// Sets the temperature T of the mass w proportional to exp(-s / T).
    ///
    /// # Errors
    ///
    /// [`ProblemError::SettingInvalid`] unless finite and above zero.
    pub fn with_temperature(self, temperature: f64) -> Result<Self, ProblemError> {
        check("temperature", temperature, "finite, above 0", |value| {
            value > 0.0
        })?;
        Ok(Self {
            temperature,
            ..self
        })
    }

    /// Sets eta: probing stops when the best Delta / c is at most eta + 1e-12. What it means to other
    /// rules than [`Probing::Shrinkage`] is said there.
    ///
    /// # Errors
    ///
    /// [`ProblemError::SettingInvalid`] unless finite and at least zero.
    pub fn with_eta(self, eta: f64) -> Result<Self, ProblemError> {
        check("eta", eta, "finite, at least 0", |value| value >= 0.0)?;
        Ok(Self { eta, ..self })
    }

    /// Sets the weight lambda of severity in the release rule (Eq. 11).
    ///
    /// # Errors
    ///
    /// [`ProblemError::SettingInvalid`] unless finite and at least zero.
    pub fn with_severity_weight(self, severity_weight: f64) -> Result<Self, ProblemError> {
        check(
            "severity weight",
            severity_weight,
            "finite, at least 0",
            |value| value >= 0.0,
        )?;
        Ok(Self {
            severity_weight,
            ..self
        })
    }

    /// Sets the budget. A cost limit that is not a number allows no probe.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Sets whether certificates of irreversible actions are verified; see [`Verification`].
    ///
    /// # Errors
    ///
    /// [`ProblemError::SettingInvalid`] unless the price is finite and at least zero.
    pub fn with_verification(self, verification: Verification) -> Result<Self, ProblemError> {
        if let Verification::WholeSupport { price } = verification {
            check("price", price, "finite, at least 0", |value| value >= 0.0)?;
        }
        Ok(Self {
            verification,
            ..self
        })
    }

    /// Sets the rule that chooses the probes that are to certify an action.
    #[must_use]
    pub fn with_probing(self, probing: Probing) -> Self {
        Self { probing, ..self }
    }

    /// Sets whether scores say by how much a world is stranger than the best explanation.
    ///
    /// If so, the best explanation is the best that is *left*: when answers refute the better worlds, all others are so much
    /// less strange. With `P` the proposed worlds that hard evidence leaves and `U` those of them that the answers leave, the
    /// plausible set under the threshold `kappa` is
    ///
    /// ```text
    /// { w in U : s(w) - (min of s over U - min of s over P) <= kappa }
    /// ```
    ///
    /// up to 1e-9, in favour of the world; before any answer this is Eq. 4 of Akewar and Ranjan (arXiv:2608.04289). Otherwise whoever proposes something that
    /// is soon refuted could push hazards past the threshold.
    ///
    /// The set never loses a world by this, and a truthful answer never refutes the true world, so what a calibration on the
    /// scores as they were proposed promises of the plausible set holds all the more.
    #[must_use]
    pub fn with_relative_scores(self, relative_scores: bool) -> Self {
        Self {
            relative_scores,
            ..self
        }
    }

    /// Whether scores say by how much a world is stranger than the best explanation that is left.
    #[must_use]
    pub fn relative_scores(&self) -> bool {
        self.relative_scores
    }

    /// The rule that chooses the probes that are to certify an action.
    #[must_use]
    pub fn probing(&self) -> Probing {
        self.probing
    }

    /// Whether certificates of irreversible actions are verified.
    #[must_use]
    pub fn verification(&self) -> Verification {
        self.verification
    }

    /// Temperature T of the mass.
    #[must_use]
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The score at which probing is no longer worth its cost.
    #[must_use]
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// Weight lambda of severity in the release rule.
    #[must_use]
    pub fn severity_weight(&self) -> f64 {
        self.severity_weight
    }

    /// What may be spent on probes.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }
}

fn check(
    setting: &'static str,
    value: f64,
    range: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), ProblemError> {
    if value.is_finite() && holds(value) {
        Ok(())
    } else {
        Err(ProblemError::SettingInvalid {
            setting,
            value,
            range,
        })
    }
}
