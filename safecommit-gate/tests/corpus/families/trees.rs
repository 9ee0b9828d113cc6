//! Trees that are deep, big or empty, with one thing in them that counts.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, Step, directory, file, link};

pub(super) fn deep_big_empty(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let mut plans = one_that_counts(draw, base);
    if base.index % 6 == 5 {
        let at = base.target(draw);
        let plan = base.apart("deletes a pipe").with([Step::Pipe(at.clone())]);
        plans.push(plan.acting(Act::Delete(at)));
    }
    plans
}

fn one_that_counts(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let mut bottom = at.clone();
    for _ in 0..20 + draw.below(40) {
        bottom = format!("{bottom}/{}", draw.name());
    }
    let leaf = format!("{bottom}/leaf");
    let deep = vec![file(&leaf, &draw.text())];
    let delete = Act::Delete(at.clone());
    let (shared, text) = ("outside/shared", draw.text());
    match base.index % 6 {
        0 => {
            let secret = file(format!("{bottom}/.env"), &text);
            let base = base.clone().with(deep);
            pair(
                base.hazard("a secret far below").with([secret]),
                base.variant(),
                &delete,
            )
        }
        1 => {
            let out = link(&format!("{bottom}/more"), shared, false);
            let base = base.clone().with(deep);
            pair(
                base.hazard("a way out far below").with([out]),
                base.variant(),
                &delete,
            )
        }
        2 => {
            let base = base.clone().with(deep);
            let hazard = base.hazard("changed far below").then([file(&leaf, &text)]);
            pair(hazard, base.variant(), &Act::Overwrite(leaf, draw.text()))
        }
        3 | 4 => {
            let base = base.clone().with(big(&at, draw));
            let hazard = if base.index % 6 == 3 {
                let protected = file(format!("{at}/part-0077/CLAUDE.md"), &text);
                base.hazard("protected among many").with([protected])
            } else {
                let out = link(&format!("{at}/part-0077/more"), shared, true);
                base.hazard("a way out among many").with([out])
            };
            pair(hazard, base.variant(), &delete)
        }
        _ => {
            let hazard = base.hazard("a link instead of an empty directory");
            let hazard = hazard.with([link(&at, shared, true)]);
            pair(hazard, base.variant().with([Step::Directory(at)]), &delete)
        }
    }
}

/// Some dozens of directories, some files in each.
fn big(at: &str, draw: &mut Draw) -> Vec<Step> {
    let parts = 20 + draw.below(20);
    let mut steps = Vec::new();
    for part in 0..parts {
        let part = format!("{at}/part-{part:04}");
        steps.extend(directory(&part, draw));
        steps.push(file(format!("{part}/empty"), ""));
    }
    steps
}
