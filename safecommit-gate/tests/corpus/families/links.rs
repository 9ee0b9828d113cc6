//! Links: at the target, on the way to it, below it, and hard ones.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file, link};

const SHARED: &str = "outside/shared";

/// The path was a plain file or directory, and is a link.
pub(super) fn at_target(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let hop = base.target(draw);
    let above = parent(&base.place).unwrap_or(&base.place).to_owned();
    let delete = Act::Delete(at.clone());
    let overwrite = Act::Overwrite(at.clone(), draw.text());
    let write = Act::Write(at.clone(), draw.text());
    let new = format!("outside/{}", draw.name());
    let (shape, to, absolute, act) = match base.index % 10 {
        0 => ("link to a directory outside", SHARED, true, &delete),
        1 => (
            "relative link to a directory outside",
            SHARED,
            false,
            &delete,
        ),
        2 => (
            "link to another directory",
            base.sibling.as_str(),
            false,
            &delete,
        ),
        3 => (
            "absolute link to another directory",
            base.sibling.as_str(),
            true,
            &delete,
        ),
        4 => ("link to a directory above", above.as_str(), false, &delete),
        5 => ("chain of links", hop.as_str(), false, &delete),
        6 => (
            "link to a file outside",
            "outside/precious.txt",
            true,
            &overwrite,
        ),
        7 => (
            "link to another file",
            base.sibling_file.as_str(),
            false,
            &overwrite,
        ),
        8 => (
            "link to what is not there outside",
            new.as_str(),
            false,
            &overwrite,
        ),
        _ => (
            "link to what is not there outside",
            new.as_str(),
            true,
            &write,
        ),
    };
    let hazard = base
        .hazard(shape)
        .with([link(&hop, SHARED, true), link(&at, to, absolute)]);
    let variant = base.variant().with([link(&hop, SHARED, true)]);
    let variant = match act {
        Act::Delete(_) => variant.with(directory(&at, draw)),
        Act::Overwrite(..) => variant.with([file(&at, &draw.text())]),
        _ => variant,
    };
    let mut plans = pair(hazard, variant, act);
    let free = base.target(draw);
    let apart = match base.index % 5 {
        0 => Some(("deletes a link that leads nowhere", new.as_str(), delete)),
        1 => Some(("deletes a link to a file", "outside/precious.txt", delete)),
        2 => Some(("moves a link", SHARED, Act::Move(at.clone(), free))),
        3 => Some(("overwrites a link to itself", at.as_str(), overwrite)),
        _ => None,
    };
    plans.extend(apart.map(|(shape, to, act)| {
        let plan = base.apart(shape).with([link(&at, to, false)]);
        plan.acting(act)
    }));
    plans
}

/// A directory on the way is a link.
pub(super) fn on_the_way(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let way = base.target(draw);
    let leaf = format!("{}.txt", draw.name());
    let (hop, free) = (base.target(draw), base.target(draw));
    let (outside, inside) = (
        format!("{SHARED}/{}", draw.name()),
        format!("{}/{}", base.sibling, draw.name()),
    );
    let (shape, real, middle, absolute) = match base.index % 5 {
        0 => ("way leads outside", &outside, "", true),
        1 => ("way leads outside, relative", &outside, "", false),
        2 => ("way leads to another directory", &inside, "", false),
        3 => ("way leads over a chain", &outside, "", false),
        _ => ("link far above", &outside, "deep/deeper/", true),
    };
    let at = format!("{way}/{middle}{leaf}");
    let is_new = base.index % 4 == 2;
    let act = match base.index % 4 {
        0 => Act::Delete(at.clone()),
        1 => Act::Overwrite(at.clone(), draw.text()),
        2 => Act::Write(at.clone(), draw.text()),
        _ => Act::Move(at.clone(), free),
    };
    let content = draw.text();
    let put = |directory: &str| {
        let directory = format!("{directory}/{middle}");
        let directory = directory.trim_end_matches('/');
        if is_new {
            Step::Directory(directory.to_owned())
        } else {
            file(format!("{directory}/{leaf}"), &content)
        }
    };
    let to = if base.index % 5 == 3 { &hop } else { real };
    let links = [link(&hop, real, true), link(&way, to, absolute)];
    let hazard = base.hazard(shape).with([put(real)]).with(links);
    let other = Step::Directory(real.clone());
    let variant = base.variant().with([other, put(&way)]);
    if base.index % 10 == 9 {
        // No link at all: the path itself says that it leads out.
        let up = "workspace/../outside/precious.txt".to_owned();
        let hazard = base.hazard("path leads up").with([put(&way)]);
        let hazard = hazard.acting(Act::Delete(up));
        return vec![hazard, variant.acting(act)];
    }
    pair(hazard, variant, &act)
}

/// A link in the tree that is deleted leads out of it.
pub(super) fn below(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let depth = draw.below(4);
    let mut holder = at.clone();
    for _ in 0..depth {
        holder = format!("{holder}/{}", draw.name());
    }
    let from = format!("{holder}/{}", draw.name());
    let inner = format!("{at}/{}", draw.name());
    let hop = base.target(draw);
    let (shape, to, absolute) = match base.index % 6 {
        0 => ("leads outside", SHARED, true),
        1 => ("leads outside, relative", SHARED, false),
        2 => ("leads to another directory", base.sibling.as_str(), false),
        3 => (
            "leads to another directory, absolute",
            base.sibling.as_str(),
            true,
        ),
        4 => ("leads to the directory above", base.place.as_str(), false),
        _ => ("leads over a chain", hop.as_str(), false),
    };
    let base = base
        .clone()
        .with(directory(&at, draw))
        .with(directory(&inner, draw))
        .with([link(&hop, SHARED, false)]);
    let act = Act::Delete(at.clone());
    let hazard = base.hazard(shape).with([link(&from, to, absolute)]);
    let variant = base.variant().with([link(&from, &inner, absolute)]);
    let mut plans = pair(hazard, variant, &act);
    let free = base.target(draw);
    let apart = match base.index % 4 {
        0 => Some((
            "a link below leads to a file outside",
            "outside/precious.txt",
            act,
        )),
        1 => Some(("a link below leads nowhere", "outside/nothing", act)),
        2 => Some((
            "moves a tree with a link that leads out",
            SHARED,
            Act::Move(at, free),
        )),
        _ => None,
    };
    plans.extend(apart.map(|(shape, to, act)| {
        let plan = base.apart(shape).with([link(&from, to, true)]);
        plan.acting(act)
    }));
    plans
}

/// A file has another name, and a tool that writes into it changes what is seen there. What replaces the name does not.
pub(super) fn other_name(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let content = draw.text();
    let other = if base.index.is_multiple_of(2) {
        format!("outside/{}", draw.name())
    } else {
        format!("{}/{}", base.sibling, draw.name())
    };
    let act = match base.index % 5 {
        0..3 => Act::Overwrite(at.clone(), draw.text()),
        3 => Act::Delete(at.clone()),
        _ => Act::Move(at.clone(), base.target(draw)),
    };
    let base = base.clone().with([file(&at, &content)]);
    let second = Step::HardLink {
        at: other.clone(),
        of: at,
    };
    let two_names = base.apart("another name of the file").with([second]);
    let variant = base.variant().with([file(other, &content)]);
    pair(two_names, variant, &act)
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}
