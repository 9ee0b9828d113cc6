#![expect(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect fails by a panic"
)]
//! What derivation does to trust and authority, case by case.

use jiff::Timestamp;
use safecommit_gate::{
    DerivationError, EvidenceRecord, EvidenceSet, PolicyRole, Proposition, Source, ToolStatus,
    Trust,
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn no_text_launders_what_a_tool_gave() {
    let tool = Source::tool("read_mail", ToolStatus::Succeeded).unwrap();
    let said = |value: &str| Proposition::new("ops@example.org", "approved", value).unwrap();
    let make = |id: &str, value: &str, source: &Source| {
        EvidenceRecord::new(id, said(value), source.clone(), at(1)).unwrap()
    };
    let mut records = vec![
        make("mail", "yes, approved", &tool),
        make("wish", "tell me when done", &Source::user("ada").unwrap()),
    ];
    // A paraphrase, an encoding, a piece, a concatenation with what the person said: each from the one before.
    let memory = Source::memory("notes.md").unwrap();
    let observation = Source::observation("read_file").unwrap();
    let approval = Source::user_in_role("ada", PolicyRole::Authorization).unwrap();
    let rule = Source::policy("rules.md", PolicyRole::Rule).unwrap();
    let steps = [
        ("approval was given", &memory),
        ("YXBwcm92ZWQ=", &observation),
        ("approved", &approval),
        ("tell me when done; approved", &rule),
    ];
    for (step, (value, source)) in steps.into_iter().enumerate() {
        let before = records.last().unwrap().id().to_owned();
        let before = if step == 0 { "mail".to_owned() } else { before };
        let record = make(&format!("step {step}"), value, source);
        records.push(record.with_ancestors([before.as_str(), "wish"]).unwrap());
    }
    let set = EvidenceSet::new(records).unwrap();
    for step in 0..4 {
        let id = format!("step {step}");
        assert_eq!(set.trust_of(&id), Some(Trust::Tool), "{id}");
        assert_eq!(set.least_trusted(&id).unwrap().id(), "mail");
        assert!(!set.has_authority(&id));
    }
    assert_eq!(set.trust_of("wish"), Some(Trust::User));
    // Nor do they overtake anything: each of the values is still an alternative.
    assert_eq!(set.contradictions(at(9))[0].alternatives.len(), 6);
}

#[test]
fn what_rests_on_nothing_has_authority_by_its_source_alone() {
    let said = || Proposition::new("run", "approved", "yes").unwrap();
    let make = |id: &str, source: Source| EvidenceRecord::new(id, said(), source, at(1)).unwrap();
    let rule = make(
        "rule",
        Source::policy("rules.md", PolicyRole::Rule).unwrap(),
    );
    let approval = make(
        "approval",
        Source::user_in_role("ada", PolicyRole::Authorization).unwrap(),
    );
    let approval = approval.with_ancestors(["rule"]).unwrap();
    let set = EvidenceSet::new([
        approval,
        rule,
        make("wish", Source::user("ada").unwrap()),
        make("note", Source::memory("notes.md").unwrap()),
    ])
    .unwrap();
    let with_authority: Vec<&str> = set
        .recorded_until(at(1))
        .filter(|id| set.has_authority(id))
        .collect();
    assert_eq!(with_authority, ["approval", "rule"]);
    assert_eq!(set.trust_of("note"), Some(Trust::Unknown));
    assert_eq!(set.recorded_until(at(0)).count(), 0);
    assert_eq!(
        (set.trust_of("none"), set.has_authority("none")),
        (None, false)
    );
}

#[test]
fn a_chain_may_be_as_long_as_memory_allows() {
    let length = 100_000;
    let chain = |last: &str| -> Vec<EvidenceRecord> {
        let ids = (0..length).map(|number| format!("e{number:06}"));
        let mut before = last.to_owned();
        ids.map(|id| {
            let said = Proposition::new("run", "kind", "file").unwrap();
            let record = EvidenceRecord::new(id.clone(), said, Source::user("ada").unwrap(), at(1));
            let from = std::mem::replace(&mut before, id);
            record.unwrap().with_ancestors([from]).unwrap()
        })
        .collect()
    };
    let said = Proposition::new("run", "kind", "link").unwrap();
    let tool = Source::tool("ls", ToolStatus::Succeeded).unwrap();
    let root = EvidenceRecord::new("root", said, tool, at(0)).unwrap();
    let set = EvidenceSet::new(chain("root").into_iter().chain([root])).unwrap();
    assert_eq!(set.trust_of("e099999"), Some(Trust::Tool));
    assert_eq!(set.least_trusted("e099999").unwrap().id(), "root");
    let Err(DerivationError::Cycle(cycle)) = EvidenceSet::new(chain("e099999")) else {
        panic!("no cycle was found");
    };
    assert_eq!(cycle.len(), length + 1);
}
