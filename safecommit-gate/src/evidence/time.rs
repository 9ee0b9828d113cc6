//! Times that cannot be.

use jiff::Timestamp;

use super::{EvidenceRecord, EvidenceSet};

/// A time of a record that cannot be. Hard evidence against the record: no world may rest on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpossibleTime {
    /// It was written down before it was seen.
    #[error("evidence `{id}` was observed at {observed}, after it was recorded at {recorded}")]
    ObservedAfterRecorded {
        /// The record.
        id: String,
        /// When it is said to have been observed.
        observed: Timestamp,
        /// When it is said to have been recorded.
        recorded: Timestamp,
    },
    /// It was seen in the future of the decision.
    #[error("evidence `{id}` was observed at {observed}, in the future of {now}")]
    ObservedInTheFuture {
        /// The record.
        id: String,
        /// When it is said to have been observed.
        observed: Timestamp,
        /// The time of the decision.
        now: Timestamp,
    },
    /// It was written down in the future of the decision.
    #[error("evidence `{id}` was recorded at {recorded}, in the future of {now}")]
    RecordedInTheFuture {
        /// The record.
        id: String,
        /// When it is said to have been recorded.
        recorded: Timestamp,
        /// The time of the decision.
        now: Timestamp,
    },
    /// It was written down before what it is derived from was there.
    #[error(
        "evidence `{id}` was recorded at {recorded}, before what it is derived from: `{ancestor}` is of {earliest}"
    )]
    RecordedBeforeAncestor {
        /// The record.
        id: String,
        /// When it is said to have been recorded.
        recorded: Timestamp,
        /// The ancestor.
        ancestor: String,
        /// The earliest time that the ancestor names.
        earliest: Timestamp,
    },
}

impl EvidenceSet {
    /// Every time of a record that cannot be in a decision that is made at `now`, by id of the record.
    ///
    /// Times are compared as they stand. Where the clocks of the sources and of the caller differ, the caller
    /// gives a `now` that is later by as much as they may.
    ///
    /// ```
    /// use safecommit_gate::{EvidenceRecord, EvidenceSet, Proposition, Source};
    ///
    /// let record = EvidenceRecord::new(
    ///     "m1",
    ///     Proposition::new("run/latest", "disposable", "yes")?,
    ///     Source::memory("notes.md")?,
    ///     "2026-03-01T08:00:00Z".parse()?,
    /// )?;
    /// let evidence = EvidenceSet::new([record.with_observed("2026-03-01T09:00:00Z".parse()?)])?;
    /// let found = evidence.impossible_times("2026-03-02T00:00:00Z".parse()?);
    /// assert_eq!(
    ///     found[0].to_string(),
    ///     "evidence `m1` was observed at 2026-03-01T09:00:00Z, after it was recorded at 2026-03-01T08:00:00Z"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn impossible_times(&self, now: Timestamp) -> Vec<ImpossibleTime> {
        let records = self.records().iter();
        records
            .flat_map(|record| self.impossible_times_of(record, now))
            .collect()
    }

    /// Those of one record of this set.
    pub(super) fn impossible_times_of<'s>(
        &'s self,
        record: &'s EvidenceRecord,
        now: Timestamp,
    ) -> impl Iterator<Item = ImpossibleTime> + 's {
        let id = move || record.id().to_owned();
        let recorded = record.recorded();
        let observed = record.observed().into_iter().flat_map(move |observed| {
            let after = (observed > recorded).then(|| ImpossibleTime::ObservedAfterRecorded {
                id: id(),
                observed,
                recorded,
            });
            let future = (observed > now).then(|| ImpossibleTime::ObservedInTheFuture {
                id: id(),
                observed,
                now,
            });
            after.into_iter().chain(future)
        });
        let future = (recorded > now).then(|| ImpossibleTime::RecordedInTheFuture {
            id: id(),
            recorded,
            now,
        });
        let ancestors = record.ancestors().iter().filter_map(|id| self.get(id));
        let before = ancestors.filter(move |ancestor| recorded < ancestor.earliest());
        let before = before.map(move |ancestor| ImpossibleTime::RecordedBeforeAncestor {
            id: id(),
            recorded,
            ancestor: ancestor.id().to_owned(),
            earliest: ancestor.earliest(),
        });
        observed.chain(future).chain(before)
    }
}

impl ImpossibleTime {
    /// The id of the record.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::ObservedAfterRecorded { id, .. }
            | Self::ObservedInTheFuture { id, .. }
            | Self::RecordedInTheFuture { id, .. }
            | Self::RecordedBeforeAncestor { id, .. } => id,
        }
    }
}
