//! What a controller is told of the probes that were made.

use thiserror::Error;

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Position of the probe.
    pub probe: usize,
    /// Position of its outcome; `None` if the probe failed.
    pub outcome: Option<usize>,
}

/// A report that makes no sense. The controller falls back from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// No such probe.
    #[error("probe {probe} is not declared")]
    UnknownProbe {
        /// Position that was reported.
        probe: usize,
    },
    /// The probe declares no such outcome.
    #[error("probe {probe} declares {outcomes} outcomes, not outcome {outcome}")]
    UndeclaredOutcome {
        /// Position of the probe.
        probe: usize,
        /// Position that was reported.
        outcome: usize,
        /// How many it declares.
        outcomes: usize,
    },
    /// The probe was reported before; repeating it would count one answer twice.
    #[error("probe {probe} was reported before")]
    ReportedTwice {
        /// Position of the probe.
        probe: usize,
    },
}
