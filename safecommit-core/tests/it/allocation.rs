//! A decision through reused memory makes no heap allocation.

use safecommit_conformal::{
    CalibrationScore, LoggedSeed, Misses, MondrianCalibration, Score, Taxonomy, Threshold, Weight,
    WeightedScores, WeightedTable,
};
use safecommit_core::{
    Action, Budget, Controller, Cost, OutcomeModel, Probability, Probing, Problem, Settings, Step,
    Subject, Workspace, expected_probing,
};

use crate::calibrated::threshold;
use crate::generated::{Plan, Random};
use crate::rules::every_rule;

/// Refills the problem and plays it to its end, every probe answered with its first outcome that the
/// first world allows. Returns the number of probes made.
fn decide(
    plan: &Plan,
    settings: &Settings,
    problem: &mut Problem,
    workspace: &mut Workspace,
) -> usize {
    plan.fill(problem);
    let mut controller = Controller::start(problem, settings, Threshold::unbounded(), workspace);
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
        let greedy = Settings::default();
        if fits && decide(&plan, &greedy, &mut problem, &mut Workspace::default()) >= 2 {
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
        for rule in every_rule() {
            let settings = Settings::default().with_probing(rule);
            let mut problem = Problem::new(Subject([0; 32]));
            let mut workspace = Workspace::default();
            let mut decide_all = || {
                let mut made = 0;
                for plan in &plans {
                    made += decide(plan, &settings, &mut problem, &mut workspace);
                    let unbounded = Threshold::unbounded();
                    expected_probing(&problem, &settings, unbounded, &mut workspace).unwrap();
                }
                made
            };
            decide_all();
            let mut made = 0;
            let counted = allocation_counter::measure(|| made = decide_all());
            assert_eq!(
                (counted.count_total, counted.bytes_total),
                (0, 0),
                "{rule:?}"
            );
            assert!(made >= 5, "{rule:?}");
        }
    }
}

/// Memory is taken for the size of the problem, not for what a threshold happens to retain of it.
#[test]
fn a_decision_that_retains_more_allocates_nothing_either() {
    let mut problem = Problem::new(Subject([0; 32]));
    for _ in 0..2 {
        problem.add_action(Action::default()).unwrap();
    }
    for world in 0..8_usize {
        let score = Score::new(world as f64 / 10.0).unwrap();
        problem.add_world(score, [world % 2]).unwrap();
    }
    for world in 0..8 {
        let question = OutcomeModel::Identity { world };
        problem
            .add_probe(Cost::UNIT, Probability::ZERO, question)
            .unwrap();
    }
    let thirds = OutcomeModel::Partition {
        outcomes: 3,
        outcome_of: &[0, 1, 2, 0, 1, 2, 0, 1],
    };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, thirds)
        .unwrap();
    for rule in every_rule() {
        for max_probes in [None, Some(5)] {
            let budget = Budget {
                max_probes,
                ..Budget::UNLIMITED
            };
            let settings = Settings::default().with_probing(rule).with_budget(budget);
            let mut workspace = Workspace::default();
            let mut probes = |threshold: &Threshold| {
                expected_probing(&problem, &settings, threshold, &mut workspace)
                    .unwrap()
                    .probes
            };
            let few = probes(threshold(0.25));
            let mut all = 0.0;
            let counted = allocation_counter::measure(|| all = probes(Threshold::unbounded()));
            assert_eq!(
                (counted.count_total, counted.bytes_total),
                (0, 0),
                "{rule:?}"
            );
            assert!(0.0 < few && few < all, "{few} {all}");
        }
    }
}

/// A threshold for each case, with its guarantee and the cases that it is from; and the digest of a policy.
#[test]
fn thresholds_and_policies_take_no_memory() {
    let scores: Vec<CalibrationScore> = (0..100)
        .map(|i| Score::new(f64::from(i)).unwrap().into())
        .collect();
    let weights = vec![Weight::ONE; scores.len()];
    let table = WeightedTable::new(&WeightedScores::new(&scores, &weights).unwrap());
    let (alpha, heavy) = ("0.1".parse().unwrap(), Weight::try_from(2.5).unwrap());
    let random = Settings::default().with_probing(Probing::Random {
        seed: LoggedSeed::new("run 1"),
    });
    let group = Taxonomy::new(["a/b".parse().unwrap()]).unwrap();
    let cases: Vec<_> = scores
        .iter()
        .map(|score| ("a/b".parse().unwrap(), *score))
        .collect();
    let groups = MondrianCalibration::new(alpha, group, &cases, Misses::AsListed).unwrap();
    let group = groups.calibration(&"a/b".parse().unwrap()).unwrap();
    let counted = allocation_counter::measure(|| {
        let threshold = table.threshold(alpha, heavy);
        assert_eq!(threshold.guarantee(), Some(&table.guarantee(heavy)));
        assert!(threshold.clone().is_same_as(&threshold));
        assert!(group.threshold().clone().is_same_as(group.threshold()));
        assert_ne!(random.digest(), Settings::default().digest());
    });
    assert_eq!((counted.count_total, counted.bytes_total), (0, 0));
}

#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| {
        std::hint::black_box(Vec::<u64>::with_capacity(8));
    });
    assert_eq!(counted.count_total, 1);
}
