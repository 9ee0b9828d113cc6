//! From calibration cases, some of them missed, to a threshold that keeps the total level.

use safecommit_conformal::{
    Alpha, Calibration, CalibrationScore, Delta, ErrorSplit, Misses, Threshold,
};
use safecommit_core::FallbackKind;

use crate::beyond::error::StudyError;
use crate::beyond::workbench::Run;
use crate::generator::{DrawnEpisode, Split};
use crate::methods::{Environment, Method, Scratch, Verdict, calibration_score};

/// One minus the confidence of the bound on the miss probability.
pub(super) const DELTA: f64 = 0.05;

/// Decimals of the level that the split route is left with.
const DECIMALS: u8 = 9;

/// How one total level is spent on the two errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// One quantile for both, misses last.
    Folded,
    /// A bound on the miss probability, and a quantile at what it leaves.
    Split,
}

/// A calibration case: its score if it was proposed, and the uniform number that decides whether it was.
pub(super) struct Case {
    pub(super) score: CalibrationScore,
    pub(super) uniform: f64,
}

impl Route {
    pub(super) const ALL: [Self; 2] = [Self::Folded, Self::Split];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Split => "split",
        }
    }

    /// The threshold that keeps `level` for the cases given when each is missed with probability `miss`;
    /// `None` if no threshold does, so that nothing may be committed.
    pub(super) fn threshold(
        self,
        level: Alpha,
        cases: &[Case],
        miss: f64,
    ) -> Result<Option<Threshold>, StudyError> {
        let scores = cases.iter().map(|case| match case.uniform < miss {
            true => CalibrationScore::Missing,
            false => case.score,
        });
        let scores: Vec<CalibrationScore> = scores.collect();
        let folded = Calibration::split_conformal_with(level, &scores, Misses::AllListed);
        match self {
            // What an unbounded threshold retains is all that was proposed, which is no statement on the misses.
            Self::Folded => {
                let threshold = folded.threshold();
                Ok((!threshold.is_unbounded()).then(|| threshold.clone()))
            }
            Self::Split => {
                let left = ErrorSplit::of(&folded, Delta::new(DELTA)?)?
                    .map_or(0.0, |split| split.alpha_left());
                let observed: Vec<CalibrationScore> = scores
                    .into_iter()
                    .filter(|score| !score.is_missing())
                    .collect();
                // Unbounded, it retains every true world that was proposed: the misses have a bound of their own.
                let threshold = |alpha| {
                    let calibration = Calibration::split_conformal(alpha, &observed);
                    calibration.threshold().clone()
                };
                Ok(rounded_down(left).map(threshold))
            }
        }
    }
}

/// The largest level with [`DECIMALS`] decimals below this number; `None` if there is none.
pub(super) fn rounded_down(level: f64) -> Option<Alpha> {
    let digits = (level * 10_f64.powi(i32::from(DECIMALS))) as u64;
    // The product may have been rounded up, by less than one digit.
    [digits, digits.saturating_sub(1)]
        .into_iter()
        .filter_map(|digits| Alpha::from_digits(digits, DECIMALS).ok())
        .find(|alpha| alpha.to_f64() < level)
}

/// Draws calibration cases of a run; the first are its own calibration episodes.
pub(super) fn drawn_cases(run: &Run<'_>, indices: std::ops::Range<u64>) -> Vec<Case> {
    let generator = run.generator(Split::Calibration);
    let mut drawn = DrawnEpisode::default();
    let case = |index| {
        generator.draw_into(index, &mut drawn);
        Case {
            score: calibration_score(drawn.episode()),
            uniform: generator.proposal_uniform(index),
        }
    };
    indices.map(case).collect()
}

/// Hands every episode over: what is left to do without a usable threshold.
pub(super) struct NeverCommits;

impl Method for NeverCommits {
    fn decide(&self, _: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let kind = FallbackKind::Escalate;
        Verdict::Fallback { kind, reason: None }
    }
}
