//! Where the project's files are.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// The project that the tasks work on.
#[derive(Debug)]
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    /// The project that cargo runs this program for; if cargo does not run it, the one that the working
    /// directory lies in.
    ///
    /// The path that this program was built under has no say: a build directory that was copied or is shared
    /// holds programs of other copies of the project, and they must not be checked in the place of this one.
    pub(crate) fn find() -> anyhow::Result<Self> {
        match std::env::var_os("CARGO_MANIFEST_DIR") {
            Some(package) => Self::around(Path::new(&package)),
            None => {
                let here = std::env::current_dir().context("cannot tell the working directory")?;
                Self::around(&here)
            }
        }
    }

    /// The project that `start` lies in: the innermost workspace around it must be ours.
    pub(crate) fn around(start: &Path) -> anyhow::Result<Self> {
        for directory in start.ancestors() {
            let Ok(manifest) = std::fs::read_to_string(directory.join("Cargo.toml")) else {
                continue;
            };
            if !manifest
                .lines()
                .any(|line| line.trim_end() == "[workspace]")
            {
                continue;
            }
            if !directory.join("safecommit-bench/Cargo.toml").is_file() {
                bail!("`{}` is another project", directory.display());
            }
            return Ok(Self {
                root: directory.to_owned(),
            });
        }
        bail!("`{}` lies in no project", start.display())
    }

    /// The root of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A file or directory by its path from the root.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// The directory of the frozen splits.
pub(crate) const DATA: &str = "safecommit-bench/data/controlled";

/// The parameters that frozen splits and tables come from.
pub(crate) const PARAMETERS: &str = "safecommit-bench/data/parameters.toml";

/// The directory of the tables' snapshots.
pub(crate) const SNAPSHOTS: &str = "safecommit-bench/snapshots";

/// The README that shows some of the tables.
pub(crate) const README: &str = "README.md";

/// The document with all tables.
pub(crate) const RESULTS: &str = "RESULTS.md";

/// The tables of the studies beyond the paper.
pub(crate) const BEYOND: &str = "BEYOND.md";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_the_innermost_workspace_and_none_other() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        let inside = root.join("safecommit-bench/src");
        let other = root.join("vendored/package");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(root.join("Cargo.toml"), "[workspace]\n").unwrap();
        std::fs::write(root.join("safecommit-bench/Cargo.toml"), "[package]\n").unwrap();
        for start in [&root, &inside, &other] {
            assert_eq!(Project::around(start).unwrap().root(), root);
        }
        let error = |start: &Path| Project::around(start).unwrap_err().to_string();
        std::fs::write(other.join("Cargo.toml"), "[workspace]\r\n").unwrap();
        assert!(error(&other).ends_with("package` is another project"));
        assert!(error(directory.path()).ends_with("` lies in no project"));
    }
}
