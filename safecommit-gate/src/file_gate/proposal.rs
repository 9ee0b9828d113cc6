//! What an agent proposes, as it is written.

mod check;
#[cfg(feature = "schema")]
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use safecommit_conformal::Digest;
use serde::Deserialize;
use serde_json::value::RawValue;

#[cfg(feature = "schema")]
use crate::evidence::MAX_LABEL_BYTES;
use crate::evidence::{DerivationError, EvidenceSet, FieldProblem};
use crate::execute::{ActionError, FileAction, TargetPath, with_article};
use crate::fact::each_once;

/// A proposal as it is written: candidate actions on files, questions, evidence. Fields that are not declared are
/// refused. [`FileProposal::check`] makes a [`FileRequest`] of it.
///
/// The candidate probes of an agent are its questions to persons. It has no say in the probes that the gate makes itself:
/// what is not looked up is not refuted, and a threshold may have excluded it.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileProposal {
    /// A name that no other decision has.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = MAX_LABEL_BYTES)))]
    pub decision: String,
    /// The tool that asks.
    #[serde(default)]
    pub tool: Option<String>,
    /// The candidates, at least one. The first wins a tie.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = check::MAX_CANDIDATES)))]
    pub actions: Vec<FileCandidate>,
    /// Questions to persons.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = check::MAX_CANDIDATES)))]
    pub clarifications: Vec<Clarification>,
    /// The ids of the evidence that the agent's rationale rests on.
    #[serde(default)]
    pub uses: Vec<String>,
    /// Evidence: memories and outputs of tools. What the person, the host or the policy says comes from whoever runs the
    /// gate, or an agent could speak for them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::evidence"))]
    pub evidence: Vec<Box<RawValue>>,
    /// Somebody with authority has to decide.
    #[serde(default)]
    pub authority_missing: bool,
    /// Evidence is under way.
    #[serde(default)]
    pub fresh_evidence_expected: bool,
}

/// A candidate as it is written.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("allOf" = schema::what_each_action_has()))
)]
#[serde(deny_unknown_fields)]
pub struct FileCandidate {
    /// What to do.
    pub action: FileActionName,
    /// To what, from the workspace.
    #[cfg_attr(feature = "schema", schemars(with = "TargetPath"))]
    pub path: String,
    /// Of a move: where to.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<TargetPath>"))]
    pub to: Option<String>,
    /// Of an overwrite or write: the content, as text.
    #[serde(default)]
    pub content: Option<String>,
    /// Of an overwrite: the SHA-256 of the content that the new one was made from, in hexadecimal. Who gives that of what
    /// is there has seen it, however old the memory is.
    #[serde(default)]
    pub base: Option<Digest>,
    /// What succeeding is worth.
    #[serde(default)]
    pub reward: f64,
}

/// What can be done to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileActionName {
    /// Removes a file or directory.
    Delete,
    /// Replaces the content of a file.
    Overwrite,
    /// Gives a file or directory another place.
    Move,
    /// Makes a file where nothing is.
    Write,
}

/// A question to a person.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clarification {
    /// Its name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// What is asked.
    pub question: String,
    /// About which target.
    #[cfg_attr(feature = "schema", schemars(with = "TargetPath"))]
    pub path: String,
    /// The facts that an answer reveals.
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::reveals"))]
    pub reveals: Vec<String>,
}

/// What a person answered.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClarificationAnswer {
    /// The question, by its name, its words and what it is about: an answer is to nothing else.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub clarification: String,
    /// Its words.
    pub question: String,
    /// The path that it is about.
    #[cfg_attr(feature = "schema", schemars(with = "TargetPath"))]
    pub path: String,
    /// The facts with their values.
    #[serde(deserialize_with = "each_once")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::found"))]
    pub found: BTreeMap<String, String>,
}

/// A checked proposal.
#[derive(Clone, Debug)]
pub struct FileRequest {
    pub(super) decision: String,
    pub(super) tool: String,
    pub(super) actions: Vec<Asked>,
    pub(super) clarifications: Vec<(Clarification, TargetPath)>,
    pub(super) answers: Vec<ClarificationAnswer>,
    pub(super) uses: Vec<String>,
    pub(super) evidence: EvidenceSet,
    /// The records that came from whoever runs the gate.
    pub(super) of_host: BTreeSet<String>,
    pub(super) authority_missing: bool,
    pub(super) fresh_evidence_expected: bool,
}

/// A checked candidate.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) action: FileAction,
    /// What succeeding is worth.
    pub(super) reward: f64,
    /// The digest of what its content was made from, if it says so.
    pub(super) base: Option<Digest>,
}

/// A proposal that cannot be decided, with the field at fault.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FileProposalError {
    /// Path of the field, as in `actions[1].to`.
    pub path: String,
    /// What is wrong with it.
    pub problem: FileProposalProblem,
}

/// What is wrong with a field of a proposal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProposalProblem {
    /// A name without a character.
    #[error("the name is empty")]
    EmptyName,
    /// A text that is too long.
    #[error("it has {length} bytes, at most {limit} are possible")]
    TooLong {
        /// How many it has.
        length: usize,
        /// How many are possible.
        limit: usize,
    },
    /// More of something than a decision can be about.
    #[error("there are {number}, at most {limit} are possible")]
    TooMany {
        /// How many there are.
        number: usize,
        /// How many are possible.
        limit: usize,
    },
    /// An answer to other words, or about something else.
    #[error(
        "the answer is to another question of that name: its `question` and `path` have to be those of the proposal"
    )]
    OtherQuestion,
    /// No candidate.
    #[error("the list is empty, at least one action is needed")]
    NoAction,
    /// A path that is no target.
    #[error(transparent)]
    Path(#[from] ActionError),
    /// A field that the action has to have.
    #[error("{} needs `{field}`", with_article(action))]
    Needs {
        /// The action.
        action: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A field that the action does not have.
    #[error("{} has no `{field}`", with_article(action))]
    Foreign {
        /// The action.
        action: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A number that is not finite.
    #[error("`{0}` is not a finite number")]
    NotFinite(f64),
    /// A name that stands twice.
    #[error("`{0}` stands twice")]
    Twice(String),
    /// A clarification with a name that probes of the gate have.
    #[error(
        "`{given}` is a name of probes of the gate, which have `{probe}` and all that begins with `{probe}-`: choose another"
    )]
    NameOfProbe {
        /// The name of the clarification.
        given: String,
        /// The question that the names of such probes begin with.
        probe: &'static str,
    },
    /// A target that no action is about.
    #[error("no action is about `{0}`")]
    NoTarget(String),
    /// A fact or value that files do not have.
    #[error("{0}")]
    Fact(String),
    /// A clarification that does not stand in the proposal.
    #[error("`{0}` is no clarification of this proposal")]
    NoClarification(String),
    /// A clarification that says nothing of what may be.
    #[error("a clarification that reveals no fact tells no world from another")]
    RevealsNothing,
    /// A record that is none.
    #[error("it is no record of evidence: {0}")]
    NoRecord(String),
    /// A field of a record.
    #[error(transparent)]
    RecordField(#[from] FieldProblem),
    /// A record in the words of somebody else.
    #[error(
        "a proposal cannot speak for the {0}: such evidence has to come from whoever runs the gate"
    )]
    SpeaksFor(&'static str),
    /// Records that do not hold together.
    #[error(transparent)]
    Evidence(#[from] DerivationError),
    /// Evidence that is not there.
    #[error("there is no evidence `{0}`")]
    NoEvidence(String),
}

impl FileActionName {
    /// `delete`, `overwrite`, `move` or `write`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Overwrite => "overwrite",
            Self::Move => "move",
            Self::Write => "write",
        }
    }
}

impl FileRequest {
    /// The same with what persons answered. That is not for the agent to say, so it is no part of a proposal. An answer
    /// counts only where the controller would ask: what can be looked up is not asked.
    ///
    /// # Errors
    ///
    /// [`FileProposalError`] for an answer to a question that is not asked, a second one to the same, one that leaves out
    /// what it was to reveal, and values that the fact does not have; its path begins with `answers`.
    pub fn with_answers(
        mut self,
        answers: impl IntoIterator<Item = ClarificationAnswer>,
    ) -> Result<Self, FileProposalError> {
        for answer in answers {
            let path = format!("answers[{}]", self.answers.len());
            check::check_answer(&answer, &self.clarifications, &self.answers, &path)?;
            self.answers.push(answer);
        }
        Ok(self)
    }

    /// The name of the decision.
    #[must_use]
    pub fn decision(&self) -> &str {
        &self.decision
    }

    /// The candidate actions.
    pub fn actions(&self) -> impl Iterator<Item = &FileAction> {
        self.actions.iter().map(|asked| &asked.action)
    }

    /// The questions to persons.
    pub fn clarifications(&self) -> impl Iterator<Item = &Clarification> {
        self.clarifications.iter().map(|(asked, _)| asked)
    }

    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &EvidenceSet {
        &self.evidence
    }
}
