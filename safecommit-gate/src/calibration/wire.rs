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
                "format: the calibration of a gate has format {found}, known is {FORMAT}: `safecommit calibrate --audit` makes it anew"
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
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("allOf" = parts_where_there_are_strata()))
)]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    /// The version of this form: 1.
    #[cfg_attr(feature = "schema", schemars(with = "u64", range(min = 1, max = 1)))]
    format: Known,
    /// The version of the score that the thresholds are for.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    score_version: String,
    /// What the labels of a stratum are, in their order; none if one calibration serves all.
    #[cfg_attr(feature = "schema", schemars(schema_with = "parts"))]
    by: Vec<String>,
    /// One calibration for all decisions, or one for each stratum.
    calibrations: StoredCalibration,
}

/// Parts of the group, each once.
#[cfg(feature = "schema")]
fn parts(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names = KNOWN.map(name);
    schemars::json_schema!({
        "type": "array",
        "items": {"type": "string", "enum": names},
        "uniqueItems": true
    })
}

/// One calibration for all has no parts, one for each stratum has some.
#[cfg(feature = "schema")]
fn parts_where_there_are_strata() -> serde_json::Value {
    serde_json::json!([{
        "if": {"properties": {"calibrations": {"required": ["one"]}}},
        "then": {"properties": {"by": {"maxItems": 0}}},
        "else": {"properties": {"by": {"minItems": 1}}}
    }])
}

const KNOWN: [GroupBy; 3] = [GroupBy::Family, GroupBy::Severity, GroupBy::Source];

impl TryFrom<Wire> for GateCalibration {
    type Error = GateCalibrationError;

    fn try_from(wire: Wire) -> Result<Self, GateCalibrationError> {
        let part = |text: String| {
            let found = KNOWN.into_iter().find(|part| name(*part) == text);
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
