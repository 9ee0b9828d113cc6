//! The threshold kappa that a calibration yields.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};

use crate::alpha::Alpha;
use crate::guarantee::Guarantee;
use crate::score::Score;
use crate::source::Source;

/// The threshold kappa of a plausible set, with what it promises: a world is retained when its score is
/// at most kappa (Akewar and Ranjan, arXiv:2608.04289, Eq. 4).
///
/// Finite, in the unit of the scores, or unbounded, in which case every world is retained. There is no
/// public constructor and no `Deserialize`. A finite one comes out of a
/// [`Calibration`](crate::Calibration), and carries the level and the [`Guarantee`] of that calibration and
/// the cases that it is from wherever it goes; or it is a [trial](Threshold::is_trial) that
/// [`RiskCurve::replay`](crate::RiskCurve::replay) hands out, which promises nothing, and under which nothing
/// may be released. What anyone may have is [`Threshold::UNBOUNDED`], which retains the most and promises
/// nothing beyond.
///
/// Compared and ordered by what is retained, whatever is promised: unbounded comes last. JSON form: a
/// number, or `null` if unbounded. A clone allocates nothing.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Calibration, Guarantee, Score, Threshold};
///
/// assert!(Threshold::UNBOUNDED.retains(Score::new(1e300)?));
/// assert_eq!(Threshold::UNBOUNDED.guarantee(), None);
///
/// let scores: Vec<_> =
///     (1..=9).map(|i| Score::new(f64::from(i)).map(Into::into)).collect::<Result<_, _>>()?;
/// let threshold = Calibration::split_conformal("0.2".parse()?, &scores).threshold().clone();
/// assert_eq!(threshold.guarantee(), Some(&Guarantee::Marginal));
/// assert_eq!(threshold.alpha(), Some("0.2".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Threshold {
    kappa: Option<Score>,
    promise: Option<Promise>,
}

/// What a calibration promises of its threshold, and from which cases.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Promise {
    alpha: Alpha,
    guarantee: Guarantee,
    source: Source,
}

impl Threshold {
    /// The threshold that retains every world: what a system without a calibration has.
    pub const UNBOUNDED: Self = Self {
        kappa: None,
        promise: None,
    };

    /// [`Threshold::UNBOUNDED`], to be borrowed for as long as one likes.
    pub fn unbounded() -> &'static Self {
        static UNBOUNDED: Threshold = Threshold::UNBOUNDED;
        &UNBOUNDED
    }

    /// The threshold at `kappa`, which keeps `guarantee` at level `alpha` by the cases of `source`. Only a
    /// calibration may call this.
    pub(crate) fn calibrated(
        kappa: Option<Score>,
        alpha: Alpha,
        guarantee: Guarantee,
        source: Source,
    ) -> Self {
        Self {
            kappa,
            promise: Some(Promise {
                alpha,
                guarantee,
                source,
            }),
        }
    }

    /// The threshold at `kappa`, to try out what follows from it; it promises nothing.
    pub(crate) fn trial(kappa: Score) -> Self {
        Self {
            kappa: Some(kappa),
            promise: None,
        }
    }

    /// The threshold as a score, or `None` if it is unbounded.
    pub fn finite(&self) -> Option<Score> {
        self.kappa
    }

    /// Whether every score is retained.
    pub fn is_unbounded(&self) -> bool {
        self.kappa.is_none()
    }

    /// Whether a world of this score stays plausible: `score <= kappa` (Eq. 4). The threshold
    /// itself is retained; with `<` the coverage guarantee would fail.
    pub fn retains(&self, score: Score) -> bool {
        self.kappa.is_none_or(|kappa| score <= kappa)
    }

    /// The level of the calibration that it came out of; `None` without one.
    pub fn alpha(&self) -> Option<Alpha> {
        self.promise.as_ref().map(|promise| promise.alpha)
    }

    /// What the calibration that it came out of promises; `None` without one, and for a
    /// [trial](Threshold::is_trial).
    pub fn guarantee(&self) -> Option<&Guarantee> {
        self.promise.as_ref().map(|promise| &promise.guarantee)
    }

    /// Whether it excludes worlds by their score without a calibration that says how often the true one is
    /// among them: it is finite and promises nothing, and what follows from it is only tried out.
    ///
    /// ```
    /// use safecommit_conformal::{RiskCurve, Score, Threshold};
    ///
    /// RiskCurve::replay([Score::new(0.5)?], 0, |threshold| {
    ///     assert!(threshold.is_trial());
    ///     0
    /// });
    /// assert!(!Threshold::UNBOUNDED.is_trial());
    /// # Ok::<(), safecommit_conformal::ScoreError>(())
    /// ```
    pub fn is_trial(&self) -> bool {
        self.kappa.is_some() && self.promise.is_none()
    }

    /// Whether the other one retains the same scores, promises the same *and* came from the same cases: the
    /// digest of their scores, their number, and what is known of missing ones.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self == other && self.promise == other.promise
    }
}

impl PartialEq for Threshold {
    fn eq(&self, other: &Self) -> bool {
        self.kappa == other.kappa
    }
}

impl Eq for Threshold {}

impl Hash for Threshold {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kappa.hash(state);
    }
}

impl Ord for Threshold {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.kappa, other.kappa) {
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
        match self.kappa {
            Some(score) => score.fmt(formatter),
            None => formatter.pad("unbounded"),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.kappa.serialize(serializer)
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
        let kappa = Threshold::trial(score(0.5));
        assert!(kappa.retains(score(0.5)));
        assert!(kappa.retains(score(0.4)));
        assert!(!kappa.retains(score(0.5_f64.next_up())));
        assert!(Threshold::UNBOUNDED.retains(score(f64::MAX)));
    }

    #[test]
    fn unbounded_comes_last() {
        assert!(Threshold::trial(score(f64::MAX)) < Threshold::UNBOUNDED);
        assert!(Threshold::trial(score(0.1)) < Threshold::trial(score(0.2)));
        assert_eq!(
            Threshold::UNBOUNDED.cmp(&Threshold::UNBOUNDED),
            Ordering::Equal
        );
    }

    #[test]
    fn shown_and_written() {
        assert_eq!(Threshold::UNBOUNDED.to_string(), "unbounded");
        assert_eq!(Threshold::trial(score(0.25)).to_string(), "0.25");
        assert_eq!(
            serde_json::to_string(&Threshold::UNBOUNDED).unwrap(),
            "null"
        );
        assert_eq!(
            serde_json::to_string(&Threshold::trial(score(0.25))).unwrap(),
            "0.25"
        );
    }
}
