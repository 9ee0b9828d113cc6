use std::time::Duration;

use super::*;
use crate::{Proposition, Source, ToolStatus};

const NO_WAIT: Duration = Duration::ZERO;

fn record(id: &str, entity: &str, value: &str) -> EvidenceRecord {
    let proposition = Proposition::new(entity, "kind", value).unwrap();
    let source = Source::tool("ls", ToolStatus::Succeeded).unwrap();
    let time = "2026-03-01T08:00:00.000000001Z".parse().unwrap();
    EvidenceRecord::new(id, proposition, source, time).unwrap()
}

fn numbered(count: usize) -> Vec<EvidenceRecord> {
    let ids = (0..count).map(|number| format!("e{number:03}"));
    ids.map(|id| record(&id, &format!("path/of/{id}"), "file"))
        .collect()
}

struct Database {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Database {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("evidence.db");
        Self {
            _folder: folder,
            path,
        }
    }

    fn open(&self) -> Result<EvidenceStore, EvidenceStoreError> {
        EvidenceStore::open(&self.path, NO_WAIT)
    }

    fn holding(records: &[EvidenceRecord]) -> Self {
        let database = Self::new();
        database.open().unwrap().append(records).unwrap();
        database
    }

    fn change(&self, statement: &str) {
        Connection::open(&self.path)
            .unwrap()
            .execute_batch(statement)
            .unwrap();
    }
}

#[test]
fn records_come_out_by_id_and_by_what_they_are_about() {
    let database = Database::new();
    let mut store = database.open().unwrap();
    let [late, early] = [record("b", "x", "link"), record("a", "x", "file")];
    let other = record("c", "y\0z", "file")
        .with_ancestors(["a", "b"])
        .unwrap();
    assert_eq!(store.append([&other, &late]).unwrap(), 2);
    assert_eq!(store.append([&early, &late]).unwrap(), 1);
    let all = [early.clone(), late.clone(), other.clone()];
    assert_eq!(store.all().unwrap(), all);
    assert_eq!(store.about_attribute("kind").unwrap(), all);
    assert_eq!(store.about_entity("x").unwrap(), all[..2]);
    assert_eq!(store.about("y\0z", "kind").unwrap(), [other]);
    assert!(store.about("y", "kind").unwrap().is_empty());
    assert_eq!(store.get("b").unwrap(), Some(late));
    assert_eq!(store.get("B").unwrap(), None);
    assert_eq!(store.with_ancestors(["c"]).unwrap().records(), all);
    assert_eq!(store.with_ancestors(["a"]).unwrap().records(), [early]);
    drop(store);
    assert_eq!(database.open().unwrap().check().unwrap(), 3);
}

#[test]
fn a_record_is_never_changed_and_a_batch_is_added_whole_or_not_at_all() {
    let database = Database::holding(&[record("a", "x", "file")]);
    let mut store = database.open().unwrap();
    let batch = [record("b", "x", "file"), record("a", "x", "link")];
    let error = store.append(&batch).unwrap_err().to_string();
    assert_eq!(
        error,
        "evidence `a` is there already, and says something else"
    );
    assert_eq!(store.all().unwrap(), [record("a", "x", "file")]);
    let twice = [record("b", "x", "file"), record("b", "x", "link")];
    assert!(matches!(store.append(&twice), Err(EvidenceStoreError::Changed(id)) if id == "b"));
    assert_eq!(store.get("b").unwrap(), None);
}

#[test]
fn what_is_missing_is_named() {
    let orphan = record("o", "x", "file").with_ancestors(["gone"]).unwrap();
    let store = Database::holding(&[orphan]).open().unwrap();
    let missing = store.with_ancestors(["o"]).unwrap_err().to_string();
    assert_eq!(
        missing,
        "evidence `o` is derived from `gone`, which is not there"
    );
    assert!(
        matches!(store.with_ancestors(["p"]), Err(EvidenceStoreError::Unknown(id)) if id == "p")
    );
    let both = [("l", "r"), ("r", "l")];
    let both = both.map(|(id, from)| record(id, "x", "file").with_ancestors([from]).unwrap());
    let store = Database::holding(&both).open().unwrap();
    let cycle = store.with_ancestors(["r"]).unwrap_err().to_string();
    assert_eq!(
        cycle,
        "evidence is derived from itself: `l` from `r` from `l`"
    );
}

#[test]
fn newer_and_foreign_databases_are_refused_and_left_as_they_are() {
    let database = Database::holding(&numbered(2));
    database.change("PRAGMA user_version = 2");
    let before = std::fs::read(&database.path).unwrap();
    let error = database.open().unwrap_err();
    assert!(
        matches!(
            error,
            EvidenceStoreError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(std::fs::read(&database.path).unwrap(), before);
    database.change("PRAGMA user_version = 1");
    assert_eq!(database.open().unwrap().all().unwrap(), numbered(2));

    let foreign = Database::new();
    foreign.change("CREATE TABLE other (value TEXT)");
    let before = std::fs::read(&foreign.path).unwrap();
    assert!(matches!(
        foreign.open(),
        Err(EvidenceStoreError::Foreign { .. })
    ));
    assert_eq!(std::fs::read(&foreign.path).unwrap(), before);
}

#[test]
fn tables_that_are_not_ours_are_damage() {
    for statement in [
        "CREATE TRIGGER lie AFTER INSERT ON evidence BEGIN DELETE FROM evidence; END",
        "DROP INDEX evidence_by_entity",
        "ALTER TABLE evidence ADD COLUMN more TEXT",
        "PRAGMA user_version = 0",
    ] {
        let database = Database::holding(&numbered(2));
        database.change(statement);
        let error = database.open().unwrap_err();
        assert!(
            matches!(error, EvidenceStoreError::Corrupt { .. }),
            "{statement}: {error}"
        );
    }
}

#[test]
fn rows_that_append_does_not_write_are_damage() {
    for (statement, says) in [
        (
            "UPDATE evidence SET record = replace(record, 'file', 'link')",
            "is not what was written",
        ),
        (
            "UPDATE evidence SET entity = 'other'",
            "stands under another name",
        ),
        (
            "UPDATE evidence SET id = 'x' WHERE id = 'e000'",
            "`x` stands under another name",
        ),
        ("UPDATE evidence SET digest = zeroblob(3)", "damaged"),
        (
            "UPDATE evidence SET entity = cast(x'ff' AS TEXT)",
            "damaged",
        ),
    ] {
        let database = Database::holding(&numbered(2));
        database.change(statement);
        let error = database.open().unwrap().all().unwrap_err();
        assert!(
            matches!(error, EvidenceStoreError::Corrupt { .. }),
            "{statement}: {error}"
        );
        assert!(error.to_string().contains(says), "{statement}: {error}");
    }
}

#[test]
fn a_flipped_byte_is_found_or_does_not_matter() {
    let records = numbered(8);
    let database = Database::holding(&records);
    let whole = std::fs::read(&database.path).unwrap();
    let mut found = 0;
    let places = (0..100).chain((100..whole.len()).step_by(17));
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&database.path, bytes).unwrap();
        let checked = database.open().and_then(|store| {
            store.check()?;
            store.all()
        });
        match checked {
            Ok(read) => assert_eq!(read, records, "byte {at}"),
            Err(_) => found += 1,
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn a_database_that_was_cut_or_is_none_is_damage() {
    let database = Database::holding(&numbered(8));
    let whole = std::fs::read(&database.path).unwrap();
    for length in [1, 99, 100, 512, 4096, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&database.path, &whole[..length]).unwrap();
        let checked = database.open().and_then(|store| store.check());
        let corrupt = matches!(checked, Err(EvidenceStoreError::Corrupt { .. }));
        assert!(corrupt, "{length} bytes: {checked:?}");
    }
    std::fs::write(
        &database.path,
        "a letter, and no database, though it is long enough to be one".repeat(9),
    )
    .unwrap();
    assert!(matches!(
        database.open(),
        Err(EvidenceStoreError::Corrupt { .. })
    ));
    // An empty file is a new database, as SQLite leaves one if it is killed at the right moment.
    std::fs::write(&database.path, "").unwrap();
    assert_eq!(database.open().unwrap().check().unwrap(), 0);
}

#[test]
fn a_locked_database_is_named_and_nothing_is_lost() {
    let database = Database::holding(&numbered(2));
    let other = Connection::open(&database.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut store = database.open().unwrap();
    let more = record("z", "x", "file");
    let error = store.append([&more]).unwrap_err();
    assert!(
        matches!(&error, EvidenceStoreError::Locked { path } if *path == database.path),
        "{error}"
    );
    assert_eq!(store.all().unwrap(), numbered(2));
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.append([&more]).unwrap(), 1);
}

#[test]
fn a_full_disk_is_an_error_that_loses_nothing() {
    let database = Database::holding(&numbered(2));
    let mut store = database.open().unwrap();
    let pages: i64 = store
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    store
        .connection
        .pragma_update_and_check(None, "max_page_count", pages + 1, |_| Ok(()))
        .unwrap();
    let large = record("large", &"x".repeat(crate::MAX_TEXT_BYTES), "file");
    let error = store.append([&large]).unwrap_err();
    assert!(error.to_string().contains("full"), "{error}");
    assert_eq!(
        (store.all().unwrap(), store.check().unwrap()),
        (numbered(2), 2)
    );
    store.append([&record("small", "x", "file")]).unwrap();
}

#[test]
fn many_writers_make_one_database_and_lose_nothing() {
    let database = Database::new();
    let records = numbered(120);
    std::thread::scope(|scope| {
        for part in records.chunks(30) {
            let path = &database.path;
            scope.spawn(move || {
                let mut store = EvidenceStore::open(path, Duration::from_secs(60)).unwrap();
                part.iter()
                    .for_each(|record| assert_eq!(store.append([record]).unwrap(), 1));
            });
        }
    });
    assert_eq!(database.open().unwrap().all().unwrap(), records);
}

#[test]
fn a_place_without_a_database_is_named() {
    let database = Database::new();
    let place = database.path.join("folder").join("evidence.db");
    let error = EvidenceStore::open(&place, NO_WAIT).unwrap_err();
    assert!(
        matches!(&error, EvidenceStoreError::File { path, .. } if *path == place),
        "{error}"
    );
    assert!(EvidenceStore::open(database.path.parent().unwrap(), NO_WAIT).is_err());
    assert!(EvidenceStore::open("", NO_WAIT).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_new_database_is_its_owners_alone_under_any_name() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"file:e.db?mode=memory"[..], b":memory:", b"\xff"] {
        let path = folder.path().join(std::ffi::OsStr::from_bytes(name));
        let mut store = EvidenceStore::open(&path, NO_WAIT).unwrap();
        store.append(&numbered(1)).unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{entry:?}");
        }
        drop(store);
        assert_eq!(
            EvidenceStore::open(&path, NO_WAIT).unwrap().all().unwrap(),
            numbered(1)
        );
    }
}
