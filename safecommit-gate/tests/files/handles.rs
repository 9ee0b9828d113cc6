//! Handles and identities on real directories.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use safecommit_gate::{Digest, FileError, Identity, Kind, Limits, Workspace};

use crate::support::rewrite_at_the_same_time;

/// `root/dir/x`, and a file of that name outside.
fn mine_and_another() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("root/dir")).unwrap();
    fs::create_dir(folder.path().join("outside")).unwrap();
    fs::write(folder.path().join("root/dir/x"), "mine").unwrap();
    fs::write(folder.path().join("outside/x"), "not mine").unwrap();
    folder
}

fn identity(workspace: &Workspace, path: &str) -> Identity {
    workspace
        .target(path)
        .unwrap()
        .identity(&Limits::default())
        .unwrap()
        .unwrap()
}

#[test]
fn a_path_that_is_no_target_is_an_error_that_names_why() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("dir")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink(root.join("dir"), root.join("link")).unwrap();
    let workspace = Workspace::open(root).unwrap();
    let refused = |path: &str| workspace.target(path).unwrap_err();
    let text = ToOwned::to_owned;
    assert_eq!(refused(""), FileError::Empty);
    assert_eq!(refused("a\0b"), FileError::Nul("a\u{fffd}b".to_owned()));
    assert_eq!(refused("dir/.."), FileError::Parent(text("dir/..")));
    assert_eq!(refused("../x"), FileError::Parent(text("../x")));
    assert_eq!(
        refused("/etc/passwd"),
        FileError::Outside(text("/etc/passwd"))
    );
    assert_eq!(refused("."), FileError::WorkspaceItself(text(".")));
    assert_eq!(refused("link/x"), FileError::Link(text("link/x")));
    assert_eq!(refused("loop/x"), FileError::Link(text("loop/x")));
    assert_eq!(refused("file/x"), FileError::NotADirectory(text("file/x")));
    assert_eq!(refused("none/x"), FileError::Missing(text("none/x")));
    let error = workspace
        .target(Path::new(OsStr::from_bytes(b"a\xff")))
        .unwrap_err();
    assert_eq!(error, FileError::NotUtf8("a\u{fffd}".to_owned()));
    let deep = vec!["a"; 4096].join("/");
    assert!(matches!(
        refused(&deep),
        FileError::TooLong { unit: "bytes", .. }
    ));
    let deep = vec!["a"; 1025].join("/");
    assert!(matches!(
        refused(&deep),
        FileError::TooLong { length: 1025, .. }
    ));
    let neighbour = format!("{}x/file", workspace.path().display());
    assert_eq!(refused(&neighbour), FileError::Outside(neighbour.clone()));
}

#[test]
fn one_target_has_one_spelling() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let absolute = workspace.path().join("dir/x");
    for path in ["dir/x", "./dir//x", "dir/./x/", absolute.to_str().unwrap()] {
        let target = workspace.target(path).unwrap();
        assert_eq!((target.relative(), target.name()), ("dir/x", "x"));
        assert_eq!(target.status().unwrap(), None);
    }
    assert_eq!(workspace.target("dir").unwrap().name(), "dir");
}

#[test]
fn a_handle_stays_where_it_was_when_its_path_is_swapped() {
    let folder = mine_and_another();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    let workspace = Workspace::open(&root).unwrap();
    let target = workspace.target("dir/x").unwrap();
    let before = target.identity(&Limits::default()).unwrap();
    fs::rename(root.join("dir"), root.join("moved")).unwrap();
    symlink(&outside, root.join("dir")).unwrap();
    assert_eq!(target.identity(&Limits::default()).unwrap(), before);
    assert!(matches!(workspace.target("dir/x"), Err(FileError::Link(_))));
    fs::rename(&root, folder.path().join("elsewhere")).unwrap();
    assert_eq!(identity(&workspace, "moved/x"), before.unwrap());
}

#[test]
fn an_identity_tells_every_change_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, "one").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let first = identity(&workspace, "x");
    assert_eq!(first.content, Some(Digest::of_bytes(b"one")));
    assert_eq!(first, identity(&workspace, "x"));
    rewrite_at_the_same_time(&path, "two");
    let same_time = identity(&workspace, "x");
    assert_eq!(
        (same_time.size, same_time.modified),
        (first.size, first.modified)
    );
    assert_ne!(same_time.digest(), first.digest());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_ne!(identity(&workspace, "x").digest(), same_time.digest());
    fs::rename(&path, folder.path().join("old")).unwrap();
    symlink("old", &path).unwrap();
    let link = identity(&workspace, "x");
    assert_eq!(
        (link.kind, link.content),
        (Kind::Link, Some(Digest::of_bytes(b"old")))
    );
    let json = serde_json::to_string(&link).unwrap();
    assert_eq!(serde_json::from_str::<Identity>(&json).unwrap(), link);
}

#[test]
fn the_identity_of_a_tree_tells_every_change_below() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/a/b")).unwrap();
    fs::write(root.join("t/a/b/x"), "one").unwrap();
    fs::write(root.join(OsStr::from_bytes(b"t/\xff")), "bytes").unwrap();
    symlink("/etc", root.join("t/a/etc")).unwrap();
    let workspace = Workspace::open(root).unwrap();
    let mut seen = vec![identity(&workspace, "t").digest()];
    let mut changed = |what: &str| {
        let digest = identity(&workspace, "t").digest();
        assert!(!seen.contains(&digest), "{what}");
        seen.push(digest);
    };
    fs::write(root.join("t/a/b/x"), "two").unwrap();
    changed("content");
    fs::rename(root.join("t/a/b/x"), root.join("t/a/b/y")).unwrap();
    changed("name");
    fs::remove_file(root.join("t/a/etc")).unwrap();
    symlink("/usr", root.join("t/a/etc")).unwrap();
    changed("link");
    fs::set_permissions(root.join("t/a/b/y"), fs::Permissions::from_mode(0o400)).unwrap();
    changed("mode");
    fs::create_dir(root.join("t/empty")).unwrap();
    changed("empty directory");
    fs::copy(root.join("t/a/b/y"), root.join("copy")).unwrap();
    fs::rename(root.join("copy"), root.join("t/a/b/y")).unwrap();
    changed("inode");
}

#[test]
fn a_copy_has_the_same_content_and_another_identity() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for tree in ["t", "u"] {
        fs::create_dir_all(root.join(tree).join("a")).unwrap();
        fs::write(root.join(tree).join("a/x"), "one").unwrap();
        symlink("x", root.join(tree).join("a/l")).unwrap();
    }
    let workspace = Workspace::open(root).unwrap();
    let (one, other) = (identity(&workspace, "t"), identity(&workspace, "u"));
    assert_eq!(one.content, other.content);
    assert_ne!(one.tree, other.tree);
    fs::rename(root.join("u/a/x"), root.join("u/a/y")).unwrap();
    assert_ne!(one.content, identity(&workspace, "u").content);
    fs::rename(root.join("u/a/y"), root.join("u/a/x")).unwrap();
    assert_eq!(one.content, identity(&workspace, "u").content);
    fs::write(root.join("u/a/y"), "").unwrap();
    assert_ne!(one.content, identity(&workspace, "u").content);
}

#[test]
fn limits_are_errors_and_never_half_an_identity() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("t/a/b")).unwrap();
    fs::write(folder.path().join("t/a/b/x"), "12345").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let target = workspace.target("t").unwrap();
    let full = Limits {
        entries: 4,
        depth: 3,
        bytes: 5,
        time: Duration::from_secs(60),
    };
    assert!(target.identity(&full).unwrap().is_some());
    // Each limit is what is needed: one less is exceeded, and the error says that very number.
    let said = |limits: Limits| target.identity(&limits).unwrap_err().to_string();
    for (limits, expect) in [
        (
            Limits { entries: 3, ..full },
            "the limit of 3 names is exceeded at `a/b`",
        ),
        (
            Limits { entries: 1, ..full },
            "the limit of 1 names is exceeded at `t`",
        ),
        (
            Limits { depth: 2, ..full },
            "the limit of 2 levels is exceeded at `a/b/x`",
        ),
        (
            Limits { bytes: 4, ..full },
            "the limit of 4 bytes is exceeded at `a/b/x`",
        ),
    ] {
        assert_eq!(said(limits), expect);
    }
    let none = Limits {
        time: Duration::ZERO,
        ..full
    };
    assert!(matches!(
        target.identity(&none),
        Err(FileError::TimedOut(_))
    ));
}

#[test]
fn a_very_deep_tree_is_an_error_and_no_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    // Deeper than a path can be long, so it is made step by step.
    let name = "a-name-that-is-long";
    let mode = rustix::fs::Mode::from_raw_mode(0o700);
    let flags = rustix::fs::OFlags::DIRECTORY;
    let mut at = workspace.handle().try_clone_to_owned().unwrap();
    for _ in 0..600 {
        rustix::fs::mkdirat(&at, name, mode).unwrap();
        at = rustix::fs::openat(&at, name, flags, rustix::fs::Mode::empty()).unwrap();
    }
    let unlimited = Limits {
        depth: u64::MAX,
        ..Limits::default()
    };
    let deep = workspace.target(name).unwrap().identity(&unlimited);
    assert!(
        matches!(
            deep,
            Err(FileError::Limit {
                unit: "levels",
                limit: 512,
                ..
            })
        ),
        "{deep:?}"
    );
    fs::remove_dir_all(folder.path().join(name)).unwrap();
}

#[test]
fn a_pipe_is_neither_read_nor_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let found = identity(&workspace, "pipe");
    assert_eq!((found.kind, found.content), (Kind::Other, None));
}

#[test]
fn what_is_denied_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        Workspace::open(folder.path().join("none")),
        Err(FileError::Missing(_))
    ));
    fs::write(folder.path().join("file"), "").unwrap();
    let file = Workspace::open(folder.path().join("file")).unwrap_err();
    assert!(matches!(file, FileError::NotADirectory(_)), "{file}");
}

#[test]
fn a_directory_that_is_swapped_for_a_link_a_thousand_times_is_never_followed() {
    let folder = mine_and_another();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    symlink(&outside, root.join("link")).unwrap();
    let workspace = Workspace::open(&root).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (mut opened, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for (from, to) in [
                    ("dir", "third"),
                    ("link", "dir"),
                    ("dir", "link"),
                    ("third", "dir"),
                ] {
                    fs::rename(root.join(from), root.join(to)).unwrap();
                }
            }
        });
        while opened + refused < 1000 || opened < 10 || refused < 10 {
            match workspace.target("dir/x") {
                Ok(target) => {
                    let found = target.identity(&Limits::default()).unwrap().unwrap();
                    assert_eq!(found.content, Some(Digest::of_bytes(b"mine")));
                    opened += 1;
                }
                Err(FileError::Link(_) | FileError::Missing(_)) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

proptest! {
    #[test]
    fn whatever_the_path_its_directory_is_beneath_the_workspace(
        path in "(a|b|l|o|x|\\.|\\.\\.|/|//|\0|ä| |[/]a[/]b){0,12}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b/a")).unwrap();
        symlink("..", folder.path().join("a/l")).unwrap();
        symlink("/", folder.path().join("a/o")).unwrap();
        symlink("a", folder.path().join("l")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        for path in [path.clone(), format!("{}/{path}", workspace.path().display())] {
            if let Ok(target) = workspace.target(&path) {
                use std::os::fd::AsRawFd;
                let handle = format!("/proc/self/fd/{}", target.parent().as_raw_fd());
                let parent = fs::read_link(handle).unwrap();
                prop_assert!(parent.starts_with(workspace.path()));
                prop_assert_eq!(parent.join(target.name()), workspace.path().join(target.relative()));
                prop_assert!(!target.name().contains('/') && !["", ".", ".."].contains(&target.name()));
                let again = workspace.target(target.relative()).unwrap();
                prop_assert_eq!(again.relative(), target.relative());
            }
        }
    }
}
