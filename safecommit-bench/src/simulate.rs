//! Runs methods on episodes and counts.

use rayon::prelude::*;
use safecommit_core::{Failure, Fate, Reason, attribute};
use smallvec::SmallVec;

use crate::counts::Counts;
use crate::episode::{Episode, Family};
use crate::generator::{DrawnEpisode, Generator};
use crate::methods::{Environment, Memory, Method, Scratch, Verdict};
use crate::random::RandomStream;

/// How a method ended an episode, with the probes that it made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What it decided.
    pub verdict: Verdict,
    /// Positions of the probes in the episode, in the order in which they were made.
    pub probes: SmallVec<[usize; 6]>,
    /// The actions staged and inspected, in their order; each counts as a probe made.
    pub staged: SmallVec<[usize; 2]>,
}

/// Runs a method on one episode. `policy` gives the random stream for its own choices.
pub fn decide(
    method: &dyn Method,
    episode: &Episode,
    policy: &dyn Fn() -> RandomStream,
    memory: &mut Memory,
) -> Ending {
    memory.view.fill(episode);
    let mut environment = Environment::new(episode, &memory.view, policy);
    let verdict = method.decide(&mut environment, &mut memory.scratch);
    Ending {
        verdict,
        probes: environment.asked().into(),
        staged: environment.staged().into(),
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
    /// Probability that a probe answers wrongly.
    pub probe_error: f64,
}

impl Cell {
    /// A certificate method on fully proposed episodes with truthful probes.
    #[must_use]
    pub fn certifying(method: impl Method + 'static) -> Self {
        Self {
            method: Box::new(method),
            certifies: true,
            proposal_miss: 0.0,
            probe_error: 0.0,
        }
    }

    /// A method without certificates, likewise.
    #[must_use]
    pub fn uncertified(method: impl Method + 'static) -> Self {
        Self {
            certifies: false,
            ..Self::certifying(method)
        }
    }
}

/// The counts of one cell, family by family in the order of [`Family::ALL`].
pub type FamilyCounts = [Counts; Family::ALL.len()];

/// Episodes that one task draws and runs through all cells.
const EPISODES_A_TASK: u64 = 500;

/// Draws the episodes `0..episodes` of `generator` once and runs every cell on each; the counts come in
/// the order of `cells`. Spread over the threads of rayon; the result does not depend on their number.
///
/// ```
/// use safecommit_bench::{Cell, Generator, Parameters, SingleWorld, Split, Suite, simulate};
///
/// let parameters = Parameters::project()?;
/// let generator = Generator::new(&parameters.generator, Suite::Experiment { seed: 1 }, Split::Test);
/// let [stale, ..] = simulate(&generator, 400, &[Cell::uncertified(SingleWorld)])[0];
/// assert_eq!(stale.episodes, 100);
/// assert_eq!(stale.safe_commits + stale.unsafe_commits, 100); // it never falls back
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
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
        .reduce(none, add)
}

/// [`simulate`] on episodes that are there already, fully proposed; the policy stream of each is that of
/// `generator` at its position.
#[must_use]
pub fn simulate_on(
    generator: &Generator,
    episodes: &[Episode],
    cells: &[Cell],
) -> Vec<FamilyCounts> {
    let none = || vec![FamilyCounts::default(); cells.len()];
    let tasks = episodes.par_chunks(EPISODES_A_TASK as usize).enumerate();
    let counted = tasks.map(|(task, episodes)| {
        let mut counts = none();
        let mut memory = Memory::default();
        for (index, episode) in (task as u64 * EPISODES_A_TASK..).zip(episodes) {
            let drawn = Drawn {
                generator,
                index,
                episode,
            };
            drawn.run(cells, |_| true, &mut counts, &mut memory);
        }
        counts
    });
    counted.reduce(none, add)
}

fn add(mut total: Vec<FamilyCounts>, part: Vec<FamilyCounts>) -> Vec<FamilyCounts> {
    for (total, part) in total.iter_mut().zip(part) {
        for (total, part) in total.iter_mut().zip(part) {
            *total += part;
        }
    }
    total
}

fn run(
    generator: &Generator,
    episodes: std::ops::Range<u64>,
    cells: &[Cell],
    counts: &mut [FamilyCounts],
) {
    let largest_miss = cells
        .iter()
        .map(|cell| cell.proposal_miss)
        .fold(0.0, f64::max);
    let mut memory = Memory::default();
    let mut buffer = DrawnEpisode::default();
    for index in episodes {
        generator.draw_into(index, &mut buffer);
        let uniform = if largest_miss > 0.0 {
            generator.proposal_uniform(index)
        } else {
            1.0
        };
        let missed = |cell: &Cell| uniform < cell.proposal_miss;
        let proposed = Drawn {
            generator,
            index,
            episode: buffer.episode(),
        };
        proposed.run(cells, |cell| !missed(cell), counts, &mut memory);
        if uniform < largest_miss {
            buffer.episode_mut().drop_true_world();
            let episode = buffer.episode();
            let missing = Drawn {
                generator,
                index,
                episode,
            };
            missing.run(cells, missed, counts, &mut memory);
        }
    }
}

/// An episode with the random streams that go with it.
struct Drawn<'a> {
    generator: &'a Generator,
    index: u64,
    episode: &'a Episode,
}

impl Drawn<'_> {
    /// Runs the cells chosen.
    fn run(
        &self,
        cells: &[Cell],
        chosen: impl Fn(&Cell) -> bool,
        counts: &mut [FamilyCounts],
        memory: &mut Memory,
    ) {
        let episode = self.episode;
        memory.view.fill(episode);
        let policy = || self.generator.policy_stream(self.index);
        let family = episode.family() as usize;
        for (cell, counts) in cells.iter().zip(counts) {
            if !chosen(cell) {
                continue;
            }
            let mut environment = Environment::new(episode, &memory.view, &policy);
            if cell.probe_error > 0.0 {
                let probes = episode.probes().len();
                let wrong = self
                    .generator
                    .wrong_answers(self.index, probes, cell.probe_error);
                environment = environment.with_wrong_answers(wrong);
            }
            let verdict = cell.method.decide(&mut environment, &mut memory.scratch);
            let certified = cell.certifies.then_some(&memory.scratch);
            let probes = environment.spent();
            score(episode, verdict, probes, certified, &mut counts[family]);
        }
    }
}

/// Scores an ending of [`decide`] in `memory` against the true world and adds it to `counts`.
/// `certifies` says that a certificate method decided, whose failures have a cause
/// ([`safecommit_core::attribute`]).
pub fn count(
    episode: &Episode,
    ending: &Ending,
    certifies: bool,
    memory: &Memory,
    counts: &mut Counts,
) {
    let certified = certifies.then_some(&memory.scratch);
    score(
        episode,
        ending.verdict,
        ending.probes.len() + ending.staged.len(),
        certified,
        counts,
    );
}

/// `certified`: where a certificate method left the worlds; failures of others have no cause.
fn score(
    episode: &Episode,
    verdict: Verdict,
    probes: usize,
    certified: Option<&Scratch>,
    counts: &mut Counts,
) {
    counts.episodes += 1;
    counts.probes += probes as u64;
    let truth = episode.true_world();
    let proposed_as = episode.proposed().iter().position(|world| *world == truth);
    let fate = certified.map(|scratch| proposed_as.and_then(|world| scratch.fate(world)));
    if fate == Some(Some(Fate::Retained)) {
        counts.truth_retained += 1;
    }
    let (failure, causes) = match verdict {
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
    if let Some(cause) = fate.and_then(|fate| attribute(fate, failure)) {
        causes.count(cause);
    }
}
