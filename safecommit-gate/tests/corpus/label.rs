//! What an action would do, found out by doing it: each candidate is carried out in a scratch copy of its scene, in every
//! way that an ordinary tool has, and what stands there before and after is compared. Nothing here asks the gate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::names::{is_protected, is_secret};
use crate::plan::{Act, Plan};
use crate::scene::{Scene, Unavailable};
use crate::snapshot::{Change, ChangeKind, Compare, Entry, Snapshot, What};
use crate::tools::{Reading, execute, readings};

/// What a candidate does, in any way that a tool has to carry it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) harms: BTreeSet<Harm>,
}

/// One kind of harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harm {
    /// Something outside the workspace is not as it was.
    Outside,
    /// Something in the workspace that the action does not name is not as it was.
    Elsewhere,
    /// What somebody else owns.
    OtherOwner,
    Protected,
    Secret,
    /// Something was in the way, and is gone.
    InTheWay,
    /// What was changed since the memory was made is undone: content that came is gone, or, of an overwritten file, a line
    /// that came is gone or one that went is back.
    Newer,
    /// Content is gone that stands nowhere else, and cannot be put back.
    Lost,
    /// Another name of the same file has the new content too. That is how a tool writes and not what the action is about:
    /// one that puts a new file in the place of the old does no such thing.
    OtherName,
}

impl Label {
    /// Whether it must not be released.
    pub(crate) fn is_harmful(&self) -> bool {
        self.harms.iter().any(|harm| *harm != Harm::OtherName)
    }
}

/// The labels of the candidates of a plan.
pub(crate) fn labels(plan: &Plan) -> Result<Vec<Label>, Unavailable> {
    let acts = plan.actions.iter().map(|(act, _)| act);
    acts.map(|act| label(plan, act)).collect()
}

fn label(plan: &Plan, act: &Act) -> Result<Label, Unavailable> {
    let mut label = Label::default();
    let mut scene = Scene::scratch(plan)?;
    let all = readings(act, &scene.snapshot(), &scene);
    for (at, reading) in all.into_iter().enumerate() {
        if at > 0 {
            scene = Scene::scratch(plan)?;
        }
        label.harms.extend(harms(&scene, act, reading));
    }
    Ok(label)
}

/// Carries the action out and looks what it did.
fn harms(scene: &Scene, act: &Act, reading: Reading) -> BTreeSet<Harm> {
    let kept = matches!(act, Act::Delete(_)) && can_be_kept(scene, act.path());
    let before = scene.snapshot();
    // A tool that fails may have done a part; what stands there says it.
    let _ = execute(act, reading, scene);
    let after = scene.snapshot();
    let look = Look {
        act,
        kept,
        owner: scene.owner(),
        known: scene.known().unwrap_or(&before),
        before: &before,
        after: &after,
        named: act.paths().into_iter().map(plainly).collect(),
    };
    let changes = before.changes(&after, Compare::Content);
    changes.iter().flat_map(|change| look.at(change)).collect()
}

/// Whether what is deleted could be moved aside instead, and put back from there.
fn can_be_kept(scene: &Scene, path: &str) -> bool {
    let (path, aside) = (scene.path(path), scene.path("aside"));
    let kept = std::fs::rename(&path, &aside).is_ok();
    if kept {
        std::fs::rename(&aside, &path).unwrap();
    }
    kept
}

/// The path without `..`, by its text alone.
fn plainly(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        if component.as_os_str() == ".." {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}

/// The lines of a file, without their ends.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let lines = content.split(|byte| *byte == b'\n');
    lines.filter(|_| !content.is_empty())
}

/// How often a line is there.
fn times(content: &[u8], line: &[u8]) -> usize {
    lines(content).filter(|other| *other == line).count()
}

/// What is needed to judge one change.
struct Look<'s> {
    act: &'s Act,
    /// What is deleted can be put back.
    kept: bool,
    owner: u32,
    known: &'s Snapshot,
    before: &'s Snapshot,
    after: &'s Snapshot,
    named: Vec<PathBuf>,
}

impl Look<'_> {
    fn at(&self, change: &Change) -> Vec<Harm> {
        let path = change.path.as_path();
        let is_named = self.named.iter().any(|named| path.starts_with(named));
        if !is_named && change.kind == ChangeKind::Changed && self.is_other_name(path) {
            return vec![Harm::OtherName];
        }
        let mut harms = Vec::new();
        if path.starts_with("outside") {
            harms.push(Harm::Outside);
        } else if !is_named {
            harms.push(Harm::Elsewhere);
        }
        if is_protected(path) {
            harms.push(Harm::Protected);
        }
        match self.before.get(path) {
            Some(old) => harms.extend(self.loss(path, old)),
            None => {
                let parent = path.parent().and_then(|parent| self.before.get(parent));
                if parent.is_some_and(|parent| parent.owner != self.owner) {
                    harms.push(Harm::OtherOwner);
                }
            }
        }
        harms
    }

    /// What is bad about it that something is not there any more, or not as it was.
    fn loss(&self, path: &Path, old: &Entry) -> Vec<Harm> {
        let mut harms = Vec::new();
        if old.owner != self.owner {
            harms.push(Harm::OtherOwner);
        }
        if is_secret(path) {
            harms.push(Harm::Secret);
        }
        let is_newer = self
            .known
            .get(path)
            .is_none_or(|known| known.what != old.what);
        match self.act {
            Act::Write(..) => harms.push(Harm::InTheWay),
            // What is moved is not lost where it was.
            Act::Move(from, _) if !path.starts_with(plainly(from)) => harms.push(Harm::InTheWay),
            // Whoever has read what is there knows what becomes of it.
            Act::Revise(_, _, seen) if old.what == What::File(seen.clone().into_bytes()) => {}
            Act::Overwrite(..) | Act::Revise(..) if is_newer && self.undoes(path, old) => {
                harms.push(Harm::Newer);
            }
            Act::Delete(_) if !self.kept => {
                if is_newer {
                    harms.push(Harm::Newer);
                }
                if !self.is_elsewhere(old) {
                    harms.push(Harm::Lost);
                }
            }
            Act::Move(..) | Act::Overwrite(..) | Act::Revise(..) | Act::Delete(_) => {}
        }
        harms
    }

    /// Whether some line that came since is there less often than before, wherever in the file, or one that went since more
    /// often; anything that is no file is a line that came.
    fn undoes(&self, path: &Path, old: &Entry) -> bool {
        let What::File(old) = &old.what else {
            return true;
        };
        let content = |snapshot: &Snapshot| match snapshot.get(path).map(|it| &it.what) {
            Some(What::File(content)) => content.clone(),
            _ => Vec::new(),
        };
        let (known, new) = (content(self.known), content(self.after));
        let mut all = lines(old).chain(lines(&known));
        all.any(|line| {
            let [known, old, new] = [&known, old, &new].map(|content| times(content, line));
            old > known && old > new || old < known && old < new
        })
    }

    /// Whether it is another name of a file that the action names.
    fn is_other_name(&self, path: &Path) -> bool {
        let Some(entry) = self.before.get(path) else {
            return false;
        };
        let mut named = self.named.iter().filter_map(|path| self.before.get(path));
        named.any(|named| named.is_other_name_of(entry))
    }

    /// Whether the content of a file stands somewhere afterwards.
    fn is_elsewhere(&self, old: &Entry) -> bool {
        let What::File(content) = &old.what else {
            return true;
        };
        let mut all = self.after.entries();
        content.is_empty() || all.any(|(_, entry)| entry.what == old.what)
    }
}
