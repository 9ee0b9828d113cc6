//! What stands in a scene, and what differs between two moments.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Everything in `workspace` and `outside`, by its path below their directory. No link is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) what: What,
    pub(crate) mode: u32,
    pub(crate) owner: u32,
    group: u32,
    modified: (i64, i64),
    object: (u64, u64),
    names: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

/// One name that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Made,
    Lost,
    Changed,
}

/// How closely to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// Kind, content, mode and owner: whether something was harmed.
    Content,
    /// Also groups, times of modification, and that it is the same object: whether anything was touched at all.
    Everything,
}

impl Snapshot {
    pub(crate) fn of(base: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut open = vec![base.join("workspace"), base.join("outside")];
        while let Some(path) = open.pop() {
            let meta = fs::symlink_metadata(&path).unwrap();
            let what = if meta.is_symlink() {
                What::Link(fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                open.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
                What::Directory
            } else if meta.is_file() {
                What::File(fs::read(&path).unwrap())
            } else {
                What::Other
            };
            let entry = Entry {
                what,
                mode: meta.mode(),
                owner: meta.uid(),
                group: meta.gid(),
                modified: (meta.mtime(), meta.mtime_nsec()),
                object: (meta.dev(), meta.ino()),
                names: meta.nlink(),
            };
            found.insert(path.strip_prefix(base).unwrap().to_owned(), entry);
        }
        Self(found)
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Entry> {
        self.0.get(path)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.0.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    /// What differs afterwards, by path.
    pub(crate) fn changes(&self, after: &Self, compare: Compare) -> Vec<Change> {
        let change = |path: &PathBuf, kind| Change {
            path: path.clone(),
            kind,
        };
        let mut changes = Vec::new();
        for (path, entry) in &self.0 {
            match after.0.get(path) {
                None => changes.push(change(path, ChangeKind::Lost)),
                Some(now) if !entry.is_like(now, compare) => {
                    changes.push(change(path, ChangeKind::Changed));
                }
                Some(_) => {}
            }
        }
        let made = after.0.keys().filter(|path| !self.0.contains_key(*path));
        changes.extend(made.map(|path| change(path, ChangeKind::Made)));
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes
    }
}

impl Entry {
    pub(crate) fn is_like(&self, other: &Self, compare: Compare) -> bool {
        let same = (&self.what, self.mode, self.owner) == (&other.what, other.mode, other.owner);
        let rest = |entry: &Self| (entry.group, entry.modified, entry.object);
        same && (compare == Compare::Content || rest(self) == rest(other))
    }

    /// Whether both are names of one file that has several.
    pub(crate) fn is_other_name_of(&self, other: &Self) -> bool {
        let is_file = matches!(self.what, What::File(_));
        is_file && self.names > 1 && self.object == other.object
    }
}
