//! Logs that cannot be used, entries that cannot be recorded: an error that says what, and nothing lost.

use std::time::Duration;

use rusqlite::Connection;
use safecommit_gate::audit::{AuditError, AuditLog, AuditReader, UsedCalibration};

use crate::support::{Place, by_stratum, calibration, entry, five, key, request};

const NONE: UsedCalibration<'_> = UsedCalibration::None;

#[test]
fn a_locked_log_is_an_error_after_the_time_to_wait_and_works_again_afterwards() {
    let place = five();
    let mut log = place.open().with_wait(Duration::from_millis(20)).unwrap();
    let holder = Connection::open(&place.path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let new = entry("new", request(), NONE);
    assert!(matches!(log.append(&new, NONE), Err(AuditError::Locked)));
    assert_eq!(place.verify().unwrap(), 5);
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(log.append(&new, NONE).unwrap().sequence, 6);
    assert_eq!(place.verify().unwrap(), 6);
}

#[test]
fn files_that_are_no_log_or_a_newer_one_are_named_and_left_alone() {
    let place = Place::new();
    let open = || AuditLog::open(&place.path, &place.head, key()).unwrap_err();
    assert!(matches!(open(), AuditError::CannotOpen(path) if path == place.path));
    for content in [
        &b"no database, only a text that is long enough to be looked at"[..],
        b"",
    ] {
        std::fs::write(&place.path, content).unwrap();
        assert!(matches!(open(), AuditError::NotAnAuditLog(_)), "{}", open());
        assert!(matches!(
            AuditReader::open(&place.path),
            Err(AuditError::NotAnAuditLog(_))
        ));
        assert_eq!(std::fs::read(&place.path).unwrap(), content);
    }
    std::fs::remove_file(&place.path).unwrap();
    Connection::open(&place.path)
        .unwrap()
        .execute_batch("CREATE TABLE x (y)")
        .unwrap();
    assert!(matches!(open(), AuditError::NotAnAuditLog(_)));
    let create = || AuditLog::create(&place.path, &place.head, key()).unwrap_err();
    assert!(matches!(create(), AuditError::Exists(path) if path == place.path));

    let place = five();
    Connection::open(&place.path)
        .unwrap()
        .execute_batch("PRAGMA user_version=2")
        .unwrap();
    let error = AuditLog::open(&place.path, &place.head, key()).unwrap_err();
    assert!(
        matches!(error, AuditError::Newer { found: 2, known: 1 }),
        "{error}"
    );
    Connection::open(&place.path)
        .unwrap()
        .execute_batch("PRAGMA user_version=1")
        .unwrap();
    assert_eq!(place.verify().unwrap(), 5);
}

#[test]
fn a_log_that_was_cut_in_half_is_corrupt() {
    let place = five();
    let connection = Connection::open(&place.path).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(connection);
    let whole = std::fs::read(&place.path).unwrap();
    std::fs::write(&place.path, &whole[..whole.len() / 2]).unwrap();
    let error = place.verify().unwrap_err();
    assert!(matches!(error, AuditError::Corrupt(_)), "{error:?}");
    std::fs::write(&place.path, whole).unwrap();
    assert_eq!(place.verify().unwrap(), 5);
}

#[test]
fn a_log_is_created_once_for_its_owner_alone_and_an_interrupted_creation_is_completed() {
    let place = five();
    for head in [&place.head, &place.directory.path().join("other")] {
        let error = AuditLog::create(&place.path, head, key()).unwrap_err();
        assert!(matches!(error, AuditError::Exists(_)), "{error}");
    }
    assert_eq!(place.verify().unwrap(), 5);

    let place = Place::new();
    drop(place.create());
    std::fs::remove_file(&place.head).unwrap(); // as if killed before the head was written
    drop(place.create());
    std::fs::remove_file(&place.head).unwrap();
    std::fs::write(&place.path, "").unwrap(); // as if killed before the tables were made
    drop(place.create());
    assert_eq!(place.verify().unwrap(), 0);
    #[cfg(unix)]
    for path in [&place.path, &place.head] {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(path).unwrap().permissions().mode() & 0o7777,
            0o600
        );
    }
}

#[test]
fn without_a_head_that_can_be_written_nothing_is_recorded() {
    let place = five();
    let mut log = place.open();
    // A directory stands where the new head is to be prepared.
    let new = place.directory.path().join("log.head.new");
    std::fs::create_dir(&new).unwrap();
    let more = entry("more", request(), NONE);
    assert!(matches!(
        log.append(&more, NONE),
        Err(AuditError::Head { .. })
    ));
    assert_eq!(place.verify().unwrap(), 5);
    std::fs::remove_dir(&new).unwrap();
    // A file left over there by a process that was killed is no hindrance.
    std::fs::write(&new, "half").unwrap();
    assert_eq!(log.append(&more, NONE).unwrap().sequence, 6);
    assert_eq!(place.verify().unwrap(), 6);
}

#[test]
fn a_head_of_another_key_is_refused_before_anything_is_written() {
    let place = five();
    let other = safecommit_gate::audit::LogKey::from_bytes([9; 32]);
    let error = AuditLog::open(&place.path, &place.head, other).unwrap_err();
    assert!(error.to_string().contains("another key"), "{error}");
}

#[test]
fn what_cannot_be_replayed_is_not_recorded() {
    let place = five();
    let mut log = place.open();
    let (one, many) = (calibration(), by_stratum());
    let refused = |log: &mut AuditLog, entry: &_, used| match log.append(entry, used) {
        Err(AuditError::NotReproducible { decision, problem }) => {
            assert_eq!(decision, "new");
            problem
        }
        other => panic!("{other:?}"),
    };
    let good = entry("new", request(), UsedCalibration::One(&one));
    assert_eq!(refused(&mut log, &good, NONE), "another decision results");
    let mut bad = good.clone();
    bad.record.subject = "00".repeat(32);
    assert_eq!(
        refused(&mut log, &bad, UsedCalibration::One(&one)),
        "the subject differs"
    );
    bad = good.clone();
    bad.request.worlds[0].score = 0.2;
    assert_eq!(
        refused(&mut log, &bad, UsedCalibration::One(&one)),
        "the subject differs"
    );
    bad = good.clone();
    bad.request.worlds[0].score = f64::NAN;
    let problem = refused(&mut log, &bad, UsedCalibration::One(&one));
    assert!(problem.starts_with("worlds[0].score"), "{problem}");
    assert_eq!(
        refused(&mut log, &good, UsedCalibration::ByStratum(&many)),
        "the calibration differs"
    );
    assert_eq!(place.verify().unwrap(), 5);

    log.append(&good, UsedCalibration::One(&one)).unwrap();
    let again = log.append(&good, UsedCalibration::One(&one));
    assert!(matches!(again, Err(AuditError::DecisionExists(name)) if name == "new"));
    let unnamed = entry("", request(), NONE);
    assert!(matches!(
        log.append(&unnamed, NONE),
        Err(AuditError::NoName)
    ));
    assert_eq!(place.verify().unwrap(), 6);
}
