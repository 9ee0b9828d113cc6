//! The rules of the methods without a certificate, to the last tie.

use safecommit_bench::{
    ConflictAbstention, Counts, Episode, GenericOneProbe, Margin, Memory, Method, SingleWorld,
    Verdict, calibrate, count, decide, tune_margin,
};
use safecommit_conformal::{Alpha, Representation, Threshold};

use crate::cases::{ABSTAIN, Case, ESCALATE, commit, ending, episode, stream_choosing, threshold};
use crate::{project, spare_generator};

const MILLION: u32 = 1_000_000;

#[test]
fn single_world_takes_the_lowest_score_then_the_first_position() {
    let check = |worlds: &[(u32, &[usize])], expected| {
        let ending = ending(&SingleWorld, &episode(worlds, 0), &mut Memory::default());
        assert_eq!((ending.verdict, ending.probes.len()), (expected, 0));
    };
    check(
        &[(300_000, &[0]), (100_000, &[1]), (200_000, &[2])],
        commit(1),
    );
    check(
        &[(100_001, &[0]), (100_000, &[2]), (100_000, &[1])],
        commit(2),
    );
    // However far all scores lie, and the first of several safe actions.
    check(&[(MILLION, &[2, 1])], commit(1));
    // Nothing is safe in the best world; then whether anything is in the others.
    check(&[(100_000, &[]), (200_000, &[0])], ESCALATE);
    check(&[(100_000, &[]), (200_000, &[])], ABSTAIN);
}

#[test]
fn single_world_escalates_without_a_proposal() {
    let nothing = Case {
        worlds: &[(0, &[0])],
        proposed: &[],
        probes: &[],
        true_world: 0,
    };
    let ending = ending(&SingleWorld, &nothing.episode(), &mut Memory::default());
    assert_eq!(ending.verdict, ESCALATE);
}

/// Decides with the given choice among `retained` worlds, under a threshold of one half.
fn probe_once(episode: &Episode, choice: usize, retained: usize) -> (Verdict, Vec<usize>) {
    let method = GenericOneProbe::new(threshold(500_000));
    let policy = || stream_choosing(choice, retained);
    let ending = decide(&method, episode, &policy, &mut Memory::default());
    (ending.verdict, ending.probes.to_vec())
}

#[test]
fn generic_one_probe_acts_on_a_confirmed_world_or_on_the_best_left() {
    // World 1 is not retained; world 3 is the true one.
    let worlds: [(u32, &[usize]); 4] = [
        (100_000, &[0]),
        (500_001, &[1]),
        (200_000, &[1]),
        (500_000, &[2]),
    ];
    let episode = episode(&worlds, 3);
    // Confirmed: its action, though others score lower.
    assert_eq!(probe_once(&episode, 2, 3), (commit(2), vec![3]));
    // Refuted: the best of the others, among which the refuted one is not.
    assert_eq!(probe_once(&episode, 0, 3), (commit(1), vec![0]));
    assert_eq!(probe_once(&episode, 1, 3), (commit(0), vec![2]));
}

#[test]
fn generic_one_probe_breaks_ties_by_position() {
    let worlds: [(u32, &[usize]); 4] = [
        (100_000, &[0]),
        (200_000, &[2]),
        (200_000, &[1]),
        (300_000, &[0]),
    ];
    assert_eq!(probe_once(&episode(&worlds, 3), 0, 4), (commit(2), vec![0]));
}

#[test]
fn generic_one_probe_falls_back_when_no_world_is_left_or_retained() {
    let worlds: [(u32, &[usize]); 2] = [(100_000, &[0]), (500_001, &[1])];
    // The one retained world is refuted; the true one lies above the threshold.
    assert_eq!(probe_once(&episode(&worlds, 1), 0, 1), (ESCALATE, vec![0]));
    let far: [(u32, &[usize]); 2] = [(500_001, &[0]), (600_000, &[0])];
    let nothing_retained = ending(
        &GenericOneProbe::new(threshold(500_000)),
        &episode(&far, 0),
        &mut Memory::default(),
    );
    assert_eq!(nothing_retained.verdict, ESCALATE);
    assert!(nothing_retained.probes.is_empty());
}

#[test]
fn generic_one_probe_commits_nothing_that_no_world_calls_safe() {
    let confirmed: [(u32, &[usize]); 2] = [(100_000, &[0]), (200_000, &[])];
    assert_eq!(
        probe_once(&episode(&confirmed, 1), 1, 2),
        (ABSTAIN, vec![1])
    );
    let best_left: [(u32, &[usize]); 3] = [(100_000, &[0]), (200_000, &[]), (300_000, &[1])];
    assert_eq!(
        probe_once(&episode(&best_left, 2), 0, 3),
        (ESCALATE, vec![0])
    );
}

#[test]
fn a_world_that_no_probe_asks_about_stays_a_hypothesis() {
    let case = |probes| Case {
        worlds: &[(100_000, &[0]), (200_000, &[1]), (300_000, &[2])],
        proposed: &[0, 1, 2],
        probes,
        true_world: 2,
    };
    // Chosen, but not to be asked about: still the best.
    assert_eq!(
        probe_once(&case(&[2, 1]).episode(), 0, 3),
        (commit(0), vec![])
    );
    // Probes are found by what they ask, not by their position.
    assert_eq!(
        probe_once(&case(&[2, 1]).episode(), 1, 3),
        (commit(0), vec![1])
    );
    assert_eq!(
        probe_once(&case(&[2, 1]).episode(), 2, 3),
        (commit(2), vec![0])
    );
}

#[test]
fn conflict_abstention_falls_back_on_a_gap_within_the_margin() {
    let check = |worlds: &[(u32, &[usize])], kappa: &Threshold, margin, expected| {
        let method = ConflictAbstention::new(kappa, margin);
        let ending = ending(&method, &episode(worlds, 0), &mut Memory::default());
        assert_eq!((ending.verdict, ending.probes.len()), (expected, 0));
    };
    let kappa = threshold(500_000);
    let conflict: [(u32, &[usize]); 3] = [(140_000, &[1]), (100_000, &[0]), (300_000, &[2])];
    check(&conflict, kappa, Margin::Millionths(39_999), commit(0));
    check(&conflict, kappa, Margin::Millionths(40_000), ESCALATE);
    check(&conflict, kappa, Margin::Infinite, ESCALATE);
    // Equal scores: a gap of zero, the first position ahead.
    let tie: [(u32, &[usize]); 2] = [(100_000, &[2]), (100_000, &[1])];
    check(&tie, kappa, Margin::Millionths(0), ESCALATE);
    // A world in which the action is safe as well is no rival; nor is one above the threshold.
    let agreed: [(u32, &[usize]); 3] = [(100_000, &[1]), (100_001, &[0, 1]), (300_000, &[0])];
    check(&agreed, kappa, Margin::Millionths(199_999), commit(1));
    check(&agreed, kappa, Margin::Millionths(200_000), ESCALATE);
    check(&agreed, threshold(299_999), Margin::Infinite, commit(1));
    // Nothing is safe in the best world.
    check(
        &[(0, &[]), (1, &[0])],
        kappa,
        Margin::Millionths(0),
        ESCALATE,
    );
    check(&[(0, &[]), (1, &[])], kappa, Margin::Millionths(0), ABSTAIN);
}

/// An episode whose leading action has a rival at this gap, or none, and is safe or not.
fn validation_case((gap, safe): (Option<u32>, bool)) -> Episode {
    let rival = gap.map_or((900_000, &[1][..]), |gap| (100_000 + gap, &[1][..]));
    episode(
        &[(100_000, &[0]), rival, (950_000, &[2])],
        if safe { 0 } else { 1 },
    )
}

#[track_caller]
fn tuned(alpha: &str, cases: &[(Option<u32>, bool)], expected: Margin) {
    let validation: Vec<Episode> = cases.iter().copied().map(validation_case).collect();
    let alpha = alpha.parse().unwrap();
    assert_eq!(
        tune_margin(alpha, threshold(500_000), &validation),
        expected
    );
}

#[test]
fn a_margin_at_exactly_alpha_passes() {
    let four =
        [(10, true), (20, true), (30, false), (40, true)].map(|(gap, safe)| (Some(gap), safe));
    // At 10: two safe commits and one that is not, of four episodes.
    tuned("0.25", &four, Margin::Millionths(10));
    tuned("0.2499999", &four, Margin::Millionths(30));
    // Levels that no binary fraction equals.
    for (alpha, episodes) in [("0.1", 10), ("0.05", 20), ("0.01", 100)] {
        let fallen_back = std::iter::repeat_n((Some(5), true), episodes - 4);
        let cases: Vec<_> = fallen_back.chain(four).collect();
        tuned(alpha, &cases, Margin::Millionths(5));
        tuned(alpha, &cases[1..], Margin::Millionths(30));
    }
}

#[test]
fn the_largest_margin_takes_a_tie() {
    // 20 and 10 both succeed once.
    let cases = [(Some(10), true), (Some(20), false), (Some(30), true)];
    tuned("0.5", &cases, Margin::Millionths(20));
    // The one gap seen and infinity both never succeed.
    tuned("0.5", &[(Some(30), true)], Margin::Infinite);
    tuned("0.5", &[(Some(30), true), (None, true)], Margin::Infinite);
    tuned("0.5", &[], Margin::Infinite);
}

#[test]
fn no_margin_that_passes_leaves_infinity() {
    // Even infinity commits where there is no rival.
    let cases = [(None, false), (Some(10), true), (Some(20), true)];
    tuned("0.05", &cases, Margin::Infinite);
    tuned("0.34", &cases, Margin::Millionths(10));
}

#[test]
fn episodes_of_one_gap_commit_together() {
    let cases = [(Some(10), true), (Some(20), true), (Some(20), false)];
    tuned("0.3", &cases, Margin::Infinite);
    tuned("0.34", &cases, Margin::Millionths(10));
}

/// The tuning against its definition: every candidate tried on every episode.
#[test]
fn tuning_agrees_with_trying_every_margin() {
    let generator = spare_generator(&project());
    let episodes: Vec<Episode> = (0..240)
        .map(|index| generator.draw(index).episode().clone())
        .collect();
    let mut margins = Vec::new();
    for kappa in [
        threshold(400_000),
        threshold(800_000),
        Threshold::unbounded(),
    ] {
        let gaps = episodes.iter().filter_map(|episode| gap(episode, kappa));
        let mut candidates: Vec<Margin> = gaps.map(Margin::Millionths).collect();
        candidates.push(Margin::Infinite);
        candidates.sort_unstable();
        candidates.dedup();
        for percent in [1, 5, 10, 20] {
            let mut best = (0, Margin::Infinite);
            for &margin in candidates.iter().rev() {
                let counts = counted(&ConflictAbstention::new(kappa, margin), &episodes);
                let passes = counts.unsafe_commits * 100 <= percent * counts.episodes;
                if passes && counts.safe_commits > best.0 {
                    best = (counts.safe_commits, margin);
                }
            }
            let alpha: Alpha = format!("0.{percent:02}").parse().unwrap();
            assert_eq!(tune_margin(alpha, kappa, &episodes), best.1);
            margins.push(best.1);
        }
    }
    margins.sort_unstable();
    margins.dedup();
    assert!(margins.len() > 4, "{margins:?}");
}

/// The gap to the best retained rival, in an episode with one safe action a world.
fn gap(episode: &Episode, kappa: &Threshold) -> Option<u32> {
    let worlds = episode.worlds();
    let best = worlds.iter().min_by_key(|world| world.score).unwrap();
    let rivals = worlds.iter().filter(|world| world.safe != best.safe);
    let retained = rivals.filter(|world| kappa.retains(world.score.score()));
    let rival = retained.map(|world| world.score.count()).min();
    rival.map(|score| score - best.score.count())
}

fn counted(method: &dyn Method, episodes: &[Episode]) -> Counts {
    let (mut counts, mut memory) = (Counts::default(), Memory::default());
    for episode in episodes {
        let ending = ending(method, episode, &mut memory);
        count(episode, &ending, false, &memory, &mut counts);
    }
    counts
}

#[test]
fn a_true_world_that_was_not_proposed_sorts_last() {
    let seen = |score| episode(&[(score, &[0]), (0, &[1])], 0);
    let mut missed = seen(50_000);
    missed.drop_true_world();
    let cases = [seen(200_000), missed, seen(100_000)];
    let calibration = calibrate("0.5".parse().unwrap(), &cases);
    // Rank 2 of three: neither the score 0 nor the score of the world left out comes first.
    assert_eq!(
        (calibration.n(), calibration.missing(), calibration.rank()),
        (3, 1, 2)
    );
    assert_eq!(calibration.threshold().to_string(), "0.2");
    // At rank 3 it is the missing one.
    let strict = calibrate("0.25".parse().unwrap(), &cases);
    assert_eq!(strict.rank(), 3);
    assert!(strict.threshold().is_unbounded());
}

#[test]
fn no_miss_among_drawn_episodes_is_known_to_be_none() {
    let calibration = calibrate("0.5".parse().unwrap(), &[episode(&[(1, &[0])], 0)]);
    let Representation::Counted(misses) = calibration.representation() else {
        panic!("{calibration:?}");
    };
    assert_eq!((misses.missing(), misses.cases()), (0, 1));
}
