//! Cases: the record says what the controller did, and a certificate is given up for its case alone.

use safecommit_conformal::{Calibration, Misses};
use safecommit_core::{
    Case, CertificateError, Controller, DecisionKind, DecisionRecord, Fault, ForeignController,
    RepresentationSource, Request, Settings, Step, Workspace, WorldFate,
};
use serde_json::json;

use crate::calibrated::calibration;

fn case(observed: serde_json::Value) -> Case {
    let request: Request = serde_json::from_value(json!({
        "id": "case",
        "actions": [{"id": "a", "family": "file"}, {"id": "b"}],
        "worlds": [
            {"id": "one", "score": 0.1, "safe": ["a"]},
            {"id": "two", "score": 0.2, "safe": ["b"]},
            {"id": "three", "score": 0.1, "safe": ["a"]},
            {"id": "far", "score": 0.9, "safe": []},
            {"id": "impossible", "score": 0.0, "safe": []}
        ],
        "hard_evidence": [
            {"world": "impossible", "reason": "the clock says so"},
            {"world": "impossible", "reason": "so does the log"}
        ],
        "probes": [
            {"id": "tell", "cost": 1.0, "error_rate": 0.125, "outcomes": [
                {"id": "odd", "worlds": ["one", "three", "far", "impossible"]},
                {"id": "even", "worlds": ["two"]}
            ]},
            {"id": "ask", "cost": 1.0, "error_rate": 0.25, "asks": "two"}
        ],
        "observed": observed
    }))
    .unwrap();
    Case::new(request).unwrap()
}

/// Excludes `far` alone.
fn half() -> Calibration {
    calibration("0.5", &[Some(0.5)], Misses::AllListed)
}

fn odd() -> serde_json::Value {
    json!([{"probe": "tell", "outcome": "odd"}])
}

#[test]
fn a_commit_says_what_it_rests_on() {
    let half = half();
    let case = case(odd());
    let decision = case.decide(Some(&half));
    let record = decision.record().clone();
    assert_eq!(
        (record.decision, record.action.as_deref()),
        (DecisionKind::Commit, Some("a"))
    );
    assert_eq!(record.id.as_deref(), Some("case"));
    assert_eq!(
        record.certificate.as_ref().unwrap().safe_in,
        ["one", "three"]
    );
    assert!(record.probe.is_none() && record.fallback.is_none());
    let fates: Vec<_> = record
        .worlds
        .iter()
        .map(|world| (world.fate, world.removed_by.as_deref(), world.weight))
        .collect();
    let expected = [
        (WorldFate::Plausible, None, Some(0.5)),
        (WorldFate::Refuted, Some("tell"), None),
        (WorldFate::Plausible, None, Some(0.5)),
        (WorldFate::AboveThreshold, None, None),
        (
            WorldFate::Contradicted,
            Some("the clock says so; so does the log"),
            None,
        ),
    ];
    assert_eq!(fates, expected);
    let class = &record.classes[0];
    assert_eq!(
        (record.classes.len(), class.worlds.len(), class.safe.len()),
        (1, 2, 1)
    );
    let (a, b) = (&record.actions[0], &record.actions[1]);
    assert_eq!(
        (a.certified, a.blocked_by.len(), a.residual_mass),
        (true, 0, Some(0.0))
    );
    assert!(
        a.residual_mass.is_some_and(f64::is_sign_positive),
        "minus zero"
    );
    assert_eq!((b.certified, b.residual_mass), (false, Some(1.0)));
    assert_eq!(b.blocked_by, ["one", "three"]);
    assert_eq!(record.threshold, Some(0.5));
    let behind = record.calibration.as_ref().unwrap();
    assert_eq!(
        (behind.n, behind.rank, behind.scores),
        (1, 1, half.digest())
    );
    assert_eq!(record.bound.alpha, Some(half.alpha()));
    assert_eq!(
        record.bound.beta.source,
        RepresentationSource::CoveredByAlpha
    );
    assert_eq!(record.bound.beta.value, Some(0.0));
    assert_eq!(record.bound.probe_errors.len(), 1);
    assert!(
        record
            .bound
            .total
            .is_some_and(|total| (0.625..0.626).contains(&total))
    );
    assert_eq!(record.subject.len(), 64);

    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(
        serde_json::from_str::<DecisionRecord>(&text).unwrap(),
        record
    );
    let spoiled = text.replacen('{', "{\"certified\":true,", 1);
    assert!(serde_json::from_str::<DecisionRecord>(&spoiled).is_err());

    let certificate = decision.into_certificate().unwrap();
    assert_eq!(case.redeem(Some(&half), certificate, "a"), Ok(0));
}

#[test]
fn a_probe_that_failed_adds_no_error_rate() {
    let record = case(json!([
        {"probe": "tell", "outcome": "odd"}, {"probe": "ask", "outcome": null}
    ]))
    .decide(Some(&half()))
    .record()
    .clone();
    assert_eq!(record.observed.len(), 2);
    let named: Vec<_> = record
        .bound
        .probe_errors
        .iter()
        .map(|error| &error.probe)
        .collect();
    assert_eq!(named, ["tell"]);
}

#[test]
fn without_a_calibration_everything_proposed_counts() {
    let decision = case(odd()).decide(None);
    let record = decision.record();
    // The far world is retained, forbids everything, and no probe changes that.
    assert_eq!(record.decision, DecisionKind::Escalate);
    assert_eq!(record.fallback.as_ref().unwrap().reason, "unresolved");
    assert_eq!(
        (record.threshold, record.calibration.is_none()),
        (None, true)
    );
    assert_eq!(record.bound.beta.source, RepresentationSource::Unknown);
    assert_eq!((record.bound.alpha, record.bound.total), (None, None));
    assert!(decision.into_certificate().is_none());
}

#[test]
fn only_a_commit_carries_a_certificate() {
    let decision = case(json!([])).decide(Some(&half()));
    assert_eq!(decision.record().decision, DecisionKind::Probe);
    assert!(decision.record().certificate.is_none());
    assert!(decision.into_certificate().is_none());
}

#[test]
fn a_certificate_is_redeemed_at_its_own_case_alone() {
    let half = half();
    let case_odd = case(odd());
    let issue = || case_odd.decide(Some(&half)).into_certificate().unwrap();
    let refused = |case: &Case, calibration, action, error| {
        assert_eq!(case.redeem(calibration, issue(), action), Err(error));
    };
    let other_action = CertificateError::OtherAction {
        certified: 0,
        asked: 1,
    };
    refused(&case_odd, Some(&half), "b", other_action);
    refused(&case_odd, Some(&half), "c", CertificateError::NotCertified);
    refused(&case_odd, None, "a", CertificateError::OtherThreshold);
    refused(
        &case(json!([])),
        Some(&half),
        "a",
        CertificateError::OtherSubject,
    );

    // A controller of this case that was told more, and one that was told something else.
    let mut workspace = Workspace::default();
    let mut controller = case_odd.controller(Some(&half), &mut workspace);
    controller.probe_failed(1).unwrap();
    let Step::Commit(later) = controller.next_step() else {
        panic!("nothing was learnt that matters");
    };
    let stale = CertificateError::Stale { since: 1 };
    assert_eq!(case_odd.redeem(Some(&half), later, "a"), Err(stale));
    let settings = Settings::default();
    let mut other = Controller::start(
        case_odd.problem(),
        &settings,
        half.threshold(),
        &mut workspace,
    );
    other.observe(0, 1).unwrap();
    let Step::Commit(liar) = other.next_step() else {
        panic!("the second world certifies the second action");
    };
    assert_eq!(
        case_odd.redeem(Some(&half), liar, "b"),
        Err(CertificateError::NotCertified)
    );
}

#[test]
fn a_runner_goes_on_from_what_was_observed() {
    let half = half();
    let case = case(json!([{"probe": "ask", "outcome": null}]));
    let mut workspace = Workspace::default();
    let mut controller = case.controller(Some(&half), &mut workspace);
    assert!(matches!(controller.next_step(), Step::Probe(choice) if choice.probe == 0));
    controller.observe(0, 1).unwrap();
    let record = case.record(Some(&half), &mut controller).unwrap();
    assert_eq!(
        (record.decision, record.action.as_deref()),
        (DecisionKind::Commit, Some("b"))
    );
    assert_eq!(record.observed.len(), 2);
    controller.fail(Fault::Policy);
    let record = case.record(Some(&half), &mut controller).unwrap();
    assert_eq!(record.decision, DecisionKind::Escalate);
    let fallback = record.fallback.unwrap();
    assert_eq!(fallback.reason, "error");
    let explanation = "an error on the decision path: a safety policy could not be evaluated";
    assert_eq!(fallback.explanation, explanation);
    // What blocks is still told; that something is certified is not.
    assert!(record.actions.iter().all(|action| !action.certified));
    assert_eq!(record.actions[0].blocked_by, ["two"]);
    assert_eq!(record.worlds[1].weight, Some(1.0));
}

#[test]
fn a_record_is_written_for_the_case_and_the_threshold_alone() {
    let half = half();
    let (one, other) = (case(odd()), case(odd()));
    let mut workspace = Workspace::default();
    let mut controller = one.controller(Some(&half), &mut workspace);
    assert_eq!(
        other.record(Some(&half), &mut controller),
        Err(ForeignController)
    );
    assert_eq!(one.record(None, &mut controller), Err(ForeignController));
    assert!(one.record(Some(&half), &mut controller).is_ok());
}

#[test]
fn the_time_budget_of_a_request_ends_probing() {
    let decide = |elapsed: u64| {
        let mut request = case(json!([])).request().clone();
        request.settings.max_steps = Some(10);
        request.elapsed_steps = elapsed;
        let decision = Case::new(request).unwrap().decide(None);
        let record = decision.record();
        let explanation = record.fallback.as_ref().map(|it| it.explanation.clone());
        (record.decision, explanation)
    };
    assert_eq!(decide(9), (DecisionKind::Probe, None));
    let (decision, explanation) = decide(10);
    assert_eq!(decision, DecisionKind::Escalate);
    assert!(explanation.is_some_and(|text| text.ends_with("; the time is up")));
}
