//! The rule as a request asks for it, and as the record says.

use safecommit_core::{Case, DecisionKind, DecisionRecord, ProbeRule, Request, SettingsProposal};
use serde_json::{Value, json};

/// One action, and one probe that tells its two worlds apart: no shrinkage is expected of it.
fn decide(settings: &Value) -> DecisionRecord {
    let request = json!({
        "actions": [{"id": "send"}],
        "worlds": [
            {"id": "usual", "score": 0.1, "safe": ["send"]},
            {"id": "injected", "score": 0.2, "safe": []}
        ],
        "probes": [{"id": "look up", "cost": 2.0, "asks": "usual"}],
        "settings": settings
    });
    let request: Request = serde_json::from_value(request).unwrap();
    let record = Case::new(request).unwrap().decide(None).record().clone();
    let written = serde_json::to_string(&record).unwrap();
    assert_eq!(
        serde_json::from_str::<DecisionRecord>(&written).unwrap(),
        record
    );
    record
}

#[test]
fn the_record_says_which_rule_chose() {
    for (asked, chose, word) in [
        (json!("optimal"), ProbeRule::Optimal, "optimal"),
        (json!("rollout"), ProbeRule::Rollout, "rollout"),
        (
            json!("information_gain"),
            ProbeRule::InformationGain,
            "information_gain",
        ),
        (
            json!("safety_information"),
            ProbeRule::SafetyInformation,
            "safety_information",
        ),
        (
            json!({"random": {"seed": "run 1"}}),
            ProbeRule::Random,
            "random",
        ),
    ] {
        let record = decide(&json!({"probing": asked}));
        let probe = record.probe.unwrap();
        assert_eq!((probe.id.as_str(), probe.rule), ("look up", chose));
        assert_eq!(serde_json::to_value(probe.rule).unwrap(), json!(word));
        // Eq. 12 and 13 stay what they are.
        assert!(probe.expected_shrinkage.abs() < 1e-15 && probe.score.abs() < 1e-15);
    }
    for settings in [json!({}), json!({"probing": "shrinkage"})] {
        assert_eq!(decide(&settings).decision, DecisionKind::Escalate);
    }
    let verifying = json!({"verification": "most_plausible", "probing": "optimal"});
    let record = decide(&verifying);
    assert_eq!(record.probe.unwrap().rule, ProbeRule::Optimal);
}

#[test]
fn a_question_that_verifies_is_not_of_the_rule() {
    let request = json!({
        "actions": [{"id": "send"}],
        "worlds": [{"id": "usual", "score": 0.1, "safe": ["send"]}],
        "probes": [{"id": "look up", "cost": 2.0, "asks": "usual"}],
        "settings": {"verification": "most_plausible", "probing": "optimal"}
    });
    let request: Request = serde_json::from_value(request).unwrap();
    let decision = Case::new(request).unwrap().decide(None);
    let rule = decision.record().probe.as_ref().map(|probe| probe.rule);
    assert_eq!(rule, Some(ProbeRule::MostPlausible));
}

#[test]
fn a_rule_that_nobody_knows_is_refused() {
    for asked in [
        json!("best"),
        json!("random"),
        json!({"random": {}}),
        json!({"random": {"seed": 7}}),
        json!({"optimal": 1}),
        json!("safety-information"),
    ] {
        let settings = json!({"probing": asked});
        assert!(
            serde_json::from_value::<SettingsProposal>(settings).is_err(),
            "{asked}"
        );
    }
}
