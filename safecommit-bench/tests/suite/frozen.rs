//! The frozen data: the same bytes however they are made, and nothing that was tampered with loads.

use std::fs;
use std::path::{Path, PathBuf};

use safecommit_bench::{
    DataError, FileEntry, FrozenData, MANIFEST_FILE, Manifest, Parameters, Split, compare,
    render_all, render_rows, render_split,
};

use crate::project;

fn committed() -> PathBuf {
    // A test runs in its package, which may be another copy than the one that was built.
    PathBuf::from("data/controlled")
}

/// Parameters for data that is quick to make.
fn small() -> Parameters {
    let text = Parameters::project_toml()
        .replace("train = 2000", "train = 3")
        .replace("validation = 1000", "validation = 5")
        .replace("calibration = 2000", "calibration = 7")
        .replace("test = 4000", "test = 600");
    Parameters::from_toml(&text).unwrap()
}

/// A fresh directory with the small data in it.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory).unwrap();
    }
    fs::create_dir_all(&directory).unwrap();
    for file in render_all(&small()) {
        fs::write(directory.join(file.name), file.bytes).unwrap();
    }
    directory
}

/// Replaces a part of a file.
fn tamper(directory: &Path, file: &str, part: &str, replacement: &str) {
    let path = directory.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(part), "{part}");
    fs::write(path, text.replacen(part, replacement, 1)).unwrap();
}

fn load_error(directory: &Path) -> String {
    FrozenData::load(directory).unwrap_err().to_string()
}

#[test]
fn the_committed_data_is_what_the_generator_gives() {
    compare(&project(), &committed()).unwrap();
}

#[test]
fn the_committed_data_loads() {
    let data = FrozenData::load(&committed()).unwrap();
    let sizes = Split::ALL.map(|split| data.records(split).len());
    assert_eq!(sizes, [2000, 1000, 2000, 4000]);
    assert_eq!(*data.manifest().parameters(), project().generator);
    assert_eq!(data.manifest().seed(), project().frozen.seed);
    for split in Split::ALL {
        let records = data.records(split);
        let episodes = data.episodes(split).unwrap();
        assert_eq!(records[17].id(), format!("{split}-000017"));
        for (index, episode) in episodes.iter().enumerate() {
            assert_eq!(episode.family() as usize, index % 4);
        }
    }
}

#[test]
fn any_shards_give_the_same_bytes() {
    let parameters = small();
    let whole = render_rows(&parameters, Split::Test, 0..600);
    assert_eq!(render_split(&parameters, Split::Test), whole);
    for shards in [1, 2, 3, 7, 600] {
        let mut parts: Vec<(u64, Vec<u8>)> = (0..shards)
            // Later shards first: no shard depends on another.
            .rev()
            .map(|shard| {
                let (start, end) = (600 * shard / shards, 600 * (shard + 1) / shards);
                (start, render_rows(&parameters, Split::Test, start..end))
            })
            .collect();
        parts.sort();
        let joined: Vec<u8> = parts.into_iter().flat_map(|part| part.1).collect();
        assert!(joined == whole, "{shards} shards");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let parameters = small();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| render_all(&parameters))
    };
    let files = with(1);
    assert_eq!(files.last().unwrap().name, MANIFEST_FILE);
    for threads in [2, 5] {
        assert_eq!(with(threads), files);
    }
}

#[test]
fn a_changed_file_is_named() {
    let directory = directory("changed");
    assert!(compare(&small(), &directory).is_ok());
    FrozenData::load(&directory).unwrap();
    // Still a good line, so that only the digest tells.
    tamper(&directory, "test.jsonl", r#""cost":1.0"#, r#""cost":2.0"#);
    let error = load_error(&directory);
    assert!(error.contains("test.jsonl` is corrupted"), "{error}");
    let error = compare(&small(), &directory).unwrap_err();
    assert!(
        matches!(&error, DataError::Differs { line: 1, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("test.jsonl` line 1 differs"),
        "{error}"
    );
}

#[test]
fn a_broken_line_is_named() {
    let directory = directory("broken");
    tamper(
        &directory,
        "calibration.jsonl",
        r#"calibration-000004","family":"stale""#,
        r#"calibration-000004","family":"stalf""#,
    );
    let error = load_error(&directory);
    assert!(error.contains("calibration.jsonl` is corrupted"), "{error}");
    assert!(
        error.contains("calibration.jsonl` line 5: field `family`"),
        "{error}"
    );
    let error = compare(&small(), &directory).unwrap_err();
    assert!(
        matches!(&error, DataError::Differs { line: 5, .. }),
        "{error}"
    );
}

#[test]
fn a_truncated_file_is_named() {
    let directory = directory("truncated");
    let path = directory.join("train.jsonl");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(load_error(&directory).contains("train.jsonl` is corrupted"));
    let error = compare(&small(), &directory).unwrap_err();
    assert!(
        matches!(&error, DataError::Differs { line: 4, .. }),
        "{error}"
    );
}

#[test]
fn a_missing_file_or_a_directory_for_a_file_is_named() {
    let directory = directory("missing");
    fs::remove_file(directory.join("validation.jsonl")).unwrap();
    let error = load_error(&directory);
    assert!(
        error.starts_with("cannot read") && error.contains("validation.jsonl"),
        "{error}"
    );
    fs::create_dir(directory.join("validation.jsonl")).unwrap();
    let error = load_error(&directory);
    assert!(
        error.starts_with("cannot read") && error.contains("validation.jsonl"),
        "{error}"
    );
    fs::remove_file(directory.join(MANIFEST_FILE)).unwrap();
    let error = load_error(&directory);
    assert!(error.contains(MANIFEST_FILE), "{error}");
    assert!(compare(&small(), &directory).is_err());
}

#[test]
fn a_bad_manifest_is_refused() {
    let check = |part: &str, replacement: &str, field: &str, message: &str| {
        let directory = directory("manifest");
        let whole = fs::read_to_string(directory.join(MANIFEST_FILE)).unwrap();
        tamper(&directory, MANIFEST_FILE, part, replacement);
        let error = FrozenData::load(&directory).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        if let DataError::Manifest { error, .. } = &error {
            assert_eq!(error.field().unwrap_or_default(), field, "{error}");
            // What is replaced starts on the line at fault, or ends on it.
            let line = |at: usize| 1 + whole[..at].matches('\n').count();
            let start = whole.find(part).unwrap();
            let lines = line(start)..=line(start + part.len());
            assert!(lines.contains(&error.line()), "{error}");
        } else {
            assert_eq!(field, "", "{error}");
        }
        let error = compare(&small(), &directory).unwrap_err();
        assert!(error.to_string().contains("manifest.json` line"), "{error}");
    };
    check(
        "\"format_version\": 1",
        "\"format_version\": 2",
        "format_version",
        "manifest.json` line 2: field `format_version`: `2` is not",
    );
    check(
        "\"generator_version\": 1",
        "\"generator_version\": 2",
        "generator_version",
        "manifest.json` line 3: field `generator_version`: `2` is not",
    );
    check(
        "train.jsonl",
        "trains.jsonl",
        "files[0].name",
        "`trains.jsonl` is not train.jsonl",
    );
    check(
        "\"rows\": 600",
        "\"rows\": 601",
        "",
        "has 600 rows, the manifest says 601",
    );
    check(
        "\"sha256\": \"",
        "\"sha256\": \"X",
        "files[0].sha256",
        "lower-case hexadecimal",
    );
    check(
        "\"background_sd\": 0.145",
        "\"background_sd\": -1",
        "parameters.background_sd",
        "`-1` is not",
    );
    check("\"seed\": 1", "\"sede\": 1", "sede", "unknown field `sede`");
    check(
        "\"seed\": 1",
        "\"seed\": 1, \"seed\": 1",
        "seed",
        "duplicate field `seed`",
    );
    // Of a field that is not there, the line is that of the object that lacks it.
    check(
        "{\n  \"format_version\": 1,",
        "{",
        "format_version",
        "manifest.json` line 1: field `format_version`: missing",
    );
    check("\n}\n", "\n", "", "EOF");
    check(
        "{\n      \"min\": 3,\n      \"max\": 6\n    }",
        "[3, 6]",
        "parameters.worlds",
        "invalid type: sequence",
    );
}

#[test]
fn a_manifest_of_other_files_is_refused() {
    let directory = directory("files");
    let path = directory.join(MANIFEST_FILE);
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let check = |change: &dyn Fn(&mut Vec<serde_json::Value>), field: &str| {
        let mut changed = manifest.clone();
        change(changed["files"].as_array_mut().unwrap());
        fs::write(&path, changed.to_string()).unwrap();
        let error = load_error(&directory);
        let place = format!("manifest.json` line 1: field `{field}`: ");
        assert!(error.contains(&place), "{error}");
    };
    check(&|files| files.swap(1, 2), "files[1].name");
    check(&|files| drop(files.pop()), "files");
    check(&|files| files.push(files[0].clone()), "files");
    // Elements in the order of the fields, which a derived reader takes for the object.
    let list = |file: &serde_json::Value| {
        let values = ["name", "rows", "bytes", "sha256"].map(|name| file[name].clone());
        serde_json::Value::from(values.to_vec())
    };
    check(&|files| files[3] = list(&files[3]), "files[3]");
    fs::write(&path, "[1, 1, 1]").unwrap();
    let error = load_error(&directory);
    assert!(
        error.contains("expected a manifest as an object"),
        "{error}"
    );
    assert!(serde_json::from_str::<Manifest>("[1, 1, 1]").is_err());
}

#[test]
fn an_episode_that_cannot_be_decided_on_is_named() {
    let directory = directory("actions");
    let path = directory.join("validation.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let many: Vec<String> = (3..65).map(|at| format!(",\"a{at}\"")).collect();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    lines[2] = lines[2].replacen("\"a2\"]", &format!("\"a2\"{}]", many.concat()), 1);
    let text = lines.concat();
    fs::write(&path, &text).unwrap();
    let manifest = directory.join(MANIFEST_FILE);
    let mut changed: serde_json::Value =
        serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let entry = FileEntry::of(Split::Validation, text.as_bytes());
    changed["files"][1] = serde_json::to_value(entry).unwrap();
    fs::write(&manifest, changed.to_string()).unwrap();
    let data = FrozenData::load(&directory).unwrap();
    assert_eq!(data.episodes(Split::Test).unwrap().len(), 600);
    let error = data.episodes(Split::Validation).unwrap_err().to_string();
    let named = "validation.jsonl` line 3: field `actions`: `65` actions";
    assert!(error.contains(named), "{error}");
}
