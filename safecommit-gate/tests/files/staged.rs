//! What new content would change of a file, and whether it keeps all that is there.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use safecommit_conformal::Digest;
use safecommit_gate::{FileError, FileProbe, FileQuestion, Limits, ProbeOutcome, Workspace};

use crate::support::settings;

/// What the probe says of an overwrite, which was made from this, if it says so.
fn ask_about(root: &Path, path: &str, content: &str, base: Option<&str>) -> String {
    let workspace = Workspace::open(root).unwrap();
    let target = workspace.target(path).unwrap();
    let probe = FileProbe::new(FileQuestion::StagedDiff);
    let (content, base) = (content.as_bytes(), base.map(str::as_bytes));
    let base = base.map(Digest::of_bytes);
    let outcome = probe.make_for_overwrite(&workspace, &target, content, base, &settings());
    outcome.to_string()
}

/// What it says of an overwrite that does not say what it was made from.
fn ask(root: &Path, path: &str, content: &str) -> String {
    ask_about(root, path, content, None)
}

const UNKNOWN: &str = " base=unknown";

#[test]
fn a_staged_diff_says_which_lines_would_change() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), "a\nb\nc\n").unwrap();
    symlink("x", folder.path().join("link")).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let diff = |path: &str, content: &str| {
        let target = workspace.target(path).unwrap();
        target.staged_diff(content.as_bytes(), &Limits::default())
    };
    let lines = |content: &str| {
        let diff = diff("x", content).unwrap();
        (diff.first_line, diff.removed, diff.added)
    };
    assert_eq!(lines("a\nb\nc\n"), (4, 0, 0));
    assert_eq!(lines("a\nb\nb\nc\n"), (3, 0, 1));
    assert_eq!(lines("a\nc\n"), (2, 1, 0));
    assert_eq!(lines("a\nb\nc"), (3, 1, 1));
    assert_eq!(lines(""), (1, 3, 0));
    let new = diff("new", "a\n").unwrap();
    assert_eq!(
        (new.before, new.first_line, new.removed, new.added),
        (None, 1, 0, 1)
    );
    assert_eq!(diff("link", "a\n"), Err(FileError::Link("link".to_owned())));
}

#[test]
fn a_line_goes_unless_it_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let discards = |old: &str, new: &str| {
        fs::write(folder.path().join("x"), old).unwrap();
        ask(folder.path(), "x", new) == format!("discards=true{UNKNOWN}")
    };
    for (old, new) in [
        ("a\nb\n", "a\nb\n"),
        ("a\nb\n", "a\nb\nc\n"),
        ("a\nb\n", "c\na\nb\n"),
        ("a\nb\n", "a\nc\nd\nb\n"),
        ("a\na\n", "a\na\na\n"),
        // A last line that has no end gets one, and loses nothing.
        ("a", "a\n"),
        ("a", "a\nb"),
        ("a", "c\na"),
        ("a\nb", "a\nc\nb\n"),
        ("", ""),
        ("", "a"),
    ] {
        assert!(!discards(old, new), "{old:?} {new:?}");
    }
    for (old, new) in [
        ("a\nb\n", ""),
        ("a\nb\n", "a\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb\n", "b\na\n"),
        ("a\na\n", "a\n"),
        ("a\n", "A\n"),
        // The bytes of the line are all there; the line is not.
        ("port=80\n", "port=8080\n"),
        ("port=80", "port=8080"),
        ("a\n", "b a\n"),
        ("a\r\n", "a\n"),
        // In two places.
        ("a\nb\n", "c\na\nb\nc\n"),
    ] {
        assert!(discards(old, new), "{old:?} {new:?}");
    }
}

#[test]
fn content_was_made_from_what_is_there_or_from_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("x"), "a\nb\n").unwrap();
    let base = |content: &str, base: &str| ask_about(root, "x", content, Some(base));
    assert_eq!(base("a\nc\n", "a\nb\n"), "discards=true base=same");
    assert_eq!(base("a\nb\nc\n", "a\nb\n"), "discards=false base=same");
    // Shorter than what is there, which is read all the same.
    assert_eq!(base("", "a\nb\n"), "discards=true base=same");
    for other in ["", "a\nb", "a\nb\nc\n", "A\nb\n"] {
        assert_eq!(base("a\nb\nc\n", other), "discards=false base=other");
        assert_eq!(base("a\n", other), "discards=true base=other");
    }
    // Nothing is not the same as an empty file.
    assert_eq!(
        ask_about(root, "none", "a\n", Some("")),
        "discards=false base=other"
    );
    fs::write(root.join("empty"), "").unwrap();
    assert_eq!(
        ask_about(root, "empty", "a\n", Some("")),
        "discards=false base=same"
    );
}

#[test]
fn of_what_is_not_there_nothing_goes_and_what_is_no_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("dir")).unwrap();
    symlink("x", root.join("link")).unwrap();
    assert_eq!(ask(root, "none", "a\n"), format!("discards=false{UNKNOWN}"));
    assert_eq!(ask(root, "dir", ""), "failed: `dir` is no file");
    assert_eq!(ask(root, "link", ""), "failed: `link` is or passes a link");
    let workspace = Workspace::open(root).unwrap();
    let target = workspace.target("none").unwrap();
    let probe = FileProbe::new(FileQuestion::StagedDiff);
    let without = probe.make(&workspace, &target, &settings());
    assert_eq!(without.to_string(), "nothing found", "it is no overwrite");
    assert!(without.leaves("discards", "true"));
}

#[test]
fn no_more_is_read_than_is_to_be_written_and_a_limit_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody could read this in any time, but that its size says enough.
    let huge = fs::File::create(folder.path().join("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    assert_eq!(
        ask(folder.path(), "huge", "a\n"),
        format!("discards=true{UNKNOWN}")
    );

    fs::write(folder.path().join("x"), "a\nb\n").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let target = workspace.target("x").unwrap();
    let probe = FileProbe::new(FileQuestion::StagedDiff);
    let mut few = settings();
    few.limits.bytes = 3;
    let outcome = probe.make_for_overwrite(&workspace, &target, b"a\nb\nc\n", None, &few);
    assert!(
        matches!(
            outcome,
            ProbeOutcome::Failed(FileError::Limit { unit: "bytes", .. })
        ),
        "{outcome}"
    );
    assert!(outcome.leaves("discards", "true") && outcome.leaves("discards", "false"));
    let hasty = probe.with(1.0, Duration::from_nanos(1), 0.0).unwrap();
    let outcome = hasty.make_for_overwrite(&workspace, &target, b"a\nb\nc\n", None, &settings());
    assert_eq!(outcome, ProbeOutcome::TimedOut);
}

/// A file that grows line by line is at any moment kept whole by all that it will have in the end: whatever is found says
/// so, and the rest are failures.
#[test]
fn a_file_that_grows_while_it_is_read_is_never_read_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    // Of a line that crosses a page the file may hold the first half for a moment. Sixteen bytes cross none.
    let lines: Vec<String> = (0..40_000)
        .map(|line| format!("line {line:010}\n"))
        .collect();
    assert!(lines.iter().all(|line| line.len() == 16));
    let whole = lines.concat();
    let workspace = Workspace::open(folder.path()).unwrap();
    let target = workspace.target("x").unwrap();
    let probe = FileProbe::new(FileQuestion::StagedDiff);
    let (mut found, mut failed) = (0, 0);
    // How often a read meets a change is up to the system: one round nearly always has both.
    for _ in 0..100 {
        fs::write(&path, "").unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut file = fs::File::options().append(true).open(&path).unwrap();
                for line in &lines {
                    file.write_all(line.as_bytes()).unwrap();
                }
            });
            let mut last = false;
            while !last {
                last = writer.is_finished();
                let whole = whole.as_bytes();
                match probe.make_for_overwrite(&workspace, &target, whole, None, &settings()) {
                    ProbeOutcome::Failed(FileError::Changed(_)) => failed += 1,
                    outcome => {
                        assert_eq!(outcome.to_string(), format!("discards=false{UNKNOWN}"));
                        found += 1;
                    }
                }
            }
        });
        if found > 0 && failed > 0 {
            return;
        }
    }
    panic!("found {found} times, failed {failed} times");
}

/// Whether old content is kept, byte by byte: it is cut in two at any place, and both parts stand at the ends of the new
/// content, where no line of them is longer than it was.
fn is_kept(old: &str, new: &str) -> bool {
    (0..=old.len()).any(|cut| {
        let (start, end) = old.split_at(cut);
        let ended = match end {
            "" => end.to_owned(),
            _ if end.ends_with('\n') => end.to_owned(),
            _ => format!("{end}\n"),
        };
        [end, &ended].into_iter().any(|end| {
            let rest = new.strip_prefix(start);
            let Some(between) = rest.and_then(|rest| rest.strip_suffix(end)) else {
                return false;
            };
            // What is put in begins where a line begins, or ends the last one; and it ends where the next one begins.
            let begins = start.is_empty()
                || start.ends_with('\n')
                || end.is_empty() && between.starts_with('\n');
            let ends = end.is_empty() || between.ends_with('\n');
            between.is_empty() || begins && ends
        })
    })
}

proptest! {
    /// Old and new content of few different lines, so that both answers are frequent.
    #[test]
    fn what_the_probe_finds_is_what_comparing_bytes_finds(
        old in "([ab]{0,2}\n){0,4}[ab]{0,2}",
        new in "([ab]{0,2}\n){0,5}[ab]{0,2}",
        cut in any::<prop::sample::Index>(),
        put_in in "[ab\n]{0,4}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x"), &old).unwrap();
        // Anything at all, and something put in at any place.
        let cut = cut.index(old.len() + 1);
        let inserted = format!("{}{put_in}{}", &old[..cut], &old[cut..]);
        for new in [new, inserted] {
            let found = ask(folder.path(), "x", &new);
            let kept = is_kept(&old, &new);
            prop_assert_eq!(found, format!("discards={}{UNKNOWN}", !kept), "{:?} {:?}", old, new);
            if kept {
                // Every byte is there in its order, and every line as often as before.
                let mut bytes = new.bytes();
                prop_assert!(old.bytes().all(|byte| bytes.any(|other| other == byte)));
                let times = |content: &str, line| content.lines().filter(|other| *other == line).count();
                prop_assert!(old.lines().all(|line| times(&old, line) <= times(&new, line)));
            }
        }
    }
}
