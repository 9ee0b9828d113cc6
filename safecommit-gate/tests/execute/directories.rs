//! A path that leads to another directory than the one that was probed, or did so meanwhile to another thing.

use std::fs::rename as swap;

use safecommit_gate::{ExecuteError, FileAction};

use crate::support::{Scene, act, delete, overwrite, probe, propose, release, rename, write};

/// Two directories with files that are the same thing, and one more file.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("file", "old");
    scene.write("harmless/there", "old");
    scene.write("hooks/x", "");
    std::fs::hard_link(scene.path("harmless/there"), scene.path("hooks/there")).unwrap();
    scene
}

fn certified_before_the_swap(action: FileAction) {
    let scene = scene();
    let mut executor = scene.open();
    let probed = probe(&executor, &action);
    let proposal = propose(&executor, vec![action.clone()]);
    swap(scene.path("harmless"), scene.path("aside")).unwrap();
    swap(scene.path("hooks"), scene.path("harmless")).unwrap();
    let before = scene.tree();
    let error = release(&mut executor, &proposal, &probed).unwrap_err();
    assert!(
        matches!(&error, ExecuteError::OtherDirectory(path) if path.starts_with("harmless/")),
        "{error}"
    );
    assert_eq!(scene.tree(), before);
    assert!(executor.entries().is_empty());
    // Back in its place, and probed again, it is released.
    swap(scene.path("harmless"), scene.path("hooks")).unwrap();
    swap(scene.path("aside"), scene.path("harmless")).unwrap();
    act(&mut executor, action).unwrap();
}

#[test]
fn nothing_is_made_in_another_directory_than_the_one_that_was_probed() {
    certified_before_the_swap(write("harmless/post-commit", "run me"));
}

#[test]
fn nothing_is_moved_to_another_directory_than_the_one_that_was_probed() {
    certified_before_the_swap(rename("file", "harmless/post-commit"));
}

#[test]
fn another_name_of_the_same_file_is_not_what_was_probed() {
    for action in [
        delete("harmless/there"),
        overwrite("harmless/there", "new"),
        rename("harmless/there", "elsewhere"),
    ] {
        certified_before_the_swap(action);
    }
}

#[test]
fn what_was_away_while_it_was_probed_is_not_what_was_probed() {
    for (swapped, probed) in [
        ("harmless/there", "harmless/there"),
        ("harmless/there", "harmless"),
        ("harmless", "harmless"),
    ] {
        for action in [delete(probed), rename(probed, "elsewhere")] {
            let scene = scene();
            let mut executor = scene.open();
            let certified = probe(&executor, &action);
            let proposal = propose(&executor, vec![action.clone()]);
            // Longer than between two times that the file system tells apart.
            std::thread::sleep(std::time::Duration::from_millis(30));
            // Whatever else is probed now is about something else.
            swap(scene.path(swapped), scene.path("aside")).unwrap();
            swap(scene.path("hooks"), scene.path(swapped)).unwrap();
            swap(scene.path(swapped), scene.path("hooks")).unwrap();
            swap(scene.path("aside"), scene.path(swapped)).unwrap();
            let before = scene.tree();
            let error = release(&mut executor, &proposal, &certified).unwrap_err();
            assert!(
                matches!(&error, ExecuteError::Changed(path) if path == probed),
                "{error}"
            );
            assert_eq!(scene.tree(), before);
            assert!(executor.entries().is_empty());
            act(&mut executor, action).unwrap();
        }
    }
}

#[test]
fn what_was_probed_at_other_paths_is_of_no_use() {
    let scene = scene();
    let mut executor = scene.open();
    for (probed, wanted) in [
        (write("harmless/new", ""), write("harmless/post-commit", "")),
        (rename("file", "harmless/new"), rename("file", "hooks/new")),
        (rename("file", "harmless/new"), delete("file")),
        (delete("file"), rename("file", "harmless/new")),
    ] {
        let probed = probe(&executor, &probed);
        let proposal = propose(&executor, vec![wanted]);
        let error = release(&mut executor, &proposal, &probed).unwrap_err();
        assert!(matches!(error, ExecuteError::Probed { .. }), "{error}");
    }
    assert!(executor.entries().is_empty());
}
