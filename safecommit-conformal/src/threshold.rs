//! The threshold kappa that a calibration yields.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::score::Score;

/// The threshold kappa of a plausible set: a world is retained when its score is at most kappa
/// (Akewar and Ranjan, arXiv:2608.04289, Eq. 4).
///
/// Finite, in the unit of the scores, or unbounded, in which case every world is retained. A
/// finite threshold only comes out of a [`Calibration`](crate::Calibration): there is no public
/// constructor and no `Deserialize`, so a plausible set cannot be cut with a number that somebody
/// made up. What anyone may have is [`Threshold::UNBOUNDED`], which retains the most.
///
/// Ordered by what is retained: unbounded comes last. JSON form: a number, or `null` if unbounded.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
///
/// assert!(Threshold::UNBOUNDED.retains(Score::new(1e300)?));
/// # Ok::<(), safecommit_conformal::ScoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Threshold(Option<Score>);

impl Threshold {
    /// The threshold that retains every world: what a system without a calibration has.
    pub const UNBOUNDED: Self = Self(None);

    /// The threshold at `score`. Only a calibration may call this.
    pub(crate) fn at(score: Score) -> Self {
        Self(Some(score))
    }

    /// The threshold as a score, or `None` if it is unbounded.
    pub fn finite(self) -> Option<Score> {
        self.0
    }

    /// Whether every score is retained.
    pub fn is_unbounded(self) -> bool {
        self.0.is_none()
    }

    /// Whether a world of this score stays plausible: `score <= kappa` (Eq. 4). The threshold
    /// itself is retained; with `<` the coverage guarantee would fail.
    pub fn retains(self, score: Score) -> bool {
        self.0.is_none_or(|kappa| score <= kappa)
    }
}

impl Ord for Threshold {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Some(this), Some(that)) => this.cmp(&that),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }
}

impl PartialOrd for Threshold {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(score) => score.fmt(formatter),
            None => formatter.pad("unbounded"),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Threshold {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Threshold".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["number", "null"],
            "description": "largest retained score; null if every score is retained"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(value: f64) -> Score {
        Score::new(value).unwrap()
    }

    #[test]
    fn the_threshold_itself_is_retained() {
        let kappa = Threshold::at(score(0.5));
        assert!(kappa.retains(score(0.5)));
        assert!(kappa.retains(score(0.4)));
        assert!(!kappa.retains(score(0.5_f64.next_up())));
        assert!(Threshold::UNBOUNDED.retains(score(f64::MAX)));
    }

    #[test]
    fn unbounded_comes_last() {
        assert!(Threshold::at(score(f64::MAX)) < Threshold::UNBOUNDED);
        assert!(Threshold::at(score(0.1)) < Threshold::at(score(0.2)));
        assert_eq!(
            Threshold::UNBOUNDED.cmp(&Threshold::UNBOUNDED),
            Ordering::Equal
        );
    }

    #[test]
    fn shown_and_written() {
        assert_eq!(Threshold::UNBOUNDED.to_string(), "unbounded");
        assert_eq!(Threshold::at(score(0.25)).to_string(), "0.25");
        assert_eq!(
            serde_json::to_string(&Threshold::UNBOUNDED).unwrap(),
            "null"
        );
        assert_eq!(
            serde_json::to_string(&Threshold::at(score(0.25))).unwrap(),
            "0.25"
        );
    }
}
