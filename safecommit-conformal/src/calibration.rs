//! Split-conformal calibration: from scores to a threshold.

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::digest::Digest;
use crate::guarantee::Guarantee;
use crate::representation::{MissCount, Misses, Representation};
use crate::score::{CalibrationScore, Score};
use crate::threshold::Threshold;
use crate::wire::{WireForm, WireObject};

/// A split-conformal calibration: the threshold, and what it was computed from.
///
/// Serialises to a flat JSON object that carries a format version and a checksum over all other
/// fields. Loading takes an object of named fields alone, from a self-describing format, checks every field against the others (rank against alpha and n, threshold
/// against rank and missing, digest form, checksum) and refuses lists, unknown fields and versions. The
/// checksum catches damage and edits by hand; it is no signature, since anyone can compute it.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{Calibration, CalibrationScore};
///
/// let scores = ["0.2", "0.7", "0.4", "missing", "0.3", "0.1", "0.6", "0.5", "0.8"]
///     .map(|text| text.parse::<CalibrationScore>().unwrap());
/// let calibration = Calibration::split_conformal("0.2".parse()?, &scores);
/// assert_eq!((calibration.n(), calibration.missing(), calibration.rank()), (9, 1, 8));
/// assert_eq!(calibration.threshold().to_string(), "0.8");
///
/// let json = serde_json::to_string(&calibration)?;
/// assert_eq!(serde_json::from_str::<Calibration>(&json)?, calibration);
/// assert!(serde_json::from_str::<Calibration>(&json.replace("0.8", "0.9")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WireObject", into = "WireForm")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "WireForm")
)]
pub struct Calibration {
    // Invariants: missing <= n; rank = alpha.rank(n); the threshold is finite exactly when
    // rank <= n - missing; misses not counted implies missing = 0.
    pub(crate) alpha: Alpha,
    pub(crate) n: u64,
    pub(crate) missing: u64,
    pub(crate) misses_counted: bool,
    pub(crate) rank: u64,
    pub(crate) threshold: Threshold,
    pub(crate) guarantee: Guarantee,
    pub(crate) scores: Digest,
}

impl Calibration {
    /// Calibrates at level `alpha` on the scores of the true worlds of held-out cases.
    ///
    /// The threshold is the `rank`-th smallest score, `rank = (n + 1) - floor((n + 1) alpha)`
    /// (Akewar and Ranjan, arXiv:2608.04289, Eq. 14), where missing scores sort last. It is
    /// unbounded when the rank exceeds n or falls on a missing score; no scores at all is the
    /// first of these cases. Nothing is interpolated and nothing is clamped to the largest score:
    /// that would under-cover.
    ///
    /// Cases whose true world was never proposed count as counted if there is at least one of
    /// them, and otherwise as not measured, because a list of observed scores cannot tell whether
    /// there were none or whether they were left out. Say so with
    /// [`Calibration::split_conformal_with`] if all were listed.
    ///
    /// Takes time linear in n: the selection runs on the integer keys of the scores.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::Calibration;
    ///
    /// let nothing = Calibration::split_conformal("0.05".parse()?, &[]);
    /// assert!(nothing.threshold().is_unbounded());
    /// # Ok::<(), safecommit_conformal::AlphaError>(())
    /// ```
    pub fn split_conformal(alpha: Alpha, scores: &[CalibrationScore]) -> Self {
        Self::split_conformal_with(alpha, scores, Misses::AsListed)
    }

    /// [`Calibration::split_conformal`] with a statement on the cases whose true world was never
    /// proposed: [`Misses::AllListed`] declares that `scores` has an entry for every case drawn,
    /// so that no missing score means that none occurred.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Calibration, Delta, Misses, Representation, Score};
    ///
    /// let scores: Vec<_> =
    ///     (0..59).map(|i| Score::new(f64::from(i)).map(Into::into)).collect::<Result<_, _>>()?;
    /// let alpha = "0.05".parse()?;
    /// let unknown = Calibration::split_conformal(alpha, &scores);
    /// assert_eq!(unknown.representation(), Representation::NotMeasured);
    ///
    /// let declared = Calibration::split_conformal_with(alpha, &scores, Misses::AllListed);
    /// let Representation::Counted(misses) = declared.representation() else { panic!() };
    /// assert_eq!(misses.rate(), Some(0.0));
    /// assert!(misses.upper_bound(Delta::new(0.05)?)? < 0.05);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split_conformal_with(alpha: Alpha, scores: &[CalibrationScore], misses: Misses) -> Self {
        let n = scores.len() as u64;
        let missing = scores.iter().filter(|score| score.is_missing()).count() as u64;
        let rank = alpha.rank(n);
        let threshold = select(scores, rank).map_or(Threshold::UNBOUNDED, Threshold::at);
        let misses_counted = missing > 0 || misses == Misses::AllListed;
        let scores = Digest::of_scores(scores);
        let guarantee = Guarantee::Marginal;
        Self {
            alpha,
            n,
            missing,
            misses_counted,
            rank,
            threshold,
            guarantee,
            scores,
        }
    }

    /// The miscoverage level.
    pub fn alpha(&self) -> Alpha {
        self.alpha
    }

    /// The number of calibration cases, missing ones included.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The number of cases whose true world was not proposed.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The rank of the threshold among the n scores, from 1 to n + 1 (Eq. 14). The threshold is
    /// unbounded when it exceeds `n - missing`.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// The threshold kappa.
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// The SHA-256 of the scores in the order given; see [`Digest::of_scores`].
    pub fn digest(&self) -> Digest {
        self.scores
    }

    /// What the threshold promises, and under which assumption.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// What is known about true worlds that were never proposed.
    pub fn representation(&self) -> Representation {
        if self.misses_counted {
            Representation::Counted(MissCount::new(self.missing, self.n))
        } else {
            Representation::NotMeasured
        }
    }
}

/// The `rank`-th smallest score (from 1), in linear time; `None` if the rank exceeds the number of
/// scores or falls on a missing one.
fn select(scores: &[CalibrationScore], rank: u64) -> Option<Score> {
    let index = usize::try_from(rank.checked_sub(1)?).ok()?;
    if index >= scores.len() {
        return None;
    }
    let mut keys: Vec<u64> = scores.iter().map(|score| score.key()).collect();
    let (_, key, _) = keys.select_nth_unstable(index);
    // The key of a missing score belongs to no score.
    Score::from_key(*key)
}
