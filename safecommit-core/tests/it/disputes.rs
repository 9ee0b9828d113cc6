//! Small problems that several tests start from.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Certificate, Controller, Cost, Fallback, FallbackKind, OutcomeModel, Probability,
    Problem, Reason, Settings, Step, Subject, Workspace,
};

/// Two actions, two worlds that disagree, a question that resolves it, and a third probe without use.
pub(crate) fn disputed() -> Problem {
    let mut problem = Problem::new(Subject([5; 32]));
    problem.add_action(Action::default()).unwrap();
    problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::new(0.1).unwrap(), [0]).unwrap();
    problem.add_world(Score::new(0.2).unwrap(), [1]).unwrap();
    let question = OutcomeModel::Identity { world: 0 };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, question)
        .unwrap();
    let useless = OutcomeModel::Partition {
        outcomes: 1,
        outcome_of: &[0, 0],
    };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, useless)
        .unwrap();
    problem
}

/// As `disputed`, with nothing to dispute: action 0 is certified.
pub(crate) fn settled() -> Problem {
    let mut problem = disputed();
    problem.contradict(1).unwrap();
    problem
}

pub(crate) fn with_controller<T>(
    problem: &Problem,
    settings: &Settings,
    threshold: &Threshold,
    act: impl FnOnce(&mut Controller<'_>) -> T,
) -> T {
    let mut workspace = Workspace::default();
    act(&mut Controller::start(
        problem,
        settings,
        threshold,
        &mut workspace,
    ))
}

pub(crate) fn started<T>(problem: &Problem, act: impl FnOnce(&mut Controller<'_>) -> T) -> T {
    with_controller(problem, &Settings::default(), Threshold::unbounded(), act)
}

pub(crate) fn certificate(controller: &mut Controller<'_>) -> Certificate {
    match controller.next_step() {
        Step::Commit(certificate) => certificate,
        other => panic!("{other:?} instead of a commit"),
    }
}

pub(crate) fn falls_back(step: &Step, kind: FallbackKind, reason: Reason) {
    assert_eq!(*step, Step::Fallback(Fallback { kind, reason }));
}
