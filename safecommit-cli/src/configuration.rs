//! The gate that a command is about: its configuration, its log, its key.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use safecommit_gate::audit::{AuditReader, LogKey, Redaction};
use safecommit_gate::{ConfigurationError, ConfigurationProblem, GateConfiguration};

use crate::cli::{ConfigurationArgument, NamedBy};

/// The name of a configuration, unless somebody gives it another.
pub(crate) const CONFIGURATION: &str = "safecommit.toml";

/// Reads the configuration that is meant.
pub(crate) fn load(argument: &ConfigurationArgument) -> Result<GateConfiguration> {
    let (file, named_by) = argument.file();
    GateConfiguration::load(&file).map_err(|error| match hint(&file, named_by, &error) {
        Some(hint) => anyhow!("{error}; {hint}"),
        None => error.into(),
    })
}

/// What to do about a configuration that is not there.
fn hint(file: &Path, named_by: NamedBy, error: &ConfigurationError) -> Option<String> {
    let ConfigurationProblem::Unreadable(cause) = error.problem() else {
        return None;
    };
    match (cause.kind(), named_by) {
        (ErrorKind::NotFound, NamedBy::Default) => Some(
            "name the configuration of a gate with --config or SAFECOMMIT_CONFIG, or make a gate with \
             `safecommit init --workspace DIR`"
                .to_owned(),
        ),
        (ErrorKind::NotFound, NamedBy::Environment) => {
            Some("SAFECOMMIT_CONFIG names it, and --config would name another".to_owned())
        }
        (ErrorKind::IsADirectory, _) => {
            let inside = file.join(CONFIGURATION);
            let hint = format!("the configuration in it is `{}`", inside.display());
            inside.is_file().then_some(hint)
        }
        _ => None,
    }
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
