//! Errors, empty sets and certificates for something else: nothing of it ends in a commit.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Budget, Certificate, CertificateError, Controller, Cost, Fallback, FallbackKind, Fault,
    NO, OutcomeModel, Plausibility, Probability, Problem, Reason, ReportError, Settings, Situation,
    Step, Stop, Subject, Workspace, YES,
};

use crate::calibrated::threshold;

/// Two actions, two worlds that disagree, a question that resolves it, and a third probe without use.
fn disputed() -> Problem {
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
fn settled() -> Problem {
    let mut problem = disputed();
    problem.contradict(1).unwrap();
    problem
}

fn with_controller<T>(
    problem: &Problem,
    settings: &Settings,
    threshold: Threshold,
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

fn started<T>(problem: &Problem, act: impl FnOnce(&mut Controller<'_>) -> T) -> T {
    with_controller(problem, &Settings::default(), Threshold::UNBOUNDED, act)
}

fn certificate(controller: &mut Controller<'_>) -> Certificate {
    match controller.next_step() {
        Step::Commit(certificate) => certificate,
        other => panic!("{other:?} instead of a commit"),
    }
}

fn falls_back(step: &Step, kind: FallbackKind, reason: Reason) {
    assert_eq!(*step, Step::Fallback(Fallback { kind, reason }));
}

/// After `fault`, whatever is reported: escalation for that reason, no set, no certificate.
fn is_dead(controller: &mut Controller<'_>, fault: Fault) {
    for _ in 0..3 {
        assert_eq!(controller.fault(), Some(fault));
        falls_back(
            &controller.next_step(),
            FallbackKind::Escalate,
            Reason::Error(fault),
        );
        assert!(matches!(controller.plausible(), Plausibility::Faulty(found) if found == fault));
        // A fault is for good: later reports, faults and time do not cure it.
        let _: Result<(), ReportError> = controller.observe(1, 0);
        let _: Result<(), ReportError> = controller.probe_failed(0);
        controller.fail(Fault::Inconsistent);
        controller.elapse(1);
    }
}

#[test]
fn every_fault_ends_in_escalation_for_good() {
    let faults = [
        Fault::Policy,
        Fault::TruncatedSupport,
        Fault::Inconsistent,
        Fault::Score { world: 4 },
        Fault::ProbeScore { probe: 1 },
    ];
    for fault in faults {
        started(&settled(), |controller| {
            let held = certificate(controller);
            controller.fail(fault);
            assert_eq!(
                controller.redeem(held, 0),
                Err(CertificateError::NotCertified)
            );
            is_dead(controller, fault);
        });
        let mut problem = settled();
        problem.fail(fault);
        problem.fail(Fault::Inconsistent);
        started(&problem, |controller| is_dead(controller, fault));
    }
}

#[test]
fn a_wrong_report_is_a_fault() {
    let check = |report: fn(&mut Controller<'_>) -> Result<(), ReportError>, error| {
        started(&settled(), |controller| {
            assert_eq!(report(controller), Err(error));
            is_dead(controller, Fault::Report(error));
        });
    };
    check(
        |controller| controller.observe(2, 0),
        ReportError::UnknownProbe { probe: 2 },
    );
    check(
        |controller| controller.probe_failed(9),
        ReportError::UnknownProbe { probe: 9 },
    );
    let undeclared = ReportError::UndeclaredOutcome {
        probe: 0,
        outcome: 2,
        outcomes: 2,
    };
    check(|controller| controller.observe(0, 2), undeclared);
    let undeclared = ReportError::UndeclaredOutcome {
        probe: 1,
        outcome: 1,
        outcomes: 1,
    };
    check(|controller| controller.observe(1, 1), undeclared);
    let twice = ReportError::ReportedTwice { probe: 0 };
    check(
        |controller| controller.observe(0, YES).and(controller.observe(0, YES)),
        twice,
    );
    check(
        |controller| controller.probe_failed(0).and(controller.observe(0, YES)),
        twice,
    );
    check(
        |controller| controller.observe(0, YES).and(controller.probe_failed(0)),
        twice,
    );
}

#[test]
fn a_score_that_is_no_number_and_a_world_that_is_lost_are_faults_of_the_problem() {
    for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut problem = Problem::new(Subject([5; 32]));
        problem.add_action(Action::default()).unwrap();
        assert_eq!(problem.add_scored_world(0.5, [0]), Ok(Some(0)));
        assert_eq!(problem.add_scored_world(score, [0]), Ok(None));
        assert_eq!(problem.worlds(), 1);
        let fault = Fault::Score { world: 1 };
        started(&problem, |controller| {
            falls_back(
                &controller.next_step(),
                FallbackKind::Escalate,
                Reason::Error(fault),
            );
        });
    }
    let mut late = settled();
    assert!(late.add_world(Score::ZERO, []).is_err());
    let mut unknown = Problem::new(Subject([5; 32]));
    unknown.add_action(Action::default()).unwrap();
    unknown.add_world(Score::ZERO, [0]).unwrap();
    assert!(unknown.add_world(Score::ZERO, [1]).is_err());
    for problem in [late, unknown] {
        assert_eq!(problem.fault(), Some(Fault::TruncatedSupport));
        started(&problem, |controller| {
            let reason = Reason::Error(Fault::TruncatedSupport);
            falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
        });
    }
    // A problem that is reset is a new one.
    let mut reused = settled();
    reused.fail(Fault::Policy);
    reused.reset(Subject([6; 32]));
    assert_eq!(reused.fault(), None);
}

#[test]
fn an_empty_plausible_set_escalates_and_certifies_nothing() {
    let check = |problem: &Problem, threshold, reports: &[(usize, usize)], reason| {
        with_controller(problem, &Settings::default(), threshold, |controller| {
            for &(probe, outcome) in reports {
                controller.observe(probe, outcome).unwrap();
            }
            assert!(matches!(controller.plausible(), Plausibility::Empty));
            assert!(controller.shrinkages().is_empty());
            falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
        });
    };
    let mut none = Problem::new(Subject([5; 32]));
    none.add_action(Action::default()).unwrap();
    check(&none, Threshold::UNBOUNDED, &[], Reason::NoWorldProposed);
    check(&disputed(), threshold(0.05), &[], Reason::NoWorldPlausible);
    let mut refuted = disputed();
    refuted.contradict(0).unwrap();
    refuted.contradict(1).unwrap();
    check(
        &refuted,
        Threshold::UNBOUNDED,
        &[],
        Reason::NoWorldPlausible,
    );
    // What is empty from the start is not emptied by a later answer.
    check(
        &refuted,
        Threshold::UNBOUNDED,
        &[(0, NO)],
        Reason::NoWorldPlausible,
    );
    check(
        &settled(),
        Threshold::UNBOUNDED,
        &[(0, NO)],
        Reason::EveryWorldRefuted,
    );
    check(
        &disputed(),
        threshold(0.1),
        &[(0, NO)],
        Reason::EveryWorldRefuted,
    );
    // The flags that choose a fallback do not soften this one.
    let mut expected = none.clone();
    expected.set_situation(Situation {
        authority_missing: false,
        fresh_evidence_expected: true,
    });
    check(
        &expected,
        Threshold::UNBOUNDED,
        &[],
        Reason::NoWorldProposed,
    );
}

#[test]
fn without_a_candidate_there_is_nothing_to_do() {
    let mut problem = Problem::new(Subject([5; 32]));
    problem.add_world(Score::ZERO, []).unwrap();
    let question = OutcomeModel::Identity { world: 0 };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, question)
        .unwrap();
    started(&problem, |controller| {
        assert!(controller.shrinkages().is_empty());
        let step = controller.next_step();
        falls_back(&step, FallbackKind::Abstain, Reason::NothingSafeAnywhere);
    });
}

/// The order of fallbacks, row by row: each row also has everything that a later row asks for.
#[test]
fn fallbacks_come_in_their_order() {
    let stop = Stop::ProbeBudgetSpent;
    let build = |safe: bool, authority: bool, fresh: bool, repeatable: bool| {
        let mut problem = Problem::new(Subject([5; 32]));
        problem.add_action(Action::default()).unwrap();
        problem
            .add_world(Score::ZERO, (0..1).filter(|_| safe))
            .unwrap();
        problem.add_world(Score::ZERO, []).unwrap();
        for world in 0..2 {
            let question = OutcomeModel::Identity { world };
            problem
                .add_probe(Cost::UNIT, Probability::ZERO, question)
                .unwrap();
        }
        if repeatable {
            problem.set_repeatable_later(1);
        }
        problem.set_situation(Situation {
            authority_missing: authority,
            fresh_evidence_expected: fresh,
        });
        problem
    };
    let settings = Settings::default().with_budget(Budget::probes(0));
    let check = |problem: &Problem, kind, reason| {
        with_controller(problem, &settings, Threshold::UNBOUNDED, |controller| {
            falls_back(&controller.next_step(), kind, reason);
        });
    };
    let mut faulty = build(false, true, true, true);
    faulty.fail(Fault::Policy);
    check(
        &faulty,
        FallbackKind::Escalate,
        Reason::Error(Fault::Policy),
    );
    let mut empty = build(false, true, true, true);
    empty.contradict(0).unwrap();
    empty.contradict(1).unwrap();
    check(&empty, FallbackKind::Escalate, Reason::NoWorldPlausible);
    let nothing = build(false, true, true, true);
    check(&nothing, FallbackKind::Abstain, Reason::NothingSafeAnywhere);
    let authority = build(true, true, true, true);
    check(
        &authority,
        FallbackKind::Escalate,
        Reason::AuthorityMissing { stop },
    );
    let fresh = build(true, false, true, true);
    check(
        &fresh,
        FallbackKind::Defer,
        Reason::FreshEvidenceExpected { stop },
    );
    let repeatable = build(true, false, false, true);
    check(
        &repeatable,
        FallbackKind::Defer,
        Reason::ProbeRepeatableLater { probe: 1, stop },
    );
    let unresolved = build(true, false, false, false);
    check(
        &unresolved,
        FallbackKind::Escalate,
        Reason::Unresolved { stop },
    );
}

#[test]
fn a_score_at_the_threshold_is_retained() {
    // World 1 forbids action 0, and it counts although its score is the threshold itself.
    with_controller(
        &disputed(),
        &Settings::default(),
        threshold(0.2),
        |controller| {
            assert!(!matches!(controller.next_step(), Step::Commit(_)));
        },
    );
    let below = threshold(0.2_f64.next_down());
    with_controller(&disputed(), &Settings::default(), below, |controller| {
        assert_eq!(certificate(controller).action(), 0);
    });
}

#[test]
fn failed_probes_count_and_teach_nothing() {
    let settings = Settings::default().with_budget(Budget::probes(1));
    with_controller(&disputed(), &settings, Threshold::UNBOUNDED, |controller| {
        assert!(matches!(controller.next_step(), Step::Probe(choice) if choice.probe == 0));
        controller.probe_failed(0).unwrap();
        assert_eq!(controller.history().len(), 1);
        let reason = Reason::Unresolved {
            stop: Stop::ProbeBudgetSpent,
        };
        falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
    });
    let costly = Budget {
        max_cost: Some(1.0),
        ..Budget::UNLIMITED
    };
    let settings = Settings::default().with_budget(costly);
    with_controller(&disputed(), &settings, Threshold::UNBOUNDED, |controller| {
        controller.probe_failed(1).unwrap();
        let reason = Reason::Unresolved {
            stop: Stop::CostBudgetSpent,
        };
        falls_back(&controller.next_step(), FallbackKind::Escalate, reason);
    });
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
        with_controller(&problem, &settings, Threshold::UNBOUNDED, |controller| {
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

#[test]
fn a_certificate_is_for_one_subject_action_threshold_and_moment() {
    let problem = settled();
    let mut other = settled();
    other.reset(Subject([6; 32]));
    other.add_action(Action::default()).unwrap();
    other.add_world(Score::ZERO, [0]).unwrap();
    let refused = |issue: &dyn Fn() -> Certificate, action, error| {
        started(&problem, |controller| {
            assert_eq!(controller.redeem(issue(), action), Err(error));
        });
    };
    refused(
        &|| started(&other, certificate),
        0,
        CertificateError::OtherSubject,
    );
    let own = || started(&problem, certificate);
    refused(
        &own,
        1,
        CertificateError::OtherAction {
            certified: 0,
            asked: 1,
        },
    );
    let tight = || with_controller(&problem, &Settings::default(), threshold(0.5), certificate);
    refused(&tight, 0, CertificateError::OtherThreshold);
    let later = || {
        started(&problem, |controller| {
            controller.observe(0, YES).unwrap();
            certificate(controller)
        })
    };
    refused(&later, 0, CertificateError::Stale { since: 1 });

    // The same moment, but told something else: action 1 is certified there, not here.
    let told = |outcome| {
        started(&disputed(), |controller| {
            controller.observe(0, outcome).unwrap();
            certificate(controller)
        })
    };
    started(&disputed(), |controller| {
        controller.observe(0, YES).unwrap();
        let liar = told(NO);
        assert_eq!(
            controller.redeem(liar, 1),
            Err(CertificateError::NotCertified)
        );
        assert_eq!(controller.redeem(told(YES), 0), Ok(0));
    });
}

#[test]
fn a_report_makes_a_certificate_stale_even_if_it_changes_nothing() {
    let reports: [fn(&mut Controller<'_>); 3] = [
        |controller| controller.observe(0, YES).unwrap(),
        |controller| controller.observe(1, 0).unwrap(),
        |controller| controller.probe_failed(1).unwrap(),
    ];
    for report in reports {
        started(&settled(), |controller| {
            let held = certificate(controller);
            report(controller);
            assert_eq!(
                controller.redeem(held, 0),
                Err(CertificateError::Stale { since: 1 })
            );
            let fresh = certificate(controller);
            assert_eq!(fresh.observations(), 1);
            assert_eq!(controller.redeem(fresh, 0), Ok(0));
        });
    }
}

#[test]
fn a_decision_releases_once() {
    let problem = settled();
    let settings = Settings::default();
    let mut workspace = Workspace::default();
    for _ in 0..2 {
        let mut controller =
            Controller::start(&problem, &settings, Threshold::UNBOUNDED, &mut workspace);
        let (first, second) = (certificate(&mut controller), certificate(&mut controller));
        assert_eq!(controller.redeem(first, 0), Ok(0));
        assert_eq!(
            controller.redeem(second, 0),
            Err(CertificateError::ReleasedBefore)
        );
    }
}

#[test]
fn the_first_of_equally_useful_certified_actions_is_released() {
    let mut problem = Problem::new(Subject([5; 32]));
    for reward in [0.0, 1.0, 1.0] {
        let action = Action::new(reward, 0.0, Default::default()).unwrap();
        problem.add_action(action).unwrap();
    }
    problem.add_world(Score::ZERO, [0, 1, 2]).unwrap();
    started(&problem, |controller| {
        assert_eq!(certificate(controller).action(), 1);
    });
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
