//! What policies say in all worlds of a cube at once: the same in each, or not.

mod choose;

use std::sync::Arc;

use smallvec::SmallVec;

use super::bind::{Rule, SafetyMap};
use super::evaluate::Answers;
use super::table::Outcome;
use super::{Blocker, Loaded};
use crate::cube::Cube;

pub(crate) use choose::Part;

/// Answers the policies of a map over cubes. Each is asked once for all worlds that agree on the facts that it reads.
#[derive(Debug)]
pub(crate) struct Judge<'m> {
    map: &'m SafetyMap,
    /// One a rule of the map, and so of the next.
    answers: Vec<Answers>,
    forbids: Vec<bool>,
    messages: Vec<String>,
    /// A world to ask about; only the facts that the rule at hand reads are up to date.
    world: Vec<u8>,
}

/// The outcomes that each rule of a map has in the worlds of a cube.
type Statuses = SmallVec<[Outcomes; 32]>;

/// The outcomes of a policy in some worlds: some of silent, applies and fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outcomes(u8);

/// Whether an action is safe in a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// In every world.
    Safe,
    /// In none, for a reason that holds in every world.
    Unsafe,
    /// It differs, or nobody can tell yet.
    Open,
}

/// Why an action is safe in no world of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// This policy forbids it.
    Forbidden(usize),
    /// This policy fails; in one of the worlds with the message at this position.
    Failed(usize, usize),
    /// No policy permits it.
    NotPermitted,
}

/// What reasons stand for.
#[derive(Clone, Debug)]
pub(crate) struct Reasons {
    loaded: Arc<Loaded>,
    messages: Vec<String>,
}

/// A policy is asked about at most so many combinations of values for one cube. Where there are more it counts as
/// undecided, and the cube is split.
const ASKED: usize = 1 << 10;

impl Outcomes {
    const SILENT: Self = Self(1);
    const APPLIES: Self = Self(2);
    const FAILS: Self = Self(4);
    const ANY: Self = Self(7);

    /// Whether the outcome is the same everywhere.
    fn is_settled(self) -> bool {
        self.0.is_power_of_two()
    }

    fn may(self, outcome: Self) -> bool {
        self.0 & outcome.0 != 0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Silent => Self::SILENT,
            Outcome::Applies => Self::APPLIES,
            Outcome::Fails(_) => Self::FAILS,
        }
    }
}

impl<'m> Judge<'m> {
    pub(crate) fn new(map: &'m SafetyMap) -> Self {
        Self {
            map,
            answers: map.rules.iter().map(Answers::of).collect(),
            forbids: (0..map.rules.len())
                .map(|rule| map.policy_of(rule).forbids())
                .collect(),
            messages: Vec::new(),
            world: vec![0; map.sizes.len()],
        }
    }

    /// Whether an action with these rules is safe.
    fn verdict(&self, rules: &[usize], statuses: &[Outcomes]) -> Verdict {
        let (mut permitted, mut permittable, mut stoppable) = (false, false, false);
        for &rule in rules {
            let (status, forbids) = (statuses[rule], self.forbids[rule]);
            if status == Outcomes::FAILS || forbids && status == Outcomes::APPLIES {
                return Verdict::Unsafe;
            }
            stoppable |= status.may(Outcomes::FAILS) || forbids && status.may(Outcomes::APPLIES);
            permittable |= !forbids && status.may(Outcomes::APPLIES);
            permitted |= !forbids && status == Outcomes::APPLIES;
        }
        match permittable {
            false => Verdict::Unsafe,
            true if permitted && !stoppable => Verdict::Safe,
            true => Verdict::Open,
        }
    }

    /// All that stops an action in every world of a part, in the order of the policies, and last that none permits
    /// it. Not empty for an action that is [`Verdict::Unsafe`].
    pub(crate) fn reasons(&mut self, action: usize, part: &Part) -> SmallVec<[Reason; 2]> {
        let map = self.map;
        let rules = map.rules_by_action().get(action).into_iter().flatten();
        let mut reasons = SmallVec::new();
        let mut permittable = false;
        for &rule in rules {
            let (policy, forbids) = (map.rules[rule].policy, self.forbids[rule]);
            // What was undecided for a larger cube may be decided by now.
            let outcomes = match part.statuses[rule] {
                settled if settled.is_settled() => settled,
                _ => self.outcomes(rule, &part.cube),
            };
            if forbids && outcomes == Outcomes::APPLIES {
                reasons.push(Reason::Forbidden(policy));
            }
            if outcomes == Outcomes::FAILS {
                self.visit(rule, &part.cube, |outcome| {
                    if let Outcome::Fails(message) = outcome {
                        reasons.push(Reason::Failed(policy, message));
                    }
                    false
                });
            }
            permittable |= !forbids && outcomes.may(Outcomes::APPLIES);
        }
        if !permittable {
            reasons.push(Reason::NotPermitted);
        }
        reasons
    }

    fn outcomes(&mut self, rule: usize, cube: &Cube) -> Outcomes {
        let mut all = Outcomes::default();
        let asked = self.visit(rule, cube, |outcome| {
            all = all.or(Outcomes::of(outcome));
            true
        });
        if asked { all } else { Outcomes::ANY }
    }

    /// Shows the outcome of a rule for each combination of the values of its facts in a cube, in their order, while it
    /// is told to go on. Whether it was: nothing is shown where there are too many.
    fn visit(&mut self, rule: usize, cube: &Cube, mut see: impl FnMut(Outcome) -> bool) -> bool {
        let map = self.map;
        let asked: &Rule = &map.rules[rule];
        let mut sizes = asked.facts.iter().map(|(fact, _)| cube.size(*fact));
        let combinations = sizes.try_fold(1_usize, |all, size| all.checked_mul(size));
        if combinations.is_none_or(|combinations| combinations > ASKED) {
            return false;
        }
        let mut place = 0_usize;
        for &(fact, size) in &asked.facts {
            self.world[fact] = cube.least(fact).unwrap_or(0);
            // It stays below the product wherever places are used; where they are not it may wrap.
            place = place
                .wrapping_mul(size)
                .wrapping_add(usize::from(self.world[fact]));
        }
        loop {
            let (world, messages) = (&self.world, &mut self.messages);
            let answers = &mut self.answers[rule];
            if !see(answers.get_or_at(place, asked, world, || map.ask(asked, world, messages))) {
                return true;
            }
            // The next combination: the last fact that has a next value takes it, those after it begin anew.
            let mut stride = 1_usize;
            let mut facts = asked.facts.iter().rev();
            loop {
                let Some(&(fact, size)) = facts.next() else {
                    return true;
                };
                let now = self.world[fact];
                let next = cube.after(fact, now);
                let new = next.or(cube.least(fact)).unwrap_or(0);
                self.world[fact] = new;
                let (now, new) = (usize::from(now), usize::from(new));
                place = place
                    .wrapping_add(new.wrapping_mul(stride))
                    .wrapping_sub(now.wrapping_mul(stride));
                if next.is_some() {
                    break;
                }
                stride = stride.wrapping_mul(size);
            }
        }
    }

    /// What policies that fail said.
    pub(crate) fn into_messages(self) -> Vec<String> {
        self.messages
    }
}

impl SafetyMap {
    /// What reasons stand for, with the messages of policies that fail.
    pub(crate) fn reasons(&self, messages: Vec<String>) -> Reasons {
        Reasons {
            loaded: Arc::clone(&self.loaded),
            messages,
        }
    }
}

impl Reasons {
    pub(crate) fn blocker(&self, reason: Reason) -> Blocker<'_> {
        let message = |at: usize| self.messages.get(at).map_or("", String::as_str);
        match reason {
            Reason::Forbidden(policy) => Blocker::Forbidden(&self.loaded.policies[policy]),
            Reason::Failed(policy, at) => Blocker::Failed {
                policy: &self.loaded.policies[policy],
                message: message(at),
            },
            Reason::NotPermitted => Blocker::NotPermitted,
        }
    }
}
