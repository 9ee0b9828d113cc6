//! What an agent proposes, as it is written, and its check.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::evidence::{DerivationError, EvidenceRecord, EvidenceSet, RecordJsonError, SourceKind};
use crate::execute::{ActionError, Content, FileAction, TargetPath};
use crate::files::FileQuestion;

/// A proposal as it is written: candidate actions on files, candidate probes, evidence. Fields that are not declared are
/// refused. [`FileProposal::check`] makes a [`FileRequest`] of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileProposal {
    /// A name that no other decision has.
    pub decision: String,
    /// The tool that asks.
    #[serde(default)]
    pub tool: Option<String>,
    /// The candidates, at least one. The first wins a tie.
    pub actions: Vec<FileCandidate>,
    /// The questions that may be asked of files; all by default.
    #[serde(default)]
    pub probes: Option<Vec<String>>,
    /// Questions to persons.
    #[serde(default)]
    pub clarifications: Vec<Clarification>,
    /// The ids of the evidence that the agent's rationale rests on.
    #[serde(default)]
    pub uses: Vec<String>,
    /// Evidence: memories and outputs of tools. What the person, the host or the policy says comes from whoever runs the
    /// gate ([`FileProposal::check`]), or an agent could speak for them.
    #[serde(default)]
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
#[serde(deny_unknown_fields)]
pub struct FileCandidate {
    /// What to do.
    pub action: FileActionName,
    /// To what, from the workspace.
    pub path: String,
    /// Of a move: where to.
    #[serde(default)]
    pub to: Option<String>,
    /// Of an overwrite or write: the content, as text.
    #[serde(default)]
    pub content: Option<String>,
    /// What succeeding is worth.
    #[serde(default)]
    pub reward: f64,
}

/// What can be done to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
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
#[serde(deny_unknown_fields)]
pub struct Clarification {
    /// Its name.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// About which target.
    pub path: String,
    /// The facts that an answer reveals.
    pub reveals: Vec<String>,
}

/// What a person answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClarificationAnswer {
    /// The question.
    pub clarification: String,
    /// The facts with their values.
    pub found: BTreeMap<String, String>,
}

/// A checked proposal.
#[derive(Clone, Debug)]
pub struct FileRequest {
    pub(super) decision: String,
    pub(super) tool: String,
    pub(super) actions: Vec<(FileAction, f64)>,
    pub(super) probes: Vec<FileQuestion>,
    pub(super) clarifications: Vec<(Clarification, TargetPath)>,
    pub(super) answers: Vec<ClarificationAnswer>,
    pub(super) uses: Vec<String>,
    pub(super) evidence: EvidenceSet,
    pub(super) authority_missing: bool,
    pub(super) fresh_evidence_expected: bool,
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
    /// No candidate.
    #[error("the list is empty, at least one action is needed")]
    NoAction,
    /// A path that is no target.
    #[error(transparent)]
    Path(#[from] ActionError),
    /// A field that the action has to have.
    #[error("a {action} needs `{field}`")]
    Needs {
        /// The action.
        action: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A field that the action does not have.
    #[error("a {action} has no `{field}`")]
    Foreign {
        /// The action.
        action: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A number that is not finite.
    #[error("`{0}` is not a finite number")]
    NotFinite(f64),
    /// A question that no probe asks.
    #[error("`{0}` is no probe; there are {known}", known = questions())]
    NoProbe(String),
    /// A name that stands twice.
    #[error("`{0}` stands twice")]
    Twice(String),
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
    #[error(transparent)]
    Record(#[from] RecordJsonError),
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

type Checked<T> = Result<T, FileProposalError>;

fn at<P: Into<FileProposalProblem>>(
    path: impl Into<String>,
) -> impl FnOnce(P) -> FileProposalError {
    let path = path.into();
    move |problem| FileProposalError {
        path,
        problem: problem.into(),
    }
}

impl FileProposal {
    /// Checks a proposal, with more evidence from elsewhere.
    ///
    /// # Errors
    ///
    /// [`FileProposalError`] with the field at fault: for a path that is no target, a field that is missing or that the
    /// action does not have, unknown probes, facts, evidence.
    pub fn check(
        self,
        more: impl IntoIterator<Item = EvidenceRecord>,
    ) -> Result<FileRequest, FileProposalError> {
        if self.decision.is_empty() {
            return Err(at("decision")(FileProposalProblem::EmptyName));
        }
        if self.actions.is_empty() {
            return Err(at("actions")(FileProposalProblem::NoAction));
        }
        let actions = self.actions.iter().enumerate();
        let actions = actions
            .map(|(number, candidate)| candidate.check(&format!("actions[{number}]")))
            .collect::<Checked<Vec<_>>>()?;
        let clarifications = check_clarifications(self.clarifications, &actions)?;
        let mut records: Vec<EvidenceRecord> = more.into_iter().collect();
        for (number, record) in self.evidence.iter().enumerate() {
            let path = || format!("evidence[{number}]");
            let record = EvidenceRecord::from_json(record.get()).map_err(at(path()))?;
            let kind = record.source().kind();
            if !matches!(kind, SourceKind::Memory | SourceKind::Tool) {
                let problem = FileProposalProblem::SpeaksFor(kind.name());
                return Err(at(path() + ".source")(problem));
            }
            records.push(record);
        }
        let evidence = EvidenceSet::new(records).map_err(at("evidence"))?;
        for (number, id) in self.uses.iter().enumerate() {
            if evidence.get(id).is_none() {
                let problem = FileProposalProblem::NoEvidence(id.clone());
                return Err(at(format!("uses[{number}]"))(problem));
            }
        }
        Ok(FileRequest {
            decision: self.decision,
            tool: self.tool.unwrap_or_default(),
            actions,
            probes: check_probes(self.probes)?,
            clarifications,
            answers: Vec::new(),
            uses: self.uses,
            evidence,
            authority_missing: self.authority_missing,
            fresh_evidence_expected: self.fresh_evidence_expected,
        })
    }
}

impl FileCandidate {
    fn check(&self, path: &str) -> Checked<(FileAction, f64)> {
        let name = self.action.name();
        let field = |field: &str| format!("{path}.{field}");
        let target = |text: &str, of: &str| TargetPath::new(text).map_err(at(field(of)));
        let foreign = |given: bool, name_of: &'static str| {
            let problem = FileProposalProblem::Foreign {
                action: name,
                field: name_of,
            };
            if given {
                Err(at(field(name_of))(problem))
            } else {
                Ok(())
            }
        };
        let needs = |name_of: &'static str| {
            let problem = FileProposalProblem::Needs {
                action: name,
                field: name_of,
            };
            at(field(name_of))(problem)
        };
        if !self.reward.is_finite() {
            return Err(at(field("reward"))(FileProposalProblem::NotFinite(
                self.reward,
            )));
        }
        let is_move = self.action == FileActionName::Move;
        let has_content = matches!(
            self.action,
            FileActionName::Overwrite | FileActionName::Write
        );
        foreign(self.to.is_some() && !is_move, "to")?;
        foreign(self.content.is_some() && !has_content, "content")?;
        let content = || {
            let text = self.content.as_ref().ok_or_else(|| needs("content"))?;
            Ok(Content::new(text.as_bytes()))
        };
        let at_path = target(&self.path, "path")?;
        let action = match self.action {
            FileActionName::Delete => FileAction::Delete { path: at_path },
            FileActionName::Overwrite => FileAction::Overwrite {
                path: at_path,
                content: content()?,
            },
            FileActionName::Write => FileAction::Write {
                path: at_path,
                content: content()?,
            },
            FileActionName::Move => {
                let to = self.to.as_ref().ok_or_else(|| needs("to"))?;
                FileAction::Move {
                    from: at_path,
                    to: target(to, "to")?,
                }
            }
        };
        action.check().map_err(at(field("to")))?;
        Ok((action, self.reward))
    }
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
            check_answer(&answer, &self.clarifications, &self.answers, &path)?;
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
        self.actions.iter().map(|(action, _)| action)
    }

    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &EvidenceSet {
        &self.evidence
    }
}

fn check_probes(names: Option<Vec<String>>) -> Checked<Vec<FileQuestion>> {
    let Some(names) = names else {
        return Ok(FileQuestion::ALL.to_vec());
    };
    let mut questions = Vec::with_capacity(names.len());
    for (number, name) in names.into_iter().enumerate() {
        let known = FileQuestion::ALL
            .into_iter()
            .find(|question| question.name() == name);
        let path = format!("probes[{number}]");
        match known {
            Some(question) if questions.contains(&question) => {
                return Err(at(path)(FileProposalProblem::Twice(name)));
            }
            Some(question) => questions.push(question),
            None => return Err(at(path)(FileProposalProblem::NoProbe(name))),
        }
    }
    Ok(questions)
}

fn check_clarifications(
    asked: Vec<Clarification>,
    actions: &[(FileAction, f64)],
) -> Checked<Vec<(Clarification, TargetPath)>> {
    let mut checked: Vec<(Clarification, TargetPath)> = Vec::with_capacity(asked.len());
    for (number, clarification) in asked.into_iter().enumerate() {
        let field = |field: &str| format!("clarifications[{number}].{field}");
        let id = &clarification.id;
        if id.is_empty() {
            return Err(at(field("id"))(FileProposalProblem::EmptyName));
        }
        // The names of probes of files are `status` and `status-2`.
        let base = id.rsplit_once('-').map_or(id.as_str(), |(base, _)| base);
        let of_files = FileQuestion::ALL
            .iter()
            .any(|question| [id.as_str(), base].contains(&question.name()));
        if of_files || checked.iter().any(|(other, _)| other.id == *id) {
            return Err(at(field("id"))(FileProposalProblem::Twice(id.clone())));
        }
        let path = TargetPath::new(&clarification.path).map_err(at(field("path")))?;
        if !actions
            .iter()
            .any(|(action, _)| action.paths().any(|of_action| *of_action == path))
        {
            return Err(at(field("path"))(FileProposalProblem::NoTarget(
                path.to_string(),
            )));
        }
        if clarification.reveals.is_empty() {
            return Err(at(field("reveals"))(FileProposalProblem::RevealsNothing));
        }
        for (place, fact) in clarification.reveals.iter().enumerate() {
            if super::facts::values_of(fact).is_none() {
                let problem = FileProposalProblem::Fact(format!("`{fact}` is no fact of files"));
                return Err(at(format!("{}[{place}]", field("reveals")))(problem));
            }
        }
        checked.push((clarification, path));
    }
    Ok(checked)
}

fn check_answer(
    answer: &ClarificationAnswer,
    asked: &[(Clarification, TargetPath)],
    before: &[ClarificationAnswer],
    path: &str,
) -> Checked<()> {
    let id = &answer.clarification;
    let named = asked
        .iter()
        .find(|(clarification, _)| clarification.id == *id);
    let Some((clarification, _)) = named else {
        let problem = FileProposalProblem::NoClarification(id.clone());
        return Err(at(format!("{path}.clarification"))(problem));
    };
    if before.iter().any(|other| other.clarification == *id) {
        return Err(at(format!("{path}.clarification"))(
            FileProposalProblem::Twice(id.clone()),
        ));
    }
    for fact in &clarification.reveals {
        if !answer.found.contains_key(fact) {
            let problem = FileProposalProblem::Fact(format!("the answer does not say `{fact}`"));
            return Err(at(format!("{path}.found"))(problem));
        }
    }
    for (fact, value) in &answer.found {
        let known = super::facts::values_of(fact);
        if !known.is_some_and(|values| values.contains(&value.as_str())) {
            let problem = FileProposalProblem::Fact(format!(
                "`{value}` is no value of a fact `{fact}` of files"
            ));
            return Err(at(format!("{path}.found.{fact}"))(problem));
        }
    }
    Ok(())
}

fn questions() -> String {
    let names = FileQuestion::ALL.map(|question| format!("`{}`", question.name()));
    names.join(", ")
}
