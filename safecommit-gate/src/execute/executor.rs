//! The executor: its state directory, and what it finds there when it is opened.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync, mkdirat, openat};
use rustix::io::Errno;

use super::error::ExecuteError;
use super::journal::Journal;
use super::key::JournalKey;
use super::place;
use super::receipt::Resolution;
use super::record::Record;
use crate::files::{Kind, Limits, Target, Workspace};

/// Executes certified file actions in one workspace, and can undo them. Nothing else here causes an effect.
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{Action, Controller, Problem, Settings, Step};
/// use safecommit_gate::{
///     Authority, Deletion, Digest, Executor, FileAction, Limits, Proposal, ReleaseContext, TargetPath, Workspace,
/// };
///
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("project"))?;
/// std::fs::write(folder.path().join("project/out.txt"), "42")?;
///
/// let workspace = Workspace::open(folder.path().join("project"))?;
/// let context = ReleaseContext {
///     decision: "clean-up-17".to_owned(),
///     tool: "shell".to_owned(),
///     directory: workspace.path().display().to_string(),
///     principal: "ada".to_owned(),
///     policy_version: "3".to_owned(),
///     calibration_version: None,
///     deletion: Deletion::Trash,
///     evidence: Digest::of_bytes(b"what was known"),
/// };
/// let delete = FileAction::Delete { path: TargetPath::new("out.txt")? };
/// let probed = delete.probe(&workspace, &Limits::default())?;
/// let proposal = Proposal::new(context, vec![delete])?;
///
/// let mut problem = Problem::new(proposal.subject());
/// let action = problem.add_action(Action::default())?;
/// problem.add_world(Score::ZERO, [action])?;
/// let (settings, mut memory) = (Settings::default(), safecommit_core::Workspace::default());
/// let mut controller = Controller::start(&problem, &settings, Threshold::unbounded(), &mut memory);
/// let Step::Commit(certificate) = controller.next_step() else {
///     panic!("deleting is safe in the one world there is");
/// };
///
/// let mut executor = Executor::open(workspace, folder.path().join("state"))?;
/// let authority = Authority::Controller(&mut controller);
/// let receipt = executor.execute(certificate, authority, &proposal, action, &probed)?;
/// assert!(!folder.path().join("project/out.txt").exists());
/// executor.restore(receipt.entry)?;
/// assert_eq!(std::fs::read_to_string(folder.path().join("project/out.txt"))?, "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The state directory
///
/// | name | what |
/// |---|---|
/// | `lock` | locked while an executor is open |
/// | `journal` | a line for each step of each entry, checksummed, each durable before what it announces |
/// | `journal.key` | a key of 32 bytes: of contents, which could be guessed, the journal has codes under it and no digests |
/// | `trash/N/item` | what entry `N` took away, until [`empty_trash`](Executor::empty_trash); of a permanent deletion, only until it is checked |
///
/// It belongs to the user that runs the executor, with mode 0700, and lies outside the workspace; best on the same file
/// system, where deleting is one rename.
///
/// # How a change is made
///
/// First the intent becomes durable. What is new is made under a hidden name beside the target (`.safecommit-` and a
/// digest), then renamed without replacing, or exchanged with what is there. What leaves is renamed to the hidden name
/// first, checked there once more (device, inode, times, content, tree), and only then brought to the trash. So nobody
/// can put anything else in its place between check and act: what was taken by mistake goes back. Files and directories
/// are flushed before the journal says so. After a failure, and at the next start after a crash, what was begun is
/// rolled back, or forward from the moment at which only the new state is possible, and the journal says which.
///
/// A [permanent](super::Deletion::Permanent) deletion goes the same way. Once the journal says that it is done, what is in the
/// trash is looked at again, the journal says that it goes for good, and then it is removed; where a crash came between,
/// the next start goes on. What was changed in the trash meanwhile is not what was decided about, and stays there.
///
/// # What is not kept
///
/// An overwritten file is another inode: its other names (hard links) keep the old content. A copy across file systems
/// has no hard links and no holes. A whole directory is moved, never merged. Nothing is done on a mount below the
/// workspace: what is mounted may lie anywhere.
pub struct Executor {
    pub(super) workspace: Workspace,
    pub(super) state: Workspace,
    pub(super) journal: Journal,
    pub(super) key: JournalKey,
    pub(super) limits: Limits,
    recovered: Vec<(u64, Resolution)>,
    _lock: File,
    /// Called between the check of what was probed and the act.
    #[cfg(test)]
    pub(super) pause: Option<Box<dyn FnMut()>>,
}

impl Executor {
    /// Opens the state directory, makes it if only its last component is missing, and brings every entry that was
    /// begun to an end.
    ///
    /// # Errors
    ///
    /// [`ExecuteError`] if the state directory is in the workspace or contains it, may be changed by other users, is in
    /// use for longer than a second or is about another workspace, if the journal is damaged, if its key is missing or
    /// another one, or the system refuses something.
    pub fn open(workspace: Workspace, state: impl AsRef<Path>) -> Result<Self, ExecuteError> {
        Self::open_with(workspace, state, Limits::default())
    }

    /// The same with other limits on how much of a tree is read. What was begun is brought to an end under them too: a tree
    /// that was within the limits when it was taken away has to be so when it comes back.
    ///
    /// # Errors
    ///
    /// As with [`open`](Self::open).
    pub fn open_with(
        workspace: Workspace,
        state: impl AsRef<Path>,
        limits: Limits,
    ) -> Result<Self, ExecuteError> {
        let state = open_state(&workspace, state.as_ref())?;
        let shown = state.path().display().to_string();
        let lock = open_file(&state, "lock")?;
        lock_in_time(&lock, &shown)?;
        make_directory(&state.target("trash")?)?;
        let mut journal = Journal::read(open_file(&state, "journal")?)?;
        // If the journal was lost, what an earlier one brought to the trash is still there, and stays.
        journal.number_above(slots(&state)?.into_iter().max().unwrap_or(0));
        let expected = workspace.path().display().to_string();
        match journal.ledger().workspace() {
            None => {
                journal.append(Record::Opened {
                    format: 1,
                    workspace: expected,
                })?;
                fsync(state.handle())
                    .map_err(ExecuteError::io("cannot flush the state directory"))?;
            }
            Some(found) if found != expected => {
                return Err(ExecuteError::OtherWorkspace {
                    found: found.to_owned(),
                    expected,
                });
            }
            Some(_) => {}
        }
        let key = JournalKey::of(&state, &mut journal)?;
        let mut executor = Self {
            workspace,
            state,
            journal,
            key,
            limits,
            recovered: Vec::new(),
            _lock: lock,
            #[cfg(test)]
            pause: None,
        };
        executor.recovered = executor.settle_all()?;
        executor.finish_emptying()?;
        executor.finish_permanent();
        Ok(executor)
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The entries that were found begun when this executor was opened, and how they ended.
    #[must_use]
    pub fn recovered(&self) -> &[(u64, Resolution)] {
        &self.recovered
    }

    /// Settles every entry that was begun, the last first: an earlier one may have left what a later one found.
    fn settle_all(&mut self) -> Result<Vec<(u64, Resolution)>, ExecuteError> {
        let entries = self.journal.entries().iter().rev();
        let begun: Vec<_> = entries
            .filter(|(_, entry)| entry.resolution.is_none())
            .map(|(&number, entry)| (number, entry.clone()))
            .collect();
        let mut settled = Vec::new();
        for (entry, begun) in begun {
            let places = self.places_of(&begun);
            let resolution = places.and_then(|places| self.settle(entry, &begun, places.as_ref()));
            let resolution = resolution.map_err(|cause| ExecuteError::Unsettled {
                entry,
                cause: Box::new(cause),
            })?;
            self.journal.append(Record::Done { entry, resolution })?;
            settled.push((entry, resolution));
        }
        Ok(settled)
    }

    /// Where the trash keeps what an entry took away.
    pub(super) fn trashed(&self, entry: u64) -> Result<Target, ExecuteError> {
        Ok(self.state.target(format!("trash/{entry}/item"))?)
    }

    pub(super) fn trashed_if_any(&self, entry: u64) -> Result<Option<Target>, ExecuteError> {
        if self
            .state
            .target(format!("trash/{entry}"))?
            .status()?
            .is_none()
        {
            return Ok(None);
        }
        let item = self.trashed(entry)?;
        Ok(item.status()?.is_some().then_some(item))
    }

    /// Refuses a slot in the trash that is there before its entry is.
    pub(super) fn expect_no_slot(&self, entry: u64) -> Result<(), ExecuteError> {
        let slot = self.state.target(format!("trash/{entry}"))?;
        match slot.status()? {
            Some(_) => Err(ExecuteError::Occupied(slot.relative().to_owned())),
            None => Ok(()),
        }
    }

    pub(super) fn make_slot(&self, entry: u64) -> Result<(), ExecuteError> {
        make_directory(&self.state.target(format!("trash/{entry}"))?)
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Executor");
        shown
            .field("workspace", &self.workspace)
            .field("state", &self.state);
        shown.finish_non_exhaustive()
    }
}

fn open_state(workspace: &Workspace, path: &Path) -> Result<Workspace, ExecuteError> {
    let inside = || ExecuteError::StateInWorkspace(path.display().to_string());
    let failed = || ExecuteError::io::<std::io::Error>(format!("cannot make `{}`", path.display()));
    if !path.exists() {
        let name = path.file_name().ok_or_else(inside)?;
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let parent = Workspace::open(parent)?;
        // Before anything is made in the workspace.
        if ancestry_of(&parent, workspace)?.in_workspace {
            return Err(inside());
        }
        match mkdirat(parent.handle(), name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed()(errno.into())),
        }
        fsync(parent.handle()).map_err(|errno| failed()(errno.into()))?;
    }
    let state = Workspace::open(path)?;
    if ancestry_of(&state, workspace)?.in_workspace || ancestry_of(workspace, &state)?.in_workspace
    {
        return Err(inside());
    }
    expect_private(&state)?;
    Ok(state)
}

/// Refuses a state directory that somebody else could change.
pub(super) fn expect_private(state: &Workspace) -> Result<(), ExecuteError> {
    let owner = rustix::process::geteuid().as_raw();
    if state.status().owner == owner && state.status().mode & 0o077 == 0 {
        Ok(())
    } else {
        Err(ExecuteError::StateExposed(
            state.path().display().to_string(),
        ))
    }
}

/// The numbers of the slots in the trash.
pub(super) fn slots(state: &Workspace) -> Result<Vec<u64>, ExecuteError> {
    let item = state.target("trash/item")?;
    let names = place::names(item.parent()).map_err(ExecuteError::io("cannot read the trash"))?;
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    Ok(numbers.collect())
}

/// Whether one directory is another one or beneath it.
fn ancestry_of(directory: &Workspace, other: &Workspace) -> Result<place::Ancestry, ExecuteError> {
    let object = (other.status().device, other.status().inode);
    let found = place::ancestry(directory.handle(), object, object);
    found.map_err(ExecuteError::io("cannot find the state directory"))
}

/// Takes the lock, and waits a second for it: another executor may be about to end, and a process that this one is
/// just starting holds its locks until it runs its own program.
fn lock_in_time(lock: &File, shown: &str) -> Result<(), ExecuteError> {
    for attempt in 0..100 {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            locked => return locked.map_err(ExecuteError::io("cannot lock the state directory")),
        }
    }
    Err(ExecuteError::Locked(shown.to_owned()))
}

fn open_file(state: &Workspace, name: &str) -> Result<File, ExecuteError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(state.handle(), name, flags, Mode::RUSR | Mode::WUSR);
    Ok(file
        .map_err(ExecuteError::io(format!(
            "cannot open `{name}` of the state directory"
        )))?
        .into())
}

fn make_directory(at: &Target) -> Result<(), ExecuteError> {
    let failed = || {
        ExecuteError::io::<Errno>(format!(
            "cannot make `{}` in the state directory",
            at.relative()
        ))
    };
    match mkdirat(at.parent(), at.name(), Mode::RWXU) {
        Ok(()) => fsync(at.parent()).map_err(failed()),
        Err(Errno::EXIST) => match at.status()?.map(|status| status.kind) {
            Some(Kind::Directory) => Ok(()),
            _ => Err(ExecuteError::Changed(at.relative().to_owned())),
        },
        Err(errno) => Err(failed()(errno)),
    }
}
