//! Where a path really leads, and over what.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// A path followed to its end, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Where it ends, without links.
    pub(super) end: PathBuf,
    /// The links that were followed, each by its own place.
    pub(super) links: Vec<PathBuf>,
    /// Every place that was passed, the end included.
    passed: Vec<PathBuf>,
    /// Device and inode of those of them that exist.
    identities: Vec<(u64, u64)>,
}

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

impl Way {
    /// Follows a path, one component after the other.
    ///
    /// # Errors
    ///
    /// Those of the system, except for what does not exist; too many links.
    pub(super) fn follow(path: &Path) -> Result<Self, Error> {
        let mut way = Self {
            end: PathBuf::from("/"),
            links: Vec::new(),
            passed: Vec::new(),
            identities: Vec::new(),
        };
        let mut open = steps(&std::path::absolute(path)?);
        while let Some(step) = open.pop_front() {
            match step {
                Step::Root => way.end = PathBuf::from("/"),
                Step::Up => {
                    way.end.pop();
                }
                Step::Down(name) => {
                    let next = way.end.join(name);
                    way.passed.push(next.clone());
                    match std::fs::symlink_metadata(&next) {
                        Ok(found) if found.is_symlink() => {
                            let mut target = steps(&std::fs::read_link(&next)?);
                            way.links.push(next);
                            if way.links.len() > MOST_LINKS {
                                return Err(Error::other("too many symbolic links"));
                            }
                            target.append(&mut open);
                            open = target;
                        }
                        Ok(found) => {
                            way.identities.push((found.dev(), found.ino()));
                            way.end = next;
                        }
                        Err(error) if error.kind() == ErrorKind::NotFound => way.end = next,
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(way)
    }

    /// Whether the end, or anything on the way to it, lies in a directory: who may change that directory may then
    /// change where the path leads. The directory is known by its name and by its identity, so that it is found under
    /// the name of a mount too.
    pub(super) fn touches(&self, directory: &Path, identity: (u64, u64)) -> bool {
        let inside = |place: &PathBuf| place.starts_with(directory);
        self.passed.iter().any(inside) || self.identities.contains(&identity)
    }

    /// The end and the links on the way to it.
    pub(super) fn places(self) -> impl Iterator<Item = PathBuf> {
        self.links.into_iter().chain([self.end])
    }
}

enum Step {
    Root,
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> VecDeque<Step> {
    let steps = path.components().filter_map(|component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Among random directories and links, a path ends where the system says that it does.
        #[test]
        fn the_end_is_where_the_system_says(
            links in proptest::collection::vec(("[abc]", "[abc]", "(/)?([abc]|\\.\\.)(/([abc]|\\.\\.|\\.)){0,3}"), 0..6),
            path in "[abc](/([abc]|\\.\\.|\\.)){0,6}",
        ) {
            let directory = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(directory.path()).unwrap();
            for name in ["a/a", "a/b", "b"] {
                fs::create_dir_all(root.join(name)).unwrap();
            }
            for (parent, name, target) in &links {
                let target = match target.strip_prefix('/') {
                    Some(below) => root.join(below),
                    None => PathBuf::from(target),
                };
                // Some names are taken already, and links made before may lead out.
                let parent = fs::canonicalize(root.join(parent));
                if let Ok(parent) = parent && parent.starts_with(&root) {
                    let _ = symlink(&target, parent.join(name));
                }
                let _ = symlink(&target, root.join(name));
            }
            let path = root.join(path);
            match fs::canonicalize(&path) {
                Ok(real) => prop_assert_eq!(Way::follow(&path).unwrap().end, real),
                // The rest of what does not exist is anybody's guess.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => prop_assert!(Way::follow(&path).is_err()),
            }
        }
    }

    #[test]
    fn every_place_on_the_way_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir_all(root.join("work/deep")).unwrap();
        fs::create_dir(root.join("state")).unwrap();
        // Out of the workspace and back over a link in it.
        symlink("../../state", root.join("work/deep/link")).unwrap();
        symlink(root.join("work/deep/link/key"), root.join("outer")).unwrap();
        symlink("loop", root.join("loop")).unwrap();

        let way = Way::follow(&root.join("outer")).unwrap();
        assert_eq!(way.end, root.join("state/key"));
        assert_eq!(way.links, [root.join("outer"), root.join("work/deep/link")]);
        let touches = |way: &Way, name: &str| {
            let found = fs::metadata(root.join(name)).unwrap();
            way.touches(&root.join(name), (found.dev(), found.ino()))
        };
        assert!(touches(&way, "work") && touches(&way, "work/deep") && touches(&way, "state"));
        let way = Way::follow(&root.join("state/a/../b")).unwrap();
        assert_eq!(way.end, root.join("state/b"));
        assert!(!touches(&way, "work"));
        assert!(Way::follow(&root.join("loop")).is_err());
        // By its identity alone.
        let state = fs::metadata(root.join("state")).unwrap();
        assert!(way.touches(Path::new("/elsewhere"), (state.dev(), state.ino())));
    }
}
