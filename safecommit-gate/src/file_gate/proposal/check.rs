//! From a proposal as it is written to a request.

use super::{
    Asked, Clarification, ClarificationAnswer, FileActionName, FileCandidate, FileProposal,
    FileProposalError, FileProposalProblem, FileRequest,
};
use crate::evidence::{EvidenceRecord, EvidenceSet, MAX_LABEL_BYTES, RecordJsonError, SourceKind};
use crate::execute::{Content, FileAction, TargetPath};
use crate::file_gate::facts::{fact_of_files, is_of_overwrite};
use crate::files::FileQuestion;

/// The most candidates, and the most questions, of one decision.
pub(super) const MAX_CANDIDATES: usize = 64;

/// Who may speak in a proposal.
pub(super) const HEARD: [SourceKind; 2] = [SourceKind::Memory, SourceKind::Tool];

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
    /// action does not have, unknown facts and evidence, and what is too long or too many.
    pub fn check(
        self,
        more: impl IntoIterator<Item = EvidenceRecord>,
    ) -> Result<FileRequest, FileProposalError> {
        if self.decision.is_empty() {
            return Err(at("decision")(FileProposalProblem::EmptyName));
        }
        if self.decision.len() > MAX_LABEL_BYTES {
            return Err(at("decision")(FileProposalProblem::TooLong {
                length: self.decision.len(),
                limit: MAX_LABEL_BYTES,
            }));
        }
        let sizes = [
            ("actions", self.actions.len()),
            ("clarifications", self.clarifications.len()),
        ];
        for (field, number) in sizes {
            if number > MAX_CANDIDATES {
                let limit = MAX_CANDIDATES;
                return Err(at(field)(FileProposalProblem::TooMany { number, limit }));
            }
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
        let of_host = records
            .iter()
            .map(|record| record.id().to_owned())
            .collect();
        for (number, record) in self.evidence.iter().enumerate() {
            let path = || format!("evidence[{number}]");
            let record = EvidenceRecord::from_json(record.get()).map_err(|error| match error {
                RecordJsonError::Field(error) => {
                    at(format!("{}.{}", path(), error.field))(error.problem)
                }
                // Where in the record, the column does not say of the proposal.
                RecordJsonError::Json { reason, .. } => {
                    at(path())(FileProposalProblem::NoRecord(reason))
                }
            })?;
            let kind = record.source().kind();
            if !HEARD.contains(&kind) {
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
            clarifications,
            answers: Vec::new(),
            uses: self.uses,
            evidence,
            of_host,
            authority_missing: self.authority_missing,
            fresh_evidence_expected: self.fresh_evidence_expected,
        })
    }
}

impl FileCandidate {
    fn check(&self, path: &str) -> Checked<Asked> {
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
        let is_overwrite = self.action == FileActionName::Overwrite;
        foreign(self.base.is_some() && !is_overwrite, "base")?;
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
        Ok(Asked {
            action,
            reward: self.reward,
            base: self.base,
        })
    }
}

fn check_clarifications(
    asked: Vec<Clarification>,
    actions: &[Asked],
) -> Checked<Vec<(Clarification, TargetPath)>> {
    let mut checked: Vec<(Clarification, TargetPath)> = Vec::with_capacity(asked.len());
    for (number, clarification) in asked.into_iter().enumerate() {
        let field = |field: &str| format!("clarifications[{number}].{field}");
        let id = &clarification.id;
        if id.is_empty() {
            return Err(at(field("id"))(FileProposalProblem::EmptyName));
        }
        // The names of probes of files are such as `status`, `status-2` and `staged_diff-overwrite-1`.
        let of_files = FileQuestion::ALL.iter().find(|question| {
            let rest = id.strip_prefix(question.name());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        if let Some(question) = of_files {
            return Err(at(field("id"))(FileProposalProblem::NameOfProbe {
                given: id.clone(),
                probe: question.name(),
            }));
        }
        if checked.iter().any(|(other, _)| other.id == *id) {
            return Err(at(field("id"))(FileProposalProblem::Twice(id.clone())));
        }
        let path = TargetPath::new(&clarification.path).map_err(at(field("path")))?;
        if !actions
            .iter()
            .any(|asked| asked.action.paths().any(|of_action| *of_action == path))
        {
            return Err(at(field("path"))(FileProposalProblem::NoTarget(
                path.to_string(),
            )));
        }
        if clarification.reveals.is_empty() {
            return Err(at(field("reveals"))(FileProposalProblem::RevealsNothing));
        }
        for (place, fact) in clarification.reveals.iter().enumerate() {
            if fact_of_files(fact).is_none() {
                let problem = if is_of_overwrite(fact) {
                    "is a fact of an overwrite and not of a target, and no person is asked about it"
                } else {
                    "is no fact of files"
                };
                let problem = FileProposalProblem::Fact(format!("`{fact}` {problem}"));
                return Err(at(format!("{}[{place}]", field("reveals")))(problem));
            }
        }
        checked.push((clarification, path));
    }
    Ok(checked)
}

pub(super) fn check_answer(
    answer: &ClarificationAnswer,
    asked: &[(Clarification, TargetPath)],
    before: &[ClarificationAnswer],
    path: &str,
) -> Checked<()> {
    let id = &answer.clarification;
    let named = asked
        .iter()
        .find(|(clarification, _)| clarification.id == *id);
    let Some((clarification, about)) = named else {
        let problem = FileProposalProblem::NoClarification(id.clone());
        return Err(at(format!("{path}.clarification"))(problem));
    };
    if before.iter().any(|other| other.clarification == *id) {
        return Err(at(format!("{path}.clarification"))(
            FileProposalProblem::Twice(id.clone()),
        ));
    }
    let path_given = TargetPath::new(&answer.path);
    if clarification.question != answer.question || path_given.as_ref() != Ok(about) {
        return Err(at(path)(FileProposalProblem::OtherQuestion));
    }
    for fact in &clarification.reveals {
        if !answer.found.contains_key(fact) {
            let problem = FileProposalProblem::Fact(format!("the answer does not say `{fact}`"));
            return Err(at(format!("{path}.found"))(problem));
        }
    }
    for (fact, value) in &answer.found {
        let problem = match fact_of_files(fact) {
            None => format!("`{fact}` is no fact of files"),
            Some(known) if !known.values().contains(value) => format!(
                "`{value}` is no value of the fact `{fact}`, whose values are {}",
                known.values().join(", ")
            ),
            Some(_) => continue,
        };
        let problem = FileProposalProblem::Fact(problem);
        return Err(at(format!("{path}.found.{fact}"))(problem));
    }
    Ok(())
}
