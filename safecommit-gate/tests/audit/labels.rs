//! Labels by facts, for worlds whose names say theirs.

use safecommit_conformal::{Delta, Score};
use safecommit_core::{FailureCause, Request};
use safecommit_gate::audit::{
    AuditError, AuditLog, Diagnosis, LabelError, Labels, UsedCalibration, WorldName,
};
use serde_json::{Value, json};

use crate::support::{Place, entry};

const NONE: UsedCalibration<'_> = UsedCalibration::None;

/// A request about `delete-1` with worlds of these names, their scores and whether it is safe in them.
pub(crate) fn request(worlds: &[(&str, f64, bool)]) -> Request {
    let worlds: Vec<Value> = worlds
        .iter()
        .map(|(id, score, safe)| {
            let safe = if *safe { vec!["delete-1"] } else { Vec::new() };
            json!({"id": id, "score": score, "safe": safe})
        })
        .collect();
    serde_json::from_value(json!({"actions": [{"id": "delete-1"}], "worlds": worlds})).unwrap()
}

pub(crate) fn append(log: &mut AuditLog, name: &str, request: Request) {
    log.append(&entry(name, request, NONE), NONE).unwrap();
}

pub(crate) fn label(decision: &str, mut label: Value) -> Labels {
    label["decision"] = json!(decision);
    Labels::read(label.to_string().as_bytes()).unwrap()
}

pub(crate) fn diagnose(place: &Place, labels: &Labels) -> Result<Diagnosis, AuditError> {
    place.reader().diagnose(labels, Delta::new(0.05).unwrap())
}

/// The score to calibrate on, `None` if it is missing.
pub(crate) fn score(place: &Place, labels: &Labels) -> Result<Option<f64>, AuditError> {
    let scored = place.reader().calibration_scores(labels, &[], None)?;
    assert_eq!(scored.len(), 1);
    Ok(scored[0].score.observed().map(Score::value))
}

const WORLDS: [(&str, f64, bool); 4] = [
    ("kind=file|directory owner=own", 0.1, true),
    ("kind=file|directory owner=other", 0.4, false),
    ("kind=link secret=no", 0.2, true),
    ("left-out", 0.7, false),
];

#[test]
fn facts_tell_the_true_world_as_far_as_they_go() {
    let place = Place::new();
    let mut log = place.create();
    append(&mut log, "whole", request(&WORLDS));
    append(&mut log, "cut", request(&WORLDS[..3]));
    append(&mut log, "any", request(&[("any", 0.3, true)]));
    // For each the score, how often it was not proposed of how many, and whether it is undetermined.
    let known = |decision: &str, facts: Value| {
        let labels = label(decision, facts);
        let diagnosis = diagnose(&place, &labels).unwrap();
        let worlds = (diagnosis.worlds.missing, diagnosis.worlds.cases);
        let undetermined = diagnosis.undetermined == [decision];
        (score(&place, &labels).unwrap(), worlds, undetermined)
    };
    let facts = |facts: Value| json!({"true_facts": facts});
    // What no world restricts does not matter, and neither does the order.
    for more in [json!({}), json!({"tracked": "dirty", "kind_2": "link"})] {
        let mut told = json!({"owner": "other", "kind": "directory"});
        for (fact, value) in more.as_object().unwrap() {
            told[fact] = value.clone();
        }
        assert_eq!(known("whole", facts(told)), (Some(0.4), (0, 1), false));
    }
    // One may fit, and so may what was left out.
    let incomplete = facts(json!({"kind": "link"}));
    assert_eq!(known("cut", incomplete.clone()), (Some(0.2), (0, 0), true));
    assert_eq!(known("whole", incomplete), (Some(0.7), (0, 0), true));
    let owner = facts(json!({"owner": "own", "secret": "yes"}));
    assert_eq!(known("cut", owner), (Some(0.1), (0, 0), true));
    assert_eq!(known("cut", facts(json!({}))), (Some(0.4), (0, 0), true));
    // None fits.
    for told in [
        json!({"kind": "mount"}),
        json!({"kind": "link", "secret": "yes"}),
    ] {
        assert_eq!(known("cut", facts(told.clone())), (None, (1, 1), true));
        assert_eq!(known("whole", facts(told)), (Some(0.7), (0, 1), false));
    }
    // What was left out does not count where a world fits.
    let told = facts(json!({"kind": "link", "secret": "no"}));
    assert_eq!(known("whole", told), (Some(0.2), (0, 1), false));
    assert_eq!(known("any", facts(json!({}))), (Some(0.3), (0, 1), false));
    // The safe actions choose among several.
    let both = json!({"true_facts": {"kind": "file"}, "safe_actions": ["delete-1"]});
    assert_eq!(known("whole", both), (Some(0.1), (0, 0), false));
    let both = json!({"true_facts": {"kind": "mount"}, "safe_actions": []});
    assert_eq!(known("cut", both), (None, (1, 1), false));
    // A name may stand beside facts that do not tell.
    let both = json!({"true_facts": {"kind": "file"}, "true_world": WORLDS[1].0});
    assert_eq!(known("whole", both), (Some(0.4), (0, 1), false));
    let both = json!({"true_facts": {"kind": "file"}, "true_world": "never proposed"});
    assert_eq!(known("whole", both), (None, (1, 1), true));
}

#[test]
fn failures_are_attributed_by_facts() {
    let place = Place::new();
    let mut log = place.create();
    let safe = [("kind=file", 0.1, true), ("kind=link", 0.2, true)];
    for name in ["unproposed", "mapped", "several", "fine", "unsaid"] {
        append(&mut log, name, request(&safe));
    }
    let lines = r#"
        {"decision": "unproposed", "true_facts": {"kind": "mount"}, "safe_actions": []}
        {"decision": "mapped", "true_facts": {"kind": "link"}, "safe_actions": []}
        {"decision": "several", "true_facts": {"owner": "own"}, "safe_actions": ["delete-1"]}
        {"decision": "fine", "true_facts": {"kind": "link"}}
        {"decision": "unsaid", "true_facts": {"owner": "own"}}
    "#;
    let diagnosis = diagnose(&place, &Labels::read(lines.as_bytes()).unwrap()).unwrap();
    let failed = diagnosis.failed.iter();
    let failed: Vec<_> = failed
        .map(|failed| (failed.decision.as_str(), failed.cause))
        .collect();
    let expected = [
        ("unproposed", Some(FailureCause::Proposal)),
        ("mapped", Some(FailureCause::SafetyMap)),
    ];
    assert_eq!(failed, expected);
    assert_eq!(diagnosis.undetermined, ["unsaid"]);
    assert_eq!((diagnosis.worlds.missing, diagnosis.worlds.cases), (1, 3));
    let signatures = (diagnosis.signatures.missing, diagnosis.signatures.cases);
    assert_eq!(signatures, (2, 4));
}

#[test]
fn labels_by_facts_that_do_not_fit_are_named() {
    let place = Place::new();
    let mut log = place.create();
    append(&mut log, "d-1", request(&WORLDS));
    append(
        &mut log,
        "by-hand",
        request(&[("kind=file", 0.1, true), ("temporary", 0.2, true)]),
    );
    for (decision, wrong, problem) in [
        (
            "by-hand",
            json!({"true_facts": {"kind": "file"}}),
            "decision `by-hand` cannot be labelled by facts, it has a world `temporary`: \
             `temporary` does not say which values a fact may have",
        ),
        (
            "d-1",
            json!({"true_facts": {"kind": "link"}, "true_world": WORLDS[0].0}),
            "the label of decision `d-1` contradicts itself: `true_world` is not what `true_facts` says",
        ),
        (
            "d-1",
            json!({"true_facts": {"kind": "link", "secret": "no"}, "true_world": "never proposed"}),
            "the label of decision `d-1` contradicts itself: `true_world` is not what `true_facts` says",
        ),
        (
            "d-1",
            json!({"true_facts": {"kind": "file", "owner": "own"}, "safe_actions": ["delete-2"]}),
            "decision `d-1` has no candidate `delete-2`",
        ),
    ] {
        let labels = label(decision, wrong);
        let said = diagnose(&place, &labels)
            .err()
            .map(|error| error.to_string());
        assert_eq!(said.unwrap_or_default(), problem);
        let said = score(&place, &labels).err().map(|error| error.to_string());
        assert_eq!(said.unwrap_or_default(), problem);
    }
    // In the worlds that are left nothing is safe.
    let cut = request(&WORLDS[1..2]);
    append(&mut log, "d-2", cut);
    let labels = label(
        "d-2",
        json!({"true_facts": {}, "safe_actions": ["delete-1"]}),
    );
    let error = diagnose(&place, &labels).unwrap_err();
    assert!(matches!(
        error,
        AuditError::Label(LabelError::Contradiction { .. })
    ));
    assert_eq!(
        error.to_string(),
        "the label of decision `d-2` contradicts itself: \
         `safe_actions` is what is safe in no world that `true_facts` leaves"
    );
    // Worlds in other forms do no harm to other labels.
    assert!(
        diagnose(
            &place,
            &label("by-hand", json!({"true_world": "temporary"}))
        )
        .is_ok()
    );

    for (line, problem) in [
        (
            r#"{"decision": "d", "true_facts": {"kind": "file", "kind": "link"}}"#,
            "the fact `kind` stands twice",
        ),
        (
            r#"{"decision": "d", "true_facts": {"kind": "a|b"}}"#,
            "`true_facts`: `a|b` is no identifier",
        ),
        (
            r#"{"decision": "d", "true_facts": {"a b": "c"}}"#,
            "`true_facts`: `a b` is no identifier",
        ),
        (
            r#"{"decision": "d", "true_facts": "kind=file"}"#,
            "an object with a value for each fact",
        ),
        (
            r#"{"decision": "d"}"#,
            "a label has `true_world`, `true_facts` or `safe_actions`",
        ),
    ] {
        let error = Labels::read(line.as_bytes()).unwrap_err().to_string();
        assert!(
            error.starts_with("line 1: ") && error.contains(problem),
            "{error}"
        );
    }
}

/// What the decision is about is known, and a label says something else: it would count as a world that nobody proposed.
#[test]
fn facts_and_values_that_a_decision_cannot_have_are_named_with_their_line() {
    let place = Place::new();
    let mut log = place.create();
    let mut decision = entry("d-1", request(&WORLDS[..3]), NONE);
    for (fact, values) in [
        ("kind", &["file", "directory", "link", "mount"][..]),
        ("owner", &["own", "other"]),
        ("secret", &["no", "yes"]),
        ("tracked", &["clean", "dirty"]),
    ] {
        let values = values.iter().map(ToString::to_string).collect();
        decision.facts.insert(fact.to_owned(), values);
    }
    log.append(&decision, NONE).unwrap();
    for (wrong, problem) in [
        (
            json!({"true_facts": {"owner": "own", "knd": "file"}}),
            "true_facts.knd: decision `d-1` has no fact `knd`; it has `kind`, `owner`, `secret`, `tracked`",
        ),
        (
            json!({"true_facts": {"kind": "lnk"}, "safe_actions": []}),
            "true_facts.kind: the fact `kind` of decision `d-1` has no value `lnk`; it has `file`, `directory`, `link`, `mount`",
        ),
        (
            json!({"true_facts": {"kind_2": "file"}}),
            "true_facts.kind_2: decision `d-1` has no fact `kind_2`; it has `kind`, `owner`, `secret`, `tracked`",
        ),
        (
            json!({"true_world": "kind=link scret=no"}),
            "true_world: decision `d-1` has no fact `scret`; it has `kind`, `owner`, `secret`, `tracked`",
        ),
        (
            json!({"true_world": "kind=file|lnk owner=own"}),
            "true_world: the fact `kind` of decision `d-1` has no value `lnk`; it has `file`, `directory`, `link`, `mount`",
        ),
    ] {
        let mut wrong = wrong;
        wrong["decision"] = json!("d-1");
        let labels = Labels::read(format!("\n\n{wrong}\n").as_bytes()).unwrap();
        let expected = format!("line 3: {problem}");
        let said = diagnose(&place, &labels).unwrap_err().to_string();
        assert_eq!(said, expected);
        let said = score(&place, &labels).unwrap_err().to_string();
        assert_eq!(said, expected);
    }
    // What could be and was not proposed is a miss; what no world restricts does not matter; another name may be any.
    for (unproposed, misses) in [
        (json!({"true_facts": {"kind": "mount"}}), 1),
        (json!({"true_world": "kind=mount"}), 1),
        (json!({"true_world": "another program"}), 1),
        (json!({"true_world": WORLDS[0].0}), 0),
        (
            json!({"true_facts": {"kind": "file", "owner": "own", "tracked": "dirty"}}),
            0,
        ),
    ] {
        let labels = label("d-1", unproposed);
        let worlds = diagnose(&place, &labels).unwrap().worlds;
        assert_eq!((worlds.missing, worlds.cases), (misses, 1));
    }
}

#[test]
fn names_of_worlds_have_one_form() {
    let world: WorldName = "kind_2=link|mount owner=own".parse().unwrap();
    let restricted: Vec<_> = world
        .restricted()
        .map(|(fact, values)| (fact, values.len()))
        .collect();
    assert_eq!(restricted, [("kind_2", 2), ("owner", 1)]);
    assert!(!world.is_left_out());
    let left_out: WorldName = "left-out".parse().unwrap();
    assert!(left_out.is_left_out());
    let code = format!("hmac:{}", "0".repeat(64));
    for wrong in [
        "",
        " ",
        "temporary",
        "kind",
        "kind=",
        "=file",
        "kind=file ",
        " kind=file",
        "kind=file  owner=own",
        "kind=file|",
        "kind=|file",
        "kind=file|file",
        "kind=file kind=link",
        "kind=a=b",
        "ki nd=a",
        "kind=ä",
        "any kind=file",
        "Any",
        "left-out kind=file",
        "left_out",
        &code,
    ] {
        assert!(wrong.parse::<WorldName>().is_err(), "{wrong}");
    }
}
