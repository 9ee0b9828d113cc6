//! Several processes, and processes that are killed.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use safecommit_gate::audit::{AuditLog, UsedCalibration};

use crate::support::{Place, calibration, entry, key, request};

/// Set in the processes that a test starts of itself.
const ROLE: &str = "AUDIT_TEST_APPENDS_TO";

/// Starts the test of this name in another process, which appends `records` records.
fn start(test: &str, place: &Place, writer: usize, records: usize) -> Child {
    let role = format!("{writer}:{records}:{}", place.directory.path().display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(ROLE, role)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// In a process that was started by [`start`]: appends, and notes what was appended.
fn append_if_started() -> bool {
    let Ok(role) = std::env::var(ROLE) else {
        return false;
    };
    let mut parts = role.splitn(3, ':');
    let (writer, records, directory) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        Path::new(parts.next().unwrap()),
    );
    let (path, head) = (directory.join("log.db"), directory.join("log.head"));
    let mut log = AuditLog::open(&path, &head, key()).unwrap();
    let notes = directory.join(format!("notes-{writer}"));
    let mut notes = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(notes)
        .unwrap();
    let calibration = calibration();
    for number in 0..records.parse::<usize>().unwrap() {
        let used = UsedCalibration::One(&calibration);
        let name = format!("{writer}-{number}");
        log.append(&entry(&name, request(), used), used).unwrap();
        writeln!(notes, "{name}").unwrap();
    }
    true
}

fn noted(place: &Place, writer: usize) -> BTreeSet<String> {
    let notes = place.directory.path().join(format!("notes-{writer}"));
    let text = std::fs::read_to_string(notes).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn processes_that_append_at_once_take_turns() {
    if append_if_started() {
        return;
    }
    let place = Place::new();
    drop(place.create());
    let test = "processes::processes_that_append_at_once_take_turns";
    let children: Vec<Child> = (0..3)
        .map(|writer| start(test, &place, writer, 20))
        .collect();
    // A reader meanwhile sees a log that verifies, however long it is.
    let mut seen = 0;
    while seen < 20 {
        let now = place.verify().unwrap();
        assert!(now >= seen);
        seen = now;
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(place.verify().unwrap(), 60);
    let expected: BTreeSet<String> = (0..3)
        .flat_map(|writer| (0..20).map(move |number| format!("{writer}-{number}")))
        .collect();
    let records = place.reader().records().unwrap();
    let names: BTreeSet<String> = records
        .into_iter()
        .map(|record| record.entry.decision)
        .collect();
    assert_eq!(names, expected);
}

#[test]
fn connections_of_several_threads_take_turns() {
    let place = Place::new();
    drop(place.create());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let mut log = place.open();
                for number in 0..10 {
                    let used = UsedCalibration::None;
                    let name = format!("{writer}-{number}");
                    log.append(&entry(&name, request(), used), used).unwrap();
                }
            });
        }
    });
    assert_eq!(place.verify().unwrap(), 40);
    assert!(place.reader().replay().unwrap().differing.is_empty());
}

#[test]
fn a_killed_process_leaves_a_log_that_verifies_with_all_that_was_acknowledged() {
    if append_if_started() {
        return;
    }
    let test =
        "processes::a_killed_process_leaves_a_log_that_verifies_with_all_that_was_acknowledged";
    let place = Place::new();
    drop(place.create());
    let (mut killed, mut recorded) = (0_u64, 0);
    for round in 0..40_usize {
        let mut child = start(test, &place, round, usize::MAX);
        // Every other one is killed after its second record, the rest at any moment since the start.
        while round % 2 == 0 && noted(&place, round).len() < 2 {
            assert_eq!(
                child.try_wait().unwrap(),
                None,
                "the process ended by itself"
            );
            std::thread::sleep(Duration::from_micros(100));
        }
        let moment = (round * 7_919) % 23_000;
        std::thread::sleep(Duration::from_micros(moment as u64));
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
        let records = place.verify().unwrap();
        assert!(records >= recorded);
        recorded = records;
        let reader = place.reader();
        for name in noted(&place, round) {
            assert!(
                reader.record(&name).unwrap().is_some(),
                "{name} was acknowledged"
            );
        }
    }
    assert_eq!(killed, 40);
    assert!(
        recorded >= 40,
        "only {recorded} records were written before the kills"
    );
    // The next process goes on where the last one was killed.
    let used = UsedCalibration::None;
    let appended = place
        .open()
        .append(&entry("after", request(), used), used)
        .unwrap();
    assert_eq!(appended.sequence, recorded + 1);
    assert_eq!(place.verify().unwrap(), recorded + 1);
    assert!(place.reader().replay().unwrap().differing.is_empty());
}
