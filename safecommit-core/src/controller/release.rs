//! What releases an action, and what keeps a case from being decided at all.

use super::Controller;
use crate::case::Ungoverned;
use crate::certificate::{Certificate, CertificateError};
use crate::fallback::Fault;
use crate::plausible::Plausibility;

impl Controller<'_> {
    /// Gives `certificate` up for `action`, if it is for that very action of this very problem, under
    /// this threshold, which is no [trial](safecommit_conformal::Threshold::is_trial), nothing was reported
    /// since, the action is still certified, and no action was released by this controller before. Another controller on the same problem knows nothing of that:
    /// across decisions, whoever executes has to remember which subjects were released.
    ///
    /// # Errors
    ///
    /// [`CertificateError`]; the certificate is used up either way.
    pub fn redeem(
        &mut self,
        certificate: Certificate,
        action: usize,
    ) -> Result<usize, CertificateError> {
        if self.threshold.is_trial() {
            return Err(CertificateError::NoGuarantee);
        }
        if !certificate
            .threshold()
            .is_same_as(self.threshold_in_force())
        {
            return Err(CertificateError::OtherThreshold);
        }
        let action =
            certificate.redeem(self.problem.subject(), action, self.workspace.history.len())?;
        if self.workspace.released {
            return Err(CertificateError::ReleasedBefore);
        }
        match self.view() {
            Plausibility::Plausible(plausible) if plausible.certified().contains(action) => {
                self.workspace.released = true;
                Ok(action)
            }
            _ => Err(CertificateError::NotCertified),
        }
    }

    /// Reports that no calibration at hand governs the case, and remembers why.
    pub(crate) fn refuse_to_govern(&mut self, refusal: Ungoverned) {
        self.fail(Fault::Stratum);
        self.refusal = Some(refusal);
    }

    /// Why no calibration governs the case that it was started for; whether or not a
    /// [`fault`](Self::fail) was reported too.
    pub(crate) fn refusal(&self) -> Option<&Ungoverned> {
        self.refusal.as_ref()
    }
}
