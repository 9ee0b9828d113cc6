//! What a log tells: replay, causes of failures, scores to calibrate on.

use std::collections::BTreeMap;

use safecommit_conformal::{Calibration, CalibrationScore, Delta, Score};
use safecommit_core::{Case, DecisionKind, FailureCause, Request, Workspace, YES};
use safecommit_gate::audit::{
    AuditError, AuditLog, Entry, GroupBy, LabelError, Labels, ReportedFault, UsedCalibration,
};

use crate::support::{Place, by_stratum, calibration, entry, five, request, scores, tamper};

const NONE: UsedCalibration<'_> = UsedCalibration::None;

#[test]
fn decisions_with_probes_faults_and_without_calibration_replay() {
    let place = five();
    let mut log = place.open();
    let (one, many) = (calibration(), by_stratum());

    // Probes made after the request, and time that passed.
    let case = Case::new(request()).unwrap();
    let mut workspace = Workspace::default();
    let mut controller = case.controller(Some(&one), &mut workspace);
    controller.observe(0, 0).unwrap();
    controller.observe(1, YES).unwrap();
    controller.elapse(3);
    let record = case.record(Some(&one), &mut controller).unwrap();
    assert_eq!(
        (record.decision, record.observed.len()),
        (DecisionKind::Commit, 2)
    );
    let mut live = entry("live", request(), NONE);
    live.record = record;
    live.elapsed_steps = 3;
    log.append(&live, UsedCalibration::One(&one)).unwrap();

    // An error on the way.
    let mut controller = case.controller(None, &mut workspace);
    controller.fail(ReportedFault::Policy.into());
    let mut faulty = entry("faulty", request(), NONE);
    faulty.record = case.record(None, &mut controller).unwrap();
    faulty.fault = Some(ReportedFault::Policy);
    faulty.error = Some("the policy `mine` divides by zero".to_owned());
    log.append(&faulty, NONE).unwrap();

    // A stratum that no calibration is for, and none at all.
    for (name, stratum) in [("mail", Some("mail".parse().unwrap())), ("nowhere", None)] {
        let mut request = request();
        request.stratum = stratum;
        for (kind, used) in [("all", UsedCalibration::ByStratum(&many)), ("none", NONE)] {
            let entry = entry(&format!("{name}-{kind}"), request.clone(), used);
            log.append(&entry, used).unwrap();
        }
    }
    let replay = place.reader().replay().unwrap();
    assert_eq!(replay.decisions, 11);
    assert_eq!(replay.differing, []);
    assert_eq!(place.verify().unwrap(), 11);
    let read = place.reader().record("faulty").unwrap().unwrap();
    assert_eq!(read.entry, faulty);
    assert!(place.reader().record("other").unwrap().is_none());
}

/// One action and worlds with their scores, in some of which it is safe.
fn one_action(worlds: &[(&str, f64, bool)], more: &str) -> Request {
    let worlds: Vec<String> = worlds
        .iter()
        .map(|(id, score, safe)| {
            let safe = if *safe { "\"act\"" } else { "" };
            format!(r#"{{"id": "{id}", "score": {score}, "safe": [{safe}]}}"#)
        })
        .collect();
    let worlds = worlds.join(",");
    serde_json::from_str(&format!(
        r#"{{"actions": [{{"id": "act"}}], "worlds": [{worlds}]{more}}}"#
    ))
    .unwrap()
}

/// A log with a decision for every cause, under the threshold 0.8.
fn causes() -> (Place, Calibration) {
    let place = Place::new();
    let calibration = Calibration::split_conformal("0.2".parse().unwrap(), &scores(9));
    assert_eq!(
        calibration.threshold().finite(),
        Some(Score::new(0.8).unwrap())
    );
    let mut log = place.create();
    let refuted = r#", "probes": [{"id": "ask", "cost": 1.0, "asks": "bad"}],
        "observed": [{"probe": "ask", "outcome": "no"}]"#;
    let contradicted = r#", "hard_evidence": [{"world": "bad", "reason": "clock"}]"#;
    let cases = [
        ("fine", one_action(&[("good", 0.1, true)], "")),
        ("unproposed", one_action(&[("good", 0.1, true)], "")),
        (
            "excluded",
            one_action(&[("good", 0.1, true), ("bad", 0.9, false)], ""),
        ),
        (
            "refuted",
            one_action(&[("good", 0.1, true), ("bad", 0.2, false)], refuted),
        ),
        (
            "contradicted",
            one_action(&[("good", 0.1, true), ("bad", 0.2, false)], contradicted),
        ),
        ("mapped", one_action(&[("good", 0.1, true)], "")),
        (
            "blocked",
            one_action(&[("good", 0.1, true), ("bad", 0.2, false)], ""),
        ),
        (
            "hopeless",
            one_action(&[("good", 0.1, true), ("bad", 0.2, false)], ""),
        ),
        ("unknown", one_action(&[("good", 0.1, true)], "")),
        ("unlabelled", one_action(&[("good", 0.1, true)], "")),
    ];
    for (name, request) in cases {
        append(
            &mut log,
            name,
            request,
            UsedCalibration::One(&calibration),
            |_| (),
        );
    }
    (place, calibration)
}

fn append(
    log: &mut AuditLog,
    name: &str,
    request: Request,
    used: UsedCalibration<'_>,
    change: impl FnOnce(&mut Entry),
) {
    let mut entry = entry(name, request, used);
    change(&mut entry);
    log.append(&entry, used).unwrap();
}

const LABELS: &str = r#"
    {"decision": "fine", "true_world": "good"}
    {"decision": "unproposed", "safe_actions": []}
    {"decision": "excluded", "true_world": "bad"}
    {"decision": "refuted", "true_world": "bad"}
    {"decision": "contradicted", "safe_actions": []}
    {"decision": "mapped", "true_world": "good", "safe_actions": []}
    {"decision": "blocked", "safe_actions": ["act"]}
    {"decision": "hopeless", "true_world": "bad"}
    {"decision": "unknown", "true_world": "never proposed"}
"#;

#[test]
fn every_failure_has_its_cause_and_beta_is_bounded() {
    let (place, _) = causes();
    let labels = Labels::read(LABELS.as_bytes()).unwrap();
    let diagnosis = place
        .reader()
        .diagnose(&labels, Delta::new(0.05).unwrap())
        .unwrap();
    assert_eq!((diagnosis.labelled, diagnosis.unlabelled), (9, 1));
    assert_eq!(
        (diagnosis.commits, diagnosis.fallbacks, diagnosis.pending),
        (7, 2, 0)
    );
    assert_eq!(diagnosis.undetermined, ["unknown"]);
    let failed: Vec<_> = diagnosis
        .failed
        .iter()
        .map(|failed| {
            (
                failed.sequence,
                failed.decision.as_str(),
                failed.cause.unwrap(),
            )
        })
        .collect();
    let expected = [
        (2, "unproposed", FailureCause::Proposal),
        (3, "excluded", FailureCause::Calibration),
        (4, "refuted", FailureCause::Evidence),
        (5, "contradicted", FailureCause::Evidence),
        (6, "mapped", FailureCause::SafetyMap),
        (7, "blocked", FailureCause::ProbePolicy),
    ];
    assert_eq!(failed, expected);
    assert_eq!(diagnosis.failed[0].committed.as_deref(), Some("act"));
    assert_eq!(diagnosis.failed[5].committed, None);
    assert_eq!(diagnosis.unsafe_commits[&Some(FailureCause::Evidence)], 2);
    let needless = BTreeMap::from([(Some(FailureCause::ProbePolicy), 1)]);
    assert_eq!(diagnosis.needless_fallbacks, needless);

    // The true world is known of six, and was not proposed once; what was safe is known of eight, and no world had
    // just that in "unproposed" and "mapped".
    assert_eq!((diagnosis.worlds.missing, diagnosis.worlds.cases), (1, 6));
    assert_eq!(
        (diagnosis.signatures.missing, diagnosis.signatures.cases),
        (2, 8)
    );
    assert_eq!(diagnosis.signatures.rate, Some(0.25));
    // 1 - (1 - u)^6 - 6 u (1 - u)^5 = 0.95 at the bound.
    let u = diagnosis.worlds.upper;
    let tail = (1.0 - u).powi(6) + 6.0 * u * (1.0 - u).powi(5);
    assert!((tail - 0.05).abs() < 1e-9, "{tail}");
}

#[test]
fn scores_to_calibrate_on_are_those_of_the_true_worlds() {
    let (place, _) = causes();
    let mut log = place.open();
    let tied = one_action(&[("a", 0.1, true), ("b", 0.4, true), ("c", 0.7, false)], "");
    append(&mut log, "tied", tied, NONE, |_| ());
    let text = format!("{LABELS}{{\"decision\": \"tied\", \"safe_actions\": [\"act\"]}}");
    let labels = Labels::read(text.as_bytes()).unwrap();
    let scored = place
        .reader()
        .calibration_scores(&labels, &[], None)
        .unwrap();
    let scores: Vec<_> = scored
        .iter()
        .map(|scored| {
            (
                scored.decision.as_str(),
                scored.score.observed().map(Score::value),
            )
        })
        .collect();
    let expected = [
        ("fine", Some(0.1)),
        ("unproposed", None),
        ("excluded", Some(0.9)),
        ("refuted", Some(0.2)),
        ("contradicted", None),
        ("mapped", Some(0.1)),
        ("blocked", Some(0.1)),
        ("hopeless", Some(0.2)),
        ("unknown", None),
        ("tied", Some(0.4)),
    ];
    assert_eq!(scores, expected);
    assert!(
        scored
            .iter()
            .all(|scored| scored.stratum.labels().count() == 0)
    );
}

/// A log in which somebody has changed scores gives no threshold.
#[test]
fn scores_that_were_changed_since_are_not_calibrated_on() {
    let place = Place::new();
    let mut log = place.create();
    let request = one_action(&[("good", 0.25, true)], "");
    append(&mut log, "a", request, NONE, |_| {});
    let labels = "{\"decision\": \"a\", \"true_world\": \"good\"}\n";
    let labels = Labels::read(labels.as_bytes()).unwrap();
    let ask = || place.reader().calibration_scores(&labels, &[], None);
    assert_eq!(ask().unwrap().len(), 1);
    tamper(&place, |db| {
        let changed = "UPDATE record SET body =
            CAST(replace(CAST(body AS TEXT), '\"score\":0.25', '\"score\":0.0') AS BLOB)";
        assert_eq!(db.execute(changed, []).unwrap(), 1);
    });
    match ask() {
        Err(AuditError::NotReproducible { decision, .. }) => assert_eq!(decision, "a"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn scores_are_grouped_and_not_mixed_across_versions() {
    let place = Place::new();
    let mut log = place.create();
    let request = || one_action(&[("good", 0.25, true)], "");
    for (name, family, score) in [
        ("a", "file", "1"),
        ("b", "mail", "1"),
        ("c", "x/y", "1"),
        ("d", "file", "2"),
    ] {
        append(&mut log, name, request(), NONE, |entry| {
            entry.group.family = Some(family.to_owned());
            entry.group.severity = (name != "b").then(|| "high".to_owned());
            entry.versions.score = Some(score.to_owned());
        });
    }
    let ask = |names: &[&str], by: &[GroupBy], version| {
        let line =
            |name: &&str| format!("{{\"decision\": \"{name}\", \"true_world\": \"good\"}}\n");
        let text: String = names.iter().map(line).collect();
        let labels = Labels::read(text.as_bytes())?;
        place.reader().calibration_scores(&labels, by, version)
    };
    let refused = |names: &[&str], by: &[GroupBy], version| match ask(names, by, version) {
        Err(AuditError::Label(error)) => error,
        other => panic!("{other:?}"),
    };
    let both = [GroupBy::Severity, GroupBy::Family];
    let scored = ask(&["a"], &both, Some("1")).unwrap();
    assert_eq!(scored[0].stratum, "high/file".parse().unwrap());
    assert_eq!(
        scored[0].score,
        CalibrationScore::Observed(Score::new(0.25).unwrap())
    );
    assert!(matches!(
        refused(&["a", "b"], &both, Some("1")),
        LabelError::NoGroup {
            what: "severity",
            ..
        }
    ));
    assert!(matches!(
        refused(&["c"], &both, Some("1")),
        LabelError::BadGroup { what: "family", .. }
    ));
    let error = refused(&["a", "d"], &both, Some("1"));
    assert_eq!(
        error.to_string(),
        "decision `d` was scored with version `2`, wanted is version `1`"
    );
    assert!(matches!(
        refused(&["a"], &both, None),
        LabelError::ScoreVersion { .. }
    ));
    assert!(matches!(
        refused(&["e"], &both, None),
        LabelError::UnknownDecision(_)
    ));
}

#[test]
fn labels_that_do_not_fit_are_named() {
    let (place, _) = causes();
    let diagnose = |text: &str| {
        let labels = Labels::read(text.as_bytes())?;
        place.reader().diagnose(&labels, Delta::new(0.05).unwrap())
    };
    for (text, problem) in [
        (
            r#"{"decision": "fine", "safe_actions": ["ack"]}"#,
            "decision `fine` has no candidate `ack`",
        ),
        (
            r#"{"decision": "fin", "safe_actions": []}"#,
            "decision `fin` is not in the log",
        ),
        (
            "{\"decision\": \"a\", \"safe_actions\": []}\n{\"decision\": \"a\", \"safe_actions\": []}",
            "decision `a` is labelled twice",
        ),
    ] {
        assert_eq!(diagnose(text).unwrap_err().to_string(), problem);
    }
    let error = diagnose("\n{\"decision\": \"fine\", \"safe\": []}")
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("line 2: column 27: unknown field `safe`")
            && !error.contains(" at line "),
        "{error}"
    );
}
