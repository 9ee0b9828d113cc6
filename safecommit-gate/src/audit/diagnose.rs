//! Which part of the system failed, given what turned out to be true.

use std::collections::BTreeMap;

use safecommit_conformal::{Delta, clopper_pearson};
use safecommit_core::{Failure, FailureCause, Fate, Step, attribute};

use super::entry::AuditRecord;
use super::error::AuditError;
use super::label::Labels;
use super::reader::AuditReader;
use super::reproduce::Reproduced;
use super::truth::{Truth, labels_known, truth};

/// What labelled decisions came to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Decisions of the log with a label.
    pub labelled: u64,
    /// Decisions without.
    pub unlabelled: u64,
    /// Labelled decisions that committed an action.
    pub commits: u64,
    /// Labelled decisions that fell back.
    pub fallbacks: u64,
    /// Labelled decisions that asked for a probe: nothing was decided there yet.
    pub pending: u64,
    /// Decisions of which the label does not tell whether they failed: what was safe is not said, and the true world
    /// was not proposed or is one of several.
    pub undetermined: Vec<String>,
    /// Decisions that failed, in the order of the log.
    pub failed: Vec<Failed>,
    /// How many commits were unsafe, by cause.
    pub unsafe_commits: Causes,
    /// How many fallbacks passed over a safe candidate, by cause.
    pub needless_fallbacks: Causes,
    /// How often the true world was not proposed, where it is known.
    pub worlds: MissRate,
    /// How often no proposed world had the very actions safe that were safe, where these are known.
    pub signatures: MissRate,
}

/// A decision that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed {
    /// Its place in the log, from 1.
    pub sequence: u64,
    /// The decision.
    pub decision: String,
    /// The unsafe action that it committed; `None` if it fell back although a candidate was safe.
    pub committed: Option<String>,
    /// The cause; `None` for a fallback on an error, which the record names.
    pub cause: Option<FailureCause>,
}

/// How often each cause is behind a failure; `None` counts fallbacks on an error.
pub type Causes = BTreeMap<Option<FailureCause>, u64>;

/// How often something true was not proposed: an estimate of beta (Eq. 7 of Akewar and Ranjan, arXiv:2608.04289).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MissRate {
    /// How often it was not.
    pub missing: u64,
    /// Of how many.
    pub cases: u64,
    /// `missing / cases`, in [0, 1]; `None` without cases.
    pub rate: Option<f64>,
    /// Clopper-Pearson upper bound: at least beta with probability at least 1 - delta, if the labelled decisions
    /// are a random sample of those to come.
    pub upper: f64,
}

impl AuditReader {
    /// Attributes the failures of labelled decisions to their causes ([`attribute`]), and estimates beta with an upper
    /// bound of error probability `delta`. Every labelled decision is taken again for that.
    ///
    /// Where only the safe actions are known, the true world is taken to be the one of the proposed worlds with just
    /// these actions safe that stood best at the end: retained before above the threshold before refuted. Facts that
    /// leave several worlds narrow those down; without the safe actions, such a decision is undetermined, and it does
    /// not count for how often the true world was not proposed.
    ///
    /// ```
    /// use safecommit_conformal::Delta;
    /// use safecommit_core::{Case, FailureCause, Request};
    /// use safecommit_gate::audit::{AuditLog, Entry, Labels, LogKey, UsedCalibration};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let (path, head) = (directory.path().join("audit.db"), directory.path().join("audit.head"));
    /// let mut log = AuditLog::create(&path, &head, LogKey::from_bytes([7; 32]))?;
    /// let request: Request = serde_json::from_str(r#"{
    ///     "actions": [{"id": "delete"}],
    ///     "worlds": [{"id": "temporary", "score": 0.1, "safe": ["delete"]}]
    /// }"#)?;
    /// let decision = Case::new(request.clone())?.decide(None);
    /// let at = "2026-03-01T12:00:00Z".parse()?;
    /// let entry = Entry::new("d-1", at, request, decision.record().clone());
    /// log.append(&entry, UsedCalibration::None)?;
    ///
    /// // It turned out that the directory was shared, of which no world spoke.
    /// let labels = r#"{"decision": "d-1", "true_world": "shared", "safe_actions": []}"#;
    /// let labels = Labels::read(labels.as_bytes())?;
    /// let diagnosis = log.reader()?.diagnose(&labels, Delta::new(0.05)?)?;
    /// assert_eq!(diagnosis.failed[0].cause, Some(FailureCause::Proposal));
    /// assert_eq!((diagnosis.worlds.missing, diagnosis.worlds.cases), (1, 1));
    /// assert_eq!(diagnosis.worlds.upper, 1.0); // one case bounds nothing
    ///
    /// let scores = log.reader()?.calibration_scores(&labels, &[], None)?;
    /// assert!(scores[0].score.is_missing());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LabelError`](super::LabelError) for a label that does not fit the log; [`AuditError::NotReproducible`] for a decision that comes
    /// out otherwise; those of reading.
    pub fn diagnose(&self, labels: &Labels, delta: Delta) -> Result<Diagnosis, AuditError> {
        let (mut labelled, mut unlabelled) = (0, 0);
        let mut tally = Tally::default();
        let calibrations = self.calibrations()?;
        let snapshot = self.snapshot()?;
        labels_known(self, labels)?;
        self.each(|sequence, record| {
            let Some(label) = labels.at(&record.entry.decision) else {
                unlabelled += 1;
                return Ok(());
            };
            labelled += 1;
            let reproduced = calibrations.reproduced(&record)?;
            let truth = truth(label, &record.entry)?;
            tally.count(sequence, &record, &truth, &reproduced);
            Ok(())
        })?;
        drop(snapshot);
        Ok(Diagnosis {
            labelled,
            unlabelled,
            commits: tally.commits,
            fallbacks: tally.fallbacks,
            pending: tally.pending,
            undetermined: tally.undetermined,
            failed: tally.failed,
            unsafe_commits: tally.unsafe_commits,
            needless_fallbacks: tally.needless_fallbacks,
            worlds: miss_rate(tally.worlds, delta)?,
            signatures: miss_rate(tally.signatures, delta)?,
        })
    }
}

/// Counts, misses as (missing, cases).
#[derive(Default)]
struct Tally {
    commits: u64,
    fallbacks: u64,
    pending: u64,
    undetermined: Vec<String>,
    failed: Vec<Failed>,
    unsafe_commits: Causes,
    needless_fallbacks: Causes,
    worlds: (u64, u64),
    signatures: (u64, u64),
}

impl Tally {
    fn count(&mut self, sequence: u64, record: &AuditRecord, truth: &Truth, taken: &Reproduced) {
        if let Some(world) = truth.world {
            self.worlds.0 += u64::from(world.is_none());
            self.worlds.1 += 1;
        }
        if truth.safe.is_some() {
            self.signatures.0 += u64::from(truth.class.is_empty());
            self.signatures.1 += 1;
        }
        match &taken.step {
            Step::Commit(_) => self.commits += 1,
            Step::Fallback(_) => self.fallbacks += 1,
            Step::Probe(_) => {
                self.pending += 1;
                return;
            }
        }
        let decision = record.entry.decision.clone();
        let Some(safe) = &truth.safe else {
            self.undetermined.push(decision);
            return;
        };
        let (failure, committed, causes) = match &taken.step {
            Step::Commit(certificate) if !safe.contains(certificate.action()) => (
                Failure::UnsafeCommit,
                record.entry.record.action.clone(),
                &mut self.unsafe_commits,
            ),
            Step::Fallback(fallback) if !safe.is_empty() => (
                Failure::Fallback(fallback.reason),
                None,
                &mut self.needless_fallbacks,
            ),
            _ => return,
        };
        let cause = attribute(stood(truth, &taken.fates), failure);
        *causes.entry(cause).or_default() += 1;
        self.failed.push(Failed {
            sequence,
            decision,
            committed,
            cause,
        });
    }
}

/// Where the true world stood at the end; `None` if it was not proposed.
fn stood(truth: &Truth, fates: &[Fate]) -> Option<Fate> {
    let rank = |fate: &Fate| match fate {
        Fate::Retained => 0,
        Fate::AboveThreshold => 1,
        Fate::Refuted { .. } => 2,
        Fate::Contradicted => 3,
    };
    match truth.world {
        Some(world) => world.map(|world| fates[world]),
        None => truth
            .class
            .iter()
            .map(|world| fates[*world])
            .min_by_key(rank),
    }
}

fn miss_rate((missing, cases): (u64, u64), delta: Delta) -> Result<MissRate, AuditError> {
    let upper = clopper_pearson::upper_bound(missing, cases, delta);
    let upper = upper.map_err(|error| AuditError::Bound(error.to_string()))?;
    Ok(MissRate {
        missing,
        cases,
        rate: (cases > 0).then(|| missing as f64 / cases as f64),
        upper,
    })
}
