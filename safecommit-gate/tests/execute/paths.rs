//! Paths of targets.

use proptest::prelude::*;
use safecommit_gate::{FileError, Limits, TargetPath};

use crate::support::{Scene, path, tree, write};

#[test]
fn paths_have_one_spelling_or_none() {
    for refused in [
        "",
        ".",
        "/",
        "/etc/passwd",
        "a/../b",
        "..",
        "a\0b",
        "a/.safecommit-0/b",
    ] {
        assert!(TargetPath::new(refused).is_err(), "{refused:?}");
    }
    assert!(TargetPath::new(&"a/".repeat(2047)).is_ok());
    assert!(TargetPath::new(&"a/".repeat(2048)).is_err());
    assert!(TargetPath::new(&"a".repeat(256)).is_err());
    assert_eq!(path("./a//b/./c/").as_str(), "a/b/c");
    // Every component of the longest is asked for, and one error comes back.
    let scene = Scene::new();
    let deep = write(&"a/".repeat(2047), "");
    let executor = scene.open();
    let probed = deep.probe(executor.workspace(), &Limits::default());
    assert!(
        matches!(probed, Err(FileError::TooLong { .. })),
        "{probed:?}"
    );
    assert_eq!(tree(&scene.path("")).len(), 1);
}

proptest! {
    /// What is accepted is one spelling of what the standard library takes the text for, and never leads up.
    #[test]
    fn a_path_is_what_its_components_are(text in r"([a-c/. ]|\.\.|\./|é|\PC|\x00){0,40}") {
        use std::path::{Component, Path};
        let components: Vec<_> = Path::new(&text).components().filter(|part| *part != Component::CurDir).collect();
        let plain = components.iter().all(|part| matches!(part, Component::Normal(_)));
        let possible = plain && !components.is_empty() && !text.contains('\0');
        match TargetPath::new(&text) {
            Ok(path) => {
                prop_assert!(possible);
                let again: Vec<_> = Path::new(path.as_str()).components().collect();
                prop_assert_eq!(again, components);
                prop_assert_eq!(TargetPath::new(path.as_str()), Ok(path));
            }
            Err(error) => {
                prop_assert!(!possible, "{}", error);
            }
        }
    }
}
