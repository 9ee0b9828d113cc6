//! Decides, records, releases.

use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use safecommit_conformal::Stratum;
use safecommit_core::{DecisionKind, DecisionRecord};

use super::describe::check_policies;
use super::details::{PATH_DETAILS, details, inconsistency_details, remarks};
use super::domain::{FAMILY, FileDomain, FileDomainSettings};
use super::proposal::FileRequest;
use crate::audit::{
    Appended, AuditError, AuditLog, Group, KeyError, LogKey, UsedCalibration, Versions,
};
use crate::calibration::{GateCalibration, GateCalibrationError};
use crate::config::{ConfigurationError, GateConfiguration};
use crate::evidence::{EvidenceRecord, HalfLifeError, Inconsistency, Trust};
use crate::execute::{
    ActionError, Authority, ExecuteError, Executor, Probed, Proposal, Receipt, ReleaseContext,
};
use crate::files::{FileError, Workspace, score_version};
use crate::gate::{Asked, Decided, Gate, GateError, LEFT_OUT_FOR_OTHERS};
use crate::policy::PolicyError;

/// Stands between an agent and the files of a workspace: decides what it proposes, records the decision, and releases what
/// was certified.
///
/// ```
/// use std::os::unix::fs::DirBuilderExt as _;
///
/// use jiff::Timestamp;
/// use safecommit_gate::audit::{AuditLog, LogKey};
/// use safecommit_gate::{FileGate, FileProposal, GateConfiguration};
///
/// // What `safecommit init` does.
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir_all(folder.path().join("project/run/latest"))?;
/// let file = folder.path().join("safecommit.toml");
/// std::fs::write(&file, GateConfiguration::text("project", "state"))?;
/// let configuration = GateConfiguration::load(&file)?;
/// std::fs::DirBuilder::new().mode(0o700).create(configuration.state())?;
/// let key = LogKey::create(configuration.key())?;
/// AuditLog::create(configuration.log(), configuration.head(), key)?;
///
/// let proposal = r#"{"decision": "clean-1", "actions": [{"action": "delete", "path": "run/latest"}]}"#;
/// let request = serde_json::from_str::<FileProposal>(proposal)?.check([])?;
/// let mut gate = FileGate::open(&configuration)?;
/// let decision = gate.decide(&request, Timestamp::now())?;
/// assert_eq!(decision.record().action.as_deref(), Some("delete-1"));
/// gate.release(decision)?;
/// assert!(!folder.path().join("project/run/latest").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileGate {
    gate: Gate,
    domain: FileDomainSettings,
    workspace: Workspace,
    state: PathBuf,
    executor: Option<Executor>,
    log: AuditLog,
    key: LogKey,
    calibration: Option<GateCalibration>,
    calibration_version: Option<String>,
    versions: Versions,
}

/// What a [`FileGate`] is made of.
#[derive(Debug)]
pub struct FileGateParts {
    /// Policies, weights, bound of the support, settings of the controller.
    pub gate: Gate,
    /// Probes, beliefs, what is guarded.
    pub domain: FileDomainSettings,
    /// Where actions may have effects.
    pub workspace: Workspace,
    /// The state directory of the executor, outside the workspace.
    pub state: PathBuf,
    /// Where decisions are recorded.
    pub log: AuditLog,
    /// The key of the log.
    pub key: LogKey,
    /// Without one the threshold is unbounded: every hazard has to be probed away.
    pub calibration: Option<GateCalibration>,
}

/// A decision that was recorded.
#[derive(Debug)]
pub struct FileDecision {
    decided: Decided,
    proposal: Proposal,
    probed: Vec<Result<Probed, String>>,
    questions: Vec<(String, String)>,
    inconsistencies: Vec<Inconsistency>,
    appended: Appended,
}

/// Why there is no recorded decision, or no effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileGateError {
    /// The configuration, or what it names, cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The key of the log cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The log cannot be opened.
    #[error("{}", of_log(path, error))]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        #[source]
        error: AuditError,
    },
    /// The half life of evidence is none.
    #[error(transparent)]
    HalfLife(#[from] HalfLifeError),
    /// The workspace cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The schema asks of file actions what they do not have.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The calibration is for another score, or none.
    #[error(transparent)]
    Calibration(#[from] GateCalibrationError),
    /// The proposal has no canonical form.
    #[error(transparent)]
    Action(#[from] ActionError),
    /// There is no decision.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The decision could not be recorded, so nothing may be released.
    #[error("the decision was not recorded: {0}")]
    Audit(#[from] AuditError),
    /// The decision is not to commit.
    #[error("the decision is not to commit, so nothing is released")]
    NoCommit,
    /// The effect was refused, or failed.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

/// The error of a log, which names it once.
fn of_log(path: &Path, error: &AuditError) -> String {
    let (path, error) = (path.display().to_string(), error.to_string());
    if error.contains(&format!("`{path}`")) {
        error
    } else {
        format!("{path}: {error}")
    }
}

impl FileGate {
    /// A gate of these parts.
    ///
    /// # Errors
    ///
    /// [`FileGateError::Policy`] for a schema that asks of file actions what they do not have, and
    /// [`FileGateError::Calibration`] for a calibration of another version of the score.
    pub fn new(parts: FileGateParts) -> Result<Self, FileGateError> {
        check_policies(parts.gate.policies(), &parts.domain.principal)?;
        let versions = Versions {
            program: concat!("safecommit-gate ", env!("CARGO_PKG_VERSION")).to_owned(),
            policy: Some(parts.gate.policies().version()),
            score: Some(score_version(
                parts.gate.weights(),
                parts.domain.beliefs.half_life(),
                parts.gate.policies(),
                parts.domain.deletion,
            )),
        };
        if let Some(calibration) = &parts.calibration {
            calibration.serves(versions.score.as_deref().unwrap_or_default())?;
        }
        let digest = parts.calibration.as_ref().map(GateCalibration::digest);
        let digest = digest.transpose()?;
        Ok(Self {
            calibration_version: digest.map(|digest| digest.to_string()),
            gate: parts.gate,
            domain: parts.domain,
            workspace: parts.workspace,
            state: parts.state,
            executor: None,
            log: parts.log,
            key: parts.key,
            calibration: parts.calibration,
            versions,
        })
    }

    /// Decides a request at `now`, and records the decision. When this returns the record is on the medium.
    ///
    /// # Errors
    ///
    /// [`FileGateError`]; then nothing was decided, or nothing recorded, and nothing can be released.
    pub fn decide(
        &mut self,
        request: &FileRequest,
        now: Timestamp,
    ) -> Result<FileDecision, FileGateError> {
        // What a candidate is about may be a large tree, and finding that out is part of the decision.
        let begun = Instant::now();
        let time = self.gate.time_budget();
        let until = time.and_then(|time| begun.checked_add(time));
        let group = self.group(request);
        let proposal = self.proposal(request)?;
        let mut domain = FileDomain::until(&self.workspace, &self.domain, request, until);
        let asked = Asked {
            id: proposal.request_id(),
            stratum: self.stratum(request, &group),
            authority_missing: request.authority_missing,
            fresh_evidence_expected: request.fresh_evidence_expected,
            begun: Some(begun),
            ..Asked::default()
        };
        let used = used(self.calibration.as_ref());
        let decided = self.gate.decide(&mut domain, &asked, used, now)?;
        let actions = 0..proposal.actions().len();
        let probed = actions
            .map(|action| domain.probed(action).cloned().map_err(str::to_owned))
            .collect();
        let mut entry = decided.entry(request.decision.clone(), now);
        entry.versions = self.versions.clone();
        entry.group = group;
        entry.details.extend(details(request, &proposal, &domain));
        entry.details.extend(remarks(request, &decided));
        let inconsistencies = domain.inconsistencies(now);
        entry
            .details
            .extend(inconsistency_details(&inconsistencies));
        let questions = request.clarifications.iter();
        let questions = questions.map(|(asked, _)| (asked.id.clone(), asked.question.clone()));
        let questions: Vec<(String, String)> = questions.collect();
        let paths = domain.targets().map(|path| path.as_str());
        let asked = questions.iter().map(|(id, _)| id.as_str());
        let appended = self
            .log
            .append_hiding(&entry, used, PATH_DETAILS, paths, asked)?;
        Ok(FileDecision {
            decided,
            proposal,
            probed,
            questions,
            inconsistencies,
            appended,
        })
    }

    /// Causes the effect that a decision released.
    ///
    /// # Errors
    ///
    /// [`FileGateError::NoCommit`] for a decision that is not to commit; [`FileGateError::Execute`] if the certificate does
    /// not hold for what is there now, or the effect failed: it says whether anything was changed.
    pub fn release(&mut self, decision: FileDecision) -> Result<Receipt, FileGateError> {
        let FileDecision {
            decided,
            proposal,
            probed,
            ..
        } = decision;
        let record = decided.record();
        let mut names = record.actions.iter();
        let action = names.position(|action| Some(&action.id) == record.action.as_ref());
        let (case, certificate) = decided.into_certificate();
        let (Some(certificate), Some(action)) = (certificate, action) else {
            return Err(FileGateError::NoCommit);
        };
        let Some(Ok(probed)) = probed.get(action) else {
            return Err(FileGateError::NoCommit);
        };
        let authority = match used(self.calibration.as_ref()) {
            UsedCalibration::None => Authority::Case {
                case: &case,
                calibration: None,
            },
            UsedCalibration::One(one) => Authority::Case {
                case: &case,
                calibration: Some(one),
            },
            UsedCalibration::ByStratum(all) => Authority::CaseAmong {
                case: &case,
                calibrations: all,
            },
        };
        let executor = match &mut self.executor {
            Some(executor) => executor,
            None => {
                let workspace = Workspace::open(self.workspace.path())?;
                let limits = self.domain.files.limits;
                let opened = Executor::open_with(workspace, &self.state, limits)?;
                self.executor.insert(opened)
            }
        };
        Ok(executor.execute(certificate, authority, &proposal, action, probed)?)
    }

    /// The version of the score of worlds: of weights, beliefs, policies. A threshold that was calibrated under another one
    /// governs nothing here.
    #[must_use]
    pub fn score_version(&self) -> &str {
        self.versions.score.as_deref().unwrap_or_default()
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &AuditLog {
        &self.log
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    fn proposal(&self, request: &FileRequest) -> Result<Proposal, FileGateError> {
        let context = ReleaseContext {
            decision: request.decision.clone(),
            tool: request.tool.clone(),
            directory: self.workspace.path().display().to_string(),
            principal: self.domain.principal.clone(),
            policy_version: self.versions.policy.clone().unwrap_or_default(),
            calibration_version: self.calibration_version.clone(),
            deletion: self.domain.deletion,
            evidence: self.key.evidence_digest(&request.evidence),
        };
        Ok(Proposal::new(
            context,
            request.actions().cloned().collect(),
        )?)
    }

    /// What the decision is grouped by: the gravest candidate, and the least trust of the evidence that came from whoever
    /// runs the gate.
    fn group(&self, request: &FileRequest) -> Group {
        let grave = request
            .actions()
            .map(|action| self.domain.severity_of(action));
        let grave = grave.fold(0.0, f64::max);
        let severity = GateConfiguration::severity_group(grave);
        // Evidence that the agent adds must not move its request to another group: what is derived from it is trusted like what
        // nobody knows the source of, whatever it says of itself.
        let trust = |id: &String| {
            let ancestors = request.evidence.ancestors_of(id);
            let foreign = |record: &&EvidenceRecord| !request.of_host.contains(record.id());
            match ancestors.iter().any(foreign) {
                true => Some(Trust::Unknown),
                false => request.evidence.trust_of(id),
            }
        };
        let least = request.of_host.iter().filter_map(trust).min();
        let source = match least {
            None => "none",
            Some(Trust::Unknown) => "unknown",
            Some(Trust::Tool) => "tool",
            Some(Trust::Memory) => "memory",
            Some(Trust::Observation) => "observation",
            Some(Trust::User) => "user",
            Some(Trust::Policy) => "policy",
        };
        Group {
            family: Some(FAMILY.to_owned()),
            severity: Some(severity.to_owned()),
            source: Some(source.to_owned()),
        }
    }

    /// The stratum whose threshold governs: among those that the candidates belong to, the one with the largest. An agent
    /// that adds a candidate moves its request to another group, but never under a smaller threshold.
    fn stratum(&self, request: &FileRequest, group: &Group) -> Option<Stratum> {
        let calibration = self.calibration.as_ref()?;
        let mut groups = vec![group.clone()];
        for action in request.actions() {
            let severity = GateConfiguration::severity_group(self.domain.severity_of(action));
            let of_action = Group {
                severity: Some(severity.to_owned()),
                ..group.clone()
            };
            if !groups.contains(&of_action) {
                groups.push(of_action);
            }
        }
        calibration.widest(&groups)
    }
}

impl FileDecision {
    /// What was decided and why.
    #[must_use]
    pub fn record(&self) -> &DecisionRecord {
        self.decided.record()
    }

    /// The decision with its request.
    #[must_use]
    pub fn decided(&self) -> &Decided {
        &self.decided
    }

    /// What is the matter with the evidence that concerns it.
    #[must_use]
    pub fn inconsistencies(&self) -> &[Inconsistency] {
        &self.inconsistencies
    }

    /// Where it stands in the log.
    #[must_use]
    pub fn appended(&self) -> Appended {
        self.appended
    }

    /// Why a candidate cannot be carried out, or was not looked at, whatever policies say; `None` if they judged it.
    #[must_use]
    pub fn refused(&self, action: usize) -> Option<&str> {
        match self.probed.get(action) {
            Some(Err(reason)) => Some(reason),
            _ if self.decided.left_out().contains(&action) => Some(LEFT_OUT_FOR_OTHERS),
            _ => None,
        }
    }

    /// A candidate in words, such as ``delete `run/latest` permanently``; `None` if there is none.
    #[must_use]
    pub fn describe(&self, action: usize) -> Option<String> {
        self.proposal.describe(action)
    }

    /// The question that a person has to answer before the decision can go on, with its name.
    #[must_use]
    pub fn question(&self) -> Option<(&str, &str)> {
        let record = self.record();
        if record.decision != DecisionKind::Probe {
            return None;
        }
        let wanted = &record.probe.as_ref()?.id;
        let mut questions = self.questions.iter();
        questions
            .find(|(id, _)| id == wanted)
            .map(|(id, question)| (id.as_str(), question.as_str()))
    }
}

fn used(calibration: Option<&GateCalibration>) -> UsedCalibration<'_> {
    calibration.map_or(UsedCalibration::None, GateCalibration::used)
}
