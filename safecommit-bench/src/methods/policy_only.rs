//! Gates actions by hard policy alone.

use smallvec::SmallVec;

use super::confidence::Weights;
use super::{ConfidenceThreshold, Environment, Method, ProposedWorld, Scratch, Verdict, fallback};
use crate::bounded::Positive;

/// As [`super::SingleWorld`], unless policy forbids the action; then the best world whose action is not
/// forbidden.
///
/// To the last tie: the worlds left are the proposed ones but those whose action
/// ([`ProposedWorld::action`], the first of several safe ones) is forbidden. It takes the action of the world left
/// with the lowest (score, position), if the share of that action over the worlds left passes the threshold
/// ([`ConfidenceThreshold`]). Else it falls back, and so it does when nothing is safe in that world and when
/// no world is left. It never probes, and guarantees nothing but that no forbidden action is committed.
///
/// At [`ConfidenceThreshold::ALWAYS`] it is the rule without confidence. Swept over the threshold, it traces
/// risk against coverage: a larger threshold commits in fewer episodes.
///
/// ```
/// use safecommit_bench::{
///     Cell, ConfidenceThreshold, Generator, Parameters, PolicyOnly, SingleWorld, Split, Suite, simulate,
/// };
///
/// let parameters = Parameters::project()?;
/// let generator = Generator::new(&parameters.generator, Suite::Compared { seed: 1 }, Split::Test);
/// let temperature = parameters.experiments.temperature;
/// let policy_only = PolicyOnly::new(temperature, ConfidenceThreshold::ALWAYS);
/// let cells = [Cell::uncertified(SingleWorld), Cell::uncertified(policy_only)];
/// let [single_world, policy_only] = simulate(&generator, 400, &cells)[..] else { panic!("two cells") };
/// let [.., drift] = single_world;
/// let [.., gated] = policy_only;
/// assert!(gated.unsafe_commits < drift.unsafe_commits); // policy has caught up in half of the episodes
/// assert_eq!(policy_only[..3], single_world[..3]); // the other families forbid nothing
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PolicyOnly {
    temperature: Positive,
    threshold: ConfidenceThreshold,
}

impl PolicyOnly {
    /// With this temperature of the weights and threshold of the share.
    #[must_use]
    pub fn new(temperature: Positive, threshold: ConfidenceThreshold) -> Self {
        Self {
            temperature,
            threshold,
        }
    }
}

impl Method for PolicyOnly {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let mediation = environment.mediation();
        let forbidden = |world: &ProposedWorld| {
            let action = world.action();
            action.is_some_and(|action| mediation.is_forbidden(action))
        };
        let proposed = environment.proposed().iter().copied();
        let left: SmallVec<[ProposedWorld; 6]> =
            proposed.filter(|world| !forbidden(world)).collect();
        let best = left.iter().min_by_key(|world| world.rank());
        match best.and_then(ProposedWorld::action) {
            Some(action)
                if self
                    .threshold
                    .passes(Weights::of(&left, self.temperature).share(action)) =>
            {
                Verdict::Commit { action }
            }
            _ => fallback(&left),
        }
    }
}
