//! `gate --execute` killed at any moment: nothing is lost, nothing is half done, and the log knows of every effect.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use safecommit_core::DecisionKind;
use safecommit_gate::audit::{AuditReader, LogKey};
use safecommit_gate::{Executor, JournalEntry, Resolution, Workspace};
use serde_json::Value;

use crate::gate::{Gate, STREAM};
use crate::gate_files::{delete, moved, one, overwrite, write};
use crate::program::command;

const ROUNDS: usize = 200;
const GATES: usize = 10;
/// Of each round.
const REQUESTS: usize = 8;

/// What a test needs of chance.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What a request is about: every one has targets of its own.
struct Target {
    name: String,
    kind: u64,
}

impl Target {
    fn content(&self, age: &str) -> String {
        format!("{age} content of {}\n", self.name).repeat(3000)
    }

    fn request(&self) -> Value {
        let path = &self.name;
        let action = match self.kind {
            0 => delete(path),
            1 => overwrite(path, &self.content("new")),
            2 => moved(path, &format!("{path}-moved")),
            _ => write(path, &self.content("new")),
        };
        one(path, action)
    }

    /// The files of the workspace with their contents, before or after.
    fn files(&self, done: bool) -> Vec<(String, String)> {
        let at = |name: &str, age| (name.to_owned(), self.content(age));
        match (self.kind, done) {
            (0, true) | (3, false) => Vec::new(),
            (1 | 3, true) => vec![at(&self.name, "new")],
            (2, true) => vec![at(&format!("{}-moved", self.name), "old")],
            _ => vec![at(&self.name, "old")],
        }
    }
}

fn files_in(directory: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap());
    let read = |entry: std::fs::DirEntry| {
        let content = std::fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), content)
    };
    entries.map(read).collect()
}

/// Starts the gate on a stream, kills it, and gives the names of the decisions whose effect it had reported.
fn kill(gate: &Gate, targets: &[Target], draw: &mut Draw) -> Vec<String> {
    let mut child = command()
        .args(STREAM)
        .current_dir(gate.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stream: String = targets
        .iter()
        .map(|target| format!("{}\n", target.request()))
        .collect();
    let mut stdin = child.stdin.take().unwrap();
    // Kept open, so that the gate does not end by itself.
    let stdin = std::thread::spawn(move || stdin.write_all(stream.as_bytes()).map(|()| stdin));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut reported = Vec::new();
    for _ in 0..draw.below(REQUESTS as u64 - 1) {
        reported.push(lines.next().unwrap().unwrap());
    }
    std::thread::sleep(Duration::from_micros(draw.below(20_000)));
    assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
    let _ = stdin.join().unwrap();
    // What it had written before it was killed; the last line may be cut.
    reported.extend(lines.map_while(Result::ok));
    let answers = reported
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let named = answers.map(|answer| {
        assert!(answer["effect"]["entry"].is_u64(), "{answer}");
        answer["decision"].as_str().unwrap().to_owned()
    });
    named.collect()
}

/// Whether the effect on a target was done, as the journal has it.
fn is_done(target: &Target, entries: &[JournalEntry]) -> bool {
    let mut of_target = entries.iter().filter(|entry| entry.path == target.name);
    let entry = of_target.next();
    assert!(of_target.next().is_none(), "one decision, one effect");
    entry.is_some_and(|entry| match entry.resolution {
        Some(Resolution::Done) => true,
        Some(Resolution::RolledBack) => false,
        other => panic!(
            "nobody else changed anything, and `{}` is {other:?}",
            target.name
        ),
    })
}

/// Every effect has a commit in the log, recorded under its very subject.
fn is_decided(entry: &JournalEntry, reader: &AuditReader) {
    let record = reader.record(&entry.path).unwrap().unwrap();
    assert_eq!(record.entry.record.decision, DecisionKind::Commit);
    let id = record.entry.request.id.unwrap();
    let subject = entry.subject.unwrap().to_string();
    assert!(id.ends_with(&subject), "{id} is not of {subject}");
}

/// Kills one gate again and again. The numbers of effects, and of those that were interrupted.
fn kill_repeatedly(number: usize, rounds: usize) -> (usize, usize) {
    let (gate, mut draw) = (Gate::new(), Draw(number as u64 + 1));
    let configuration = gate.load();
    let key = LogKey::read(configuration.key()).unwrap();
    let open = || {
        let workspace = Workspace::open(configuration.workspace()).unwrap();
        Executor::open(workspace, configuration.state()).unwrap()
    };
    let (mut all, mut interrupted) = (Vec::new(), 0);
    for round in 0..rounds {
        let targets = (0..REQUESTS).map(|at| Target {
            name: format!("r{round}-{at}"),
            kind: draw.below(4),
        });
        let targets: Vec<Target> = targets.collect();
        for (name, content) in targets.iter().flat_map(|target| target.files(false)) {
            gate.0.write(&format!("project/{name}"), content);
        }
        let reported = kill(&gate, &targets, &mut draw);
        all.extend(targets);

        // The log first: nothing may have to be repaired before it verifies.
        let reader = AuditReader::open(configuration.log()).unwrap();
        reader.verify(configuration.head(), &key).unwrap();
        let executor = open();
        interrupted += executor.recovered().len();
        let entries = executor.entries();
        let files = files_in(configuration.workspace());
        let expected = all
            .iter()
            .flat_map(|target| target.files(is_done(target, &entries)));
        assert_eq!(files.keys().cloned().collect::<Vec<_>>(), {
            let names: BTreeMap<String, String> = expected.clone().collect();
            names.into_keys().collect::<Vec<_>>()
        });
        assert!(files == expected.collect(), "gate {number}, round {round}");
        for entry in &entries {
            is_decided(entry, &reader);
            let kept = configuration
                .state()
                .join(format!("trash/{}/item", entry.entry));
            if entry.resolution == Some(Resolution::Done)
                && ["take", "replace"].contains(&entry.effect)
            {
                let of_entry = all.iter().find(|target| target.name == entry.path).unwrap();
                assert_eq!(
                    std::fs::read_to_string(kept).unwrap(),
                    of_entry.content("old")
                );
            }
        }
        for name in reported {
            let target = all.iter().find(|target| target.name == name).unwrap();
            assert!(
                is_done(target, &entries),
                "`{name}` was reported, and is not done"
            );
        }
    }
    let replayed = gate.run("audit replay").prints(0);
    assert!(replayed.ends_with("each to the same bytes\n"), "{replayed}");
    gate.run("audit verify").prints(0);
    // All the way back: the last one by the command, the rest by what it calls.
    let entries = open().entries();
    let mut done = entries
        .iter()
        .filter(|entry| entry.resolution == Some(Resolution::Done));
    if let Some(last) = done.next_back() {
        gate.run(&format!("restore {}", last.entry)).prints(0);
    }
    let mut executor = open();
    for entry in done.rev() {
        executor.restore(entry.entry).unwrap();
    }
    let before: BTreeMap<String, String> =
        all.iter().flat_map(|target| target.files(false)).collect();
    assert!(
        files_in(configuration.workspace()) == before,
        "gate {number}"
    );
    (entries.len(), interrupted)
}

#[test]
fn killed_at_any_of_200_moments_nothing_is_lost_or_half_done() {
    let counts = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            scope.spawn(move || {
                let gates = (0..GATES).filter(|gate| gate % 2 == half);
                gates
                    .map(|gate| kill_repeatedly(gate, ROUNDS / GATES))
                    .collect::<Vec<_>>()
            })
        });
        halves.map(|half| half.join().unwrap()).concat()
    });
    let effects: usize = counts.iter().map(|count| count.0).sum();
    let interrupted: usize = counts.iter().map(|count| count.1).sum();
    println!("{effects} effects, {interrupted} of them interrupted");
    assert!(
        effects > 300 && interrupted > 5,
        "{interrupted} of {effects}: the moments were not spread"
    );
}
