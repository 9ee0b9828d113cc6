//! A gate as its configuration says.

use super::details::PATH_DETAILS;
use super::domain::FileDomainSettings;
use super::release::{FileGate, FileGateError, FileGateParts};
use crate::audit::{AuditLog, LogKey};
use crate::config::{ConfigurationError, GateConfiguration};
use crate::evidence::BeliefRule;
use crate::files::{FileQuestion, Workspace};
use crate::gate::Gate;

impl FileGate {
    /// The gate of a configuration, with its log.
    ///
    /// # Errors
    ///
    /// [`FileGateError`] for policies that do not hold, a schema that asks of file actions what they do not have, a
    /// calibration, a key or a log that cannot be used, and a calibration of another version of the score.
    pub fn open(configuration: &GateConfiguration) -> Result<Self, FileGateError> {
        let key = LogKey::read(configuration.key())?;
        let log = AuditLog::open(configuration.log(), configuration.head(), key.clone());
        let mut log = log.map_err(|error| FileGateError::Log {
            path: configuration.log().to_owned(),
            error,
        })?;
        if let Some(redaction) = configuration.redaction(key.clone(), PATH_DETAILS) {
            log = log.with_redaction(redaction);
        }
        let gate = Gate::new(configuration.policies()?)
            .with_weights(*configuration.weights())
            .with_max_worlds(configuration.max_worlds())
            .with_max_side_effect(configuration.max_side_effect())
            .with_settings(configuration.settings());
        let severity = |action| configuration.severity(action).unwrap_or(1.0);
        let domain = FileDomainSettings {
            probes: FileQuestion::ALL
                .map(|question| configuration.probe(question))
                .to_vec(),
            files: configuration.file_settings(),
            clarifications: configuration.clarifications(),
            beliefs: BeliefRule::with_half_life(configuration.half_life_days())?,
            deletion: configuration.deletion(),
            severity: ["delete", "overwrite", "move", "write"].map(severity),
            principal: configuration.principal().to_owned(),
            guarded: configuration.guarded_paths().to_vec(),
        };
        let opened = Self::new(FileGateParts {
            gate,
            domain,
            workspace: Workspace::open(configuration.workspace())?,
            state: configuration.state().to_owned(),
            log,
            key,
            calibration: configuration.calibration()?,
        });
        opened.map_err(|error| match error {
            FileGateError::Policy(error) => {
                ConfigurationError::of_file(configuration.file(), error.into()).into()
            }
            other => other,
        })
    }
}
