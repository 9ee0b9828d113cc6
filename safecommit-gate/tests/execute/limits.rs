//! Full disks, directories that cannot be changed, things that cannot be copied.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use safecommit_gate::{ExecuteError, Executor, FileAction, Resolution, Workspace};

use crate::support::{
    Scene, Tree, act, delete, overwrite, probe, propose, release, rename, tree, write,
};

const BOUNDED: &str = "SAFECOMMIT_TEST_BOUNDED";

/// Runs the test of this name again, with a variable set, in a process whose files may have at most `blocks` blocks of
/// 512 bytes and whose writes fail beyond instead of ending it.
fn again_with_bounded_files(test: &str, place: &Path, blocks: usize) {
    let script =
        format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" --exact --nocapture {test}");
    // What it says goes through pipes: a file that takes the output of all tests may be past the bound already.
    let output = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(BOUNDED, place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// An action that fails, is rolled back, and leaves everything as it was before.
fn fails_without_a_trace(
    executor: &mut Executor,
    action: FileAction,
    workspace: &Path,
    before: &Tree,
) {
    let error = act(executor, action).unwrap_err();
    let rolled_back = matches!(
        error,
        ExecuteError::Failed {
            resolution: Resolution::RolledBack,
            ..
        }
    );
    assert!(rolled_back, "{error}");
    assert_eq!(tree(workspace), *before);
}

/// Effects for which there is no room leave everything as it was.
fn without_room(workspace: &Path, state: &Path) {
    let mut executor = Executor::open(Workspace::open(workspace).unwrap(), state).unwrap();
    let before = tree(workspace);
    let large = "x".repeat(2 << 20);
    for action in [overwrite("file", &large), write("made", &large)] {
        fails_without_a_trace(&mut executor, action, workspace, &before);
    }
    // What needs no room goes on.
    let entry = act(&mut executor, delete("file")).unwrap().entry;
    executor.restore(entry).unwrap();
    assert_eq!(tree(workspace), before);
}

#[test]
fn a_file_that_gets_too_long_changes_nothing() {
    if let Ok(base) = std::env::var(BOUNDED) {
        let base = Path::new(&base);
        return without_room(&base.join("workspace"), &base.join("state"));
    }
    let scene = Scene::new();
    scene.write("file", "old");
    again_with_bounded_files(
        "limits::a_file_that_gets_too_long_changes_nothing",
        scene.base.path(),
        256,
    );
    assert!(scene.state.join("journal").exists());
}

#[test]
fn a_trash_without_room_keeps_what_was_to_be_deleted() {
    if let Ok(base) = std::env::var(BOUNDED) {
        let base = Path::new(&base);
        let state = std::fs::read_to_string(base.join("state-is-at")).unwrap();
        let workspace = base.join("workspace");
        let mut executor = Executor::open(Workspace::open(&workspace).unwrap(), state).unwrap();
        let before = tree(&workspace);
        for action in [
            delete("folder"),
            overwrite("folder/large", "small"),
            delete("folder/large"),
        ] {
            fails_without_a_trace(&mut executor, action, &workspace, &before);
        }
        let entry = act(&mut executor, delete("folder/small")).unwrap().entry;
        executor.restore(entry).unwrap();
        return assert_eq!(tree(&workspace), before);
    }
    let scene = Scene::across_file_systems();
    scene.write("folder/small", "small");
    scene.write("folder/large", &"x".repeat(2 << 20));
    let state = scene.state.display().to_string();
    std::fs::write(scene.base.path().join("state-is-at"), state).unwrap();
    let test = "limits::a_trash_without_room_keeps_what_was_to_be_deleted";
    again_with_bounded_files(test, scene.base.path(), 256);
    assert!(!scene.state.join("trash/1/item").exists());
}

/// A small file system that is gone at the end; `None` where this user may not mount one.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn at(place: &'a Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(place).unwrap();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(place)
            .status();
        status
            .is_ok_and(|status| status.success())
            .then_some(Self(place))
    }

    fn read_only(&self) {
        let status = Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(self.0)
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_or_a_directory_that_cannot_be_changed_changes_nothing() {
    let base = tempfile::tempdir().unwrap();
    let disk = base.path().join("disk");
    let workspace = disk.join("workspace");
    let state = disk.join("state");
    let mounted = Mounted::at(&disk, "size=1m");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(workspace.join("file"), "old").unwrap();
    match &mounted {
        Some(_) => without_room(&workspace, &state),
        // Where nothing can be mounted, the bound on the length of files in the other tests is the full disk.
        None => drop(Executor::open(Workspace::open(&workspace).unwrap(), &state).unwrap()),
    }
    // The state has to stay writable.
    let state = base.path().join("state");
    let mut executor = Executor::open(Workspace::open(&workspace).unwrap(), &state).unwrap();
    match &mounted {
        Some(disk) => disk.read_only(),
        None => {
            std::fs::set_permissions(&workspace, std::fs::Permissions::from_mode(0o500)).unwrap();
        }
    }
    let before = tree(&workspace);
    for action in [
        delete("file"),
        overwrite("file", "new"),
        write("made", "new"),
        rename("file", "moved"),
    ] {
        fails_without_a_trace(&mut executor, action, &workspace, &before);
    }
    std::fs::set_permissions(&workspace, std::fs::Permissions::from_mode(0o700)).ok();
}

#[test]
fn mounts_are_neither_moved_nor_entered() {
    let scene = Scene::new();
    scene.write("folder/file", "old");
    let (place, way) = (scene.path("folder/mounted"), scene.path("way"));
    let Some(_mounted) = Mounted::at(&place, "size=1m") else {
        // Without a mount to make, the least that can be checked is one that is always there.
        let root = Workspace::open("/").unwrap();
        let kind = root.target("proc").unwrap().status().unwrap().unwrap().kind;
        return assert_eq!(kind, safecommit_gate::Kind::Mount);
    };
    scene.write("folder/mounted/inside", "precious");
    let mut executor = scene.open();
    for action in [
        delete("folder"),
        rename("folder", "elsewhere"),
        delete("folder/mounted"),
    ] {
        let error = act(&mut executor, action).unwrap_err();
        assert!(matches!(error, ExecuteError::Mount(_)), "{error}");
    }
    // What is on the mount is not of the workspace.
    for action in [
        rename("folder/file", "folder/mounted/file"),
        delete("folder/mounted/inside"),
        write("folder/mounted/made", "new"),
    ] {
        let error = act(&mut executor, action).unwrap_err();
        assert!(matches!(error, ExecuteError::Mount(_)), "{error}");
    }
    assert_eq!(
        std::fs::read(scene.path("folder/mounted/inside")).unwrap(),
        b"precious"
    );
    // The state directory, made reachable from the workspace.
    std::fs::create_dir(&way).unwrap();
    let bound = Command::new("mount")
        .arg("--bind")
        .arg(&scene.state)
        .arg(&way)
        .status();
    assert!(bound.unwrap().success());
    let _bound = Mounted(&way);
    let before = tree(&scene.state);
    for action in [
        delete("way/journal"),
        overwrite("way/journal", ""),
        delete("way"),
        write("way/trash/x", ""),
    ] {
        let probed = probe(&executor, &action);
        let proposal = propose(&executor, vec![action]);
        let error = release(&mut executor, &proposal, &probed).unwrap_err();
        assert!(matches!(error, ExecuteError::Protected(_)), "{error}");
    }
    assert_eq!(tree(&scene.state), before);
}

#[test]
fn what_cannot_be_copied_stays_and_what_need_not_be_copied_goes() {
    for (scene, same) in [(Scene::new(), true), (Scene::across_file_systems(), false)] {
        scene.write("folder/file", "old");
        let _socket = UnixListener::bind(scene.path("folder/socket")).unwrap();
        let mut executor = scene.open();
        let deleted = act(&mut executor, delete("folder"));
        assert_eq!(deleted.is_ok(), same);
        if same {
            executor.restore(1).unwrap();
        }
        assert_eq!(std::fs::read(scene.path("folder/file")).unwrap(), b"old");
        let kind = std::fs::symlink_metadata(scene.path("folder/socket"))
            .unwrap()
            .file_type();
        assert!(kind.is_socket());
    }
}
