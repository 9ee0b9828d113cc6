//! A certificate releases one action of one decision at one moment, once.

use safecommit_conformal::{
    Calibration, CalibrationScore, Misses, MondrianCalibration, RiskCurve, Score, Taxonomy,
    Threshold,
};
use safecommit_core::{
    Action, Case, Certificate, CertificateError, Controller, Cost, ForeignController, NO,
    OutcomeModel, Probability, Problem, Settings, Step, Subject, Verification, Workspace, YES,
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

/// A threshold that is only tried out can be kept, but it releases nothing: not in a controller of its own, and
/// not in a plausible set that answers reopened.
#[test]
fn a_trial_releases_nothing() {
    let mut kept = Vec::new();
    RiskCurve::replay([Score::new(0.5).unwrap()], 0, |threshold| {
        kept.push(threshold.clone());
        0
    });
    let problem = settled();
    let settings = Settings::default();
    for threshold in &kept {
        assert!(threshold.is_trial());
        with_controller(&problem, &settings, threshold, |controller| {
            let held = certificate(controller);
            assert_eq!(held.threshold().guarantee(), None);
            assert_eq!(
                controller.redeem(held, 0),
                Err(CertificateError::NoGuarantee)
            );
        });
    }
    assert_eq!(kept.len(), 1);
    let refused = CertificateError::NoGuarantee.to_string();
    assert!(refused.contains("promises nothing"), "{refused}");

    // What is below the trial is refuted, what is above it is safe: the set is reopened.
    let mut problem = Problem::new(Subject([8; 32]));
    for _ in 0..2 {
        problem.add_action(Action::default()).unwrap();
    }
    problem.add_world(Score::ZERO, [0]).unwrap();
    problem.add_world(Score::new(0.9).unwrap(), [1]).unwrap();
    let question = OutcomeModel::Identity { world: 0 };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, question)
        .unwrap();
    let verifying = settings
        .with_verification(Verification::MostPlausible)
        .unwrap();
    for (threshold, expect) in [
        (&kept[0], Err(CertificateError::NoGuarantee)),
        (threshold(0.5), Ok(1)),
    ] {
        with_controller(&problem, &verifying, threshold, |controller| {
            controller.observe(0, NO).unwrap();
            assert!(controller.is_reopened());
            let held = certificate(controller);
            assert_eq!(controller.redeem(held, 1), expect);
        });
    }
}

/// Another calibration with the same threshold, level and guarantee is another calibration.
#[test]
fn a_case_is_recorded_and_redeemed_under_its_own_calibration_alone() {
    let request = serde_json::json!({
        "actions": [{"id": "act"}], "worlds": [{"id": "near", "score": 0.1, "safe": ["act"]}]
    });
    let case = Case::new(serde_json::from_value(request).unwrap()).unwrap();
    let calibration = |scores: [Option<f64>; 3], misses| {
        let scores = scores.map(|score| match score {
            Some(score) => CalibrationScore::from(Score::new(score).unwrap()),
            None => CalibrationScore::Missing,
        });
        Calibration::split_conformal_with("0.5".parse().unwrap(), &scores, misses)
    };
    let own = calibration([Some(0.2), Some(0.5), Some(0.9)], Misses::AsListed);
    for other in [
        calibration([Some(0.3), Some(0.5), Some(0.9)], Misses::AsListed),
        calibration([Some(0.2), Some(0.5), None], Misses::AsListed),
        calibration([Some(0.2), Some(0.5), Some(0.9)], Misses::AllListed),
    ] {
        assert_eq!(own.threshold(), other.threshold());
        assert_eq!(
            (own.alpha(), own.guarantee()),
            (other.alpha(), other.guarantee())
        );
        let mut workspace = Workspace::default();
        let mut controller = case.controller(Some(&own), &mut workspace);
        assert_eq!(
            case.record(Some(&other), &mut controller),
            Err(ForeignController)
        );
        assert!(case.record(Some(&own), &mut controller).is_ok());
        let issue = || case.decide(Some(&own)).into_certificate().unwrap();
        assert_eq!(
            case.redeem(Some(&other), issue(), "act"),
            Err(CertificateError::OtherThreshold)
        );
        assert_eq!(case.redeem(Some(&own), issue(), "act"), Ok(0));
    }
}
