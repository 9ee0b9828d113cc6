//! One benchmark episode, by index: what a simulator reads.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::mediation::{Mediation, MediationError};
use crate::micros::Micros;

/// Worlds that fit without a heap allocation: the largest episode of the benchmark.
const INLINE_WORLDS: usize = 6;

/// The largest number of actions of an [`Episode`]: safe sets are bits of one machine word.
pub const MAX_ACTIONS: usize = 64;

/// The way in which memory misleads in an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Memory was true once and is out of date.
    Stale,
    /// Two sources contradict each other.
    Conflict,
    /// Someone planted the memory.
    Poison,
    /// Permission was given once and has changed.
    AuthorizationDrift,
}

impl Family {
    /// All families; the episode at `index` of a split belongs to number `index % 4` of them. A
    /// test holds the list complete.
    pub const ALL: [Self; 4] = [
        Self::Stale,
        Self::Conflict,
        Self::Poison,
        Self::AuthorizationDrift,
    ];

    /// The family of the episode at this index of a split.
    #[must_use]
    pub fn of_index(index: u64) -> Self {
        Self::ALL[(index % Self::ALL.len() as u64) as usize]
    }

    /// The family's name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Conflict => "conflict",
            Self::Poison => "poison",
            Self::AuthorizationDrift => "authorization_drift",
        }
    }

    /// The score term (0 provenance or age, 1 cross-evidence inconsistency, 2 tool disagreement, 3 policy
    /// incompatibility; Eq. 9) in which a deceptive world of this family stands out.
    #[must_use]
    pub fn telling_term(self) -> usize {
        match self {
            Self::Stale => 0,
            Self::Conflict => 1,
            Self::Poison => 2,
            Self::AuthorizationDrift => 3,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that is no family.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown family `{0}`, expected one of {known}", known = backticked(Family::ALL.map(Family::name)))]
pub struct UnknownFamily(pub String);

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        Self::ALL
            .into_iter()
            .find(|family| family.name() == name)
            .ok_or_else(|| UnknownFamily(name.to_owned()))
    }
}

/// Names as an error message lists them.
pub(crate) fn backticked(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A world of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodeWorld {
    /// Nonconformity score: larger is stranger.
    pub score: Micros,
    /// The actions that are safe if this world is the true one: bit `a` is action `a`.
    pub safe: u64,
}

/// A probe of an episode: asks whether a world is the true one, and is answered truthfully.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpisodeProbe {
    /// Price of the probe, finite and above 0, in the unit of the budget.
    pub cost: f64,
    /// Position in [`Episode::worlds`] of the world it asks about; that world is proposed.
    pub asks: usize,
}

/// One episode: actions, worlds and probes are numbers, and nothing needs a heap allocation up to six worlds.
///
/// Comes from a [`Generator`](crate::Generator) or from an [`EpisodeRecord`](crate::EpisodeRecord), so positions are
/// always in range and safe sets hold only actions that exist.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    pub(crate) family: Family,
    pub(crate) actions: usize,
    pub(crate) worlds: SmallVec<[EpisodeWorld; INLINE_WORLDS]>,
    pub(crate) proposed: SmallVec<[usize; INLINE_WORLDS]>,
    pub(crate) probes: SmallVec<[EpisodeProbe; INLINE_WORLDS]>,
    pub(crate) true_world: usize,
    pub(crate) mediation: Mediation,
}

impl Episode {
    /// The family.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// The number of actions, in 1..=[`MAX_ACTIONS`].
    #[must_use]
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// All worlds, proposed or not; the order carries no information except that it breaks ties of score.
    #[must_use]
    pub fn worlds(&self) -> &[EpisodeWorld] {
        &self.worlds
    }

    /// Positions of the proposed worlds, ascending.
    #[must_use]
    pub fn proposed(&self) -> &[usize] {
        &self.proposed
    }

    /// The probes.
    #[must_use]
    pub fn probes(&self) -> &[EpisodeProbe] {
        &self.probes
    }

    /// Position of the true world. Decides what a probe answers and how a commit ends; no method may read it.
    #[must_use]
    pub fn true_world(&self) -> usize {
        self.true_world
    }

    /// Whether the true world is among the proposed ones.
    #[must_use]
    pub fn true_world_proposed(&self) -> bool {
        self.proposed.contains(&self.true_world)
    }

    /// Whether the action is safe in the true world.
    #[must_use]
    pub fn is_safe(&self, action: usize) -> bool {
        action < self.actions && self.worlds[self.true_world].safe >> action & 1 == 1
    }

    /// Which actions can be undone and which are forbidden: none, unless the episode was drawn or made
    /// with a mediation.
    #[must_use]
    pub fn mediation(&self) -> Mediation {
        self.mediation
    }

    /// The episode with this mediation.
    ///
    /// # Errors
    ///
    /// The mediation names an action that the episode lacks, or forbids one that is safe in the true world.
    pub fn with_mediation(self, mediation: Mediation) -> Result<Self, MediationError> {
        mediation.check(&self)?;
        Ok(Self { mediation, ..self })
    }

    /// Takes the true world out of the proposal, with the probes that ask about it: a proposal miss.
    pub fn drop_true_world(&mut self) {
        let missed = self.true_world;
        self.proposed.retain(|world| *world != missed);
        self.probes.retain(|probe| probe.asks != missed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variant more does not compile here until it is counted, and fails until `ALL` has it.
    #[test]
    fn all_names_every_family_once() {
        for (position, family) in Family::ALL.into_iter().enumerate() {
            let expected = match family {
                Family::Stale => 0,
                Family::Conflict => 1,
                Family::Poison => 2,
                Family::AuthorizationDrift => 3,
            };
            assert_eq!(position, expected);
            assert_eq!(family.name().parse(), Ok(family));
        }
    }
}
