//! A calibration as the gate uses it: with the version of the score that it is for, and what its strata are made of.

mod error;
mod kind;
mod spelling;
mod wire;

use std::path::Path;

use safecommit_conformal::{Calibration, Digest, MondrianCalibration, Score, Stratum};
use serde::{Deserialize, Serialize};

use crate::audit::{Group, GroupBy, StoredCalibration, UsedCalibration};

pub use error::{CalibrationFileError, GateCalibrationError};
use wire::Wire;

/// A calibration for the decisions of a gate. A threshold is about scores of one kind, so it names the version of the
/// score; one by stratum says what the labels of its strata are, in their order.
///
/// JSON form: `{"format": 1, "score_version": "...", "by": ["family", "severity"], "calibrations": ...}`, where the last
/// is `{"one": ...}` with a calibration for all decisions, or `{"by_stratum": ...}` with one for each stratum. What is
/// read is checked as if it was made here.
///
/// ```
/// use safecommit_conformal::{Calibration, CalibrationScore, Score};
/// use safecommit_gate::GateCalibration;
///
/// let scores = (1..=19).map(|i| Ok(Score::new(f64::from(i) / 20.0)?.into()));
/// let scores: Vec<CalibrationScore> = scores.collect::<Result<_, safecommit_conformal::ScoreError>>()?;
/// let calibration = Calibration::split_conformal("0.1".parse()?, &scores);
/// let calibration = GateCalibration::one("files-1", calibration)?;
/// assert!(calibration.serves("files-1").is_ok());
/// let error = calibration.serves("files-2").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the calibration is for scores of version `files-1`, these are of version `files-2`"
/// );
///
/// let json = serde_json::to_string(&calibration)?;
/// assert_eq!(serde_json::from_str::<GateCalibration>(&json)?, calibration);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct GateCalibration {
    score_version: String,
    by: Vec<GroupBy>,
    thresholds: StoredCalibration,
}

impl GateCalibration {
    /// A calibration for all decisions that are scored with this version.
    ///
    /// # Errors
    ///
    /// [`GateCalibrationError::NoVersion`] for an empty version.
    pub fn one(
        score_version: impl Into<String>,
        calibration: Calibration,
    ) -> Result<Self, GateCalibrationError> {
        let thresholds = StoredCalibration::One(Box::new(calibration));
        Self::new(score_version.into(), Vec::new(), thresholds)
    }

    /// A calibration for each stratum, whose labels are these parts of a decision's group.
    ///
    /// # Errors
    ///
    /// [`GateCalibrationError`] for an empty version, for parts that are none or repeat, and for a stratum that has
    /// more or fewer labels than there are parts.
    pub fn by_stratum(
        score_version: impl Into<String>,
        by: impl Into<Vec<GroupBy>>,
        calibrations: MondrianCalibration,
    ) -> Result<Self, GateCalibrationError> {
        let thresholds = StoredCalibration::ByStratum(calibrations);
        Self::new(score_version.into(), by.into(), thresholds)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`CalibrationFileError`] with file and line, also for a calibration of another kind.
    pub fn read(path: &Path) -> Result<Self, CalibrationFileError> {
        let text = std::fs::read(path).map_err(|error| CalibrationFileError::Unreadable {
            file: path.to_owned(),
            error,
        })?;
        let read: Self = serde_json::from_slice(&text).map_err(|error| {
            let file = path.to_owned();
            match kind::other_kind(&text) {
                Some(kind) => CalibrationFileError::OtherKind { file, kind },
                None => CalibrationFileError::form(path, &error),
            }
        })?;
        match spelling::odd(&text, &read) {
            None => Ok(read),
            Some(field) => Err(CalibrationFileError::Form {
                file: path.to_owned(),
                line: 1,
                problem: format!("{field}: it is not spelled as `safecommit calibrate` spells it"),
            }),
        }
    }

    /// The version of the score that the thresholds are for.
    #[must_use]
    pub fn score_version(&self) -> &str {
        &self.score_version
    }

    /// What the labels of a stratum are, in their order; nothing if one calibration serves all.
    #[must_use]
    pub fn by(&self) -> &[GroupBy] {
        &self.by
    }

    /// Whether the thresholds are for scores of this version.
    ///
    /// # Errors
    ///
    /// [`GateCalibrationError::ScoreVersion`] if they are for another.
    pub fn serves(&self, score_version: &str) -> Result<(), GateCalibrationError> {
        if self.score_version == score_version {
            return Ok(());
        }
        Err(GateCalibrationError::ScoreVersion {
            calibrated: self.score_version.clone(),
            scored: score_version.to_owned(),
        })
    }

    /// The calibration to decide under and to record.
    #[must_use]
    pub fn used(&self) -> UsedCalibration<'_> {
        self.thresholds.used()
    }

    /// The stratum of a decision of this group; `None` if one calibration serves all, or if the group lacks a part
    /// or has one that is no label. A request without a stratum escalates under a calibration by stratum.
    #[must_use]
    pub fn stratum(&self, group: &Group) -> Option<Stratum> {
        if self.by.is_empty() {
            return None;
        }
        let labels = self.by.iter().map(|by| {
            let value = match by {
                GroupBy::Family => &group.family,
                GroupBy::Severity => &group.severity,
                GroupBy::Source => &group.source,
            };
            let value = value.as_deref()?;
            let stratum = value.parse::<Stratum>().ok()?;
            (stratum.labels().count() == 1).then_some(value)
        });
        let labels = labels.collect::<Option<Vec<_>>>()?;
        labels.join("/").parse().ok()
    }

    /// The stratum, among those of some groups, whose threshold excludes least; of several such the first. One that has no
    /// threshold comes before all: it escalates. `None` as for [`stratum`](Self::stratum), if one of them has none.
    ///
    /// What holds for the stratum of a decision under its own threshold holds under a larger one too, so whoever can add
    /// groups to a decision gains nothing by it: that excludes fewer worlds, never more.
    ///
    /// ```
    /// use safecommit_conformal::{CalibrationScore, Misses, MondrianCalibration, Score, Stratum, Taxonomy};
    /// use safecommit_gate::GateCalibration;
    /// use safecommit_gate::audit::{Group, GroupBy};
    ///
    /// let strata: [Stratum; 2] = ["low".parse()?, "high".parse()?];
    /// let mut cases = Vec::new();
    /// for (stratum, largest) in strata.iter().zip([0.9, 0.1]) {
    ///     let scores = (1..=19).map(|i| Ok(Score::new(largest * f64::from(i) / 19.0)?.into()));
    ///     let scores: Vec<CalibrationScore> = scores.collect::<Result<_, safecommit_conformal::ScoreError>>()?;
    ///     cases.extend(scores.into_iter().map(|score| (stratum.clone(), score)));
    /// }
    /// let taxonomy = Taxonomy::new(strata)?;
    /// let calibrations = MondrianCalibration::new("0.1".parse()?, taxonomy, &cases, Misses::AllListed)?;
    /// let calibration = GateCalibration::by_stratum("files-1", [GroupBy::Severity], calibrations)?;
    ///
    /// let group = |severity: &str| Group { severity: Some(severity.to_owned()), ..Group::default() };
    /// let widest = |groups: &[Group]| calibration.widest(groups).map(|stratum| stratum.to_string());
    /// assert_eq!(widest(&[group("high")]).as_deref(), Some("high"));
    /// assert_eq!(widest(&[group("high"), group("low")]).as_deref(), Some("low")); // 0.9 excludes less than 0.1
    /// assert_eq!(widest(&[group("low"), group("none")]).as_deref(), Some("none")); // nothing was calibrated for it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn widest<'g>(&self, groups: impl IntoIterator<Item = &'g Group>) -> Option<Stratum> {
        let StoredCalibration::ByStratum(calibrations) = &self.thresholds else {
            return None;
        };
        let mut widest: Option<(Stratum, Option<Score>)> = None;
        for group in groups {
            let stratum = self.stratum(group)?;
            let Ok(calibration) = calibrations.calibration(&stratum) else {
                return Some(stratum);
            };
            let threshold = calibration.threshold().finite();
            let wider = match &widest {
                None => true,
                Some((_, None)) => false,
                Some((_, Some(most))) => threshold.is_none_or(|threshold| threshold > *most),
            };
            if wider {
                widest = Some((stratum, threshold));
            }
        }
        widest.map(|(stratum, _)| stratum)
    }

    /// SHA-256 of the JSON form: what an action is bound to as the version of the calibration.
    ///
    /// # Errors
    ///
    /// [`GateCalibrationError::NoForm`] if it has no JSON form.
    pub fn digest(&self) -> Result<Digest, GateCalibrationError> {
        match serde_json::to_vec(self) {
            Ok(bytes) => Ok(Digest::of_bytes(&bytes)),
            Err(error) => Err(GateCalibrationError::NoForm(error.to_string())),
        }
    }

    fn new(
        score_version: String,
        by: Vec<GroupBy>,
        thresholds: StoredCalibration,
    ) -> Result<Self, GateCalibrationError> {
        if score_version.is_empty() {
            return Err(GateCalibrationError::NoVersion);
        }
        let repeated = (1..by.len()).find(|at| by[..*at].contains(&by[*at]));
        if let Some(at) = repeated {
            return Err(GateCalibrationError::Twice(wire::name(by[at])));
        }
        match &thresholds {
            StoredCalibration::One(_) if by.is_empty() => {}
            StoredCalibration::One(_) => return Err(GateCalibrationError::NoStrata),
            StoredCalibration::ByStratum(_) if by.is_empty() => {
                return Err(GateCalibrationError::NoParts);
            }
            StoredCalibration::ByStratum(calibrations) => {
                let mut strata = calibrations.taxonomy().strata();
                if let Some(other) = strata.find(|stratum| stratum.labels().count() != by.len()) {
                    return Err(GateCalibrationError::Labels {
                        stratum: other.to_string(),
                        parts: by.len(),
                    });
                }
            }
        }
        Ok(Self {
            score_version,
            by,
            thresholds,
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for GateCalibration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GateCalibration".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Wire::json_schema(generator)
    }
}

#[cfg(test)]
mod tests;
