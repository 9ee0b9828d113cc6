//! The rules of scalar confidence, policy alone and containment, to the last tie.

use safecommit_bench::{
    ConfidenceThreshold, Episode, ExecutionContainment, Mediation, Memory, Method, PolicyOnly,
    Positive, Probability, ScalarConfidence, SingleWorld, Verdict,
};

use crate::cases::{ABSTAIN, Case, ESCALATE, commit, ending, episode};
use crate::{project, spare_generator};

const ALWAYS: ConfidenceThreshold = ConfidenceThreshold::ALWAYS;
const NEVER: ConfidenceThreshold = ConfidenceThreshold::Never;

fn temperature(value: f64) -> Positive {
    Positive::try_from(value).unwrap()
}

fn quarter() -> Positive {
    temperature(0.25)
}

fn at_least(share: f64) -> ConfidenceThreshold {
    ConfidenceThreshold::AtLeast(Probability::try_from(share).unwrap())
}

#[track_caller]
fn check(method: &dyn Method, episode: &Episode, verdict: Verdict, probes: &[usize]) {
    let ending = ending(method, episode, &mut Memory::default());
    assert_eq!((ending.verdict, &ending.probes[..]), (verdict, probes));
    assert!(ending.staged.is_empty());
}

#[track_caller]
fn scalar(
    episode: &Episode,
    threshold: ConfidenceThreshold,
    max_probes: u32,
    verdict: Verdict,
    probes: &[usize],
) {
    let method = ScalarConfidence::new(quarter(), threshold, max_probes);
    check(&method, episode, verdict, probes);
}

#[test]
fn scalar_confidence_takes_the_largest_share_if_it_passes() {
    let two_thirds = 2.0 / 3.0;
    let equal = episode(&[(100_000, &[0]), (100_000, &[1]), (100_000, &[1])], 0);
    scalar(&equal, at_least(two_thirds), 0, commit(1), &[]);
    scalar(&equal, at_least(f64::next_up(two_thirds)), 0, ESCALATE, &[]);
    scalar(&equal, ALWAYS, 0, commit(1), &[]);
    scalar(&equal, NEVER, 0, ESCALATE, &[]);
    // A share is over scores: 1 / (1 + 1/e) at a distance of one temperature.
    let apart = episode(&[(250_000, &[1]), (0, &[2])], 0);
    scalar(&apart, at_least(0.731_058), 0, commit(2), &[]);
    scalar(&apart, at_least(0.731_059), 0, ESCALATE, &[]);
    // Of two worlds that agree the one with the lowest score does not decide.
    let outvoted = episode(&[(100_000, &[0]), (150_000, &[1]), (150_000, &[1])], 0);
    scalar(&outvoted, ALWAYS, 0, commit(1), &[]);
    // A world counts for each action that is safe in it; what is safe in all has all of the weight.
    let shared = episode(&[(1, &[0, 2]), (70_000, &[1, 2]), (330_000, &[2])], 0);
    scalar(&shared, at_least(1.0), 0, commit(2), &[]);
}

#[test]
fn the_first_action_leads_on_a_tie_of_shares() {
    let tie = episode(&[(100_000, &[2]), (100_000, &[1])], 0);
    scalar(&tie, ALWAYS, 0, commit(1), &[]);
    scalar(&tie, at_least(0.5), 0, commit(1), &[]);
    scalar(&tie, at_least(f64::next_up(0.5)), 0, ESCALATE, &[]);
    // Shares that differ by 0.075 / T, around the tolerance of 1e-12.
    let near = episode(&[(100_000, &[2]), (250_000, &[1])], 0);
    for (scale, expected) in [(7.6e10, 1), (7.4e10, 2)] {
        let method = ScalarConfidence::new(temperature(scale), ALWAYS, 0);
        check(&method, &near, commit(expected), &[]);
    }
}

#[test]
fn scalar_confidence_falls_back_where_nothing_is_safe_or_proposed() {
    let nowhere = episode(&[(100_000, &[]), (200_000, &[])], 0);
    // It does not ask either: no answer could help.
    scalar(&nowhere, ALWAYS, 2, ABSTAIN, &[]);
    let nothing = Case {
        worlds: &[(0, &[0])],
        proposed: &[],
        probes: &[],
        true_world: 0,
    };
    scalar(&nothing.episode(), ALWAYS, 2, ESCALATE, &[]);
    // The weight of a world in which nothing is safe counts all the same.
    let half = episode(&[(100_000, &[]), (100_000, &[0])], 0);
    scalar(&half, at_least(0.5), 0, commit(0), &[]);
    scalar(&half, at_least(0.500_001), 0, ESCALATE, &[]);
}

#[test]
fn no_temperature_loses_all_weight() {
    let far = episode(&[(1_000_000, &[0]), (999_999, &[1])], 0);
    let check = |scale, share, expected| {
        let method = ScalarConfidence::new(temperature(scale), at_least(share), 0);
        check(&method, &far, expected, &[]);
    };
    check(f64::MIN_POSITIVE, 1.0, commit(1));
    check(5e-324, 1.0, commit(1));
    check(f64::MAX, 0.5, commit(0));
    check(f64::MAX, 0.500_001, ESCALATE);
}

#[test]
fn scalar_confidence_asks_about_the_heaviest_world_left() {
    let worlds: [(u32, &[usize]); 4] = [
        (100_000, &[0]),
        (100_000, &[1]),
        (100_000, &[1]),
        (100_000, &[2]),
    ];
    let at = |true_world| episode(&worlds, true_world);
    // One half, then two thirds of what is left: passed after one question, right or wrong.
    scalar(&at(3), at_least(0.6), 2, commit(1), &[0]);
    scalar(&at(3), at_least(0.5), 2, commit(1), &[]);
    // Then one half of two worlds, the first action of a tie; then all of one, which needs no question.
    scalar(&at(3), at_least(0.7), 2, ESCALATE, &[0, 1]);
    scalar(&at(3), at_least(0.7), 3, commit(2), &[0, 1, 2]);
    scalar(&at(3), at_least(0.7), 4, commit(2), &[0, 1, 2]);
    // Never sure, it acts on a confirmed world alone.
    scalar(&at(3), NEVER, 3, ESCALATE, &[0, 1, 2]);
    scalar(&at(3), NEVER, 4, commit(2), &[0, 1, 2, 3]);
    // Confirmed: its action, whatever the shares were.
    scalar(&at(0), at_least(0.6), 1, commit(0), &[0]);
    // The heaviest has the lowest score, wherever it stands.
    let scored = episode(&[(300_000, &[0]), (200_000, &[1]), (100_000, &[2])], 1);
    scalar(&scored, at_least(0.9), 2, commit(1), &[2, 1]);
}

#[test]
fn a_confirmed_world_in_which_nothing_is_safe_commits_nothing() {
    let hopeless = episode(&[(100_000, &[]), (200_000, &[0]), (200_000, &[1])], 0);
    scalar(&hopeless, at_least(0.9), 2, ABSTAIN, &[0]);
    scalar(&hopeless, at_least(0.9), 0, ESCALATE, &[]);
    // Once what is left is hopeless, nothing is asked any more.
    let left = episode(&[(100_000, &[0]), (200_000, &[]), (300_000, &[])], 2);
    scalar(&left, at_least(0.9), 2, ABSTAIN, &[0]);
}

#[test]
fn scalar_confidence_escalates_when_every_world_is_refuted() {
    let missed = Case {
        worlds: &[(100_000, &[0]), (200_000, &[1])],
        proposed: &[0],
        probes: &[0],
        true_world: 1,
    };
    scalar(&missed.episode(), NEVER, 2, ESCALATE, &[0]);
    scalar(&missed.episode(), at_least(1.0), 2, commit(0), &[]);
}

#[test]
fn scalar_confidence_asks_only_what_a_probe_asks() {
    let case = |probes| Case {
        worlds: &[(100_000, &[0]), (150_000, &[1]), (200_000, &[2])],
        proposed: &[0, 1, 2],
        probes,
        true_world: 2,
    };
    // Nobody can ask about the heaviest; probes are found by what they ask about, the first such.
    scalar(&case(&[2, 1, 1]).episode(), NEVER, 1, ESCALATE, &[1]);
    scalar(&case(&[2, 1, 1]).episode(), NEVER, 2, commit(2), &[1, 0]);
    scalar(&case(&[1]).episode(), NEVER, 5, ESCALATE, &[0]);
    scalar(&case(&[]).episode(), NEVER, 5, ESCALATE, &[]);
}

#[track_caller]
fn policy(
    worlds: &[(u32, &[usize])],
    true_world: usize,
    hard_forbidden: u64,
    threshold: ConfidenceThreshold,
    verdict: Verdict,
) {
    let mediation = Mediation::new(0b111, hard_forbidden);
    let case = episode(worlds, true_world).with_mediation(mediation);
    check(
        &PolicyOnly::new(quarter(), threshold),
        &case.unwrap(),
        verdict,
        &[],
    );
}

#[test]
fn policy_only_takes_the_best_world_that_policy_leaves() {
    let worlds: [(u32, &[usize]); 4] = [
        (100_000, &[0]),
        (300_000, &[2]),
        (200_000, &[1]),
        (200_000, &[2]),
    ];
    policy(&worlds, 3, 0b000, ALWAYS, commit(0));
    policy(&worlds, 3, 0b010, ALWAYS, commit(0));
    policy(&worlds, 3, 0b001, ALWAYS, commit(1));
    policy(&worlds, 3, 0b011, ALWAYS, commit(2));
    policy(&worlds, 3, 0b000, NEVER, ESCALATE);
    // A world's action is the first of several safe ones, forbidden or not.
    let several: [(u32, &[usize]); 3] = [(100_000, &[0, 1]), (200_000, &[2]), (300_000, &[1])];
    policy(&several, 2, 0b001, ALWAYS, commit(2));
    policy(&several, 1, 0b010, ALWAYS, commit(0));
}

#[test]
fn policy_only_falls_back_where_no_action_is_left() {
    let missed: [(u32, &[usize]); 2] = [(100_000, &[0]), (200_000, &[1])];
    let case = Case {
        worlds: &missed,
        proposed: &[0],
        probes: &[],
        true_world: 1,
    };
    let case = case.episode().with_mediation(Mediation::new(0, 0b001));
    let method = PolicyOnly::new(quarter(), ALWAYS);
    check(&method, &case.unwrap(), ESCALATE, &[]);
    // Nothing is safe in the best world left: as with a single world, then whether anything is in another.
    let hopeless: [(u32, &[usize]); 3] = [(100_000, &[0]), (150_000, &[]), (200_000, &[1])];
    policy(&hopeless, 2, 0b001, ALWAYS, ESCALATE);
    policy(&hopeless[..2], 1, 0b001, ALWAYS, ABSTAIN);
    policy(&hopeless[..2], 1, 0b000, ALWAYS, commit(0));
}

#[test]
fn policy_only_weighs_the_worlds_that_policy_leaves() {
    let equal: [(u32, &[usize]); 3] = [(100_000, &[0]), (100_000, &[1]), (100_000, &[2])];
    policy(&equal, 2, 0b001, at_least(0.5), commit(1));
    policy(&equal, 2, 0b001, at_least(f64::next_up(0.5)), ESCALATE);
    policy(&equal, 2, 0b000, at_least(1.0 / 3.0), commit(0));
    policy(&equal, 2, 0b000, at_least(0.34), ESCALATE);
    // The share is that of the best world's action, not the largest.
    let outvoted: [(u32, &[usize]); 3] = [(100_000, &[0]), (100_001, &[1]), (100_001, &[1])];
    policy(&outvoted, 1, 0, at_least(0.33), commit(0));
    policy(&outvoted, 1, 0, at_least(0.5), ESCALATE);
}

#[track_caller]
fn contained(
    worlds: &[(u32, &[usize])],
    true_world: usize,
    (threshold, max_probes): (ConfidenceThreshold, u32),
    verdict: Verdict,
    staged: &[usize],
) {
    // Action 0 alone is reversible.
    let case = episode(worlds, true_world).with_mediation(Mediation::new(0b001, 0));
    let method = ExecutionContainment::new(quarter(), threshold, max_probes);
    let ending = ending(&method, &case.unwrap(), &mut Memory::default());
    assert_eq!((ending.verdict, &ending.staged[..]), (verdict, staged));
    assert!(ending.probes.is_empty());
}

#[test]
fn containment_rolls_back_a_reversible_unsafe_action() {
    let reversible: [(u32, &[usize]); 3] = [(100_000, &[0]), (100_000, &[1]), (200_000, &[0])];
    contained(&reversible, 1, (ALWAYS, 1), ESCALATE, &[0]);
    contained(&reversible, 0, (ALWAYS, 1), commit(0), &[0]);
    contained(&reversible, 2, (ALWAYS, 4), commit(0), &[0]);
    // Without a budget nothing is staged, and the action takes effect.
    contained(&reversible, 1, (ALWAYS, 0), commit(0), &[]);
    let irreversible: [(u32, &[usize]); 2] = [(100_000, &[1]), (200_000, &[0])];
    contained(&irreversible, 1, (ALWAYS, 1), commit(1), &[]);
    contained(&irreversible, 0, (ALWAYS, 1), commit(1), &[]);
    // The first of several safe actions is the one that is staged.
    contained(&[(1, &[1, 0]), (2, &[2])], 1, (ALWAYS, 1), ESCALATE, &[0]);
}

#[test]
fn containment_stages_nothing_that_it_would_not_commit() {
    let equal: [(u32, &[usize]); 2] = [(100_000, &[0]), (100_000, &[1])];
    contained(&equal, 1, (at_least(0.5), 1), ESCALATE, &[0]);
    contained(&equal, 1, (at_least(f64::next_up(0.5)), 1), ESCALATE, &[]);
    contained(&equal, 0, (NEVER, 1), ESCALATE, &[]);
    contained(&[(1, &[]), (2, &[0])], 1, (ALWAYS, 1), ESCALATE, &[]);
    contained(&[(1, &[]), (2, &[])], 1, (ALWAYS, 1), ABSTAIN, &[]);
    let nothing = Case {
        worlds: &[(0, &[0])],
        proposed: &[],
        probes: &[],
        true_world: 0,
    };
    let method = ExecutionContainment::new(quarter(), ALWAYS, 1);
    check(&method, &nothing.episode(), ESCALATE, &[]);
}

#[test]
fn without_a_mediation_both_act_like_a_single_world() {
    let generator = spare_generator(&project());
    let policy_only = PolicyOnly::new(quarter(), ALWAYS);
    let containment = ExecutionContainment::new(quarter(), ALWAYS, 2);
    let mut memory = Memory::default();
    for index in 0..1_000 {
        let drawn = generator.draw(index);
        let single = ending(&SingleWorld, drawn.episode(), &mut memory);
        assert_eq!(ending(&policy_only, drawn.episode(), &mut memory), single);
        assert_eq!(ending(&containment, drawn.episode(), &mut memory), single);
    }
}

/// Without questions a larger threshold commits in a part of the episodes, with the same action.
#[test]
fn commits_are_nested_in_the_threshold() {
    let suite = safecommit_bench::Suite::Compared { seed: 1_000_003 };
    let split = safecommit_bench::Split::Test;
    let generator = safecommit_bench::Generator::new(&project().generator, suite, split);
    let shares = [0.0, 0.3, 0.5, 0.7, 0.9, 1.0].map(at_least);
    let thresholds: Vec<_> = shares.into_iter().chain([NEVER]).collect();
    let mut commits = vec![[0; 3]; thresholds.len()];
    let mut memory = Memory::default();
    for index in 0..400 {
        let drawn = generator.draw(index);
        let mut before = [None; 3];
        for (at, &threshold) in thresholds.iter().enumerate().rev() {
            let methods: [&dyn Method; 3] = [
                &ScalarConfidence::new(quarter(), threshold, 0),
                &PolicyOnly::new(quarter(), threshold),
                &ExecutionContainment::new(quarter(), threshold, 1),
            ];
            for (method, (before, commits)) in methods
                .into_iter()
                .zip(before.iter_mut().zip(&mut commits[at]))
            {
                let verdict = ending(method, drawn.episode(), &mut memory).verdict;
                if let Some(before) = *before {
                    assert_eq!(verdict, before);
                }
                if let Verdict::Commit { .. } = verdict {
                    *before = Some(verdict);
                    *commits += 1;
                }
            }
        }
    }
    for method in 0..3 {
        let counts: Vec<u32> = commits.iter().map(|row| row[method]).collect();
        assert!(counts.is_sorted_by(|larger, smaller| larger >= smaller));
        assert!(counts[0] > counts[3] && counts[3] > counts[4]);
        assert_eq!(counts[6], 0);
    }
    // Where nothing is rolled back, the rule without confidence acts in every episode.
    assert_eq!(commits[0][0], 400);
}
