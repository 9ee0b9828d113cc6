//! The search for the worst that an adversary can do.

use safecommit_conformal::Threshold;

use super::placement::{MOST, Placement, Placements};
use crate::beyond::workbench::Run;
use crate::episode::{Episode, EpisodeWorld};
use crate::generator::Split;
use crate::methods::{Environment, Memory, Method, Verdict};
use crate::micros::Micros;
use crate::random::RandomStream;

/// Where the true world is retained, one in so many of all placements is tried, others in every episode.
pub(super) const PART: usize = 64;

/// A method under attack.
pub(super) struct Target {
    pub(super) method: Box<dyn Method>,
    /// Whether it commits only with a certificate.
    pub(super) certifies: bool,
}

/// How many episodes an adversary can make end so, with at most as many poisoned worlds as the position says.
pub(super) type ByWorlds = [u64; MOST + 1];

/// What the search found against one method in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) episodes: u64,
    pub(super) unsafe_commits: ByWorlds,
    pub(super) fallbacks: ByWorlds,
    /// Fallbacks forced with poisoned worlds that allow an action each.
    pub(super) fallbacks_by_claims: ByWorlds,
    /// One or the other: all that is no safe commit.
    pub(super) failures: ByWorlds,
    /// Episodes whose true world is above the threshold.
    pub(super) above: u64,
    /// Decisions of a certificate method on episodes whose true world is retained.
    pub(super) retained_decisions: u64,
    /// Those of them that committed an action that is not safe.
    pub(super) retained_unsafe: u64,
}

/// The fewest poisoned worlds with which an episode was made to end so; [`NEVER`] if it was not.
#[derive(Clone, Copy, Debug)]
struct Fewest {
    unsafe_commit: usize,
    fallback: usize,
    fallback_by_claims: usize,
}

const NEVER: usize = usize::MAX;

impl Fewest {
    const NONE: Self = Self {
        unsafe_commit: NEVER,
        fallback: NEVER,
        fallback_by_claims: NEVER,
    };

    /// Whether a placement of this many worlds cannot lower any of them.
    fn settled(self, worlds: usize) -> bool {
        let Self {
            unsafe_commit,
            fallback,
            fallback_by_claims,
        } = self;
        unsafe_commit.max(fallback).max(fallback_by_claims) <= worlds
    }
}

impl Found {
    fn add(&mut self, fewest: Fewest) {
        self.episodes += 1;
        for allowed in 0..=MOST {
            let within = |fewest: usize| u64::from(fewest <= allowed);
            self.unsafe_commits[allowed] += within(fewest.unsafe_commit);
            self.fallbacks[allowed] += within(fewest.fallback);
            self.fallbacks_by_claims[allowed] += within(fewest.fallback_by_claims);
            self.failures[allowed] += within(fewest.unsafe_commit.min(fewest.fallback));
        }
    }
}

/// An episode under attack.
struct Attack<'a> {
    targets: &'a [Target],
    policy: &'a dyn Fn() -> RandomStream,
    /// Whether the threshold retains the true world.
    retained: bool,
    fewest: Vec<Fewest>,
}

impl Attack<'_> {
    /// Has every method decide the episode with these worlds added, unless nothing can come of it. `measured` says
    /// that a fallback counts.
    fn decide(
        &mut self,
        poisoned: &Episode,
        worlds: &[EpisodeWorld],
        measured: bool,
        memory: &mut Memory,
        found: &mut [Found],
    ) {
        let claims = worlds.iter().all(|world| world.safe != 0);
        let Self {
            targets, retained, ..
        } = *self;
        let is_open = |(target, fewest): (&Target, &Fewest)| {
            (target.certifies && retained) || !fewest.settled(worlds.len())
        };
        if !targets.iter().zip(&self.fewest).any(is_open) {
            return;
        }
        memory.view.fill(poisoned);
        for ((target, fewest), found) in targets.iter().zip(&mut self.fewest).zip(found) {
            if !is_open((target, fewest)) {
                continue;
            }
            let mut environment = Environment::new(poisoned, &memory.view, self.policy);
            let verdict = target.method.decide(&mut environment, &mut memory.scratch);
            let lower = |fewest: &mut usize| *fewest = worlds.len().min(*fewest);
            let mut harmful = false;
            match verdict {
                Verdict::Commit { action } if poisoned.is_safe(action) => {}
                Verdict::Commit { .. } => {
                    harmful = true;
                    lower(&mut fewest.unsafe_commit);
                }
                Verdict::Fallback { .. } if !measured => {}
                Verdict::Fallback { .. } => {
                    lower(&mut fewest.fallback);
                    if claims {
                        lower(&mut fewest.fallback_by_claims);
                    }
                }
            }
            if target.certifies && retained {
                found.retained_decisions += 1;
                found.retained_unsafe += u64::from(harmful);
            }
        }
    }
}

/// Attacks every test episode of a run with placements made against this threshold. Probes that ask about
/// poisoned worlds have this cost. What was found comes in the order of `targets`.
///
/// Where the true world is above the threshold all placements are tried. Where it is retained, no method with
/// certificates can be made to commit an unsafe action. That is put to the test with a part of all placements; the
/// fallbacks that can be forced there are measured with the blocking ones alone, the same in every episode.
pub(super) fn attack(
    run: &Run<'_>,
    threshold: &Threshold,
    cost: f64,
    targets: &[Target],
) -> Vec<Found> {
    let generator = run.generator(Split::Test);
    // A finite threshold is the score of an episode, so it is on their grid.
    let kappa = threshold
        .finite()
        .map(|kappa| Micros::clipped(kappa.value()));
    let mut found = vec![Found::default(); targets.len()];
    let mut memory = Memory::default();
    for (index, episode) in run.test().iter().enumerate() {
        let truth = episode.worlds()[episode.true_world()].score;
        let retained = episode.true_world_proposed() && threshold.retains(truth.score());
        let mut attack = Attack {
            targets,
            policy: &|| generator.policy_stream(index as u64),
            retained,
            fewest: vec![Fewest::NONE; targets.len()],
        };
        attack.decide(episode, &[], true, &mut memory, &mut found);
        let placements = Placements::of(episode, kappa);
        let mut poisoned = episode.clone();
        let mut attempt = |placement: &Placement, measured| {
            placement.plant(episode, cost, &mut poisoned);
            attack.decide(
                &poisoned,
                &placement.worlds,
                measured,
                &mut memory,
                &mut found,
            );
        };
        for placement in placements.blocking() {
            attempt(&placement, true);
        }
        let (begin, step) = if retained {
            (index % PART, PART)
        } else {
            (0, 1)
        };
        for number in (begin..placements.len()).step_by(step) {
            if let Some(placement) = placements.get(number) {
                attempt(&placement, !retained);
            }
        }
        for (found, fewest) in found.iter_mut().zip(&attack.fewest) {
            found.add(*fewest);
            found.above += u64::from(!retained);
        }
    }
    found
}
