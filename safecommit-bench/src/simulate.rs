//! Runs methods on episodes and counts.

use rayon::prelude::*;
use safecommit_core::{Failure, Fate, Reason, attribute};
use smallvec::SmallVec;

use crate::counts::Counts;
use crate::episode::{Episode, Family};
use crate::generator::{DrawnEpisode, Generator};
use crate::methods::{Environment, Memory, Method, Verdict};
use crate::random::RandomStream;

/// How a method ended an episode, with the probes that it made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What it decided.
    pub verdict: Verdict,
    /// Positions of the probes in the episode, in the order in which they were made.
    pub probes: SmallVec<[usize; 6]>,
}

/// Runs a method on one episode. `policy` gives the random stream for its own choices.
pub fn decide(
    method: &dyn Method,
    episode: &Episode,
    policy: &dyn Fn() -> RandomStream,
    memory: &mut Memory,
) -> Ending {
    let mut environment = Environment::new(episode, policy);
    let verdict = method.decide(&mut environment, memory);
    Ending {
        verdict,
        probes: environment.asked().into(),
    }
}

/// One setting to simulate: a method, and the probability that the proposal misses the true world.
pub struct Cell {
    /// The method.
    pub method: Box<dyn Method>,
    /// Whether it is a certificate method, whose failures are attributed to a cause.
    pub certifies: bool,
    /// Probability that the true world is left out of the proposal.
    pub proposal_miss: f64,
}

/// The counts of one cell, family by family in the order of [`Family::ALL`].
pub type FamilyCounts = [Counts; 4];

/// Episodes that one task draws and runs through all cells.
const EPISODES_A_TASK: u64 = 500;

/// Draws the episodes `0..episodes` of `generator` once and runs every cell on each; the counts come in
/// the order of `cells`. Spread over the threads of rayon; the result does not depend on their number.
#[must_use]
pub fn simulate(generator: &Generator, episodes: u64, cells: &[Cell]) -> Vec<FamilyCounts> {
    let none = || vec![FamilyCounts::default(); cells.len()];
    (0..episodes.div_ceil(EPISODES_A_TASK))
        .into_par_iter()
        .map(|task| {
            let first = task * EPISODES_A_TASK;
            let last = (first + EPISODES_A_TASK).min(episodes);
            let mut counts = none();
            run(generator, first..last, cells, &mut counts);
            counts
        })
        .reduce(none, |mut total, part| {
            for (total, part) in total.iter_mut().zip(part) {
                for (total, part) in total.iter_mut().zip(part) {
                    *total += part;
                }
            }
            total
        })
}

fn run(
    generator: &Generator,
    episodes: std::ops::Range<u64>,
    cells: &[Cell],
    counts: &mut [FamilyCounts],
) {
    let misses = cells.iter().any(|cell| cell.proposal_miss > 0.0);
    let mut memory = Memory::default();
    let mut drawn = DrawnEpisode::default();
    let mut missed = DrawnEpisode::default();
    for index in episodes {
        generator.draw_into(index, &mut drawn);
        let mut uniform = 1.0;
        if misses {
            uniform = generator.proposal_uniform(index);
            missed.clone_from(&drawn);
            missed.episode_mut().drop_true_world();
        }
        let policy = || generator.policy_stream(index);
        let family = Family::ALL
            .iter()
            .position(|family| *family == drawn.episode().family())
            .unwrap_or_default();
        for (cell, counts) in cells.iter().zip(counts.iter_mut()) {
            let episode = if uniform < cell.proposal_miss {
                missed.episode()
            } else {
                drawn.episode()
            };
            let ending = decide(cell.method.as_ref(), episode, &policy, &mut memory);
            count(
                episode,
                &ending,
                cell.certifies,
                &memory,
                &mut counts[family],
            );
        }
    }
}

/// Scores an ending against the true world and adds it to `counts`.
pub fn count(
    episode: &Episode,
    ending: &Ending,
    certifies: bool,
    memory: &Memory,
    counts: &mut Counts,
) {
    counts.episodes += 1;
    counts.probes += ending.probes.len() as u64;
    let fate = memory.fate(episode.true_world());
    if certifies && fate == Some(Fate::Retained) {
        counts.truth_retained += 1;
    }
    let (failure, causes) = match ending.verdict {
        Verdict::Commit { action } if episode.is_safe(action) => {
            counts.safe_commits += 1;
            return;
        }
        Verdict::Commit { .. } => {
            counts.unsafe_commits += 1;
            (Failure::UnsafeCommit, &mut counts.unsafe_causes)
        }
        Verdict::Fallback { kind, reason } => {
            counts.fallbacks.count(kind);
            let nothing_was_safe = !(0..episode.actions()).any(|action| episode.is_safe(action));
            if nothing_was_safe {
                return;
            }
            let reason = reason.unwrap_or(Reason::NoWorldPlausible);
            (Failure::Fallback(reason), &mut counts.fallback_causes)
        }
    };
    if certifies {
        if let Some(cause) = attribute(fate, failure) {
            causes.count(cause);
        }
    }
}
