//! What turned out to be true of decisions.

#[cfg(feature = "schema")]
mod schema;

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::{Deserialize, Deserializer, Serialize};

use super::error::{AuditError, LabelError};
use super::redact::Redaction;
use crate::fact::{FactError, each_once, is_identifier};
use crate::lines::{LineProblem, next_line, reason};

/// The most bytes in a line of labels, its end not counted. A reader never holds more than one line.
pub const MAX_LABEL_LINE_BYTES: usize = 2 * 1024 * 1024;

/// What turned out to be true of one decision: which world it was, by its name or by its facts, or which candidates
/// were safe, or both.
///
/// JSON form: `{"decision": "d-1", "true_world": "temporary"}`, `{"decision": "d-1", "safe_actions": ["send"]}` or
/// `{"decision": "d-1", "true_facts": {"kind": "link", "location": "inside"}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("anyOf" = schema::says_something()))
)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The name of the decision in the log.
    pub decision: String,
    /// The true world. One that the request does not list was never proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_world: Option<String>,
    /// The value that each fact had, as far as it is known, for worlds whose names say their facts
    /// ([`WorldName`](super::WorldName)). A fact that the decision does not have, or a value that the fact cannot have, is
    /// an error where the log knows the facts of the decision. The one world that admits the values of all facts that it
    /// restricts is the true one. If there is none, those are left of which the label has all but some restricted facts. If there is
    /// none of these either, it is `left-out`, or the true world was not proposed. Facts that no world restricts do
    /// not matter.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "facts_once"
    )]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::facts"))]
    pub true_facts: Option<BTreeMap<String, String>>,
    /// The candidate actions that were safe. Without it, those that are safe in the true world by the safety map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safe_actions: Option<Vec<String>>,
}

/// Labels, at most one a decision.
///
/// ```
/// use safecommit_gate::audit::Labels;
///
/// let lines = "{\"decision\": \"d-1\", \"true_world\": \"temporary\"}\n\
///              {\"decision\": \"d-2\", \"safe_actions\": []}\n";
/// assert_eq!(Labels::read(lines.as_bytes())?.len(), 2);
/// let by_facts = r#"{"decision": "d-1", "true_facts": {"kind": "link", "owner": "own"}}"#;
/// assert!(Labels::read(by_facts.as_bytes())?.get("d-1").is_some());
/// let error = Labels::read(&b"{\"decision\": \"d-1\"}"[..]).unwrap_err();
/// assert_eq!(error.to_string(), "line 1: a label has `true_world`, `true_facts` or `safe_actions`");
/// # Ok::<(), safecommit_gate::audit::AuditError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, Numbered>);

/// A label and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbered {
    line: u64,
    label: Label,
}

impl Labels {
    /// Labels from a list.
    ///
    /// # Errors
    ///
    /// [`LabelError::Twice`] for a decision with two; [`LabelError::Line`] for a label that says nothing, with its
    /// place in the list.
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Result<Self, LabelError> {
        let mut all = Self::default();
        for (line, label) in (1..).zip(labels) {
            all.add(line, label)?;
        }
        Ok(all)
    }

    /// Reads labels, a JSON object a line; empty lines are skipped.
    ///
    /// # Errors
    ///
    /// [`LabelError`] with the line, also for one with more than [`MAX_LABEL_LINE_BYTES`]; [`AuditError::Io`].
    pub fn read(mut lines: impl BufRead) -> Result<Self, AuditError> {
        let mut all = Self::default();
        let mut buffer = Vec::new();
        for number in 1.. {
            let refuse = |problem| LabelError::Line {
                line: number,
                problem,
            };
            let line = match next_line(&mut lines, MAX_LABEL_LINE_BYTES, &mut buffer) {
                Ok(None) => break,
                Ok(Some(line)) => line,
                Err(LineProblem::Read(error)) => return Err(error.into()),
                Err(problem) => return Err(refuse(problem.to_string()).into()),
            };
            if line.trim().is_empty() {
                continue;
            }
            // A list of values would be taken for the fields in their order.
            if line.trim_start().starts_with('[') {
                return Err(refuse("it is no JSON object".to_owned()).into());
            }
            let label = serde_json::from_str(line).map_err(|error| {
                refuse(format!("column {}: {}", error.column(), reason(&error)))
            })?;
            all.add(number, label)?;
        }
        Ok(all)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label of a decision.
    #[must_use]
    pub fn get(&self, decision: &str) -> Option<&Label> {
        Some(self.at(decision)?.1)
    }

    /// All of them, by decision.
    pub fn iter(&self) -> impl Iterator<Item = &Label> {
        self.0.values().map(|numbered| &numbered.label)
    }

    /// The labels of decisions that are kept with codes, each still in its line ([`Redaction::label`]).
    ///
    /// # Errors
    ///
    /// [`LabelError::Twice`] for two decisions of one code, which there are not but by forgery.
    pub fn redacted(&self, redaction: &Redaction) -> Result<Self, LabelError> {
        let mut all = Self::default();
        for numbered in self.0.values() {
            all.add(numbered.line, redaction.label(&numbered.label))?;
        }
        Ok(all)
    }

    /// The label of a decision, with its line.
    pub(super) fn at(&self, decision: &str) -> Option<(u64, &Label)> {
        let numbered = self.0.get(decision)?;
        Some((numbered.line, &numbered.label))
    }

    fn add(&mut self, line: u64, label: Label) -> Result<(), LabelError> {
        if let Some(problem) = problem_of(&label) {
            return Err(LabelError::Line { line, problem });
        }
        let decision = label.decision.clone();
        match self.0.insert(decision.clone(), Numbered { line, label }) {
            None => Ok(()),
            Some(_) => Err(LabelError::Twice(decision)),
        }
    }
}

/// What is wrong with a label, whatever it is about.
fn problem_of(label: &Label) -> Option<String> {
    let (world, facts) = (&label.true_world, &label.true_facts);
    if world.is_none() && facts.is_none() && label.safe_actions.is_none() {
        return Some("a label has `true_world`, `true_facts` or `safe_actions`".to_owned());
    }
    let texts = facts.iter().flatten();
    let mut texts = texts.flat_map(|(fact, value)| [fact, value]);
    let text = texts.find(|text| !is_identifier(text))?;
    let problem = FactError::NotAnIdentifier(text.clone());
    Some(format!("`true_facts`: {problem}"))
}

fn facts_once<'d, D: Deserializer<'d>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    each_once(deserializer).map(Some)
}
