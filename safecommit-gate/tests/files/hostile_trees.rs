//! Probes where something is mounted, swapped, vanishes or is denied.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use safecommit_gate::{FileError, FileProbe, FileQuestion, Kind, Limits, ProbeOutcome, Workspace};

use crate::own_mounts;
use crate::support::{ask, ask_with, settings};

#[test]
fn mounts_are_told_and_not_entered() {
    let workspace = Workspace::open("/").unwrap();
    let target = workspace.target("proc").unwrap();
    assert_eq!(target.status().unwrap().unwrap().kind, Kind::Mount);
    let identity = target.identity(&Limits::default()).unwrap().unwrap();
    assert_eq!((identity.content, identity.tree), (None, None));
    let ask = |question| {
        FileProbe::new(question)
            .make(&workspace, &target, &settings())
            .to_string()
    };
    assert!(ask(FileQuestion::Status).starts_with("kind=mount"));
    assert!(ask(FileQuestion::Tree).starts_with("leaves_tree=mount"));
    assert_eq!(ask(FileQuestion::Location), "location=outside");
    assert_eq!(ask(FileQuestion::DryRun), "reversible=false");
    let below = workspace.target("proc/version").unwrap();
    let outcome = FileProbe::new(FileQuestion::Location).make(&workspace, &below, &settings());
    assert_eq!(outcome.to_string(), "location=outside");
}

#[test]
fn a_bind_mount_of_the_same_device_is_a_mount_too() {
    const INNER: &str = "SAFECOMMIT_TEST_BIND_MOUNT";
    if let Ok(root) = std::env::var(INNER) {
        let root = Path::new(&root);
        let mut mount = Command::new("mount");
        mount
            .arg("--bind")
            .args([root.join("shared"), root.join("w/t/m")]);
        assert!(mount.status().unwrap().success());
        let w = root.join("w");
        assert_eq!(
            ask(&w, "t", FileQuestion::Tree),
            "leaves_tree=mount owner=own"
        );
        assert!(ask(&w, "t/m", FileQuestion::Status).starts_with("kind=mount"));
        assert_eq!(ask(&w, "t/m/x", FileQuestion::Location), "location=outside");
        assert_eq!(ask(&w, "l", FileQuestion::Location), "location=outside");
        assert_eq!(ask(&w, "t/copy", FileQuestion::Copies), "only_copy=true");
        assert_eq!(ask(&w, "t", FileQuestion::Copies), "only_copy=true");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("w/t/m")).unwrap();
    fs::create_dir(folder.path().join("shared")).unwrap();
    fs::write(folder.path().join("shared/x"), "content").unwrap();
    fs::write(folder.path().join("w/t/copy"), "content").unwrap();
    symlink("t/m/x", folder.path().join("w/l")).unwrap();
    // Before anything is mounted there the same names give other answers.
    let w = folder.path().join("w");
    assert_eq!(ask(&w, "t", FileQuestion::Tree), "leaves_tree=no owner=own");
    assert_eq!(ask(&w, "l", FileQuestion::Location), "location=inside");
    own_mounts::run_again(
        "hostile_trees::a_bind_mount_of_the_same_device_is_a_mount_too",
        INNER,
        folder.path(),
    );
}

#[test]
fn what_is_swapped_while_it_is_probed_is_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let outside = folder.path().join("outside");
    fs::create_dir_all(root.join("t/d")).unwrap();
    fs::create_dir(root.join("t/spare")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join(".env"), "").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let workspace = Workspace::open(&root).unwrap();
    let target = workspace.target("t").unwrap();
    let settings = settings();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = |a: &str, b: &str| {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let cwd = rustix::fs::CWD;
                rustix::fs::renameat_with(cwd, root.join(a), cwd, root.join(b), flags).unwrap();
            };
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                exchange("t/d", "link");
            }
        });
        for _ in 0..1000 {
            let probe = FileProbe::new(FileQuestion::Patterns);
            let outcome = probe.make(&workspace, &target, &settings);
            // The secret is never reached: what is below is a directory without one, a link, or in between.
            assert!(outcome.leaves("secret", "false"), "{outcome}");
            let outcome = FileProbe::new(FileQuestion::Copies).make(&workspace, &target, &settings);
            assert!(outcome.leaves("only_copy", "false"), "{outcome}");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn what_vanishes_and_comes_back_is_an_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/stays")).unwrap();
    let workspace = Workspace::open(root).unwrap();
    let targets = [
        workspace.target("t").unwrap(),
        workspace.target("t/d").unwrap(),
    ];
    let settings = settings();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut failures = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::create_dir_all(root.join("t/d/e")).unwrap();
                fs::write(root.join("t/d/e/x"), "x").unwrap();
                symlink("e/x", root.join("t/d/l")).unwrap();
                fs::remove_dir_all(root.join("t/d")).unwrap();
            }
        });
        for _ in 0..300 {
            for question in FileQuestion::ALL
                .into_iter()
                .filter(|q| *q != FileQuestion::Repository)
            {
                for target in &targets {
                    match FileProbe::new(question).make(&workspace, target, &settings) {
                        ProbeOutcome::Found(_) => {}
                        ProbeOutcome::Failed(FileError::Changed(_) | FileError::Missing(_)) => {
                            failures += 1;
                        }
                        other => panic!("{question:?}: {other}"),
                    }
                }
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(failures > 0, "nothing ever vanished in between");
}

#[test]
fn what_is_denied_is_an_outcome_that_removes_nothing() {
    use std::os::unix::process::CommandExt;

    const INNER: &str = "SAFECOMMIT_TEST_DENIED";
    if std::env::var_os(INNER).is_none() && rustix::process::geteuid().is_root() {
        // Nothing is denied to a privileged user, so it is tried as one who is not.
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = folder.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let inner = Command::new(program)
            .args([
                "--exact",
                "hostile_trees::what_is_denied_is_an_outcome_that_removes_nothing",
            ])
            .env(INNER, "")
            .current_dir("/")
            .uid(65_534)
            .gid(65_534)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&inner.stdout);
        assert!(
            inner.status.success() && text.contains("1 passed"),
            "{text}"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let set_mode = |path: &str, mode| {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir_all(root.join("t/closed")).unwrap();
    fs::create_dir(root.join("kept")).unwrap();
    fs::write(root.join("t/closed/x"), "one").unwrap();
    fs::write(root.join("kept/x"), "one").unwrap();
    assert_eq!(ask(root, "t", FileQuestion::Copies), "only_copy=false");
    assert_eq!(ask(root, "t", FileQuestion::DryRun), "reversible=true");
    set_mode("kept", 0);
    assert_eq!(
        ask(root, "t", FileQuestion::Copies),
        "only_copy=true",
        "none that can be seen"
    );
    set_mode("t/closed", 0);
    let denied = "failed: access to `closed` is denied";
    for question in [
        FileQuestion::Tree,
        FileQuestion::Copies,
        FileQuestion::Age,
        FileQuestion::Patterns,
    ] {
        let mut settings = settings();
        settings.memory = Some(Timestamp::now());
        assert_eq!(ask_with(root, "t", question, &settings), denied);
    }
    let workspace = Workspace::open(root).unwrap();
    let refused = workspace.target("t/closed/x").unwrap_err();
    assert_eq!(refused, FileError::Denied("t/closed/x".to_owned()));
    let identity = workspace.target("t").unwrap().identity(&Limits::default());
    assert_eq!(identity, Err(FileError::Denied("closed".to_owned())));
    assert_eq!(
        ask(root, "t/closed", FileQuestion::DryRun),
        "reversible=false"
    );
    set_mode("t", 0o500);
    fs::write(root.join("file"), "").unwrap();
    assert_eq!(ask(root, "file", FileQuestion::DryRun), "reversible=true");
    set_mode("", 0o500);
    assert_eq!(ask(root, "file", FileQuestion::DryRun), "reversible=false");
    assert_eq!(ask(root, "new", FileQuestion::DryRun), "reversible=false");
    assert_eq!(
        ask(Path::new("/"), "etc/passwd", FileQuestion::DryRun),
        "reversible=false"
    );
    for (path, mode) in [
        ("", 0o700),
        ("t", 0o700),
        ("t/closed", 0o700),
        ("kept", 0o700),
    ] {
        set_mode(path, mode);
    }
}
