//! Optimal is at most rollout is at most greedy, as the real controller spends it.

use std::cmp::Ordering;

use safecommit_conformal::Threshold;
use safecommit_core::{NoExpectation, Probing, Workspace, expected_probing};

use super::{Outcome, certain_plan, driven, every_rule};
use crate::calibrated::threshold;
use crate::generated::{Model, Plan, Random};

/// Less mass without a commit, or as much for less; differences of rounding are none.
fn order(one: &Outcome, other: &Outcome) -> Ordering {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-10;
    if !close(one.uncommitted, other.uncommitted) {
        one.uncommitted.total_cmp(&other.uncommitted)
    } else if !close(one.cost, other.cost) {
        one.cost.total_cmp(&other.cost)
    } else {
        Ordering::Equal
    }
}

fn outcomes(plan: &Plan) -> [Outcome; 3] {
    let problem = plan.problem();
    [Probing::Optimal, Probing::Rollout, Probing::Shrinkage]
        .map(|rule| driven(plan, &problem, &plan.settings().with_probing(rule)))
}

#[test]
fn lookahead_never_costs_more() {
    let mut random = Random(5);
    let (mut optimal_wins, mut rollout_wins, mut equal) = (0, 0, 0);
    for round in 0..3_000 {
        let mut plan = certain_plan(&mut random, 9, 10, round % 3 == 0);
        if round % 5 == 0 {
            plan.eta = 0.1;
        }
        let [optimal, rollout, greedy] = outcomes(&plan);
        let (first, second) = (order(&optimal, &rollout), order(&rollout, &greedy));
        assert_ne!(first, Ordering::Greater, "{optimal:?} {rollout:?} {plan:?}");
        assert_ne!(second, Ordering::Greater, "{rollout:?} {greedy:?} {plan:?}");
        optimal_wins += usize::from(first == Ordering::Less);
        rollout_wins += usize::from(second == Ordering::Less);
        equal += usize::from(first == Ordering::Equal && second == Ordering::Equal);
    }
    assert!(optimal_wins > 20, "{optimal_wins}");
    assert!(rollout_wins > 100, "{rollout_wins}");
    assert!(equal > 500, "{equal}");
}

/// More worlds than dynamic programming takes.
#[test]
fn rollout_is_at_most_greedy_on_supports_of_forty_worlds() {
    let mut random = Random(8);
    let mut wins = 0;
    for _ in 0..30 {
        let mut plan = certain_plan(&mut random, 40, 25, false);
        while plan.worlds.len() <= 20 {
            plan = certain_plan(&mut random, 40, 25, false);
        }
        let [_, rollout, greedy] = outcomes(&plan);
        let found = order(&rollout, &greedy);
        assert_ne!(found, Ordering::Greater, "{rollout:?} {greedy:?} {plan:?}");
        wins += usize::from(found == Ordering::Less);
    }
    assert!(wins > 3, "{wins}");
}

#[test]
fn the_expectation_is_that_of_one_run_a_world() {
    let mut random = Random(6);
    let mut workspace = Workspace::default();
    for round in 0..300 {
        let plan = certain_plan(&mut random, 8, 8, round % 2 == 0);
        let problem = plan.problem();
        for rule in every_rule() {
            let settings = plan.settings().with_probing(rule);
            let plain = driven(&plan, &problem, &settings);
            let threshold = Threshold::unbounded();
            let expected =
                expected_probing(&problem, &settings, threshold, &mut workspace).unwrap();
            for (one, other) in [
                (expected.committed, 1.0 - plain.uncommitted),
                (expected.cost, plain.cost),
                (expected.probes, plain.probes),
            ] {
                assert!(
                    (one - other).abs() < 1e-12,
                    "{expected:?} {plain:?}, {plan:?}"
                );
            }
        }
    }
}

#[test]
fn the_expectation_is_over_plausible_worlds_alone() {
    let mut random = Random(9);
    let mut plan = certain_plan(&mut random, 4, 1, false);
    plan.actions = vec![(0.0, 0.0); 2];
    plan.worlds.truncate(2);
    plan.worlds[0].score = 0.1;
    plan.worlds[1].score = 0.5;
    plan.worlds[0].safe = vec![0];
    plan.worlds[1].safe = vec![1];
    plan.probes.truncate(1);
    plan.probes[0].model = Model::Identity(0);
    plan.probes[0].cost = 2.0;
    let (settings, mut workspace) = (plan.settings(), Workspace::default());
    let mut cost = |kappa| {
        expected_probing(&plan.problem(), &settings, threshold(kappa), &mut workspace)
            .map(|expected| (expected.committed, expected.cost, expected.probes))
    };
    assert_eq!(cost(0.5), Ok((1.0, 2.0, 1.0)));
    assert_eq!(cost(0.2), Ok((1.0, 0.0, 0.0)));
    assert_eq!(cost(0.0), Err(NoExpectation::NothingPlausible));
    plan.probes[0].model = Model::Likelihood(2, vec![vec![1.0, 0.0], vec![0.5, 0.5]]);
    let threshold = Threshold::unbounded();
    assert_eq!(
        expected_probing(&plan.problem(), &settings, threshold, &mut workspace),
        Err(NoExpectation::Uncertain { probe: 0 })
    );
    let mut faulty = plan.problem();
    let fault = safecommit_core::Fault::Score { world: 7 };
    faulty.fail(fault);
    assert_eq!(
        expected_probing(&faulty, &settings, threshold, &mut workspace),
        Err(NoExpectation::Fault(fault))
    );
}
