//! Which calibration governs a request, and the record where none does or no world could be made.

use std::borrow::Cow;

use safecommit_conformal::Calibration;
use safecommit_core::{Case, DecisionRecord, Fault, Request, Workspace};

use crate::audit::{ReportedFault, UsedCalibration};

/// The calibration that governs a request, none at all being a choice too.
pub(super) type Governing<'c> = Result<Option<Cow<'c, Calibration>>, NoneForStratum>;

/// There is a calibration for each stratum, and none for that of the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoneForStratum;

pub(super) fn governing<'c>(calibration: UsedCalibration<'c>, request: &Request) -> Governing<'c> {
    match calibration {
        UsedCalibration::None => Ok(None),
        UsedCalibration::One(one) => Ok(Some(Cow::Borrowed(one))),
        UsedCalibration::ByStratum(all) => {
            let stratum = request.stratum.as_ref().ok_or(NoneForStratum)?;
            let one = all.calibration(stratum).map_err(|_| NoneForStratum)?;
            Ok(Some(Cow::Owned(one)))
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
        (Err(NoneForStratum), UsedCalibration::ByStratum(all)) => {
            return case.decide_among(all).record().clone();
        }
        (Err(NoneForStratum), _) => None,
        (Ok(calibration), _) => calibration.as_deref(),
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
