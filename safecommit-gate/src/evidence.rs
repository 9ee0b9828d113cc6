//! Evidence: what was said about an entity, by whom, derived from what, and when.

mod believe;
mod claims;
mod field;
mod inconsistency;
mod json;
mod jsonl;
mod set;
mod source;
mod store;
mod time;
mod trust;

use jiff::Timestamp;

pub(crate) use believe::is_possible;
pub use believe::{About, BeliefRule, HalfLifeError};
pub use claims::{Alternative, ClaimedValues, FactAlternatives};
pub use field::{FieldProblem, RecordFieldError};
#[cfg(target_os = "linux")]
pub(crate) use inconsistency::Concern;
pub use inconsistency::Inconsistency;
pub use json::RecordJsonError;
pub use jsonl::{
    EvidenceFileError, EvidenceLineProblem, EvidenceReader, MAX_EVIDENCE_LINE_BYTES, read_evidence,
    write_evidence,
};
pub use set::{DerivationError, EvidenceSet};
pub use source::{PolicyRole, Source, SourceKind, ToolStatus};
pub use store::{EvidenceStore, EvidenceStoreError};
pub use time::ImpossibleTime;
pub use trust::Trust;

use field::{check_label, check_text};

/// The most bytes in an id, an attribute or the name of a source.
pub const MAX_LABEL_BYTES: usize = 256;

/// The most bytes in an entity or a value.
pub const MAX_TEXT_BYTES: usize = 65_536;

/// The most records that one record is derived from directly.
pub const MAX_ANCESTORS: usize = 1024;

/// One piece of evidence: a source said, at a time, that an attribute of an entity has a value.
///
/// A record is a claim, not the truth. It does not change once it is made, and other records refer to it by its
/// id alone: what a value was derived from is a matter of ids, so that no paraphrase, encoding or concatenation
/// of the text can hide it. Texts are compared byte by byte, with no normalization. Times come from the caller;
/// the library reads no clock.
///
/// The normalised record of evidence of section 3 of arXiv:2608.04289: proposition, entity, source, timestamp,
/// tool status, policy role.
///
/// ```
/// use safecommit_gate::{EvidenceRecord, Proposition, Source, ToolStatus};
///
/// let listing = EvidenceRecord::new(
///     "t1",
///     Proposition::new("run/latest", "kind", "directory")?,
///     Source::tool("ls", ToolStatus::Succeeded)?,
///     "2026-03-01T08:00:00Z".parse()?,
/// )?;
/// let note = EvidenceRecord::new(
///     "m1",
///     Proposition::new("run/latest", "disposable", "yes")?,
///     Source::memory("notes.md")?,
///     "2026-03-01T08:05:00Z".parse()?,
/// )?
/// .with_ancestors(["t1"])?;
///
/// assert_eq!(note.ancestors(), ["t1"]);
/// assert_eq!(EvidenceRecord::from_json(&note.to_json())?, note);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceRecord {
    id: String,
    proposition: Proposition,
    source: Source,
    ancestors: Vec<String>,
    recorded: Timestamp,
    observed: Option<Timestamp>,
}

/// What a record says: an attribute of an entity has a value.
///
/// The entity is any text, such as a path or an address. The attribute is an identifier (a letter, then letters,
/// digits and `_`), as it is the name of a [`Fact`](crate::Fact) if worlds are to differ in it. The value is any
/// text, also none; numbers and truth values are written out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Proposition {
    entity: String,
    attribute: String,
    value: String,
}

impl EvidenceRecord {
    /// A record that is derived from nothing. When it was observed is not known yet: see
    /// [`with_observed`](Self::with_observed).
    ///
    /// `recorded` is the time at which this record was written.
    ///
    /// # Errors
    ///
    /// An id that is empty, longer than [`MAX_LABEL_BYTES`] or has control characters.
    pub fn new(
        id: impl Into<String>,
        proposition: Proposition,
        source: Source,
        recorded: Timestamp,
    ) -> Result<Self, RecordFieldError> {
        Ok(Self {
            id: check_label("id", id.into())?,
            proposition,
            source,
            ancestors: Vec::new(),
            recorded,
            observed: None,
        })
    }

    /// The same record, derived from the records with these ids, instead of those that it had.
    ///
    /// These are all the records that were read before this one was written and that may have had a part in it.
    /// A file or a memory that was written after the output of a tool had been read is derived from that output.
    /// Where there are too many, a record in between can be derived from some of them.
    ///
    /// # Errors
    ///
    /// Ids that [`new`](Self::new) refuses, one that stands twice, and more than [`MAX_ANCESTORS`]. Whether the
    /// ids exist, and whether a record is its own ancestor, is for [`EvidenceSet::new`] to find.
    pub fn with_ancestors<I: Into<String>>(
        self,
        ids: impl IntoIterator<Item = I>,
    ) -> Result<Self, RecordFieldError> {
        const FIELD: &str = "derived_from";
        let ids = ids.into_iter().map(|id| check_label(FIELD, id.into()));
        // One more than can be kept is enough to refuse them.
        let mut ancestors: Vec<String> = ids.take(MAX_ANCESTORS + 1).collect::<Result<_, _>>()?;
        if ancestors.len() > MAX_ANCESTORS {
            return Err(FieldProblem::TooMany { max: MAX_ANCESTORS }.in_field(FIELD));
        }
        ancestors.sort_unstable();
        if let Some(twice) = ancestors.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(FieldProblem::StandsTwice(twice[0].clone()).in_field(FIELD));
        }
        Ok(Self { ancestors, ..self })
    }

    /// The same record, observed at this time: when what it says was seen to be so.
    ///
    /// A time after that of recording is kept: finding such times is a result, see
    /// [`EvidenceSet::impossible_times`].
    #[must_use]
    pub fn with_observed(self, observed: Timestamp) -> Self {
        Self {
            observed: Some(observed),
            ..self
        }
    }

    /// The id, under which others refer to this record.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it says.
    #[must_use]
    pub fn proposition(&self) -> &Proposition {
        &self.proposition
    }

    /// Who says so.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The ids of the records that it is derived from directly, sorted.
    #[must_use]
    pub fn ancestors(&self) -> &[String] {
        &self.ancestors
    }

    /// When it was written.
    #[must_use]
    pub fn recorded(&self) -> Timestamp {
        self.recorded
    }

    /// When what it says was seen to be so, if known.
    #[must_use]
    pub fn observed(&self) -> Option<Timestamp> {
        self.observed
    }

    /// The earliest time that the record names: since then nothing is known to have confirmed it.
    #[must_use]
    pub fn earliest(&self) -> Timestamp {
        self.observed
            .map_or(self.recorded, |observed| observed.min(self.recorded))
    }
}

impl Proposition {
    /// That `attribute` of `entity` has `value`.
    ///
    /// # Errors
    ///
    /// An empty entity, an entity or value longer than [`MAX_TEXT_BYTES`], and an attribute that is no identifier
    /// or longer than [`MAX_LABEL_BYTES`].
    pub fn new(
        entity: impl Into<String>,
        attribute: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, RecordFieldError> {
        let (entity, attribute, value) = (entity.into(), attribute.into(), value.into());
        if entity.is_empty() {
            return Err(FieldProblem::Empty.in_field("entity"));
        }
        let attribute = check_label("attribute", attribute)?;
        if !crate::fact::is_identifier(&attribute) {
            return Err(FieldProblem::NotAnIdentifier(attribute).in_field("attribute"));
        }
        Ok(Self {
            entity: check_text("entity", entity)?,
            attribute,
            value: check_text("value", value)?,
        })
    }

    /// What it is about.
    #[must_use]
    pub fn entity(&self) -> &str {
        &self.entity
    }

    /// The attribute of the entity.
    #[must_use]
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// The value of the attribute.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}
