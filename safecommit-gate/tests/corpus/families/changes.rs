//! What was changed since the memory, and what stands where nothing should.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file, link};

/// The target is not any more what was remembered.
pub(super) fn changed_since(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let folder = base.target(draw);
    let at = format!("{folder}/{}.txt", draw.name());
    let (free, aside) = (base.target(draw), base.target(draw));
    let (old, new) = (draw.text(), draw.text());
    let overwrite = Act::Overwrite(at.clone(), draw.text());
    let keeper = file(format!("{folder}/keep"), &draw.text());
    let here = vec![keeper, file(&at, &old)];
    let (shape, before, after, act) = match base.index % 8 {
        0 => ("written", here, vec![file(&at, &new)], overwrite),
        1 => (
            "written, its time set back",
            here,
            vec![Step::RewriteUnseen(at.clone(), new)],
            overwrite,
        ),
        2 => (
            "replaced",
            here,
            vec![file(&aside, &new), Step::Rename(aside, at.clone())],
            overwrite,
        ),
        3 => (
            "removed and made again",
            here,
            vec![Step::Remove(at.clone()), file(&at, &new)],
            overwrite,
        ),
        4 => (
            "its directory replaced",
            here,
            vec![Step::Rename(folder.clone(), aside), file(&at, &new)],
            overwrite,
        ),
        5 => (
            "replaced by a link",
            directory(&at, draw),
            vec![Step::Remove(at.clone()), link(&at, "outside/shared", true)],
            Act::Delete(at.clone()),
        ),
        6 => (
            "somebody wrote it",
            vec![Step::Directory(folder.clone())],
            vec![file(&at, &new)],
            Act::Write(at.clone(), draw.text()),
        ),
        _ => (
            "the destination is taken",
            vec![file(&at, &old)],
            vec![file(&free, &new)],
            Act::Move(at.clone(), free),
        ),
    };
    let base = base.clone().with(before);
    // What happens elsewhere changes nothing.
    let elsewhere = match base.index % 3 {
        0 => vec![],
        1 => vec![file(&base.sibling_file, &draw.text())],
        _ => vec![file(format!("{folder}/{}", draw.name()), &draw.text())],
    };
    let mut plans = pair(
        base.hazard(shape).then(after),
        base.variant().then(elsewhere),
        &act,
    );
    plans.extend(kept(draw, &base, &at));
    plans
}

/// Changed since, and no harm: what is deleted or moved is kept, and no content was changed.
fn kept(draw: &mut Draw, base: &Plan, at: &str) -> Option<Plan> {
    if base.index % 8 > 3 {
        return None;
    }
    let changed = file(at, &draw.text());
    let (shape, after, act) = match base.index % 4 {
        0 => (
            "deletes what was changed",
            changed,
            Act::Delete(at.to_owned()),
        ),
        1 => (
            "moves what was changed",
            changed,
            Act::Move(at.to_owned(), base.target(draw)),
        ),
        2 => (
            "overwrites what got another mode",
            Step::Mode(at.to_owned(), 0o600),
            Act::Overwrite(at.to_owned(), draw.text()),
        ),
        _ => {
            let (folder, _) = at.rsplit_once('/')?;
            let act = Act::Delete(folder.to_owned());
            (
                "deletes a directory in which something was changed",
                changed,
                act,
            )
        }
    };
    Some(base.apart(shape).then([after]).acting(act))
}

/// The memory says that nothing is there.
pub(super) fn in_the_way(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let (at, from) = (base.target(draw), base.target(draw));
    let name = from.rsplit('/').next().unwrap().to_owned();
    let base = base.clone().with([file(&from, &draw.text())]);
    let write = Act::Write(at.clone(), draw.text());
    let relocate = Act::Move(from, at.clone());
    let taken = file(&at, &draw.text());
    let same_name = file(format!("{at}/{name}"), &draw.text());
    let to_file = link(&at, "outside/precious.txt", true);
    let (shape, steps, late, act) = match base.index % 6 {
        0 => ("writes onto a file", taken, false, write),
        1 => ("writes onto a new file", taken, true, write),
        2 => ("moves onto a file", taken, false, relocate),
        3 => (
            "moves into a directory with this name",
            same_name,
            false,
            relocate,
        ),
        4 => (
            "moves into a link",
            link(&at, "outside/shared", true),
            false,
            relocate,
        ),
        _ => ("moves onto a link", to_file, true, relocate),
    };
    let hazard = if late {
        base.hazard(shape).then([steps])
    } else {
        base.hazard(shape).with([steps])
    };
    let mut plans = pair(hazard, base.variant(), &act);
    let free = base.target(draw);
    let apart = match base.index % 4 {
        0 => Some(("overwrites what is gone", Act::Overwrite(at, draw.text()))),
        1 => Some(("deletes what is gone", Act::Delete(at))),
        2 => Some(("moves what is gone", Act::Move(at, free))),
        _ => None,
    };
    plans.extend(apart.map(|(shape, act)| base.apart(shape).acting(act)));
    plans
}
