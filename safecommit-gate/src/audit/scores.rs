//! Scores to calibrate on, from history.

use safecommit_conformal::{CalibrationScore, Score, Stratum};

use super::entry::AuditRecord;
use super::error::{AuditError, LabelError};
use super::label::Labels;
use super::reader::AuditReader;
use super::truth::{labels_known, truth};

/// What decisions are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupBy {
    /// [`Group::family`](super::Group::family).
    Family,
    /// [`Group::severity`](super::Group::severity).
    Severity,
    /// [`Group::source`](super::Group::source).
    Source,
}

/// What one labelled decision contributes to a calibration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScoredDecision {
    /// The decision.
    pub decision: String,
    /// The group that it belongs to.
    pub stratum: Stratum,
    /// The score of its true world.
    pub score: CalibrationScore,
}

impl AuditReader {
    /// The scores of the true worlds of labelled decisions, in the order of the log, for
    /// [`Calibration`](safecommit_conformal::Calibration) and
    /// [`MondrianCalibration`](safecommit_conformal::MondrianCalibration). The stratum has a label for each of `by`,
    /// in that order; without any, all decisions are in one group.
    ///
    /// A true world that was not proposed is a missing score, and so is one that hard evidence removed: no threshold
    /// would retain it. Where only the safe actions are known, the largest score counts among the proposed worlds in
    /// which just these are safe, and where facts leave several worlds, the largest among those: the true world, if
    /// proposed, is one of them, so its score is no larger and the threshold errs upwards.
    ///
    /// # Errors
    ///
    /// [`LabelError`] for a label that does not fit the log, a decision that lacks what it is to be grouped by, and one
    /// that was scored with another version than `score_version`; [`AuditError::NotReproducible`] for one that comes out
    /// otherwise, as when scores were changed; those of reading.
    pub fn calibration_scores(
        &self,
        labels: &Labels,
        by: &[GroupBy],
        score_version: Option<&str>,
    ) -> Result<Vec<ScoredDecision>, AuditError> {
        let calibrations = self.calibrations()?;
        let snapshot = self.snapshot()?;
        labels_known(self, labels)?;
        let mut scored = Vec::with_capacity(labels.len());
        self.each(|_, record| {
            let Some(label) = labels.at(&record.entry.decision) else {
                return Ok(());
            };
            check_version(&record, score_version)?;
            // Scores that were changed since would make any threshold.
            calibrations.reproduced(&record)?;
            let truth = truth(label, &record.entry)?;
            let worlds = match truth.world {
                Some(world) => Vec::from_iter(world),
                None => truth.class,
            };
            scored.push(ScoredDecision {
                stratum: stratum(&record, by)?,
                score: largest(&record, &worlds)?,
                decision: record.entry.decision,
            });
            Ok(())
        })?;
        drop(snapshot);
        Ok(scored)
    }
}

/// The largest score among some worlds that hard evidence leaves.
fn largest(record: &AuditRecord, worlds: &[usize]) -> Result<CalibrationScore, AuditError> {
    let request = &record.entry.request;
    let mut largest: Option<Score> = None;
    for world in worlds.iter().map(|at| &request.worlds[*at]) {
        let against = |evidence: &safecommit_core::Contradiction| evidence.world == world.id;
        if request.hard_evidence.iter().any(against) {
            continue;
        }
        let score = Score::new(world.score).map_err(|error| AuditError::NotReproducible {
            decision: record.entry.decision.clone(),
            problem: error.to_string(),
        })?;
        largest = largest.max(Some(score));
    }
    Ok(largest.map_or(CalibrationScore::Missing, CalibrationScore::Observed))
}

fn stratum(record: &AuditRecord, by: &[GroupBy]) -> Result<Stratum, LabelError> {
    let (entry, mut labels) = (&record.entry, Vec::with_capacity(by.len()));
    for key in by {
        let (what, value) = match key {
            GroupBy::Family => ("family", &entry.group.family),
            GroupBy::Severity => ("severity", &entry.group.severity),
            GroupBy::Source => ("source", &entry.group.source),
        };
        let value = value.as_deref().ok_or_else(|| LabelError::NoGroup {
            decision: entry.decision.clone(),
            what,
        })?;
        // One label each: with a slash in one value, two groups could have the same path.
        match value.parse::<Stratum>() {
            Ok(stratum) if stratum.labels().count() == 1 => labels.push(value),
            _ => {
                return Err(LabelError::BadGroup {
                    decision: entry.decision.clone(),
                    what,
                    value: value.to_owned(),
                });
            }
        }
    }
    let path = labels.join("/");
    path.parse().map_err(|_| LabelError::BadGroup {
        decision: entry.decision.clone(),
        what: "stratum",
        value: path,
    })
}

fn check_version(record: &AuditRecord, wanted: Option<&str>) -> Result<(), LabelError> {
    let found = record.entry.versions.score.as_deref();
    if found == wanted {
        return Ok(());
    }
    let name = |version: Option<&str>| {
        version.map_or_else(
            || "no version".to_owned(),
            |version| format!("version `{version}`"),
        )
    };
    Err(LabelError::ScoreVersion {
        decision: record.entry.decision.clone(),
        found: name(found),
        wanted: name(wanted),
    })
}
