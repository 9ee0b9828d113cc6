//! Mounts: at the target, below it, on the way to it.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file};

/// What stands at a place is mounted there; in the variant it is there itself.
pub(super) fn mount(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let below = format!("{at}/a/b");
    let leaf = format!("{}.txt", draw.name());
    let free = base.target(draw);
    let real = if base.index.is_multiple_of(2) {
        format!("outside/{}", draw.name())
    } else {
        format!("{}/{}", base.sibling, draw.name())
    };
    let content = draw.text();
    let on_way = format!("{at}/{leaf}");
    let (shape, point, act) = match base.index % 7 {
        0 => ("at the target", &at, Act::Delete(at.clone())),
        1 => ("below the target", &below, Act::Delete(at.clone())),
        2 => ("on the way, the only copy", &at, Act::Delete(on_way)),
        3 => ("on the way", &at, Act::Overwrite(on_way, draw.text())),
        4 => (
            "on the way",
            &at,
            Act::Write(format!("{at}/new"), draw.text()),
        ),
        5 => ("on the way", &at, Act::Move(on_way, free)),
        _ => (
            "a file at the target",
            &at,
            Act::Overwrite(at.clone(), draw.text()),
        ),
    };
    let is_file = base.index % 7 == 6;
    let put = |path: &str| {
        if is_file {
            file(path, &content)
        } else {
            file(format!("{path}/{leaf}"), &content)
        }
    };
    let base = match base.index % 7 {
        1 => base.clone().with(directory(&at, draw)),
        _ => base.clone(),
    };
    let bare = if is_file {
        file(point, "")
    } else {
        Step::Directory(point.clone())
    };
    let mount = Step::Mount {
        from: real.clone(),
        at: point.clone(),
    };
    let base = base.with([put(&real)]);
    let hazard = base.hazard(shape).with([bare, mount]);
    let variant = base.variant().with([put(point)]);
    pair(hazard, variant, &act)
}
