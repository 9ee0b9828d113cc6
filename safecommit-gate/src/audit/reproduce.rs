//! A decision taken again from its record.

use safecommit_conformal::Calibration;
use safecommit_core::{
    Case, Controller, DecisionRecord, Fate, NO, Observation, Request, Step, Workspace, YES,
};

use super::entry::{Entry, UsedCalibration};

/// A decision taken again.
pub(super) struct Reproduced {
    pub(super) record: DecisionRecord,
    pub(super) fates: Vec<Fate>,
    pub(super) step: Step,
}

/// Decides the request of an entry again, with the probes and the time that came after it.
pub(super) fn reproduce(
    entry: &Entry,
    calibration: UsedCalibration<'_>,
) -> Result<Reproduced, String> {
    let case = Case::new(entry.request.clone()).map_err(|error| error.to_string())?;
    let governing = match calibration.governing(&entry.request) {
        Ok(governing) => governing,
        // None of them is for the request: it escalated, whatever else came.
        Err(calibrations) => return among_none(&case, case.decide_among(calibrations).record()),
    };
    let governing: Option<&Calibration> = governing.as_deref();
    let mut workspace = Workspace::default();
    let mut controller = case.controller(governing, &mut workspace);
    if let Some(fault) = entry.fault {
        controller.fail(fault.into());
    }
    let made = entry.request.observed.len();
    for observation in entry.record.observed.iter().skip(made) {
        report(&entry.request, observation, &mut controller)?;
    }
    controller.elapse(entry.elapsed_steps);
    let record = case.record(governing, &mut controller);
    let record = record.map_err(|error| error.to_string())?;
    let step = controller.next_step();
    let fates = controller.fates().to_vec();
    Ok(Reproduced {
        record,
        fates,
        step,
    })
}

/// Whether the record of an entry is what its request and calibration give, to the same bytes.
pub(super) fn check(entry: &Entry, calibration: UsedCalibration<'_>) -> Result<Reproduced, String> {
    let reproduced = reproduce(entry, calibration)?;
    let write =
        |record: &DecisionRecord| serde_json::to_vec(record).map_err(|error| error.to_string());
    if write(&reproduced.record)? != write(&entry.record)? {
        return Err(difference(&reproduced.record, &entry.record).to_owned());
    }
    Ok(reproduced)
}

fn among_none(case: &Case, record: &DecisionRecord) -> Result<Reproduced, String> {
    let mut workspace = Workspace::default();
    let mut controller = case.controller(None, &mut workspace);
    controller.fail(safecommit_core::Fault::Stratum);
    Ok(Reproduced {
        record: record.clone(),
        step: controller.next_step(),
        fates: controller.fates().to_vec(),
    })
}

/// Reports a probe by name. A name that is not declared cannot have been reported.
fn report(
    request: &Request,
    observation: &Observation,
    controller: &mut Controller<'_>,
) -> Result<(), String> {
    let name = &observation.probe;
    let at = request.probes.iter().position(|probe| probe.id == *name);
    let at = at.ok_or_else(|| format!("`{name}` is not a declared probe"))?;
    let reported = match &observation.outcome {
        None => controller.probe_failed(at),
        Some(outcome) => {
            let position = match &request.probes[at].outcomes {
                Some(outcomes) => outcomes.iter().position(|known| known.id == *outcome),
                None => match outcome.as_str() {
                    "yes" => Some(YES),
                    "no" => Some(NO),
                    _ => None,
                },
            };
            let position =
                position.ok_or_else(|| format!("`{outcome}` is no outcome of probe `{name}`"))?;
            controller.observe(at, position)
        }
    };
    reported.map_err(|error| error.to_string())
}

/// The first part in which two records differ.
fn difference(again: &DecisionRecord, given: &DecisionRecord) -> &'static str {
    let parts = [
        ("the subject differs", again.subject == given.subject),
        ("another decision results", again.decision == given.decision),
        ("another action results", again.action == given.action),
        ("another probe results", again.probe == given.probe),
        ("another fallback results", again.fallback == given.fallback),
        ("the threshold differs", again.threshold == given.threshold),
        (
            "the calibration differs",
            again.calibration == given.calibration,
        ),
        ("the probes made differ", again.observed == given.observed),
        ("the fates of worlds differ", again.worlds == given.worlds),
        (
            "what blocks the actions differs",
            again.actions == given.actions,
        ),
        ("the bound differs", again.bound == given.bound),
    ];
    let first = parts.into_iter().find(|(_, same)| !same);
    first.map_or("the records differ", |(what, _)| what)
}
