//! Where the project's files are.

use std::path::{Path, PathBuf};

/// The root of the workspace, whatever the working directory.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// The directory of the frozen splits.
pub(crate) fn data() -> PathBuf {
    root().join("safecommit-bench/data/controlled")
}

/// The directory of the tables' snapshots.
pub(crate) fn snapshots() -> PathBuf {
    root().join("safecommit-bench/snapshots")
}

/// The README that shows the tables.
pub(crate) fn readme() -> PathBuf {
    root().join("README.md")
}

/// A path as it is best shown: relative to the root where it lies in it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
