//! What is recorded beyond the decision: probes with what was expected of them, evidence that cannot be right.

use safecommit_core::{Case, Step, Workspace};
use safecommit_gate::{EvidenceRecord, FileGate, FileGateError, FileProposal, SafetyPolicies};
use safecommit_gate::{Gate, Inconsistency, PolicyText};
use serde_json::{Value, json};

use crate::support::{Scene, now, outcome, request};

/// A controller that is given the same answers expects the same of each probe that it chooses.
#[test]
fn what_was_expected_of_each_probe_is_what_the_controller_expects_again() {
    let scene = Scene::new();
    scene.write("run/out", "result");
    scene.write("notes", "old");
    let mut gate = scene.gate();
    let asked = request(json!({"decision": "d-1", "actions": [
        {"action": "delete", "path": "run"},
        {"action": "overwrite", "path": "notes", "content": "new"},
    ]}));
    let decision = gate.decide(&asked, now()).unwrap();
    assert!(outcome(&decision).is_ok());
    let reader = gate.log().reader().unwrap();
    let entry = reader.record("d-1").unwrap().unwrap().entry;
    assert_eq!(entry.probes, decision.decided().probes());
    let mut before = entry.request.clone();
    before.observed.clear();
    let names: Vec<String> = before.probes.iter().map(|probe| probe.id.clone()).collect();
    let outcomes = before.probes.clone();
    let case = Case::new(before).unwrap();
    let mut memory = Workspace::default();
    let mut controller = case.controller(None, &mut memory);
    assert!(entry.probes.len() > 3);
    for made in &entry.probes {
        let Step::Probe(choice) = controller.next_step() else {
            panic!("it goes on with `{}`", made.id);
        };
        assert_eq!(names[choice.probe], made.id);
        let numbers = (choice.shrinkage, choice.score, choice.information);
        assert_eq!(
            numbers,
            (made.expected_shrinkage, made.score, made.information)
        );
        assert_eq!((choice.purpose, choice.rule), (made.purpose, made.rule));
        let declared = outcomes[choice.probe].outcomes.as_ref().unwrap();
        let found = declared
            .iter()
            .position(|known| Some(&known.id) == made.outcome.as_ref());
        controller.observe(choice.probe, found.unwrap()).unwrap();
    }
    assert!(matches!(controller.next_step(), Step::Commit(_)));
    assert!(
        entry
            .probes
            .iter()
            .any(|made| made.expected_shrinkage > 0.01)
    );
    // What a label can say of it: each fact with all its values.
    assert_eq!(
        entry.facts["kind_2"],
        ["file", "directory", "link", "mount", "missing"]
    );
    assert_eq!(entry.facts["overwrite_2_base"], ["unknown"]);
}

fn evidence(fields: Value) -> Value {
    let mut record = json!({"id": "m1", "entity": "run/out", "attribute": "kind", "value": "file", "source": "memory",
        "name": "notes", "recorded": "2026-01-01T00:00:00Z"});
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record
}

/// What is named of evidence of the host and of the agent, with the ids of the records.
fn named(
    scene: &Scene,
    gate: &mut FileGate,
    host: &[Value],
    agent: &[Value],
) -> Vec<(String, Vec<String>)> {
    let name = json!([host, agent]).to_string();
    let name = &name[..name.len().min(200)];
    let proposal = json!({"decision": name, "evidence": agent,
        "actions": [{"action": "delete", "path": "run/out"}]});
    let proposal: FileProposal = serde_json::from_str(&proposal.to_string()).unwrap();
    let host = host
        .iter()
        .map(|record| EvidenceRecord::from_json(&record.to_string()).unwrap());
    let asked = proposal.check(host).unwrap();
    let decision = gate.decide(&asked, now()).unwrap();
    assert!(scene.path("run/out").exists());
    let found = decision.inconsistencies().iter();
    found
        .map(|found| {
            let records = found.records().into_iter().map(str::to_owned);
            (found.kind().to_owned(), records.collect())
        })
        .collect()
}

#[test]
fn what_is_named_is_about_the_targets_or_from_the_agent() {
    let scene = Scene::new();
    scene.write("run/out", "result");
    let mut gate = scene.gate();
    let absolute = scene
        .path("run/out")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let found = |kind: &str, ids: &[&str]| {
        (
            kind.to_owned(),
            ids.iter().map(ToString::to_string).collect::<Vec<_>>(),
        )
    };
    let mut named = |host: &[Value], agent: &[Value]| named(&scene, &mut gate, host, agent);
    let future = "2999-01-01T00:00:00Z";
    let m2 = evidence(json!({"id": "m2", "value": "link", "entity": absolute}));
    // Two spellings of the target are one; what agrees is no contradiction.
    let both = named(&[evidence(json!({}))], std::slice::from_ref(&m2));
    assert_eq!(both, [found("contradiction", &["m1", "m2"])]);
    let agree = evidence(json!({"id": "m2", "entity": "./run/out"}));
    assert_eq!(named(&[evidence(json!({}))], &[agree]), []);
    // Other attributes, and other things, are other questions.
    let other = evidence(json!({"id": "m2", "attribute": "owner", "value": "own"}));
    assert_eq!(named(&[evidence(json!({}))], &[other]), []);
    let below = evidence(json!({"id": "m2", "entity": "run", "value": "directory"}));
    assert_eq!(named(&[evidence(json!({}))], &[below]), []);
    // An observation that came later has overtaken the memory.
    let seen = evidence(json!({"id": "o1", "value": "link", "source": "observation",
        "observed": "2026-02-01T00:00:00Z", "recorded": "2026-02-01T00:00:00Z"}));
    assert_eq!(named(&[seen], &[evidence(json!({}))]), []);
    // Of the directory that it is in the times count, of other things only what the agent says.
    let of =
        |id: &str, entity: &str| evidence(json!({"id": id, "entity": entity, "recorded": future}));
    let (above, beside) = (of("h1", "run"), of("h2", "beside"));
    assert_eq!(
        named(&[above, beside.clone()], &[]),
        [found("recorded_in_the_future", &["h1"])]
    );
    assert_eq!(
        named(&[], &[beside]),
        [found("recorded_in_the_future", &["h2"])]
    );
    let apart = evidence(json!({"id": "h3", "entity": "run", "value": "link"}));
    let directory = evidence(json!({"id": "h4", "entity": "run", "value": "directory"}));
    assert_eq!(named(&[apart.clone(), directory.clone()], &[]), []);
    assert_eq!(
        named(&[], &[apart, directory]),
        [found("contradiction", &["h3", "h4"])]
    );
}

/// However much of it there is, the record has room for it.
#[test]
fn much_evidence_at_odds_is_cut_in_the_record_and_counted() {
    let scene = Scene::new();
    scene.write("run/out", "result");
    let mut gate = scene.gate();
    let long = "v".repeat(60_000);
    let records: Vec<Value> = (0..400)
        .map(|number| {
            evidence(
                json!({"id": format!("m{number:03}"), "value": format!("{long}{number}"),
                "attribute": format!("a{}", number % 100), "recorded": "2999-01-01T00:00:00Z"}),
            )
        })
        .collect();
    let asked = request(json!({"decision": "d-1", "evidence": records,
        "actions": [{"action": "delete", "path": "run/out"}]}));
    let decision = gate.decide(&asked, now()).unwrap();
    let (contradictions, times): (Vec<_>, Vec<_>) = decision
        .inconsistencies()
        .iter()
        .partition(|found| matches!(found, Inconsistency::Contradiction { .. }));
    assert_eq!((contradictions.len(), times.len()), (100, 400));
    let entry = gate
        .log()
        .reader()
        .unwrap()
        .record("d-1")
        .unwrap()
        .unwrap()
        .entry;
    for (detail, more) in [("contradictions", 36), ("impossible_times", 336)] {
        let text = &entry.details[detail];
        assert!(text.ends_with(&format!("; and {more} more")), "{detail}");
        assert!(text.len() < 100_000, "{detail}");
    }
}

/// Where policies and the facts of files first meet.
#[test]
fn a_schema_that_asks_for_more_than_files_have_makes_no_gate() {
    let scene = Scene::new();
    let policies = |change: &dyn Fn(&str) -> String| {
        let text = change(safecommit_gate::FILE_SCHEMA.text);
        let schema = PolicyText {
            name: "own.cedarschema",
            text: &text,
        };
        let open = PolicyText {
            name: "own.cedar",
            text: "permit(principal, action, resource);",
        };
        SafetyPolicies::load(&[open], schema).unwrap()
    };
    let opened = |change: &dyn Fn(&str) -> String| {
        let gate = Gate::new(policies(change));
        scene.try_gate_with(scene.domain(), None, |_| gate)
    };
    let error = |change: &dyn Fn(&str) -> String| match opened(change) {
        Err(FileGateError::Policy(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let required =
        |schema: &str| schema.replacen("reversible: Bool", "reversible: Bool, sealed: Bool", 1);
    let said = error(&required);
    assert!(
        said.starts_with("schema `own.cedarschema`, line ") && said.contains("`sealed`"),
        "{said}"
    );
    // Of four actions any may be left out, and facts too; an attribute that need not be there may be any.
    assert!(opened(&str::to_owned).is_ok());
    assert!(opened(&|schema| required(schema).replacen("sealed:", "sealed?:", 1)).is_ok());
    assert!(opened(&|schema| schema.replacen("tracked: Tracked,", "", 1)).is_ok());
    assert!(opened(&|schema| schema.replacen("action delete, write", "action delete", 1)).is_ok());
    let none = |schema: &str| {
        let named = ["delete", "write", "overwrite", "move"];
        named.iter().fold(schema.to_owned(), |schema, name| {
            schema
                .replace(&format!("{name} appliesTo"), &format!("un{name} appliesTo"))
                .replace("action delete,", "action undelete,")
        })
    };
    let said = error(&none);
    assert!(
        said.ends_with("the schema declares no action `delete`"),
        "{said}"
    );
}
