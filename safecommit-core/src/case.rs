//! A decision in names: the request as somebody writes it, and the decision record that answers it.

mod governing;
mod names;
mod outcome_rows;
mod record;
mod request;
mod subject;
mod validate;
mod write;

use safecommit_conformal::{Calibration, MondrianCalibration, Threshold};
use thiserror::Error;

use crate::certificate::{Certificate, CertificateError};
use crate::controller::{Controller, Step, Workspace};
use crate::problem::Problem;
use crate::report::ReportError;
use crate::settings::Settings;
use crate::units::Probability;

pub use outcome_rows::OutcomeRows;
pub use record::{
    ActionRecord, BoundRecord, CalibrationRecord, CertificateRecord, ClassRecord, DecisionKind,
    DecisionRecord, FallbackRecord, ProbeErrorRecord, ProbeRecord, RepresentationRecord,
    RepresentationSource, WorldFate, WorldRecord,
};
pub use request::{
    ActionProposal, Contradiction, Observation, OutcomeProposal, ProbeProposal, ProbingProposal,
    Request, SettingsProposal, VerificationProposal, WorldProposal,
};
pub use validate::{RequestError, RequestProblem};

use governing::Governing;
pub(crate) use governing::Ungoverned;
use names::Names;
use subject::Head;

/// A validated [`Request`]: the problem by position, with the names that go with it.
///
/// Its subject is the SHA-256 of the request in its canonical JSON form, so a certificate is bound to
/// every word of the request that it was given for.
///
/// ```
/// use safecommit_core::{Case, DecisionKind, Request};
///
/// let request: Request = serde_json::from_str(r#"{
///     "actions": [{"id": "delete"}, {"id": "move-to-trash", "reversible": true}],
///     "worlds": [
///         {"id": "temporary", "score": 0.1, "safe": ["delete", "move-to-trash"]},
///         {"id": "shared", "score": 0.3, "safe": ["move-to-trash"]}
///     ]
/// }"#)?;
/// let decision = Case::new(request)?.decide(None);
/// assert_eq!(decision.record().decision, DecisionKind::Commit);
/// assert_eq!(decision.record().action.as_deref(), Some("move-to-trash"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Case {
    request: Request,
    head: Head,
    problem: Problem,
    settings: Settings,
    observed: Vec<(usize, Option<usize>)>,
    outcomes: Vec<Names>,
    beta: Option<Probability>,
}

/// A decision: the record that explains it and, for a commit, the certificate that releases the
/// action.
#[derive(Debug)]
pub struct Decision {
    record: DecisionRecord,
    certificate: Option<Certificate>,
}

/// A controller that was not started from this case under this calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the controller was started from another case or under another threshold")]
pub struct ForeignController;

impl Case {
    /// Validates a request.
    ///
    /// # Errors
    ///
    /// [`RequestError`] with the path of the field, as in `worlds[2].safe[0]`.
    pub fn new(request: Request) -> Result<Self, RequestError> {
        validate::validate(request)
    }

    /// The same request with these reports of probes instead of its own, and with so many steps of the time budget spent:
    /// what [`Self::new`] makes of that request, without validating the rest of it again.
    ///
    /// ```
    /// use safecommit_core::{Case, Observation, Request};
    ///
    /// let request = r#"{"actions": [{"id": "delete"}],
    ///     "worlds": [{"id": "temporary", "score": 0.1, "safe": ["delete"]}, {"id": "shared", "score": 0.3, "safe": []}],
    ///     "probes": [{"id": "look", "cost": 1, "asks": "shared"}]}"#;
    /// let mut request: Request = serde_json::from_str(request)?;
    /// let observed = vec![Observation { probe: "look".to_owned(), outcome: Some("no".to_owned()) }];
    /// let case = Case::new(request.clone())?.with_observed(observed.clone(), 0)?;
    /// request.observed = observed;
    /// assert_eq!(case.decide(None).record(), Case::new(request)?.decide(None).record());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RequestError`] for a report that [`Self::new`] would refuse.
    pub fn with_observed(
        self,
        observed: Vec<Observation>,
        elapsed_steps: u64,
    ) -> Result<Self, RequestError> {
        validate::observe(self, observed, elapsed_steps)
    }

    /// Decides under `calibration`; without one the threshold is unbounded, and every proposed world
    /// that evidence does not refute stays plausible.
    ///
    /// A calibration for a group decides only requests of that very stratum: any other request, and one
    /// that names none, escalates ([`Fault::Stratum`]). One that is not for a group serves all. Likewise
    /// a calibration that bounds the loss of one policy decides only requests whose settings are that policy
    /// ([`Fault::OtherPolicy`]).
    ///
    /// [`Fault::Stratum`]: crate::Fault::Stratum
    /// [`Fault::OtherPolicy`]: crate::Fault::OtherPolicy
    #[must_use]
    pub fn decide(&self, calibration: Option<&Calibration>) -> Decision {
        self.decide_under(governing::one(&self.request, calibration))
    }

    /// Decides under the calibration of the request's stratum. A request that names no stratum, or one
    /// that the taxonomy does not declare, escalates ([`Fault::Stratum`](crate::Fault::Stratum)).
    ///
    /// A runner that makes probes itself takes [`MondrianCalibration::calibration`] of the request's
    /// stratum and goes on with [`Self::controller`].
    ///
    /// ```
    /// use safecommit_conformal::{Misses, MondrianCalibration, Score, Taxonomy};
    /// use safecommit_core::{Case, DecisionKind};
    ///
    /// let taxonomy = Taxonomy::new(["file".parse()?, "mail".parse()?])?;
    /// let cases = (1..=9)
    ///     .map(|i| Ok(("file".parse()?, Score::new(f64::from(i) / 10.0)?.into())))
    ///     .collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
    /// let calibrations =
    ///     MondrianCalibration::new("0.1".parse()?, taxonomy, &cases, Misses::AsListed)?;
    ///
    /// let request = r#"{"stratum": "file", "actions": [{"id": "delete"}],
    ///     "worlds": [{"id": "temporary", "score": 0.1, "safe": ["delete"]},
    ///                {"id": "shared", "score": 0.95, "safe": []}]}"#;
    /// let case = Case::new(serde_json::from_str(request)?)?;
    /// let decision = case.decide_among(&calibrations);
    /// assert_eq!(decision.record().threshold, Some(0.9));
    /// let certificate = decision.into_certificate().ok_or("no commit")?;
    /// assert_eq!(case.redeem_among(&calibrations, certificate, "delete")?, 0);
    ///
    /// let elsewhere = Case::new(serde_json::from_str(&request.replace("file", "admin"))?)?;
    /// let decision = elsewhere.decide_among(&calibrations);
    /// assert_eq!(decision.record().decision, DecisionKind::Escalate);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn decide_among(&self, calibrations: &MondrianCalibration) -> Decision {
        match governing::among(&self.request, calibrations) {
            Ok(calibration) => self.decide_under(Ok(Some(&calibration))),
            Err(error) => self.decide_under(Err(error)),
        }
    }

    fn decide_under(&self, governing: Governing<'_>) -> Decision {
        let mut workspace = Workspace::default();
        let mut controller = self.controller_under(&governing, &mut workspace);
        let step = controller.next_step();
        let record = write::write(self, &governing, &mut controller, &step);
        let certificate = match step {
            Step::Commit(certificate) => Some(certificate),
            Step::Probe(_) | Step::Fallback(_) => None,
        };
        Decision {
            record,
            certificate,
        }
    }

    /// The controller of this case, with everything observed so far reported to it. A runner that
    /// makes probes itself goes on from here. Under a calibration for another stratum than the
    /// request's it only escalates.
    pub fn controller<'a>(
        &'a self,
        calibration: Option<&'a Calibration>,
        workspace: &'a mut Workspace,
    ) -> Controller<'a> {
        self.controller_under(&governing::one(&self.request, calibration), workspace)
    }

    fn controller_under<'a>(
        &'a self,
        governing: &Governing<'a>,
        workspace: &'a mut Workspace,
    ) -> Controller<'a> {
        let threshold = threshold_of(governing);
        let mut controller = Controller::start(&self.problem, &self.settings, threshold, workspace);
        if let Err(ungoverned) = governing {
            controller.refuse_to_govern(ungoverned.clone());
        }
        for &(probe, outcome) in &self.observed {
            // A report that is refused makes the controller escalate with that reason.
            let _: Result<(), ReportError> = match outcome {
                Some(outcome) => controller.observe(probe, outcome),
                None => controller.probe_failed(probe),
            };
        }
        controller.elapse(self.request.elapsed_steps);
        controller
    }

    /// Writes the record of a controller that [`Self::controller`] started under `calibration`, at its
    /// present step.
    ///
    /// # Errors
    ///
    /// [`ForeignController`] for any other: the record would explain a decision that was never taken.
    pub fn record(
        &self,
        calibration: Option<&Calibration>,
        controller: &mut Controller<'_>,
    ) -> Result<DecisionRecord, ForeignController> {
        let governing = governing::one(&self.request, calibration);
        if !std::ptr::eq(controller.problem(), &self.problem)
            || !controller.threshold().is_same_as(threshold_of(&governing))
            || controller.refusal() != governing.as_ref().err()
        {
            return Err(ForeignController);
        }
        let step = controller.next_step();
        Ok(write::write(self, &governing, controller, &step))
    }

    /// The problem by position.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The request as it was given.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Gives a certificate up for the action named `action`, and returns its position. The case is
    /// decided again for that, under `calibration`, so that a certificate of a controller that was told
    /// something else does not pass.
    ///
    /// A case has no memory: decided twice, it gives two certificates, and each can be redeemed. Whoever
    /// executes has to remember which subjects were released.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] when it is for another case, action or threshold, which is that of these very
    /// calibration cases, or when it rests on other reports; the certificate is used up either way.
    pub fn redeem(
        &self,
        calibration: Option<&Calibration>,
        certificate: Certificate,
        action: &str,
    ) -> Result<usize, CertificateError> {
        self.redeem_under(
            &governing::one(&self.request, calibration),
            certificate,
            action,
        )
    }

    /// [`Self::redeem`] under the calibration of the request's stratum, for a certificate from
    /// [`Self::decide_among`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::redeem`]; [`CertificateError::NotCertified`] when no calibration is for the
    /// stratum.
    pub fn redeem_among(
        &self,
        calibrations: &MondrianCalibration,
        certificate: Certificate,
        action: &str,
    ) -> Result<usize, CertificateError> {
        match governing::among(&self.request, calibrations) {
            Ok(calibration) => self.redeem_under(&Ok(Some(&calibration)), certificate, action),
            Err(_) => Err(CertificateError::NotCertified),
        }
    }

    fn redeem_under(
        &self,
        governing: &Governing<'_>,
        certificate: Certificate,
        action: &str,
    ) -> Result<usize, CertificateError> {
        let position = self
            .request
            .actions
            .iter()
            .position(|candidate| candidate.id == action)
            .ok_or(CertificateError::NotCertified)?;
        let mut workspace = Workspace::default();
        self.controller_under(governing, &mut workspace)
            .redeem(certificate, position)
    }
}

impl Decision {
    /// What was decided and why.
    #[must_use]
    pub fn record(&self) -> &DecisionRecord {
        &self.record
    }

    /// The record, and the certificate of a commit.
    #[must_use]
    pub fn into_parts(self) -> (DecisionRecord, Option<Certificate>) {
        (self.record, self.certificate)
    }

    /// The certificate of a commit.
    #[must_use]
    pub fn into_certificate(self) -> Option<Certificate> {
        self.certificate
    }
}

fn threshold_of<'a>(governing: &Governing<'a>) -> &'a Threshold {
    match governing {
        Ok(Some(calibration)) => calibration.threshold(),
        Ok(None) | Err(_) => Threshold::unbounded(),
    }
}
