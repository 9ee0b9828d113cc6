//! `cargo xtask reproduce` as a program.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const PLOTS: [&str; 5] = ["main", "family", "probe_budget", "alpha", "proposal_miss"];

/// The files of the project that `reproduce` reads.
const READ: [&str; 3] = [
    "safecommit-bench/data/controlled",
    "safecommit-bench/snapshots",
    "safecommit-bench/data",
];

/// The task for one part, to be run on the project whose package is at `package`, from a directory outside of it.
fn part(package: &Path, only: &str, arguments: &[&Path]) -> Command {
    let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"));
    task.args(["reproduce", "--only", only])
        .args(arguments)
        .env("CARGO_MANIFEST_DIR", package)
        .current_dir(std::env::temp_dir());
    task
}

/// The task for the experiments of the paper.
fn task(package: &Path, arguments: &[&Path]) -> Command {
    part(package, "paper", arguments)
}

/// The project as cargo tests it, which runs a test in its package.
fn package() -> PathBuf {
    std::env::current_dir().unwrap()
}

fn reproduce(arguments: &[&Path], environment: &[(&str, &str)]) -> Output {
    let mut task = task(&package(), arguments);
    task.envs(environment.iter().copied()).output().unwrap()
}

/// A copy of the project as far as `reproduce` reads it.
struct Copy(TempDir);

impl Copy {
    fn new() -> Self {
        let copy = Self(TempDir::new().unwrap());
        let project = package().join("..");
        for directory in ["xtask", "safecommit-bench"] {
            std::fs::create_dir_all(copy.path(directory)).unwrap();
        }
        for name in [
            "Cargo.toml",
            "README.md",
            "RESULTS.md",
            "BEYOND.md",
            "safecommit-bench/Cargo.toml",
        ] {
            std::fs::copy(project.join(name), copy.path(name)).unwrap();
        }
        for directory in READ {
            std::fs::create_dir_all(copy.path(directory)).unwrap();
            for (name, contents) in files(&project.join(directory)) {
                copy.write(&format!("{directory}/{name}"), &contents);
            }
        }
        copy
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, contents: &[u8]) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    /// Changes a byte in the 17th line of a frozen split.
    fn corrupt(&self, name: &str) {
        let mut contents = self.read(name);
        let lines = contents.split_inclusive(|byte| *byte == b'\n');
        let start: usize = lines.take(16).map(<[u8]>::len).sum();
        contents[start + 30] ^= 1;
        self.write(name, &contents);
    }

    fn task(&self, arguments: &[&Path]) -> Command {
        task(&self.path("xtask"), arguments)
    }

    /// The task fails and names each of `parts`.
    #[track_caller]
    fn fails(&self, arguments: &[&Path], parts: &[&str]) {
        failed(self.task(arguments).output().unwrap(), parts);
    }
}

#[track_caller]
fn failed(output: Output, parts: &[&str]) {
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    for part in parts {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

const CALIBRATION: &str = "safecommit-bench/data/controlled/calibration.jsonl";
const CALIBRATION_DIFFERS: &str =
    "`safecommit-bench/data/controlled/calibration.jsonl` line 17 differs";

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_file())
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
        assert_eq!(errors, "running simulation (40000 episodes)\n");
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

/// A study alone, of which the project holds a snapshot and a section of a file with all of them.
#[test]
fn one_study_is_checked_and_written_alone() {
    const STUDY: &str = "groups";
    let copy = Copy::new();
    let out = copy.path("out");
    let run = |arguments: &[&Path]| {
        part(&copy.path("xtask"), STUDY, arguments)
            .output()
            .unwrap()
    };
    let output = run(&["--out".as_ref(), &out]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "running groups (10 seeds)\n");
    let written = files(&out);
    assert_eq!(
        written.keys().collect::<Vec<_>>(),
        ["beyond.json", "groups.svg", "points.json", "tables.md"]
    );
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&written["beyond.json"]).unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["study"] == STUDY));
    let points: Vec<serde_json::Value> = serde_json::from_slice(&written["points.json"]).unwrap();
    // Two calibrations and the target, in four families and at two ends.
    assert_eq!(points.len(), 2 * 4 + 2);

    let snapshot = format!("safecommit-bench/snapshots/{STUDY}.snap");
    for name in ["BEYOND.md", &snapshot] {
        let whole = copy.read(name);
        let text = String::from_utf8(whole.clone()).unwrap();
        assert!(text.contains("| group-conditional"));
        copy.write(
            name,
            text.replacen("| group-conditional", "| broken", 1)
                .as_bytes(),
        );
        failed(run(&[]), &[&format!("`{name}` line ")]);
        assert!(run(&["--bless".as_ref()]).status.success());
        assert!(copy.read(name) == whole, "{name}");
    }
    let mut unknown = part(&copy.path("xtask"), "nothing", &[]);
    assert_eq!(unknown.output().unwrap().status.code(), Some(2));
}

#[test]
fn a_damaged_frozen_file_fails_and_is_named() {
    let copy = Copy::new();
    let check = |name: &str, damaged: Option<&[u8]>, part: &str| {
        let path = format!("safecommit-bench/data/controlled/{name}");
        let whole = copy.read(&path);
        match damaged {
            Some(bytes) => copy.write(&path, bytes),
            None => std::fs::remove_file(copy.path(&path)).unwrap(),
        }
        // What insta would take for leave to pass or to write.
        let environment = [
            ("INSTA_UPDATE", "always"),
            ("INSTA_FORCE_PASS", "1"),
            ("CI", ""),
        ];
        let output = copy.task(&[]).envs(environment).output().unwrap();
        failed(output, &[name, part]);
        copy.write(&path, &whole);
    };
    let test = copy.read("safecommit-bench/data/controlled/test.jsonl");
    check("test.jsonl", Some(&test[..test.len() - 1]), "line 4001 ");
    check("manifest.json", Some(&[]), "line 1 ");
    check("validation.jsonl", None, "cannot read");
    let output = copy.task(&[]).output().unwrap();
    assert!(output.status.success());
    copy.corrupt(CALIBRATION);
    copy.fails(&[], &[CALIBRATION_DIFFERS]);
}

/// The program was built in one copy of the project; what it checks is the copy that it is run for.
#[test]
fn the_project_is_the_one_that_the_task_is_run_for() {
    let copy = Copy::new();
    copy.corrupt(CALIBRATION);
    let mut outside_cargo = copy.task(&[]);
    outside_cargo
        .env_remove("CARGO_MANIFEST_DIR")
        .current_dir(copy.path("safecommit-bench/data"));
    failed(outside_cargo.output().unwrap(), &[CALIBRATION_DIFFERS]);
    copy.fails(&[], &[CALIBRATION_DIFFERS]);

    let elsewhere = TempDir::new().unwrap();
    let mut nowhere = copy.task(&[]);
    nowhere
        .env_remove("CARGO_MANIFEST_DIR")
        .current_dir(elsewhere.path());
    failed(nowhere.output().unwrap(), &["` lies in no project"]);
    failed(
        task(elsewhere.path(), &[]).output().unwrap(),
        &["` lies in no project"],
    );
}

/// A program that was built before the parameters changed regenerates what they gave then.
#[test]
fn parameters_other_than_those_built_in_are_named() {
    let copy = Copy::new();
    let parameters = "safecommit-bench/data/parameters.toml";
    let text = String::from_utf8(copy.read(parameters)).unwrap();
    copy.write(parameters, text.replace("0.145", "0.146").as_bytes());
    copy.fails(
        &[],
        &["not what this program was built with: `safecommit-bench/data/parameters.toml` line "],
    );
}

/// Whatever else is broken, a damaged frozen file is named.
#[test]
fn a_later_failure_hides_no_earlier_one() {
    type Damage = fn(&Copy);
    let damages: [(&str, Damage); 7] = [
        ("`RESULTS.md` line 1 differs", |copy| {
            copy.write("RESULTS.md", b"");
        }),
        ("cannot read `README.md`", |copy| {
            std::fs::remove_file(copy.path("README.md")).unwrap();
        }),
        ("cannot read `README.md`", |copy| {
            copy.write("README.md", b"\xff");
        }),
        ("`README.md`: there is not exactly one marker", |copy| {
            let text = String::from_utf8(copy.read("README.md")).unwrap();
            copy.write("README.md", text.replace('\n', "\r\n").as_bytes());
        }),
        ("cannot read `safecommit-bench/snapshots`", |copy| {
            std::fs::remove_dir_all(copy.path("safecommit-bench/snapshots")).unwrap();
        }),
        (
            "`safecommit-bench/snapshots/main.snap.new` is the snapshot of no table",
            |copy| copy.write("safecommit-bench/snapshots/main.snap.new", b""),
        ),
        (
            "`safecommit-bench/snapshots/mean.snap` is the snapshot of no table",
            |copy| copy.write("safecommit-bench/snapshots/mean.snap", b""),
        ),
    ];
    for (named, damage) in damages {
        let copy = Copy::new();
        copy.corrupt(CALIBRATION);
        damage(&copy);
        copy.fails(&[], &[CALIBRATION_DIFFERS, named]);
    }
}

#[test]
fn an_output_that_cannot_be_written_hides_no_failure() {
    let copy = Copy::new();
    copy.corrupt(CALIBRATION);
    let file = copy.path("README.md");
    copy.fails(
        &["--out".as_ref(), &file],
        &[CALIBRATION_DIFFERS, "cannot create the directory `"],
    );
    if cfg!(target_os = "linux") {
        let full = || {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
            full.unwrap()
        };
        let output = copy.task(&[]).stdout(full()).output().unwrap();
        failed(output, &[CALIBRATION_DIFFERS, "1 check failed"]);
        let output = task(&package(), &[]).stdout(full()).output().unwrap();
        failed(output, &["cannot write to standard output"]);
    }
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
