//! Permanent deletions, also by a process that is killed.

use std::path::Path;
use std::time::Duration;

use safecommit_gate::{Executor, Resolution, Workspace};

use crate::killed::{Running, places, say_ready};
use crate::support::{Scene, act, overwrite, remove, tree, write};

const FOLDERS: u64 = 2000;

#[test]
fn what_is_deleted_for_good_is_nowhere_and_nothing_else_is_touched() {
    for scene in [Scene::new(), Scene::across_file_systems()] {
        scene.write("folder/deeper/below", "below");
        scene.write("file", "old");
        std::os::unix::fs::symlink(
            scene.base.path().join("outside"),
            scene.path("folder/deeper/link"),
        )
        .unwrap();
        let before = scene.outside();
        let mut executor = scene.open();
        assert!(remove(&mut executor, "folder").unwrap().permanent);
        assert!(!scene.path("folder").exists());
        assert_eq!(tree(&scene.state.join("trash")).len(), 1);
        assert_eq!(scene.outside(), before);
        let expect = "entry 1 cannot be undone: it was a permanent deletion";
        assert_eq!(executor.restore(1).unwrap_err().to_string(), expect);
        // Only deletions are for good: what is overwritten, and what undoing takes away, is kept.
        let receipt = act(&mut executor, overwrite("file", "new")).unwrap();
        assert!(!receipt.permanent);
        executor.restore(receipt.entry).unwrap();
        let made = act(&mut executor, write("made", "made")).unwrap().entry;
        let undone = executor.restore(made).unwrap();
        executor.restore(undone.entry).unwrap();
        assert!(scene.path("made").exists());
        drop(executor);
        let mut executor = scene.open();
        assert_eq!(executor.restore(1).unwrap_err().to_string(), expect);
        assert_eq!(executor.entries()[0].effect, "remove");
    }
}

/// The files of a directory, by name.
fn files_of(folder: u64) -> impl Iterator<Item = (String, String)> {
    (0..50).map(move |file| (format!("file-{file}"), format!("{file} of {folder}")))
}

fn remove_without_end(workspace: &str, state: &str) -> ! {
    let mut executor = Executor::open(Workspace::open(workspace).unwrap(), state).unwrap();
    say_ready();
    for folder in 1..FOLDERS {
        let path = Path::new(workspace).join(format!("folder-{folder}"));
        std::fs::create_dir(&path).unwrap();
        for (name, content) in files_of(folder) {
            std::fs::write(path.join(name), content).unwrap();
        }
        println!("removing {folder}");
        remove(&mut executor, &format!("folder-{folder}")).unwrap();
    }
    panic!("there is no end");
}

#[test]
fn killed_at_any_moment_it_is_whole_or_gone_for_good() {
    if let Some([workspace, state, _]) = places() {
        remove_without_end(&workspace, &state);
    }
    let (mut whole, mut interrupted) = (0, 0);
    for round in 0..60_u64 {
        let scene = Scene::new();
        let test = "permanent::killed_at_any_moment_it_is_whole_or_gone_for_good";
        let mut running = Running::start(test, &scene, round);
        let mut last = 0;
        for _ in 0..=round % 3 {
            last = running.next("removing");
        }
        let slot = |entry: u64| scene.state.join(format!("trash/{entry}"));
        // Every other one is killed once it is in the trash, so that the next start has to go on.
        while round % 2 == 0 && !slot(last).exists() && slot_is_to_come(&scene, last) {
            std::hint::spin_loop();
        }
        running.kill_after(Duration::from_micros(round * 15));

        let left = Executor::read_entries(&scene.state).unwrap();
        let left = left.iter().filter(|entry| slot(entry.entry).exists());
        interrupted += left.count();
        let mut executor = scene.open();
        let mut done = 0;
        for entry in executor.entries() {
            let folder = scene.path(&entry.path);
            let number = entry.entry;
            assert!(
                !slot(number).join("item").exists(),
                "round {round}, entry {number}"
            );
            match entry.resolution {
                Some(Resolution::Done) => {
                    done += 1;
                    assert!(!folder.exists() && entry.emptied && !slot(number).exists());
                    executor.restore(number).unwrap_err();
                }
                Some(Resolution::RolledBack) => {
                    whole += 1;
                    for (name, content) in files_of(number) {
                        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), content);
                    }
                }
                other => panic!("round {round}, entry {number}: {other:?}"),
            }
        }
        assert!(done + 1 >= last, "round {round}: {done} of {last}");
    }
    println!("{whole} times whole, {interrupted} times interrupted");
    assert!(interrupted > 5, "the moments were not spread");
}

/// Whether the journal has not said yet that the slot is gone.
fn slot_is_to_come(scene: &Scene, entry: u64) -> bool {
    let entries = Executor::read_entries(&scene.state).unwrap();
    entries
        .iter()
        .all(|known| known.entry != entry || !known.emptied)
}
