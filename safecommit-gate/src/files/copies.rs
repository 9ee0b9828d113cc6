//! Whether the content of a target is elsewhere in the workspace too.

use std::collections::{BTreeMap, BTreeSet};

use safecommit_conformal::Digest;

use super::error::FileError;
use super::handle::{Target, Workspace};
use super::identity::digest_of_file;
use super::status::Kind;
use super::tree::{Found, truth};
use super::walk::{Limits, walk, walk_directory};

/// `only_copy`: false if each file of the target with at least one byte has a copy, another file with the same bytes,
/// in the workspace and not in the target itself. Another name of the same file is no copy: what is written
/// through one is seen through the other. Where another directory is denied or changes meanwhile, nothing is found.
pub(crate) fn copy_facts(
    workspace: &Workspace,
    target: &Target,
    limits: &Limits,
) -> Result<Found, FileError> {
    let answer = |only: bool| Ok(vec![("only_copy", truth(only))]);
    let Some(first) = target.status()? else {
        return answer(false);
    };
    let mut budget = limits.begin();
    let mut wanted: BTreeSet<(u64, Digest)> = BTreeSet::new();
    let mut own: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut unreadable = false;
    walk(target, &first, &mut budget, &mut |entry, budget| {
        let status = entry.status;
        own.insert((status.device, status.inode));
        match status.kind {
            Kind::File if status.size > 0 => {
                wanted.insert((status.size, digest_of_file(entry, budget)?));
            }
            // What is mounted there is not looked at.
            Kind::Mount => unreadable = true,
            _ => {}
        }
        Ok(())
    })?;
    if unreadable {
        return answer(true);
    }
    let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
    for (size, _) in &wanted {
        *sizes.entry(*size).or_default() += 1;
    }
    let mut budget = budget.tolerant();
    walk_directory(workspace.handle(), &mut budget, &mut |entry, budget| {
        let status = entry.status;
        let candidate = status.kind == Kind::File
            && sizes.get(&status.size).is_some_and(|left| *left > 0)
            && !own.contains(&(status.device, status.inode));
        if candidate && wanted.remove(&(status.size, digest_of_file(entry, budget)?)) {
            sizes.entry(status.size).and_modify(|left| *left -= 1);
        }
        Ok(())
    })?;
    answer(!wanted.is_empty())
}
