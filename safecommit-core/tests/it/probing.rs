//! What a probe costs, what it teaches, and when it is not worth making.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Budget, Cost, FallbackKind, OutcomeModel, Plausibility, Probability, Problem, Reason,
    Settings, Step, Stop, Subject,
};

use crate::disputes::{disputed, falls_back, started, with_controller};

#[test]
fn failed_probes_count_and_teach_nothing() {
    let settings = Settings::default().with_budget(Budget::probes(1));
    with_controller(
        &disputed(),
        &settings,
        Threshold::unbounded(),
        |controller| {
            assert!(matches!(controller.next_step(), Step::Probe(choice) if choice.probe == 0));
            controller.probe_failed(0).unwrap();
            assert_eq!(controller.history().len(), 1);
            let reason = Reason::Unresolved {
                stop: Stop::ProbeBudgetSpent,
            };
            falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
        },
    );
    let costly = Budget {
        max_cost: Some(1.0),
        ..Budget::UNLIMITED
    };
    let settings = Settings::default().with_budget(costly);
    with_controller(
        &disputed(),
        &settings,
        Threshold::unbounded(),
        |controller| {
            controller.probe_failed(1).unwrap();
            let reason = Reason::Unresolved {
                stop: Stop::CostBudgetSpent,
            };
            falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
        },
    );
}

#[test]
fn costs_that_add_up_to_the_budget_fit() {
    let mut problem = disputed();
    for _ in 0..3 {
        let cost = Cost::new(0.1).unwrap();
        let question = OutcomeModel::Identity { world: 0 };
        problem
            .add_probe(cost, Probability::ZERO, question)
            .unwrap();
    }
    let tenths = |max_cost| {
        let budget = Budget {
            max_cost: Some(max_cost),
            ..Budget::UNLIMITED
        };
        let settings = Settings::default().with_budget(budget);
        with_controller(&problem, &settings, Threshold::unbounded(), |controller| {
            let mut made = 0;
            while let Step::Probe(choice) = controller.next_step() {
                controller.probe_failed(choice.probe).unwrap();
                made += 1;
            }
            made
        })
    };
    // Three costs of 0.1 add up to 0.30000000000000004.
    assert_eq!(tenths(0.3), 3);
    assert_eq!(tenths(0.29), 2);
    assert_eq!(tenths(f64::NAN), 0);
}

#[test]
fn a_cheap_probe_that_tells_nothing_is_not_made() {
    let mut problem = Problem::new(Subject([5; 32]));
    for _ in 0..3 {
        problem.add_action(Action::default()).unwrap();
    }
    for (score, safe) in [(0.11, [0, 1]), (0.23, [1, 2]), (0.37, [0, 2])] {
        problem.add_world(Score::new(score).unwrap(), safe).unwrap();
    }
    let cost = Cost::new(1e-9).unwrap();
    // A third each, to ten decimals: they sum to a little less than one.
    let rows = [0.333_333_333_3; 9];
    let guess = OutcomeModel::Likelihood {
        outcomes: 3,
        rows: &rows,
    };
    problem.add_probe(cost, Probability::ZERO, guess).unwrap();
    let sure = OutcomeModel::Partition {
        outcomes: 2,
        outcome_of: &[1, 1, 1],
    };
    problem.add_probe(cost, Probability::ZERO, sure).unwrap();
    started(&problem, |controller| {
        let reason = Reason::Unresolved {
            stop: Stop::NoProbeHelps,
        };
        falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
    });
}

/// The masses before and after are one sum taken in another order: what differs is rounding alone.
#[test]
fn a_cheap_probe_that_resolves_nothing_is_not_made() {
    for round in 0..200 {
        let mut problem = Problem::new(Subject([5; 32]));
        for _ in 0..2 {
            problem.add_action(Action::default()).unwrap();
        }
        // Action 0 is blocked least, whatever the probe says: in four worlds of five, and action 1 in
        // the same four and in the fifth.
        for world in 0..5 {
            let score = Score::new(f64::from((round * 7 + world * 13) % 101) / 100.0).unwrap();
            problem
                .add_world(score, (0..1).filter(|_| world == 4))
                .unwrap();
        }
        let cost = Cost::new(1e-9).unwrap();
        let sort = OutcomeModel::Partition {
            outcomes: 3,
            outcome_of: &[0, 1, 2, 0, 1],
        };
        problem.add_probe(cost, Probability::ZERO, sort).unwrap();
        for world in 0..4 {
            let question = OutcomeModel::Identity { world };
            problem
                .add_probe(cost, Probability::ZERO, question)
                .unwrap();
        }
        started(&problem, |controller| {
            let stop = Stop::NoProbeHelps;
            let reason = Reason::Unresolved { stop };
            falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
        });
    }
}

#[test]
fn an_outcome_that_is_merely_unlikely_removes_nothing() {
    let mut problem = Problem::new(Subject([5; 32]));
    problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [0]).unwrap();
    problem.add_world(Score::ZERO, []).unwrap();
    let rows = [1.0, 0.0, 5e-324, 1.0];
    let model = OutcomeModel::Likelihood {
        outcomes: 2,
        rows: &rows,
    };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, model)
        .unwrap();
    started(&problem, |controller| {
        controller.observe(0, 0).unwrap();
        let Plausibility::Plausible(plausible) = controller.plausible() else {
            panic!("both worlds are plausible");
        };
        assert_eq!(plausible.size().get(), 2);
        assert!(plausible.certify(0).is_err());
    });
    started(&problem, |controller| {
        controller.observe(0, 1).unwrap();
        let Plausibility::Plausible(plausible) = controller.plausible() else {
            panic!("one world is plausible");
        };
        assert_eq!(plausible.worlds().collect::<Vec<_>>(), [1]);
    });
}

#[test]
fn a_probe_that_exceeds_eta_by_rounding_alone_is_not_made() {
    let problem = disputed();
    let half = with_controller(
        &problem,
        &Settings::default(),
        Threshold::unbounded(),
        |controller| controller.shrinkages()[0].score,
    );
    for (below, made) in [(5e-13, false), (5e-12, true)] {
        let settings = Settings::default().with_eta(half - below).unwrap();
        with_controller(&problem, &settings, Threshold::unbounded(), |controller| {
            let step = controller.next_step();
            assert_eq!(matches!(step, Step::Probe(_)), made, "{below}");
        });
    }
}

/// Outcomes times actions would be 72 gigabytes.
#[test]
fn many_outcomes_and_many_actions_fit_in_memory() {
    let many = 300_000_usize;
    let mut problem = Problem::new(Subject([5; 32]));
    for _ in 0..many / 10 {
        problem.add_action(Action::default()).unwrap();
    }
    problem.add_world(Score::ZERO, [0]).unwrap();
    problem.add_world(Score::ZERO, [1]).unwrap();
    let which = OutcomeModel::Partition {
        outcomes: many,
        outcome_of: &[7, 299_999],
    };
    let probe = problem.add_probe(Cost::UNIT, Probability::ZERO, which);
    with_controller(
        &problem,
        &Settings::default(),
        Threshold::unbounded(),
        |controller| {
            let choice = controller.shrinkages()[0];
            assert_eq!((Ok(choice.probe), choice.shrinkage), (probe, 0.5));
        },
    );
}
