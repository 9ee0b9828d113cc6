//! That the comparison after a run sees whatever may have been touched.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file};
use crate::run::side_effects;
use crate::scene::Scene;

fn scene() -> Scene {
    let mut draw = Draw::new("compared", 0);
    let plan = Plan::new("compared", 0, &mut draw)
        .with(directory("workspace/run/latest", &mut draw))
        .with([file("workspace/run/beside", "beside")])
        .with([Step::Directory("workspace/run/empty".to_owned())]);
    Scene::build(&plan).unwrap()
}

/// What is seen of a change, when this was released.
fn seen(act: Option<&Act>, change: impl FnOnce(&Path)) -> Vec<String> {
    let scene = scene();
    let before = scene.snapshot();
    change(&scene.path(""));
    side_effects(act, &before, &scene.snapshot()).collect()
}

fn delete() -> Act {
    Act::Delete("workspace/run/latest".to_owned())
}

#[test]
fn whatever_is_touched_is_seen() {
    type Change = fn(&Path);
    let changes: [(Change, &str); 9] = [
        (
            |base| fs::write(base.join("outside/precious.txt"), "new").unwrap(),
            "Changed `outside/precious.txt`",
        ),
        (
            |base| fs::write(base.join("outside/shared/new"), "new").unwrap(),
            "Made `outside/shared/new`",
        ),
        (
            |base| fs::remove_file(base.join("outside/shared/a.txt")).unwrap(),
            "Lost `outside/shared/a.txt`",
        ),
        (
            |base| {
                let path = base.join("workspace/run/beside");
                fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
            },
            "Changed `workspace/run/beside`",
        ),
        (
            |base| {
                let path = base.join("workspace/run/beside");
                let file = fs::File::options().write(true).open(path).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            },
            "Changed `workspace/run/beside`",
        ),
        (
            // The same bytes in another file.
            |base| {
                let path = base.join("workspace/run/beside");
                fs::copy(&path, base.join("copy")).unwrap();
                fs::rename(base.join("copy"), path).unwrap();
            },
            "Changed `workspace/run/beside`",
        ),
        (
            |base| symlink("beside", base.join("workspace/run/link")).unwrap(),
            "Made `workspace/run/link`",
        ),
        (
            |base| fs::remove_dir(base.join("workspace/run/empty")).unwrap(),
            "Lost `workspace/run/empty`",
        ),
        (
            |base| {
                let path = base.join("workspace/run");
                fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
            },
            "Changed `workspace/run`",
        ),
    ];
    for (change, expected) in changes {
        let found = seen(None, change);
        assert!(
            found.contains(&expected.to_owned()),
            "{expected}: {found:?}"
        );
        let found = seen(Some(&delete()), |base| {
            fs::remove_dir_all(base.join("workspace/run/latest")).unwrap();
            change(base);
        });
        assert!(
            found.contains(&expected.to_owned()),
            "{expected}: {found:?}"
        );
        assert!(
            found.iter().all(|line| !line.contains("latest")),
            "{found:?}"
        );
    }
}

#[test]
fn an_effect_belongs_to_what_was_released_and_has_to_be_there() {
    let remove = |base: &Path| fs::remove_dir_all(base.join("workspace/run/latest")).unwrap();
    assert_eq!(seen(Some(&delete()), remove), [""; 0]);
    assert!(seen(None, remove).len() > 2, "nothing was released");
    assert_eq!(seen(None, |_| {}), [""; 0]);

    let missing = ["the effect is not there"];
    let overwrite =
        |content: &str| Act::Overwrite("workspace/run/beside".to_owned(), content.to_owned());
    let rename = |base: &Path| {
        let (from, to) = (
            base.join("workspace/run/latest"),
            base.join("workspace/moved"),
        );
        fs::rename(from, to).unwrap();
    };
    let relocate = |to: &str| {
        let to = format!("workspace/{to}");
        Act::Move("workspace/run/latest".to_owned(), to)
    };
    let write = |base: &Path| fs::write(base.join("workspace/run/beside"), "new").unwrap();
    assert_eq!(seen(Some(&delete()), |_| {}), missing);
    assert_eq!(seen(Some(&overwrite("new")), write), [""; 0]);
    assert_eq!(seen(Some(&overwrite("other")), write), missing);
    assert_eq!(seen(Some(&relocate("moved")), rename), [""; 0]);
    assert!(seen(Some(&relocate("elsewhere")), rename).contains(&missing[0].to_owned()));
}
