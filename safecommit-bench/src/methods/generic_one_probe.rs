//! Probes without regard to what blocks.

use safecommit_conformal::Threshold;
use safecommit_core::YES;
use smallvec::SmallVec;

use super::{Environment, Method, ProposedWorld, Scratch, Verdict, fallback};

/// Asks about one retained world, uniformly at random among them; confirmed, it takes that world's
/// action, else that of the remaining retained world with the lowest (score, position). Falls back
/// when none is retained or left. It guarantees nothing.
#[derive(Clone, Debug)]
pub struct GenericOneProbe {
    threshold: Threshold,
}

impl GenericOneProbe {
    /// Retains worlds by this threshold.
    #[must_use]
    pub fn new(threshold: &Threshold) -> Self {
        let threshold = threshold.clone();
        Self { threshold }
    }
}

impl Method for GenericOneProbe {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let mut retained: SmallVec<[ProposedWorld; 6]> = environment
            .proposed()
            .iter()
            .copied()
            .filter(|world| self.threshold.retains(world.score.score()))
            .collect();
        if retained.is_empty() {
            return fallback(&[]);
        }
        let chosen = environment.random().index_below(retained.len());
        let world = retained[chosen];
        let probe = environment
            .probes()
            .iter()
            .position(|probe| probe.asks == world.position);
        // A world that no probe asks about stays a hypothesis like the others.
        if let Some(probe) = probe {
            if environment.ask(probe) == YES {
                return match world.action() {
                    Some(action) => Verdict::Commit { action },
                    None => fallback(&[world]),
                };
            }
            retained.remove(chosen);
        }
        let best = retained.iter().min_by_key(|world| world.rank());
        match best.and_then(|world| world.action()) {
            Some(action) => Verdict::Commit { action },
            None => fallback(&retained),
        }
    }
}
