//! Facts with their values, and assignments of a value to each.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use smallvec::SmallVec;

/// Something that can change whether an action is safe, with the values that it may have.
///
/// ```
/// use safecommit_gate::Fact;
///
/// let kind = Fact::new("kind", ["file", "directory", "link", "mount", "missing"])?;
/// assert_eq!((kind.name(), kind.values()[2].as_str()), ("kind", "link"));
/// assert!(Fact::new("kind", ["file", "file"]).is_err());
/// # Ok::<(), safecommit_gate::FactError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    name: String,
    values: Vec<String>,
}

/// Facts in their order, with names that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(Vec<Fact>);

/// One value for each fact of some [`Facts`], by position: what one world says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Assignment(SmallVec<[u8; 16]>);

/// Why facts or an assignment are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FactError {
    /// A name or value that is no identifier.
    #[error("`{0}` is no identifier: a letter, then letters, digits and `_`")]
    NotAnIdentifier(String),
    /// A fact without values, or with too many.
    #[error("fact `{name}` has {values} values, from 1 to 256 are possible")]
    Values {
        /// The fact.
        name: String,
        /// How many it has.
        values: usize,
    },
    /// A name that stands twice.
    #[error("`{0}` stands twice")]
    Duplicate(String),
    /// A fact that is not declared.
    #[error("fact `{0}` is not declared")]
    UnknownFact(String),
    /// A value that the fact does not have.
    #[error("fact `{fact}` has no value `{value}`")]
    UnknownValue {
        /// The fact.
        fact: String,
        /// The value.
        value: String,
    },
    /// A fact without a value in an assignment.
    #[error("fact `{0}` has no value here")]
    Unassigned(String),
}

impl Fact {
    /// A fact with its values in the order in which they are written. Name and values are identifiers: a letter,
    /// then letters, digits and `_`, all ASCII.
    ///
    /// # Errors
    ///
    /// [`FactError`] for anything else, for no value or more than 256, and for one that stands twice.
    pub fn new<V: Into<String>>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, FactError> {
        let (name, values): (String, Vec<String>) =
            (name.into(), values.into_iter().map(Into::into).collect());
        for text in values.iter().chain([&name]) {
            if !is_identifier(text) {
                return Err(FactError::NotAnIdentifier(text.clone()));
            }
        }
        if !(1..=256).contains(&values.len()) {
            return Err(FactError::Values {
                name,
                values: values.len(),
            });
        }
        check_distinct(values.iter().map(String::as_str))?;
        Ok(Self { name, values })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values, at least one and at most 256.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    fn position(&self, value: &str) -> Option<u8> {
        let position = self.values.iter().position(|known| known == value)?;
        u8::try_from(position).ok()
    }
}

impl Facts {
    /// Facts in this order.
    ///
    /// # Errors
    ///
    /// [`FactError::Duplicate`] for a name that stands twice.
    pub fn new(facts: impl IntoIterator<Item = Fact>) -> Result<Self, FactError> {
        let facts: Vec<Fact> = facts.into_iter().collect();
        check_distinct(facts.iter().map(Fact::name))?;
        Ok(Self(facts))
    }

    /// The facts.
    #[must_use]
    pub fn as_slice(&self) -> &[Fact] {
        &self.0
    }

    /// The position of a fact.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|fact| fact.name == name)
    }

    /// The assignment that gives each fact its value, named in any order.
    ///
    /// # Errors
    ///
    /// [`FactError`] for a name or value that is not declared, a fact that stands twice, and one without a value.
    pub fn assignment<'n>(
        &self,
        values: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<Assignment, FactError> {
        let mut given: Vec<Option<u8>> = vec![None; self.0.len()];
        for (name, value) in values {
            let at = self.position(name);
            let at = at.ok_or_else(|| FactError::UnknownFact(name.to_owned()))?;
            let position = self.0[at].position(value);
            let position = position.ok_or_else(|| FactError::UnknownValue {
                fact: name.to_owned(),
                value: value.to_owned(),
            })?;
            if given[at].replace(position).is_some() {
                return Err(FactError::Duplicate(name.to_owned()));
            }
        }
        let assigned = self
            .0
            .iter()
            .zip(given)
            .map(|(fact, value)| value.ok_or_else(|| FactError::Unassigned(fact.name.clone())));
        Ok(Assignment(assigned.collect::<Result<_, _>>()?))
    }

    /// The value of a fact in an assignment of these facts; `None` for a fact that is not declared, and for an
    /// assignment of other facts that has no such value.
    #[must_use]
    pub fn value_of(&self, assignment: &Assignment, name: &str) -> Option<&str> {
        let at = self.position(name)?;
        let position = *assignment.0.get(at)?;
        let value = self.0[at].values.get(usize::from(position))?;
        Some(value)
    }
}

impl Assignment {
    /// The assignment with these positions of values, a fact each.
    pub(crate) fn of_positions(positions: impl IntoIterator<Item = u8>) -> Self {
        Self(positions.into_iter().collect())
    }

    /// The position of each fact's value.
    #[must_use]
    pub fn positions(&self) -> &[u8] {
        &self.0
    }
}

/// Facts with their values, of which each stands once: with two values, neither is known.
pub(crate) fn each_once<'d, D: Deserializer<'d>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    struct Once;

    impl<'d> Visitor<'d> for Once {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object with a value for each fact")
        }

        fn visit_map<M: MapAccess<'d>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut facts = BTreeMap::new();
            while let Some((fact, value)) = map.next_entry::<String, String>()? {
                if facts.insert(fact.clone(), value).is_some() {
                    return Err(M::Error::custom(format!("the fact `{fact}` stands twice")));
                }
            }
            Ok(facts)
        }
    }

    deserializer.deserialize_map(Once)
}

/// What [`is_identifier`] takes, as a pattern.
#[cfg(feature = "schema")]
pub(crate) const IDENTIFIER: &str = "^[A-Za-z][A-Za-z0-9_]*$";

pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.bytes();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

fn check_distinct<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), FactError> {
    let mut seen = std::collections::BTreeSet::new();
    let mut names = names.into_iter();
    match names.find(|name| !seen.insert(*name)) {
        Some(twice) => Err(FactError::Duplicate(twice.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let kind = Fact::new("kind", ["file", "link"]).unwrap();
        let tracked = Fact::new("tracked", ["clean", "dirty", "none"]).unwrap();
        Facts::new([kind, tracked]).unwrap()
    }

    #[test]
    fn an_assignment_gives_every_fact_one_declared_value() {
        let facts = facts();
        let world = facts
            .assignment([("tracked", "none"), ("kind", "link")])
            .unwrap();
        assert_eq!(world.positions(), [1, 2]);
        assert_eq!(facts.value_of(&world, "tracked"), Some("none"));
        assert_eq!(facts.value_of(&world, "owner"), None);
        let refused = |values: &[(&'static str, &'static str)]| {
            facts
                .assignment(values.iter().copied())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(&[("kind", "file")]),
            "fact `tracked` has no value here"
        );
        assert_eq!(
            refused(&[("kind", "mount")]),
            "fact `kind` has no value `mount`"
        );
        assert_eq!(refused(&[("size", "file")]), "fact `size` is not declared");
        assert_eq!(
            refused(&[("kind", "file"), ("kind", "link")]),
            "`kind` stands twice"
        );
    }

    #[test]
    fn names_and_values_are_identifiers_that_differ() {
        for name in ["", "1st", "a-b", "a b", "ä", "_a"] {
            assert!(Fact::new(name, ["yes"]).is_err(), "{name}");
            assert!(Fact::new("name", [name]).is_err(), "{name}");
        }
        assert!(Fact::new("name", Vec::<String>::new()).is_err());
        assert!(Fact::new("name", (0..257).map(|value| format!("v{value}"))).is_err());
        let many = Fact::new("name", (0..256).map(|value| format!("v{value}"))).unwrap();
        assert_eq!(many.position("v255"), Some(255));
        let twice = [
            Fact::new("kind", ["a"]).unwrap(),
            Fact::new("kind", ["b"]).unwrap(),
        ];
        assert_eq!(
            Facts::new(twice),
            Err(FactError::Duplicate("kind".to_owned()))
        );
    }

    #[test]
    fn an_assignment_of_other_facts_has_no_value() {
        let facts = facts();
        assert_eq!(facts.value_of(&Assignment::of_positions([7]), "kind"), None);
        assert_eq!(
            facts.value_of(&Assignment::of_positions([0]), "tracked"),
            None
        );
    }
}
