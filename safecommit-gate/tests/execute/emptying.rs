//! What is removed from the trash for good, and the journal as others read it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use safecommit_gate::{ExecuteError, Executor, Resolution, Workspace};

use crate::killed::{Running, places, say_ready};
use crate::own_mounts;
use crate::support::{Scene, act, delete, overwrite, rename, tree, write};

const INNER: &str = "SAFECOMMIT_TEST_EMPTYING";

fn scenes() -> [Scene; 2] {
    [Scene::new(), Scene::across_file_systems()]
}

fn expect_emptied(executor: &mut Executor, entry: u64) {
    assert_eq!(
        executor.restore(entry).unwrap_err().to_string(),
        format!("entry {entry} cannot be undone: its trash was emptied")
    );
}

#[test]
fn what_is_emptied_is_gone_and_everything_else_comes_back() {
    for scene in scenes() {
        scene.write("file", "old");
        scene.write("folder/deeper/below", "below");
        scene.write("kept", "kept");
        let before = scene.tree();
        let mut executor = scene.open();
        act(&mut executor, delete("folder")).unwrap();
        act(&mut executor, overwrite("file", "new")).unwrap();
        act(&mut executor, delete("kept")).unwrap();
        act(&mut executor, write("made", "made")).unwrap();
        act(&mut executor, rename("made", "moved")).unwrap();
        // Nothing happens for any if one is not there.
        let refused = executor.empty_trash([1, 9]).unwrap_err();
        assert_eq!(refused.to_string(), "the journal has no entry 9");
        assert!(matches!(refused, ExecuteError::NoSuchEntry(9)));
        assert!(scene.state.join("trash/1/item").exists());
        // What was made or moved keeps nothing there.
        assert_eq!(executor.empty_trash([5, 2, 4, 1, 1]).unwrap(), [1, 2]);
        assert!(executor.empty_trash([1, 2, 4]).unwrap().is_empty());
        drop(executor);
        let mut executor = scene.open();
        let emptied: Vec<bool> = executor
            .entries()
            .iter()
            .map(|entry| entry.emptied)
            .collect();
        assert_eq!(emptied, [true, true, false, false, false]);
        let slots = tree(&scene.state.join("trash"));
        assert!(!slots.contains_key(Path::new("1")) && !slots.contains_key(Path::new("2")));
        let (now, journal) = (
            scene.tree(),
            std::fs::read(scene.state.join("journal")).unwrap(),
        );
        for entry in [1, 2] {
            expect_emptied(&mut executor, entry);
        }
        assert_eq!(scene.tree(), now);
        assert_eq!(std::fs::read(scene.state.join("journal")).unwrap(), journal);
        for entry in [5, 4, 3] {
            executor.restore(entry).unwrap();
        }
        let mut expected = before;
        expected.retain(|path, _| !path.starts_with("folder"));
        expected.get_mut(Path::new("file")).unwrap().2 = b"new".to_vec();
        assert_eq!(scene.tree(), expected);
        // What the undoing of entry 4 took away can be emptied too; what entry 3 took is back already.
        assert_eq!(executor.empty_trash([3, 7]).unwrap(), [7]);
        assert!(!executor.entries()[2].emptied);
        expect_emptied(&mut executor, 7);
        // Entry 8 put back what entry 3 had taken, and that can be taken again and again.
        executor.restore(8).unwrap();
        executor.restore(3).unwrap();
        assert_eq!(scene.tree(), expected);
    }
}

#[test]
fn links_in_the_trash_are_removed_and_not_followed() {
    for scene in scenes() {
        let outside = scene.base.path().join("outside");
        scene.write("folder/file", "old");
        for (at, to) in [
            ("to-file", outside.join("secret")),
            ("to-directory", outside.clone()),
        ] {
            symlink(to, scene.path("folder").join(at)).unwrap();
        }
        symlink(&outside, scene.path("link")).unwrap();
        let before = scene.outside();
        let mut executor = scene.open();
        for path in ["folder", "link"] {
            act(&mut executor, delete(path)).unwrap();
        }
        // A directory that may not be read or changed is removed all the same.
        let item = scene.state.join("trash/1/item");
        std::fs::set_permissions(&item, std::fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(executor.empty_trash([1, 2]).unwrap(), [1, 2]);
        assert!(tree(&scene.state.join("trash")).len() == 1);
        assert_eq!(scene.outside(), before);
        // A link in the place of a slot leads nowhere either.
        scene.write("file", "old");
        act(&mut executor, delete("file")).unwrap();
        let slot = scene.state.join("trash/3");
        std::fs::remove_dir_all(&slot).unwrap();
        std::fs::create_dir(outside.join("item")).unwrap();
        symlink(&outside, &slot).unwrap();
        let before = scene.outside();
        let refused = executor.empty_trash([3]).unwrap_err();
        assert!(matches!(refused, ExecuteError::File(_)), "{refused}");
        assert_eq!(scene.outside(), before);
    }
}

/// The trash of one entry has a mount in it.
fn mounted_in_the_trash() {
    let scene = Scene::new();
    scene.write("folder/inner/file", "old");
    let mut executor = scene.open();
    act(&mut executor, delete("folder")).unwrap();
    let inner = scene.state.join("trash/1/item/inner");
    let mut mount = Command::new("mount");
    mount
        .arg("--bind")
        .arg(scene.base.path().join("outside"))
        .arg(&inner);
    assert!(mount.status().unwrap().success());
    let before = scene.outside();
    executor.empty_trash([1]).unwrap_err();
    // Tried again at the next start, which goes on all the same.
    drop(executor);
    let mut executor = scene.open();
    assert_eq!(scene.outside(), before);
    assert!(inner.join("secret").exists());
    expect_emptied(&mut executor, 1);
    executor.empty_trash([1]).unwrap_err();
    assert!(
        Command::new("umount")
            .arg(&inner)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(executor.empty_trash([1]).unwrap(), [1]);
    assert!(!scene.state.join("trash/1").exists());
    assert_eq!(scene.outside(), before);
}

#[test]
fn what_is_mounted_in_the_trash_stays() {
    if std::env::var_os(INNER).is_some() {
        return mounted_in_the_trash();
    }
    own_mounts::run_again("emptying::what_is_mounted_in_the_trash_stays", INNER, "1");
}

/// The files of a directory that is deleted as this entry, by name.
fn files_of(entry: u64) -> impl Iterator<Item = (String, String)> {
    (0..100).map(move |file| (format!("file-{file}"), format!("{file} of entry {entry}")))
}

/// Deletes directories and empties the trash of every other one, without end.
fn empty_without_end(workspace: &str, state: &str) -> ! {
    let mut executor = Executor::open(Workspace::open(workspace).unwrap(), state).unwrap();
    say_ready();
    for entry in 1.. {
        let folder = Path::new(workspace).join(format!("folder-{entry}"));
        std::fs::create_dir(&folder).unwrap();
        for (name, content) in files_of(entry) {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let path = format!("folder-{entry}");
        assert_eq!(act(&mut executor, delete(&path)).unwrap().entry, entry);
        if entry % 2 == 0 {
            println!("emptying {entry}");
            assert_eq!(executor.empty_trash([entry]).unwrap(), [entry]);
        }
    }
    panic!("there is no end");
}

#[test]
fn killed_while_emptying_the_next_start_ends_it() {
    if let Some([workspace, state, _]) = places() {
        empty_without_end(&workspace, &state);
    }
    let mut interrupted = 0;
    for round in 0..30_u64 {
        let scene = Scene::new();
        let test = "emptying::killed_while_emptying_the_next_start_ends_it";
        let mut running = Running::start(test, &scene, round);
        let mut last = 0;
        for _ in 0..=round % 3 {
            last = running.next("emptying");
        }
        // Every other one is killed once the journal says so, which is before anything is removed.
        let says_so = || {
            let entries = Executor::read_entries(&scene.state).unwrap();
            entries
                .iter()
                .any(|entry| entry.entry == last && entry.emptied)
        };
        while round % 2 == 0 && !says_so() {
            std::hint::spin_loop();
        }
        running.kill_after(Duration::from_micros(round * 20));

        let slot = |entry: u64| scene.state.join(format!("trash/{entry}"));
        let found = Executor::read_entries(&scene.state).unwrap();
        let left =
            |entry: &&safecommit_gate::JournalEntry| entry.emptied && slot(entry.entry).exists();
        interrupted += found.iter().filter(left).count();
        let mut executor = scene.open();
        for before in found {
            let entry = before.entry;
            if before.resolution == Some(Resolution::Done) && before.emptied {
                assert!(!slot(entry).exists(), "round {round}, entry {entry}");
                expect_emptied(&mut executor, entry);
            } else if executor.entries()[usize::try_from(entry - 1).unwrap()].resolution
                == Some(Resolution::Done)
            {
                // Every bit of it comes back.
                executor.restore(entry).unwrap();
                for (name, content) in files_of(entry) {
                    let path = scene.path(&format!("folder-{entry}")).join(name);
                    assert_eq!(std::fs::read_to_string(path).unwrap(), content);
                }
            }
        }
    }
    println!("interrupted {interrupted} times");
    assert!(
        interrupted > 5,
        "{interrupted}: the moments were not spread"
    );
}

#[test]
fn the_journal_is_read_beside_an_open_executor_and_changes_nothing() {
    let scene = Scene::new();
    let missing = Executor::read_entries(&scene.state).unwrap_err();
    assert!(matches!(missing, ExecuteError::File(_)), "{missing}");
    scene.write("file", "old");
    let mut executor = scene.open();
    assert!(Executor::read_entries(&scene.state).unwrap().is_empty());
    act(&mut executor, delete("file")).unwrap();
    act(&mut executor, write("made", "new")).unwrap();
    let entries = Executor::read_entries(&scene.state).unwrap();
    assert_eq!(entries, executor.entries());
    assert_eq!(entries.len(), 2);
    drop(executor);

    // A last line that is not whole leaves its entry begun; neither line nor entry is touched.
    let journal = scene.state.join("journal");
    let mut text = std::fs::read(&journal).unwrap();
    text.truncate(text.len() - 1);
    std::fs::write(&journal, &text).unwrap();
    let state = tree(&scene.state);
    let entries = Executor::read_entries(&scene.state).unwrap();
    assert_eq!(entries[0].resolution, Some(Resolution::Done));
    assert_eq!((entries.len(), entries[1].resolution), (2, None));
    assert_eq!(tree(&scene.state), state);

    let mut damaged = text;
    damaged[80] ^= 1;
    std::fs::write(&journal, damaged).unwrap();
    let refused = Executor::read_entries(&scene.state).unwrap_err();
    assert!(
        matches!(refused, ExecuteError::Journal { line: 1, .. }),
        "{refused}"
    );
    std::fs::remove_file(&journal).unwrap();
    assert!(Executor::read_entries(&scene.state).unwrap().is_empty());
    assert!(!journal.exists());
    symlink(scene.base.path().join("outside/secret"), &journal).unwrap();
    Executor::read_entries(&scene.state).unwrap_err();
    std::fs::set_permissions(&scene.state, std::fs::Permissions::from_mode(0o750)).unwrap();
    let refused = Executor::read_entries(&scene.state).unwrap_err();
    assert!(
        matches!(refused, ExecuteError::StateExposed(_)),
        "{refused}"
    );
}
