//! Contains effects at execution instead of certifying them before.

use super::confidence::Weights;
use super::{ConfidenceThreshold, Environment, Inspection, Method, ProposedWorld};
use super::{Scratch, Verdict, fallback};
use crate::bounded::Positive;

/// As [`super::SingleWorld`], but a reversible action is staged first: an unsafe one is seen there and
/// rolled back to a fallback. An irreversible action takes effect.
///
/// To the last tie: it takes the action of the proposed world with the lowest (score, position), if the
/// share of that action over the proposed worlds passes the threshold ([`ConfidenceThreshold`]); else it
/// falls back and stages nothing. Every staged action costs its inspection, the safe one too, since nobody knows
/// beforehand which it is; an inspection counts as one probe. With a budget of 0 nothing can be staged, and a
/// reversible action takes effect like any other. It guarantees nothing about irreversible actions; within a
/// budget of at least 1 it never leaves a reversible unsafe one in place.
///
/// At [`ConfidenceThreshold::ALWAYS`] it is the rule without confidence. Swept over the threshold, it traces
/// risk against coverage: a larger threshold commits in fewer episodes.
///
/// ```
/// use safecommit_bench::{
///     Cell, ConfidenceThreshold, Counts, ExecutionContainment, Generator, Parameters, Split, Suite, simulate,
/// };
///
/// let parameters = Parameters::project()?;
/// let generator = Generator::new(&parameters.generator, Suite::Compared { seed: 1 }, Split::Test);
/// let temperature = parameters.experiments.temperature;
/// let [without, with] = [0, 1].map(|max_probes| {
///     let method = ExecutionContainment::new(temperature, ConfidenceThreshold::ALWAYS, max_probes);
///     let mut counts = Counts::default();
///     simulate(&generator, 400, &[Cell::uncertified(method)])[0].iter().for_each(|family| counts += *family);
///     counts
/// });
/// assert_eq!((without.probes, with.safe_commits), (0, without.safe_commits));
/// assert!(with.unsafe_commits < without.unsafe_commits);
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExecutionContainment {
    temperature: Positive,
    threshold: ConfidenceThreshold,
    max_probes: u32,
}

impl ExecutionContainment {
    /// With this temperature of the weights, threshold of the share, and most probes an episode.
    #[must_use]
    pub fn new(temperature: Positive, threshold: ConfidenceThreshold, max_probes: u32) -> Self {
        Self {
            temperature,
            threshold,
            max_probes,
        }
    }
}

impl Method for ExecutionContainment {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let proposed = environment.proposed();
        let best = proposed.iter().min_by_key(|world| world.rank());
        let Some(action) = best.and_then(ProposedWorld::action) else {
            return fallback(proposed);
        };
        let share = Weights::of(proposed, self.temperature).share(action);
        if !self.threshold.passes(share) {
            return fallback(proposed);
        }
        let staged = if self.max_probes > 0 {
            environment.stage(action)
        } else {
            None
        };
        match staged {
            Some(Inspection::Unsafe) => fallback(proposed),
            Some(Inspection::Safe) | None => Verdict::Commit { action },
        }
    }
}
