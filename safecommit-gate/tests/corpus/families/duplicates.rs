//! What is remembered as a copy of something that stays.
//!
//! That the only copy is deleted is no hazard as long as it can be put back, and with files alone it always can; the family with
//! mounts has that case. A hazard is what looks like a copy and is the thing itself, or no copy any more.

use crate::draw::Draw;
use crate::plan::{Act, Plan, Record, Step, directory, file, link};

pub(super) fn duplicate(draw: &mut Draw, base: &Plan) -> Vec<Plan> {
    let original = format!("{}/{}", base.sibling, draw.name());
    let copy = base.target(draw);
    let (text, new) = (draw.text(), draw.text());
    let leaf = format!("{}.txt", draw.name());
    let (in_original, in_copy) = (format!("{original}/{leaf}"), format!("{copy}/{leaf}"));
    let base = base.clone().with([file(&in_original, &text)]);
    let absolute = base.index.is_multiple_of(2);
    let delete = Act::Delete(copy.clone());
    let real = file(&in_copy, &text);
    let inner = directory(&copy, draw);
    let (shape, act, hazard, variant, after) = match base.index % 5 {
        0 => (
            "the copy is a link to the original",
            delete,
            vec![link(&copy, &original, absolute)],
            vec![real],
            vec![],
        ),
        1 => (
            "the copy is a link to the original file",
            Act::Overwrite(copy.clone(), new),
            vec![link(&copy, &in_original, absolute)],
            vec![file(&copy, &text)],
            vec![],
        ),
        2 => (
            "a part of the copy is a link to the original",
            delete,
            [
                inner.as_slice(),
                &[link(&format!("{copy}/part"), &original, absolute)],
            ]
            .concat(),
            [
                inner.as_slice(),
                &[file(format!("{copy}/part/{leaf}"), &text)],
            ]
            .concat(),
            vec![],
        ),
        3 => (
            "the copy is none any more",
            Act::Overwrite(in_copy.clone(), draw.text()),
            vec![real.clone()],
            vec![real],
            vec![Step::RewriteUnseen(in_copy, new)],
        ),
        _ => (
            "the copy lies in a link to the original",
            Act::Delete(in_copy),
            vec![link(&copy, &original, absolute)],
            vec![real],
            vec![],
        ),
    };
    let of = original.trim_start_matches("workspace/").to_owned();
    let said = |plan: Plan| {
        let record = Record::memory("m1", act.path(), "copy_of", &of);
        plan.told(record).proposing(act.clone())
    };
    vec![
        said(base.hazard(shape).with(hazard).then(after)),
        said(base.variant().with(variant)),
    ]
}
