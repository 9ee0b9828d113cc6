//! The log as lines of JSON.

use safecommit_gate::audit::{AuditError, FlawKind, check_export};

use crate::support::{five, key};

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
