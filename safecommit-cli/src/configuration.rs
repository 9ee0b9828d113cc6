//! The gate that a command is about: its configuration, its log, its key.

use anyhow::{Context as _, Result};
use safecommit_gate::GateConfiguration;
use safecommit_gate::audit::{AuditReader, LogKey, Redaction};

use crate::cli::ConfigurationArgument;

/// Reads the configuration that is meant.
pub(crate) fn load(argument: &ConfigurationArgument) -> Result<GateConfiguration> {
    Ok(GateConfiguration::load(&argument.file())?)
}

/// The audit log of a gate.
pub(crate) fn open_log(configuration: &GateConfiguration) -> Result<AuditReader> {
    let log = configuration.log();
    AuditReader::open(log).with_context(|| log.display().to_string())
}

/// The key of its audit log.
pub(crate) fn read_key(configuration: &GateConfiguration) -> Result<LogKey> {
    Ok(LogKey::read(configuration.key())?)
}

/// How names are kept in its audit log; `None` if as they are. The key is read only if it is needed.
pub(crate) fn redaction(configuration: &GateConfiguration) -> Result<Option<Redaction>> {
    if configuration.hidden().next().is_none() {
        return Ok(None);
    }
    let key = read_key(configuration)?;
    Ok(configuration.redaction(key, None::<String>))
}
