//! What the probe of a repository tells, and what a repository cannot make it do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use safecommit_gate::{FileProbe, FileQuestion, FileSettings, Limits, ProbeOutcome, Workspace};

use crate::support::rewrite_at_the_same_time;

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn repository(folder: &Path) {
    git(folder, &["init", "-q"]);
    fs::create_dir_all(folder.join("src/deep")).unwrap();
    fs::write(folder.join("src/one"), "one\n").unwrap();
    fs::write(folder.join("src/deep/two"), "two\n").unwrap();
    fs::write(folder.join(".gitignore"), "build\n").unwrap();
    symlink("one", folder.join("src/link")).unwrap();
    git(folder, &["add", "."]);
    git(folder, &["commit", "-qm", "first"]);
}

fn ask(root: &Path, path: &str) -> String {
    crate::support::ask(root, path, FileQuestion::Repository)
}

#[test]
fn clean_is_what_the_last_commit_has_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    for path in ["src", "src/one", "src/link", "src/deep", ".gitignore"] {
        assert_eq!(ask(root, path), "tracked=clean", "{path}");
    }
    assert_eq!(
        ask(&root.join("src"), "deep/two"),
        "tracked=clean",
        "a workspace in a repository"
    );
    assert_eq!(ask(root, "none"), "tracked=none");
    fs::create_dir(root.join("empty")).unwrap();
    assert_eq!(ask(root, "empty"), "tracked=clean");
    fs::write(root.join("src/deep/two"), "two\nthree\n").unwrap();
    assert_eq!(ask(root, "src/deep/two"), "tracked=dirty");
    fs::write(root.join("src/deep/two"), "TWO\n").unwrap();
    assert_eq!(ask(root, "src/deep/two"), "tracked=dirty");
    assert_eq!(ask(root, "src"), "tracked=dirty");
    assert_eq!(ask(root, "src/one"), "tracked=clean");
    git(root, &["add", "."]);
    assert_eq!(
        ask(root, "src"),
        "tracked=dirty",
        "what is staged is in no commit"
    );
    git(root, &["commit", "-qm", "second"]);
    assert_eq!(ask(root, "src"), "tracked=clean");
    fs::set_permissions(root.join("src/one"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ask(root, "src"), "tracked=dirty");
}

#[test]
fn the_least_held_of_what_is_below_counts() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    fs::create_dir(root.join("build")).unwrap();
    fs::write(root.join("build/out"), "out").unwrap();
    fs::write(root.join("src/build"), "ignored").unwrap();
    assert_eq!(ask(root, "build"), "tracked=none");
    assert_eq!(ask(root, "src"), "tracked=none");
    fs::write(root.join("src/new"), "new").unwrap();
    assert_eq!(ask(root, "src/new"), "tracked=untracked");
    assert_eq!(ask(root, "src"), "tracked=untracked");
    git(root, &["add", "src/new"]);
    assert_eq!(ask(root, "src/new"), "tracked=dirty");
    // Names that git would read as patterns or commands.
    for name in [":(top)src", "*", "[o]ne", "-z", "a\tb\nc", "\""] {
        fs::write(root.join(name), name).unwrap();
        assert_eq!(ask(root, name), "tracked=untracked", "{name}");
    }
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "names"]);
    for name in [":(top)src", "*", "[o]ne", "-z", "a\tb\nc", "\"", "src/new"] {
        assert_eq!(ask(root, name), "tracked=clean", "{name}");
    }
}

#[test]
fn a_repository_that_goes_with_the_target_holds_nothing_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("clone")).unwrap();
    fs::create_dir_all(root.join("plain/sub")).unwrap();
    repository(&root.join("clone"));
    assert_eq!(ask(root, "clone"), "tracked=untracked");
    assert_eq!(ask(root, "clone/src"), "tracked=clean");
    assert_eq!(ask(root, "plain"), "tracked=none");
    git(root, &["init", "-q"]);
    assert_eq!(ask(root, "clone"), "tracked=untracked", "no commit yet");
    fs::write(root.join(".gitignore"), "clone\n").unwrap();
    assert_eq!(
        ask(root, "clone"),
        "tracked=untracked",
        "an ignored repository is one still"
    );
}

#[test]
fn bits_of_the_index_hide_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    git(root, &["update-index", "--assume-unchanged", "src/one"]);
    git(root, &["update-index", "--skip-worktree", "src/deep/two"]);
    rewrite_at_the_same_time(&root.join("src/one"), "ONE\n");
    fs::write(root.join("src/deep/two"), "TWO\n").unwrap();
    assert_eq!(ask(root, "src/one"), "tracked=dirty");
    assert_eq!(ask(root, "src/deep"), "tracked=dirty");
}

#[test]
fn no_program_that_a_repository_names_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let marks = folder.path().join("marks");
    fs::create_dir(&root).unwrap();
    fs::create_dir(&marks).unwrap();
    repository(&root);
    let program = |name: &str| {
        let path = folder.path().join(name);
        let text = format!("#!/bin/sh\ntouch {}\ncat\n", marks.join(name).display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let mut config = fs::read_to_string(root.join(".git/config")).unwrap();
    config += &format!(
        "[core]\nfsmonitor = {}\nhooksPath = {}\npager = {}\nsshCommand = {}\neditor = {}\n\
         gitProxy = {}\nalternateRefsCommand = {}\nworktree = {}\n",
        program("fsmonitor"),
        folder.path().join("hooks").display(),
        program("pager"),
        program("ssh"),
        program("editor"),
        program("proxy"),
        program("alternates"),
        folder.path().join("elsewhere").display(),
    );
    config += &format!(
        "[diff]\nexternal = {0}\n[diff \"evil\"]\ntextconv = {0}\ncommand = {0}\n",
        program("differences")
    );
    config += &format!(
        "[filter \"evil\"]\nclean = {0}\nsmudge = {0}\nprocess = {0}\nrequired = true\n",
        program("filter")
    );
    config += &format!(
        "[alias]\nls-tree = !{0}\nls-files = !{0}\ncat-file = !{0}\n[pager]\nls-tree = {0}\n",
        program("alias")
    );
    config += &format!(
        "[extensions]\npartialClone = origin\n[remote \"origin\"]\nurl = ext::{0}\n\
         uploadpack = {0}\npromisor = true\npartialclonefilter = blob:none\n",
        program("remote")
    );
    fs::create_dir(folder.path().join("hooks")).unwrap();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    for hook in ["fsmonitor-watchman", "post-index-change", "post-checkout"] {
        fs::copy(program(hook), folder.path().join("hooks").join(hook)).unwrap();
    }
    fs::write(root.join(".gitattributes"), "* filter=evil diff=evil\n").unwrap();
    fs::write(root.join("src/one"), "ONE\n").unwrap();
    let marked = || {
        fs::read_dir(&marks)
            .unwrap()
            .map(|mark| mark.unwrap().file_name())
    };

    // It is a trap indeed: git by itself runs what it names.
    let plain = config.replace("worktree = ", "notworktree = ");
    fs::write(root.join(".git/config"), plain).unwrap();
    let trap = Command::new("git")
        .args(["status", "--short"])
        .current_dir(&root)
        .output();
    assert!(trap.is_ok());
    let sprung: Vec<_> = marked().collect();
    assert!(sprung.iter().any(|mark| mark == "filter"), "{sprung:?}");
    assert!(sprung.iter().any(|mark| mark == "fsmonitor"), "{sprung:?}");
    for mark in sprung {
        fs::remove_file(marks.join(mark)).unwrap();
    }

    fs::write(root.join(".git/config"), config).unwrap();
    fs::write(root.join("unknown"), "x").unwrap();
    let before = fs::metadata(root.join(".git/index"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(ask(&root, "src/one"), "tracked=dirty");
    assert_eq!(ask(&root, "src/deep"), "tracked=clean");
    assert_eq!(ask(&root, "src/link"), "tracked=clean");
    assert_eq!(ask(&root, "unknown"), "tracked=untracked");
    // A missing object, which git would fetch from the remote.
    let id = "f719efd430d52bcfc8566a43b2eb655688d38871";
    fs::remove_file(root.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let outcome = ask(&root, "src/deep");
    assert!(
        outcome.starts_with("failed: git cannot be used: "),
        "{outcome}"
    );
    assert_eq!(ask(&root, "src/link"), "tracked=clean");
    fs::remove_dir_all(root.join(".git/objects")).unwrap();
    fs::create_dir(root.join(".git/objects")).unwrap();
    let outcome = ask(&root, "src/link");
    assert!(
        outcome.starts_with("failed: git cannot be used: "),
        "{outcome}"
    );
    assert_eq!(
        marked().collect::<Vec<_>>(),
        Vec::<std::ffi::OsString>::new()
    );
    assert_eq!(
        fs::metadata(root.join(".git/index"))
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
    assert!(!root.join(".git/index.lock").exists());
}

#[test]
fn a_damaged_repository_fails_and_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    fs::write(root.join(".git/index"), "no index").unwrap();
    fs::write(root.join("src/new"), "new").unwrap();
    assert_eq!(
        ask(root, "src/deep"),
        "tracked=clean",
        "the commit has it without the index"
    );
    assert_eq!(
        ask(root, "src"),
        "failed: git cannot be used: it refuses, with code 128"
    );
    fs::write(root.join(".git/HEAD"), "no reference").unwrap();
    let outcome = ask(root, "src/deep");
    assert!(
        outcome.starts_with("failed: git cannot be used: "),
        "{outcome}"
    );
}

#[test]
fn a_repository_that_git_cannot_use_is_not_passed_over_for_the_one_above() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    fs::write(root.join("file"), "same\n").unwrap();
    git(root, &["add", "file"]);
    git(root, &["commit", "-qm", "second"]);
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/file"), "same\n").unwrap();
    assert_eq!(ask(root, "sub/file"), "tracked=untracked");

    let invalid = root.join("sub/.git");
    let fails = |how: &str| {
        let said = ask(root, "sub/file");
        assert!(
            said.starts_with("failed: git cannot be used"),
            "{how}: {said}"
        );
        assert_eq!(ask(root, "file"), "tracked=clean", "{how}");
    };
    fs::create_dir(&invalid).unwrap();
    fails("an empty directory");
    fs::write(invalid.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fails("a directory without objects");
    fs::remove_dir_all(&invalid).unwrap();
    fs::write(&invalid, "gitdir: none\n").unwrap();
    fails("a file that names nothing");
    fs::write(&invalid, "").unwrap();
    fails("an empty file");
    fs::remove_file(&invalid).unwrap();
    symlink("none", &invalid).unwrap();
    fails("a link to nothing");
}

#[test]
fn a_work_tree_has_its_repository_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    repository(&root);
    git(&root, &["worktree", "add", "-q", "../other", "-b", "other"]);
    let other = folder.path().join("other");
    assert!(other.join(".git").is_file());
    assert_eq!(ask(&other, "src"), "tracked=clean");
    fs::write(other.join("src/one"), "ONE\n").unwrap();
    assert_eq!(ask(&other, "src"), "tracked=dirty");
    assert_eq!(ask(&root, "src"), "tracked=clean");
}

#[test]
fn the_repository_of_another_user_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    // Only a privileged user may give files away; for everybody else it is still one's own.
    let expected = match std::os::unix::fs::chown(root.join(".git"), Some(12_345), None) {
        Ok(()) => "failed: git cannot be used: the repository belongs to another user",
        Err(_) => "tracked=clean",
    };
    assert_eq!(ask(root, "src"), expected);
}

#[test]
fn no_probe_changes_anything() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    repository(&root);
    fs::write(root.join("src/one"), "one\n").unwrap();
    fs::write(root.join("src/new"), "new").unwrap();
    let around = Workspace::open(folder.path()).unwrap();
    let all = around.target("root").unwrap();
    let before = all.identity(&Limits::default()).unwrap().unwrap();
    let workspace = Workspace::open(&root).unwrap();
    let mut settings = FileSettings::new().unwrap();
    settings.memory = Some(jiff::Timestamp::UNIX_EPOCH);
    for path in ["src", "src/one", "src/link", "none"] {
        let target = workspace.target(path).unwrap();
        for question in FileQuestion::ALL {
            let outcome = FileProbe::new(question).make(&workspace, &target, &settings);
            assert!(matches!(outcome, ProbeOutcome::Found(_)), "{outcome}");
        }
        let content = target.staged_diff(b"other", &Limits::default());
        assert_eq!(content.is_ok(), ["src/one", "none"].contains(&path));
    }
    assert_eq!(all.identity(&Limits::default()).unwrap().unwrap(), before);
    fs::write(root.join("src/one"), "one\n").unwrap();
    let after = all.identity(&Limits::default()).unwrap().unwrap();
    assert_ne!(
        after, before,
        "even the same bytes written again would be seen"
    );
}

#[test]
fn git_is_stopped_when_the_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    repository(root);
    // Whoever opens this pipe for reading waits until somebody writes.
    fs::remove_file(root.join(".git/HEAD")).unwrap();
    let made = Command::new("mkfifo")
        .arg(root.join(".git/HEAD"))
        .status()
        .unwrap();
    assert!(made.success());
    let workspace = Workspace::open(root).unwrap();
    let target = workspace.target("src").unwrap();
    let probe = FileProbe::new(FileQuestion::Repository);
    let probe = probe.with(1.0, Duration::from_millis(300), 0.0).unwrap();
    let start = std::time::Instant::now();
    let outcome = probe.make(&workspace, &target, &FileSettings::new().unwrap());
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(!matches!(outcome, ProbeOutcome::Found(_)), "{outcome}");
    assert!(outcome.leaves("tracked", "dirty"));
}
