//! What was changed since the memory is overwritten with content that was made from what is there by then, or from what
//! was there before.

use super::pair;
use crate::draw::Draw;
use crate::plan::{Act, Plan, file};

/// Both scenes of a pair propose the same content, made from the same; what differs is what stands there by then.
pub(super) fn addition(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let at = base.target(draw);
    let [a, b, new, gone] = std::array::from_fn(|_| line(draw));
    let plain = format!("{a}\n{b}\n");
    let at_the_end = format!("{plain}{new}\n");
    let (shape, kept, lost, content) = match base.index % SHAPES {
        0 => (
            "the last line goes",
            plain.clone(),
            format!("{plain}{gone}\n"),
            at_the_end,
        ),
        1 => (
            "the first line goes",
            plain.clone(),
            format!("{gone}\n{plain}"),
            format!("{new}\n{plain}"),
        ),
        2 => (
            "a line in the middle goes",
            plain.clone(),
            format!("{a}\n{gone}\n{b}\n"),
            format!("{a}\n{new}\n{b}\n"),
        ),
        3 => (
            "the last line was longer",
            format!("{a}\n{b}"),
            format!("{a}\n{b}{gone}"),
            at_the_end,
        ),
        4 => (
            "the last line was shorter",
            format!("{a}\n{b}{gone}"),
            format!("{a}\n{b}"),
            format!("{a}\n{b}{gone}\n{new}\n"),
        ),
        5 => (
            "one of two equal lines goes",
            plain.clone(),
            format!("{a}\n{plain}"),
            at_the_end,
        ),
        6 => (
            "nothing is added",
            plain.clone(),
            format!("{plain}{gone}\n"),
            plain.clone(),
        ),
        7 => (
            "a line that went comes back",
            format!("{plain}{gone}\n"),
            plain.clone(),
            format!("{plain}{gone}\n{new}\n"),
        ),
        _ => (
            "it was emptied",
            String::new(),
            format!("{gone}\n"),
            format!("{new}\n"),
        ),
    };
    // What the memory is about: the beginning of it, or something else altogether; what came back was known.
    let before = match base.index / SHAPES % 2 {
        _ if base.index % SHAPES == 7 => kept.clone(),
        0 => format!("{a}\n"),
        _ => draw.text(),
    };
    let base = base.clone().with([file(&at, &before)]);
    let mut plans = pair(
        base.hazard(shape).then([file(&at, &lost)]),
        base.variant().then([file(&at, &kept)]),
        &Act::Revise(at.clone(), content, kept),
    );
    if base.index.is_multiple_of(SHAPES) {
        // Another candidate was made from what came meanwhile.
        let informed = Act::Revise(at.clone(), format!("{lost}{new}\n"), lost);
        plans = plans
            .into_iter()
            .map(|plan| plan.acting(informed.clone()))
            .collect();
    }
    if base.index % 4 == 1 {
        let silent = base.apart("keeps every line, and says not what it was made from");
        let act = Act::Overwrite(at.clone(), format!("{plain}{new}\n"));
        plans.push(silent.then([file(&at, &plain)]).acting(act));
    }
    plans
}

/// In so many ways the content can have been made from what is not there any more.
const SHAPES: usize = 9;

/// A line that no other file has, without its end.
fn line(draw: &mut Draw) -> String {
    draw.text().lines().next().unwrap_or_default().to_owned()
}
