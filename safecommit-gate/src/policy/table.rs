//! Which actions are safe in which worlds, and why the others are not.

use std::fmt;

use super::SafetyPolicy;
use super::bind::SafetyMap;

/// What one policy says of one action in one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Silent,
    Applies,
    /// It fails, with the message at this position.
    Fails(usize),
}

/// The safety map of some worlds: a row of safe actions a world, with reasons.
#[derive(Clone, Debug)]
pub struct SafetyTable<'m> {
    map: &'m SafetyMap,
    worlds: usize,
    /// One column a rule of the map, one outcome a world.
    columns: Vec<Vec<Outcome>>,
    messages: Vec<String>,
    /// Worlds one after the other, an entry an action.
    permitted: Vec<bool>,
}

/// One reason why an action is not safe in a world.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Blocker<'t> {
    /// A policy forbids it.
    Forbidden(&'t SafetyPolicy),
    /// A policy fails, which Cedar would pass over.
    Failed {
        /// The policy.
        policy: &'t SafetyPolicy,
        /// Cedar's message.
        message: &'t str,
    },
    /// No policy permits it.
    NotPermitted,
}

impl<'m> SafetyTable<'m> {
    pub(super) fn new(
        map: &'m SafetyMap,
        worlds: usize,
        columns: Vec<Vec<Outcome>>,
        messages: Vec<String>,
    ) -> Self {
        let actions = map.actions();
        let mut permitted = vec![false; worlds * actions];
        for (action, rules) in map.rules_by_action().iter().enumerate() {
            // One pass a column: two columns of words for the action are all that is kept.
            let (mut allowed, mut stopped) = (vec![false; worlds], vec![false; worlds]);
            for &rule in rules {
                let forbids = map.policy_of(rule).forbids();
                let marks = if forbids { &mut stopped } else { &mut allowed };
                for (mark, outcome) in marks.iter_mut().zip(&columns[rule]) {
                    *mark |= *outcome == Outcome::Applies;
                }
                for (mark, outcome) in stopped.iter_mut().zip(&columns[rule]) {
                    *mark |= matches!(outcome, Outcome::Fails(_));
                }
            }
            for (world, (allowed, stopped)) in allowed.into_iter().zip(stopped).enumerate() {
                permitted[world * actions + action] = allowed && !stopped;
            }
        }
        Self {
            map,
            worlds,
            columns,
            messages,
            permitted,
        }
    }

    /// The number of worlds.
    #[must_use]
    pub fn worlds(&self) -> usize {
        self.worlds
    }

    /// The number of actions.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.map.actions()
    }

    /// Whether an action is safe in a world. One that the table does not have is not.
    #[must_use]
    pub fn is_safe(&self, world: usize, action: usize) -> bool {
        let actions = self.actions();
        action < actions && world < self.worlds && self.permitted[world * actions + action]
    }

    /// The positions of the actions that are safe in a world, ascending: the row that
    /// [`safecommit_core::Problem::add_world`] takes. None in a world that the table does not have.
    pub fn safe(&self, world: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.actions()).filter(move |&action| self.is_safe(world, action))
    }

    /// Why an action is not safe in a world, in the order of the policies: each policy that forbids it, each that
    /// fails, and last whether none permits it. Empty for what is safe, and for what the table does not have.
    pub fn blockers(&self, world: usize, action: usize) -> impl Iterator<Item = Blocker<'_>> {
        let inside = world < self.worlds && !self.is_safe(world, action);
        let rules = self.map.rules_by_action().get(action).filter(|_| inside);
        let stops = rules.into_iter().flatten().filter_map(move |&rule| {
            let policy = self.map.policy_of(rule);
            match self.columns[rule][world] {
                Outcome::Applies if policy.forbids() => Some(Blocker::Forbidden(policy)),
                Outcome::Fails(message) => {
                    let message = self.messages.get(message).map_or("", String::as_str);
                    Some(Blocker::Failed { policy, message })
                }
                _ => None,
            }
        });
        let unpermitted = rules.is_some_and(|rules| {
            !rules.iter().any(|&rule| {
                !self.map.policy_of(rule).forbids() && self.columns[rule][world] == Outcome::Applies
            })
        });
        stops.chain(unpermitted.then_some(Blocker::NotPermitted))
    }
}

impl Blocker<'_> {
    /// The id of the policy, unless it is that none permits the action.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        match self {
            Self::Forbidden(policy) | Self::Failed { policy, .. } => Some(policy.id()),
            Self::NotPermitted => None,
        }
    }
}

impl fmt::Display for Blocker<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden(policy) => write!(out, "policy `{}` forbids it", policy.id()),
            Self::Failed { policy, message } => {
                write!(out, "policy `{}` fails: {message}", policy.id())
            }
            Self::NotPermitted => out.write_str("no policy permits it"),
        }
    }
}
