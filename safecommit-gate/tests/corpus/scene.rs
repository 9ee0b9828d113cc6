//! A plan, built in a temporary directory.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::plan::{Plan, Record, Step, When, in_workspace};
use crate::snapshot::Snapshot;

/// A scene that stands: `workspace`, `outside`, and a place for the state of a gate.
pub(crate) struct Scene {
    base: TempDir,
    plan: Plan,
    mounts: Vec<PathBuf>,
    known: Option<Snapshot>,
    memory: Timestamp,
    later: Timestamp,
}

/// Why a plan cannot be built on this machine.
#[derive(Debug)]
pub(crate) struct Unavailable;

/// File systems date changes by a clock that may be 10 ms behind.
const TICK: SignedDuration = SignedDuration::from_millis(15);

impl Scene {
    /// Builds a scene with times that can be told apart: what is done before the memory is dated before it, the rest
    /// after it.
    pub(crate) fn build(plan: &Plan) -> Result<Self, Unavailable> {
        Self::of(plan, true)
    }

    /// The same for a look at what an action does; its times say nothing.
    pub(crate) fn scratch(plan: &Plan) -> Result<Self, Unavailable> {
        Self::of(plan, false)
    }

    fn of(plan: &Plan, timed: bool) -> Result<Self, Unavailable> {
        let mut scene = Self {
            base: directory(),
            plan: plan.clone(),
            mounts: Vec::new(),
            known: None,
            memory: Timestamp::UNIX_EPOCH,
            later: Timestamp::UNIX_EPOCH,
        };
        for step in &plan.before {
            scene.make(step)?;
        }
        scene.memory = Timestamp::now() + TICK;
        if !plan.after.is_empty() {
            scene.known = Some(scene.snapshot());
            if timed {
                let wait = Duration::try_from(TICK + TICK).unwrap();
                std::thread::sleep(wait);
            }
        }
        for step in &plan.after {
            scene.make(step)?;
        }
        scene.later = (Timestamp::now() + TICK).max(scene.memory + TICK);
        Ok(scene)
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A path of the plan.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.base.path().join(path)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// Where a gate may keep its state: beside the workspace, on the same file system, and not there yet.
    pub(crate) fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The user whose files are to count as one's own.
    pub(crate) fn owner(&self) -> u32 {
        let own = fs::metadata(self.base.path()).unwrap().uid();
        own + u32::from(self.plan.owned_by_other)
    }

    /// The time of the decision: later than all evidence.
    pub(crate) fn now(&self) -> Timestamp {
        self.later + SignedDuration::from_secs(1)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.base.path())
    }

    /// What was there when the memory was made, if anything was done since.
    pub(crate) fn known(&self) -> Option<&Snapshot> {
        self.known.as_ref()
    }

    /// What the agent asks for.
    pub(crate) fn request(&self) -> Value {
        let plan = &self.plan;
        let actions = plan.actions.iter().map(|(act, reward)| {
            let mut action = act.to_json();
            action["reward"] = json!(reward);
            action
        });
        let evidence = plan.evidence.iter().map(|record| self.record(record));
        let uses = plan.evidence.iter().map(|record| record.id);
        json!({
            "decision": plan.name(),
            "tool": "shell",
            "actions": actions.collect::<Vec<_>>(),
            "uses": uses.collect::<Vec<_>>(),
            "evidence": evidence.collect::<Vec<_>>(),
        })
    }

    fn record(&self, record: &Record) -> Value {
        let recorded = match record.when {
            When::LongAgo => self.memory - SignedDuration::from_hours(1),
            When::Memory => self.memory,
            When::Later => self.later,
        };
        let mut json = json!({
            "id": record.id,
            "entity": in_workspace(&record.entity),
            "attribute": record.attribute,
            "value": record.value,
            "source": record.source,
            "name": record.name,
            "recorded": recorded.to_string(),
        });
        if !record.derived_from.is_empty() {
            json["derived_from"] = json!(record.derived_from);
        }
        match record.source {
            "tool" => json["tool_status"] = json!("succeeded"),
            "observation" => json["observed"] = json!(recorded.to_string()),
            _ => {}
        }
        json
    }

    fn make(&mut self, step: &Step) -> Result<(), Unavailable> {
        match step {
            Step::Directory(at) => fs::create_dir_all(self.path(at)).unwrap(),
            Step::File(at, content) => fs::write(self.at(at), content).unwrap(),
            Step::Link { at, to, absolute } => {
                let leads = if *absolute {
                    self.path(to)
                } else {
                    relative(at, to)
                };
                symlink(leads, self.at(at)).unwrap();
            }
            Step::HardLink { at, of } => fs::hard_link(self.path(of), self.at(at)).unwrap(),
            Step::Pipe(at) => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mkfifoat(rustix::fs::CWD, self.at(at), mode).unwrap();
            }
            Step::RewriteUnseen(at, content) => {
                let path = self.path(at);
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                fs::write(&path, content).unwrap();
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(time).unwrap();
            }
            Step::Rename(from, to) => fs::rename(self.path(from), self.at(to)).unwrap(),
            Step::Remove(at) => {
                let path = self.path(at);
                if path.symlink_metadata().unwrap().is_dir() {
                    fs::remove_dir_all(path).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            }
            Step::Mode(at, mode) => {
                let mode = fs::Permissions::from_mode(*mode);
                fs::set_permissions(self.path(at), mode).unwrap();
            }
            Step::GiveAway(at) => {
                let path = self.path(at);
                let own = fs::metadata(&path).unwrap().uid();
                chown(path, Some(own + 54_321), None).map_err(|_| Unavailable)?;
            }
            Step::Repository(at) => {
                self.git(at, &["init", "-q"]);
                self.git(at, &["add", "."]);
                self.git(at, &["commit", "-qm", "first"]);
            }
            Step::Commit(at) => self.git(at, &["commit", "-qam", "next"]),
            Step::Stage(at, path) => self.git(at, &["add", "--", path]),
            Step::Mount { from, at } => {
                let (from, at) = (self.path(from), self.path(at));
                run(Command::new("mount").arg("--bind").args([&from, &at]));
                self.mounts.push(at);
            }
        }
        Ok(())
    }

    /// A path whose directory is there.
    fn at(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn git(&self, at: &str, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(["-c", "init.defaultBranch=main", "-c", "init.templateDir="])
            .args(["-c", "core.fsync=none", "-c", "gc.auto=0"])
            .args(arguments)
            .current_dir(self.path(at))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        run(&mut git);
    }
}

/// A directory in memory, where there is one: thousands of scenes come and go.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

impl Drop for Scene {
    fn drop(&mut self) {
        for mount in self.mounts.iter().rev() {
            run(Command::new("umount").arg("-l").arg(mount));
        }
    }
}

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
}

/// The way from a link to what it leads to, through what both have in common.
fn relative(at: &str, to: &str) -> PathBuf {
    let directory = Path::new(at).parent().unwrap();
    let common = directory
        .components()
        .zip(Path::new(to).components())
        .take_while(|(one, other)| one == other)
        .count();
    let up = directory.components().skip(common).map(|_| "..".as_ref());
    let down = Path::new(to).components().skip(common);
    let down = down.map(|component| component.as_os_str());
    let way: PathBuf = up.chain(down).collect();
    if way.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        way
    }
}
