//! What ordinary tools do with an action that nobody checks. There is more than one way to delete and to move, and an
//! agent may have any of them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::plan::Act;
use crate::scene::Scene;
use crate::snapshot::{Snapshot, What};

/// One way to carry out an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// `rm -rf PATH`, `mv -T FROM TO`, or the content written to whatever the path leads to.
    Plain,
    /// `rm -rf PATH/*`: a link to a directory is followed.
    Slash,
    /// `find -L PATH -delete`: every link to a directory is followed.
    Follow,
    /// `mv FROM TO` with a directory at `TO`: what is moved goes into it.
    Into,
}

/// The ways that could come to different ends in a scene.
pub(crate) fn readings(act: &Act, seen: &Snapshot, scene: &Scene) -> Vec<Reading> {
    let mut readings = vec![Reading::Plain];
    match act {
        Act::Delete(path) => {
            let links = |below: &Path| {
                let mut all = seen.entries();
                all.any(|(at, entry)| {
                    let within =
                        at.starts_with(path) && (below.as_os_str().is_empty() || at == below);
                    within && matches!(entry.what, What::Link(_))
                })
            };
            if links(Path::new(path)) {
                readings.push(Reading::Slash);
            }
            if links(Path::new("")) {
                readings.push(Reading::Follow);
            }
        }
        Act::Move(_, to) if scene.path(to).is_dir() => readings.push(Reading::Into),
        _ => {}
    }
    readings
}

/// Carries out an action; a tool that fails may have done a part.
pub(crate) fn execute(act: &Act, reading: Reading, scene: &Scene) -> io::Result<()> {
    match act {
        Act::Delete(path) => {
            let path = scene.path(path);
            match reading {
                Reading::Slash => remove_below(&path.canonicalize()?),
                Reading::Follow => follow(&path, &mut BTreeSet::new()),
                Reading::Plain | Reading::Into => remove(&path),
            }
        }
        Act::Overwrite(path, content)
        | Act::Revise(path, content, _)
        | Act::Write(path, content) => fs::write(scene.path(path), content),
        Act::Move(from, to) => {
            let (from, mut to) = (scene.path(from), scene.path(to));
            if reading == Reading::Into {
                to.push(from.file_name().unwrap_or_default());
            }
            relocate(&from, &to)
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn remove_below(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        // As `rm` does, the rest goes even if one stays.
        let _ = remove(&entry?.path());
    }
    Ok(())
}

fn follow(path: &Path, seen: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if path.is_dir() && seen.insert(path.canonicalize()?) {
        for entry in fs::read_dir(path)? {
            let _ = follow(&entry?.path(), seen);
        }
    }
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    }
}

/// As `mv`: copies and removes where renaming is impossible.
fn relocate(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            remove(from)
        }
        other => other,
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(from)?.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
