//! What bounds the probability of an unsafe commit, term by term, never folded into one number.

use safecommit_conformal::{Alpha, Calibration, Delta, Representation};

use crate::units::Probability;

/// P(unsafe commit) <= alpha + beta + the error rates of the probes used (Eq. 7 of Akewar and Ranjan,
/// arXiv:2608.04289), kept apart.
///
/// Assumes that calibration cases and this case are exchangeable, that answers of a probe are wrong
/// with at most its stated rate, and that the safety map is right.
///
/// ```
/// use safecommit_core::{ErrorBound, Probability, RepresentationTerm};
///
/// let stated = Some(Probability::new(0.01)?);
/// let bound = ErrorBound::new(None, stated, [("scan".to_owned(), Probability::new(0.02)?)]);
/// assert!((bound.total().unwrap() - 0.03).abs() < 1e-12);
/// assert_eq!(ErrorBound::new(None, None, []).total(), None); // beta is unknown, and so is the sum
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBound {
    calibration: Option<Alpha>,
    /// Whether alpha bounds the calibration error, and not alpha plus a gap that nobody knows, or the loss
    /// of a policy that nobody stated.
    alpha_bounds: bool,
    representation: RepresentationTerm,
    counted: Option<CountedMisses>,
    probes: Vec<(String, Probability)>,
}

/// What beta, the probability that the true world is not proposed, adds to the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RepresentationTerm {
    /// Nobody measured it.
    Unknown,
    /// The request states it.
    Stated(Probability),
    /// The calibration counted the cases whose true world was not proposed, as scores above all
    /// others, and its threshold is finite: then alpha covers both errors, and this term is zero.
    CoveredByAlpha,
    /// The calibration counted those cases, but its threshold is unbounded: everything proposed is
    /// retained, what was never proposed still is not, so beta stands on its own, as the upper bound of
    /// [`CountedMisses`]. A request cannot state less than was measured.
    Estimated(Probability),
}

/// The calibration cases whose true world was not proposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedMisses {
    /// How many there are.
    pub missing: u64,
    /// All calibration cases.
    pub cases: u64,
    /// One-sided 95% Clopper-Pearson bound on beta.
    pub upper_95: Probability,
}

/// 1 - confidence of the bound on beta.
const REPRESENTATION_DELTA: f64 = 0.05;

impl ErrorBound {
    /// The bound of a decision under `calibration` (none: nothing is excluded by its score, so that
    /// term is zero), with beta as the request states it or as the calibration measured it, and the
    /// probes whose answers were used. Where alpha does not cover the misses that the calibration
    /// counted, the larger of the two stands: whoever proposes cannot talk a measured beta down.
    #[must_use]
    pub fn new(
        calibration: Option<&Calibration>,
        stated_beta: Option<Probability>,
        probes: impl IntoIterator<Item = (String, Probability)>,
    ) -> Self {
        let counted = calibration.and_then(count);
        let covered = calibration.is_some_and(|it| {
            let counts = matches!(it.representation(), Representation::Counted(_));
            counts && !it.threshold().is_unbounded()
        });
        let representation = match (stated_beta, counted) {
            (None, _) if covered => RepresentationTerm::CoveredByAlpha,
            (Some(beta), _) if covered => RepresentationTerm::Stated(beta),
            (None, None) => RepresentationTerm::Unknown,
            (Some(beta), None) => RepresentationTerm::Stated(beta),
            (Some(beta), Some(misses)) if beta >= misses.upper_95 => {
                RepresentationTerm::Stated(beta)
            }
            (_, Some(misses)) => RepresentationTerm::Estimated(misses.upper_95),
        };
        Self {
            calibration: calibration.map(Calibration::alpha),
            alpha_bounds: calibration
                .is_none_or(|calibration| calibration.guarantee().alpha_bounds_the_error()),
            representation,
            counted,
            probes: probes
                .into_iter()
                .filter(|(_, rate)| rate.value() > 0.0)
                .collect(),
        }
    }

    /// The level of the calibration; `None` without one, when no world is excluded by its score.
    #[must_use]
    pub fn calibration(&self) -> Option<Alpha> {
        self.calibration
    }

    /// What is known of beta.
    #[must_use]
    pub fn representation(&self) -> RepresentationTerm {
        self.representation
    }

    /// The misses that the calibration counted, whatever the request states; `None` if it counted none,
    /// or with weights, when counts among its cases bound nothing in the mix of cases to come.
    #[must_use]
    pub fn counted(&self) -> Option<CountedMisses> {
        self.counted
    }

    /// The probes that can err and whose answers were used, with their error rates.
    #[must_use]
    pub fn probes(&self) -> &[(String, Probability)] {
        &self.probes
    }

    /// The sum of the terms, at most 1 and rounded up; `None` while beta is unknown, under a
    /// calibration on cases that are not exchangeable, whose gap is unknown, and under one that bounds the
    /// loss of a policy that nobody stated.
    #[must_use]
    pub fn total(&self) -> Option<f64> {
        if !self.alpha_bounds {
            return None;
        }
        let beta = self.representation.value()?;
        let alpha = self.calibration.map_or(0.0, |alpha| alpha.to_f64());
        let mut total = 0.0_f64;
        for term in [alpha, beta]
            .into_iter()
            .chain(self.probes.iter().map(|(_, rate)| rate.value()))
        {
            if term > 0.0 {
                total = if total > 0.0 {
                    (total + term).next_up()
                } else {
                    term
                };
            }
        }
        Some(total.min(1.0))
    }
}

impl RepresentationTerm {
    /// What beta adds to the bound; `None` while unknown.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match *self {
            Self::Unknown => None,
            Self::Stated(beta) | Self::Estimated(beta) => Some(beta.value()),
            Self::CoveredByAlpha => Some(0.0),
        }
    }
}

fn count(calibration: &Calibration) -> Option<CountedMisses> {
    if !calibration.guarantee().assumes_like_cases() {
        return None;
    }
    let Representation::Counted(misses) = calibration.representation() else {
        return None;
    };
    // A bound that cannot be computed is one that says nothing.
    let upper = Delta::new(REPRESENTATION_DELTA).map(|delta| misses.upper_bound(delta));
    let upper_95 = match upper {
        Ok(Ok(upper)) => Probability::new(upper).unwrap_or(Probability::ONE),
        _ => Probability::ONE,
    };
    Some(CountedMisses {
        missing: misses.missing(),
        cases: misses.cases(),
        upper_95,
    })
}
