//! Files on a system without handles of directories to resolve paths by.

use std::path::Path;

#[path = "error.rs"]
mod error;

pub use error::FileError;

/// An open directory beneath which actions may have effects; there is none on this system.
#[derive(Debug)]
pub enum Workspace {}

impl Workspace {
    /// Refuses to open anything.
    ///
    /// # Errors
    ///
    /// [`FileError::NotSupported`].
    pub fn open(_: impl AsRef<Path>) -> Result<Self, FileError> {
        Err(FileError::NotSupported)
    }
}
