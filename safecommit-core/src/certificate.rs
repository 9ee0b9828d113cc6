//! The hard certificate (Definition 1), sealed: invariant Sealed certificate.

use std::num::NonZeroUsize;

use safecommit_conformal::Threshold;
use thiserror::Error;

use crate::plausible::PlausibleSet;
use crate::problem::Subject;

/// Proof that one action is safe in every plausible world of one problem at one moment.
///
/// It comes only out of [`PlausibleSet::certify`], and so never out of an empty set; it cannot be
/// built, cloned or deserialised. Whoever executes an action takes it by value and redeems it
/// ([`crate::Controller::redeem`], [`crate::Case::redeem`]): that checks that it is for this very
/// subject, action and threshold, that the threshold has a guarantee if it excludes anything, that nothing
/// was reported since, no error either, and that the action is certified at that moment.
///
/// What it guarantees (Proposition 1 and Eq. 6 of Akewar and Ranjan, arXiv:2608.04289): if the
/// plausible set contains the true world with probability at least 1 - alpha and only certified actions
/// are committed, then P(unsafe commit) <= alpha, whatever the probe policy. The representation error
/// beta (Eq. 7) and the error rates of the probes used come on top; see [`crate::ErrorBound`].
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{Action, Controller, Problem, Settings, Step, Subject, Workspace};
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// let send = problem.add_action(Action::default())?;
/// problem.add_world(Score::ZERO, [send])?;
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// let Step::Commit(certificate) = controller.next_step() else {
///     panic!("sending is safe in the one world there is");
/// };
/// assert_eq!((certificate.action(), certificate.worlds().get()), (send, 1));
/// assert_eq!(controller.redeem(certificate, send)?, send);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has no public constructor:
///
/// ```compile_fail
/// let forged = safecommit_core::Certificate { action: 0 };
/// ```
///
/// and cannot be used twice:
///
/// ```compile_fail
/// fn twice(certificate: safecommit_core::Certificate) {
///     drop(certificate);
///     drop(certificate);
/// }
/// ```
///
/// nor copied, nor read back from a file:
///
/// ```compile_fail
/// fn copy(certificate: &safecommit_core::Certificate) -> safecommit_core::Certificate {
///     certificate.clone()
/// }
/// ```
///
/// ```compile_fail
/// let forged: safecommit_core::Certificate = serde_json::from_str("{}")?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, PartialEq)]
#[must_use = "a certificate releases an action only when it is redeemed"]
pub struct Certificate {
    subject: Subject,
    action: usize,
    worlds: NonZeroUsize,
    threshold: Threshold,
    observations: usize,
}

/// An action that is not safe in every plausible world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("action {action} is not safe in {blocking} plausible worlds")]
pub struct Uncertified {
    /// The action.
    pub action: usize,
    /// In how many plausible worlds it is not safe; at least one.
    pub blocking: usize,
}

/// Why a certificate was refused at execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It certifies something in another problem.
    #[error("the certificate is about another subject")]
    OtherSubject,
    /// It certifies another action.
    #[error("the certificate is for action {certified}, not for action {asked}")]
    OtherAction {
        /// What it certifies.
        certified: usize,
        /// What was to be executed.
        asked: usize,
    },
    /// It was evaluated under another threshold.
    #[error("the certificate was evaluated under another threshold")]
    OtherThreshold,
    /// The threshold is a trial: it excludes worlds by their score and promises nothing
    /// ([`Threshold::is_trial`]).
    #[error("the threshold is finite and promises nothing: it is only tried out")]
    NoGuarantee,
    /// Something was observed after it was issued.
    #[error("the certificate is stale: {since} reports came in since it was issued")]
    Stale {
        /// How many reports came in since.
        since: usize,
    },
    /// An action was released on this decision already: what it changed calls for a new decision.
    #[error("an action was released on this decision already")]
    ReleasedBefore,
    /// The action is not certified in the present plausible set, or an error was reported.
    #[error("the action is not certified at present")]
    NotCertified,
}

impl PlausibleSet<'_> {
    /// The certificate of `action`, if it is safe in every plausible world.
    ///
    /// # Errors
    ///
    /// [`Uncertified`] with the number of worlds that block it.
    pub fn certify(&self, action: usize) -> Result<Certificate, Uncertified> {
        let blocking = self.uncertified_region(action).count();
        if blocking > 0 {
            return Err(Uncertified { action, blocking });
        }
        Ok(Certificate {
            subject: self.problem().subject(),
            action,
            worlds: self.size(),
            threshold: self.threshold().clone(),
            observations: self.observations(),
        })
    }
}

impl Certificate {
    /// The part of redeeming that the certificate can check on its own; only the controller knows
    /// whether an error was reported, which is why this is not public.
    pub(crate) fn redeem(
        self,
        subject: Subject,
        action: usize,
        observations: usize,
    ) -> Result<usize, CertificateError> {
        if self.subject != subject {
            return Err(CertificateError::OtherSubject);
        }
        if self.action != action {
            return Err(CertificateError::OtherAction {
                certified: self.action,
                asked: action,
            });
        }
        if self.observations != observations {
            return Err(CertificateError::Stale {
                since: observations.abs_diff(self.observations),
            });
        }
        Ok(self.action)
    }

    /// What the certificate is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Position of the certified action.
    #[must_use]
    pub fn action(&self) -> usize {
        self.action
    }

    /// In how many plausible worlds the action was found safe.
    #[must_use]
    pub fn worlds(&self) -> NonZeroUsize {
        self.worlds
    }

    /// The threshold of the plausible set, with what it promises: level and guarantee of the calibration
    /// that it came out of. Unbounded and without either if nothing was excluded by its score; finite and
    /// without either for a trial, whose certificate nobody redeems.
    #[must_use]
    pub fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// How many reports (answers and failures of probes) had come in.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.observations
    }
}
