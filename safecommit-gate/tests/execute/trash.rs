//! What the trash holds stays there, whatever becomes of the journal.

use safecommit_gate::ExecuteError;

use crate::support::{Scene, act, delete, overwrite, tree, write};

fn scenes() -> [Scene; 2] {
    [Scene::new(), Scene::across_file_systems()]
}

#[test]
fn without_its_journal_the_trash_is_kept() {
    for scene in scenes() {
        scene.write("first", "one");
        scene.write("second", "two");
        let mut executor = scene.open();
        act(&mut executor, delete("first")).unwrap();
        act(&mut executor, write("made", "")).unwrap();
        drop(executor);
        let trash = scene.state.join("trash");
        let before = tree(&trash.join("1"));
        std::fs::remove_file(scene.state.join("journal")).unwrap();
        let mut executor = scene.open();
        for action in [delete("second"), overwrite("made", "new")] {
            let entry = act(&mut executor, action).unwrap().entry;
            assert!(entry > 1, "{entry}");
        }
        assert_eq!(tree(&trash.join("1")), before);
        let refused = executor.restore(1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "entry 1 cannot be undone: there is none"
        );
        for entry in executor.entries().iter().rev() {
            executor.restore(entry.entry).unwrap();
        }
        assert_eq!(std::fs::read(scene.path("second")).unwrap(), b"two");
        assert_eq!(std::fs::read(scene.path("made")).unwrap(), b"");
        assert_eq!(tree(&trash.join("1")), before);
    }
}

#[test]
fn a_slot_that_an_entry_did_not_make_is_not_used() {
    for scene in scenes() {
        scene.write("file", "old");
        let mut executor = scene.open();
        let slot = scene.state.join("trash/1");
        std::fs::create_dir(&slot).unwrap();
        std::fs::write(slot.join("item"), "somebody else's").unwrap();
        let (before, trash) = (scene.tree(), tree(&scene.state.join("trash")));
        for action in [delete("file"), overwrite("file", "new")] {
            let error = act(&mut executor, action).unwrap_err();
            assert!(
                matches!(&error, ExecuteError::Occupied(path) if path == "trash/1"),
                "{error}"
            );
        }
        assert_eq!(scene.tree(), before);
        assert_eq!(tree(&scene.state.join("trash")), trash);
        assert!(executor.entries().is_empty());
        // When it is opened again, the number is not used either.
        drop(executor);
        let mut executor = scene.open();
        assert_eq!(act(&mut executor, delete("file")).unwrap().entry, 2);
        assert_eq!(
            std::fs::read(slot.join("item")).unwrap(),
            b"somebody else's"
        );
    }
}
