//! The wire form of a calibration of the gate.

use serde::{Deserialize, Serialize};

use super::GateCalibration;
use super::error::GateCalibrationError;
use crate::audit::{GroupBy, StoredCalibration};

const FORMAT: u64 = 1;

/// The number [`FORMAT`], checked as soon as it is read: the fields after it are of no other version.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
struct Known;

impl TryFrom<u64> for Known {
    type Error = String;

    fn try_from(found: u64) -> Result<Self, String> {
        if found == FORMAT {
            Ok(Self)
        } else {
            Err(format!(
                "the calibration has format {found}, known is {FORMAT}: a gate takes what `calibrate --audit` writes"
            ))
        }
    }
}

impl From<Known> for u64 {
    fn from(_: Known) -> Self {
        FORMAT
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    format: Known,
    score_version: String,
    by: Vec<String>,
    calibrations: StoredCalibration,
}

impl TryFrom<Wire> for GateCalibration {
    type Error = GateCalibrationError;

    fn try_from(wire: Wire) -> Result<Self, GateCalibrationError> {
        let known = [GroupBy::Family, GroupBy::Severity, GroupBy::Source];
        let part = |text: String| {
            let found = known.into_iter().find(|part| name(*part) == text);
            found.ok_or(GateCalibrationError::UnknownPart(text))
        };
        let by = wire.by.into_iter().map(part).collect::<Result<_, _>>()?;
        Self::new(wire.score_version, by, wire.calibrations)
    }
}

impl From<GateCalibration> for Wire {
    fn from(calibration: GateCalibration) -> Self {
        let by = calibration.by.into_iter();
        Self {
            format: Known,
            score_version: calibration.score_version,
            by: by.map(|part| name(part).to_owned()).collect(),
            calibrations: calibration.thresholds,
        }
    }
}

/// The name of a part of the group, as in `by`.
pub(super) fn name(part: GroupBy) -> &'static str {
    match part {
        GroupBy::Family => "family",
        GroupBy::Severity => "severity",
        GroupBy::Source => "source",
    }
}
