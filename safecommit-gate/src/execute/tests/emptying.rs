//! The trash is emptied: stopped at every moment, and again while what is left is removed.

use super::Scene;
use crate::execute::interrupt::stopped_at;
use crate::execute::record::{Effect, Record};

/// A scene whose trash has a directory, taken away by entry 1, and a file, by entry 2.
fn prepare(across: bool) -> Scene {
    let mut scene = if across {
        Scene::across_file_systems()
    } else {
        Scene::new()
    };
    std::fs::write(scene.path("workspace/other"), "other").unwrap();
    for path in ["folder", "other"] {
        let old = scene.identity(path).unwrap();
        let path = path.to_owned();
        let take = Effect::Take { path, old };
        scene.executor().begin(None, None, take, None).unwrap();
    }
    scene
}

#[test]
fn stopped_at_every_moment_it_is_whole_or_gone_for_good() {
    for across in [false, true] {
        let (mut whole, mut gone) = (0, 0);
        'stops: for first in 0.. {
            for second in 0.. {
                let mut scene = prepare(across);
                let slot = scene.state.join("trash/1");
                if let Some(result) = stopped_at(first, || scene.executor().empty_trash([1])) {
                    assert_eq!(result.unwrap(), [1]);
                    break 'stops;
                }
                scene.close();
                let opened = stopped_at(second, || scene.try_open());
                let stopped = opened.is_none();
                scene.opened = Some(opened.unwrap_or_else(|| scene.try_open()).unwrap());
                let emptied = scene.executor().entries()[0].emptied;
                assert_eq!(slot.exists(), !emptied);
                let restored = scene.executor().restore(1);
                assert_eq!(restored.is_ok(), !emptied);
                *if emptied { &mut gone } else { &mut whole } += 1;
                if !emptied {
                    let file = scene.path("workspace/folder/file");
                    assert_eq!(std::fs::read(file).unwrap(), b"precious");
                }
                scene.executor().restore(2).unwrap();
                scene.expect_outside_untouched();
                if !stopped {
                    break;
                }
            }
        }
        assert!(whole > 0 && gone > 5, "{whole} and {gone}");
    }
}

#[test]
fn a_line_that_empties_what_is_not_settled_is_refused() {
    let mut scene = Scene::new();
    let old = scene.identity("folder").unwrap();
    let intent = Record::Intent {
        entry: 1,
        subject: None,
        undoes: None,
        effect: Box::new(Effect::Take {
            path: "folder".to_owned(),
            old,
        }),
    };
    let journal = &mut scene.executor().journal;
    journal.append(Record::Emptied { entry: 1 }).unwrap_err();
    journal.append(intent).unwrap();
    journal.append(Record::Emptied { entry: 1 }).unwrap_err();
    scene.executor().empty_trash([1]).unwrap_err();
}
