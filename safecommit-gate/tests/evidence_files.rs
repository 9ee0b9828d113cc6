#![expect(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect fails by a panic"
)]
//! Records as text: what is written is read, and what is wrong is named.

use std::io::{self, BufReader, Read};

use jiff::Timestamp;
use proptest::collection::btree_set;
use proptest::prelude::*;
use safecommit_gate::{
    EvidenceLineProblem, EvidenceReader, EvidenceRecord, FieldProblem, MAX_ANCESTORS,
    MAX_EVIDENCE_LINE_BYTES, MAX_LABEL_BYTES, MAX_TEXT_BYTES, PolicyRole, Proposition, Source,
    ToolStatus, read_evidence, write_evidence,
};

const LINE: &str = r#"{"id":"t1","entity":"run/latest","attribute":"kind","value":"link","source":"tool","name":"ls","tool_status":"succeeded","derived_from":["a","b"],"recorded":"2026-03-01T08:00:00Z","observed":"2026-03-01T07:59:59.5Z"}"#;

fn source() -> impl Strategy<Value = Source> {
    let role = prop_oneof![
        Just(PolicyRole::Rule),
        Just(PolicyRole::Authorization),
        Just(PolicyRole::Constraint)
    ];
    let status = prop_oneof![
        Just(ToolStatus::Succeeded),
        Just(ToolStatus::Failed),
        Just(ToolStatus::TimedOut)
    ];
    (0..6, "\\PC{1,20}", role, status).prop_map(|(kind, name, role, status)| {
        match kind {
            0 => Source::user(name),
            1 => Source::user_in_role(name, role),
            2 => Source::memory(name),
            3 => Source::observation(name),
            4 => Source::tool(name, status),
            _ => Source::policy(name, role),
        }
        .unwrap()
    })
}

fn time() -> impl Strategy<Value = Timestamp> {
    let range = Timestamp::MIN.as_nanosecond()..=Timestamp::MAX.as_nanosecond();
    range.prop_map(|nanosecond| Timestamp::from_nanosecond(nanosecond).unwrap())
}

fn record() -> impl Strategy<Value = EvidenceRecord> {
    let texts = (
        "\\PC{1,30}",
        "(?s).{1,40}",
        "[a-zA-Z][a-zA-Z0-9_]{0,9}",
        "(?s).{0,40}",
    );
    let ancestors = btree_set("\\PC{1,9}", 0..5);
    (
        texts,
        source(),
        time(),
        proptest::option::of(time()),
        ancestors,
    )
        .prop_map(
            |((id, entity, attribute, value), source, recorded, observed, ancestors)| {
                let proposition = Proposition::new(entity, attribute, value).unwrap();
                let record = EvidenceRecord::new(id, proposition, source, recorded).unwrap();
                let record = record.with_ancestors(ancestors).unwrap();
                match observed {
                    Some(observed) => record.with_observed(observed),
                    None => record,
                }
            },
        )
}

proptest! {
    #[test]
    fn what_is_written_is_read(record in record()) {
        let json = record.to_json();
        prop_assert!(!json.contains('\n'));
        prop_assert_eq!(&EvidenceRecord::from_json(&json).unwrap(), &record);
        prop_assert_eq!(&serde_json::to_string(&record).unwrap(), &json);
        prop_assert_eq!(&serde_json::from_str::<EvidenceRecord>(&json).unwrap(), &record);
        let mut file = Vec::new();
        write_evidence([&record], &mut file).unwrap();
        prop_assert_eq!(read_evidence("e.jsonl", file.as_slice()).unwrap(), [record]);
    }

    #[test]
    fn a_store_gives_back_what_it_was_given(records in proptest::collection::vec(record(), 0..6)) {
        let folder = tempfile::tempdir().unwrap();
        let open = || safecommit_gate::EvidenceStore::open(folder.path().join("e.db"), std::time::Duration::ZERO);
        let mut kept = std::collections::BTreeMap::new();
        for record in &records {
            kept.entry(record.id()).or_insert(record);
        }
        let kept: Vec<EvidenceRecord> = kept.into_values().cloned().collect();
        prop_assert_eq!(open().unwrap().append(kept.iter().rev()).unwrap(), kept.len());
        prop_assert_eq!(open().unwrap().all().unwrap(), kept);
    }

    #[test]
    fn a_text_that_is_hurt_is_refused_or_is_a_record_in_full(
        at in 0..LINE.len(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = LINE.as_bytes().to_vec();
        bytes[at] = byte;
        if cut {
            bytes.truncate(at);
        }
        if let Some(Ok(record)) = EvidenceReader::new("e.jsonl", bytes.as_slice()).next() {
            prop_assert_eq!(EvidenceRecord::from_json(&record.to_json()).unwrap(), record);
        }
    }
}

fn error_of(file: &str) -> String {
    read_evidence("e.jsonl", file.as_bytes())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_line_is_stable() {
    assert_eq!(EvidenceRecord::from_json(LINE).unwrap().to_json(), LINE);
    let other = LINE.replace("[\"a\",\"b\"]", "[ \"b\" , \"a\" ]");
    let other = other.replace("2026-03-01T08:00:00Z", "2026-03-01T10:00:00+02:00");
    assert_eq!(EvidenceRecord::from_json(&other).unwrap().to_json(), LINE);
}

#[test]
fn errors_name_file_line_and_field() {
    let cases = [
        (r#""id":"t1""#, r#""id":7"#, "field `id`: it is no text"),
        (r#""id":"t1","#, "", "field `id`: it is missing"),
        (r#""id":"t1""#, r#""id":"""#, "field `id`: it is empty"),
        (
            r#""id":"t1""#,
            r#""id":"t\n1""#,
            "field `id`: it has control characters",
        ),
        (
            r#""id":"t1""#,
            r#""id":"t1","id":"t2""#,
            "field `id`: it stands twice",
        ),
        (
            r#""id":"t1""#,
            r#""id":"t1","trust":"user""#,
            "field `trust`: records have no such field",
        ),
        (r#""run/latest""#, r#""""#, "field `entity`: it is empty"),
        (
            r#""kind""#,
            r#""a kind""#,
            "field `attribute`: `a kind` is no identifier: a letter, then letters, digits and `_`",
        ),
        (r#""link""#, "null", "field `value`: it is no text"),
        (
            r#""tool""#,
            r#""oracle""#,
            "field `source`: `oracle` is none of user, memory, observation, tool, policy",
        ),
        (
            r#","tool_status":"succeeded""#,
            "",
            "field `tool_status`: it is missing",
        ),
        (
            "succeeded",
            "ok",
            "field `tool_status`: `ok` is none of succeeded, failed, timed_out",
        ),
        (
            r#""tool""#,
            r#""memory""#,
            "field `tool_status`: a record whose source is `memory` cannot have it",
        ),
        (
            r#""derived_from""#,
            r#""policy_role":"rule","derived_from""#,
            "field `policy_role`: a record whose source is `tool` cannot have it",
        ),
        (
            r#"["a","b"]"#,
            r#""a""#,
            "field `derived_from`: it is no list of texts",
        ),
        (
            r#"["a","b"]"#,
            r#"["a",1]"#,
            "field `derived_from`: it is no list of texts",
        ),
        (
            r#"["a","b"]"#,
            r#"["a","a"]"#,
            "field `derived_from`: `a` stands twice in it",
        ),
        (
            r#"["a","b"]"#,
            r#"["a",""]"#,
            "field `derived_from`: it is empty",
        ),
    ];
    for (from, to, says) in cases {
        let other = LINE.replace("t1", "t0");
        let hurt = LINE.replacen(from, to, 1);
        assert_ne!(hurt, LINE, "{from}");
        assert_eq!(
            error_of(&format!("{other}\n{hurt}\n")),
            format!("`e.jsonl` line 2: {says}")
        );
    }
    let hurt = LINE.replace(
        r#""tool","name":"ls","tool_status":"succeeded""#,
        r#""policy","name":"p""#,
    );
    assert_eq!(
        error_of(&hurt),
        "`e.jsonl` line 1: field `policy_role`: it is missing"
    );
    assert_eq!(
        error_of(&format!("{LINE}\n{LINE}\n")),
        "`e.jsonl` line 2: field `id`: `t1` is the id of line 1 too"
    );
    assert_eq!(
        error_of(&format!("{LINE}\n\n")),
        "`e.jsonl` line 2: it is empty"
    );
    assert_eq!(
        error_of(&LINE[..9]),
        "`e.jsonl` line 1: column 9: EOF while parsing a string; a record is a JSON object on a line of its own"
    );
    assert!(error_of(&format!("{LINE}{LINE}")).contains(": trailing characters; "));
    assert!(
        error_of(&format!("[{LINE}]"))
            .contains("an object with the fields of a record of evidence")
    );
}

#[test]
fn times_that_cannot_be_read_are_named() {
    for time in [
        "",
        "yesterday",
        "2026-03-01",
        "2026-03-01T08:00:00",
        "2026-02-30T08:00:00Z",
        "2026-03-01T25:00:00Z",
        "99999-01-01T00:00:00Z",
    ] {
        for field in ["recorded", "observed"] {
            let good = EvidenceRecord::from_json(LINE).unwrap();
            let good = match field {
                "recorded" => good.recorded(),
                _ => good.observed().unwrap(),
            };
            let hurt = LINE.replace(&good.to_string(), time);
            let start = format!(
                "`e.jsonl` line 1: field `{field}`: `{time}` is no time such as 2026-03-01T08:00:00Z: "
            );
            assert!(error_of(&hurt).starts_with(&start), "{}", error_of(&hurt));
        }
    }
}

/// Gives a line without an end, and counts what was taken from it.
struct Endless<'c>(&'c mut usize);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        *self.0 += buffer.len();
        Ok(buffer.len())
    }
}

#[test]
fn a_line_takes_no_more_memory_than_the_bound() {
    let mut taken = 0;
    let mut records = EvidenceReader::new("e.jsonl", BufReader::new(Endless(&mut taken)));
    let error = records.next().unwrap().unwrap_err();
    assert!(
        matches!(error.problem, EvidenceLineProblem::TooLong),
        "{error}"
    );
    assert!(records.next().is_none());
    drop(records);
    assert!(taken < MAX_EVIDENCE_LINE_BYTES + 100_000, "{taken}");
}

#[test]
fn the_longest_record_fits_a_line_and_a_longer_one_is_refused() {
    // `\u0000` is the longest that a byte can become, and `\"` in a label.
    let text = "\0".repeat(MAX_TEXT_BYTES);
    let label = |number: usize| format!("{number:04}{}", "\"".repeat(MAX_LABEL_BYTES - 4));
    let proposition =
        Proposition::new(text.clone(), "a".repeat(MAX_LABEL_BYTES), text.clone()).unwrap();
    let source = Source::policy(label(0), PolicyRole::Authorization).unwrap();
    let record = EvidenceRecord::new(label(0), proposition, source, Timestamp::MIN).unwrap();
    let record = record
        .with_ancestors((0..MAX_ANCESTORS).map(label))
        .unwrap()
        .with_observed(Timestamp::MIN);
    let mut file = Vec::new();
    write_evidence([&record], &mut file).unwrap();
    assert!(file.len() > MAX_EVIDENCE_LINE_BYTES / 2);
    let read = read_evidence("e.jsonl", file.as_slice()).unwrap();
    assert_eq!(read.first(), Some(&record));
    assert_eq!(read.len(), 1);

    let problem = record
        .with_ancestors((0..=MAX_ANCESTORS).map(label))
        .unwrap_err()
        .problem;
    assert_eq!(problem, FieldProblem::TooMany { max: MAX_ANCESTORS });
    let problem = Proposition::new("run", "kind", text + "x")
        .unwrap_err()
        .problem;
    assert_eq!(
        problem,
        FieldProblem::TooLong {
            bytes: MAX_TEXT_BYTES + 1,
            max: MAX_TEXT_BYTES
        }
    );
    let problem = Source::memory(label(0) + "x").unwrap_err().problem;
    assert_eq!(
        problem,
        FieldProblem::TooLong {
            bytes: MAX_LABEL_BYTES + 1,
            max: MAX_LABEL_BYTES
        }
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let file = format!("{LINE}\n");
    let broken = BufReader::new(file.as_bytes().chain(Broken));
    let error = read_evidence("e.jsonl", broken).unwrap_err();
    assert_eq!(error.to_string(), "`e.jsonl` line 2: the disk is gone");
    let error = read_evidence("e.jsonl", &b"{\"id\":\"\xff\"}"[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`e.jsonl` line 1: column 8: it is not UTF-8"
    );
    let shown = "x".repeat(64);
    let hurt = LINE.replace("succeeded", &format!("{shown}\\u001b[2J"));
    let says = format!("field `tool_status`: `{shown}…` is none of succeeded, failed, timed_out");
    assert_eq!(error_of(&hurt), format!("`e.jsonl` line 1: {says}"));
    let hurt = LINE.replace("2026-03-01T08:00:00Z", "\\u001b[2J");
    assert!(
        error_of(&hurt).contains("`\\u{1b}[2J` is no time"),
        "{}",
        error_of(&hurt)
    );
    assert!(!error_of(&hurt).contains(char::is_control));
    let long = error_of(&format!("{:?}", "x".repeat(100_000)));
    assert!(
        long.starts_with("`e.jsonl` line 1: column 100002: invalid type: string \"xxx"),
        "{long}"
    );
    assert!(long.len() < 400, "{long}");
    let deep = "[".repeat(100_000);
    assert!(error_of(&format!("{{\"id\":{deep}")).contains("recursion limit exceeded"));
}
