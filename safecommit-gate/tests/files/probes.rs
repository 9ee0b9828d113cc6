//! Probes of files on real directories.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use safecommit_gate::{
    Facts, FileError, FileProbe, FileQuestion, FileSettings, Patterns, ProbeOutcome, Workspace,
    file_facts, overwrite_facts,
};

use crate::support::{ask, ask_with, settings};

#[test]
fn an_answer_to_any_question_that_comes_late_is_none() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), "x").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let mut settings = settings();
    settings.memory = Some(Timestamp::UNIX_EPOCH);
    let target = workspace.target("x").unwrap();
    for question in FileQuestion::ALL {
        let hasty = FileProbe::new(question).with(1.0, Duration::from_nanos(1), 0.0);
        let hasty = hasty.unwrap();
        let outcome = hasty.make_for_overwrite(&workspace, &target, b"x", None, &settings);
        assert_eq!(outcome, ProbeOutcome::TimedOut, "{question:?}");
    }
}

#[test]
fn every_question_reveals_declared_facts_and_no_two_the_same() {
    let facts = [file_facts().unwrap(), overwrite_facts().unwrap()];
    let facts = facts.iter().flat_map(Facts::as_slice).cloned();
    let facts = Facts::new(facts).unwrap();
    let mut revealed: Vec<&str> = FileQuestion::ALL
        .iter()
        .flat_map(|question| question.facts())
        .copied()
        .collect();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), "x").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let mut settings = settings();
    settings.memory = Some(Timestamp::UNIX_EPOCH);
    for path in ["x", "missing"] {
        let target = workspace.target(path).unwrap();
        for question in FileQuestion::ALL {
            let probe = FileProbe::new(question);
            let outcome = probe.make_for_overwrite(&workspace, &target, b"x", None, &settings);
            let ProbeOutcome::Found(found) = outcome else {
                panic!("{question:?}: {outcome}")
            };
            let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, question.facts());
            for (name, value) in found {
                let at = facts.position(name).unwrap();
                assert!(
                    facts.as_slice()[at]
                        .values()
                        .iter()
                        .any(|known| known == value)
                );
            }
        }
    }
    revealed.sort_unstable();
    let mut declared: Vec<&str> = facts
        .as_slice()
        .iter()
        .map(safecommit_gate::Fact::name)
        .collect();
    declared.sort_unstable();
    assert_eq!(revealed, declared);
}

#[test]
fn the_kind_is_told_without_following() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("file"), "").unwrap();
    fs::set_permissions(root.join("file"), fs::Permissions::from_mode(0o664)).unwrap();
    fs::create_dir(root.join("dir")).unwrap();
    fs::set_permissions(root.join("dir"), fs::Permissions::from_mode(0o555)).unwrap();
    symlink("dir", root.join("link")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let kind = |path| ask(root, path, FileQuestion::Status);
    assert_eq!(kind("file"), "kind=file writable_by=others");
    assert_eq!(kind("dir"), "kind=directory writable_by=nobody");
    assert_eq!(kind("link"), "kind=link writable_by=owner");
    assert_eq!(kind("loop"), "kind=link writable_by=owner");
    assert_eq!(kind("none"), "kind=missing writable_by=owner");
    let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    assert_eq!(
        kind("socket"),
        "failed: `socket` is a pipe, socket or device"
    );
    drop(socket);
}

#[test]
fn a_location_is_where_every_link_has_been_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(root.join("a/x"), "").unwrap();
    for (name, leads) in [
        ("up", "../outside"),
        ("round", "../root/a"),
        ("in", "a/b/../x"),
        ("dangling", "a/none"),
        ("dangling_out", "../none"),
        ("dangling_up", "none/../../outside"),
        ("second", "up"),
        ("loop", "loop"),
        ("through_file", "a/x/y"),
    ] {
        symlink(leads, root.join(name)).unwrap();
    }
    symlink(
        root.canonicalize().unwrap().join("a"),
        root.join("absolute"),
    )
    .unwrap();
    symlink(&outside, root.join("absolute_out")).unwrap();
    let sibling = format!("{}x", root.canonicalize().unwrap().display());
    symlink(sibling, root.join("same_beginning")).unwrap();
    let location = |path| ask(&root, path, FileQuestion::Location);
    for path in ["a", "a/x", "in", "dangling", "absolute", "new", "a/new"] {
        assert_eq!(location(path), "location=inside", "{path}");
    }
    for path in [
        "up",
        "round",
        "dangling_out",
        "dangling_up",
        "second",
        "absolute_out",
        "same_beginning",
    ] {
        assert_eq!(location(path), "location=outside", "{path}");
    }
    assert_eq!(
        location("loop"),
        "failed: `loop` leads through a loop of links"
    );
    assert!(location("through_file").starts_with("failed: "));
    let refused = Workspace::open(&root)
        .unwrap()
        .target("/etc/passwd")
        .unwrap_err();
    assert_eq!(
        ProbeOutcome::of_refused_path(refused).to_string(),
        "location=outside"
    );
}

#[test]
fn a_tree_is_left_by_links_that_lead_out_of_it_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/bin")).unwrap();
    fs::create_dir(root.join("other")).unwrap();
    symlink("../lib/tool", root.join("t/bin/tool")).unwrap();
    symlink("loop", root.join("t/loop")).unwrap();
    symlink(
        root.canonicalize().unwrap().join("t/bin"),
        root.join("t/absolute"),
    )
    .unwrap();
    assert_eq!(
        ask(root, "t", FileQuestion::Tree),
        "leaves_tree=no owner=own"
    );
    symlink("../../other", root.join("t/bin/out")).unwrap();
    assert_eq!(
        ask(root, "t", FileQuestion::Tree),
        "leaves_tree=link owner=own"
    );
    assert_eq!(
        ask(root, "t/bin/out", FileQuestion::Tree),
        "leaves_tree=no owner=own"
    );
    let mut settings = settings();
    settings.owner += 1;
    let other = ask_with(root, "t", FileQuestion::Tree, &settings);
    assert_eq!(other, "leaves_tree=link owner=other");
    assert_eq!(
        ask_with(root, "none", FileQuestion::Tree, &settings),
        "leaves_tree=no owner=other"
    );
}

#[test]
fn one_owner_below_who_is_another_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/a")).unwrap();
    fs::write(root.join("t/a/x"), "").unwrap();
    match std::os::unix::fs::chown(root.join("t/a/x"), Some(12_345), None) {
        Ok(()) => assert_eq!(
            ask(root, "t", FileQuestion::Tree),
            "leaves_tree=no owner=other"
        ),
        // Only a privileged user may give files away; the answer for everybody is that it is still one's own.
        Err(_) => assert_eq!(
            ask(root, "t", FileQuestion::Tree),
            "leaves_tree=no owner=own"
        ),
    }
}

#[test]
fn a_copy_is_another_file_outside_the_target() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/a")).unwrap();
    fs::write(root.join("t/x"), "precious").unwrap();
    fs::write(root.join("t/a/same"), "precious").unwrap();
    fs::write(root.join("t/empty"), "").unwrap();
    let only = |path| ask(root, path, FileQuestion::Copies);
    assert_eq!(
        only("t"),
        "only_copy=true",
        "a copy in the target goes with it"
    );
    assert_eq!(only("t/x"), "only_copy=false");
    assert_eq!(only("t/empty"), "only_copy=false", "nothing is lost");
    assert_eq!(only("none"), "only_copy=false");
    fs::hard_link(root.join("t/x"), root.join("name")).unwrap();
    symlink("t/x", root.join("link")).unwrap();
    assert_eq!(only("t"), "only_copy=true", "another name is no copy");
    fs::write(root.join("near"), "precioux").unwrap();
    assert_eq!(only("t"), "only_copy=true");
    fs::write(root.join("copy"), "precious").unwrap();
    assert_eq!(only("t"), "only_copy=false");
    fs::write(root.join("t/more"), "more").unwrap();
    assert_eq!(only("t"), "only_copy=true");
}

#[test]
fn what_was_changed_since_the_memory_is_told_by_a_time_that_cannot_be_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/a")).unwrap();
    fs::write(root.join("t/a/x"), "x").unwrap();
    let mut settings = settings();
    assert_eq!(
        ask_with(root, "t", FileQuestion::Age, &settings),
        "nothing found"
    );
    settings.memory = Some(Timestamp::now() + 1.second());
    let unchanged = "changed_since_memory=false";
    assert_eq!(ask_with(root, "t", FileQuestion::Age, &settings), unchanged);
    assert_eq!(
        ask_with(root, "gone", FileQuestion::Age, &settings),
        "changed_since_memory=true"
    );
    settings.memory = Some(Timestamp::now() - 1.hour());
    let file = fs::File::options()
        .write(true)
        .open(root.join("t/a/x"))
        .unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    for path in ["t", "t/a/x"] {
        let age = ask_with(root, path, FileQuestion::Age, &settings);
        assert_eq!(age, "changed_since_memory=true", "{path}");
    }
}

/// Settings with a memory of now, which nothing before or after is near to.
fn remembering_now() -> FileSettings {
    let mut settings = settings();
    std::thread::sleep(Duration::from_millis(50));
    settings.memory = Some(Timestamp::now());
    std::thread::sleep(Duration::from_millis(50));
    settings
}

#[test]
fn a_target_that_came_with_a_directory_on_its_way_is_not_said_to_be_unchanged() {
    for way in ["", "a/", "a/b/"] {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path().join(way);
        for name in ["cfg/deep", "other/deep"] {
            fs::create_dir_all(above.join(name)).unwrap();
            fs::write(above.join(name).join("x"), name).unwrap();
        }
        let settings = remembering_now();
        let path = format!("{way}cfg/deep/x");
        let age = || ask_with(folder.path(), &path, FileQuestion::Age, &settings);
        assert_eq!(age(), "changed_since_memory=false");
        fs::rename(above.join("cfg"), above.join("old")).unwrap();
        fs::rename(above.join("other"), above.join("cfg")).unwrap();
        // The time of the content can be set back, and tells nothing.
        for folder in [&above, &above.join("cfg")] {
            let folder = fs::File::open(folder).unwrap();
            folder.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        let expected = format!("failed: `{way}cfg` may have been put there since the memory");
        assert_eq!(age(), expected);
        fs::write(above.join("cfg/deep/x"), "new").unwrap();
        assert_eq!(age(), "changed_since_memory=true");
    }
}

#[test]
fn what_happens_beside_a_target_does_not_hide_that_it_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/x"), "x").unwrap();
    fs::write(root.join("top"), "x").unwrap();
    let settings = remembering_now();
    let age = |path| ask_with(root, path, FileQuestion::Age, &settings);
    for beside in ["new", "a/b/new"] {
        fs::write(root.join(beside), "new").unwrap();
        assert_eq!(age("a/b/x"), "changed_since_memory=false", "{beside}");
        assert_eq!(age("top"), "changed_since_memory=false", "{beside}");
    }
    // Now `a/b` may have been put into `a`: nothing is known.
    fs::write(root.join("a/new"), "new").unwrap();
    assert!(
        age("a/b/x").starts_with("failed: `a` may"),
        "{}",
        age("a/b/x")
    );
    assert_eq!(age("top"), "changed_since_memory=false");
}

#[test]
fn patterns_hold_for_a_path_for_what_is_below_and_for_where_a_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("t/.git")).unwrap();
    fs::create_dir(root.join("plain")).unwrap();
    fs::write(root.join("plain/.env"), "").unwrap();
    symlink("plain/.env", root.join("harmless")).unwrap();
    let ask = |path| ask(root, path, FileQuestion::Patterns);
    assert_eq!(ask("t"), "protected=true secret=false");
    assert_eq!(ask("t/.git"), "protected=true secret=false");
    assert_eq!(ask("t/.git/config"), "protected=true secret=false");
    assert_eq!(ask("plain"), "protected=false secret=true");
    assert_eq!(ask("harmless"), "protected=false secret=true");
    assert_eq!(ask("plain/Credentials.json"), "protected=false secret=true");
    assert_eq!(ask("plain/new"), "protected=false secret=false");
    let mut settings = settings();
    settings.protected = Patterns::new(["/plain"]).unwrap();
    let outcome = ask_with(root, "plain/new", FileQuestion::Patterns, &settings);
    assert_eq!(outcome, "protected=true secret=false");
}

#[test]
fn a_probe_that_fails_or_is_late_removes_no_world() {
    let folder = tempfile::tempdir().unwrap();
    for name in 0..200 {
        fs::write(folder.path().join(name.to_string()), "x").unwrap();
    }
    fs::create_dir(folder.path().join("t")).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let target = workspace.target("0").unwrap();
    let facts = file_facts().unwrap();
    let world = facts.assignment([
        ("kind", "link"),
        ("location", "outside"),
        ("leaves_tree", "mount"),
        ("owner", "other"),
        ("writable_by", "others"),
        ("tracked", "dirty"),
        ("only_copy", "true"),
        ("changed_since_memory", "true"),
        ("protected", "true"),
        ("secret", "true"),
        ("reversible", "false"),
    ]);
    let world = world.unwrap();
    let make = |question, settings: &FileSettings, timeout| {
        let probe = FileProbe::new(question).with(1.0, timeout, 0.0).unwrap();
        probe.make(&workspace, &target, settings)
    };
    let second = Duration::from_secs(1);
    let found = make(FileQuestion::Copies, &settings(), second);
    assert_eq!(found.to_string(), "only_copy=false");
    assert!(!found.leaves_world(&facts, &world));
    let late = make(FileQuestion::Copies, &settings(), Duration::from_nanos(1));
    assert_eq!(late, ProbeOutcome::TimedOut);
    assert!(late.leaves_world(&facts, &world));
    let mut few = settings();
    few.limits.entries = 100;
    let failed = make(FileQuestion::Copies, &few, second);
    assert!(matches!(
        failed,
        ProbeOutcome::Failed(FileError::Limit { unit: "names", .. })
    ));
    assert!(failed.leaves_world(&facts, &world));
}

/// A search for copies looks at the target and at the workspace, and counts the names of both and both first names.
#[test]
fn a_limit_of_names_counts_the_first_of_each_walk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("mine"), "x").unwrap();
    fs::write(root.join("copy"), "x").unwrap();
    let ask = |entries| {
        let mut few = settings();
        few.limits.entries = entries;
        ask_with(root, "mine", FileQuestion::Copies, &few)
    };
    assert_eq!(ask(4), "only_copy=false");
    assert_eq!(ask(3), "failed: the limit of 3 names is exceeded at `.`");
}

#[test]
fn a_probe_refuses_a_cost_a_timeout_and_an_error_rate_that_cannot_be() {
    let with = |cost, seconds, error_rate| {
        FileProbe::new(FileQuestion::Tree).with(cost, Duration::from_secs(seconds), error_rate)
    };
    for (cost, seconds, error_rate) in [
        (0.0, 1, 0.0),
        (f64::NAN, 1, 0.0),
        (f64::INFINITY, 1, 0.0),
        (1.0, 0, 0.0),
        (1.0, 1, -0.1),
        (1.0, 1, 1.1),
        (1.0, 1, f64::NAN),
    ] {
        assert!(
            with(cost, seconds, error_rate).is_err(),
            "{cost} {seconds} {error_rate}"
        );
    }
    assert!(with(2.0, 1, 1.0).is_ok());
}
