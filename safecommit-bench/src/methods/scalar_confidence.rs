//! Acts when a single number is large enough.

mod tune;

use safecommit_core::YES;
use smallvec::SmallVec;

use super::confidence::Weights;
use super::{ConfidenceThreshold, Environment, Method, ProposedWorld, Scratch, Verdict, fallback};
use crate::bounded::Positive;

pub use tune::tune_confidence;

/// Acts on the action with the largest share of the weights over the proposed worlds, if the share passes a
/// threshold; the agent's own confidence, in place of a certificate.
///
/// To the last tie, with the shares of [`ConfidenceThreshold`] over the worlds left, at first the proposed ones:
/// 1. The leading action is the one with the largest share; in the order of actions, a later one leads
///    only if its share is larger by more than 1e-12. If no action is safe in any world left, it falls back.
/// 2. If the share of the leading action passes the threshold, it is committed.
/// 3. Else, while the budget of probes lasts, it asks about the heaviest world left that a probe asks
///    about, which is the one with the lowest (score, position), by the first such probe. "Yes": it commits
///    that world's action ([`ProposedWorld::action`]), or falls back if there is none. "No": the world is
///    removed, and it goes on with 1.
/// 4. Else it falls back.
///
/// With a budget of 0 it is the rule without questions. Threshold and budget belong together: the threshold
/// comes from [`tune_confidence`] on validation with the same budget. It guarantees nothing on other data. Swept
/// over the threshold, it traces risk against coverage; with questions, risk need not fall at each step.
#[derive(Clone, Copy, Debug)]
pub struct ScalarConfidence {
    temperature: Positive,
    threshold: ConfidenceThreshold,
    max_probes: u32,
}

impl ScalarConfidence {
    /// With this temperature of the weights, threshold of the share, and most probes an episode.
    #[must_use]
    pub fn new(temperature: Positive, threshold: ConfidenceThreshold, max_probes: u32) -> Self {
        Self {
            temperature,
            threshold,
            max_probes,
        }
    }

    /// The threshold.
    #[must_use]
    pub fn threshold(&self) -> ConfidenceThreshold {
        self.threshold
    }
}

impl Method for ScalarConfidence {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        pursue(
            environment,
            self.temperature,
            self.max_probes,
            |_, share| self.threshold.passes(share),
        )
    }
}

/// The rule of [`ScalarConfidence`]; `acts` decides on a leading action and its share.
fn pursue(
    environment: &mut Environment<'_>,
    temperature: Positive,
    max_probes: u32,
    mut acts: impl FnMut(usize, f64) -> bool,
) -> Verdict {
    let mut left: SmallVec<[ProposedWorld; 6]> = environment.proposed().into();
    loop {
        let leading = Weights::of(&left, temperature).leading(environment.actions());
        let Some((action, share)) = leading else {
            return fallback(&left);
        };
        if acts(action, share) {
            return Verdict::Commit { action };
        }
        if environment.spent() >= max_probes as usize {
            return fallback(&left);
        }
        let Some((at, probe)) = heaviest_question(environment, &left) else {
            return fallback(&left);
        };
        let world = left.remove(at);
        if environment.ask(probe) == YES {
            return match world.action() {
                Some(action) => Verdict::Commit { action },
                None => fallback(&[world]),
            };
        }
    }
}

/// Where the heaviest world stands among those that a probe asks about, and the first probe that does.
fn heaviest_question(
    environment: &Environment<'_>,
    worlds: &[ProposedWorld],
) -> Option<(usize, usize)> {
    let probes = environment.probes();
    let questions = worlds.iter().enumerate().filter_map(|(at, world)| {
        let probe = probes.iter().position(|probe| probe.asks == world.position);
        Some((world.rank(), at, probe?))
    });
    let (_, at, probe) = questions.min()?;
    Some((at, probe))
}
