//! Whatever is done to a log by somebody without the key is found, and the first bad record named.

use rusqlite::{Connection, params};
use safecommit_gate::audit::{AuditError, AuditLog, AuditReader, Flaw, FlawKind};
use sha2::{Digest as _, Sha256};

use crate::support::{Place, five, key, tamper};

fn flaw(place: &Place) -> Flaw {
    match place.verify() {
        Err(AuditError::Flaw(flaw)) => flaw,
        other => panic!("no flaw, but {other:?}"),
    }
}

fn found(place: &Place, sequence: u64, kind: FlawKind) {
    assert_eq!(flaw(place), Flaw { sequence, kind });
}

#[test]
fn a_change_of_any_column_and_any_part_of_the_bytes_is_found() {
    let place = five();
    let mut tried = 0;
    for sequence in 1..=5_u64 {
        for column in ["body", "previous", "hash", "mac"] {
            let select = format!("SELECT {column} FROM record WHERE sequence = {sequence}");
            let update = format!("UPDATE record SET {column} = ?1 WHERE sequence = {sequence}");
            let set = |value: &[u8]| {
                tamper(&place, |db: &Connection| {
                    db.execute(&update, params![value]).unwrap()
                });
            };
            let whole: Vec<u8> = tamper(&place, |db| {
                db.query_row(&select, [], |row| row.get(0)).unwrap()
            });
            let step = if column == "body" { 61 } else { 9 };
            let mut changed: Vec<Vec<u8>> = (0..whole.len())
                .step_by(step)
                .chain([whole.len() - 1])
                .map(|at| {
                    let mut bytes = whole.clone();
                    bytes[at] ^= 1;
                    bytes
                })
                .collect();
            changed.extend([
                Vec::new(),
                whole[..whole.len() - 1].to_vec(),
                [&whole[..], b" "].concat(),
            ]);
            for bytes in changed {
                set(&bytes);
                found(&place, sequence, FlawKind::Changed);
                tried += 1;
            }
            set(&whole);
            assert_eq!(place.verify().unwrap(), 5);
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn another_name_or_place_is_found() {
    for sequence in 1..=5_u64 {
        let place = five();
        let update = format!("UPDATE record SET decision = 'x' WHERE sequence = {sequence}");
        tamper(&place, |db| db.execute_batch(&update).unwrap());
        found(&place, sequence, FlawKind::Changed);

        for (to, kind, at) in [
            (1_000_i64, FlawKind::Removed, sequence),
            (0, FlawKind::Moved { from: sequence }, 1),
            (-7, FlawKind::Moved { from: sequence }, 1),
        ] {
            let place = five();
            let update = format!("UPDATE record SET sequence = {to} WHERE sequence = {sequence}");
            tamper(&place, |db| db.execute_batch(&update).unwrap());
            // The first record under another number is still the first record.
            let kind = if sequence == 1 && to < 1 {
                FlawKind::Changed
            } else {
                kind
            };
            found(&place, at, kind);
        }
    }
}

#[test]
fn removal_truncation_exchange_and_duplication_are_found() {
    for sequence in 1..=5_u64 {
        let place = five();
        let delete = format!("DELETE FROM record WHERE sequence = {sequence}");
        tamper(&place, |db| db.execute_batch(&delete).unwrap());
        let kind = if sequence == 5 {
            FlawKind::CutOff { records: 5 }
        } else {
            FlawKind::Removed
        };
        found(&place, sequence, kind);
        if sequence < 5 {
            let close = format!(
                "UPDATE record SET sequence = -sequence WHERE sequence > {sequence};
                 UPDATE record SET sequence = -sequence - 1 WHERE sequence < 0"
            );
            tamper(&place, |db| db.execute_batch(&close).unwrap());
            found(&place, sequence, FlawKind::Moved { from: sequence + 1 });
        }

        let place = five();
        let cut = format!("DELETE FROM record WHERE sequence >= {sequence}");
        tamper(&place, |db| db.execute_batch(&cut).unwrap());
        match place.verify() {
            Err(AuditError::Flaw(flaw)) => {
                let kind = FlawKind::CutOff { records: 5 };
                assert_eq!(flaw, Flaw { sequence, kind });
            }
            other => panic!("{other:?}"),
        }

        let place = five();
        let copy = format!(
            "INSERT INTO record SELECT 6, 'copy', body, previous, hash, mac FROM record
             WHERE sequence = {sequence}"
        );
        tamper(&place, |db| db.execute_batch(&copy).unwrap());
        found(&place, 6, FlawKind::Moved { from: sequence });

        for other in sequence + 1..=5 {
            let place = five();
            let swap = format!(
                "UPDATE record SET sequence = 99 WHERE sequence = {sequence};
                 UPDATE record SET sequence = {sequence} WHERE sequence = {other};
                 UPDATE record SET sequence = {other} WHERE sequence = 99"
            );
            tamper(&place, |db| db.execute_batch(&swap).unwrap());
            found(&place, sequence, FlawKind::Moved { from: other });
        }
    }
}

#[test]
fn a_chain_that_is_computed_anew_is_found_at_the_first_record_that_differs() {
    for sequence in 1..=5_i64 {
        let place = five();
        tamper(&place, |db| {
            let read = |at: i64, column: &str| -> Vec<u8> {
                let sql = format!("SELECT {column} FROM record WHERE sequence = {at}");
                db.query_row(&sql, [], |row| row.get(0)).unwrap()
            };
            let mut previous = read(sequence, "previous");
            for at in sequence..=5 {
                let mut body = read(at, "body");
                if at == sequence {
                    let text = String::from_utf8(body).unwrap();
                    body = text.replace("/home/ada", "/home/eve").into_bytes();
                }
                let hash = Sha256::new()
                    .chain_update(&previous)
                    .chain_update(at.to_le_bytes())
                    .chain_update(&body)
                    .finalize();
                let update =
                    "UPDATE record SET body = ?1, previous = ?2, hash = ?3 WHERE sequence = ?4";
                db.execute(update, params![body, previous, hash.as_slice(), at])
                    .unwrap();
                previous = hash.to_vec();
            }
        });
        found(&place, sequence.unsigned_abs(), FlawKind::Changed);
        // And nothing is appended to it: its end is not the one that the head names.
        let entry = crate::support::entry(
            "after",
            crate::support::request(),
            safecommit_gate::audit::UsedCalibration::None,
        );
        let refused = place
            .open()
            .append(&entry, safecommit_gate::audit::UsedCalibration::None);
        let kind = FlawKind::OtherHead;
        match refused {
            Err(AuditError::Flaw(flaw)) => assert_eq!(flaw, Flaw { sequence: 5, kind }),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_older_head_and_any_change_of_it_are_found() {
    let place = Place::new();
    let mut log = place.create();
    let mut heads = vec![std::fs::read(&place.head).unwrap()];
    for number in 1..=4 {
        let used = safecommit_gate::audit::UsedCalibration::None;
        let name = format!("d-{number}");
        let entry = crate::support::entry(&name, crate::support::request(), used);
        log.append(&entry, used).unwrap();
        heads.push(std::fs::read(&place.head).unwrap());
    }
    for (records, head) in (0..).zip(&heads[..4]) {
        std::fs::write(&place.head, head).unwrap();
        found(&place, records + 1, FlawKind::AfterHead { records });
    }
    let head = &heads[4];
    for at in 0..head.len() - 1 {
        let mut changed = head.clone();
        changed[at] ^= 1;
        std::fs::write(&place.head, changed).unwrap();
        match place.verify() {
            Err(AuditError::Head { .. }) => {}
            other => panic!("byte {at}: {other:?}"),
        }
    }
    std::fs::remove_file(&place.head).unwrap();
    assert!(matches!(place.verify(), Err(AuditError::Head { .. })));
    std::fs::write(&place.head, head).unwrap();
    assert_eq!(place.verify().unwrap(), 4);
    let other = safecommit_gate::audit::LogKey::from_bytes([1; 32]);
    assert!(matches!(
        place.reader().verify(&place.head, &other),
        Err(AuditError::Head { .. })
    ));
}

#[test]
fn calibrations_that_are_changed_removed_or_added_are_found() {
    let check = |sql: &str, expected: &dyn Fn(&AuditError) -> bool| {
        let place = five();
        tamper(&place, |db| db.execute_batch(sql).unwrap());
        let error = place.verify().unwrap_err();
        assert!(expected(&error), "{sql}: {error}");
    };
    // The first record under a calibration is the second, the next the third.
    let changed = |error: &AuditError| match error {
        AuditError::Flaw(flaw) => {
            flaw.sequence == 2 && matches!(flaw.kind, FlawKind::CalibrationChanged(_))
        }
        _ => false,
    };
    check(
        "UPDATE calibration SET body = CAST(body || x'20' AS BLOB)",
        &changed,
    );
    let removed = |error: &AuditError| match error {
        AuditError::Flaw(flaw) => {
            flaw.sequence == 2 && matches!(flaw.kind, FlawKind::CalibrationRemoved(_))
        }
        _ => false,
    };
    check("DELETE FROM calibration", &removed);
    check(
        "UPDATE calibration SET digest = CAST(digest || x'00' AS BLOB)",
        &removed,
    );
    let third = |error: &AuditError| matches!(error, AuditError::Flaw(flaw) if flaw.sequence == 3);
    check(
        "UPDATE calibration SET body = x'7b7d' WHERE CAST(body AS TEXT) LIKE '{\"by_stratum%'",
        &third,
    );
    let foreign = |error: &AuditError| matches!(error, AuditError::ForeignCalibration(_));
    check("INSERT INTO calibration VALUES (x'01', x'02')", &foreign);
}

#[test]
fn tables_that_are_not_as_created_are_found() {
    for sql in [
        "DROP TRIGGER record_stays",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM calibration; END",
        "ALTER TABLE record ADD COLUMN more TEXT",
        "PRAGMA user_version = 0",
    ] {
        let place = five();
        Connection::open(&place.path)
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        assert!(
            matches!(place.verify(), Err(AuditError::Schema(_))),
            "{sql}"
        );
    }
    // The triggers keep mistakes out.
    let place = five();
    let connection = Connection::open(&place.path).unwrap();
    for sql in [
        "DELETE FROM record",
        "UPDATE record SET mac = x''",
        "DELETE FROM calibration",
        "UPDATE calibration SET body = x''",
    ] {
        let error = connection.execute_batch(sql).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{sql}: {error}");
    }
}

/// Whoever changes a record has to remove the triggers first, and need not put them back.
#[test]
fn what_was_changed_is_named_before_the_triggers_that_are_gone() {
    for (change, expected) in [
        ("UPDATE record SET body = x'7b7d' WHERE sequence = 2", "2"),
        ("DELETE FROM record WHERE sequence = 3", "3"),
        ("DELETE FROM record WHERE sequence > 3", "4"),
        (
            "UPDATE record SET sequence = -sequence; UPDATE record SET sequence = 6 + sequence",
            "1",
        ),
    ] {
        let place = five();
        let connection = Connection::open(&place.path).unwrap();
        let drop = "DROP TRIGGER record_keeps; DROP TRIGGER record_stays;";
        connection
            .execute_batch(&format!("{drop} {change}"))
            .unwrap();
        assert!(AuditReader::open(&place.path).is_err());
        let reader = AuditReader::open_to_verify(&place.path).unwrap();
        let error = reader.verify(&place.head, &key()).unwrap_err();
        let named = error.to_string().contains(&format!("record {expected}"));
        assert!(
            matches!(error, AuditError::Flaw(_)) && named,
            "{change}: {error}"
        );
    }
    let place = five();
    let connection = Connection::open(&place.path).unwrap();
    connection
        .execute_batch("DROP TRIGGER record_stays")
        .unwrap();
    let reader = AuditReader::open_to_verify(&place.path).unwrap();
    let error = reader.verify(&place.head, &key()).unwrap_err();
    assert!(matches!(error, AuditError::Schema(_)), "{error}");
    // Other tables are no log at all.
    connection
        .execute_batch("ALTER TABLE record ADD COLUMN more TEXT")
        .unwrap();
    assert!(AuditReader::open_to_verify(&place.path).is_err());
}

/// Nothing is appended to a log whose calibrations or whose last record are not what they were.
#[test]
fn a_log_that_shows_damage_is_not_appended_to() {
    for change in [
        "UPDATE calibration SET body = x'7b7d'",
        "UPDATE record SET body = x'7b7d' WHERE sequence = 5",
        "UPDATE record SET hash = zeroblob(32) WHERE sequence = 5",
    ] {
        let place = five();
        tamper(&place, |connection| {
            connection.execute_batch(change).unwrap();
        });
        let error = AuditLog::open(&place.path, &place.head, key()).unwrap_err();
        assert!(matches!(error, AuditError::Corrupt(_)), "{change}: {error}");
    }
}

#[test]
fn a_flipped_byte_of_the_file_is_found_or_changes_no_record() {
    let place = five();
    let records = place.reader().records().unwrap();
    let connection = Connection::open(&place.path).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(connection);
    let whole = std::fs::read(&place.path).unwrap();
    let (mut found, mut harmless) = (0, 0);
    for at in (0..whole.len()).step_by(127) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&place.path, bytes).unwrap();
        if place.verify().is_err() {
            found += 1;
        } else {
            assert_eq!(place.reader().records().unwrap(), records, "byte {at}");
            harmless += 1;
        }
    }
    assert!(
        found > 50 && harmless > 0,
        "{found} found, {harmless} harmless"
    );
}
