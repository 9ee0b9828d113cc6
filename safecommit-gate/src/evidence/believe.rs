//! From claims to what speaks against each value of a fact.

use jiff::Timestamp;

use super::{Alternative, EvidenceSet, Trust};
use crate::fact::Fact;
use crate::score::Terms;
use crate::support::{Belief, BeliefError};

/// How evidence becomes the terms of the score (Eq. 9 of Akewar and Ranjan, arXiv:2608.04289).
///
/// Every value of a fact is proposed; evidence only says how strange each is.
///
/// | term | what it is |
/// |---|---|
/// | provenance or age | of a claimed value 0 to 0.4 by the trust of whoever claims it (policy and user 0, observation 0.05, memory 0.2, tool 0.3, unknown 0.4), and up to 0.3 by age; of one that nobody claims 0.5, and 0.8 for a hazard |
/// | inconsistency | 0.3 if the person claims another value |
/// | tool disagreement | 0.5 if an observation gives another value |
/// | policy incompatibility | 0.5 if the policy in force states another value |
///
/// Age adds `0.3 age / (age + half_life)`. Of several records that claim a value the one counts that speaks for it most.
///
/// The score of a world is taken relative to the best one, so a value grows stranger as others grow likelier. What is less
/// trusted than an observation can therefore make a hazard likelier and nothing else: a memory or the output of a tool adds
/// explanations, and removes none. So nobody who writes into files, pages or memories can hide a hazard by it.
/// Terms are multiples of a millionth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeliefRule {
    half_life: f64,
}

/// A half life that is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the half life is `{0}` days, which is not finite and above 0")]
pub struct HalfLifeError(f64);

/// What may be said of the values of one fact.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The names that evidence has for what the fact is about.
    pub entities: &'a [&'a str],
    /// The attribute that evidence states, which is the fact's name unless there are several things of one kind.
    pub attribute: &'a str,
    /// The values with which an action can do harm.
    pub hazards: &'a [&'a str],
}

impl BeliefRule {
    /// Age counts half of what it can count after so many days: finite, above zero.
    ///
    /// # Errors
    ///
    /// [`HalfLifeError`].
    pub fn with_half_life(days: f64) -> Result<Self, HalfLifeError> {
        if days.is_finite() && days > 0.0 {
            Ok(Self { half_life: days })
        } else {
            Err(HalfLifeError(days))
        }
    }

    /// The half life in days.
    #[must_use]
    pub fn half_life(&self) -> f64 {
        self.half_life
    }

    /// What the evidence says of a fact at `now`.
    ///
    /// ```
    /// use safecommit_gate::{About, BeliefRule, EvidenceRecord, EvidenceSet, Fact, Proposition, Source};
    ///
    /// let kind = Fact::new("kind", ["directory", "link"])?;
    /// let about = About { entities: &["run/latest"], attribute: "kind", hazards: &["link"] };
    /// let now = "2026-03-01T12:00:00Z".parse()?;
    /// let note = EvidenceRecord::new(
    ///     "m1", Proposition::new("run/latest", "kind", "directory")?, Source::memory("notes.md")?, now,
    /// )?;
    /// let belief = BeliefRule::default().believe(&kind, &about, &EvidenceSet::new([note])?, now)?;
    /// assert_eq!(belief.proposed().collect::<Vec<_>>(), ["directory", "link"]); // a memory excludes nothing
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BeliefError`] for a hazard that is no value of the fact.
    pub fn believe(
        &self,
        fact: &Fact,
        about: &About<'_>,
        evidence: &EvidenceSet,
        now: Timestamp,
    ) -> Result<Belief, BeliefError> {
        let mut belief = Belief::new(fact, [])?;
        for hazard in about.hazards {
            if !fact.values().iter().any(|value| value == hazard) {
                return Err(BeliefError::UnknownValue {
                    fact: fact.name().to_owned(),
                    value: (*hazard).to_owned(),
                });
            }
        }
        let entities = about.entities.iter();
        let claims: Vec<Alternative> = entities
            .filter_map(|entity| evidence.values_of(entity, about.attribute, now))
            .flat_map(|claimed| claimed.alternatives)
            .collect();
        for value in fact.values() {
            let (own, against): (Vec<_>, Vec<_>) =
                claims.iter().partition(|claim| claim.value == *value);
            let unclaimed = if about.hazards.contains(&value.as_str()) {
                0.8
            } else {
                0.5
            };
            // Whoever can write memories must not make a hazard stranger by making the rest likelier.
            let hazard = about.hazards.contains(&value.as_str());
            let counts = |id: &&String| hazard || evidence.trust_of(id) >= Some(Trust::Observation);
            let claimed = own.iter().flat_map(|claim| &claim.records).filter(counts);
            let claimed = claimed.map(|id| self.strangeness(evidence, id, now));
            let contradicts = |level: Trust, amount: f64| {
                let mut records = against.iter().flat_map(|claim| &claim.records);
                let any = records.any(|id| {
                    evidence.trust_of(id) == Some(level) && is_possible(evidence, id, now)
                });
                if any { amount } else { 0.0 }
            };
            belief = belief.supported(
                value,
                Terms {
                    provenance_or_age: claimed.fold(unclaimed, f64::min),
                    inconsistency: contradicts(Trust::User, 0.3),
                    tool_disagreement: contradicts(Trust::Observation, 0.5),
                    policy_incompatibility: contradicts(Trust::Policy, 0.5),
                },
            )?;
        }
        Ok(belief)
    }

    /// What speaks against a value that a record claims. One with an impossible time speaks for nothing.
    fn strangeness(&self, evidence: &EvidenceSet, id: &str, now: Timestamp) -> f64 {
        let Some(trust) = evidence.trust_of(id) else {
            return f64::INFINITY;
        };
        if !is_possible(evidence, id, now) {
            return f64::INFINITY;
        }
        let distrust = match trust {
            Trust::Policy | Trust::User => 0.0,
            Trust::Observation => 0.05,
            Trust::Memory => 0.2,
            Trust::Tool => 0.3,
            Trust::Unknown => 0.4,
        };
        let age = evidence
            .age_of(id, now)
            .map_or(f64::INFINITY, |age| age.as_secs_f64() / 86_400.0);
        let old = if age.is_finite() {
            let age = age.max(0.0);
            0.3 * age / (age + self.half_life)
        } else {
            0.3
        };
        ((distrust + old) * 1e6).round() / 1e6
    }
}

/// Whether no time of a record is impossible.
pub(crate) fn is_possible(evidence: &EvidenceSet, id: &str, now: Timestamp) -> bool {
    let mut record = evidence.get(id).into_iter();
    record.all(|record| evidence.impossible_times_of(record, now).next().is_none())
}

/// Thirty days.
impl Default for BeliefRule {
    fn default() -> Self {
        Self { half_life: 30.0 }
    }
}
