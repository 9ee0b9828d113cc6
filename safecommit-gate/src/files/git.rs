//! What the last commit of a repository has of a target.
//!
//! A repository is data that an agent may have written, and its configuration can name programs: monitors, hooks, filters,
//! differences, helpers of transports. So git only lists names and hands out objects here, which runs none of them, and the
//! comparison with what is there is ours, byte by byte, through handles. Objects are never fetched.

mod command;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;

use self::command::{Git, Objects};
use super::error::FileError;
use super::handle::{Target, Workspace};
use super::identity::read_file;
use super::status::{self, Kind, Status};
use super::tree::{Found, join, status_of_parent};
use super::walk::{Budget, Entry, Limits, walk};

/// What git has of a target; the largest of what is below counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tracked {
    Clean,
    None,
    Untracked,
    Dirty,
}

/// A file or link of the last commit.
struct Committed {
    mode: Vec<u8>,
    id: String,
    size: Option<u64>,
}

/// `tracked`: `clean` if every file and link of the target is in the last commit with the same bytes, `dirty` if git
/// knows one whose content is not in the last commit, `untracked` if git has nothing of one and does not ignore it, or
/// a whole repository is below, `none` if no repository is around it or what it has nothing of is ignored. An empty
/// directory has nothing to lose and is `clean`, what is missing is `none`.
pub(crate) fn repository_facts(
    workspace: &Workspace,
    target: &Target,
    limits: &Limits,
) -> Result<Found, FileError> {
    let mut budget = limits.begin();
    let tracked = match target.status()? {
        None => Tracked::None,
        Some(first) => match top_of_repository(workspace, target)? {
            None => {
                let mut found = Tracked::None;
                walk(target, &first, &mut budget, &mut |entry, _| {
                    if entry.name == ".git" {
                        found = Tracked::Untracked;
                    }
                    Ok(())
                })?;
                found
            }
            Some((top, path)) => {
                let mut look = Look::new(&top, path, &budget)?;
                walk(target, &first, &mut budget, &mut |entry, budget| {
                    look.at(entry, budget)
                })?;
                look.finish()?
            }
        },
    };
    let name = match tracked {
        Tracked::Clean => "clean",
        Tracked::None => "none",
        Tracked::Untracked => "untracked",
        Tracked::Dirty => "dirty",
    };
    Ok(vec![("tracked", name)])
}

/// The top directory of the repository that the target's directory is in, and the path of the target from there. A repository
/// in the target itself goes with it, and holds nothing for it. As git does, it stops at the border of a file system. The first
/// `.git` counts, valid or not: git passes over an invalid one, but what it then says of the names above is not about the target.
fn top_of_repository(
    workspace: &Workspace,
    target: &Target,
) -> Result<Option<(OwnedFd, Vec<u8>)>, FileError> {
    let failed = |errno| FileError::of(target.relative(), errno);
    let path = workspace.path().join(target.relative());
    let mut names: Vec<&[u8]> = path.iter().map(|name| name.as_bytes()).collect();
    let mut below: Vec<&[u8]> = names.pop().into_iter().collect();
    let mut at = super::handle::open_directory(target.parent(), ".").map_err(failed)?;
    let mut here = status_of_parent(target)?;
    loop {
        match status::of_name(&at, here.place(), ".git") {
            Ok(repository) => {
                check_owner(&here, &repository)?;
                below.reverse();
                return Ok(Some((at, below.join(&b'/'))));
            }
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        at = super::handle::open_directory(at.as_fd(), "..").map_err(failed)?;
        let above = status::of_handle(&at).map_err(failed)?;
        if above.is_same_object(&here) || above.device != here.device {
            return Ok(None);
        }
        here = above;
        below.extend(names.pop());
    }
}

/// Git itself refuses the repositories of other users unless it is told where one is, as it is here.
fn check_owner(top: &Status, repository: &Status) -> Result<(), FileError> {
    let user = rustix::process::geteuid().as_raw();
    if top.owner == user && repository.owner == user {
        return Ok(());
    }
    Err(FileError::Git(
        "the repository belongs to another user".to_owned(),
    ))
}

/// A look at a target, name by name. What is committed needs two processes, anything else up to two more.
struct Look {
    git: Git,
    objects: Objects,
    path: Vec<u8>,
    committed: BTreeMap<Vec<u8>, Committed>,
    unknown: Vec<Vec<u8>>,
    worst: Tracked,
    has_repository: bool,
}

impl Look {
    fn new(top: &OwnedFd, path: Vec<u8>, budget: &Budget) -> Result<Self, FileError> {
        let git = Git::at(top, budget.until())?;
        let mut objects = git.objects()?;
        let mut committed = BTreeMap::new();
        if let Some(commit) = git.last_commit(&mut objects)? {
            let arguments: [&[u8]; 7] = [
                b"ls-tree",
                b"-rlz",
                b"--full-tree",
                b"--end-of-options",
                commit.as_bytes(),
                b"--",
                &path,
            ];
            for record in split(&git.answer(&arguments)?) {
                let (path, entry) = parse(record).ok_or_else(unreadable)?;
                committed.insert(path, entry);
            }
        }
        Ok(Self {
            git,
            objects,
            path,
            committed,
            unknown: Vec::new(),
            worst: Tracked::Clean,
            has_repository: false,
        })
    }

    fn at(&mut self, entry: &Entry<'_>, budget: &mut Budget) -> Result<(), FileError> {
        self.has_repository |= entry.name == ".git";
        if entry.status.kind == Kind::Directory || self.worst == Tracked::Dirty {
            return Ok(());
        }
        let path = join(&self.path, entry.below);
        if let Some(committed) = self.committed.get(&path) {
            if !is_same(entry, committed, &mut self.objects, budget)? {
                self.worst = Tracked::Dirty;
            }
        } else {
            self.unknown.push(path);
        }
        Ok(())
    }

    fn finish(self) -> Result<Tracked, FileError> {
        if self.worst == Tracked::Dirty || self.unknown.is_empty() && !self.has_repository {
            return Ok(self.worst);
        }
        let list: [&[u8]; 6] = [
            b"ls-files",
            b"-z",
            b"--cached",
            b"--full-name",
            b"--",
            &self.path,
        ];
        let staged = self.git.answer(&list)?;
        let staged: BTreeSet<&[u8]> = split(&staged).collect();
        if self.unknown.iter().any(|path| staged.contains(&path[..])) {
            return Ok(Tracked::Dirty);
        }
        if self.has_repository {
            return Ok(Tracked::Untracked);
        }
        let ignored = self.git.ignored(&self.unknown)?;
        let ignored: BTreeSet<&[u8]> = split(&ignored)
            .filter_map(|path| path.strip_prefix(b"./"))
            .collect();
        let all = self.unknown.iter().all(|path| ignored.contains(&path[..]));
        Ok(if all {
            Tracked::None
        } else {
            Tracked::Untracked
        })
    }
}

/// Whether what is there has kind, execution bit and bytes of the committed object.
fn is_same(
    entry: &Entry<'_>,
    committed: &Committed,
    objects: &mut Objects,
    budget: &mut Budget,
) -> Result<bool, FileError> {
    let mode: &[u8] = match entry.status.kind {
        Kind::File if entry.status.mode & 0o100 != 0 => b"100755",
        Kind::File => b"100644",
        Kind::Link => b"120000",
        _ => return Ok(false),
    };
    if mode != committed.mode || committed.size != Some(entry.status.size) {
        return Ok(false);
    }
    objects.begin(&committed.id, entry.status.size)?;
    let (mut same, mut result) = (true, Ok(()));
    let mut compare = |part: &[u8]| {
        if result.is_ok() {
            result = objects
                .read(part.len())
                .map(|object| same &= object == part);
        }
    };
    if entry.status.kind == Kind::Link {
        let leads = rustix::fs::readlinkat(entry.parent, entry.name, Vec::new());
        let leads = leads.map_err(|errno| entry.failed(errno))?;
        if leads.as_bytes().len() as u64 != entry.status.size {
            return Err(FileError::Changed(entry.shown()));
        }
        compare(leads.as_bytes());
    } else {
        read_file(entry, budget, &mut compare)?;
    }
    result?;
    objects.end()?;
    Ok(same)
}

/// `<mode> <type> <id> <size>\t<path>`, the size padded with spaces in front.
fn parse(record: &[u8]) -> Option<(Vec<u8>, Committed)> {
    let tab = record.iter().position(|&byte| byte == b'\t')?;
    let text = std::str::from_utf8(&record[..tab]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let (mode, _, id, size) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    let entry = Committed {
        mode: mode.as_bytes().to_vec(),
        id: id.to_owned(),
        // A nested repository has none, and of a missing object git does not know it.
        size: if size == "-" {
            None
        } else {
            Some(size.parse().ok()?)
        },
    };
    Some((record[tab + 1..].to_vec(), entry))
}

fn split(records: &[u8]) -> impl Iterator<Item = &[u8]> {
    records
        .split(|&byte| byte == 0)
        .filter(|record| !record.is_empty())
}

fn unreadable() -> FileError {
    FileError::Git("an object is missing or damaged".to_owned())
}
