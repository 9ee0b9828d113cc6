#![doc = include_str!("../README.md")]

mod evidence;
mod fact;

pub use evidence::{
    Alternative, ClaimedValues, DerivationError, EvidenceFileError, EvidenceLineProblem,
    EvidenceReader, EvidenceRecord, EvidenceSet, EvidenceStore, EvidenceStoreError,
    FactAlternatives, FieldProblem, ImpossibleTime, MAX_ANCESTORS, MAX_EVIDENCE_LINE_BYTES,
    MAX_LABEL_BYTES, MAX_TEXT_BYTES, PolicyRole, Proposition, RecordFieldError, RecordJsonError,
    Source, SourceKind, ToolStatus, Trust, read_evidence, write_evidence,
};
pub use fact::{Assignment, Fact, FactError, Facts};
