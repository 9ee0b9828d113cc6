//! `audit` on logs that were tampered with, or cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rusqlite::Connection;

use crate::gate::Gate;
use crate::gate_files::{delete, one};

const LOG: &str = "gate/state/audit.db";
const HEAD: &str = "gate/state/audit.head";
const KEY: &str = "gate/state/audit.key";

fn five() -> Gate {
    Gate::with(&["d-1", "d-2", "d-3", "d-4", "d-5"])
}

#[track_caller]
fn fails(gate: &Gate, arguments: &str, expect: &str) {
    let run = gate.run(arguments);
    let log = gate.path(LOG).display().to_string();
    run.fails(1, &format!("{log}: {expect}"));
}

#[test]
fn the_first_record_that_is_not_as_written_is_named() {
    for (change, expect) in [
        (
            "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), 'files-1', 'files-2') AS BLOB) WHERE sequence = 3",
            "record 3 was changed",
        ),
        (
            "DELETE FROM record WHERE sequence = 2",
            "record 2 was removed",
        ),
        (
            "DELETE FROM record WHERE sequence > 3",
            "record 4 and what followed was cut off, there were 5 records",
        ),
        (
            "UPDATE record SET sequence = 9 WHERE sequence = 2; \
             UPDATE record SET sequence = 2 WHERE sequence = 4; \
             UPDATE record SET sequence = 4 WHERE sequence = 9",
            "record 2 is not there, in its place stands record 4",
        ),
        (
            "DELETE FROM record",
            "record 1 and what followed was cut off, there were 5 records",
        ),
    ] {
        let gate = five();
        gate.tamper(change);
        fails(&gate, "audit verify", expect);
        fails(&gate, "audit export", expect);
    }
}

#[test]
fn a_decision_that_comes_out_otherwise_is_named() {
    let gate = five();
    gate.tamper(
        "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), '\"threshold\":null', \
         '\"threshold\":0.5') AS BLOB) \
         WHERE sequence IN (2, 5)",
    );
    let run = gate.run("audit replay");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(
        run.stdout,
        "record 2, `d-2`: the threshold differs\nrecord 5, `d-5`: the threshold differs\n"
    );
    let log = gate.path(LOG).display().to_string();
    let error = format!("error: {log}: 2 of 5 decisions come out otherwise\n");
    assert_eq!(run.stderr, error);
}

#[test]
fn another_key_or_head_is_told_from_damage() {
    let gate = five();
    let other = Gate::new();
    let head = fs::read(gate.path(HEAD)).unwrap();
    let key = fs::read(gate.path(KEY)).unwrap();
    let shown = gate.path(HEAD).display().to_string();
    let changed =
        format!("the head `{shown}` cannot be used: it was changed, or written with another key");
    fs::copy(other.path(KEY), gate.path(KEY)).unwrap();
    fails(&gate, "audit verify", &changed);
    fs::write(gate.path(KEY), key).unwrap();
    fs::copy(other.path(HEAD), gate.path(HEAD)).unwrap();
    fails(&gate, "audit verify", &changed);
    fs::remove_file(gate.path(HEAD)).unwrap();
    let run = gate.run("audit verify");
    assert!(
        run.stderr
            .contains(&format!("the head `{shown}` cannot be used: No such")),
        "{run:?}"
    );
    fs::write(gate.path(HEAD), head).unwrap();
    gate.run("audit verify").prints(0);

    let key = gate.path(KEY);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    gate.run("audit verify").fails(
        1,
        &format!(
            "the key `{}` has mode 0644, only its owner may read it: 0600",
            key.display()
        ),
    );
    // What needs no key works without it.
    fs::remove_file(&key).unwrap();
    gate.run("audit replay").prints(0);
    gate.run("audit show d-1").prints(0);
}

#[test]
fn a_log_that_cannot_be_used_is_named() {
    let gate = five();
    let log = gate.path(LOG);
    let connection = Connection::open(&log).unwrap();
    connection.execute_batch("PRAGMA user_version=2").unwrap();
    for command in ["verify", "show", "replay", "export"] {
        let newer = "the audit log has format 2, this program knows formats up to 1";
        fails(&gate, &format!("audit {command}"), newer);
    }
    connection.execute_batch("PRAGMA user_version=1").unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(connection);
    gate.run("audit verify").prints(0);

    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    let run = gate.run("audit verify");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("the audit log is corrupt: "), "{run:?}");
    fs::write(
        &log,
        "this is a text and no database, long enough to be looked at",
    )
    .unwrap();
    // The file is named once.
    let foreign = format!("`{}` is no audit log", log.display());
    gate.run("audit show").fails(1, &foreign);
    fs::remove_file(&log).unwrap();
    let missing = format!(
        "the audit log `{}` cannot be opened: it is missing, or access is denied",
        log.display()
    );
    gate.run("audit show").fails(1, &missing);
    gate.0
        .write("request.json", one("d-9", delete("a")).to_string());
    gate.run("gate request.json").fails(1, &missing);
    fs::create_dir(&log).unwrap();
    gate.run("audit show").fails(1, &foreign);
}

#[test]
fn a_log_that_another_process_keeps_to_itself_is_locked() {
    let gate = five();
    let holder = Connection::open(gate.path(LOG)).unwrap();
    holder
        .execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")
        .unwrap();
    fails(
        &gate,
        "audit replay",
        "the audit log is locked by another process",
    );
    drop(holder);
    gate.run("audit replay").prints(0);
}
