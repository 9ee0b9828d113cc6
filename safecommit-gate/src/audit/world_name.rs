//! Names of worlds that say which facts they are about.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use crate::fact::is_identifier;
use crate::support::{ANY, LEFT_OUT};

/// What the name of a world that the gate made says: which values each restricted fact may have.
///
/// The form is `fact=value` for each fact whose values the world restricts, joined by one space; several values of a
/// fact are joined by `|`. A world that restricts nothing is named `any`. `left-out` stands for all worlds that a cut
/// left out, whatever they are.
///
/// ```
/// use std::collections::BTreeMap;
/// use safecommit_gate::audit::{Fit, WorldName};
///
/// let world: WorldName = "kind=file|directory owner=own".parse()?;
/// let fit = |facts: &[(&str, &str)]| {
///     let facts = facts.iter().map(|(fact, value)| (fact.to_string(), value.to_string()));
///     world.fit(&facts.collect::<BTreeMap<String, String>>())
/// };
/// assert_eq!(fit(&[("kind", "file"), ("owner", "own"), ("secret", "no")]), Fit::Certain);
/// assert_eq!(fit(&[("kind", "file")]), Fit::Possible);
/// assert_eq!(fit(&[("kind", "link")]), Fit::Excluded);
/// assert!("temporary".parse::<WorldName>().is_err());
/// # Ok::<(), safecommit_gate::audit::WorldNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldName(Option<BTreeMap<String, BTreeSet<String>>>);

/// Whether the true world is in a world, as far as some facts tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Each restricted fact has a value that the world admits.
    Certain,
    /// No fact has a value that the world does not admit, but a restricted one is not told.
    Possible,
    /// Some fact has a value that the world does not admit.
    Excluded,
}

/// Why a text is no name of a world that says its facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldNameError {
    /// A part that is not `fact=value`, with one value or several that differ.
    #[error("`{0}` does not say which values a fact may have")]
    Part(String),
    /// A fact that stands twice.
    #[error("the fact `{0}` stands twice")]
    Twice(String),
}

impl WorldName {
    /// How this world fits facts with their values. What it does not restrict may have any value. The world of all
    /// that was left out fits nothing for certain, and nothing excludes it.
    #[must_use]
    pub fn fit(&self, facts: &BTreeMap<String, String>) -> Fit {
        let Some(restricted) = &self.0 else {
            return Fit::Possible;
        };
        let mut fit = Fit::Certain;
        for (fact, admitted) in restricted {
            match facts.get(fact) {
                Some(value) if admitted.contains(value) => {}
                Some(_) => return Fit::Excluded,
                None => fit = Fit::Possible,
            }
        }
        fit
    }

    /// Whether it stands for all worlds that a cut left out.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        self.0.is_none()
    }

    /// The restricted facts with the values that they may have, both in alphabetical order.
    pub fn restricted(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        let facts = self.0.iter().flatten();
        facts.map(|(fact, values)| (fact.as_str(), values))
    }
}

impl FromStr for WorldName {
    type Err = WorldNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            LEFT_OUT => return Ok(Self(None)),
            ANY => return Ok(Self(Some(BTreeMap::new()))),
            _ => {}
        }
        let mut restricted = BTreeMap::new();
        for part in name.split(' ') {
            let refuse = || WorldNameError::Part(part.to_owned());
            let (fact, values) = part.split_once('=').ok_or_else(refuse)?;
            let mut admitted = BTreeSet::new();
            for value in values.split('|') {
                if !is_identifier(value) || !admitted.insert(value.to_owned()) {
                    return Err(refuse());
                }
            }
            if !is_identifier(fact) {
                return Err(refuse());
            }
            if restricted.insert(fact.to_owned(), admitted).is_some() {
                return Err(WorldNameError::Twice(fact.to_owned()));
            }
        }
        Ok(Self(Some(restricted)))
    }
}
