//! From a proposal about files to a recorded decision and a released effect.

mod describe;
mod details;
mod domain;
mod facts;
mod open;
mod proposal;
mod release;

pub use details::PATH_DETAILS;
pub use domain::{FileDomain, FileDomainSettings};
pub use proposal::{
    Clarification, ClarificationAnswer, FileActionName, FileCandidate, FileProposal,
    FileProposalError, FileProposalProblem, FileRequest,
};
pub use release::{FileDecision, FileGate, FileGateError, FileGateParts};
