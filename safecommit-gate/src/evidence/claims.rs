//! What the evidence says about one attribute, and where it contradicts itself.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{EvidenceRecord, EvidenceSet, PolicyRole, SourceKind, Trust};
use crate::Fact;

/// The values that records claim for one attribute of one entity.
///
/// Records that give different values contradict each other. A contradiction is resolved in two cases only,
/// in which a record is *overtaken*:
///
/// - A record without a role in the policy is overtaken by an observation that has the trust of an observation
///   (so nothing less trusted had a part in it) and was observed after the record was written.
/// - What a user or a policy says is overtaken by what the same one says later in the same role, if nothing less
///   trusted had a part in that. "Later": observed, or else recorded, after the other was recorded.
///
/// A record with an [`ImpossibleTime`](super::ImpossibleTime) overtakes nothing. A value is superseded if all
/// records that claim it are overtaken; every other value is an alternative, and there is at least one. Memories and
/// the outputs of tools overtake nothing, however new they are: where they contradict anything, worlds differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedValues {
    /// The entity.
    pub entity: String,
    /// The attribute.
    pub attribute: String,
    /// The values that stand against each other, by value.
    pub alternatives: Vec<Alternative>,
    /// The values that have been overtaken, by value.
    pub superseded: Vec<Alternative>,
}

/// One of the values that are claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The value.
    pub value: String,
    /// The ids of all the records that claim it, sorted.
    pub records: Vec<String>,
    /// The highest trust among them.
    pub trust: Trust,
}

/// What the evidence says about a fact: see [`EvidenceSet::alternatives_of_fact`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactAlternatives {
    /// The positions, in the fact, of the values that stand against each other, ascending.
    pub positions: Vec<usize>,
    /// The values that stand against them and that the fact does not have, by value.
    pub undeclared: Vec<Alternative>,
}

impl ClaimedValues {
    /// Whether one value is left.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.alternatives.len() == 1
    }
}

impl EvidenceSet {
    /// Everything that is claimed in a decision that is made at `now`, by entity and attribute.
    #[must_use]
    pub fn claimed_values(&self, now: Timestamp) -> Vec<ClaimedValues> {
        let mut groups: BTreeMap<(&str, &str), Vec<&EvidenceRecord>> = BTreeMap::new();
        for record in self.records() {
            let said = record.proposition();
            let group = groups.entry((said.entity(), said.attribute()));
            group.or_default().push(record);
        }
        let groups = groups.values();
        groups
            .filter_map(|records| self.claimed_by(records, now))
            .collect()
    }

    /// Where the evidence contradicts itself in a decision that is made at `now`: everything with more than one
    /// claimed value, resolved or not, by entity and attribute. An unresolved one has to become several worlds.
    ///
    /// ```
    /// use safecommit_gate::{EvidenceRecord, EvidenceSet, Proposition, Source};
    ///
    /// let record = |id, value, source, time: &str| {
    ///     let proposition = Proposition::new("run/latest", "kind", value)?;
    ///     EvidenceRecord::new(id, proposition, source, time.parse().expect("a time"))
    /// };
    /// let note = record("m1", "directory", Source::memory("notes.md")?, "2026-03-01T08:00:00Z")?;
    /// let other = record("m2", "link", Source::memory("plan.md")?, "2026-03-01T09:00:00Z")?;
    /// let stat = record("o1", "link", Source::observation("stat")?, "2026-03-01T10:00:00Z")?
    ///     .with_observed("2026-03-01T10:00:00Z".parse()?);
    /// let now = "2026-03-01T10:00:01Z".parse()?;
    ///
    /// // Two memories: both values remain, and there have to be worlds of both.
    /// let found = EvidenceSet::new([note.clone(), other.clone()])?.contradictions(now);
    /// assert_eq!((found[0].alternatives.len(), found[0].is_resolved()), (2, false));
    /// // A later look at the entity itself leaves one.
    /// let found = EvidenceSet::new([note, other, stat])?.contradictions(now);
    /// assert_eq!((found[0].alternatives[0].value.as_str(), found[0].is_resolved()), ("link", true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contradictions(&self, now: Timestamp) -> Vec<ClaimedValues> {
        let mut claimed = self.claimed_values(now);
        claimed.retain(|claimed| claimed.alternatives.len() + claimed.superseded.len() > 1);
        claimed
    }

    /// What is claimed for one attribute of one entity in a decision that is made at `now`; `None` if nothing is.
    #[must_use]
    pub fn values_of(
        &self,
        entity: &str,
        attribute: &str,
        now: Timestamp,
    ) -> Option<ClaimedValues> {
        let records = self.records().iter().filter(|record| {
            let said = record.proposition();
            said.entity() == entity && said.attribute() == attribute
        });
        self.claimed_by(&records.collect::<Vec<_>>(), now)
    }

    /// The alternative values of a fact of an entity in a decision that is made at `now`: those claimed for the
    /// attribute of the fact's name, without the superseded ones.
    ///
    /// That a value is claimed is a reason to have worlds with it. That it is not is no reason to have none: the
    /// values that are dangerous belong to every support unless hard evidence excludes them.
    #[must_use]
    pub fn alternatives_of_fact(
        &self,
        entity: &str,
        fact: &Fact,
        now: Timestamp,
    ) -> FactAlternatives {
        let mut of_fact = FactAlternatives::default();
        let claimed = self.values_of(entity, fact.name(), now);
        for alternative in claimed
            .map(|claimed| claimed.alternatives)
            .unwrap_or_default()
        {
            let mut values = fact.values().iter();
            match values.position(|value| *value == alternative.value) {
                Some(position) => of_fact.positions.push(position),
                None => of_fact.undeclared.push(alternative),
            }
        }
        of_fact.positions.sort_unstable();
        of_fact
    }

    /// What these records of one entity and attribute claim; `None` for none.
    pub(super) fn claimed_by(
        &self,
        records: &[&EvidenceRecord],
        now: Timestamp,
    ) -> Option<ClaimedValues> {
        let said = records.first()?.proposition();
        let latest = self.latest(records, now);
        let mut values: BTreeMap<&str, (Alternative, bool)> = BTreeMap::new();
        for record in records {
            let value = record.proposition().value();
            let trust = self.trust_of(record.id()).unwrap_or(Trust::Unknown);
            let (alternative, stands) = values.entry(value).or_insert_with(|| {
                let alternative = Alternative {
                    value: value.to_owned(),
                    records: Vec::new(),
                    trust,
                };
                (alternative, false)
            });
            alternative.records.push(record.id().to_owned());
            alternative.trust = alternative.trust.max(trust);
            *stands |= !latest.overtakes(record);
        }
        let (alternatives, superseded): (Vec<_>, Vec<_>) =
            values.into_values().partition(|(_, stands)| *stands);
        let without_mark = |marked: Vec<(Alternative, bool)>| {
            marked.into_iter().map(|(alternative, _)| alternative)
        };
        Some(ClaimedValues {
            entity: said.entity().to_owned(),
            attribute: said.attribute().to_owned(),
            alternatives: without_mark(alternatives).collect(),
            superseded: without_mark(superseded).collect(),
        })
    }

    fn latest<'r>(&self, records: &[&'r EvidenceRecord], now: Timestamp) -> Latest<'r> {
        let mut latest = Latest::default();
        for record in records {
            let source = record.source();
            let level = Trust::of_source(record);
            if self.trust_of(record.id()) != Some(level)
                || self.impossible_times_of(record, now).next().is_some()
            {
                continue;
            }
            match source.kind() {
                SourceKind::Observation => {
                    latest.observation = latest.observation.max(record.observed());
                }
                SourceKind::User | SourceKind::Policy => {
                    let said = Some(record.observed().unwrap_or(record.recorded()));
                    let before = latest.statements.entry(Speaker::of(record)).or_default();
                    *before = said.max(*before);
                }
                SourceKind::Memory | SourceKind::Tool => {}
            }
        }
        latest
    }
}

/// The times of the latest records that can overtake others.
#[derive(Default)]
struct Latest<'r> {
    observation: Option<Timestamp>,
    statements: BTreeMap<Speaker<'r>, Option<Timestamp>>,
}

/// A source in one role.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Speaker<'r>(SourceKind, &'r str, Option<PolicyRole>);

impl<'r> Speaker<'r> {
    fn of(record: &'r EvidenceRecord) -> Self {
        let source = record.source();
        Self(source.kind(), source.name(), source.policy_role())
    }
}

impl Latest<'_> {
    /// Whether one of them is later than the record. What overtakes was itself recorded no earlier than it was
    /// observed, so the one that was recorded last is never overtaken.
    fn overtakes(&self, record: &EvidenceRecord) -> bool {
        let recorded = Some(record.recorded());
        let looked_at = record.source().policy_role().is_none() && self.observation > recorded;
        let said_anew = self.statements.get(&Speaker::of(record));
        looked_at || said_anew.is_some_and(|said| *said > recorded)
    }
}
