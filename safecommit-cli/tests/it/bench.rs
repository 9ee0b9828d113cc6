//! The benchmark: frozen splits, and decisions that an independent program agrees with.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::program::{Folder, Run, workspace};

const FILES: [&str; 5] = [
    "calibration.jsonl",
    "manifest.json",
    "test.jsonl",
    "train.jsonl",
    "validation.jsonl",
];

fn frozen() -> std::path::PathBuf {
    workspace("safecommit-bench/data/controlled")
}

fn run(
    folder: &Folder,
    data: &Path,
    method: &str,
    alpha: &str,
    max_probes: &str,
    out: &str,
) -> Run {
    let data = data.to_str().unwrap();
    folder.run([
        "bench",
        "run",
        "--data",
        data,
        "--method",
        method,
        "--alpha",
        alpha,
        "--max-probes",
        max_probes,
        "--decisions",
        out,
    ])
}

fn copy_of_the_data() -> Folder {
    let folder = Folder::new();
    for name in FILES {
        std::fs::copy(frozen().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn generate_gives_the_frozen_files_and_replaces_old_ones() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    folder.write("data/test.jsonl", "old");
    let report = folder.run(["bench", "generate", "--out", "data"]).prints(0);
    assert_eq!(report.lines().count(), FILES.len());
    for name in FILES {
        let frozen = std::fs::read_to_string(frozen().join(name)).unwrap();
        assert!(folder.read(&format!("data/{name}")) == frozen, "{name}");
    }
    let mut found: Vec<_> = std::fs::read_dir(folder.path().join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, FILES);
    assert_eq!(folder.names(), ["data"]);
}

#[test]
fn generate_needs_a_directory() {
    let folder = Folder::new();
    folder
        .run(["bench", "generate", "--out", "absent/data"])
        .fails(
            1,
            "cannot make the directory `absent/data`: No such file or directory (os error 2)",
        );
    folder.write("file", "");
    folder.run(["bench", "generate", "--out", "file"]).fails(
        1,
        "cannot make the directory `file`: File exists (os error 17)",
    );
    assert_eq!(folder.names(), ["file"]);
    assert_eq!(folder.read("file"), "");
}

/// The goldens hold digests of the decisions of the second model, written in another language from the
/// description of the benchmark.
#[test]
fn every_decision_is_that_of_the_second_model() {
    let goldens = workspace("safecommit-bench/second-model/goldens/digests.json");
    let goldens: Value = serde_json::from_str(&std::fs::read_to_string(goldens).unwrap()).unwrap();
    let goldens = goldens["decisions"].as_object().unwrap();
    assert!(goldens.len() >= 13, "{goldens:?}");
    let folder = Folder::new();
    for (setting, digest) in goldens {
        let [_, method, alpha, budget] = setting.split(' ').collect::<Vec<_>>()[..] else {
            panic!("`{setting}` is no setting");
        };
        run(&folder, &frozen(), method, alpha, budget, "decisions.jsonl").prints(0);
        let found = Sha256::digest(folder.read("decisions.jsonl"));
        let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, digest.as_str().unwrap(), "{setting}");
    }
}

#[test]
fn counts_and_rates() {
    let folder = Folder::new();
    let report = run(
        &folder,
        &frozen(),
        "safecommit",
        "0.05",
        "2",
        "decisions.jsonl",
    )
    .prints(0);
    insta::assert_snapshot!("bench_run_safecommit", report);

    let decisions = folder.read("decisions.jsonl");
    let first = decisions.lines().next().unwrap();
    assert_eq!(
        first,
        r#"{"id":"test-000000","decision":"commit","action":"a2","probes":[],"kappa":0.658203}"#
    );
    let decisions: Vec<Value> = decisions
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let test = std::fs::read_to_string(frozen().join("test.jsonl")).unwrap();
    let episodes: Vec<Value> = test
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(decisions.len(), episodes.len());
    let safe = decisions
        .iter()
        .zip(&episodes)
        .filter(|(decision, episode)| {
            assert_eq!(decision["id"], episode["id"]);
            let worlds = episode["worlds"].as_array().unwrap();
            let truth = worlds
                .iter()
                .find(|world| world["id"] == episode["true_world"])
                .unwrap();
            truth["safe"]
                .as_array()
                .unwrap()
                .contains(&decision["action"])
        });
    assert!(
        report.contains(&format!("safe commits    {:>6}", safe.count())),
        "{report}"
    );
}

#[test]
fn decisions_may_go_to_standard_output() {
    let folder = Folder::new();
    let to_file = run(
        &folder,
        &frozen(),
        "single_world",
        "0.05",
        "2",
        "decisions.jsonl",
    );
    let to_stdout = run(&folder, &frozen(), "single_world", "0.05", "2", "-");
    assert_eq!(to_stdout.stdout, folder.read("decisions.jsonl"));
    assert_eq!(to_stdout.stderr, to_file.stdout);
    assert_eq!((to_stdout.code, to_file.code), (Some(0), Some(0)));
}

#[test]
fn the_manifest_is_checked_and_the_bad_file_is_named() {
    for name in FILES {
        let data = copy_of_the_data();
        let mut contents = data.read(name);
        // One digit in the middle of an episode file, or of the first digest in the manifest.
        let at = contents.find("sha256").unwrap_or(contents.len() / 2) + "sha256".len();
        let at = at
            + contents[at..]
                .find(|letter: char| letter.is_ascii_digit())
                .unwrap();
        let digit = if contents.as_bytes()[at] == b'1' {
            "2"
        } else {
            "1"
        };
        contents.replace_range(at..=at, digit);
        data.write(name, contents);
        let out = Folder::new();
        out.write("decisions.jsonl", "as it was");
        let failed = run(
            &out,
            data.path(),
            "safecommit",
            "0.05",
            "2",
            "decisions.jsonl",
        );
        assert_eq!(
            (failed.code, failed.stdout.as_str()),
            (Some(1), ""),
            "{name}"
        );
        // A digest that does not fit is seen at the file, of which the manifest may be right.
        let named = if name == "manifest.json" {
            "train.jsonl"
        } else {
            name
        };
        assert!(failed.stderr.contains(named), "{failed:?}");
        assert_eq!(out.read("decisions.jsonl"), "as it was");
        assert_eq!(out.names(), ["decisions.jsonl"]);
    }
}

#[test]
fn a_missing_file_is_named() {
    for name in FILES {
        let data = copy_of_the_data();
        std::fs::remove_file(data.path().join(name)).unwrap();
        let path = data.path().join(name);
        let failed = run(&Folder::new(), data.path(), "safecommit", "0.05", "2", "-");
        failed.fails(
            1,
            &format!(
                "cannot read `{}`: No such file or directory (os error 2)",
                path.display()
            ),
        );
    }
}
