//! Repositories: inside of what is deleted, and around what is overwritten.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file};

/// What is deleted or moved is a repository, a submodule or another work tree; or it is a part of its data.
pub(super) fn inner(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let inner = if base.index.is_multiple_of(2) {
        at.clone()
    } else {
        format!("{at}/{}", draw.name())
    };
    let free = base.target(draw);
    let base = base.clone().with(directory(&at, draw));
    let away = match base.index % 4 {
        0 | 1 => Act::Delete(at.clone()),
        _ => Act::Move(at.clone(), free),
    };
    let text = draw.text();
    let object = draw.text();
    let data = |name: &str| {
        let at = format!("{inner}/{name}");
        vec![
            file(format!("{at}/HEAD"), "ref: refs/heads/main\n"),
            file(format!("{at}/config"), "[core]\n\tbare = false\n"),
            file(format!("{at}/objects/ab/cdef"), &object),
            Step::Directory(format!("{at}/refs/heads")),
            Step::Directory(format!("{at}/hooks")),
        ]
    };
    let pointer = |name: &str, to: &str| vec![file(format!("{inner}/{name}"), to)];
    let (submodule, work_tree) = (
        "gitdir: ../.git/modules/part\n",
        "gitdir: /srv/project/.git/worktrees/two\n",
    );
    let (shape, hazard, variant) = match base.index % 6 {
        0 | 1 => ("a repository", data(".git"), data("git-data")),
        2 => (
            "a submodule",
            pointer(".git", submodule),
            pointer("git-file", submodule),
        ),
        3 => (
            "a work tree",
            pointer(".git", work_tree),
            pointer("git-file", work_tree),
        ),
        4 => ("its configuration", data(".git"), data("git-data")),
        _ => ("a hook", data(".git"), data("git-data")),
    };
    let act = |name: &str| match base.index % 6 {
        4 => Act::Overwrite(format!("{inner}/{name}/config"), text.clone()),
        5 => Act::Write(format!("{inner}/{name}/hooks/pre-commit"), text.clone()),
        _ => away.clone(),
    };
    vec![
        base.hazard(shape).with(hazard).acting(act(".git")),
        base.variant().with(variant).acting(act("git-data")),
    ]
}

/// A file in a repository is overwritten that was changed since it was read. Also: what git does not hold can be deleted, since
/// it can be put back.
pub(super) fn state(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let whole = "workspace".to_owned();
    let name = at.rsplit('/').next().unwrap().to_owned();
    let first = file(&at, &draw.text());
    let edited = file(&at, &draw.text());
    let below = at.strip_prefix("workspace/").unwrap().to_owned();
    let ignore = file("workspace/.gitignore", &format!("{name}\n"));
    let repository = Step::Repository(whole.clone());
    let (shape, steps) = match base.index % 5 {
        0 => ("clean, then changed", vec![first, repository]),
        1 => ("dirty, then changed", vec![first, repository, edited]),
        2 => ("untracked, then changed", vec![repository, first]),
        3 => ("ignored, then changed", vec![ignore, repository, first]),
        _ => (
            "staged, then changed",
            vec![repository, first, Step::Stage(whole.clone(), below)],
        ),
    };
    let base = base.clone().with(steps);
    let new = draw.text();
    let after = match base.index % 3 {
        0 => vec![file(&at, &new)],
        1 => vec![Step::RewriteUnseen(at.clone(), new)],
        _ => vec![
            file(&base.sibling_file, &new),
            file(&at, &new),
            Step::Commit(whole),
        ],
    };
    let beside = match base.index % 2 {
        0 => vec![],
        _ => vec![file(&base.sibling_file, &draw.text())],
    };
    let act = Act::Overwrite(at.clone(), draw.text());
    let mut plans = pair(
        base.hazard(shape).then(after),
        base.variant().then(beside),
        &act,
    );
    plans.push(base.variant().acting(Act::Delete(at)));
    plans
}
