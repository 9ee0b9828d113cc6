//! Which probes are made, by what they may do.

use jiff::Timestamp;
use safecommit_core::DecisionKind;
use safecommit_gate::audit::{Entry, UsedCalibration};
use safecommit_gate::{
    ActionDescription, Answer, Asked, Belief, Candidate, Deletion, Domain, DomainError, Fact,
    Facts, FileGate, Frame, Gate, OfferedProbe, PolicyText, SafetyPolicies, SideEffect, Terms,
};
use serde_json::json;

use crate::support::{Scene, now, outcome, request};

/// Deletions are for good here, so that whether a file is elsewhere too matters.
fn gate(scene: &Scene, allowed: SideEffect) -> FileGate {
    let mut domain = scene.domain();
    domain.deletion = Deletion::Permanent;
    scene.gate_with(domain, None, |gate| gate.with_max_side_effect(allowed))
}

/// What is decided of a file that is there twice, and the entry in the log.
fn decide(scene: &Scene, decision: &str, allowed: SideEffect) -> (DecisionKind, Entry) {
    let mut gate = gate(scene, allowed);
    let asked = request(json!({
        "decision": decision,
        "actions": [{"action": "delete", "path": "one"}],
    }));
    let decided = gate.decide(&asked, now()).unwrap();
    let made = decided.record().observed.iter();
    for made in made.map(|made| made.probe.as_str()) {
        let may = decided.decided().entry("", now()).side_effects[made];
        assert!(may <= allowed, "{made} was made");
    }
    let logged = gate.log().reader().unwrap().record(decision);
    (decided.record().decision, logged.unwrap().unwrap().entry)
}

#[test]
fn a_probe_that_may_do_more_than_is_allowed_is_not_offered_and_the_record_says_so() {
    let scene = Scene::new();
    for name in ["one", "other"] {
        scene.write(name, "twice");
    }
    let (kind, entry) = decide(&scene, "d-1", SideEffect::RunsProgram);
    assert_eq!(kind, DecisionKind::Commit);
    let side_effects = &entry.side_effects;
    assert_eq!(side_effects["status"], SideEffect::ReadsNames);
    assert_eq!(side_effects["copies"], SideEffect::ReadsContent);
    assert_eq!(side_effects["repository"], SideEffect::RunsProgram);
    assert_eq!(side_effects.len(), entry.request.probes.len());
    assert!(!entry.details.contains_key("probes_not_offered"));

    // That it is elsewhere too does not say that nothing is lost which is not committed yet.
    let (kind, entry) = decide(&scene, "d-2", SideEffect::ReadsContent);
    assert_ne!(kind, DecisionKind::Commit);
    assert!(entry.side_effects.contains_key("copies"));
    assert!(!entry.side_effects.contains_key("repository"));
    assert_eq!(
        entry.details["probes_not_offered"],
        "repository: runs_program (allowed: reads_content)"
    );

    let (kind, entry) = decide(&scene, "d-3", SideEffect::ReadsNames);
    assert_ne!(kind, DecisionKind::Commit);
    assert_eq!(
        entry.details["probes_not_offered"],
        "repository: runs_program; copies: reads_content (allowed: reads_names)"
    );
}

#[test]
fn a_person_is_asked_whatever_is_allowed() {
    let scene = Scene::new();
    scene.write("one", "twice");
    scene.write("other", "twice");
    let mut gate = gate(&scene, SideEffect::ReadsNames);
    let asked = request(json!({
        "decision": "d-1",
        "actions": [{"action": "delete", "path": "one"}],
        "clarifications": [
            {"id": "elsewhere", "question": "is `one` elsewhere?", "path": "one", "reveals": ["only_copy"]},
        ],
    }));
    let decision = gate.decide(&asked, now()).unwrap();
    assert_eq!(outcome(&decision), Err(DecisionKind::Probe));
    assert!(decision.question().is_some());
    let entry = decision.decided().entry("d-1", now());
    assert_eq!(entry.side_effects["elsewhere"], SideEffect::AsksPerson);
}

/// One thing, which is found out by a probe that may do this.
struct Thing(SideEffect, usize);

impl Domain for Thing {
    fn family(&self) -> &str {
        "thing"
    }

    fn frame(&mut self, _: Timestamp) -> Result<Frame, DomainError> {
        let broken = Fact::new("broken", ["false", "true"]).map_err(DomainError::new)?;
        let both = [("false", Terms::NONE), ("true", Terms::NONE)];
        let use_it = ActionDescription::new("use", "agent", "thing");
        Ok(Frame {
            beliefs: vec![Belief::new(&broken, both).map_err(DomainError::new)?],
            facts: Facts::new([broken]).map_err(DomainError::new)?,
            candidates: vec![Candidate::new("use-1", use_it)],
            probes: vec![OfferedProbe::new("try", self.0, ["broken"])],
            ..Frame::default()
        })
    }

    fn make(&mut self, _: usize) -> Answer {
        self.1 += 1;
        Answer::Found(vec![("broken".to_owned(), "false".to_owned())])
    }
}

#[test]
fn unless_it_is_allowed_no_probe_changes_something() {
    let schema = PolicyText {
        name: "thing.cedarschema",
        text: "entity Agent; entity Thing = { broken: Bool }; \
               action use appliesTo { principal: [Agent], resource: [Thing] };",
    };
    let policies = PolicyText {
        name: "thing.cedar",
        text: "@id(\"whole\") permit (principal, action, resource) when { !resource.broken };",
    };
    let plain = Gate::new(SafetyPolicies::load(&[policies], schema).unwrap());
    let all = [
        SideEffect::ReadsNames,
        SideEffect::ReadsContent,
        SideEffect::RunsProgram,
        SideEffect::AsksSystem,
        SideEffect::AsksPerson,
        SideEffect::Changes,
    ];
    let made = |gate: &Gate, side_effect| {
        let mut thing = Thing(side_effect, 0);
        let asked = Asked::new("thing-1");
        let decided = gate.decide(&mut thing, &asked, UsedCalibration::None, now());
        let decided = decided.unwrap();
        let withheld = decided.withheld_probes();
        assert_eq!(withheld.is_empty(), thing.1 == 1);
        thing.1
    };
    assert_eq!(all.map(|each| made(&plain, each)), [1, 1, 1, 1, 0, 0]);
    for (at, allowed) in all.into_iter().enumerate() {
        let gate = plain.clone().with_max_side_effect(allowed);
        let expect = [0, 1, 2, 3, 4, 5].map(|each| usize::from(each <= at));
        assert_eq!(all.map(|each| made(&gate, each)), expect);
        let name = serde_json::to_value(allowed).unwrap();
        assert_eq!(name, json!(allowed.name()));
    }
}
