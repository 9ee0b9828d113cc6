#![doc = include_str!("../README.md")]

mod assemble;
pub mod audit;
mod calibration;
#[cfg(unix)]
mod config;
mod evidence;
#[cfg(unix)]
mod execute;
mod fact;
#[cfg(unix)]
mod files;
#[cfg(not(unix))]
#[path = "files/unsupported.rs"]
mod files;
mod policy;
mod score;
mod support;

pub use assemble::{AssembleError, Assembled, OfferedProbe};
pub use calibration::{CalibrationFileError, GateCalibration, GateCalibrationError};
#[cfg(unix)]
pub use config::{ConfigurationError, ConfigurationProblem, GateConfiguration, Hidden};
pub use evidence::{
    Alternative, ClaimedValues, DerivationError, EvidenceFileError, EvidenceLineProblem,
    EvidenceReader, EvidenceRecord, EvidenceSet, EvidenceStore, EvidenceStoreError,
    FactAlternatives, FieldProblem, ImpossibleTime, MAX_ANCESTORS, MAX_EVIDENCE_LINE_BYTES,
    MAX_LABEL_BYTES, MAX_TEXT_BYTES, PolicyRole, Proposition, RecordFieldError, RecordJsonError,
    Source, SourceKind, ToolStatus, Trust, read_evidence, write_evidence,
};
#[cfg(unix)]
pub use execute::*;
pub use fact::{Assignment, Fact, FactError, Facts};
#[cfg(unix)]
pub use files::*;
#[cfg(not(unix))]
pub use files::{FileError, Workspace};
pub use policy::{
    ActionDescription, AttributeValue, BindError, Blocker, FILE_POLICIES, FILE_SCHEMA,
    ForeignWorld, Place, PolicyError, PolicyText, SafetyMap, SafetyPolicies, SafetyPolicy,
    SafetyTable,
};
pub use score::{ScoreTermError, ScoreWeights, Terms};
pub use support::{
    Belief, BeliefError, Cut, Exclusion, Impossible, ProposedWorld, Support, SupportError,
};
