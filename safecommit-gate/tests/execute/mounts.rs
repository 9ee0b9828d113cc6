//! What is mounted in the workspace may lie anywhere, and is left alone.

use std::path::Path;
use std::process::Command;

use safecommit_gate::{ExecuteError, Executor, Workspace};

use crate::own_mounts;
use crate::support::{Scene, act, delete, overwrite, probe, propose, release, rename, tree, write};

const INNER: &str = "SAFECOMMIT_TEST_MOUNTS";

fn expect_refused(error: &ExecuteError, path: &str) {
    assert!(
        matches!(error, ExecuteError::Mount(shown) if shown == path),
        "{error}"
    );
}

#[test]
fn nothing_is_done_on_another_file_system_in_the_workspace() {
    let scene = Scene::new();
    let shared = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::write(shared.path().join("file"), "precious").unwrap();
    let before = tree(shared.path());
    let mut executor = Executor::open(Workspace::open("/dev").unwrap(), &scene.state).unwrap();
    let at = |name| {
        format!(
            "shm/{}/{name}",
            shared.path().file_name().unwrap().display()
        )
    };
    for action in [
        write(&at("made"), "new"),
        overwrite(&at("file"), "new"),
        rename(&at("file"), &at("moved")),
        delete(&at("file")),
    ] {
        let path = action.path().to_string();
        expect_refused(&act(&mut executor, action).unwrap_err(), &path);
    }
    assert_eq!(tree(shared.path()), before);
    assert!(executor.entries().is_empty());
}

fn mount(from: &Path, at: &Path) {
    let mut mount = Command::new("mount");
    mount.arg("--bind").args([from, at]);
    assert!(mount.status().unwrap().success());
}

/// Everything is probed and certified before there is a mount.
fn bound_after_the_probes() {
    let scene = Scene::new();
    scene.write("file", "old");
    scene.write("folder/secret", "old");
    let mut executor = scene.open();
    let actions = [
        write("folder/made", "new"),
        rename("file", "folder/file"),
        delete("folder/secret"),
        overwrite("folder/secret", "new"),
    ];
    let certified = actions.map(|action| {
        let probed = probe(&executor, &action);
        (propose(&executor, vec![action]), probed)
    });
    mount(&scene.base.path().join("outside"), &scene.path("folder"));
    let (before, outside) = (scene.tree(), scene.outside());
    let paths = [
        "folder/made",
        "folder/file",
        "folder/secret",
        "folder/secret",
    ];
    for ((proposal, probed), path) in certified.iter().zip(paths) {
        let error = release(&mut executor, proposal, probed).unwrap_err();
        expect_refused(&error, path);
    }
    assert_eq!((scene.tree(), scene.outside()), (before, outside));
    assert!(executor.entries().is_empty());
}

#[test]
fn a_mount_that_comes_after_the_probes_is_left_alone() {
    if std::env::var_os(INNER).is_some() {
        return bound_after_the_probes();
    }
    own_mounts::run_again(
        "mounts::a_mount_that_comes_after_the_probes_is_left_alone",
        INNER,
        "1",
    );
}
