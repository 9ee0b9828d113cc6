//! Stopped at every moment at which something on the disk changes, and again at every such moment of the recovery.

use super::{Scene, Tree};
use crate::execute::action::Content;
use crate::execute::error::ExecuteError;
use crate::execute::executor::Executor;
use crate::execute::interrupt::stopped_at;
use crate::execute::receipt::{Receipt, Resolution};
use crate::execute::record::Effect;
use crate::files::{Limits, Workspace};

/// What is stopped: an effect, or the undoing of it.
#[derive(Clone, Copy, Debug)]
struct Act {
    effect: usize,
    undo: bool,
}

fn prepare(across: bool, act: Act) -> Scene {
    let mut scene = if across {
        Scene::across_file_systems()
    } else {
        Scene::new()
    };
    std::fs::create_dir(scene.path("workspace/folder/deeper")).unwrap();
    std::fs::write(scene.path("workspace/folder/deeper/other"), "other").unwrap();
    if act.undo {
        cause(&mut scene, act.effect).unwrap();
    }
    scene
}

fn cause(scene: &mut Scene, effect: usize) -> Result<Receipt, ExecuteError> {
    let content = Content::new("new");
    let new = scene.bytes(&content);
    let path = if effect == 1 || effect == 2 {
        "folder/file"
    } else {
        "folder"
    }
    .to_owned();
    let old = scene.identity(&path).unwrap();
    let effect = match effect {
        0 | 1 => Effect::Take {
            path,
            old,
            permanent: false,
        },
        2 => Effect::Replace { path, old, new },
        3 => Effect::Put {
            path: "folder/made".to_owned(),
            new,
        },
        _ => Effect::Move {
            from: path,
            to: "moved".to_owned(),
            old,
        },
    };
    scene.begin(effect, &content)
}

fn perform(scene: &mut Scene, act: Act) -> Result<Receipt, ExecuteError> {
    if act.undo {
        scene.executor().restore(1)
    } else {
        cause(scene, act.effect)
    }
}

/// After the stops: one of both states is there, the journal says which, and the way to the other one is open.
fn check(scene: &mut Scene, act: Act, old: &Tree, new: &Tree) -> Resolution {
    let entries = scene.executor().entries();
    let last = entries
        .last()
        .filter(|_| entries.len() > usize::from(act.undo));
    let resolution = last.map_or(Resolution::RolledBack, |last| last.resolution.unwrap());
    match resolution {
        Resolution::Done => {
            assert_eq!(scene.tree(), *new, "{act:?}");
            scene.executor().restore(last.unwrap().entry).unwrap();
            assert_eq!(scene.tree(), *old, "{act:?}");
        }
        Resolution::RolledBack => {
            assert_eq!(scene.tree(), *old, "{act:?}");
            perform(scene, act).unwrap();
            assert_eq!(scene.tree(), *new, "{act:?}");
        }
        Resolution::Superseded => panic!("{act:?}: nobody else changed anything"),
    }
    scene.expect_outside_untouched();
    resolution
}

/// How often it ended in the new and in the old state.
fn stop_everywhere(across: bool, act: Act) -> [usize; 2] {
    let mut scene = prepare(across, act);
    let old = scene.tree();
    perform(&mut scene, act).unwrap();
    let new = scene.tree();
    assert_ne!(old, new);
    let mut ends = [0, 0];
    for first in 0.. {
        for second in 0.. {
            let mut scene = prepare(across, act);
            if let Some(result) = stopped_at(first, || perform(&mut scene, act)) {
                result.unwrap();
                return ends;
            }
            scene.close();
            let recovered = stopped_at(second, || scene.try_open());
            let stopped = recovered.is_none();
            let recovered = recovered.unwrap_or_else(|| scene.try_open());
            scene.opened = Some(recovered.unwrap());
            let end = check(&mut scene, act, &old, &new);
            ends[usize::from(end == Resolution::RolledBack)] += 1;
            if !stopped {
                break;
            }
        }
    }
    ends
}

#[test]
fn stopped_at_every_moment_and_again_while_recovering() {
    let acts = [false, true]
        .into_iter()
        .flat_map(|undo| (0..5).map(move |effect| Act { effect, undo }));
    let ends = std::thread::scope(|scope| {
        // Each waits for the disk most of the time.
        let running: Vec<_> = [false, true]
            .into_iter()
            .flat_map(|across| acts.clone().map(move |act| (across, act)))
            .map(|(across, act)| scope.spawn(move || stop_everywhere(across, act)))
            .collect();
        let ends = running.into_iter().map(|thread| thread.join().unwrap());
        ends.fold([0, 0], |sum, ends| [sum[0] + ends[0], sum[1] + ends[1]])
    });
    println!(
        "{} times the new state, {} times the old one",
        ends[0], ends[1]
    );
    assert!(ends.iter().all(|&times| times > 100), "{ends:?}");
}

/// An executor holds nothing in memory that recovery would need.
#[test]
fn what_cannot_be_settled_now_is_settled_later() {
    let mut scene = prepare(
        false,
        Act {
            effect: 2,
            undo: false,
        },
    );
    let old = scene.tree();
    // After the exchange, before what was exchanged is in the trash.
    let stop = (0..).find(|&stop| {
        let mut scene = prepare(
            false,
            Act {
                effect: 2,
                undo: false,
            },
        );
        stopped_at(stop, || cause(&mut scene, 2)).is_none()
            && std::fs::read(scene.path("workspace/folder/file")).unwrap() == b"new"
    });
    assert!(stopped_at(stop.unwrap(), || cause(&mut scene, 2)).is_none());
    let refused = cause(&mut scene, 1).unwrap_err();
    assert!(
        matches!(
            refused,
            ExecuteError::Changed(_) | ExecuteError::Unsettled { .. }
        ),
        "{refused}"
    );
    let refused = scene.executor().restore(1).unwrap_err();
    assert!(
        matches!(refused, ExecuteError::Unsettled { entry: 1, .. }),
        "{refused}"
    );
    // The directory is away, and what is in it comes back with it, untouched.
    scene.close();
    std::fs::rename(scene.path("workspace/folder"), scene.path("away")).unwrap();
    let executor: Executor = scene.try_open().unwrap();
    assert_eq!(executor.recovered(), [(1, Resolution::Superseded)]);
    drop(executor);
    std::fs::rename(scene.path("away"), scene.path("workspace/folder")).unwrap();
    let now = scene.tree();
    let contents: Vec<&Vec<u8>> = now.values().map(|(_, content)| content).collect();
    for (_, content) in old.values() {
        assert!(contents.contains(&content));
    }
}

/// A tree is brought to an end under the limits that it was taken away under.
#[test]
fn recovery_goes_by_the_limits_that_are_given() {
    let act = Act {
        effect: 0,
        undo: false,
    };
    let few = Limits {
        entries: 1,
        ..Limits::default()
    };
    let mut refused = 0;
    for moment in 0.. {
        let mut scene = prepare(true, act);
        if stopped_at(moment, || perform(&mut scene, act)).is_some() {
            break;
        }
        scene.close();
        let workspace = Workspace::open(scene.path("workspace")).unwrap();
        match Executor::open_with(workspace, &scene.state, few) {
            Ok(_) => {}
            Err(ExecuteError::Unsettled { entry, .. }) => {
                assert_eq!(entry, 1);
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
        // Nothing was lost by the attempt.
        scene.opened = Some(scene.try_open().unwrap());
        assert!(
            scene
                .executor()
                .entries()
                .iter()
                .all(|entry| entry.resolution.is_some())
        );
    }
    assert!(refused > 0);
}
