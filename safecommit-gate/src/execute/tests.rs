//! The executor with its parts: what nobody can bring about from outside.

mod crashes;
mod emptying;
mod keyed;
mod leaving;
mod permanent;
mod swaps;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::action::Content;
use super::error::ExecuteError;
use super::executor::Executor;
use super::kept::Kept;
use super::receipt::Receipt;
use super::record::{Effect, Source};
use crate::files::{Limits, Workspace};

/// A workspace with something outside it, in memory, so that a thousand times is not long.
struct Scene {
    base: TempDir,
    state: PathBuf,
    /// The state directory's, if it is on another file system.
    _other: Option<TempDir>,
    opened: Option<Executor>,
}

/// Mode and content by path.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Scene {
    fn new() -> Self {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let state = base.path().join("state");
        Self::with(base, state, None)
    }

    fn across_file_systems() -> Self {
        let (base, other) = (
            tempfile::tempdir_in("/dev/shm").unwrap(),
            tempfile::tempdir().unwrap(),
        );
        let device = |path: &Path| std::os::unix::fs::MetadataExt::dev(&path.metadata().unwrap());
        assert_ne!(
            device(base.path()),
            device(other.path()),
            "two file systems are needed"
        );
        let state = other.path().join("state");
        Self::with(base, state, Some(other))
    }

    fn with(base: TempDir, state: PathBuf, other: Option<TempDir>) -> Self {
        for folder in ["workspace", "outside"] {
            std::fs::create_dir(base.path().join(folder)).unwrap();
        }
        let mut scene = Self {
            base,
            state,
            _other: other,
            opened: None,
        };
        scene.opened = Some(scene.try_open().unwrap());
        scene.set_up();
        scene
    }

    fn try_open(&self) -> Result<Executor, ExecuteError> {
        Executor::open(
            Workspace::open(self.path("workspace")).unwrap(),
            &self.state,
        )
    }

    fn executor(&mut self) -> &mut Executor {
        self.opened.as_mut().unwrap()
    }

    fn close(&mut self) {
        self.opened = None;
    }

    fn tree(&self) -> Tree {
        let mut found = Tree::new();
        collect(&self.path("workspace"), &mut found);
        found
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.path().join(below)
    }

    /// The same names with the same contents again, in the workspace and outside it.
    fn set_up(&self) {
        for folder in ["workspace", "outside"] {
            let folder = self.path(folder);
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.symlink_metadata().unwrap().is_dir() {
                    std::fs::remove_dir_all(path).unwrap();
                } else {
                    std::fs::remove_file(path).unwrap();
                }
            }
        }
        std::fs::create_dir(self.path("workspace/folder")).unwrap();
        for file in ["workspace/folder/file", "outside/file"] {
            std::fs::write(self.path(file), "precious").unwrap();
        }
    }

    fn identity(&self, path: &str) -> Option<Kept> {
        let executor = self.opened.as_ref()?;
        let target = executor.workspace.target(path).ok()?;
        let found = target.identity(&Limits::default()).ok()??;
        Some(executor.key.kept(&found))
    }

    /// Where the content of a new file comes from.
    fn bytes(&self, content: &Content) -> Source {
        let key = &self.opened.as_ref().unwrap().key;
        Source::Bytes {
            content: key.code(content.digest()),
        }
    }

    fn begin(&mut self, effect: Effect, content: &Content) -> Result<Receipt, ExecuteError> {
        self.executor().begin(None, None, effect, Some(content))
    }

    fn expect_outside_untouched(&self) {
        let mut names = std::fs::read_dir(self.path("outside")).unwrap();
        assert_eq!(names.next().unwrap().unwrap().file_name(), "file");
        assert!(names.next().is_none());
        assert_eq!(
            std::fs::read(self.path("outside/file")).unwrap(),
            b"precious"
        );
    }

    fn expect_nothing_hidden(&self, folder: &str) {
        for entry in std::fs::read_dir(self.path(folder)).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(!name.to_str().unwrap().starts_with(super::action::RESERVED));
        }
    }
}

/// Everything below a directory.
fn collect(folder: &Path, found: &mut Tree) {
    collect_below(folder, folder, found);
}

fn collect_below(root: &Path, folder: &Path, found: &mut Tree) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let mut content = Vec::new();
        if meta.is_dir() {
            collect_below(root, &path, found);
        } else if meta.is_file() {
            content = std::fs::read(&path).unwrap();
        }
        found.insert(
            path.strip_prefix(root).unwrap().to_owned(),
            (meta.permissions().mode(), content),
        );
    }
}
