//! What is the matter with evidence of a decision, to be named where it is weighed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;

use super::field::shown_up_to;
use super::{Alternative, EvidenceRecord, EvidenceSet, ImpossibleTime};

/// Records that cannot be right, or not all of them. They stop nothing by themselves: a contradiction becomes several worlds, and
/// a record with an impossible time speaks for none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inconsistency {
    /// Records give one attribute several values, and none of these has been overtaken
    /// ([`ClaimedValues`](super::ClaimedValues)).
    Contradiction {
        /// What they are about. A path that is written in several ways is one.
        entity: String,
        /// The attribute.
        attribute: String,
        /// The values with the records that claim them, by value.
        alternatives: Vec<Alternative>,
    },
    /// A record names a time that cannot be.
    ImpossibleTime(ImpossibleTime),
}

/// How far a record concerns a decision.
pub(crate) enum Concern {
    /// Only by when what it says was so.
    Time,
    /// By what it says, of an entity that is called so.
    Claim(String),
}

/// So many records, and characters of a text, are shown in a sentence.
const SHOWN: usize = 16;
const SHOWN_CHARACTERS: usize = 128;

impl Inconsistency {
    /// The ids of the records, sorted.
    #[must_use]
    pub fn records(&self) -> Vec<&str> {
        let ids: BTreeSet<&str> = match self {
            Self::Contradiction { alternatives, .. } => alternatives
                .iter()
                .flat_map(|alternative| &alternative.records)
                .map(String::as_str)
                .collect(),
            Self::ImpossibleTime(time) => [time.id()].into(),
        };
        ids.into_iter().collect()
    }

    /// What is the matter, as a fixed word for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Contradiction { .. } => "contradiction",
            Self::ImpossibleTime(time) => match time {
                ImpossibleTime::ObservedAfterRecorded { .. } => "observed_after_recorded",
                ImpossibleTime::ObservedInTheFuture { .. } => "observed_in_the_future",
                ImpossibleTime::RecordedInTheFuture { .. } => "recorded_in_the_future",
                ImpossibleTime::RecordedBeforeAncestor { .. } => "recorded_before_ancestor",
            },
        }
    }
}

/// In a sentence, in which long texts and lists are cut.
impl fmt::Display for Inconsistency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (entity, attribute, alternatives) = match self {
            Self::ImpossibleTime(time) => return write!(out, "{time}"),
            Self::Contradiction {
                entity,
                attribute,
                alternatives,
            } => (
                shown_up_to(SHOWN_CHARACTERS, entity),
                attribute,
                alternatives,
            ),
        };
        write!(
            out,
            "evidence contradicts itself on `{attribute}` of `{entity}`: "
        )?;
        let values: Vec<String> = alternatives
            .iter()
            .take(SHOWN)
            .map(|alternative| {
                let records = &alternative.records;
                let shown = records.iter().take(SHOWN).map(|id| format!("`{id}`"));
                let shown = shown.collect::<Vec<_>>().join(", ");
                let more = and_more(records.len());
                format!(
                    "`{}` by {shown}{more}",
                    shown_up_to(SHOWN_CHARACTERS, &alternative.value)
                )
            })
            .collect();
        write!(out, "{}{}", values.join("; "), and_more(alternatives.len()))
    }
}

fn and_more(all: usize) -> String {
    match all.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

impl EvidenceSet {
    /// What is the matter, in a decision that is made at `now`, with the records that concern it: contradictions by entity
    /// and attribute, then impossible times by record. A pass over the records, and more only where records of one attribute
    /// differ.
    pub(crate) fn inconsistencies(
        &self,
        now: Timestamp,
        concern: impl Fn(&EvidenceRecord) -> Option<Concern>,
    ) -> Vec<Inconsistency> {
        let mut times = Vec::new();
        let mut claims: BTreeMap<(String, &str), Vec<&EvidenceRecord>> = BTreeMap::new();
        for record in self.records() {
            let Some(concern) = concern(record) else {
                continue;
            };
            let impossible = self.impossible_times_of(record, now);
            times.extend(impossible.map(Inconsistency::ImpossibleTime));
            if let Concern::Claim(entity) = concern {
                let claimed = claims.entry((entity, record.proposition().attribute()));
                claimed.or_default().push(record);
            }
        }
        let contradictions = claims
            .into_iter()
            .filter_map(|((entity, attribute), records)| {
                let alternatives = self.alternatives_of(&records, now);
                (alternatives.len() > 1).then(|| Inconsistency::Contradiction {
                    entity,
                    attribute: attribute.to_owned(),
                    alternatives,
                })
            });
        contradictions.chain(times).collect()
    }

    /// The values that records of one attribute leave standing. Those of each spelling of the entity overtake each other, as
    /// they do where they are weighed.
    fn alternatives_of(&self, records: &[&EvidenceRecord], now: Timestamp) -> Vec<Alternative> {
        let value = |record: &EvidenceRecord| record.proposition().value().to_owned();
        let one = records.windows(2).all(|two| value(two[0]) == value(two[1]));
        if one {
            return Vec::new();
        }
        let mut spelled: BTreeMap<&str, Vec<&EvidenceRecord>> = BTreeMap::new();
        for record in records {
            let spelling = spelled.entry(record.proposition().entity());
            spelling.or_default().push(record);
        }
        let mut by_value: BTreeMap<String, Alternative> = BTreeMap::new();
        let claimed = spelled.values();
        for alternative in claimed
            .filter_map(|records| self.claimed_by(records, now))
            .flat_map(|claimed| claimed.alternatives)
        {
            match by_value.get_mut(&alternative.value) {
                None => {
                    by_value.insert(alternative.value.clone(), alternative);
                }
                Some(known) => {
                    known.trust = known.trust.max(alternative.trust);
                    known.records.extend(alternative.records);
                    known.records.sort_unstable();
                }
            }
        }
        by_value.into_values().collect()
    }
}
