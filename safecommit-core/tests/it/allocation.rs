//! A decision through reused memory makes no heap allocation.

use safecommit_conformal::Threshold;
use safecommit_core::{Controller, Problem, Settings, Step, Subject, Workspace};

use crate::generated::{Plan, Random};

/// Refills the problem and plays it to its end, every probe answered with its first outcome that the
/// first world allows. Returns the number of probes made.
fn decide(plan: &Plan, problem: &mut Problem, workspace: &mut Workspace) -> usize {
    let settings = Settings::default();
    plan.fill(problem);
    let mut controller = Controller::start(problem, &settings, Threshold::unbounded(), workspace);
    loop {
        match controller.next_step() {
            Step::Commit(certificate) => {
                let action = certificate.action();
                controller.redeem(certificate, action).unwrap();
                return controller.history().len();
            }
            Step::Probe(choice) => {
                let outcomes = 0..problem.probes()[choice.probe].outcomes();
                let mut outcomes = outcomes;
                let outcome = outcomes
                    .find(|&outcome| problem.likelihood(choice.probe, 0, outcome) > 0.0)
                    .unwrap();
                controller.observe(choice.probe, outcome).unwrap();
            }
            Step::Fallback(_) => return controller.history().len(),
        }
    }
}

/// A problem whose decision takes at least two probes, with questions only, which need no table.
fn demanding(random: &mut Random, actions: std::ops::RangeInclusive<usize>) -> Plan {
    loop {
        let mut plan = Plan::random(random);
        plan.probes
            .retain(|probe| matches!(probe.model, crate::generated::Model::Identity(_)));
        let fits = actions.contains(&plan.actions.len()) && plan.worlds.len() >= 5;
        let mut problem = Problem::new(Subject([0; 32]));
        if fits && decide(&plan, &mut problem, &mut Workspace::default()) >= 2 {
            return plan;
        }
    }
}

#[test]
fn a_decision_allocates_nothing_after_the_first() {
    let mut random = Random(11);
    for actions in [2..=5, 60..=128] {
        let plans: Vec<_> = (0..5)
            .map(|_| demanding(&mut random, actions.clone()))
            .collect();
        let mut problem = Problem::new(Subject([0; 32]));
        let mut workspace = Workspace::default();
        for plan in &plans {
            decide(plan, &mut problem, &mut workspace);
        }
        let counted = allocation_counter::measure(|| {
            for plan in &plans {
                assert!(decide(plan, &mut problem, &mut workspace) >= 2);
            }
        });
        assert_eq!((counted.count_total, counted.bytes_total), (0, 0));
    }
}

#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| {
        std::hint::black_box(Vec::<u64>::with_capacity(8));
    });
    assert_eq!(counted.count_total, 1);
}
