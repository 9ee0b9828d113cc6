//! Nonconformity scores: finite and totally ordered.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A nonconformity score: larger is stranger. Finite, without a unit, in a total order.
///
/// NaN and the infinities are refused, and -0.0 becomes 0.0, so that equality, order and hash
/// agree with the numbers. JSON form: a number.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Score;
///
/// assert!(Score::new(0.2)? < Score::new(0.7)?);
/// assert_eq!(Score::new(-0.0)?, Score::ZERO);
/// assert!(Score::new(f64::NAN).is_err());
/// # Ok::<(), safecommit_conformal::ScoreError>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "f64")
)]
pub struct Score(f64);

/// The bit of an `f64` that holds its sign.
const SIGN: u64 = 1 << 63;

impl Score {
    /// The score 0.
    pub const ZERO: Self = Self(0.0);

    /// The score `value`, with -0.0 normalised to 0.0.
    ///
    /// # Errors
    ///
    /// [`ScoreError::NotFinite`] if `value` is NaN or infinite.
    pub fn new(value: f64) -> Result<Self, ScoreError> {
        if value.is_finite() {
            // IEEE 754: -0.0 + 0.0 is 0.0, and every other value stays as it is.
            Ok(Self(value + 0.0))
        } else {
            Err(ScoreError::NotFinite {
                input: value.to_string(),
            })
        }
    }

    /// The score as a number: finite, and never -0.0.
    pub fn value(self) -> f64 {
        self.0
    }

    /// An integer in the order of the scores: `a < b` exactly when `a.key() < b.key()`.
    ///
    /// No score has the key `u64::MAX`.
    pub fn key(self) -> u64 {
        let bits = self.0.to_bits();
        // Positive numbers order as their bits do, negative ones the other way round.
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    }

    /// The inverse of [`Score::key`]; `None` if no score has this key.
    pub(crate) fn from_key(key: u64) -> Option<Self> {
        let bits = if key & SIGN == 0 { !key } else { key & !SIGN };
        Self::new(f64::from_bits(bits)).ok()
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Score {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl TryFrom<f64> for Score {
    type Error = ScoreError;

    fn try_from(value: f64) -> Result<Self, ScoreError> {
        Self::new(value)
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> Self {
        score.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Score {
    type Err = ScoreError;

    fn from_str(input: &str) -> Result<Self, ScoreError> {
        let value: f64 = input.parse().map_err(|_| ScoreError::Syntax {
            input: input.to_owned(),
        })?;
        Self::new(value).map_err(|_| ScoreError::NotFinite {
            input: input.to_owned(),
        })
    }
}

/// Why a value is not a [`Score`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// NaN or an infinity.
    #[error("score `{input}` is not a finite number")]
    NotFinite {
        /// The value as given.
        input: String,
    },
    /// Text that is not a number.
    #[error("score `{input}` is not a number")]
    Syntax {
        /// The text as given.
        input: String,
    },
}

/// What one calibration case contributes: the score of its true world, or the fact that the true
/// world was never proposed.
///
/// A missing score sorts after every observed one, as if it were infinite. JSON form: a number or
/// `null`; text form: a number or `missing`. An absent JSON field is an error, not a missing score.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::CalibrationScore;
///
/// let observed: CalibrationScore = "0.4".parse()?;
/// let missing: CalibrationScore = "missing".parse()?;
/// assert!(observed < missing);
/// # Ok::<(), safecommit_conformal::ScoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CalibrationScore {
    /// The true world was proposed and has this score.
    Observed(Score),
    /// The true world was not proposed.
    Missing,
}

impl CalibrationScore {
    /// The score, unless it is missing.
    pub fn observed(self) -> Option<Score> {
        match self {
            Self::Observed(score) => Some(score),
            Self::Missing => None,
        }
    }

    /// Whether the true world was not proposed.
    pub fn is_missing(self) -> bool {
        self == Self::Missing
    }

    /// [`Score::key`], or `u64::MAX` for a missing score: the same order in integers.
    pub fn key(self) -> u64 {
        match self {
            Self::Observed(score) => score.key(),
            Self::Missing => u64::MAX,
        }
    }
}

impl From<Score> for CalibrationScore {
    fn from(score: Score) -> Self {
        Self::Observed(score)
    }
}

impl fmt::Display for CalibrationScore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observed(score) => score.fmt(formatter),
            Self::Missing => formatter.pad("missing"),
        }
    }
}

impl FromStr for CalibrationScore {
    type Err = ScoreError;

    fn from_str(input: &str) -> Result<Self, ScoreError> {
        if input == "missing" {
            Ok(Self::Missing)
        } else {
            input.parse().map(Self::Observed)
        }
    }
}

impl Serialize for CalibrationScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.observed().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CalibrationScore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not `deserialize_option`: serde lets that succeed on a field that is not there, and a
        // forgotten field must not pass for a world that was never proposed.
        deserializer.deserialize_any(CalibrationScoreVisitor)
    }
}

struct CalibrationScoreVisitor;

impl Visitor<'_> for CalibrationScoreVisitor {
    type Value = CalibrationScore;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a finite number, or null for a true world that was not proposed")
    }

    fn visit_unit<E: de::Error>(self) -> Result<CalibrationScore, E> {
        Ok(CalibrationScore::Missing)
    }

    fn visit_none<E: de::Error>(self) -> Result<CalibrationScore, E> {
        Ok(CalibrationScore::Missing)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<CalibrationScore, E> {
        Score::new(value)
            .map(CalibrationScore::Observed)
            .map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<CalibrationScore, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<CalibrationScore, E> {
        self.visit_f64(value as f64)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CalibrationScore {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CalibrationScore".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["number", "null"],
            "description": "score of the true world; null if the true world was not proposed"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_the_numbers() {
        let values = [
            f64::MIN,
            -1.5,
            -f64::MIN_POSITIVE,
            -5e-324,
            0.0,
            5e-324,
            1e-6,
            1.0,
            f64::MAX,
        ];
        let keys: Vec<u64> = values
            .iter()
            .map(|v| Score::new(*v).unwrap().key())
            .collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        for value in values {
            let score = Score::new(value).unwrap();
            assert_eq!(Score::from_key(score.key()), Some(score));
        }
        assert!(keys.last() < Some(&CalibrationScore::Missing.key()));
        assert_eq!(Score::from_key(u64::MAX), None);
    }

    #[test]
    fn negative_zero_is_zero() {
        let zero = Score::new(-0.0).unwrap();
        assert_eq!(zero.value().to_bits(), 0.0_f64.to_bits());
        assert_eq!(zero.key(), Score::ZERO.key());
    }

    #[test]
    fn text_that_is_no_finite_number_is_refused() {
        for input in ["NaN", "inf", "-infinity", "1e999"] {
            let error = input.parse::<Score>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("score `{input}` is not a finite number")
            );
        }
        for input in ["", "high", "0,5", "Missing", "null"] {
            let error = input.parse::<CalibrationScore>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("score `{input}` is not a number")
            );
        }
    }

    #[test]
    fn missing_is_null_in_json_and_a_word_in_text() {
        let scores: Vec<CalibrationScore> = serde_json::from_str("[0.5, null, 2, -1]").unwrap();
        assert_eq!(
            serde_json::to_string(&scores).unwrap(),
            "[0.5,null,2.0,-1.0]"
        );
        assert_eq!(scores[1].to_string(), "missing");
        assert_eq!(scores[1], "missing".parse().unwrap());
    }

    #[test]
    fn an_absent_field_is_not_a_missing_score() {
        #[derive(Debug, Deserialize)]
        struct Row {
            score: CalibrationScore,
        }
        let row: Row = serde_json::from_str(r#"{"score": null}"#).unwrap();
        assert!(row.score.is_missing());
        let error = serde_json::from_str::<Row>("{}").unwrap_err().to_string();
        assert!(error.contains("missing field `score`"), "{error}");
    }

    #[test]
    fn infinity_does_not_come_in_through_json() {
        assert!(serde_json::from_str::<Score>("1e999").is_err());
        assert!(serde_json::from_str::<CalibrationScore>("1e999").is_err());
        assert!(serde_json::from_str::<CalibrationScore>("\"missing\"").is_err());
    }
}
