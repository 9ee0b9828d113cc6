//! A certificate releases one action of one decision at one moment, once.

use safecommit_conformal::{Calibration, Misses, MondrianCalibration, Score, Taxonomy, Threshold};
use safecommit_core::{
    Action, Certificate, CertificateError, Controller, NO, Problem, Settings, Step, Subject,
    Workspace, YES,
};

use crate::calibrated::threshold;
use crate::disputes::{certificate, disputed, settled, started, with_controller};

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
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
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

/// Level and guarantee travel from the calibration into the certificate, and a certificate under the same
/// kappa with another promise is another certificate.
#[test]
fn a_certificate_carries_what_its_threshold_promises() {
    let scores: Vec<_> = (1..=39)
        .map(|i| Score::new(f64::from(i) / 100.0).unwrap().into())
        .collect();
    let alpha = "0.05".parse().unwrap();
    let marginal = Calibration::split_conformal(alpha, &scores);
    let taxonomy = Taxonomy::new(["file".parse().unwrap()]).unwrap();
    let cases: Vec<_> = scores
        .iter()
        .map(|score| ("file".parse().unwrap(), *score))
        .collect();
    let groups = MondrianCalibration::new(alpha, taxonomy, &cases, Misses::AsListed).unwrap();
    let group = groups.calibration(&"file".parse().unwrap()).unwrap();
    assert_eq!(marginal.threshold(), group.threshold());
    assert!(!marginal.threshold().is_same_as(group.threshold()));

    let mut problem = Problem::new(Subject([1; 32]));
    let send = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [send]).unwrap();
    let settings = Settings::default();
    let certify = |calibration: &Calibration| {
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &settings, calibration.threshold(), &mut workspace);
        let Step::Commit(certificate) = controller.next_step() else {
            panic!("sending is safe in the one world there is");
        };
        assert_eq!(certificate.threshold().alpha(), Some(alpha));
        assert_eq!(
            certificate.threshold().guarantee(),
            Some(calibration.guarantee())
        );
        certificate
    };
    let (first, second) = (certify(&marginal), certify(&group));
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(&problem, &settings, marginal.threshold(), &mut workspace);
    assert_eq!(
        controller.redeem(second, send),
        Err(CertificateError::OtherThreshold)
    );
    assert_eq!(controller.redeem(first, send), Ok(send));
}
