//! What is counted of an ending: how it ended, whether the true world was retained, and the cause of a
//! failure.

use safecommit_bench::{
    Causes, Counts, Episode, Fallbacks, Memory, Method, SafeCommit, SingleWorld, count,
};
use safecommit_conformal::Threshold;

use crate::cases::{Case, ending, episode, threshold};

const ONE: Counts = Counts {
    episodes: 1,
    unsafe_commits: 0,
    safe_commits: 0,
    probes: 0,
    truth_retained: 0,
    fallbacks: NO_FALLBACKS,
    unsafe_causes: NO_CAUSES,
    fallback_causes: NO_CAUSES,
};

const NO_FALLBACKS: Fallbacks = Fallbacks {
    defer: 0,
    escalate: 0,
    abstain: 0,
};

const ESCALATED: Fallbacks = Fallbacks {
    escalate: 1,
    ..NO_FALLBACKS
};

const NO_CAUSES: Causes = Causes {
    proposal: 0,
    calibration: 0,
    evidence: 0,
    safety_map: 0,
    probe_policy: 0,
};

const PROPOSAL: Causes = Causes {
    proposal: 1,
    ..NO_CAUSES
};

const CALIBRATION: Causes = Causes {
    calibration: 1,
    ..NO_CAUSES
};

const PROBE_POLICY: Causes = Causes {
    probe_policy: 1,
    ..NO_CAUSES
};

#[track_caller]
fn check(method: &dyn Method, certifies: bool, episode: &Episode, expected: Counts) {
    let (mut counts, mut memory) = (Counts::default(), Memory::default());
    let ending = ending(method, episode, &mut memory);
    count(episode, &ending, certifies, &memory, &mut counts);
    assert_eq!(counts, expected);
}

/// SafeCommit with a threshold of one half and this many probes.
fn certifying(max_probes: u32) -> SafeCommit {
    SafeCommit::new(threshold(500_000), 0.25, max_probes)
}

/// Two retained worlds that no action is safe in both of.
const CONFLICT: [(u32, &[usize]); 2] = [(100_000, &[0]), (200_000, &[1])];

#[test]
fn a_fallback_that_retains_the_true_world_counts_for_coverage() {
    let fallback = Counts {
        truth_retained: 1,
        fallbacks: ESCALATED,
        fallback_causes: PROBE_POLICY,
        ..ONE
    };
    check(&certifying(0), true, &episode(&CONFLICT, 1), fallback);
}

#[test]
fn a_commit_counts_by_what_is_safe_in_the_true_world() {
    let safe = Counts {
        safe_commits: 1,
        probes: 1,
        truth_retained: 1,
        ..ONE
    };
    check(&certifying(1), true, &episode(&CONFLICT, 1), safe);
    let above: [(u32, &[usize]); 2] = [(100_000, &[0]), (500_001, &[1])];
    let not_safe = Counts {
        unsafe_commits: 1,
        unsafe_causes: CALIBRATION,
        ..ONE
    };
    check(&certifying(1), true, &episode(&above, 1), not_safe);
}

#[test]
fn a_missed_true_world_is_a_failure_of_the_proposal() {
    let mut missed = episode(&CONFLICT, 1);
    missed.drop_true_world();
    let not_safe = Counts {
        unsafe_commits: 1,
        unsafe_causes: PROPOSAL,
        ..ONE
    };
    check(&certifying(1), true, &missed, not_safe);
    // Two others are left, in conflict with each other.
    let worlds: [(u32, &[usize]); 3] = [(100_000, &[0]), (200_000, &[1]), (300_000, &[2])];
    let mut missed = episode(&worlds, 0);
    missed.drop_true_world();
    let fallback = Counts {
        fallbacks: ESCALATED,
        fallback_causes: PROPOSAL,
        ..ONE
    };
    check(&certifying(0), true, &missed, fallback);
}

#[test]
fn the_true_world_is_found_among_those_proposed() {
    // World 0 is not proposed, so that the true world 2 is the second of the proposed; it is retained,
    // while the first is not.
    let case = Case {
        worlds: &[(0, &[1]), (600_000, &[1]), (400_000, &[0])],
        proposed: &[1, 2],
        probes: &[2],
        true_world: 2,
    };
    let safe = Counts {
        safe_commits: 1,
        truth_retained: 1,
        ..ONE
    };
    check(&certifying(0), true, &case.episode(), safe);
    let first = Case {
        true_world: 1,
        ..case
    };
    let not_safe = Counts {
        unsafe_commits: 1,
        unsafe_causes: CALIBRATION,
        ..ONE
    };
    check(&certifying(0), true, &first.episode(), not_safe);
}

#[test]
fn a_fallback_above_the_threshold_is_a_failure_of_calibration() {
    let worlds: [(u32, &[usize]); 3] = [(100_000, &[0]), (200_000, &[1]), (600_000, &[2])];
    let fallback = Counts {
        fallbacks: ESCALATED,
        fallback_causes: CALIBRATION,
        ..ONE
    };
    check(&certifying(0), true, &episode(&worlds, 2), fallback);
}

#[test]
fn a_fallback_where_nothing_was_safe_is_no_failure() {
    // Nothing is safe in the true world, retained or not, proposed or not.
    let retained: [(u32, &[usize]); 2] = [(100_000, &[0]), (200_000, &[])];
    let escalated = Counts {
        truth_retained: 1,
        fallbacks: ESCALATED,
        ..ONE
    };
    check(&certifying(0), true, &episode(&retained, 1), escalated);

    let above: [(u32, &[usize]); 3] = [(100_000, &[0]), (200_000, &[1]), (600_000, &[])];
    let escalated = Counts {
        fallbacks: ESCALATED,
        ..ONE
    };
    check(&certifying(0), true, &episode(&above, 2), escalated);
    let mut missed = episode(&above, 2);
    missed.drop_true_world();
    check(&certifying(0), true, &missed, escalated);

    let abstained = Counts {
        truth_retained: 1,
        fallbacks: Fallbacks {
            abstain: 1,
            ..NO_FALLBACKS
        },
        ..ONE
    };
    check(
        &certifying(0),
        true,
        &episode(&[(1, &[]), (2, &[])], 0),
        abstained,
    );
    // Acting there is a failure all the same.
    let not_safe = Counts {
        unsafe_commits: 1,
        unsafe_causes: CALIBRATION,
        ..ONE
    };
    let alone: [(u32, &[usize]); 2] = [(100_000, &[0]), (600_000, &[])];
    check(&certifying(0), true, &episode(&alone, 1), not_safe);
}

#[test]
fn other_methods_have_neither_coverage_nor_causes() {
    let not_safe = Counts {
        unsafe_commits: 1,
        ..ONE
    };
    check(&SingleWorld, false, &episode(&CONFLICT, 1), not_safe);
    let escalated = Counts {
        fallbacks: ESCALATED,
        ..ONE
    };
    let worlds: [(u32, &[usize]); 2] = [(100_000, &[]), (200_000, &[1])];
    check(&SingleWorld, false, &episode(&worlds, 1), escalated);
}

#[test]
fn an_unbounded_threshold_retains_every_true_world() {
    let method = SafeCommit::new(Threshold::unbounded(), 0.25, 0);
    let worlds: [(u32, &[usize]); 2] = [(0, &[0]), (1_000_000, &[0, 1])];
    let safe = Counts {
        safe_commits: 1,
        truth_retained: 1,
        ..ONE
    };
    check(&method, true, &episode(&worlds, 1), safe);
}
