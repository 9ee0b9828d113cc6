//! A workspace with a gate beside it.

use std::path::PathBuf;

use jiff::Timestamp;
use safecommit_core::DecisionKind;
use safecommit_gate::audit::{AuditLog, LogKey};
use safecommit_gate::{
    BeliefRule, Clarifications, Deletion, FileDecision, FileDomainSettings, FileGate,
    FileGateError, FileGateParts, FileProbe, FileProposal, FileQuestion, FileRequest, FileSettings,
    Gate, GateCalibration, SafetyPolicies, Workspace,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// `workspace` and, outside it, `outside`, `state`, and the log.
pub(crate) struct Scene {
    pub(crate) base: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        for name in ["workspace", "outside"] {
            std::fs::create_dir(base.path().join(name)).unwrap();
        }
        std::fs::write(base.path().join("outside/shared"), "results").unwrap();
        Self { base }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.base.path().join("workspace").join(below)
    }

    pub(crate) fn write(&self, below: &str, content: &str) {
        std::fs::create_dir_all(self.path(below).parent().unwrap()).unwrap();
        std::fs::write(self.path(below), content).unwrap();
    }

    pub(crate) fn link(&self, below: &str, to: &str) {
        std::fs::create_dir_all(self.path(below).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, self.path(below)).unwrap();
    }

    pub(crate) fn key(&self) -> LogKey {
        LogKey::from_bytes([7; 32])
    }

    pub(crate) fn log(&self) -> (PathBuf, PathBuf) {
        (
            self.base.path().join("audit.db"),
            self.base.path().join("audit.head"),
        )
    }

    pub(crate) fn domain(&self) -> FileDomainSettings {
        FileDomainSettings {
            probes: FileQuestion::ALL.map(FileProbe::new).to_vec(),
            files: FileSettings::new().unwrap(),
            clarifications: Clarifications::default(),
            beliefs: BeliefRule::default(),
            severity: [1.0, 0.8, 0.4, 0.2],
            deletion: Deletion::Trash,
            principal: "agent".to_owned(),
            guarded: Vec::new(),
        }
    }

    pub(crate) fn gate(&self) -> FileGate {
        self.gate_with(self.domain(), None, |gate| gate)
    }

    pub(crate) fn gate_with(
        &self,
        domain: FileDomainSettings,
        calibration: Option<GateCalibration>,
        change: impl FnOnce(Gate) -> Gate,
    ) -> FileGate {
        self.try_gate_with(domain, calibration, change).unwrap()
    }

    pub(crate) fn try_gate_with(
        &self,
        domain: FileDomainSettings,
        calibration: Option<GateCalibration>,
        change: impl FnOnce(Gate) -> Gate,
    ) -> Result<FileGate, FileGateError> {
        let (path, head) = self.log();
        let log = if path.exists() {
            AuditLog::open(&path, &head, self.key())
        } else {
            AuditLog::create(&path, &head, self.key())
        };
        FileGate::new(FileGateParts {
            gate: change(Gate::new(SafetyPolicies::for_files().unwrap())),
            domain,
            workspace: Workspace::open(self.path("")).unwrap(),
            state: self.base.path().join("state"),
            log: log.unwrap(),
            key: self.key(),
            calibration,
        })
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

pub(crate) fn request(value: Value) -> FileRequest {
    let proposal: FileProposal = serde_json::from_str(&value.to_string()).unwrap();
    proposal.check([]).unwrap()
}

/// A request of one action without evidence.
pub(crate) fn one(decision: &str, action: Value) -> FileRequest {
    request(json!({"decision": decision, "actions": [action]}))
}

/// The action that was committed, or how the decision fell back.
pub(crate) fn outcome(decision: &FileDecision) -> Result<String, DecisionKind> {
    let record = decision.record();
    record.action.clone().ok_or(record.decision)
}
