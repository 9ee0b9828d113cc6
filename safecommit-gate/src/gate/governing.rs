//! Which calibration governs a request, and the record where none does or no world could be made.

use std::borrow::Cow;

use safecommit_conformal::Calibration;
use safecommit_core::{Case, DecisionRecord, Fault, Request, Workspace};

use crate::audit::{ReportedFault, UsedCalibration};

/// The calibration that governs a request.
pub(super) enum Governing<'c> {
    Calibration(Option<Cow<'c, Calibration>>),
    /// There is one for each stratum, and none for this one.
    Nothing,
}

pub(super) fn governing<'c>(calibration: UsedCalibration<'c>, request: &Request) -> Governing<'c> {
    match calibration {
        UsedCalibration::None => Governing::Calibration(None),
        UsedCalibration::One(one) => Governing::Calibration(Some(Cow::Borrowed(one))),
        UsedCalibration::ByStratum(all) => {
            let stratum = request.stratum.as_ref();
            match stratum.map(|stratum| all.calibration(stratum)) {
                Some(Ok(one)) => Governing::Calibration(Some(Cow::Owned(one))),
                Some(Err(_)) | None => Governing::Nothing,
            }
        }
    }
}

/// The record of a decision that cannot be taken: no calibration is for it, or the way to its worlds failed.
pub(super) fn fall_back(
    case: &Case,
    calibration: UsedCalibration<'_>,
    governing: &Governing<'_>,
    fault: Option<ReportedFault>,
) -> DecisionRecord {
    let governed = match (governing, calibration) {
        (Governing::Nothing, UsedCalibration::ByStratum(all)) => {
            return case.decide_among(all).record().clone();
        }
        (Governing::Nothing, _) => None,
        (Governing::Calibration(calibration), _) => calibration.as_deref(),
    };
    let mut memory = Workspace::default();
    let mut controller = case.controller(governed, &mut memory);
    controller.fail(fault.map_or(Fault::Inconsistent, Fault::from));
    match case.record(governed, &mut controller) {
        Ok(record) => record,
        // Not possible for a controller that was just started from this case; and without worlds it escalates too.
        Err(_) => case.decide(governed).record().clone(),
    }
}
