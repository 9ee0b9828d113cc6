//! Split-conformal calibration: from scores to a threshold.

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::digest::Digest;
use crate::guarantee::Guarantee;
use crate::representation::{MissCount, Misses, Representation};
use crate::score::{CalibrationScore, Score};
use crate::source::Source;
use crate::stratum::Stratum;
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
    // Invariants: missing <= n; misses not counted implies missing = 0; 1 <= rank <= n + 1, and it
    // is the one that alpha, n and the guarantee give wherever they give one; for order statistics
    // the threshold is finite exactly when rank <= n - missing; otherwise it is unbounded if the
    // rank is n + 1.
    alpha: Alpha,
    source: Source,
    rank: u64,
    /// Carries all of that but the rank.
    threshold: Threshold,
    guarantee: Guarantee,
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
        let rank = alpha.rank(scores.len() as u64);
        Self::at_rank(alpha, scores, misses, rank, Guarantee::Marginal)
    }

    /// The calibration whose threshold is the score of the given rank, unbounded if that rank
    /// exceeds n or falls on a missing score. The caller warrants that the rank gives the guarantee.
    pub(crate) fn at_rank(
        alpha: Alpha,
        scores: &[CalibrationScore],
        misses: Misses,
        rank: u64,
        guarantee: Guarantee,
    ) -> Self {
        let missing = scores.iter().filter(|score| score.is_missing()).count() as u64;
        let source = Source {
            scores: Digest::of_scores(scores),
            n: scores.len() as u64,
            missing,
            misses_counted: missing > 0 || misses == Misses::AllListed,
        };
        Self::of(alpha, source, rank, select(scores, rank), guarantee)
    }

    /// The calibration with this threshold. The caller warrants that it gives the guarantee.
    pub(crate) fn of(
        alpha: Alpha,
        source: Source,
        rank: u64,
        kappa: Option<Score>,
        guarantee: Guarantee,
    ) -> Self {
        Self {
            alpha,
            source,
            rank,
            threshold: Threshold::calibrated(kappa, alpha, guarantee.clone(), source),
            guarantee,
        }
    }

    /// The same calibration with another statement of what it promises.
    pub(crate) fn with_guarantee(self, guarantee: Guarantee) -> Self {
        let kappa = self.threshold.finite();
        Self::of(self.alpha, self.source, self.rank, kappa, guarantee)
    }

    /// The miscoverage level.
    pub fn alpha(&self) -> Alpha {
        self.alpha
    }

    /// The number of calibration cases, missing ones included.
    pub fn n(&self) -> u64 {
        self.source.n
    }

    /// The number of cases whose true world was not proposed.
    pub fn missing(&self) -> u64 {
        self.source.missing
    }

    /// The rank of the threshold among the n scores, from 1 to n + 1. The threshold is unbounded
    /// when it exceeds `n - missing`.
    ///
    /// For marginal calibrations, groups included, it is that of Eq. 14. With weights, and for
    /// e-values, it is the number of scores that the threshold retains, and n + 1 if it is
    /// unbounded. For risk control and Learn-then-Test it is n less the number of whole losses that
    /// are allowed among the calibration cases, and n + 1 if not even none is enough.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// The threshold kappa, with what it promises.
    pub fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// The SHA-256 of the scores in the order given; see [`Digest::of_scores`].
    pub fn digest(&self) -> Digest {
        self.source.scores
    }

    /// What the threshold promises, and under which assumption.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The threshold, for a case of the given stratum.
    ///
    /// A calibration that is not for a group serves all cases.
    ///
    /// # Errors
    ///
    /// [`StratumMismatch`] if the calibration is for a group, and this is another one.
    pub fn threshold_for(&self, stratum: &Stratum) -> Result<&Threshold, StratumMismatch> {
        match self.stratum() {
            Some(calibrated) if calibrated != stratum => Err(StratumMismatch {
                asked: stratum.clone(),
                calibrated: calibrated.clone(),
            }),
            _ => Ok(self.threshold()),
        }
    }

    /// The group whose cases alone it is for; `None` if it serves all cases.
    pub fn stratum(&self) -> Option<&Stratum> {
        match &self.guarantee {
            Guarantee::Group(group) | Guarantee::GroupAndPool(group) => Some(group.stratum()),
            _ => None,
        }
    }

    /// The cases that it is from.
    pub(crate) fn source(&self) -> Source {
        self.source
    }

    /// What is known about true worlds that were never proposed.
    pub fn representation(&self) -> Representation {
        if self.source.misses_counted {
            Representation::Counted(MissCount::new(self.missing(), self.n()))
        } else {
            Representation::NotMeasured
        }
    }
}

/// A threshold asked for a group that it was not calibrated for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the calibration is for stratum `{calibrated}` and does not serve `{asked}`")]
pub struct StratumMismatch {
    asked: Stratum,
    calibrated: Stratum,
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
