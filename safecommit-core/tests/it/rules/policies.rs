//! The optimal rule against every policy there is, listed without Bellman's equation.

use std::collections::BTreeSet;

use safecommit_core::Probing;

use super::{Outcome, answer, certain_plan, driven};
use crate::generated::{Plan, Random};

/// What every deterministic policy comes to from a set of worlds: mass without a certificate, expected
/// cost. A policy stops, or makes a probe and goes on with some policy after each answer.
fn policies(
    plan: &Plan,
    weights: &[f64],
    left: &BTreeSet<usize>,
    made: &BTreeSet<usize>,
) -> Vec<(f64, f64)> {
    let mass: f64 = left.iter().map(|&world| weights[world]).sum();
    let certified = (0..plan.actions.len()).any(|action| {
        left.iter()
            .all(|&world| plan.worlds[world].safe.contains(&action))
    });
    if certified {
        return vec![(0.0, 0.0)];
    }
    let mut all = vec![(mass, 0.0)];
    let spent = plan
        .budget
        .max_probes
        .is_some_and(|limit| made.len() >= limit as usize);
    for probe in (0..plan.probes.len()).filter(|probe| !spent && !made.contains(probe)) {
        let answers: BTreeSet<usize> = left
            .iter()
            .map(|&world| answer(plan, probe, world))
            .collect();
        // A probe that is sure to tell nothing only costs.
        if answers.len() < 2 {
            continue;
        }
        let mut made = made.clone();
        made.insert(probe);
        let mut together = vec![(0.0, plan.probes[probe].cost * mass)];
        for said in answers {
            let kept = left.iter().copied();
            let kept = kept
                .filter(|&world| answer(plan, probe, world) == said)
                .collect();
            let after = policies(plan, weights, &kept, &made);
            together = together
                .iter()
                .flat_map(|one| after.iter().map(move |two| (one.0 + two.0, one.1 + two.1)))
                .collect();
        }
        all.extend(together);
    }
    all
}

/// The cheapest of those policies that leave the least mass without a certificate.
fn least(plan: &Plan) -> (f64, f64, usize) {
    let raw: Vec<f64> = plan
        .worlds
        .iter()
        .map(|world| (-world.score / plan.temperature).exp())
        .collect();
    let total: f64 = raw.iter().sum();
    let weights: Vec<f64> = raw.iter().map(|weight| weight / total).collect();
    let all = policies(
        plan,
        &weights,
        &(0..plan.worlds.len()).collect(),
        &BTreeSet::new(),
    );
    let uncertified = all
        .iter()
        .map(|policy| policy.0)
        .fold(f64::INFINITY, f64::min);
    let cost = all
        .iter()
        .filter(|policy| policy.0 <= uncertified + 1e-12)
        .map(|policy| policy.1)
        .fold(f64::INFINITY, f64::min);
    (uncertified, cost, all.len())
}

#[test]
fn no_policy_is_better_than_the_optimal_rule() {
    let mut random = Random(31);
    let (mut most, mut greedy_is_worse, mut partly) = (0, 0, 0);
    for round in 0..1_500 {
        let plan = certain_plan(&mut random, 6, 6, round % 2 == 0);
        let (uncertified, cost, listed) = least(&plan);
        let problem = plan.problem();
        let with = |rule| driven(&plan, &problem, &plan.settings().with_probing(rule));
        let Outcome {
            uncommitted,
            cost: spent,
            ..
        } = with(Probing::Optimal);
        assert!(
            (uncommitted - uncertified).abs() < 1e-12,
            "round {round}: {uncommitted} for {uncertified}, {plan:?}"
        );
        assert!(
            (spent - cost).abs() < 1e-9,
            "round {round}: {spent} for {cost}, {plan:?}"
        );
        let greedy = with(Probing::Shrinkage);
        greedy_is_worse +=
            usize::from(greedy.uncommitted > uncertified + 1e-9 || greedy.cost > cost + 1e-9);
        partly += usize::from(1e-9 < uncertified && uncertified < 1.0 - 1e-9);
        most = most.max(listed);
    }
    assert!(most > 500, "at most {most} policies");
    assert!(greedy_is_worse > 100, "{greedy_is_worse}");
    assert!(partly > 100, "{partly}");
}
