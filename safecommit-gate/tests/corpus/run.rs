//! Runs a gate on the corpus, and compares what it did with the labels and with what stood there before.
//!
//! A gate gets the scene (`workspace()`, a place for its `state()` on the same file system, the `owner()` whose files count as
//! one's own), the request, and the time of the decision, which may be some seconds ahead of the clock. It acts on the scene.

use std::fmt;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use crate::families::Family;
use crate::label::{Label, labels};
use crate::plan::{Act, Plan, Role};
use crate::scene::Scene;
use crate::snapshot::{Change, ChangeKind, Compare, Snapshot, What};

/// What a gate decided of one request, and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The candidate, by its place in the request, whose effect was released.
    pub(crate) released: Option<usize>,
    /// Whether a person was asked.
    pub(crate) person: bool,
}

/// The numbers of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) hazards: usize,
    pub(crate) variants: usize,
    pub(crate) apart: usize,
    /// What this machine cannot build.
    pub(crate) left_out: usize,
    /// Releases, in scenes of any kind, of a candidate that does harm.
    pub(crate) unsafe_releases: usize,
    /// Hazards in which another candidate was released, which does no harm.
    pub(crate) others_released: usize,
    /// Releases without a person.
    pub(crate) variants_released: usize,
    pub(crate) apart_released: usize,
}

/// What came of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) rows: Vec<(&'static str, Row)>,
    /// Each release of a candidate that does harm.
    pub(crate) unsafe_releases: Vec<String>,
    /// Each safe variant that was not released without a person.
    pub(crate) refused_variants: Vec<String>,
    /// Whatever changed and is no part of a released effect, and released effects that are not there.
    pub(crate) side_effects: Vec<String>,
}

/// A plan with the labels of its candidates.
pub(crate) struct Labelled {
    pub(crate) plan: Plan,
    /// `None` if the scene cannot be built here.
    pub(crate) labels: Option<Vec<Label>>,
}

/// Labels every plan of a family.
pub(crate) fn label_family(family: Family) -> Vec<Labelled> {
    let plans = family.plans().into_iter();
    let labelled = plans.map(|plan| Labelled {
        labels: labels(&plan).ok(),
        plan,
    });
    labelled.collect()
}

/// Lets a gate decide and act on every scene of these families.
pub(crate) fn run_corpus(
    families: &[Family],
    gate: impl FnMut(&Scene, &Value, Timestamp) -> Outcome,
) -> Report {
    run_some(families, |_| true, gate)
}

/// The same on those scenes that are picked.
pub(crate) fn run_some(
    families: &[Family],
    pick: impl Fn(&Plan) -> bool,
    mut gate: impl FnMut(&Scene, &Value, Timestamp) -> Outcome,
) -> Report {
    let mut report = Report::default();
    for family in families {
        let mut row = Row::default();
        let all = family.labelled().iter();
        for labelled in all.filter(|labelled| pick(&labelled.plan)) {
            report.one(labelled, &mut row, &mut gate);
        }
        report.rows.push((family.name(), row));
    }
    report
}

impl Report {
    /// The numbers of all families together.
    pub(crate) fn total(&self) -> Row {
        let add = |sum: Row, (_, row): &(&str, Row)| Row {
            hazards: sum.hazards + row.hazards,
            variants: sum.variants + row.variants,
            apart: sum.apart + row.apart,
            left_out: sum.left_out + row.left_out,
            unsafe_releases: sum.unsafe_releases + row.unsafe_releases,
            others_released: sum.others_released + row.others_released,
            variants_released: sum.variants_released + row.variants_released,
            apart_released: sum.apart_released + row.apart_released,
        };
        self.rows.iter().fold(Row::default(), add)
    }

    fn one(
        &mut self,
        labelled: &Labelled,
        row: &mut Row,
        gate: &mut impl FnMut(&Scene, &Value, Timestamp) -> Outcome,
    ) {
        let plan = &labelled.plan;
        let (Some(labels), Ok(scene)) = (&labelled.labels, Scene::build(plan)) else {
            row.left_out += 1;
            return;
        };
        let before = scene.snapshot();
        let outcome = gate(&scene, &scene.request(), scene.now());
        let after = scene.snapshot();

        let shown = format!(
            "{} {} {:?} ({})",
            plan.family, plan.index, plan.role, plan.shape
        );
        let harmful = outcome.released.is_some_and(|act| labels[act].is_harmful());
        if harmful {
            row.unsafe_releases += 1;
            self.unsafe_releases.push(shown.clone());
        }
        let released = outcome.released.is_some() && !outcome.person && !harmful;
        match plan.role {
            Role::Hazard => {
                row.hazards += 1;
                row.others_released += usize::from(released);
            }
            Role::Variant => {
                row.variants += 1;
                row.variants_released += usize::from(released);
                if !released {
                    self.refused_variants.push(shown.clone());
                }
            }
            Role::Apart => {
                row.apart += 1;
                row.apart_released += usize::from(released);
            }
        }
        let act = outcome.released.map(|act| &plan.actions[act].0);
        let effects = side_effects(act, &before, &after);
        self.side_effects
            .extend(effects.map(|effect| format!("{shown}: {effect}")));
    }
}

/// What differs and is no part of what was released, and what was released and is not there.
pub(crate) fn side_effects(
    act: Option<&Act>,
    before: &Snapshot,
    after: &Snapshot,
) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    for change in before.changes(after, Compare::Everything) {
        if !act.is_some_and(|act| belongs(act, &change, before, after)) {
            found.push(format!("{:?} `{}`", change.kind, change.path.display()));
        }
    }
    if let Some(act) = act
        && !is_there(act, before, after)
    {
        found.push("the effect is not there".to_owned());
    }
    found.into_iter()
}

/// Whether a change is a part of the effect: what is named, and the times of the directories that it is in.
fn belongs(act: &Act, change: &Change, before: &Snapshot, after: &Snapshot) -> bool {
    let path = change.path.as_path();
    act.paths().into_iter().map(Path::new).any(|named| {
        let is_named = path.starts_with(named) && !path.starts_with("outside");
        let holds = named.parent() == Some(path) && change.kind == ChangeKind::Changed;
        let same = || {
            let (old, new) = (before.get(path), after.get(path));
            old.zip(new)
                .is_some_and(|(old, new)| old.is_like(new, Compare::Content))
        };
        is_named || holds && same()
    })
}

/// Whether what an action is for is there, and nothing of it in another way than was asked.
fn is_there(act: &Act, before: &Snapshot, after: &Snapshot) -> bool {
    let at = |path: &str| after.get(Path::new(path));
    match act {
        Act::Delete(path) => at(path).is_none(),
        Act::Overwrite(path, content) | Act::Revise(path, content, _) => {
            let old = before.get(Path::new(path));
            let new = at(path);
            let is_new =
                new.is_some_and(|new| new.what == What::File(content.clone().into_bytes()));
            let rest = |entry: &crate::snapshot::Entry| (entry.mode, entry.owner);
            is_new && old.map(rest) == new.map(rest)
        }
        Act::Write(path, content) => {
            at(path).is_some_and(|new| new.what == What::File(content.clone().into_bytes()))
        }
        Act::Move(from, to) => {
            let below = |snapshot: &Snapshot, root: &str| -> Vec<_> {
                let inside = snapshot.entries().filter_map(|(path, entry)| {
                    let below = path.strip_prefix(root).ok()?.to_owned();
                    Some((below, entry.what.clone(), entry.mode, entry.owner))
                });
                inside.collect()
            };
            at(from).is_none() && below(before, from) == below(after, to)
        }
    }
}

/// A table, one family in a line.
impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = [
            "hazards",
            "variants",
            "apart",
            "left out",
            "unsafe",
            "other candidate",
            "variants released",
            "apart released",
        ];
        writeln!(out, "{:<20}  {}", "family", heads.join("  "))?;
        let total = ("all", self.total());
        for (name, row) in self.rows.iter().chain([&total]) {
            write!(out, "{name:<20}")?;
            let numbers = [
                row.hazards,
                row.variants,
                row.apart,
                row.left_out,
                row.unsafe_releases,
                row.others_released,
                row.variants_released,
                row.apart_released,
            ];
            for (head, number) in heads.iter().zip(numbers) {
                write!(out, "  {number:>width$}", width = head.len())?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
