//! What somebody else owns.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file};

/// Every file counts as another user's: the user that is expected is another than the one who has them.
pub(super) fn all(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let base = match base.index % 5 {
        0 | 1 => base.clone().with(directory(&at, draw)),
        2 | 3 => base.clone().with([file(&at, &draw.text())]),
        _ => base.clone(),
    };
    let act = match base.index % 5 {
        0 | 2 => Act::Delete(at),
        1 => Act::Move(at, base.target(draw)),
        3 => Act::Overwrite(at, draw.text()),
        _ => Act::Write(at, draw.text()),
    };
    let mut hazard = base.hazard("owned by somebody else");
    hazard.owned_by_other = true;
    pair(hazard, base.variant(), &act)
}

/// One file or directory is another user's, which takes a system that lets one give files away.
pub(super) fn a_part(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let inner = format!("{at}/a/b/c");
    let holder = base.target(draw);
    let in_holder = format!("{holder}/{}", draw.name());
    let base = base
        .clone()
        .with(directory(&at, draw))
        .with([file(&inner, &draw.text()), Step::Directory(holder.clone())]);
    let (shape, of, act) = match base.index % 5 {
        0 => ("a file below", &inner, Act::Delete(at)),
        1 => ("a file", &inner, Act::Overwrite(inner.clone(), draw.text())),
        2 => ("the directory", &holder, Act::Write(in_holder, draw.text())),
        3 => ("the destination", &holder, Act::Move(at, in_holder)),
        _ => ("a file below", &inner, Act::Move(at, in_holder)),
    };
    let hazard = base.hazard(shape).with([Step::GiveAway(of.clone())]);
    pair(hazard, base.variant(), &act)
}
