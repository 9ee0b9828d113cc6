//! A threshold that bounds the loss of one policy decides under no other.

use safecommit_conformal::{
    Calibration, Delta, Digest, LoggedSeed, RiskCurve, RiskCurves, Score, ScoreError,
};
use safecommit_core::{
    Action, Budget, Case, CertificateError, Controller, Decision, DecisionKind, Fallback, Fault,
    Perturbation, Probing, Problem, Reason, Settings, Step, Subject, Verification, Workspace,
};
use serde_json::json;

/// `near` is plausible below the threshold 0.5, `far` would block the action but lies above it.
fn case(max_probes: u32) -> Case {
    let request = json!({
        "actions": [{"id": "act"}],
        "worlds": [
            {"id": "near", "score": 0.1, "safe": ["act"]},
            {"id": "far", "score": 7.0, "safe": []}
        ],
        "beta": 0.01,
        "settings": {"max_probes": max_probes}
    });
    Case::new(serde_json::from_value(request).unwrap()).unwrap()
}

fn at_most(max_probes: u32) -> Settings {
    Settings::default().with_budget(Budget::probes(max_probes))
}

/// Losses of 1 below 0.5, as many as the level allows; of nobody yet.
fn curves() -> RiskCurves {
    let steps = [(Score::new(0.5).unwrap(), 0)];
    let mut curves = vec![RiskCurve::new(1, steps).unwrap(); 30];
    curves.extend(vec![RiskCurve::new(0, []).unwrap(); 169]);
    RiskCurves::binary(curves).unwrap()
}

/// By conformal risk control, on the envelope too, and by Learn-then-Test.
fn calibrations(curves: &RiskCurves) -> [Calibration; 3] {
    let alpha = "0.1".parse().unwrap();
    [
        Calibration::risk_controlled(alpha, curves).unwrap(),
        Calibration::risk_controlled(alpha, &curves.envelope()).unwrap(),
        Calibration::learn_then_test(alpha, Delta::new(0.05).unwrap(), curves).unwrap(),
    ]
}

#[test]
fn its_own_policy_decides() {
    for calibration in calibrations(&curves().of_policy(at_most(2).digest())) {
        assert_eq!(calibration.threshold().finite(), Score::new(0.5).ok());
        let case = case(2);
        let decision = case.decide(Some(&calibration));
        let record = decision.record();
        assert_eq!(record.decision, DecisionKind::Commit);
        let total = record.bound.total.unwrap();
        assert!((total - 0.11).abs() < 1e-12, "{total}");
        let promised = &record.certificate.as_ref().unwrap().guarantee;
        assert_eq!(
            promised.as_ref().unwrap().policy(),
            Some(at_most(2).digest())
        );
        let certificate = decision.into_certificate().unwrap();
        assert_eq!(case.redeem(Some(&calibration), certificate, "act"), Ok(0));
    }
}

#[test]
fn another_policy_escalates_and_names_both() {
    for calibration in calibrations(&curves().of_policy(at_most(2).digest())) {
        let case = case(3);
        let decision = case.decide(Some(&calibration));
        let record = decision.record().clone();
        assert_eq!(record.decision, DecisionKind::Escalate);
        let fallback = record.fallback.as_ref().unwrap();
        assert_eq!(fallback.reason, "policy_not_calibrated");
        assert_eq!(
            fallback.explanation,
            format!(
                "the calibration bounds the loss of the policy `{}`, and the settings are those of `{}`",
                at_most(2).digest(),
                at_most(3).digest()
            )
        );
        assert!(record.actions.iter().all(|action| !action.certified));
        assert!(decision.into_certificate().is_none());

        // Nor does what was certified some other way come through.
        let certificate = self::case(2).decide(Some(&calibration)).into_certificate();
        let refused = case.redeem(Some(&calibration), certificate.unwrap(), "act");
        assert_eq!(refused, Err(CertificateError::OtherSubject));
        let mut workspace = Workspace::default();
        let mut controller = case.controller(Some(&calibration), &mut workspace);
        assert_eq!(
            controller.fault(),
            Some(Fault::OtherPolicy {
                calibrated: at_most(2).digest(),
                decided: at_most(3).digest(),
            })
        );
        assert_eq!(
            case.record(Some(&calibration), &mut controller),
            Ok(record),
            "a record of the refusal can be written"
        );
    }
}

/// Nothing is known of a loss whose policy nobody stated, and every policy has the coverage loss.
#[test]
fn a_bound_needs_a_policy_or_the_coverage_loss() {
    let total = |calibration: &Calibration| {
        let record = case(3).decide(Some(calibration)).record().clone();
        assert_eq!(record.decision, DecisionKind::Commit);
        record.bound.total
    };
    for calibration in calibrations(&curves()) {
        assert_eq!(total(&calibration), None);
    }
    let scores: Result<Vec<_>, ScoreError> = (0..199)
        .map(|case| Score::new(if case < 30 { 0.5 } else { 0.0 }).map(Into::into))
        .collect();
    for calibration in calibrations(&RiskCurves::coverage(&scores.unwrap())) {
        assert!((total(&calibration).unwrap() - 0.11).abs() < 1e-12);
    }
}

/// Whoever drives a controller by position is held to the policy too.
#[test]
fn a_controller_by_position_escalates_too() {
    let mut problem = Problem::new(Subject([7; 32]));
    let act = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [act]).unwrap();
    let [calibration, ..] = calibrations(&curves().of_policy(at_most(2).digest()));
    let mut workspace = Workspace::default();
    let (own, other) = (at_most(2), at_most(1));
    let threshold = calibration.threshold();
    let mut controller = Controller::start(&problem, &own, threshold, &mut workspace);
    let Step::Commit(certificate) = controller.next_step() else {
        panic!("acting is safe in the one world there is");
    };
    assert!(
        controller
            .certify_robustly(act, [Unchanged, Unchanged])
            .is_ok()
    );
    let mut controller = Controller::start(&problem, &other, threshold, &mut workspace);
    let fault = Fault::OtherPolicy {
        calibrated: own.digest(),
        decided: other.digest(),
    };
    assert_eq!(
        controller.next_step(),
        Step::Fallback(Fallback::from(Reason::Error(fault)))
    );
    assert_eq!(
        controller.redeem(certificate, act),
        Err(CertificateError::NotCertified)
    );
}

/// The support as it stands.
struct Unchanged;

impl Perturbation for Unchanged {
    fn apply(&self, problem: &Problem, perturbed: &mut Problem) -> Result<(), Fault> {
        for action in problem.actions() {
            perturbed
                .add_action(*action)
                .map_err(|_| Fault::Inconsistent)?;
        }
        for score in problem.scores() {
            perturbed
                .add_world(*score, [0])
                .map_err(|_| Fault::Inconsistent)?;
        }
        Ok(())
    }
}

#[test]
fn every_setting_is_part_of_the_policy() {
    let base = Settings::default();
    let of = |budget: Budget| base.with_budget(budget);
    let verifying = |price| {
        base.with_verification(Verification::WholeSupport { price })
            .unwrap()
    };
    let random = |seed: &str| {
        base.with_probing(Probing::Random {
            seed: LoggedSeed::new(seed),
        })
    };
    let none = Budget::UNLIMITED;
    let settings = [
        base,
        base.with_temperature(0.5).unwrap(),
        base.with_eta(0.5).unwrap(),
        base.with_severity_weight(0.5).unwrap(),
        of(Budget::probes(1)),
        of(Budget::probes(2)),
        of(Budget {
            max_cost: Some(2.0),
            ..none
        }),
        of(Budget {
            max_cost: Some(f64::NAN),
            ..none
        }),
        of(Budget {
            max_steps: Some(2),
            ..none
        }),
        base.with_verification(Verification::MostPlausible).unwrap(),
        verifying(0.0),
        verifying(0.5),
        base.with_probing(Probing::Optimal),
        base.with_probing(Probing::Rollout),
        base.with_probing(Probing::InformationGain),
        base.with_probing(Probing::SafetyInformation),
        random("a"),
        random("b"),
    ];
    for (at, one) in settings.iter().enumerate() {
        for other in &settings[at + 1..] {
            assert_ne!(one.digest(), other.digest(), "{one:?} {other:?}");
        }
        assert_eq!(one.digest(), { *one }.digest());
    }
    assert_eq!(base.with_eta(-0.0).unwrap().digest(), base.digest());

    // As the documentation has it, computed apart from the crate.
    let text = format!(
        "safecommit policy 1\ntemperature={:016x}\neta=0000000000000000\n\
         severity_weight=3ff0000000000000\nmax_probes=2\nmax_cost=none\nmax_steps=none\n\
         verification=never\nprobing=shrinkage\n",
        0.25_f64.to_bits()
    );
    assert_eq!(at_most(2).digest(), Digest::of_bytes(text.as_bytes()));
}

/// The settings that a request leaves out are those that it would have named.
#[test]
fn a_request_has_the_digest_of_its_settings() {
    let [calibration, ..] = calibrations(&curves().of_policy(at_most(2).digest()));
    let decide = |settings: serde_json::Value| -> Decision {
        let mut request = serde_json::to_value(case(2).request()).unwrap();
        request["settings"] = settings;
        let case = Case::new(serde_json::from_value(request).unwrap()).unwrap();
        case.decide(Some(&calibration))
    };
    let spelt_out = json!({
        "temperature": 0.25, "eta": 0.0, "severity_weight": 1.0, "max_probes": 2,
        "verification": "never", "probing": "shrinkage"
    });
    let kind = |decision: Decision| decision.record().decision;
    assert_eq!(kind(decide(spelt_out)), DecisionKind::Commit);
    for other in [
        json!({}),
        json!({"max_probes": 2, "probing": "optimal"}),
        json!({"max_probes": 2, "verification": "most_plausible"}),
        json!({"max_probes": 2, "max_steps": 1}),
    ] {
        assert_eq!(
            kind(decide(other.clone())),
            DecisionKind::Escalate,
            "{other}"
        );
    }
}
