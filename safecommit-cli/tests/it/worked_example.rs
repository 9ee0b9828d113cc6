//! The worked example prints what stands beside it.

use std::process::Command;

use crate::program::{Folder, workspace};

#[test]
fn the_worked_example_prints_what_stands_beside_it() {
    let example = std::fs::canonicalize(workspace("examples/worked-example")).unwrap();
    let elsewhere = Folder::new();
    let run = Command::new("bash")
        .arg(example.join("run.sh"))
        .env("SAFECOMMIT", env!("CARGO_BIN_EXE_safecommit"))
        .env("TMPDIR", elsewhere.path())
        .current_dir(elsewhere.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    let expected = std::fs::read_to_string(example.join("output.txt")).unwrap();
    assert!(
        printed == expected,
        "output.txt is out of date, really it reads\n{printed}"
    );
    let complaints = String::from_utf8(run.stderr).unwrap();
    assert_eq!((run.status.code(), complaints.as_str()), (Some(0), ""));
    assert_eq!(elsewhere.names(), [""; 0], "something is left behind");
}
