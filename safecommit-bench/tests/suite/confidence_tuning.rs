//! The threshold that scalar confidence is tuned to.

use safecommit_bench::{
    ConfidenceThreshold, Counts, Episode, Generator, Memory, Positive, Probability,
    ScalarConfidence, Split, Suite, count, tune_confidence,
};

use crate::cases::{ending, episode};
use crate::project;

const NEVER: ConfidenceThreshold = ConfidenceThreshold::Never;

fn temperature() -> Positive {
    project().experiments.temperature
}

#[track_caller]
fn tuned(alpha: &str, max_probes: u32, cases: &[Episode], expected: Option<f64>) {
    let alpha = alpha.parse().unwrap();
    match (
        tune_confidence(alpha, temperature(), max_probes, cases),
        expected,
    ) {
        (ConfidenceThreshold::AtLeast(share), Some(expected)) => {
            assert!((share.get() - expected).abs() < 1e-12, "{share:?}");
        }
        (tuned, expected) => assert_eq!((tuned, None), (NEVER, expected)),
    }
}

/// An episode of `worlds` with equal scores, of which all but one support action 0.
fn equal((worlds, safe): (usize, bool)) -> Episode {
    let mut list: Vec<(u32, &[usize])> = vec![(100_000, &[0]); worlds - 1];
    list.push((100_000, &[1]));
    episode(&list, if safe { 0 } else { worlds - 1 })
}

#[track_caller]
fn tuned_equal(alpha: &str, cases: &[(usize, bool)], expected: Option<f64>) {
    let cases: Vec<Episode> = cases.iter().copied().map(equal).collect();
    tuned(alpha, 0, &cases, expected);
}

#[test]
fn a_threshold_at_exactly_alpha_passes() {
    // Shares 5/6, 4/5, 3/4, 2/3.
    let four = [(6, true), (5, true), (4, false), (3, true)];
    tuned_equal("0.25", &four, Some(2.0 / 3.0));
    tuned_equal("0.2499999", &four, Some(4.0 / 5.0));
    let four_of_twenty: Vec<_> = std::iter::repeat_n((20, true), 16).chain(four).collect();
    tuned_equal("0.05", &four_of_twenty, Some(2.0 / 3.0));
    tuned_equal("0.05", &four_of_twenty[1..], Some(4.0 / 5.0));
}

#[test]
fn the_largest_threshold_takes_a_tie() {
    tuned_equal("0.5", &[(5, true), (4, false)], Some(4.0 / 5.0));
    tuned_equal("0.5", &[(5, false), (4, false)], None);
    tuned_equal("0.5", &[], None);
}

#[test]
fn no_threshold_that_passes_leaves_none() {
    tuned_equal("0.05", &[(5, false), (4, true), (3, true)], None);
    tuned_equal("0.34", &[(5, false), (4, true), (3, true)], Some(2.0 / 3.0));
}

#[test]
fn episodes_of_one_share_commit_together() {
    for pair in [[(5, true), (5, false)], [(5, false), (5, true)]] {
        tuned_equal("0.3", &pair, None);
        tuned_equal("0.5", &pair, Some(4.0 / 5.0));
    }
}

#[test]
fn risk_may_fall_again_where_questions_are_asked() {
    // Shares of action 0, which is safe: (1 + e^-0.8) / (1 + e^-0.8 + e^-0.2). Without the first world, which
    // is not the true one, action 1 leads with a larger share, e^-0.2 / (e^-0.8 + e^-0.2).
    let misled = || episode(&[(100_000, &[0]), (300_000, &[0]), (150_000, &[1])], 1);
    let [far, near] = [-0.8, -0.2].map(libm::exp);
    tuned(
        "0.5",
        1,
        &[misled()],
        Some((1.0 + far) / (1.0 + far + near)),
    );
    // Enough of others that one more unsafe commit passes: still the smaller, which commits the safe one.
    let sure = || episode(&[(100_000, &[0])], 0);
    let mixed = [misled(), sure(), sure()];
    tuned("0.4", 1, &mixed, Some((1.0 + far) / (1.0 + far + near)));
    // Two questions find the true world by refuting the others: never sure is safe in all three, and so is 1.
    tuned("0.4", 3, &mixed, None);
}

#[test]
fn what_an_answer_confirms_counts_at_every_threshold_above() {
    let confirmed = || episode(&[(100_000, &[0]), (100_000, &[1])], 0);
    // Asked about its first world, it is safe without any confidence.
    tuned("0.05", 1, &[confirmed()], None);
    tuned("0.05", 0, &[confirmed()], Some(0.5));
}

/// The tuning against its definition: every candidate tried on every episode.
#[test]
fn tuning_agrees_with_trying_every_threshold() {
    let suite = Suite::Compared { seed: 1_000_003 };
    let generator = Generator::new(&project().generator, suite, Split::Validation);
    let episodes: Vec<Episode> = (0..160)
        .map(|index| generator.draw(index).episode().clone())
        .collect();
    let mut found = Vec::new();
    for max_probes in [0, 1, 2] {
        let mut candidates: Vec<f64> = episodes
            .iter()
            .flat_map(|episode| shares(episode, max_probes))
            .collect();
        candidates.sort_unstable_by(|one, other| other.total_cmp(one));
        // A hair below, since these sums may round differently.
        let below = |share: f64| {
            ConfidenceThreshold::AtLeast(Probability::try_from((share - 1e-13).max(0.0)).unwrap())
        };
        let thresholds: Vec<(Option<f64>, Counts)> = std::iter::once((None, NEVER))
            .chain(candidates.iter().map(|&share| (Some(share), below(share))))
            .map(|(share, threshold)| (share, counted(threshold, max_probes, &episodes)))
            .collect();
        for percent in [1, 5, 10, 20] {
            let mut best = (0, None);
            for (share, counts) in &thresholds {
                let passes = counts.unsafe_commits * 100 <= percent * counts.episodes;
                if passes && counts.safe_commits > best.0 {
                    best = (counts.safe_commits, *share);
                }
            }
            tuned(
                &format!("0.{percent:02}"),
                max_probes as u32,
                &episodes,
                best.1,
            );
            found.push(best);
        }
    }
    found.dedup_by_key(|best| best.1.map(f64::to_bits));
    assert!(found.len() > 6, "{found:?}");
}

/// The largest shares that the rule meets on an episode with one safe action a world.
fn shares(episode: &Episode, max_probes: usize) -> Vec<f64> {
    let mut worlds: Vec<_> = episode.worlds().to_vec();
    worlds.sort_by_key(|world| world.score);
    let scale = temperature().get();
    let weight = |score: f64| libm::exp(-score / scale);
    let mut shares = Vec::new();
    for _ in 0..=max_probes.min(worlds.len() - 1) {
        let sum = |safe: Option<u64>| -> f64 {
            let chosen = worlds
                .iter()
                .filter(|world| safe.is_none_or(|safe| world.safe == safe));
            chosen.map(|world| weight(world.score.value())).sum()
        };
        let largest = [1, 2, 4].map(|safe| sum(Some(safe)) / sum(None));
        shares.push(largest.into_iter().fold(0.0, f64::max));
        worlds.remove(0);
    }
    shares
}

fn counted(threshold: ConfidenceThreshold, max_probes: usize, episodes: &[Episode]) -> Counts {
    let method = ScalarConfidence::new(temperature(), threshold, max_probes as u32);
    let (mut counts, mut memory) = (Counts::default(), Memory::default());
    for episode in episodes {
        let ending = ending(&method, episode, &mut memory);
        count(episode, &ending, false, &memory, &mut counts);
    }
    counts
}
