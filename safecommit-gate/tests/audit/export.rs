//! The log as lines of JSON.

use std::io::{BufReader, Read as _};

use safecommit_gate::audit::{
    AuditError, AuditRecord, FlawKind, LabelError, Labels, LogKey, MAX_EXPORT_LINE_BYTES,
    MAX_LABEL_LINE_BYTES, MAX_RECORD_BYTES, UsedCalibration, check_export,
};

use crate::support::{Place, entry, five, key, request};

#[test]
fn an_export_checks_and_any_line_that_is_changed_or_missing_is_found() {
    let place = five();
    let mut lines = Vec::new();
    let verified = place
        .reader()
        .export(&place.head, &key(), &mut lines)
        .unwrap();
    assert_eq!(check_export(lines.as_slice(), &key()).unwrap(), verified);
    let text = String::from_utf8(lines).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 + 5);
    let check = |lines: &[&str]| check_export(lines.join("\n").as_bytes(), &key());
    let at = |result: Result<_, AuditError>| match result {
        Err(AuditError::Flaw(flaw)) => (flaw.sequence, flaw.kind),
        other => panic!("{other:?}"),
    };
    for record in 1..=5_usize {
        let line = record + 2;
        let mut less = lines.clone();
        less.remove(line);
        let kind = if record == 5 {
            FlawKind::CutOff { records: 5 }
        } else {
            FlawKind::Removed
        };
        assert_eq!(at(check(&less)), (record as u64, kind));
        let changed = lines[line].replace("scratch", "Scratch");
        let mut lines = lines.clone();
        lines[line] = &changed;
        assert_eq!(at(check(&lines)), (record as u64, FlawKind::Changed));
    }
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    assert_eq!(at(check(&swapped)), (1, FlawKind::Removed));
    for line in [1, 2] {
        let mut less = lines.clone();
        less.remove(line);
        assert!(matches!(
            at(check(&less)).1,
            FlawKind::CalibrationRemoved(_)
        ));
    }
    for bad in [&lines[1..], &[lines[0], lines[0]], &[], &["{}"]] {
        assert!(matches!(check(bad), Err(AuditError::Export { .. })));
    }
}

#[test]
fn the_longest_record_is_exported_and_a_longer_one_is_not_recorded() {
    let (place, none) = (Place::new(), UsedCalibration::None);
    let mut log = place.create();
    let long = |name: &str, bytes: usize| {
        let mut entry = entry(name, request(), none);
        entry.error = Some("x".repeat(bytes));
        entry
    };
    let error = log
        .append(&long("d-1", MAX_RECORD_BYTES), none)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "decision `d-1` has no JSON form: it has more than 33554432 bytes"
    );
    log.append(&long("d-2", MAX_RECORD_BYTES - 10_000), none)
        .unwrap();
    let mut lines = Vec::new();
    let verified = place
        .reader()
        .export(&place.head, &key(), &mut lines)
        .unwrap();
    assert_eq!(verified.records, 1);
    assert_eq!(check_export(lines.as_slice(), &key()).unwrap(), verified);
}

#[test]
fn lines_without_end_are_refused() {
    let endless = || BufReader::new(std::io::repeat(b' '));
    let error = check_export(endless(), &key()).unwrap_err();
    let expected = format!("line 1 of the export: it has more than {MAX_EXPORT_LINE_BYTES} bytes");
    assert_eq!(error.to_string(), expected);
    let label = r#"{"decision": "d-1", "safe_actions": []}"#;
    let padding = MAX_LABEL_LINE_BYTES - label.len();
    for (padding, ok) in [(padding, true), (padding + 1, false)] {
        let padding = std::io::repeat(b' ').take(padding as u64);
        let read = Labels::read(BufReader::new(label.as_bytes().chain(padding)));
        assert_eq!(read.is_ok(), ok);
    }
    let error = Labels::read(b"\n".chain(endless())).unwrap_err();
    let expected = format!("line 2: it has more than {MAX_LABEL_LINE_BYTES} bytes");
    assert_eq!(error.to_string(), expected);
    let error = Labels::read(&b"{\xff"[..]).unwrap_err();
    assert_eq!(error.to_string(), "line 1: column 2: it is not UTF-8");
}

/// A log as it was written before records had the probes that were made and the facts of the decision.
#[test]
fn a_log_of_an_earlier_program_reads_as_it_was_written() {
    const KEY: [u8; 32] = [
        0x95, 0x72, 0xe9, 0x72, 0xd7, 0x2d, 0x26, 0x1e, 0x14, 0x35, 0x89, 0x5c, 0x8d, 0x83, 0x11,
        0x0d, 0x95, 0xb2, 0x4c, 0x44, 0x93, 0xca, 0x58, 0xd3, 0x45, 0xd0, 0x2d, 0x5d, 0xa6, 0xcd,
        0xb9, 0x18,
    ];
    let text = include_str!("earlier.jsonl");
    let verified = check_export(text.as_bytes(), &LogKey::from_bytes(KEY)).unwrap();
    assert_eq!(verified.records, 1);
    let line = text.lines().nth(1).unwrap();
    let (_, body) = line.split_once("\"body\":").unwrap();
    let body = body.strip_suffix("}}").unwrap();
    let record: AuditRecord = serde_json::from_str(body).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), body);
    assert!(record.entry.probes.is_empty() && record.entry.facts.is_empty());
    assert_eq!(record.entry.record.observed.len(), 5);
    // Nor is it labelled otherwise: a fact that it may not have counts as one that does not matter.
    let place = Place::new();
    let mut log = place.create();
    log.append(&record.entry, UsedCalibration::None).unwrap();
    let label = r#"{"decision": "d-1", "true_facts": {"kind": "socket", "colour": "red"}}"#;
    let labels = Labels::read(label.as_bytes()).unwrap();
    let scored = place.reader().calibration_scores(&labels, &[], None);
    assert!(matches!(
        scored,
        Err(AuditError::Label(LabelError::ScoreVersion { .. }))
    ));
    let version = record.entry.versions.score.as_deref();
    let scored = place.reader().calibration_scores(&labels, &[], version);
    assert!(scored.unwrap()[0].score.is_missing());
}
