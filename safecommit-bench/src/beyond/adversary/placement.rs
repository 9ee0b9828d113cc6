//! What the adversary may add to an episode, and which of it is tried.

use smallvec::SmallVec;

use crate::episode::{Episode, EpisodeProbe, EpisodeWorld};
use crate::micros::Micros;

/// The most poisoned worlds that the adversary may add.
pub(super) const MOST: usize = 4;

/// Poisoned worlds, listed before an episode's own worlds or after them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    pub(super) worlds: SmallVec<[EpisodeWorld; MOST]>,
    pub(super) first: bool,
}

/// The placements to try on an episode, by number.
///
/// A poisoned world
///
/// - allows one action that is not safe in the true world, or all of these, or one of them beside those that are
///   safe, or none at all;
/// - scores 0, or just above the lowest score of the episode if that is plausible, or at the threshold, or just
///   above it.
///
/// Left out are worlds that allow every action, which take no certificate away, and worlds that allow just what is
/// safe, which only help. Scores just above each further plausible world were tried and found nothing more.
#[derive(Debug)]
pub(super) struct Placements {
    kinds: Vec<EpisodeWorld>,
    /// Of the kinds, the plausible ones that allow one action at most, and none that is safe in the true world.
    blocking: Vec<EpisodeWorld>,
}

impl Placements {
    /// Those against a method with this threshold, `None` if it is unbounded.
    pub(super) fn of(episode: &Episode, kappa: Option<Micros>) -> Self {
        let kappa = kappa.unwrap_or(Micros::ONE);
        let (scores, sets) = (scores(episode, kappa), safe_sets(episode));
        let world = |score| move |&safe| EpisodeWorld { score, safe };
        let kinds = scores.iter();
        let kinds: Vec<EpisodeWorld> = kinds
            .flat_map(|&score| sets.iter().map(world(score)))
            .collect();
        let safe = episode.worlds[episode.true_world].safe;
        let blocks = |kind: &&EpisodeWorld| {
            kind.score <= kappa && kind.safe & safe == 0 && kind.safe.count_ones() <= 1
        };
        Self {
            blocking: kinds.iter().filter(blocks).copied().collect(),
            kinds,
        }
    }

    /// The placements that stand most in the way of a safe commit: 1 to [`MOST`] equal worlds that are plausible and
    /// allow one action at most, and none that is safe in the true world. They come before the episode's own, and so before them in a tie.
    pub(super) fn blocking(&self) -> impl Iterator<Item = Placement> {
        let equal = move |count| {
            let place = move |kind: &EpisodeWorld| Placement {
                worlds: SmallVec::from_elem(*kind, count),
                first: true,
            };
            self.blocking.iter().map(place)
        };
        (1..=MOST).flat_map(equal)
    }

    /// How many numbers [`Self::get`] takes.
    pub(super) fn len(&self) -> usize {
        let kinds = self.kinds.len();
        2 * kinds * (MOST + kinds)
    }

    /// The placement of a number below [`Self::len`], 1 to [`MOST`] equal worlds of any kind, then pairs of
    /// two kinds, each before and after the episode's own worlds. `None` for
    /// a pair that has another number.
    pub(super) fn get(&self, number: usize) -> Option<Placement> {
        let kinds = self.kinds.len();
        let (rest, first) = (number / 2, number.is_multiple_of(2));
        let (row, column) = (rest / kinds, rest % kinds);
        let kind = self.kinds[column];
        let worlds = match row.checked_sub(MOST) {
            None => SmallVec::from_elem(kind, row + 1),
            Some(other) if other < column => SmallVec::from_slice(&[kind, self.kinds[other]]),
            Some(_) => return None,
        };
        Some(Placement { worlds, first })
    }
}

/// The sets of safe actions to try, each once.
fn safe_sets(episode: &Episode) -> Vec<u64> {
    let all = u64::MAX >> (u64::BITS as usize - episode.actions);
    let safe = episode.worlds[episode.true_world].safe;
    let harmful = all & !safe;
    let single = || (0..episode.actions).map(|action| 1 << action);
    let single = || single().filter(move |action| harmful & action != 0);
    let mut sets = vec![0, harmful];
    sets.extend(single());
    sets.extend(single().map(|action| safe | action));
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// The scores to try, each once.
fn scores(episode: &Episode, kappa: Micros) -> Vec<Micros> {
    let above = |score: Micros| Micros::from_count(score.count() + 1).unwrap_or(Micros::ONE);
    let own = episode.proposed.iter();
    let lowest = own.map(|&world| episode.worlds[world].score).min();
    let plausible = lowest.filter(|lowest| *lowest <= kappa);
    let mut scores = vec![Micros::ZERO, kappa, above(kappa)];
    scores.extend(plausible.map(|lowest| above(lowest).min(kappa)));
    scores.sort_unstable();
    scores.dedup();
    scores
}

impl Placement {
    /// Writes `episode` with the poisoned worlds into `poisoned`, a copy of it whatever was planted there before.
    /// All poisoned worlds are proposed, and a probe at this cost asks about each.
    pub(super) fn plant(&self, episode: &Episode, cost: f64, poisoned: &mut Episode) {
        let (own, planted) = (episode.worlds.len(), self.worlds.len());
        // Where the episode's own worlds and the poisoned ones begin.
        let (own_from, planted_from) = if self.first { (planted, 0) } else { (0, own) };
        let mut parts = [episode.worlds.as_slice(), self.worlds.as_slice()];
        if self.first {
            parts.reverse();
        }
        poisoned.worlds.clear();
        for part in parts {
            poisoned.worlds.extend_from_slice(part);
        }
        poisoned.true_world = own_from + episode.true_world;
        let added = planted_from..planted_from + planted;
        poisoned.proposed.clear();
        poisoned
            .proposed
            .extend(episode.proposed.iter().map(|world| own_from + world));
        poisoned.proposed.extend(added.clone());
        poisoned.proposed.sort_unstable();
        // Methods take probes by the world that they ask about, so their order carries nothing.
        poisoned.probes.clear();
        poisoned
            .probes
            .extend(episode.probes.iter().map(|probe| EpisodeProbe {
                asks: own_from + probe.asks,
                ..*probe
            }));
        poisoned
            .probes
            .extend(added.map(|asks| EpisodeProbe { cost, asks }));
    }
}
