//! A workspace and a state directory with something around them, and certificates for actions.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{Action, Controller, Problem, Settings, Step};
use safecommit_gate::{
    Authority, Content, Deletion, Digest, ExecuteError, Executor, FileAction, Limits, Probed,
    Proposal, Receipt, ReleaseContext, TargetPath, Workspace,
};
use tempfile::TempDir;

/// `workspace` and, outside it, `state` and `outside` with a file in it.
pub(crate) struct Scene {
    pub(crate) base: TempDir,
    pub(crate) state: PathBuf,
    _state_base: Option<TempDir>,
}

/// What a tree is: for each path the type and mode, owner, and content or where it leads.
pub(crate) type Tree = BTreeMap<PathBuf, (u32, u32, Vec<u8>)>;

impl Scene {
    /// On the file system of the temporary directory.
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let state = base.path().join("state");
        Self::in_directory(base, state, None)
    }

    /// With the state directory on another file system, which is verified.
    pub(crate) fn across_file_systems() -> Self {
        let (base, other) = (
            tempfile::tempdir().unwrap(),
            tempfile::tempdir_in("/dev/shm").unwrap(),
        );
        let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
        assert_ne!(
            device(base.path()),
            device(other.path()),
            "two file systems are needed"
        );
        let state = other.path().join("state");
        Self::in_directory(base, state, Some(other))
    }

    fn in_directory(base: TempDir, state: PathBuf, state_base: Option<TempDir>) -> Self {
        std::fs::create_dir(base.path().join("workspace")).unwrap();
        std::fs::create_dir(base.path().join("outside")).unwrap();
        std::fs::write(base.path().join("outside/secret"), "not to be touched").unwrap();
        Self {
            base,
            state,
            _state_base: state_base,
        }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.base.path().join("workspace").join(below)
    }

    pub(crate) fn write(&self, below: &str, content: &str) {
        std::fs::create_dir_all(self.path(below).parent().unwrap()).unwrap();
        std::fs::write(self.path(below), content).unwrap();
    }

    pub(crate) fn open(&self) -> Executor {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Executor, ExecuteError> {
        Executor::open(Workspace::open(self.path("")).unwrap(), &self.state)
    }

    pub(crate) fn tree(&self) -> Tree {
        tree(&self.path(""))
    }

    pub(crate) fn outside(&self) -> Tree {
        tree(&self.base.path().join("outside"))
    }
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_symlink() {
            std::fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else if meta.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            Vec::new()
        } else {
            std::fs::read(&path).unwrap()
        };
        let below = path.strip_prefix(root).unwrap().to_owned();
        found.insert(below, (meta.mode(), meta.uid(), content));
    }
    found
}

pub(crate) fn path(text: &str) -> TargetPath {
    TargetPath::new(text).unwrap()
}

pub(crate) fn delete(at: &str) -> FileAction {
    FileAction::Delete { path: path(at) }
}

pub(crate) fn overwrite(at: &str, content: &str) -> FileAction {
    FileAction::Overwrite {
        path: path(at),
        content: Content::new(content),
    }
}

pub(crate) fn write(at: &str, content: &str) -> FileAction {
    FileAction::Write {
        path: path(at),
        content: Content::new(content),
    }
}

pub(crate) fn rename(from: &str, to: &str) -> FileAction {
    FileAction::Move {
        from: path(from),
        to: path(to),
    }
}

/// A proposal of these actions, unlike any other made for this executor.
pub(crate) fn propose(executor: &Executor, actions: Vec<FileAction>) -> Proposal {
    propose_with(executor, actions, Deletion::Trash)
}

fn propose_with(executor: &Executor, actions: Vec<FileAction>, deletion: Deletion) -> Proposal {
    let context = ReleaseContext {
        decision: format!("decision-{}", executor.entries().len()),
        tool: "test".to_owned(),
        directory: executor.workspace().path().display().to_string(),
        principal: "ada".to_owned(),
        policy_version: "1".to_owned(),
        calibration_version: None,
        deletion,
        evidence: Digest::of_bytes(b"evidence"),
    };
    Proposal::new(context, actions).unwrap()
}

/// What a decision about this action would have probed.
pub(crate) fn probe(executor: &Executor, action: &FileAction) -> Probed {
    let probed = action.probe(executor.workspace(), &Limits::default());
    probed.unwrap()
}

/// Certifies the first action of the proposal and executes it.
pub(crate) fn release(
    executor: &mut Executor,
    proposal: &Proposal,
    probed: &Probed,
) -> Result<Receipt, ExecuteError> {
    let mut problem = Problem::new(proposal.subject());
    let action = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [action]).unwrap();
    let (settings, mut memory) = (Settings::default(), safecommit_core::Workspace::default());
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut memory);
    let Step::Commit(certificate) = controller.next_step() else {
        panic!("the action is safe in the one world there is");
    };
    executor.execute(
        certificate,
        Authority::Controller(&mut controller),
        proposal,
        action,
        probed,
    )
}

/// Deletes something for good.
pub(crate) fn remove(executor: &mut Executor, at: &str) -> Result<Receipt, ExecuteError> {
    let action = delete(at);
    let probed = probe(executor, &action);
    let proposal = propose_with(executor, vec![action], Deletion::Permanent);
    release(executor, &proposal, &probed)
}

/// Probes, certifies and executes an action.
pub(crate) fn act(executor: &mut Executor, action: FileAction) -> Result<Receipt, ExecuteError> {
    let probed = probe(executor, &action);
    let proposal = propose(executor, vec![action]);
    release(executor, &proposal, &probed)
}
