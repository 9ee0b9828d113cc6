//! What is deleted for good: stopped at every moment, and changed where it waits for its end.

use super::{Scene, Tree};
use crate::execute::error::ExecuteError;
use crate::execute::interrupt::{interrupted_at, stopped_at};
use crate::execute::receipt::{Receipt, Resolution};
use crate::execute::record::Effect;

fn prepare(across: bool) -> Scene {
    let scene = if across {
        Scene::across_file_systems()
    } else {
        Scene::new()
    };
    std::fs::create_dir(scene.path("workspace/folder/deeper")).unwrap();
    std::fs::write(scene.path("workspace/folder/deeper/other"), "other").unwrap();
    scene
}

fn remove(scene: &mut Scene) -> Result<Receipt, ExecuteError> {
    let effect = Effect::Take {
        path: "folder".to_owned(),
        old: scene.identity("folder").unwrap(),
        permanent: true,
    };
    scene.executor().begin(None, None, effect, None)
}

fn expect_gone(scene: &mut Scene) {
    assert!(scene.tree().is_empty());
    assert!(!scene.state.join("trash/1").exists());
    let entry = scene.executor().entries().remove(0);
    assert_eq!((entry.effect, entry.emptied), ("remove", true));
    assert_eq!(
        scene.executor().restore(1).unwrap_err().to_string(),
        "entry 1 cannot be undone: it was a permanent deletion"
    );
    assert!(scene.executor().empty_trash([1]).unwrap().is_empty());
}

/// After the stops: all of it is there, or nothing, and the journal says which.
fn check(scene: &mut Scene, old: &Tree) -> bool {
    let entries = scene.executor().entries();
    let resolution = entries.first().map(|entry| entry.resolution.unwrap());
    match resolution {
        Some(Resolution::Done) => {
            expect_gone(scene);
            true
        }
        None | Some(Resolution::RolledBack) => {
            assert_eq!(scene.tree(), *old);
            assert!(!scene.state.join("trash/1/item").exists());
            remove(scene).unwrap();
            assert!(scene.tree().is_empty());
            false
        }
        Some(Resolution::Superseded) => panic!("nobody else changed anything"),
    }
}

#[test]
fn stopped_at_every_moment_it_is_there_or_gone_for_good() {
    for across in [false, true] {
        let (mut there, mut gone) = (0, 0);
        'stops: for first in 0.. {
            for second in 0.. {
                let mut scene = prepare(across);
                let old = scene.tree();
                if let Some(result) = stopped_at(first, || remove(&mut scene)) {
                    assert!(result.unwrap().permanent);
                    expect_gone(&mut scene);
                    break 'stops;
                }
                scene.close();
                let opened = stopped_at(second, || scene.try_open());
                let stopped = opened.is_none();
                scene.opened = Some(opened.unwrap_or_else(|| scene.try_open()).unwrap());
                *if check(&mut scene, &old) {
                    &mut gone
                } else {
                    &mut there
                } += 1;
                scene.expect_outside_untouched();
                if !stopped {
                    break;
                }
            }
        }
        assert!(there > 5 && gone > 20, "{there} and {gone}");
    }
}

/// A program that stands in a directory can write to it wherever it goes.
#[test]
fn what_is_changed_in_the_trash_was_not_decided_about_and_stays() {
    for across in [false, true] {
        let mut kept = 0;
        for number in 0.. {
            let mut scene = prepare(across);
            let item = scene.state.join("trash/1/item");
            let journal = scene.state.join("journal");
            let late = item.join("deeper/late");
            let written = late.clone();
            let meanwhile = move || {
                let said = std::fs::read_to_string(journal).unwrap();
                if !said.contains("emptied") {
                    // Not there yet, or not whole yet.
                    let _ = std::fs::write(written, "late");
                }
            };
            let Some(result) = interrupted_at(number, meanwhile, || remove(&mut scene)) else {
                assert!(number > 5);
                break;
            };
            let Err(error) = result else {
                expect_gone(&mut scene);
                continue;
            };
            let done = matches!(
                error,
                ExecuteError::Failed {
                    resolution: Resolution::Done,
                    ..
                }
            );
            if !done {
                // The copy was changed before it was verified, and what it is a copy of came back.
                assert!(across && scene.path("workspace/folder/file").exists());
                continue;
            }
            kept += 1;
            assert_eq!(
                error.to_string(),
                "entry 1 is done all the same: `trash/1/item` is not what was probed"
            );
            for _ in 0..2 {
                assert_eq!(std::fs::read_to_string(&late).unwrap(), "late");
                assert!(!scene.executor().entries()[0].emptied);
                let refused = scene.executor().restore(1).unwrap_err().to_string();
                assert!(refused.ends_with("it was a permanent deletion"));
                scene.close();
                scene.opened = Some(scene.try_open().unwrap());
            }
            assert_eq!(scene.executor().empty_trash([1]).unwrap(), [1]);
            assert!(!item.exists());
        }
        assert!(kept > 0);
    }
}

/// What somebody else put in the place while it was taken away is kept, and so is what was taken.
#[test]
fn what_was_overtaken_is_not_removed() {
    let mut overtaken = 0;
    for number in 0.. {
        let mut scene = prepare(false);
        let place = scene.path("workspace/folder");
        let meanwhile = move || {
            if !place.exists() {
                std::fs::write(&place, "new").unwrap();
            }
        };
        if stopped_at(number, || remove(&mut scene)).is_some() {
            break;
        }
        meanwhile();
        scene.close();
        scene.opened = Some(scene.try_open().unwrap());
        let entry = scene.executor().entries().pop();
        if entry.is_some_and(|entry| entry.resolution == Some(Resolution::Superseded)) {
            overtaken += 1;
            let kept = scene.state.join("trash/1/item/deeper/other");
            assert_eq!(std::fs::read_to_string(kept).unwrap(), "other");
        }
    }
    assert!(overtaken > 0);
}
