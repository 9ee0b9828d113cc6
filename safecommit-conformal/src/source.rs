//! Which cases a threshold came from.

use crate::digest::Digest;

/// The cases of a calibration, so that two of them that happen to agree in threshold, level and guarantee are
/// still told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// SHA-256 of their scores or losses.
    pub(crate) scores: Digest,
    pub(crate) n: u64,
    /// At most n; 0 if they were not counted.
    pub(crate) missing: u64,
    pub(crate) misses_counted: bool,
}
