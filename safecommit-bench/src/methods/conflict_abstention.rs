//! Falls back on a close conflict of scores.

use safecommit_conformal::{Alpha, Threshold};

use super::environment::proposed_worlds;
use super::{Environment, Method, ProposedWorld, Scratch, Verdict, fallback};
use crate::episode::Episode;

/// Takes the action of the proposed world with the lowest (score, position), unless the best retained
/// world in which that action is not safe scores within a margin of it; then it falls back.
///
/// Margin and threshold both come from the frozen splits: the threshold from calibration, the margin
/// from [`tune_margin`] on validation. It guarantees nothing on other data. Where nothing is retained, no
/// rival is, and it acts like [`super::SingleWorld`].
///
/// Swept over the margin, it traces risk against coverage: a larger margin commits in fewer episodes.
#[derive(Clone, Debug)]
pub struct ConflictAbstention {
    threshold: Threshold,
    margin: Margin,
}

/// The largest gap of scores that counts as a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Margin {
    /// A gap of at most this many millionths falls back.
    Millionths(u32),
    /// Every gap falls back.
    Infinite,
}

impl ConflictAbstention {
    /// With this threshold and margin.
    #[must_use]
    pub fn new(threshold: &Threshold, margin: Margin) -> Self {
        let threshold = threshold.clone();
        Self { threshold, margin }
    }

    /// The margin.
    #[must_use]
    pub fn margin(&self) -> Margin {
        self.margin
    }
}

impl Method for ConflictAbstention {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let Some((action, gap)) = leading_action(environment.proposed(), &self.threshold) else {
            return fallback(environment.proposed());
        };
        match gap {
            Some(gap) if Margin::Millionths(gap) <= self.margin => fallback(environment.proposed()),
            _ => Verdict::Commit { action },
        }
    }
}

/// The action of the proposed world with the lowest (score, position), and the gap from that world's
/// score to the lowest score of a retained world in which the action is not safe, in millionths.
fn leading_action(
    proposed: &[ProposedWorld],
    threshold: &Threshold,
) -> Option<(usize, Option<u32>)> {
    let best = proposed.iter().min_by_key(|world| world.rank())?;
    let action = best.action()?;
    let rival = proposed
        .iter()
        .filter(|world| threshold.retains(world.score.score()) && world.safe >> action & 1 == 0)
        .map(|world| world.score)
        .min();
    let gap = rival.map(|score| score.count() - best.score.count());
    Some((action, gap))
}

/// Tunes the margin on validation episodes: of the gaps seen there and infinity, the one with the
/// highest task success among those whose unsafe commit rate is at most `alpha`; the largest on a tie;
/// infinity if none passes.
///
/// ```
/// use safecommit_bench::{Episode, Generator, Margin, Parameters, Split, Suite, calibrate, tune_margin};
///
/// let parameters = Parameters::project()?;
/// let draw = |split, count| -> Vec<Episode> {
///     let generator = Generator::new(&parameters.generator, Suite::Experiment { seed: 1 }, split);
///     (0..count).map(|index| generator.draw(index).episode().clone()).collect()
/// };
/// let alpha = "0.05".parse()?;
/// let calibration = calibrate(alpha, &draw(Split::Calibration, 500));
/// let margin = tune_margin(alpha, calibration.threshold(), &draw(Split::Validation, 500));
/// assert!(margin > Margin::Millionths(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tune_margin<'a>(
    alpha: Alpha,
    threshold: &Threshold,
    validation: impl IntoIterator<Item = &'a Episode>,
) -> Margin {
    let mut episodes = 0_u32;
    // What is committed at the margin looked at: at first, at infinity, only where no rival is retained.
    let (mut safe, mut unsafe_commits) = (0_u32, 0_u32);
    // (gap, whether committing is safe) of the episodes that a margin decides.
    let mut conflicts = Vec::new();
    for episode in validation {
        episodes += 1;
        let Some((action, gap)) = leading_action(&proposed_worlds(episode), threshold) else {
            continue;
        };
        match (gap, episode.is_safe(action)) {
            (Some(gap), is_safe) => conflicts.push((gap, is_safe)),
            (None, true) => safe += 1,
            (None, false) => unsafe_commits += 1,
        }
    }
    // Correctly rounded quotients order as the exact ones do, and equality with alpha stays equality.
    let passes = |unsafe_commits: u32| {
        f64::from(unsafe_commits) / f64::from(episodes.max(1)) <= alpha.to_f64()
    };
    conflicts.sort_unstable();
    let mut best = (safe, Margin::Infinite);
    let mut left = conflicts.as_slice();
    // From the largest gap down. A smaller margin only commits more, so the first that fails ends it.
    while let Some(&(gap, _)) = left.last() {
        if !passes(unsafe_commits) {
            break;
        }
        if safe > best.0 {
            best = (safe, Margin::Millionths(gap));
        }
        let equal = left.iter().rev().take_while(|conflict| conflict.0 == gap);
        let (count, safe_ones) = equal.fold((0, 0), |(count, safe_ones), conflict| {
            (count + 1, safe_ones + u32::from(conflict.1))
        });
        safe += safe_ones;
        unsafe_commits += count as u32 - safe_ones;
        left = &left[..left.len() - count];
    }
    best.1
}
