//! The version of a saved state.

use serde::{Deserialize, Serialize};

/// The format version of a saved state: written as the number 1, and no other number loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub(crate) struct FormatOne;

/// A saved state of a version that this release does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `format`: version `{found}` is not known, 1 is")]
pub(crate) struct FormatError {
    found: u64,
}

impl TryFrom<u64> for FormatOne {
    type Error = FormatError;

    fn try_from(found: u64) -> Result<Self, FormatError> {
        if found == 1 {
            Ok(Self)
        } else {
            Err(FormatError { found })
        }
    }
}

impl From<FormatOne> for u64 {
    fn from(_: FormatOne) -> Self {
        1
    }
}
