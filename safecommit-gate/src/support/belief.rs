//! What evidence says of the values of a fact, and which of them it excludes.

use crate::fact::{Fact, Facts};
use crate::score::{ScoreTermError, Terms};

/// What is believed of one fact: for every value either what speaks against it, or the hard evidence that
/// excludes it.
///
/// Some values are *hazards*: with them an action can do harm. A hazard is proposed whether or not any evidence
/// speaks for it, unless hard evidence excludes it; that nobody thought of a link does not make the path no link.
/// Values that are neither proposed by evidence nor hazards are left out.
///
/// ```
/// use safecommit_gate::{Belief, Fact, Terms};
///
/// let kind = Fact::new("kind", ["file", "directory", "link"])?;
/// let strange = Terms { provenance_or_age: 0.8, ..Terms::NONE };
/// let belief = Belief::new(&kind, [("link", strange)])?
///     .supported("file", Terms { provenance_or_age: 0.2, ..Terms::NONE })?;
/// assert_eq!(belief.proposed().collect::<Vec<_>>(), ["file", "link"]);
/// let looked = belief.excluded("link", "a look without following links found a file")?;
/// assert_eq!(looked.proposed().collect::<Vec<_>>(), ["file"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    fact: Fact,
    /// By value; `None` for one that nobody proposed.
    standing: Vec<Option<Standing>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Standing {
    Proposed(Terms),
    Excluded(String),
}

/// Hard evidence against a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusion<'a> {
    /// The value.
    pub value: &'a str,
    /// The evidence, in words.
    pub reason: &'a str,
}

/// Why a belief is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BeliefError {
    /// A value that the fact does not have.
    #[error("fact `{fact}` has no value `{value}`")]
    UnknownValue {
        /// The fact.
        fact: String,
        /// The value.
        value: String,
    },
    /// A fact that is not declared.
    #[error("fact `{0}` is not declared")]
    UnknownFact(String),
    /// Terms that are no terms.
    #[error("fact `{fact}`, value `{value}`: {error}")]
    Terms {
        /// The fact.
        fact: String,
        /// The value.
        value: String,
        /// What is wrong.
        error: ScoreTermError,
    },
}

impl Belief {
    /// The belief before any evidence: only the hazards, each with what speaks against it.
    ///
    /// # Errors
    ///
    /// [`BeliefError`] for a value that the fact does not have, and for terms that are none.
    pub fn new<'v>(
        fact: &Fact,
        hazards: impl IntoIterator<Item = (&'v str, Terms)>,
    ) -> Result<Self, BeliefError> {
        let belief = Self {
            fact: fact.clone(),
            standing: vec![None; fact.values().len()],
        };
        hazards
            .into_iter()
            .try_fold(belief, |belief, (value, terms)| {
                belief.supported(value, terms)
            })
    }

    /// Evidence proposes the value, and so much speaks against it. The less of what was said before and this counts,
    /// by the sum of the terms; hard evidence against the value stays.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn supported(mut self, value: &str, terms: Terms) -> Result<Self, BeliefError> {
        let at = self.position(value)?;
        terms.check().map_err(|error| BeliefError::Terms {
            fact: self.fact.name().to_owned(),
            value: value.to_owned(),
            error,
        })?;
        let sum = |terms: &Terms| terms.as_array().iter().sum::<f64>();
        match &self.standing[at] {
            Some(Standing::Excluded(_)) => {}
            Some(Standing::Proposed(before)) if sum(before) <= sum(&terms) => {}
            _ => self.standing[at] = Some(Standing::Proposed(terms)),
        }
        Ok(self)
    }

    /// Hard evidence excludes the value, whatever speaks for it. The first reason stays.
    ///
    /// # Errors
    ///
    /// [`BeliefError::UnknownValue`].
    pub fn excluded(mut self, value: &str, reason: impl Into<String>) -> Result<Self, BeliefError> {
        let at = self.position(value)?;
        if !matches!(self.standing[at], Some(Standing::Excluded(_))) {
            self.standing[at] = Some(Standing::Excluded(reason.into()));
        }
        Ok(self)
    }

    /// Hard evidence excludes every value but these.
    ///
    /// # Errors
    ///
    /// [`BeliefError::UnknownValue`].
    pub fn only<'v>(
        mut self,
        values: impl IntoIterator<Item = &'v str>,
        reason: &str,
    ) -> Result<Self, BeliefError> {
        let mut kept = vec![false; self.standing.len()];
        for value in values {
            kept[self.position(value)?] = true;
        }
        for (at, kept) in kept.into_iter().enumerate() {
            if !kept {
                let value = self.fact.values()[at].clone();
                self = self.excluded(&value, reason)?;
            }
        }
        Ok(self)
    }

    /// The fact.
    #[must_use]
    pub fn fact(&self) -> &Fact {
        &self.fact
    }

    /// The proposed values, in the order of the fact.
    pub fn proposed(&self) -> impl Iterator<Item = &str> {
        self.candidates()
            .map(|(at, _)| self.fact.values()[usize::from(at)].as_str())
    }

    /// What hard evidence excludes, in the order of the fact.
    pub fn exclusions(&self) -> impl Iterator<Item = Exclusion<'_>> {
        let values = self.fact.values().iter().zip(&self.standing);
        values.filter_map(|(value, standing)| match standing {
            Some(Standing::Excluded(reason)) => Some(Exclusion { value, reason }),
            _ => None,
        })
    }

    /// The proposed values by position, with their terms.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (u8, Terms)> {
        let standing = (0..=u8::MAX).zip(&self.standing);
        standing.filter_map(|(at, standing)| match standing {
            Some(Standing::Proposed(terms)) => Some((at, *terms)),
            _ => None,
        })
    }

    fn position(&self, value: &str) -> Result<usize, BeliefError> {
        let position = self.fact.values().iter().position(|known| known == value);
        position.ok_or_else(|| BeliefError::UnknownValue {
            fact: self.fact.name().to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Values of two facts that cannot be together, such as a missing path that is tracked: worlds with both are
/// removed as contradictions before any score counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impossible {
    pub(super) one: (usize, u8),
    pub(super) other: (usize, u8),
}

impl Impossible {
    /// These two values never hold together.
    ///
    /// # Errors
    ///
    /// [`BeliefError`] for a fact or value that is not declared.
    pub fn new(facts: &Facts, one: (&str, &str), other: (&str, &str)) -> Result<Self, BeliefError> {
        let find = |(name, value): (&str, &str)| {
            let at = facts.position(name);
            let at = at.ok_or_else(|| BeliefError::UnknownFact(name.to_owned()))?;
            let values = facts.as_slice()[at].values();
            let position = values.iter().position(|known| known == value);
            let position = position.and_then(|position| u8::try_from(position).ok());
            let position = position.ok_or_else(|| BeliefError::UnknownValue {
                fact: name.to_owned(),
                value: value.to_owned(),
            })?;
            Ok((at, position))
        };
        Ok(Self {
            one: find(one)?,
            other: find(other)?,
        })
    }
}
