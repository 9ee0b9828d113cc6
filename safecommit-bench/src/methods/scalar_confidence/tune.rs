//! The threshold that scalar confidence is given.

use safecommit_conformal::Alpha;
use smallvec::SmallVec;

use super::super::{ConfidenceThreshold, Environment, Verdict, View};
use super::pursue;
use crate::bounded::{Positive, Probability};
use crate::episode::Episode;
use crate::random::StreamKey;

/// Tunes the threshold of [`ScalarConfidence`](super::ScalarConfidence) on validation episodes, for the budget that it will have: of
/// the shares met there and [`ConfidenceThreshold::Never`], the one with the highest task success among those
/// whose unsafe commit rate is at most `alpha`; the largest on a tie. `Never` commits only what an answer has
/// confirmed, so it always passes, and is what is left where nothing else passes.
///
/// ```
/// use safecommit_bench::{
///     ConfidenceThreshold, Episode, Generator, Parameters, Split, Suite, tune_confidence,
/// };
///
/// let parameters = Parameters::project()?;
/// let suite = Suite::Compared { seed: 1 };
/// let generator = Generator::new(&parameters.generator, suite, Split::Validation);
/// let validation: Vec<Episode> =
///     (0..500).map(|index| generator.draw(index).episode().clone()).collect();
/// let (alpha, temperature) = ("0.05".parse()?, parameters.experiments.temperature);
/// let threshold = tune_confidence(alpha, temperature, 2, &validation);
/// assert!(threshold > ConfidenceThreshold::ALWAYS && threshold < ConfidenceThreshold::Never);
/// assert_eq!(tune_confidence(alpha, temperature, 2, &[]), ConfidenceThreshold::Never);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tune_confidence<'a>(
    alpha: Alpha,
    temperature: Positive,
    max_probes: u32,
    validation: impl IntoIterator<Item = &'a Episode>,
) -> ConfidenceThreshold {
    let mut view = View::default();
    let mut episodes = 0_u32;
    let mut committed = Commits::default();
    let mut changes = Vec::new();
    for episode in validation {
        episodes += 1;
        view.fill(episode);
        let course = course(episode, &view, temperature, max_probes);
        committed += course.at_last;
        changes.extend(course.changes);
    }
    // Correctly rounded quotients order as the exact ones do, and equality with alpha stays equality.
    let passes = |committed: Commits| {
        f64::from(committed.unsafe_ones) / f64::from(episodes.max(1)) <= alpha.to_f64()
    };
    changes.sort_unstable_by(|one: &Change, other| other.share.total_cmp(&one.share));
    let mut best = (committed.safe, ConfidenceThreshold::Never);
    // From the largest share down. With questions, risk may fall again, so none ends it.
    for equal in changes.chunk_by(|one, other| one.share.total_cmp(&other.share).is_eq()) {
        for change in equal {
            committed += change.to;
            committed -= change.from;
        }
        let share = Probability::try_from(equal[0].share);
        if let Ok(share) = share
            && passes(committed)
            && committed.safe > best.0
        {
            best = (committed.safe, ConfidenceThreshold::AtLeast(share));
        }
    }
    best.1
}

/// What an episode contributes to the commits at a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Commits {
    safe: u32,
    unsafe_ones: u32,
}

/// What changes once the threshold has come down to a share.
struct Change {
    share: f64,
    from: Commits,
    to: Commits,
}

/// How an episode ends, by threshold.
struct Course {
    /// At `Never`.
    at_last: Commits,
    changes: SmallVec<[Change; 4]>,
}

/// Follows the rule on one episode as long as it can go on.
fn course(episode: &Episode, view: &View, temperature: Positive, max_probes: u32) -> Course {
    let no_choice = || StreamKey::derive("tuning", 0, "validation", "policy").stream(0);
    let mut environment = Environment::new(episode, view, &no_choice);
    // A threshold is first passed by a share above all shares before it.
    let mut records: SmallVec<[(f64, Commits); 4]> = SmallVec::new();
    let verdict = pursue(
        &mut environment,
        temperature,
        max_probes,
        |action, share| {
            if records.last().is_none_or(|(record, _)| share > *record) {
                records.push((share, Commits::of(episode, action)));
            }
            false
        },
    );
    let at_last = match verdict {
        Verdict::Commit { action } => Commits::of(episode, action),
        Verdict::Fallback { .. } => Commits::default(),
    };
    let mut from = at_last;
    let mut changes = SmallVec::new();
    for (share, to) in records.into_iter().rev() {
        changes.push(Change { share, from, to });
        from = to;
    }
    Course { at_last, changes }
}

impl Commits {
    fn of(episode: &Episode, action: usize) -> Self {
        let safe = episode.is_safe(action);
        Self {
            safe: u32::from(safe),
            unsafe_ones: u32::from(!safe),
        }
    }
}

impl std::ops::AddAssign for Commits {
    fn add_assign(&mut self, other: Self) {
        self.safe += other.safe;
        self.unsafe_ones += other.unsafe_ones;
    }
}

impl std::ops::SubAssign for Commits {
    fn sub_assign(&mut self, other: Self) {
        self.safe -= other.safe;
        self.unsafe_ones -= other.unsafe_ones;
    }
}
