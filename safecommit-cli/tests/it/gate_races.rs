//! What is put in the place of a target after it was looked at, and while the command runs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use safecommit_core::DecisionKind;
use safecommit_gate::{FileGate, FileProposal};
use serde_json::Value;

use crate::gate::{Gate, STREAM};
use crate::gate_files::{delete, moved, one, overwrite, write};

/// Every path below a directory, with what stands there.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(path) = open.pop() {
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let content = if kind.is_symlink() {
            fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else if kind.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            b"a directory".to_vec()
        } else {
            fs::read(&path).unwrap()
        };
        found.insert(path, content);
    }
    found
}

/// A gate beside a directory that nobody may touch.
fn gate() -> Gate {
    let gate = Gate::new();
    fs::create_dir_all(gate.path("outside/deep")).unwrap();
    gate.0.write("outside/file", "not to be touched");
    gate.0.write("outside/deep/file", "nor this");
    gate
}

#[test]
fn none_of_1000_swaps_after_the_decision_is_followed() {
    let gate = gate();
    let configuration = gate.load();
    let mut library = FileGate::open(&configuration).unwrap();
    let outside = tree(&gate.path("outside"));
    let project = gate.path("project");
    let mut refused = 0;
    for round in 0..1000_usize {
        // A directory of its own with a file and a directory in it.
        let base = project.join(format!("r{round}"));
        fs::create_dir_all(base.join("deep")).unwrap();
        fs::write(base.join("file"), "mine").unwrap();
        fs::write(base.join("deep/file"), "mine too").unwrap();
        let at = |below: &str| format!("r{round}/{below}");
        let action = match round % 6 {
            0 => delete(&at("file")),
            1 => delete(&at("deep")),
            2 => overwrite(&at("deep/file"), "new"),
            3 => write(&at("deep/new"), "new"),
            4 => moved(&at("file"), &at("deep/moved")),
            _ => moved(&at("deep/file"), &at("moved")),
        };
        let asked = one(&format!("d-{round}"), action).to_string();
        let proposal: FileProposal = serde_json::from_str(&asked).unwrap();
        let request = proposal.check([]).unwrap();
        let decision = library.decide(&request, jiff::Timestamp::now()).unwrap();
        assert_eq!(decision.record().decision, DecisionKind::Commit, "{asked}");
        // What was looked at goes, and a link takes its place or that of the directory that it is in.
        let (swapped, aside) = match (round % 6, round / 6 % 2) {
            (0, _) => (base.join("file"), project.join(format!("aside{round}"))),
            (1..=3 | 5, 0) | (4, 0) => (base.join("deep"), project.join(format!("aside{round}"))),
            _ => (base.clone(), project.join(format!("aside{round}"))),
        };
        fs::rename(&swapped, &aside).unwrap();
        let name = swapped.strip_prefix(&base).unwrap();
        symlink(gate.path("outside").join(name), &swapped).unwrap();
        let before = tree(&project);
        match library.release(decision) {
            Ok(receipt) => panic!("{asked} was done, by entry {}", receipt.entry),
            Err(_) => refused += 1,
        }
        assert!(tree(&project) == before, "{asked}");
        assert!(tree(&gate.path("outside")) == outside, "{asked}");
        fs::remove_file(&swapped).unwrap();
        let _ = fs::remove_dir_all(&base);
        fs::remove_file(&aside)
            .or_else(|_| fs::remove_dir_all(&aside))
            .unwrap();
    }
    assert_eq!(refused, 1000);
    drop(library);
    gate.verify(1000);
}

/// Half of the time a directory is a link to the outside.
#[test]
fn a_link_that_comes_and_goes_while_the_command_runs_is_not_followed() {
    let gate = gate();
    let outside = tree(&gate.path("outside"));
    let (project, elsewhere) = (gate.path("project"), gate.path("elsewhere"));
    fs::create_dir_all(project.join("race/deep")).unwrap();
    let link = elsewhere.join("link");
    fs::create_dir(&elsewhere).unwrap();
    symlink(gate.path("outside"), &link).unwrap();
    for name in ["file", "deep/file"] {
        fs::write(project.join("race").join(name), "mine").unwrap();
    }
    let requests = (0..120).map(|number| {
        let action = match number % 5 {
            0 => overwrite("race/file", &format!("new {number}")),
            1 => write(&format!("race/new-{number}"), "new"),
            2 => moved("race/file", &format!("race/file-{number}")),
            3 => delete("race/deep/file"),
            _ => write("race/file", "again"),
        };
        one(&format!("d-{number}"), action).to_string() + "\n"
    });
    let stream: String = requests.collect();
    let done = AtomicBool::new(false);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (race, aside) = (project.join("race"), elsewhere.join("aside"));
            while !done.load(Ordering::Relaxed) {
                fs::rename(&race, &aside).unwrap();
                fs::rename(&link, &race).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(300));
                fs::rename(&race, &link).unwrap();
                fs::rename(&aside, &race).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(3000));
            }
        });
        let run = gate.0.run_on(stream, STREAM);
        done.store(true, Ordering::Relaxed);
        run
    });
    assert!(tree(&gate.path("outside")) == outside);
    let answers: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 120, "{run:?}");
    let effects = answers
        .iter()
        .filter(|answer| answer["effect"]["entry"].is_u64())
        .count();
    let stopped = answers
        .iter()
        .filter(|answer| answer["record"]["decision"] != "commit")
        .count();
    println!("{effects} effects, {stopped} fallbacks");
    assert!(
        effects > 0 && stopped > 0,
        "{effects} effects, {stopped} fallbacks: there was no race"
    );
    gate.verify(120);
    // Whatever was begun when a place vanished is brought to an end.
    gate.run("restore --list").prints(0);
}
