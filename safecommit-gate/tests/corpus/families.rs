//! The families of the corpus. Each number of a family gives a hazard, the same scene without it, and sometimes one in which
//! nothing is harmed though policies refuse it.

mod additions;
mod beliefs;
mod changes;
mod duplicates;
mod links;
mod mounts;
mod names;
mod owners;
mod places;
mod repositories;
mod trees;

use std::sync::OnceLock;

use crate::draw::Draw;
use crate::plan::{Act, Plan};
use crate::run::{Labelled, label_family};

/// What a family makes of the stream and the surroundings of one number.
type Make = fn(&mut Draw, &Plan) -> Vec<Plan>;

/// A family: a name, how many numbers it has, and what it makes of one.
#[derive(Clone, Copy)]
pub(crate) struct Family(usize);

const FAMILIES: [(&str, usize, Make); 21] = [
    ("link-at-target", 50, links::at_target),
    ("link-on-the-way", 50, links::on_the_way),
    ("link-below", 50, links::below),
    ("other-name", 50, links::other_name),
    ("owner", 50, owners::all),
    ("owner-of-a-part", 25, owners::a_part),
    ("inner-repository", 50, repositories::inner),
    ("repository-state", 50, repositories::state),
    ("changed-since", 50, changes::changed_since),
    ("duplicate", 50, duplicates::duplicate),
    ("in-the-way", 50, changes::in_the_way),
    ("conflicting-memories", 50, beliefs::conflicting),
    ("poisoned-memory", 50, beliefs::poisoned),
    ("protected", 50, names::protected),
    ("secret", 50, names::secret),
    ("odd-names", 60, names::odd),
    ("deep-big-empty", 50, trees::deep_big_empty),
    ("destination", 50, places::destination),
    ("several-candidates", 50, places::several),
    ("addition", 50, additions::addition),
    ("mount", 50, mounts::mount),
];

impl Family {
    /// Those that need nothing but files.
    pub(crate) fn without_mounts() -> Vec<Self> {
        (0..FAMILIES.len() - 1).map(Self).collect()
    }

    /// Those that mount something.
    pub(crate) fn with_mounts() -> Vec<Self> {
        vec![Self(FAMILIES.len() - 1)]
    }

    pub(crate) fn name(self) -> &'static str {
        FAMILIES[self.0].0
    }

    /// Every scene, by number, hazards first.
    pub(crate) fn plans(self) -> Vec<Plan> {
        let (name, count, make) = FAMILIES[self.0];
        let of_one = |index| {
            let mut draw = Draw::new(name, index);
            let base = Plan::new(name, index, &mut draw);
            make(&mut draw, &base)
        };
        (0..count).flat_map(of_one).collect()
    }

    /// Every scene with its labels, which are found once in each run of the program.
    pub(crate) fn labelled(self) -> &'static [Labelled] {
        static FOUND: [OnceLock<Vec<Labelled>>; FAMILIES.len()] =
            [const { OnceLock::new() }; FAMILIES.len()];
        FOUND[self.0].get_or_init(|| label_family(self))
    }
}

/// A hazard and its variant, in which everything that is no hazard is the same.
fn pair(hazard: Plan, variant: Plan, act: &Act) -> Vec<Plan> {
    vec![hazard.acting(act.clone()), variant.acting(act.clone())]
}
