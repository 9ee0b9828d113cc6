//! A calibration for a group decides requests of that very stratum alone.

use safecommit_conformal::{Calibration, Misses, MondrianCalibration, Score, Stratum, Taxonomy};
use safecommit_core::{
    Case, CertificateError, Decision, DecisionKind, Fault, ForeignController, RepresentationSource,
    Request, Workspace, WorldFate,
};
use serde_json::json;

/// `near` is plausible below every threshold, `far` would block the action but lies above all of them.
fn case(stratum: Option<&str>) -> Case {
    let mut request = json!({
        "actions": [{"id": "act"}],
        "worlds": [
            {"id": "near", "score": 0.1, "safe": ["act"]},
            {"id": "far", "score": 7.0, "safe": []}
        ]
    });
    if let Some(stratum) = stratum {
        request["stratum"] = json!(stratum);
    }
    Case::new(serde_json::from_value(request).unwrap()).unwrap()
}

/// Scores 0 to 0.8 for `delete/high`, and one case of `mail`, which falls back to all cases.
fn groups() -> MondrianCalibration {
    let strata: [Stratum; 3] =
        ["delete/high", "delete/low", "mail"].map(|path| path.parse().unwrap());
    let mut cases: Vec<_> = (0..9)
        .map(|i| {
            (
                strata[0].clone(),
                Score::new(f64::from(i) / 10.0).unwrap().into(),
            )
        })
        .collect();
    cases.push((strata[2].clone(), Score::new(5.0).unwrap().into()));
    let taxonomy = Taxonomy::new(strata).unwrap();
    MondrianCalibration::new("0.1".parse().unwrap(), taxonomy, &cases, Misses::AllListed).unwrap()
}

fn of(stratum: &str) -> Calibration {
    groups().calibration(&stratum.parse().unwrap()).unwrap()
}

/// Escalates with this explanation, under a threshold that excludes nothing, and without a certificate.
#[track_caller]
fn escalates(decision: Decision, explanation: &str) {
    let record = decision.record();
    assert_eq!(record.decision, DecisionKind::Escalate);
    let fallback = record.fallback.as_ref().unwrap();
    assert_eq!(fallback.reason, "stratum_not_calibrated");
    assert_eq!(fallback.explanation, explanation);
    assert_eq!((record.threshold, &record.calibration), (None, &None));
    assert_eq!(record.bound.alpha, None);
    assert_eq!(record.bound.beta.source, RepresentationSource::Unknown);
    assert!(
        record
            .worlds
            .iter()
            .all(|world| world.fate == WorldFate::Plausible)
    );
    assert!(record.actions.iter().all(|action| !action.certified));
    assert!(decision.into_certificate().is_none());
}

#[test]
fn a_group_serves_its_own_stratum() {
    let calibration = of("delete/high");
    let case = case(Some("delete/high"));
    let decision = case.decide(Some(&calibration));
    let record = decision.record();
    assert_eq!(record.decision, DecisionKind::Commit);
    assert_eq!(record.stratum.as_ref().unwrap().to_string(), "delete/high");
    assert_eq!(record.threshold, Some(0.8));
    let guarantee = &record.certificate.as_ref().unwrap().guarantee;
    assert_eq!(guarantee.as_ref(), Some(calibration.guarantee()));
    let certificate = decision.into_certificate().unwrap();
    assert_eq!(case.redeem(Some(&calibration), certificate, "act"), Ok(0));
}

#[test]
fn a_group_serves_no_other_stratum_and_no_request_without_one() {
    let calibration = of("delete/high");
    for (stratum, said) in [
        (Some("delete/low"), "the request is of `delete/low`"),
        (Some("mail"), "the request is of `mail`"),
        // Neither a part nor the whole will do.
        (Some("delete"), "the request is of `delete`"),
        (
            Some("delete/high/memory"),
            "the request is of `delete/high/memory`",
        ),
        (Some(""), "the request is of `all cases`"),
        (None, "the request names none"),
    ] {
        escalates(
            case(stratum).decide(Some(&calibration)),
            &format!("the calibration is for stratum `delete/high`, {said}"),
        );
    }
}

#[test]
fn what_is_not_for_a_group_serves_every_request() {
    let scores: Vec<_> = (0..9)
        .map(|i| Score::new(f64::from(i) / 10.0).unwrap().into())
        .collect();
    let marginal = Calibration::split_conformal("0.1".parse().unwrap(), &scores);
    for stratum in [None, Some("delete/high"), Some("elsewhere")] {
        let decision = case(stratum).decide(Some(&marginal));
        assert_eq!(decision.record().decision, DecisionKind::Commit);
        // Without a calibration `far` blocks the one action, whatever the stratum.
        assert_ne!(
            case(stratum).decide(None).record().decision,
            DecisionKind::Commit
        );
    }
}

#[test]
fn among_many_the_stratum_chooses() {
    let groups = groups();
    for (stratum, threshold, guarantee) in [
        ("delete/high", 0.8, "group (`delete/high`)"),
        (
            "delete/low",
            0.8,
            "group (`delete/low`, achieved over `delete`)",
        ),
        ("mail", 5.0, "group (`mail`, achieved over `all cases`)"),
    ] {
        let case = case(Some(stratum));
        let decision = case.decide_among(&groups);
        let record = decision.record();
        assert_eq!(record.threshold, Some(threshold), "{stratum}");
        let calibration = record.calibration.as_ref().unwrap();
        assert_eq!(calibration.guarantee.to_string(), guarantee);
        assert_eq!(record, case.decide(Some(&of(stratum))).record());
        let issue = || case.decide_among(&groups).into_certificate().unwrap();
        assert_eq!(case.redeem_among(&groups, issue(), "act"), Ok(0));
        assert_eq!(case.redeem(Some(&of(stratum)), issue(), "act"), Ok(0));
    }
    escalates(
        case(Some("delete")).decide_among(&groups),
        "the calibrations are by stratum, and `delete` is none of those declared",
    );
    escalates(
        case(None).decide_among(&groups),
        "the calibrations are by stratum, the request names none",
    );
}

/// A certificate that was got some other way is not redeemed where no calibration is for the stratum.
#[test]
fn nothing_is_redeemed_for_another_stratum() {
    let request = json!({
        "stratum": "mail", "actions": [{"id": "act"}],
        "worlds": [{"id": "near", "score": 0.1, "safe": ["act"]}]
    });
    let request: Request = serde_json::from_value(request).unwrap();
    let case = Case::new(request.clone()).unwrap();
    let other = of("delete/high");
    let issue = || case.decide(None).into_certificate().unwrap();
    let refused = case.redeem(Some(&other), issue(), "act");
    assert_eq!(refused, Err(CertificateError::NotCertified));
    let taxonomy = Taxonomy::new(["delete".parse().unwrap()]).unwrap();
    let elsewhere =
        MondrianCalibration::new("0.1".parse().unwrap(), taxonomy, &[], Misses::AsListed).unwrap();
    let refused = case.redeem_among(&elsewhere, issue(), "act");
    assert_eq!(refused, Err(CertificateError::NotCertified));
    assert_eq!(case.redeem(None, issue(), "act"), Ok(0));

    // The stratum is part of what a certificate is bound to.
    let mut moved = request;
    moved.stratum = Some("delete/high".parse().unwrap());
    let moved = Case::new(moved).unwrap();
    let refused = moved.redeem(None, issue(), "act");
    assert_eq!(refused, Err(CertificateError::OtherSubject));
}

#[test]
fn a_record_is_of_the_calibration_that_the_controller_was_started_under() {
    let case = case(Some("mail"));
    let other = of("delete/high");
    let mut workspace = Workspace::default();
    let mut controller = case.controller(Some(&other), &mut workspace);
    assert_eq!(controller.fault(), Some(Fault::Stratum));
    assert!(controller.threshold().is_unbounded());
    let record = case.record(Some(&other), &mut controller).unwrap();
    assert_eq!(&record, case.decide(Some(&other)).record());
    assert_eq!(case.record(None, &mut controller), Err(ForeignController));
    let mut controller = case.controller(None, &mut workspace);
    assert_eq!(
        case.record(Some(&other), &mut controller),
        Err(ForeignController)
    );
}

/// What refused a case is part of its record: which stratum the calibration was for.
#[test]
fn a_refusal_is_recorded_as_that_of_its_own_calibration() {
    let case = case(Some("mail"));
    let (own, other) = (of("delete/high"), of("delete/low"));
    let mut workspace = Workspace::default();
    let mut controller = case.controller(Some(&own), &mut workspace);
    assert_eq!(
        case.record(Some(&other), &mut controller),
        Err(ForeignController)
    );
    assert_eq!(case.record(None, &mut controller), Err(ForeignController));
    let record = case.record(Some(&own), &mut controller).unwrap();
    let explanation = record.fallback.unwrap().explanation;
    assert!(explanation.contains("`delete/high`"), "{explanation}");
}

/// A runner that finds no calibration for the stratum may say so itself, and have that on record.
#[test]
fn a_stratum_fault_of_the_runner_is_recorded() {
    let case = case(Some("mail"));
    let calibration = of("mail");
    for governing in [None, Some(&calibration)] {
        let mut workspace = Workspace::default();
        let mut controller = case.controller(governing, &mut workspace);
        controller.fail(Fault::Stratum);
        let record = case.record(governing, &mut controller).unwrap();
        let fallback = record.fallback.unwrap();
        assert_eq!(fallback.reason, "stratum_not_calibrated");
        assert_eq!(fallback.explanation, Fault::Stratum.to_string());
        // And it is no refusal by a calibration.
        let refusing = of("delete/high");
        assert_eq!(
            case.record(Some(&refusing), &mut controller),
            Err(ForeignController)
        );
    }
}

#[test]
fn a_stratum_is_a_path() {
    let parse = |stratum: serde_json::Value| {
        let request = json!({"actions": [{"id": "act"}], "worlds": [], "stratum": stratum});
        serde_json::from_value::<Request>(request).map_err(|error| error.to_string())
    };
    assert_eq!(parse(json!(null)).unwrap().stratum, None);
    assert!(parse(json!("a/b")).unwrap().stratum.is_some());
    for bad in ["a//b", "/", "a/", "a\tb"] {
        let error = parse(json!(bad)).unwrap_err();
        let expect = format!("stratum `{bad}` has an empty label or a control character");
        assert_eq!(error, expect);
    }
    assert!(parse(json!(7)).is_err());
}
