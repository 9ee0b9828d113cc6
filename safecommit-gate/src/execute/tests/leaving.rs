//! A directory that leaves the workspace while something is put into it.

use std::cell::Cell;
use std::rc::Rc;

use super::Scene;
use crate::execute::action::Content;
use crate::execute::error::ExecuteError;
use crate::execute::interrupt::interrupted_at;
use crate::execute::receipt::Resolution;
use crate::execute::record::Effect;

fn effect(scene: &Scene, kind: usize, content: &Content) -> Effect {
    let new = scene.bytes(content);
    match kind {
        0 => Effect::Put {
            path: "folder/made".to_owned(),
            new,
        },
        1 => Effect::Move {
            from: "thing".to_owned(),
            to: "folder/made".to_owned(),
            old: scene.identity("thing").unwrap(),
        },
        _ => Effect::Replace {
            path: "folder/file".to_owned(),
            old: scene.identity("folder/file").unwrap(),
            new,
        },
    }
}

#[test]
fn at_whatever_moment_a_directory_leaves_nothing_is_put_into_it_outside() {
    let content = Content::new("new");
    for kind in 0..3 {
        let mut undone = 0;
        for number in 0.. {
            let mut scene = Scene::new();
            std::fs::write(scene.path("workspace/thing"), "thing").unwrap();
            let (folder, away) = (scene.path("workspace/folder"), scene.path("away"));
            let in_time = Rc::new(Cell::new(false));
            let arrived = Rc::clone(&in_time);
            let leave = move || {
                let file = std::fs::read(folder.join("file")).unwrap();
                arrived.set(folder.join("made").exists() || file == b"new");
                std::fs::rename(&folder, &away).unwrap();
            };
            let effect = effect(&scene, kind, &content);
            let act = || scene.begin(effect, &content);
            let Some(result) = interrupted_at(number, leave, act) else {
                break;
            };
            match result {
                // It had arrived before, and left the workspace with its directory.
                Ok(_) => assert!(in_time.get(), "{kind} {number}"),
                Err(ExecuteError::Failed { resolution, .. }) => {
                    assert_eq!(resolution, Resolution::RolledBack, "{kind} {number}");
                    let away = scene.path("away");
                    assert_eq!(std::fs::read_dir(&away).unwrap().count(), 1);
                    assert_eq!(std::fs::read(away.join("file")).unwrap(), b"precious");
                    let thing = scene.path("workspace/thing");
                    assert_eq!(std::fs::read(thing).unwrap(), b"thing");
                    undone += 1;
                }
                Err(error) => panic!("{kind} {number}: {error}"),
            }
        }
        assert!(undone > 3, "{kind}: {undone}");
    }
}

#[test]
fn what_took_the_place_outside_is_not_taken_for_what_was_put_there() {
    let content = Content::new("new");
    let mut kept = 0;
    for number in 0.. {
        let mut scene = Scene::new();
        let (folder, away) = (scene.path("workspace/folder"), scene.path("away"));
        let leave = move || {
            std::fs::rename(&folder, &away).unwrap();
            let _ = std::fs::remove_file(away.join("made"));
            std::fs::write(away.join("made"), "somebody else's").unwrap();
        };
        let effect = effect(&scene, 0, &content);
        let Some(result) = interrupted_at(number, leave, || scene.begin(effect, &content)) else {
            break;
        };
        let made = std::fs::read(scene.path("away/made")).unwrap();
        assert_eq!(made, b"somebody else's", "{number}");
        kept += usize::from(result.is_err());
    }
    assert!(kept > 3, "{kept}");
}
