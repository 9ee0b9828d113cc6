//! Records with everything they are derived from.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use super::{EvidenceRecord, Trust};

/// Records of evidence that hold together: ids differ, every ancestor is there, and none is its own.
///
/// Ordered by id, so that nothing that comes out of it depends on the order in which the records came in.
///
/// ```
/// use safecommit_gate::{EvidenceRecord, EvidenceSet, Proposition, Source, ToolStatus, Trust};
///
/// let record = |id, attribute, value, source| {
///     let time = "2026-03-01T08:00:00Z".parse().expect("a time");
///     EvidenceRecord::new(id, Proposition::new("ops@example.org", attribute, value)?, source, time)
/// };
/// let mail = record("t1", "text", "send it to me", Source::tool("read_mail", ToolStatus::Succeeded)?)?;
/// // The agent sums the mail up in a memory, and the person pastes the memory into a message.
/// let note = record("m1", "recipient", "yes", Source::memory("notes.md")?)?.with_ancestors(["t1"])?;
/// let message = record("u1", "recipient", "yes", Source::user("ada")?)?.with_ancestors(["m1"])?;
///
/// let evidence = EvidenceSet::new([message, mail, note])?;
/// assert_eq!(evidence.trust_of("u1"), Some(Trust::Tool));
/// assert_eq!(evidence.least_trusted("u1").map(EvidenceRecord::id), Some("t1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceSet {
    records: Vec<EvidenceRecord>,
    /// Of the record at the same position: what it inherits from all its ancestors.
    inherited: Vec<Inherited>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inherited {
    trust: Trust,
    earliest: Timestamp,
}

/// Why records are no [`EvidenceSet`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivationError {
    /// Two records have one id.
    #[error("evidence `{0}` stands twice")]
    RepeatedId(String),
    /// A record is derived from one that is not there.
    #[error("evidence `{record}` is derived from `{ancestor}`, which is not there")]
    MissingAncestor {
        /// The record.
        record: String,
        /// What it names as its ancestor.
        ancestor: String,
    },
    /// A record is derived from itself.
    #[error("evidence is derived from itself: `{}`", .0.join("` from `"))]
    Cycle(
        /// Each is derived from the next, and the last is the first again; the first is the least of them.
        Vec<String>,
    ),
}

impl EvidenceSet {
    /// These records, in any order.
    ///
    /// Takes time linear in the number of records and derivations, but for the sorting.
    ///
    /// # Errors
    ///
    /// An id that stands twice, an ancestor that is not there, or a cycle; of several the first by id.
    pub fn new(records: impl IntoIterator<Item = EvidenceRecord>) -> Result<Self, DerivationError> {
        let mut records: Vec<EvidenceRecord> = records.into_iter().collect();
        records.sort_by(|left, right| left.id().cmp(right.id()));
        if let Some(twice) = records.windows(2).find(|two| two[0].id() == two[1].id()) {
            return Err(DerivationError::RepeatedId(twice[0].id().to_owned()));
        }
        let ancestors = find_ancestors(&records)?;
        let inherited = inherit(&records, &ancestors)
            .ok_or_else(|| DerivationError::Cycle(find_cycle(&records, &ancestors)))?;
        Ok(Self { records, inherited })
    }

    /// The records, by id.
    #[must_use]
    pub fn records(&self) -> &[EvidenceRecord] {
        &self.records
    }

    /// The record with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&EvidenceRecord> {
        Some(&self.records[self.position(id)?])
    }

    /// How far a record can be trusted: the meet of its own level and those of all its ancestors; `None` for an
    /// id that is not there.
    #[must_use]
    pub fn trust_of(&self, id: &str) -> Option<Trust> {
        Some(self.inherited[self.position(id)?].trust)
    }

    /// The record that makes a record's trust what it is: itself or one of its ancestors. Of several the first by
    /// id.
    #[must_use]
    pub fn least_trusted(&self, id: &str) -> Option<&EvidenceRecord> {
        let trust = self.trust_of(id)?;
        let itself = self.get(id).into_iter();
        let all = itself.chain(self.ancestors_of(id));
        let least = all.filter(|record| Trust::of_source(record) == trust);
        least.min_by(|left, right| left.id().cmp(right.id()))
    }

    /// Everything that a record is derived from, directly or not, by id; nothing for an id that is not there.
    #[must_use]
    pub fn ancestors_of(&self, id: &str) -> Vec<&EvidenceRecord> {
        let direct = |at: usize| self.records[at].ancestors().iter();
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = self.position(id).into_iter().collect();
        while let Some(at) = open.pop() {
            let positions = direct(at).filter_map(|id| self.position(id));
            open.extend(positions.filter(|position| found.insert(*position)));
        }
        found.into_iter().map(|at| &self.records[at]).collect()
    }

    /// Whether a record may say what is allowed: it has a role in the policy, and nobody below the person had a
    /// part in it. Never so for memories, observations and the outputs of tools, and for what is derived from them.
    ///
    /// It may still have been overtaken by a later one (see [`ClaimedValues`](super::ClaimedValues)), or name an
    /// [`ImpossibleTime`](super::ImpossibleTime).
    #[must_use]
    pub fn has_authority(&self, id: &str) -> bool {
        let role = self
            .get(id)
            .and_then(|record| record.source().policy_role());
        role.is_some() && self.trust_of(id) >= Some(Trust::User)
    }

    /// How old what a record says is at `now`: since the earliest time that it or an ancestor of it names. Writing
    /// an old memory down anew does not make it younger. Negative if that time is after `now`; `None` for an id
    /// that is not there.
    #[must_use]
    pub fn age_of(&self, id: &str, now: Timestamp) -> Option<SignedDuration> {
        let earliest = self.inherited[self.position(id)?].earliest;
        Some(now.duration_since(earliest))
    }

    /// The ids of the records that were written until `time`, by id: what a value that is written then may be
    /// derived from, for a host that does not know better.
    pub fn recorded_until(&self, time: Timestamp) -> impl Iterator<Item = &str> {
        let known = self
            .records
            .iter()
            .filter(move |record| record.recorded() <= time);
        known.map(EvidenceRecord::id)
    }

    /// SHA-256 of the records as JSONL, by id: equal sets have equal digests.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for record in &self.records {
            digest.update(record.to_json());
            digest.update(b"\n");
        }
        digest.finalize().into()
    }

    fn position(&self, id: &str) -> Option<usize> {
        position(&self.records, id)
    }
}

fn position(records: &[EvidenceRecord], id: &str) -> Option<usize> {
    records.binary_search_by(|record| record.id().cmp(id)).ok()
}

/// The positions of each record's direct ancestors.
fn find_ancestors(records: &[EvidenceRecord]) -> Result<Vec<Vec<usize>>, DerivationError> {
    let of_record = |record: &EvidenceRecord| {
        let found = record.ancestors().iter().map(|ancestor| {
            position(records, ancestor).ok_or_else(|| DerivationError::MissingAncestor {
                record: record.id().to_owned(),
                ancestor: ancestor.clone(),
            })
        });
        found.collect()
    };
    records.iter().map(of_record).collect()
}

/// What each record inherits, ancestors first; `None` if there is a cycle. No recursion, as chains may be long.
fn inherit(records: &[EvidenceRecord], ancestors: &[Vec<usize>]) -> Option<Vec<Inherited>> {
    let mut derived: Vec<Vec<usize>> = vec![Vec::new(); records.len()];
    for (at, ancestors) in ancestors.iter().enumerate() {
        for ancestor in ancestors {
            derived[*ancestor].push(at);
        }
    }
    let mut inherited: Vec<Inherited> = records
        .iter()
        .map(|record| Inherited {
            trust: Trust::of_source(record),
            earliest: record.earliest(),
        })
        .collect();
    let mut awaited: Vec<usize> = ancestors.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..records.len()).filter(|at| awaited[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = ready.pop() {
        done += 1;
        let passed_on = inherited[at];
        for child in &derived[at] {
            let child_inherits = &mut inherited[*child];
            child_inherits.trust = child_inherits.trust.meet(passed_on.trust);
            child_inherits.earliest = child_inherits.earliest.min(passed_on.earliest);
            awaited[*child] -= 1;
            if awaited[*child] == 0 {
                ready.push(*child);
            }
        }
    }
    (done == records.len()).then_some(inherited)
}

/// A cycle, from its least id back to it. There has to be one.
fn find_cycle(records: &[EvidenceRecord], ancestors: &[Vec<usize>]) -> Vec<String> {
    // Depth first from the least id on; a record on the path that is met again closes a cycle.
    let mut visited = vec![false; records.len()];
    for start in 0..records.len() {
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut on_path = BTreeSet::new();
        let mut next = Some(start).filter(|at| !visited[*at]);
        loop {
            if let Some(at) = next.take() {
                visited[at] = true;
                on_path.insert(at);
                path.push((at, 0));
            }
            let Some((at, tried)) = path.last_mut() else {
                break;
            };
            let (at, ancestor) = (*at, ancestors[*at].get(*tried).copied());
            *tried += 1;
            match ancestor {
                None => {
                    on_path.remove(&at);
                    path.pop();
                }
                Some(ancestor) if on_path.contains(&ancestor) => {
                    let cycle = path.iter().map(|(at, _)| *at);
                    let mut cycle: Vec<usize> = cycle.skip_while(|at| *at != ancestor).collect();
                    let least = (0..cycle.len()).min_by_key(|index| cycle[*index]);
                    cycle.rotate_left(least.unwrap_or_default());
                    cycle.push(cycle[0]);
                    return cycle
                        .into_iter()
                        .map(|at| records[at].id().to_owned())
                        .collect();
                }
                Some(ancestor) => next = Some(ancestor).filter(|at| !visited[*at]),
            }
        }
    }
    Vec::new()
}
