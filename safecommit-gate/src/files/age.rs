//! Whether a target was changed, or another put in its place, since a memory.

use std::os::fd::AsFd;

use super::error::FileError;
use super::facts::FileSettings;
use super::handle::{Target, Workspace, open_directory};
use super::status::{self, Status};
use super::tree::{Found, status_of_parent, truth};
use super::walk::{Limits, walk};

/// How much later a file system may think that it is, or how much earlier, than the clock that memories are dated
/// by: file systems date changes by a clock that ticks as slowly as every 10 ms.
const TICK: jiff::SignedDuration = jiff::SignedDuration::from_millis(10);

/// `changed_since_memory`: of a tree, whether anything in it was. The time of change is used too, which no program can
/// set back. Nothing is found out without a memory, and the probe fails where `false` could be about another target than
/// the memory is: see [`check_way`].
pub(crate) fn age_facts(
    workspace: &Workspace,
    target: &Target,
    settings: &FileSettings,
    limits: &Limits,
) -> Result<Found, FileError> {
    let Some(memory) = settings.memory else {
        return Ok(Vec::new());
    };
    let known = memory.as_nanosecond() - TICK.as_nanos();
    let mut changed = true;
    if let Some(first) = target.status()? {
        changed = false;
        walk(target, &first, &mut limits.begin(), &mut |entry, _| {
            changed |= is_later(entry.status.modified, known);
            changed |= is_later(entry.status.changed, known);
            Ok(())
        })?;
    }
    if !changed {
        check_way(workspace, target, known)?;
    }
    Ok(vec![("changed_since_memory", truth(changed))])
}

/// That every directory on the way from the workspace to the target has had its name since the memory.
///
/// To give a directory its name changes two times: its own, as it is renamed, and that of the directory in which it gets
/// the name. Only if both are later than the memory it may have come since. Either alone has harmless reasons: files are
/// made beside the target, or elsewhere in the directory above. The times of the workspace count as those of any directory
/// above; that it is the workspace of the memory is for the caller to know. What is mounted on the way may be there since
/// any time. A file system that does not date what is renamed, as POSIX allows, is not covered.
fn check_way(workspace: &Workspace, target: &Target, known: i128) -> Result<(), FileError> {
    let failed = |errno| FileError::of(target.relative(), errno);
    let replaced = |end: usize| FileError::Replaced(target.relative()[..end].to_owned());
    let mut at = open_directory(workspace.handle(), ".").map_err(failed)?;
    let slashes = target.relative().match_indices('/').map(|(at, _)| at);
    let mut begin = 0;
    for end in slashes {
        let child = open_directory(at.as_fd(), &target.relative()[begin..end]).map_err(failed)?;
        let below = status::of_handle(&child).map_err(failed)?;
        // After the one below was found in it, so that what put it there has been dated.
        let above = status::of_handle(&at).map_err(failed)?;
        let both = is_later(below.changed, known) && is_later(above.changed, known);
        if both || below.place() != workspace.status().place() {
            return Err(replaced(end));
        }
        (at, begin) = (child, end + 1);
    }
    let found: Status = status::of_handle(&at).map_err(failed)?;
    if found.is_same_object(&status_of_parent(target)?) {
        Ok(())
    } else {
        Err(FileError::Changed(target.relative().to_owned()))
    }
}

fn is_later(time: (i64, u32), known: i128) -> bool {
    i128::from(time.0) * 1_000_000_000 + i128::from(time.1) > known
}
