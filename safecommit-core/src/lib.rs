//! Certificates over plausible worlds.
#![doc = ""]

mod action;
mod attribution;
mod bound;
mod case;
mod certificate;
mod controller;
mod fallback;
mod plausible;
mod probe;
mod problem;
mod robust;
mod settings;
mod shrinkage;
mod signature;
mod soft;
mod units;

pub use action::{Action, Reversibility, release};
pub use attribution::{Failure, FailureCause, attribute};
pub use bound::{ErrorBound, RepresentationTerm};
pub use case::{
    ActionProposal, ActionRecord, BoundRecord, CalibrationRecord, Case, CertificateRecord,
    ClassRecord, Contradiction, Decision, DecisionKind, DecisionRecord, FallbackRecord,
    ForeignController, Observation, OutcomeProposal, ProbeErrorRecord, ProbeProposal, ProbeRecord,
    RepresentationRecord, RepresentationSource, Request, RequestError, RequestProblem,
    SettingsProposal, WorldFate, WorldProposal, WorldRecord,
};
pub use certificate::{Certificate, CertificateError, Uncertified};
pub use controller::{Controller, Fate, Report, ReportError, Step, Workspace};
pub use fallback::{Fallback, FallbackKind, Fault, Reason, Stop};
pub use plausible::{Plausibility, PlausibleSet, SafetyClass};
pub use probe::{NO, OutcomeModel, PROBABILITY_SUM_TOLERANCE, Probe, YES};
pub use problem::{Problem, ProblemError, Situation, Subject};
pub use robust::{Atom, DroppedAtoms, EvidenceAtoms, NotRobust, Perturbation, RobustCertificate};
pub use settings::{Budget, Settings};
pub use shrinkage::{ProbeChoice, SCORE_TOLERANCE};
pub use signature::{ActionSet, Signature, SignatureMatrix};
pub use soft::{ResidualTooLarge, SoftCertificate};
pub use units::{Cost, Probability};
