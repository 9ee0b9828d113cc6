//! The version of a saved state.

use serde::{Deserialize, Serialize};

/// The format version of a saved state: written as the number `N`, and no other number loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub(crate) struct Format<const N: u64>;

/// A saved state of a version that this release does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `format`: version `{found}` is not known, {known} is")]
pub(crate) struct FormatError {
    found: u64,
    known: u64,
}

impl<const N: u64> TryFrom<u64> for Format<N> {
    type Error = FormatError;

    fn try_from(found: u64) -> Result<Self, FormatError> {
        if found == N {
            Ok(Self)
        } else {
            Err(FormatError { found, known: N })
        }
    }
}

impl<const N: u64> From<Format<N>> for u64 {
    fn from(_: Format<N>) -> Self {
        N
    }
}
