//! Cases from the history of a gate: the labelled decisions of its audit log.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use safecommit_conformal::Taxonomy;
use safecommit_gate::GateCalibration;
use safecommit_gate::audit::{AuditReader, GroupBy, LabelError, Labels, ScoredDecision};

use crate::audit::of_labels_or_log;
use crate::calibrations::Calibrations;
use crate::input::Source;
use crate::scores::Cases;

/// Cases that were scored with one version.
pub(super) struct History {
    pub(super) cases: Cases,
    score_version: String,
}

/// Reads the labelled decisions of a log, whose strata must be among those declared.
pub(super) fn read(
    log: &Path,
    labels: &Source,
    by: &[GroupBy],
    declared: Option<&Taxonomy>,
) -> Result<History> {
    let (source, file) = (labels, labels.name());
    let labels = Labels::read(source.open()?).with_context(|| file.clone())?;
    let named = || log.display().to_string();
    let reader = AuditReader::open(log).with_context(named)?;
    let score_version = score_version(&reader, &labels).with_context(named)?;
    let score_version = score_version.ok_or_else(|| anyhow!("{file}: there is no label"))?;
    let scored = reader
        .calibration_scores(&labels, by, Some(&score_version))
        .map_err(|error| of_labels_or_log(error, source, log))?;
    let mut cases = Cases::default();
    for ScoredDecision {
        decision,
        stratum,
        score,
        ..
    } in scored
    {
        if let Some(declared) = declared
            && !declared.strata().any(|known| *known == stratum)
        {
            return Err(anyhow!(
                "{}: decision `{decision}` is of stratum `{stratum}`, which is not declared",
                named()
            ));
        }
        cases.scores.push(score);
        if !by.is_empty() {
            cases.strata.push(stratum);
        }
    }
    Ok(History {
        cases,
        score_version,
    })
}

/// The version that the first labelled decision was scored with; that it is the one of all is checked when their
/// scores are read. `None` without a label.
fn score_version(reader: &AuditReader, labels: &Labels) -> Result<Option<String>> {
    let Some(label) = labels.iter().next() else {
        return Ok(None);
    };
    let decision = &label.decision;
    let record = reader.record(decision)?;
    let record = record.ok_or_else(|| LabelError::UnknownDecision(decision.clone()))?;
    match record.entry.versions.score {
        Some(version) => Ok(Some(version)),
        None => Err(anyhow!(
            "decision `{decision}` does not say by which version it was scored"
        )),
    }
}

impl History {
    /// The calibration as a gate uses it, and what is to be said of it first.
    pub(super) fn of_gate(
        self,
        calibrations: Calibrations,
        by: &[GroupBy],
    ) -> Result<(GateCalibration, String)> {
        let version = self.score_version;
        let heading = format!("labelled decisions, scored by version `{version}`\n");
        let calibration = match calibrations {
            Calibrations::One(calibration) => GateCalibration::one(version, *calibration)?,
            Calibrations::ByStratum(calibrations) => {
                GateCalibration::by_stratum(version, by, calibrations)?
            }
        };
        Ok((calibration, heading))
    }
}
