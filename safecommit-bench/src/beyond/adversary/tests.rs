use std::collections::BTreeSet;

use super::placement::{Placement, Placements};
use super::*;
use crate::beyond::Study;
use crate::beyond::workbench::Run;
use crate::episode::{Episode, EpisodeWorld};
use crate::generator::Split;
use crate::methods::{Memory, Verdict};
use crate::micros::Micros;
use crate::parameters::Parameters;
use crate::simulate::decide;

fn small() -> Parameters {
    let text = Parameters::project_toml()
        .replace(
            "calibration = 2000\ntest = 4000\nalpha",
            "calibration = 200\ntest = 200\nalpha",
        )
        .replace("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "[1, 2]");
    Parameters::from_toml(&text).unwrap()
}

/// All placements on an episode.
fn all(placements: &Placements) -> Vec<Placement> {
    let numbered = (0..placements.len()).filter_map(|number| placements.get(number));
    placements.blocking().chain(numbered).collect()
}

fn over_episodes(check: impl Fn(&Episode) + Sync) {
    let parameters = small();
    Workbench::new(&parameters)
        .over_runs(|run: &Run<'_>| run.test().iter().take(40).for_each(&check));
}

#[test]
fn planting_adds_worlds_and_changes_nothing_else() {
    over_episodes(|episode| {
        let mut poisoned = episode.clone();
        for placement in all(&Placements::of(episode, Micros::from_count(600_000))) {
            placement.plant(episode, 3.5, &mut poisoned);
            let added = placement.worlds.len();
            let (own, planted) = if placement.first {
                let (planted, own) = poisoned.worlds.split_at(added);
                (own, planted)
            } else {
                poisoned.worlds.split_at(episode.worlds.len())
            };
            assert_eq!(own, &*episode.worlds);
            assert_eq!(planted, &*placement.worlds);
            let before = if placement.first { added } else { 0 };
            assert_eq!(poisoned.true_world, before + episode.true_world);
            // Every world is proposed, and one probe asks about each: at its own cost about those planted.
            let everything: Vec<usize> = (0..poisoned.worlds.len()).collect();
            assert_eq!(&*poisoned.proposed, &*everything);
            let mut asked: Vec<usize> = poisoned.probes.iter().map(|probe| probe.asks).collect();
            asked.sort_unstable();
            assert_eq!(asked, everything);
            for probe in &poisoned.probes {
                let is_own = (before..before + own.len()).contains(&probe.asks);
                assert_eq!(probe.cost.total_cmp(&3.5).is_eq(), !is_own);
            }
        }
    });
}

#[test]
fn every_placement_is_tried_once_and_blocking_ones_block() {
    over_episodes(|episode| {
        let kappa = Micros::from_count(600_000).unwrap();
        let placements = Placements::of(episode, Some(kappa));
        let numbered = || (0..placements.len()).filter_map(|number| placements.get(number));
        let key = |placement: &Placement| {
            let worlds = placement.worlds.iter();
            let mut worlds: Vec<_> = worlds.map(|world| (world.score, world.safe)).collect();
            worlds.sort_unstable();
            (placement.first, worlds)
        };
        let keys: BTreeSet<_> = numbered().map(|placement| key(&placement)).collect();
        assert_eq!(keys.len(), numbered().count());
        let kinds: BTreeSet<_> = keys.iter().flat_map(|(_, worlds)| worlds).collect();
        // Three actions of which one is safe: six sets, each at every score.
        let scores: BTreeSet<_> = kinds.iter().map(|(score, _)| score).collect();
        assert_eq!(kinds.len(), 6 * scores.len());
        let n = kinds.len();
        assert_eq!(keys.len(), 2 * (MOST * n + n * (n - 1) / 2));
        for placement in placements.blocking() {
            assert!(keys.contains(&key(&placement)));
            for world in &placement.worlds {
                assert!(world.score <= kappa && !episode_allows(episode, world.safe));
            }
        }
    });
}

fn episode_allows(episode: &Episode, safe: u64) -> bool {
    (0..episode.actions).any(|action| safe >> action & 1 == 1 && episode.is_safe(action))
}

fn targets(threshold: &Threshold) -> Vec<Target> {
    let methods = [0, 2].map(|budget| SafeCommit::new(threshold, 0.25, budget));
    methods
        .map(|method| Target {
            method: Box::new(method),
            certifies: true,
        })
        .into()
}

/// What is found grows with the worlds allowed, stays below what the lemma allows, and is more than nothing.
#[test]
fn unsafe_commits_are_found_only_where_the_true_world_is_above_the_threshold() {
    let parameters = small();
    Workbench::new(&parameters).over_runs(|run| {
        let calibration = run.calibrated("0.2".parse().unwrap());
        let threshold = calibration.threshold();
        for found in attack(run, threshold, 1.0, &targets(threshold)) {
            assert_eq!((found.episodes, found.retained_unsafe), (200, 0));
            assert!(found.retained_decisions > 5_000 && found.above > 20);
            let all = [
                found.unsafe_commits,
                found.fallbacks,
                found.fallbacks_by_claims,
                found.failures,
            ];
            assert!(all.iter().all(|counts| counts.is_sorted()), "{found:?}");
            assert!(found.unsafe_commits[MOST] <= found.above);
            assert!(found.fallbacks_by_claims[MOST] <= found.fallbacks[MOST]);
        }
        let probing = attack(run, threshold, 1.0, &targets(threshold))[1];
        assert!(probing.unsafe_commits[1] > probing.unsafe_commits[0]);
    });
}

/// The falsifier is not blind: a method that cuts lower than the threshold it is said to have is caught.
#[test]
fn a_method_that_cuts_too_low_is_caught() {
    let parameters = small();
    let caught = Workbench::new(&parameters).over_runs(|run| {
        let said = run.calibrated("0.05".parse().unwrap());
        let used = run.calibrated("0.3".parse().unwrap());
        let found = attack(run, said.threshold(), 1.0, &targets(used.threshold()));
        found.iter().all(|found| found.retained_unsafe > 0)
    });
    assert_eq!(caught, [true, true]);
}

/// The only plausible world is false and allows what is safe. An added world of another action makes the method
/// ask: refuted first, it has changed nothing; asked about second, it is what remains and is believed.
#[test]
fn one_world_turns_a_safe_commit_into_an_unsafe_one() {
    let parameters = small();
    Workbench::new(&parameters).over_runs(|run| {
        let calibration = run.calibrated("0.2".parse().unwrap());
        let threshold = calibration.threshold();
        let world = |score, safe| EpisodeWorld {
            score: Micros::from_count(score).unwrap(),
            safe,
        };
        let mut episode = run.test()[0].clone();
        let (truth, deceptive) = (world(1_000_000, 0b001), world(100_000, 0b001));
        episode.worlds = [truth, deceptive].into_iter().collect();
        (episode.true_world, episode.proposed) = (0, [0, 1].into_iter().collect());
        episode.probes.truncate(2);
        for (asks, probe) in episode.probes.iter_mut().enumerate() {
            probe.asks = asks;
        }
        let generator = run.generator(Split::Test);
        let method = SafeCommit::new(threshold, 0.25, 2);
        let check = |worlds: &[EpisodeWorld], expect: usize| {
            let mut poisoned = episode.clone();
            let placement = Placement {
                worlds: worlds.into(),
                first: false,
            };
            placement.plant(&episode, 1.0, &mut poisoned);
            let policy = || generator.policy_stream(0);
            let ending = decide(&method, &poisoned, &policy, &mut Memory::default());
            assert_eq!(ending.verdict, Verdict::Commit { action: expect });
            assert_eq!(ending.probes.len(), worlds.len());
        };
        check(&[], 0);
        check(&[world(99_999, 0b010)], 0);
        check(&[world(100_001, 0b010)], 1);
    });
}

#[test]
fn every_method_has_a_row_for_every_number_of_worlds() {
    let parameters = small();
    let report = Study::Adversary.run(&Workbench::new(&parameters), &|| ());
    let report = report.unwrap();
    assert_eq!(report.records().len(), 8 * MOST);
    assert!(report.claims()[0].holds, "{:?}", report.claims()[0]);
}
