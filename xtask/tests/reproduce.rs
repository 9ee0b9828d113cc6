//! `cargo xtask reproduce` as a program.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const PLOTS: [&str; 5] = ["main", "family", "probe_budget", "alpha", "proposal_miss"];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Runs the task from a directory outside the project.
fn reproduce(arguments: &[&Path], environment: &[(&str, &str)]) -> Output {
    let elsewhere = TempDir::new().unwrap();
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("reproduce")
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(elsewhere.path())
        .output()
        .unwrap()
}

fn copy_of_the_data() -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in std::fs::read_dir(project().join("safecommit-bench/data/controlled")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn writes_tables_and_plots_alike_on_any_number_of_threads() {
    let directory = TempDir::new().unwrap();
    let (one, many) = (
        directory.path().join("new/one"),
        directory.path().join("many"),
    );
    for (out, threads) in [(&one, "1"), (&many, "5")] {
        let output = reproduce(&["--out".as_ref(), out], &[("RAYON_NUM_THREADS", threads)]);
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        // No progress bar where there is no terminal.
        assert_eq!(errors, "");
        for part in [
            "parameters chosen to match published figures",
            "in s.e.",
            "Time of each stage",
        ] {
            assert!(text.contains(part), "{part}");
        }
    }
    let written = files(&one);
    assert_eq!(written, files(&many));
    let mut names: Vec<String> = PLOTS.iter().map(|name| format!("{name}.svg")).collect();
    names.extend(["tables.json".to_owned(), "tables.md".to_owned()]);
    names.sort_unstable();
    assert_eq!(written.keys().cloned().collect::<Vec<_>>(), names);
    for name in PLOTS {
        let plot = String::from_utf8(written[&format!("{name}.svg")].clone()).unwrap();
        assert!(
            plot.contains("<svg") && plot.trim_end().ends_with("</svg>"),
            "{name}"
        );
    }
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&written["tables.json"]).unwrap();
    // 5 methods, again in 4 families, 4 budgets, 3 levels, 6 miss probabilities of 5 methods.
    assert_eq!(rows.len(), 5 + 5 * 4 + 4 + 3 + 6 * 5);
    assert!(
        rows.iter()
            .all(|row| row["episodes"] == 40_000 || !row["family"].is_null())
    );
}

#[test]
fn a_damaged_frozen_file_fails_and_is_named() {
    let data = copy_of_the_data();
    let check = |name: &str, damaged: Option<Vec<u8>>, part: &str| {
        let path = data.path().join(name);
        let whole = std::fs::read(&path).unwrap();
        match damaged {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        // What insta would take for leave to pass or to write.
        let environment = [
            ("INSTA_UPDATE", "always"),
            ("INSTA_FORCE_PASS", "1"),
            ("CI", ""),
        ];
        let output = reproduce(&["--data".as_ref(), data.path()], &environment);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(errors.contains(name) && errors.contains(part), "{errors}");
        std::fs::write(&path, whole).unwrap();
    };
    let read = |name: &str| std::fs::read(data.path().join(name)).unwrap();
    let mut flipped = read("calibration.jsonl");
    let line_17: usize = flipped
        .split_inclusive(|byte| *byte == b'\n')
        .take(16)
        .map(<[u8]>::len)
        .sum();
    flipped[line_17 + 30] ^= 1;
    check("calibration.jsonl", Some(flipped), "line 17 ");
    let test = read("test.jsonl");
    check(
        "test.jsonl",
        Some(test[..test.len() - 1].to_vec()),
        "line 4001 ",
    );
    check("manifest.json", Some(Vec::new()), "line 1 ");
    check("validation.jsonl", None, "cannot read");
    let output = reproduce(&["--data".as_ref(), data.path()], &[]);
    assert!(output.status.success());
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let output = reproduce(&["--out".as_ref(), &file], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("file`"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    let usage = reproduce(&["--nonsense".as_ref()], &[]);
    assert_eq!(usage.status.code(), Some(2));
}
