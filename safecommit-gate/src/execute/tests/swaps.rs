//! What happens between the check of what was probed and the act.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::Scene;
use crate::execute::action::Content;
use crate::execute::error::ExecuteError;
use crate::execute::interrupt::interrupted_at;
use crate::execute::kept::Kept;
use crate::execute::receipt::{Receipt, Resolution};
use crate::execute::record::{Effect, Source};

fn effect(kind: usize, path: &str, old: Kept, new: Source) -> Effect {
    let path = path.to_owned();
    match kind {
        0 => Effect::Take {
            path,
            old,
            permanent: false,
        },
        1 => Effect::Replace { path, old, new },
        _ => Effect::Move {
            from: path,
            to: "moved".to_owned(),
            old,
        },
    }
}

fn rolled_back(result: Result<Receipt, ExecuteError>) -> ExecuteError {
    match result {
        Err(ExecuteError::Failed {
            resolution: Resolution::RolledBack,
            cause,
            ..
        }) => *cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_1000_swaps_between_check_and_act_none_is_followed() {
    let mut scene = Scene::new();
    let content = Content::new("new");
    for round in 0..1000 {
        let (kind, swap) = (round % 3, round / 3 % 4);
        let target = if round % 2 == 0 {
            "folder/file"
        } else {
            "folder"
        };
        let target = if kind == 1 { "folder/file" } else { target };
        let old = scene.identity(target).unwrap();
        let (at, aside, outside) = (
            scene.path("workspace").join(target),
            scene.path("workspace/aside"),
            scene.path("outside"),
        );
        let goal = if target == "folder" {
            outside.clone()
        } else {
            outside.join("file")
        };
        let swapped = at.clone();
        scene.executor().pause = Some(Box::new(move || {
            std::fs::rename(&swapped, &aside).unwrap();
            match swap {
                0 => symlink(&goal, &swapped).unwrap(),
                // A link within the workspace, to the very thing that was probed.
                1 => symlink(&aside, &swapped).unwrap(),
                // Another thing with the same content.
                2 if swapped.ends_with("file") => {
                    std::fs::copy(&aside, &swapped).map(drop).unwrap();
                }
                2 => std::fs::create_dir(&swapped).unwrap(),
                _ => {}
            }
        }));
        let link = || std::fs::read_link(&at).ok();
        let effect = effect(kind, target, old, scene.bytes(&content));
        let result = scene.begin(effect, &content);
        let cause = match result {
            // What is neither where it was nor where it was to be may have been moved on from either.
            Err(ExecuteError::Failed {
                resolution: Resolution::Superseded,
                cause,
                ..
            }) if (kind, swap) == (2, 3) => *cause,
            result => rolled_back(result),
        };
        assert!(
            matches!(&cause, ExecuteError::Changed(path) if path == target),
            "{cause}"
        );
        // What was put there is there again, and what was probed is where it was put aside.
        assert_eq!(link().is_some(), swap < 2, "{round}");
        assert_eq!(at.symlink_metadata().is_ok(), swap < 3, "{round}");
        let aside = scene.path(if target == "folder" {
            "workspace/aside/file"
        } else {
            "workspace/aside"
        });
        assert_eq!(std::fs::read(aside).unwrap(), b"precious");
        scene.expect_outside_untouched();
        scene.expect_nothing_hidden("workspace");
        assert!(!scene.path("workspace/moved").exists());
        scene.set_up();
    }
    assert_eq!(scene.executor().entries().len(), 1000);
}

#[test]
fn what_appears_between_check_and_act_is_not_written_to() {
    let mut scene = Scene::new();
    let content = Content::new("new");
    for round in 0..100 {
        let (at, outside) = (scene.path("workspace/made"), scene.path("outside"));
        scene.executor().pause = Some(Box::new(move || match round % 3 {
            // To a file that is there, and to one that would be made.
            0 => symlink(outside.join("file"), &at).unwrap(),
            1 => symlink(outside.join("made"), &at).unwrap(),
            _ => std::fs::write(&at, "somebody else's").unwrap(),
        }));
        let new = scene.bytes(&content);
        let path = "made".to_owned();
        let cause = rolled_back(scene.begin(Effect::Put { path, new }, &content));
        assert!(
            matches!(&cause, ExecuteError::Occupied(path) if path == "made"),
            "{cause}"
        );
        scene.expect_outside_untouched();
        scene.expect_nothing_hidden("workspace");
        let found = std::fs::read_link(scene.path("workspace/made"));
        assert_eq!(found.is_ok(), round % 3 < 2);
        scene.set_up();
    }
}

#[test]
fn a_directory_that_is_moved_out_of_the_workspace_is_left_alone() {
    let mut scene = Scene::new();
    let content = Content::new("new");
    for round in 0..100 {
        let old = scene.identity("folder/file").unwrap();
        let (folder, away) = (scene.path("workspace/folder"), scene.path("away"));
        let linked = round % 2 == 0;
        scene.executor().pause = Some(Box::new(move || {
            std::fs::rename(&folder, &away).unwrap();
            if linked {
                symlink(&away, &folder).unwrap();
            }
        }));
        let kind = round % 4;
        let effect = if kind == 3 {
            let new = scene.bytes(&content);
            Effect::Put {
                path: "folder/made".to_owned(),
                new,
            }
        } else {
            effect(kind, "folder/file", old, scene.bytes(&content))
        };
        let cause = rolled_back(scene.begin(effect, &content));
        assert!(matches!(&cause, ExecuteError::Changed(_)), "{cause}");
        assert_eq!(std::fs::read(scene.path("away/file")).unwrap(), b"precious");
        assert_eq!(std::fs::read_dir(scene.path("away")).unwrap().count(), 1);
        std::fs::remove_dir_all(scene.path("away")).unwrap();
        scene.set_up();
    }
}

#[test]
fn a_link_that_races_with_1000_changes_is_never_followed() {
    let mut scene = Scene::new();
    scene.executor().pause = None;
    let (target, link) = (scene.path("workspace/target"), scene.path("workspace/link"));
    std::fs::write(&target, "version 0").unwrap();
    symlink(scene.path("outside/file"), &link).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let racer = {
        let (stop, target, link) = (stop.clone(), target.clone(), link.clone());
        std::thread::spawn(move || {
            let mut swaps = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let swapped = renameat_with(CWD, &target, CWD, &link, RenameFlags::EXCHANGE);
                swaps += u64::from(swapped.is_ok());
                // Long enough for a look at what is there to come to an end now and then.
                std::thread::sleep(std::time::Duration::from_micros(swaps % 100));
            }
            swaps
        })
    };
    let (mut done, mut refused, mut written) = (0, 0, vec![Content::new("version 0")]);
    while done + refused < 1000 {
        let content = Content::new(format!("version {}", done + refused + 1));
        let Some(old) = scene.identity("target") else {
            continue;
        };
        let kind = if old.kind == crate::files::Kind::File {
            1
        } else {
            0
        };
        let result = scene.begin(effect(kind, "target", old, scene.bytes(&content)), &content);
        match result {
            Ok(receipt) => {
                done += 1;
                if kind == 1 {
                    written.push(content);
                }
                if kind == 0 {
                    // A link itself was deleted; it comes back unless the name was taken again.
                    let _ = scene.executor().restore(receipt.entry);
                }
            }
            Err(ExecuteError::Unsettled { cause, .. }) => panic!("{cause}"),
            Err(_) => refused += 1,
        }
        scene.expect_outside_untouched();
        for (path, make) in [(&target, false), (&link, true)] {
            if path.symlink_metadata().is_err() {
                let _ = if make {
                    symlink(scene.path("outside/file"), path)
                } else {
                    refill(path)
                };
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    let swaps = racer.join().unwrap();
    scene.expect_nothing_hidden("workspace");
    println!("{swaps} swaps, {done} done, {refused} refused");
    assert!(
        done > 0 && refused > 0,
        "{swaps} swaps, {done} done, {refused} refused"
    );
    // Whatever was there at any time is still somewhere.
    let mut kept = scene.tree();
    super::collect(&scene.state.join("trash"), &mut kept);
    for content in &written {
        assert!(kept.values().any(|(_, kept)| kept == content.bytes()));
    }
    // Every entry is settled, and the journal can be read again.
    scene.close();
    assert!(scene.try_open().unwrap().recovered().is_empty());
}

fn refill(path: &Path) -> std::io::Result<()> {
    std::fs::File::create_new(path).map(drop)
}

/// The moments within an effect, the check after the exchange included.
#[test]
fn a_swap_at_any_moment_of_an_overwrite_is_found() {
    let content = Content::new("new");
    let mut found = 0;
    for number in 0.. {
        let mut scene = Scene::new();
        let (at, aside) = (
            scene.path("workspace/folder/file"),
            scene.path("workspace/aside"),
        );
        let outside = scene.path("outside/file");
        let (from, to, goal) = (at.clone(), aside.clone(), outside.clone());
        let swap = move || {
            if std::fs::read(&from).unwrap() == b"precious" {
                std::fs::rename(&from, &to).unwrap();
                symlink(&goal, &from).unwrap();
            }
        };
        let old = scene.identity("folder/file").unwrap();
        let act = || {
            scene.begin(
                effect(1, "folder/file", old, scene.bytes(&content)),
                &content,
            )
        };
        let Some(result) = interrupted_at(number, swap, act) else {
            break;
        };
        if aside.exists() {
            let error = result.unwrap_err();
            assert!(matches!(error, ExecuteError::Failed { .. }), "{error}");
            assert_eq!(std::fs::read_link(&at).unwrap(), outside);
            assert_eq!(std::fs::read(&aside).unwrap(), b"precious");
            found += 1;
        } else {
            result.unwrap();
        }
        scene.expect_outside_untouched();
        scene.expect_nothing_hidden("workspace/folder");
    }
    assert!(found > 5, "{found}");
}

#[test]
fn a_copy_that_is_not_faithful_is_not_taken_for_the_thing() {
    let content = Content::new("new");
    let mut found = 0;
    for number in 0.. {
        let mut scene = Scene::across_file_systems();
        let copied = scene.state.join("trash/1/item/file");
        let spoil = move || {
            if copied.exists() {
                std::fs::write(&copied, "spoilt").unwrap();
            }
        };
        let old = scene.identity("folder").unwrap();
        let before = scene.tree();
        let act = || scene.begin(effect(0, "folder", old, scene.bytes(&content)), &content);
        let Some(result) = interrupted_at(number, spoil, act) else {
            break;
        };
        if result.is_err() {
            rolled_back(result);
            assert_eq!(scene.tree(), before);
            found += 1;
        }
    }
    assert!(found > 0);
}
