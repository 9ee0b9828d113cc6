#![doc = include_str!("../README.md")]

pub mod audit;
mod calibration;
#[cfg(unix)]
mod config;
mod cube;
mod domain;
mod evidence;
#[cfg(unix)]
mod execute;
mod fact;
#[cfg(target_os = "linux")]
mod file_gate;
#[cfg(unix)]
mod files;
#[cfg(not(unix))]
#[path = "files/unsupported.rs"]
mod files;
mod gate;
mod lines;
mod policy;
mod score;
mod support;

pub use calibration::{CalibrationFileError, GateCalibration, GateCalibrationError};
#[cfg(unix)]
pub use config::{ConfigurationError, ConfigurationProblem, GateConfiguration, Hidden};
pub use domain::{
    Answer, Candidate, Clarifications, Domain, DomainError, Frame, OfferedProbe, SideEffect,
};
pub use evidence::{
    About, Alternative, BeliefRule, ClaimedValues, DerivationError, EvidenceFileError,
    EvidenceLineProblem, EvidenceReader, EvidenceRecord, EvidenceSet, EvidenceStore,
    EvidenceStoreError, FactAlternatives, FieldProblem, HalfLifeError, ImpossibleTime,
    Inconsistency, MAX_ANCESTORS, MAX_EVIDENCE_LINE_BYTES, MAX_LABEL_BYTES, MAX_TEXT_BYTES,
    PolicyRole, Proposition, RecordFieldError, RecordJsonError, Source, SourceKind, ToolStatus,
    Trust, read_evidence, write_evidence,
};
#[cfg(unix)]
pub use execute::*;
pub use fact::{Assignment, Fact, FactError, Facts};
#[cfg(target_os = "linux")]
pub use file_gate::{
    Clarification, ClarificationAnswer, FileActionName, FileCandidate, FileDecision, FileDomain,
    FileDomainSettings, FileGate, FileGateError, FileGateParts, FileProposal, FileProposalError,
    FileProposalProblem, FileRequest, PATH_DETAILS,
};
#[cfg(unix)]
pub use files::*;
#[cfg(not(unix))]
pub use files::{FileError, Workspace};
pub use gate::{Asked, Decided, Gate, GateError, UNEXPECTED};
pub use policy::{
    ActionDescription, AttributeValue, BindError, Blocker, FILE_POLICIES, FILE_SCHEMA,
    ForeignWorld, Place, PolicyError, PolicyText, SafetyMap, SafetyPolicies, SafetyPolicy,
    SafetyTable,
};
pub use score::{ScoreTermError, ScoreWeights, Terms};
pub use support::{
    Belief, BeliefError, Cut, Exclusion, Impossible, LEFT_OUT, Region, Regions, SupportError,
};
