//! Configurations: the text that explains itself, what is refused and where, and what is kept out of the workspace.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

mod files;
mod places;
mod refused;
mod text;

use std::fs;
use std::path::PathBuf;

use safecommit_gate::{ConfigurationError, GateConfiguration};
use tempfile::TempDir;

/// A folder with a workspace `project` and a configuration beside it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self(folder)
    }

    /// Without links, as the configuration knows it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn load(&self, text: &str) -> Result<GateConfiguration, ConfigurationError> {
        self.write("safecommit.toml", text);
        GateConfiguration::load(&self.path("safecommit.toml"))
    }

    pub(crate) fn with(&self, more: &str) -> Result<GateConfiguration, ConfigurationError> {
        self.load(&format!("{LEAST}{more}"))
    }
}

pub(crate) const LEAST: &str = "workspace = 'project'\nstate = 'state'\n";
