//! With redaction, no chosen value is in any file of the log, and the decisions are the same.

use safecommit_conformal::Delta;
use safecommit_core::{DecisionKind, ProbeRule, Purpose};
use safecommit_gate::audit::{
    AuditError, Label, Labels, LogKey, MadeProbe, RedactedField, Redaction, UsedCalibration,
};

use crate::support::{Place, REQUEST, calibration, entry};

fn redaction() -> Redaction {
    let fields = [
        RedactedField::Decision,
        RedactedField::Action,
        RedactedField::World,
        RedactedField::Probe,
        RedactedField::Outcome,
        RedactedField::Reason,
        RedactedField::Detail("path".to_owned()),
    ];
    Redaction::new(LogKey::from_bytes([5; 32]), fields).hiding("ada@example.org")
}

fn request(more: &str) -> safecommit_core::Request {
    let text = REQUEST
        .replace(
            "\"hard_evidence\": []",
            "\"hard_evidence\": [{\"world\": \"precious\", \"reason\": \"lent to bob\"}]",
        )
        .replace("\"scratch\"", "\"mail of ada@example.org, or shared\"");
    let text = text.trim_end().strip_suffix('}').unwrap().to_owned() + more + "}";
    serde_json::from_str(&text).unwrap()
}

#[test]
fn no_chosen_value_is_written_and_the_decisions_are_the_same() {
    let place = Place::new();
    let mut log = place.create().with_redaction(redaction());
    let calibration = calibration();
    let used = UsedCalibration::One(&calibration);
    let observed = r#", "observed": [{"probe": "stat", "outcome": "plain"}, {"probe": "ask", "outcome": "yes"}]"#;
    let mut kinds = Vec::new();
    for (name, request, used) in [
        ("first-secret", request(""), used),
        ("second-secret", request(observed), used),
        (
            "third-secret",
            crate::support::request(),
            UsedCalibration::None,
        ),
    ] {
        let mut given = entry(name, request, used);
        given.error = Some("cannot open `/home/ada/scratch` of temporary".to_owned());
        given
            .details
            .insert("command".to_owned(), "wipe /home/ada/scratch".to_owned());
        log.append(&given, used).unwrap();
        let kept = place
            .reader()
            .record(&redaction().code(name))
            .unwrap()
            .unwrap();
        assert_eq!(kept.entry.record.decision, given.record.decision);
        assert_eq!(kept.entry.record.threshold, given.record.threshold);
        let code = redaction().code("/home/ada/scratch");
        assert_eq!(kept.entry.details["path"], code);
        assert_eq!(kept.entry.details["command"], format!("wipe {code}"));
        assert!(kept.redacted.contains(&RedactedField::World));
        let probe = kept.entry.record.probe.map(|probe| probe.id);
        kinds.push((
            kept.entry.record.decision,
            kept.entry.record.action.or(probe),
        ));
    }
    let code = |value| Some(redaction().code(value));
    let expected = [
        (DecisionKind::Commit, code("trash")),
        (DecisionKind::Commit, code("delete")),
        (DecisionKind::Escalate, None),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(place.verify().unwrap(), 3);
    assert!(place.reader().replay().unwrap().differing.is_empty());

    let mut files = 0;
    for file in std::fs::read_dir(place.directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        files += 1;
        for value in [
            "secret",
            "delete",
            "trash",
            "temporary",
            "shared",
            "precious",
            "stat\"",
            "plain",
            "link",
            "/home",
            "ada",
            "bob",
            "lent",
        ] {
            let found = bytes
                .windows(value.len())
                .any(|window| window == value.as_bytes());
            assert!(!found, "`{value}` was written");
        }
    }
    assert!(files >= 2);

    // Labels are in plain words, and are redacted the same way.
    let label = Label {
        decision: "second-secret".to_owned(),
        true_world: Some("precious".to_owned()),
        true_facts: None,
        safe_actions: Some(vec!["trash".to_owned()]),
    };
    let labels = Labels::new([redaction().label(&label)]).unwrap();
    let diagnosis = place
        .reader()
        .diagnose(&labels, Delta::new(0.05).unwrap())
        .unwrap();
    assert_eq!(diagnosis.failed.len(), 1);
    assert_eq!(
        diagnosis.failed[0].committed,
        Some(redaction().code("delete"))
    );
    assert_eq!(
        diagnosis.failed[0].decision,
        redaction().code("second-secret")
    );
}

/// The probes that were made say what the record says of them, so they are kept with the same codes.
#[test]
fn probes_that_were_made_are_kept_as_the_rest() {
    let observed = r#", "observed": [{"probe": "stat", "outcome": "plain"}, {"probe": "ask", "outcome": "yes"}]"#;
    let made = |id: &str, outcome: Option<&str>, failure: Option<&str>| MadeProbe {
        id: id.to_owned(),
        purpose: Purpose::Certify,
        rule: ProbeRule::Shrinkage,
        expected_shrinkage: 0.25,
        score: 0.125,
        information: None,
        outcome: outcome.map(str::to_owned),
        failure: failure.map(str::to_owned),
        duration: 7,
    };
    let mut given = entry("first-secret", request(observed), UsedCalibration::None);
    given.probes = vec![
        made("stat", Some("plain"), None),
        made("ask", Some("yes"), None),
        made("ask", None, Some("no way to /home/ada/scratch of plain")),
    ];
    given
        .facts
        .insert("kind".to_owned(), vec!["plain".to_owned()]);
    let code = |value: &str| redaction().code(value);
    let place = Place::new();
    let mut log = place.create().with_redaction(redaction());
    log.append(&given, UsedCalibration::None).unwrap();
    let kept = &place.reader().records().unwrap()[0].entry;
    let told = kept.probes.iter();
    let told: Vec<_> = told
        .map(|made| (made.id.clone(), made.outcome.clone(), made.failure.clone()))
        .collect();
    let failure = format!(
        "no way to {} of {}",
        code("/home/ada/scratch"),
        code("plain")
    );
    let expected = [
        (code("stat"), Some(code("plain")), None),
        (code("ask"), Some("yes".to_owned()), None),
        (code("ask"), None, Some(failure)),
    ];
    assert_eq!(told, expected);
    assert!(kept.facts.is_empty());
    assert_eq!(
        (kept.probes[0].expected_shrinkage, kept.probes[0].duration),
        (0.25, 7)
    );

    // A reason is kept as a whole, where that is chosen, and facts where nothing that is made of them is.
    let redaction = Redaction::new(LogKey::from_bytes([5; 32]), [RedactedField::Failure]);
    given.decision = "second".to_owned();
    let mut log = log.with_redaction(redaction);
    log.append(&given, UsedCalibration::None).unwrap();
    let kept = &place.reader().records().unwrap()[1].entry;
    let whole = code("no way to /home/ada/scratch of plain");
    assert_eq!(kept.probes[2].failure, Some(whole));
    assert_eq!(kept.probes[0].outcome.as_deref(), Some("plain"));
    assert_eq!(kept.facts, given.facts);
    assert_eq!(place.verify().unwrap(), 2);
}

#[test]
fn errors_do_not_give_values_away_either() {
    let place = Place::new();
    let mut log = place.create().with_redaction(redaction());
    let none = UsedCalibration::None;
    let good = entry("first-secret", request(""), none);
    log.append(&good, none).unwrap();
    let mut twice = good.clone();
    twice.decision = "second-secret".to_owned();
    twice.request.worlds[1].id = "temporary".to_owned();
    let mut other = twice.clone();
    other.request = good.request.clone();
    other.record.threshold = Some(0.5);
    for (bad, what) in [
        (good, "in the log already"),
        (twice, "stands twice"),
        (other, "the threshold"),
    ] {
        let error = log.append(&bad, none).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("hmac:"), "{error}");
        for value in ["secret", "temporary", "shared"] {
            assert!(!error.contains(value), "{error}");
        }
    }
    assert_eq!(place.verify().unwrap(), 1);
}

#[test]
fn a_draw_that_the_codes_would_change_is_refused_or_the_same() {
    let settings: safecommit_core::SettingsProposal =
        serde_json::from_str(r#"{"probing": {"random": {"seed": "s"}}}"#).unwrap();
    let none = UsedCalibration::None;
    let (mut recorded, mut refused) = (0, 0);
    let place = Place::new();
    let mut log = place.create().with_redaction(redaction());
    for number in 0..24 {
        let given = entry(
            &format!("secret-{number}"),
            {
                let mut request = crate::support::request();
                request.settings = settings.clone();
                request.id = Some(format!("r-{number}"));
                request
            },
            none,
        );
        match log.append(&given, none) {
            Ok(_) => recorded += 1,
            Err(AuditError::NotReproducible { problem, .. }) => {
                assert!(problem.contains("another probe results"), "{problem}");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        recorded > 0 && refused > 0,
        "{recorded} recorded, {refused} refused"
    );
    assert_eq!(place.verify().unwrap(), recorded);
}
