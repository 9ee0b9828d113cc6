//! Killed at any moment, and a journal cut anywhere: the old or the new state, and the journal says which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use safecommit_gate::{Digest, ExecuteError, Executor, JournalEntry, Resolution, Workspace};

use crate::killed::{Running, places, say_ready};
use crate::support::{Scene, act, delete, overwrite, rename, tree, write};

/// What a test needs of chance.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// What entry `entry` writes: different for each, and some of it long.
fn content(entry: u64) -> String {
    format!("written by entry {entry}\n").repeat(1 + usize::try_from(entry * 97 % 1500).unwrap())
}

/// Executes and undoes without end.
fn act_without_end(workspace: &str, state: &str, seed: u64) -> ! {
    let mut executor = Executor::open(Workspace::open(workspace).unwrap(), state).unwrap();
    let mut draw = Draw(seed);
    say_ready();
    loop {
        let entry = executor.entries().len() as u64 + 1;
        let paths: Vec<String> = tree(Path::new(workspace))
            .into_keys()
            .map(|path| path.display().to_string())
            .collect();
        let any = paths[draw.below(paths.len())].clone();
        let fresh = format!("made-{entry}");
        println!("at {entry}");
        let acted = match draw.below(6) {
            0 if !any.is_empty() => act(&mut executor, delete(&any)),
            1 if !any.is_empty() => act(&mut executor, overwrite(&any, &content(entry))),
            2 if !any.is_empty() => act(&mut executor, rename(&any, &format!("moved-{entry}"))),
            3 => executor.restore(1 + draw.below(usize::try_from(entry).unwrap()) as u64),
            _ => act(&mut executor, write(&fresh, &content(entry))),
        };
        match acted {
            Ok(_)
            | Err(
                ExecuteError::NotAFile(_)
                | ExecuteError::NotRestorable { .. }
                | ExecuteError::Occupied(_)
                | ExecuteError::Changed(_)
                | ExecuteError::ChangedSince { .. }
                | ExecuteError::File(_),
            ) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Type and mode and digest of the content by path, kept up by what the journal says.
type Model = BTreeMap<PathBuf, (u32, Digest)>;

fn model_of(workspace: &Path) -> Model {
    tree(workspace)
        .into_iter()
        .map(|(path, (mode, _, content))| (path, (mode, Digest::of_bytes(&content))))
        .collect()
}

fn cut(model: &mut Model, at: &str) -> Model {
    let (taken, left) = std::mem::take(model)
        .into_iter()
        .partition(|(path, _)| path.starts_with(at));
    *model = left;
    taken
}

fn graft(model: &mut Model, from: &str, to: &str, what: &Model) {
    for (path, node) in what {
        let below = path.strip_prefix(from).unwrap();
        let path = if below == Path::new("") {
            PathBuf::from(to)
        } else {
            Path::new(to).join(below)
        };
        assert!(
            model.insert(path, *node).is_none(),
            "something was overwritten"
        );
    }
}

/// The state that follows from the journal.
fn follow(mut model: Model, entries: &[JournalEntry]) -> Model {
    let mut taken: BTreeMap<u64, (String, Model)> = BTreeMap::new();
    for entry in entries {
        match entry.resolution {
            Some(Resolution::Done) => {}
            Some(Resolution::RolledBack) => continue,
            other => panic!(
                "nobody else changed anything, and entry {} is {other:?}",
                entry.entry
            ),
        }
        let at = entry.path.as_str();
        let old = (entry.effect != "put").then(|| cut(&mut model, at));
        match (entry.effect, entry.undoes, &entry.to) {
            ("move", _, Some(to)) => graft(&mut model, at, to, old.as_ref().unwrap()),
            ("put" | "replace", Some(undone), _) => {
                let (from, what) = taken[&undone].clone();
                graft(&mut model, &from, at, &what);
            }
            ("put" | "replace", None, _) => {
                let mode = old.as_ref().map_or(0o100_644, |old| old[Path::new(at)].0);
                model.insert(
                    at.into(),
                    (mode, Digest::of_bytes(content(entry.entry).as_bytes())),
                );
            }
            _ => {}
        }
        if let Some(old) = old {
            taken.insert(entry.entry, (at.to_owned(), old));
        }
    }
    model
}

/// Undoes all that was done, undoing included, the last first.
fn undo_everything(executor: &mut Executor) {
    let entries = executor.entries();
    for entry in entries.iter().rev() {
        if entry.resolution == Some(Resolution::Done) {
            executor.restore(entry.entry).unwrap();
        }
    }
}

#[test]
fn killed_at_any_of_200_moments_it_leaves_the_old_or_the_new_state() {
    if let Some([workspace, state, seed]) = places() {
        act_without_end(&workspace, &state, seed.parse().unwrap());
    }
    let (mut draw, mut interrupted, mut effects) = (Draw(4), 0, 0);
    for round in 0..200 {
        let scene = if round % 2 == 0 {
            Scene::new()
        } else {
            Scene::across_file_systems()
        };
        scene.write("a", "a");
        scene.write("folder/b", &"b".repeat(100_000));
        scene.write("folder/deeper/c", "c");
        let (before, outside) = (scene.tree(), scene.outside());
        let start = model_of(&scene.path(""));
        let test = "crash::killed_at_any_of_200_moments_it_leaves_the_old_or_the_new_state";
        let mut running = Running::start(test, &scene, round);
        // In the midst of an early or a later effect.
        for _ in 0..=draw.below(8) {
            running.next("at");
        }
        running.kill_after(Duration::from_micros(draw.below(10_000) as u64));

        let mut executor = scene.open();
        interrupted += executor.recovered().len();
        effects += executor.entries().len();
        assert_eq!(
            model_of(&scene.path("")),
            follow(start, &executor.entries()),
            "round {round}"
        );
        undo_everything(&mut executor);
        assert!(scene.tree() == before, "round {round}");
        assert_eq!(scene.outside(), outside);
        drop(executor);
        assert!(scene.open().recovered().is_empty());
    }
    println!("{effects} effects, {interrupted} of them interrupted");
    assert!(
        interrupted > 20 && effects > 400,
        "{interrupted} of {effects}: the moments were not spread"
    );
}

#[test]
fn a_journal_cut_anywhere_after_an_effect_tells_what_is_there() {
    for scene in [Scene::new(), Scene::across_file_systems()] {
        for action in 0..4 {
            scene.write("file", "old");
            scene.write("folder/file", "below");
            let before = model_of(&scene.path(""));
            let mut executor = scene.open();
            let name = format!("made-{action}");
            let entry = executor.entries().len() as u64 + 1;
            let acted = match action {
                0 => act(&mut executor, delete("folder")),
                1 => act(&mut executor, overwrite("file", &content(entry))),
                2 => act(&mut executor, rename("folder", &name)),
                _ => act(&mut executor, write(&name, &content(entry))),
            };
            assert_eq!(acted.unwrap().entry, entry);
            drop(executor);
            let journal = scene.state.join("journal");
            let whole = std::fs::read(&journal).unwrap();
            let last = whole[..whole.len() - 1]
                .iter()
                .rposition(|&byte| byte == b'\n')
                .unwrap();
            // Within the last line, all of it is as good as missing.
            for keep in [last + 1, last + 2, last + 40, whole.len() - 1] {
                std::fs::write(&journal, &whole[..keep]).unwrap();
                let executor = scene.open();
                assert_eq!(executor.recovered(), [(entry, Resolution::Done)]);
                let mut earlier = executor.entries();
                let now = earlier.split_off(earlier.len() - 1);
                assert_eq!(model_of(&scene.path("")), follow(before.clone(), &now));
                assert_eq!(std::fs::read(&journal).unwrap(), whole);
            }
            let mut executor = scene.open();
            executor.restore(entry).unwrap();
            assert_eq!(model_of(&scene.path("")), before);
        }
    }
}

#[test]
fn a_journal_damaged_before_its_end_is_refused_and_left_alone() {
    let scene = Scene::new();
    let mut executor = scene.open();
    for name in ["a", "b"] {
        act(&mut executor, write(name, name)).unwrap();
    }
    drop(executor);
    let journal = scene.state.join("journal");
    let whole = std::fs::read(&journal).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
    for at in (0..ends[ends.len() - 2]).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&journal, &damaged).unwrap();
        let error = scene.try_open().unwrap_err();
        let line = 1 + ends.iter().filter(|&&end| end < at).count();
        assert!(
            matches!(error, ExecuteError::Journal { line: found, .. } if found == line),
            "{at}: {error}"
        );
        assert_eq!(std::fs::read(&journal).unwrap(), damaged);
    }
    // Lines left out or exchanged.
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    for (order, line) in [
        (vec![0, 2, 3, 4], 2),
        (vec![0, 1, 3, 2, 4], 3),
        (vec![1, 2, 3], 1),
    ] {
        let lines: Vec<u8> = order.iter().flat_map(|&at| lines[at].to_vec()).collect();
        std::fs::write(&journal, lines).unwrap();
        let error = scene.try_open().unwrap_err();
        assert!(
            matches!(error, ExecuteError::Journal { line: found, .. } if found == line),
            "{error}"
        );
    }
}
