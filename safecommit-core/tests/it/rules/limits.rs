//! Where rules stop, where they cannot plan, and what budgets do to them.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Budget, Controller, Cost, Fallback, OutcomeModel, Probability, ProbeRule, Probing,
    Problem, Reason, Settings, Step, Stop, Subject, Workspace,
};

use super::every_rule;

fn first_step(problem: &Problem, settings: &Settings) -> Step {
    let mut workspace = Workspace::default();
    Controller::start(problem, settings, Threshold::unbounded(), &mut workspace).next_step()
}

#[track_caller]
fn chosen(problem: &Problem, settings: &Settings) -> (usize, ProbeRule) {
    match first_step(problem, settings) {
        Step::Probe(choice) => (choice.probe, choice.rule),
        step => panic!("{step:?}"),
    }
}

/// Two actions that are safe by turns, and a question about each world.
fn alternating(worlds: usize) -> Problem {
    let mut problem = Problem::new(Subject([3; 32]));
    for _ in 0..2 {
        problem.add_action(Action::default()).unwrap();
    }
    for world in 0..worlds {
        let score = Score::new(world as f64 / 100.0).unwrap();
        problem.add_world(score, [world % 2]).unwrap();
    }
    for world in 0..worlds {
        ask(&mut problem, 1.0, OutcomeModel::Identity { world });
    }
    problem
}

fn ask(problem: &mut Problem, cost: f64, model: OutcomeModel<'_>) {
    let cost = Cost::new(cost).unwrap();
    problem.add_probe(cost, Probability::ZERO, model).unwrap();
}

#[track_caller]
fn check_planner(problem: &Problem, rule: Probing, expect: ProbeRule) {
    let settings = Settings::default().with_probing(rule);
    assert_eq!(chosen(problem, &settings).1, expect);
    if expect == ProbeRule::Shrinkage {
        assert_eq!(
            chosen(problem, &settings),
            chosen(problem, &Settings::default())
        );
    }
}

#[test]
fn the_greedy_rule_stands_in_where_planning_would_take_too_long() {
    let (optimal, rollout) = (Probing::Optimal, Probing::Rollout);
    check_planner(&alternating(12), optimal, ProbeRule::Optimal);
    check_planner(&alternating(17), optimal, ProbeRule::Shrinkage);
    check_planner(&alternating(64), rollout, ProbeRule::Rollout);
    check_planner(&alternating(65), rollout, ProbeRule::Shrinkage);
    for (rule, planned, most) in [
        (optimal, ProbeRule::Optimal, 64),
        (rollout, ProbeRule::Rollout, 128),
    ] {
        let mut problem = alternating(3);
        // What tells nothing does not count.
        for _ in 0..200 {
            let nothing = OutcomeModel::Partition {
                outcomes: 1,
                outcome_of: &[0, 0, 0],
            };
            ask(&mut problem, 1.0, nothing);
        }
        for _ in 3..most {
            ask(&mut problem, 1.0, OutcomeModel::Identity { world: 1 });
        }
        check_planner(&problem, rule, planned);
        ask(&mut problem, 1.0, OutcomeModel::Identity { world: 1 });
        check_planner(&problem, rule, ProbeRule::Shrinkage);
    }
}

#[test]
fn the_greedy_rule_stands_in_where_actions_are_blocked_in_too_many_ways() {
    for (actions, fits) in [(64, true), (65, false)] {
        let mut problem = Problem::new(Subject([3; 32]));
        for _ in 0..2 * actions {
            problem.add_action(Action::default()).unwrap();
        }
        // Action a is blocked in the worlds that are the binary digits of a + 1, as is a + actions.
        for bit in 0..7 {
            let safe = (0..2 * actions).filter(|action| (action % actions + 1) >> bit & 1 == 0);
            problem.add_world(Score::ZERO, safe).unwrap();
        }
        for world in 0..7 {
            ask(&mut problem, 1.0, OutcomeModel::Identity { world });
        }
        let rule = if fits {
            ProbeRule::Optimal
        } else {
            ProbeRule::Shrinkage
        };
        check_planner(&problem, Probing::Optimal, rule);
        let rule = if fits {
            ProbeRule::Rollout
        } else {
            ProbeRule::Shrinkage
        };
        check_planner(&problem, Probing::Rollout, rule);
    }
}

#[test]
fn rules_that_plan_need_certain_outcomes() {
    for (rows, certain) in [([1.0, 0.0, 0.0, 1.0], true), ([1.0, 0.0, 0.5, 0.5], false)] {
        let mut problem = alternating(2);
        ask(
            &mut problem,
            1.0,
            OutcomeModel::Likelihood {
                outcomes: 2,
                rows: &rows,
            },
        );
        for (rule, planned) in [
            (Probing::Optimal, ProbeRule::Optimal),
            (Probing::Rollout, ProbeRule::Rollout),
        ] {
            let expect = if certain {
                planned
            } else {
                ProbeRule::Shrinkage
            };
            check_planner(&problem, rule, expect);
            // A probe that cannot be paid is not in the plan.
            let mut dear = alternating(2);
            ask(
                &mut dear,
                9.0,
                OutcomeModel::Likelihood {
                    outcomes: 2,
                    rows: &rows,
                },
            );
            let budget = Budget {
                max_cost: Some(1.0),
                ..Budget::UNLIMITED
            };
            let settings = Settings::default().with_probing(rule).with_budget(budget);
            assert_eq!(chosen(&dear, &settings), (0, planned));
        }
    }
}

/// Either probe halves the four worlds and certifies nothing alone; both together always do.
fn two_steps(costs: [f64; 2]) -> Problem {
    let mut problem = Problem::new(Subject([3; 32]));
    for _ in 0..4 {
        problem.add_action(Action::default()).unwrap();
    }
    for world in 0..4 {
        problem.add_world(Score::ZERO, [world]).unwrap();
    }
    for (cost, outcome_of) in costs.into_iter().zip([[0, 0, 1, 1], [0, 1, 0, 1]]) {
        ask(
            &mut problem,
            cost,
            OutcomeModel::Partition {
                outcomes: 2,
                outcome_of: &outcome_of,
            },
        );
    }
    problem
}

#[test]
fn a_plan_counts_the_probes_that_are_left() {
    let problem = two_steps([1.0, 1.0]);
    let within = |probes| {
        let settings = Settings::default().with_probing(Probing::Optimal);
        first_step(&problem, &settings.with_budget(Budget::probes(probes)))
    };
    assert!(matches!(within(2), Step::Probe(choice) if choice.probe == 0));
    // One answer certifies nothing, so it is not paid for.
    let stop = Stop::NoProbeHelps;
    let reason = Reason::Unresolved { stop };
    assert!(matches!(within(1), Step::Fallback(Fallback { reason: found, .. }) if found == reason));
}

/// A greedy rule that stops at once makes no second probe, and the first alone certifies nothing.
#[test]
fn eta_is_that_of_the_greedy_rule_that_follows() {
    let problem = two_steps([1.0, 1.0]);
    for (eta, probes) in [(0.0, true), (0.9, false)] {
        let settings = Settings::default().with_probing(Probing::Rollout);
        let settings = settings.with_eta(eta).unwrap();
        let step = first_step(&problem, &settings);
        assert_eq!(matches!(step, Step::Probe(_)), probes, "{eta}: {step:?}");
    }
}

#[test]
fn a_cost_budget_that_buys_no_probe_that_helps_is_the_reason() {
    let mut problem = alternating(2);
    ask(
        &mut problem,
        0.5,
        OutcomeModel::Partition {
            outcomes: 2,
            outcome_of: &[1, 1],
        },
    );
    for rule in every_rule() {
        let with = |max_cost| {
            let budget = Budget {
                max_cost: Some(max_cost),
                ..Budget::UNLIMITED
            };
            let settings = Settings::default().with_probing(rule).with_budget(budget);
            first_step(&problem, &settings)
        };
        assert!(matches!(with(1.0), Step::Probe(_)), "{rule:?}");
        let stop = Stop::CostBudgetSpent;
        let reason = Reason::Unresolved { stop };
        assert!(
            matches!(with(0.9), Step::Fallback(Fallback { reason: found, .. }) if found == reason),
            "{rule:?}"
        );
    }
    // A plan that takes both probes: the first can be paid, and settles nothing without the second.
    let problem = two_steps([1.0, 2.0]);
    let budget = Budget {
        max_cost: Some(1.0),
        ..Budget::UNLIMITED
    };
    let settings = Settings::default()
        .with_probing(Probing::Optimal)
        .with_budget(budget);
    assert!(matches!(
        first_step(&problem, &settings),
        Step::Fallback(Fallback {
            reason: Reason::Unresolved {
                stop: Stop::CostBudgetSpent
            },
            ..
        })
    ));
}

#[test]
fn extreme_numbers_end_in_a_step_that_is_no_error() {
    for cost in [5e-324, f64::MIN_POSITIVE, 1.0, f64::MAX] {
        for temperature in [5e-324, 1e-3, 1.0, f64::MAX] {
            let mut problem = alternating(0);
            for (world, score) in [-1e308, 1e308, 0.0, 5e-324].into_iter().enumerate() {
                problem
                    .add_world(Score::new(score).unwrap(), [world % 2])
                    .unwrap();
            }
            for world in 0..4 {
                ask(&mut problem, cost, OutcomeModel::Identity { world });
            }
            for rule in every_rule() {
                let settings = Settings::default().with_probing(rule);
                let settings = settings.with_temperature(temperature).unwrap();
                let step = first_step(&problem, &settings);
                let error = matches!(
                    step,
                    Step::Fallback(Fallback {
                        reason: Reason::Error(_),
                        ..
                    })
                );
                assert!(!error, "{step:?}");
            }
        }
    }
}
