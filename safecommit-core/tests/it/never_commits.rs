//! Errors, empty sets and certificates for something else: nothing of it ends in a commit.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Budget, CertificateError, Controller, Cost, FallbackKind, Fault, NO, OutcomeModel,
    Plausibility, Probability, Problem, Reason, ReportError, Settings, Situation, Step, Stop,
    Subject, YES,
};

use crate::calibrated::threshold;
use crate::disputes::{certificate, disputed, falls_back, settled, started, with_controller};

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
    check(&none, Threshold::unbounded(), &[], Reason::NoWorldProposed);
    check(&disputed(), threshold(0.05), &[], Reason::NoWorldPlausible);
    let mut refuted = disputed();
    refuted.contradict(0).unwrap();
    refuted.contradict(1).unwrap();
    check(
        &refuted,
        Threshold::unbounded(),
        &[],
        Reason::NoWorldPlausible,
    );
    // What is empty from the start is not emptied by a later answer.
    check(
        &refuted,
        Threshold::unbounded(),
        &[(0, NO)],
        Reason::NoWorldPlausible,
    );
    check(
        &settled(),
        Threshold::unbounded(),
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
        Threshold::unbounded(),
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
        with_controller(problem, &settings, Threshold::unbounded(), |controller| {
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
    let mut faulty_and_empty = empty.clone();
    faulty_and_empty.fail(Fault::Policy);
    let error = Reason::Error(Fault::Policy);
    check(&faulty_and_empty, FallbackKind::Escalate, error);
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

/// A caller's iterator that panics leaves no half of a world behind, and nothing is committed after it.
#[test]
fn a_world_whose_safe_actions_panic_is_a_truncated_support() {
    let mut problem = Problem::new(Subject([5; 32]));
    for _ in 0..2 {
        problem.add_action(Action::default()).unwrap();
    }
    let panics = std::iter::once(0).chain(std::iter::once_with(|| panic!("on purpose")));
    let added = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        problem.add_world(Score::ZERO, panics)
    }));
    assert!(added.is_err());
    problem.add_world(Score::new(0.1).unwrap(), [1]).unwrap();
    assert_eq!((problem.worlds(), problem.signatures().len()), (1, 1));
    assert!(problem.signatures().is_safe(0, 1) && !problem.signatures().is_safe(0, 0));
    started(&problem, |controller| {
        is_dead(controller, Fault::TruncatedSupport);
    });
}
