#![doc = include_str!("../README.md")]
//!
//! # Named invariants
//!
//! Comments cite these where the code relies on them.
//!
//! - **Sealed certificate.** A [`Certificate`] only comes out of evaluating a non-empty plausible set: it
//!   has no public constructor, no `Clone` and no `Deserialize`, and is redeemed by value for one subject,
//!   action, threshold and moment. A [`SoftCertificate`] and a [`RobustCertificate`] are other types.
//! - **No vacuous truth.** An empty plausible set is a variant of its own, [`Plausibility::Empty`], and
//!   escalates: in an empty set everything would be safe.
//! - **Threshold from calibration.** Nothing is released unless the [`PlausibleSet`] was cut with a threshold
//!   out of a calibration, or with none: `safecommit_conformal::Threshold` has no public constructor, and
//!   the one that is only tried out (`RiskCurve::replay`) promises nothing and is refused by
//!   [`Controller::redeem`]. A threshold that bounds the loss of one policy decides under no other
//!   ([`Fault::OtherPolicy`]).
//! - **Sans I/O.** The [`Controller`] is a state machine: it is told outcomes and returns the next
//!   [`Step`]. It reads no file, no clock and no random number.
//! - **Errors never commit.** A wrong report, a score that is not a number, a support that lost a world,
//!   a policy that did not evaluate: from then on every step is a [`Fallback`] that says so, and no
//!   plausible set is handed out ([`Plausibility::Faulty`]).

mod action;
mod attribution;
mod bound;
mod case;
mod certificate;
mod controller;
mod fallback;
mod plausible;
mod probe;
mod probing;
mod problem;
mod replay;
mod report;
mod robust;
mod settings;
mod shrinkage;
mod signature;
mod soft;
mod units;

pub use action::{Action, Reversibility, release};
pub use attribution::{Failure, FailureCause, attribute};
pub use bound::{CountedMisses, ErrorBound, RepresentationTerm};
pub use case::{
    ActionProposal, ActionRecord, BoundRecord, CalibrationRecord, Case, CertificateRecord,
    ClassRecord, Contradiction, Decision, DecisionKind, DecisionRecord, FallbackRecord,
    ForeignController, Observation, OutcomeProposal, OutcomeRows, ProbeErrorRecord, ProbeProposal,
    ProbeRecord, ProbingProposal, RepresentationRecord, RepresentationSource, Request,
    RequestError, RequestProblem, SettingsProposal, VerificationProposal, WorldFate, WorldProposal,
    WorldRecord,
};
pub use certificate::{Certificate, CertificateError, Uncertified};
pub use controller::{Controller, Fate, Step, Workspace};
pub use fallback::{Fallback, FallbackKind, Fault, Reason, Stop};
pub use plausible::{Plausibility, PlausibleSet, SafetyClass};
pub use probe::{NO, OutcomeModel, PROBABILITY_SUM_TOLERANCE, Probe, YES};
pub use probing::{ExpectedProbing, NoExpectation, ProbeRule, Probing, expected_probing};
pub use problem::{Problem, ProblemError, Situation, Subject};
pub use replay::{AuditedCase, unsafe_commit_curve};
pub use report::{Report, ReportError};
pub use robust::{Atom, DroppedAtoms, EvidenceAtoms, NotRobust, Perturbation, RobustCertificate};
pub use settings::{Budget, Settings, Verification};
pub use shrinkage::{ProbeChoice, Purpose, SCORE_TOLERANCE};
pub use signature::{ActionSet, Signature, SignatureMatrix};
pub use soft::{ResidualTooLarge, SoftCertificate};
pub use units::{Cost, Probability};
