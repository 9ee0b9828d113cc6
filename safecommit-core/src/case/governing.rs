//! Which calibration governs a request: one for a group serves that very stratum alone.

use safecommit_conformal::{Calibration, MondrianCalibration, Stratum};
use thiserror::Error;

use super::request::Request;

/// The calibration that a request is decided under, none at all being a choice too; or why what is at
/// hand is not for it.
pub(super) type Governing<'a> = Result<Option<&'a Calibration>, Ungoverned>;

/// Why no calibration at hand is for a request, in the words of its record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Ungoverned {
    #[error("the calibration is for stratum `{calibrated}`, the request is of `{asked}`")]
    OtherStratum { calibrated: Stratum, asked: Stratum },
    #[error("the calibration is for stratum `{calibrated}`, the request names none")]
    NoStratum { calibrated: Stratum },
    #[error("the calibrations are by stratum, and `{asked}` is none of those declared")]
    Undeclared { asked: Stratum },
    #[error("the calibrations are by stratum, the request names none")]
    NoStratumAmong,
}

/// The one calibration, if it serves the request.
pub(super) fn one<'a>(request: &Request, calibration: Option<&'a Calibration>) -> Governing<'a> {
    let Some(calibrated) = calibration.and_then(Calibration::stratum) else {
        return Ok(calibration);
    };
    let calibrated = calibrated.clone();
    match &request.stratum {
        Some(asked) if *asked == calibrated => Ok(calibration),
        Some(asked) => Err(Ungoverned::OtherStratum {
            calibrated,
            asked: asked.clone(),
        }),
        None => Err(Ungoverned::NoStratum { calibrated }),
    }
}

/// The calibration of the request's stratum.
pub(super) fn among(
    request: &Request,
    calibrations: &MondrianCalibration,
) -> Result<Calibration, Ungoverned> {
    let asked = request.stratum.as_ref().ok_or(Ungoverned::NoStratumAmong)?;
    calibrations
        .calibration(asked)
        .map_err(|_| Ungoverned::Undeclared {
            asked: asked.clone(),
        })
}
