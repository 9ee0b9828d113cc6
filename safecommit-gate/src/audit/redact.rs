//! Codes in place of values that could be guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use safecommit_core::{Observation, ProbeProposal, Request};
use serde::{Deserialize, Serialize};

use super::chain::hexadecimal;
use super::entry::{Entry, MadeProbe, UsedCalibration};
use super::error::AuditError;
use super::key::LogKey;
use super::label::Label;
use super::reproduce;

mod agreement;

use agreement::disagreement;

const PURPOSE: &str = "redaction";

/// A field whose values may be kept as codes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RedactedField {
    /// [`Entry::decision`], and the name of the request.
    Decision,
    /// Names of actions.
    Action,
    /// Names of worlds.
    World,
    /// Names of probes.
    Probe,
    /// Names of the probes that persons answer, which whoever asks has chosen.
    Question,
    /// Names of outcomes that a request declares; `yes` and `no` stay.
    Outcome,
    /// Descriptions of worlds.
    Description,
    /// Reasons of hard evidence.
    Reason,
    /// The error.
    Error,
    /// Why probes failed.
    Failure,
    /// The detail of this name.
    Detail(String),
}

/// Replaces the values of chosen fields by `hmac:` and their HMAC-SHA-256 under a key, in hexadecimal.
///
/// Paths, recipients and names are few enough to be guessed, so a plain digest would give them away. Equal values
/// have equal codes, whatever their field, so that records can still be compared; whoever has the key can look for a
/// value by its [`code`](Self::code).
///
/// Texts that are not chosen (descriptions, reasons, failures, the error, other details) have every occurrence of a chosen
/// value replaced, and of values [told](Self::hiding); a value of up to three bytes only where it is a word of its own.
/// Values that are written otherwise there, such as with escapes, are not found: choose those texts as a whole. Strata, families, the group and versions stay.
///
/// What is recorded is the decision on the request with the codes; that it is the same decision is checked.
///
/// ```
/// use safecommit_gate::audit::{LogKey, RedactedField, Redaction};
///
/// let fields = [RedactedField::Detail("path".to_owned()), RedactedField::World];
/// let redaction = Redaction::new(LogKey::from_bytes([3; 32]), fields);
/// let code = redaction.code("/home/ada/thesis.tex");
/// assert!(code.starts_with("hmac:") && code.len() == 69);
/// assert_eq!(code, redaction.code("/home/ada/thesis.tex"));
/// ```
#[derive(Clone)]
pub struct Redaction {
    key: LogKey,
    fields: BTreeSet<RedactedField>,
    hidden: BTreeSet<String>,
    /// The names of probes that persons answer.
    questions: BTreeSet<String>,
}

impl Redaction {
    /// Redacts these fields.
    #[must_use]
    pub fn new(key: LogKey, fields: impl IntoIterator<Item = RedactedField>) -> Self {
        Self {
            key,
            fields: fields.into_iter().collect(),
            hidden: BTreeSet::new(),
            questions: BTreeSet::new(),
        }
    }

    /// Replaces this value too wherever it occurs in a text.
    #[must_use]
    pub fn hiding(mut self, value: impl Into<String>) -> Self {
        self.hidden.insert(value.into());
        self
    }

    /// Takes these probes for ones that persons answer.
    pub(super) fn with_questions<'q>(mut self, names: impl IntoIterator<Item = &'q str>) -> Self {
        self.questions = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// What stands in place of a value.
    #[must_use]
    pub fn code(&self, value: &str) -> String {
        let code = self.key.code(PURPOSE, &[value.as_bytes()]);
        format!("hmac:{}", hexadecimal(&code))
    }

    /// The label of the redacted decision. Its facts stay as they are; where names of worlds are redacted, nothing can
    /// be labelled by them.
    #[must_use]
    pub fn label(&self, label: &Label) -> Label {
        let action = |action: &String| self.name(&RedactedField::Action, action);
        Label {
            decision: self.name(&RedactedField::Decision, &label.decision),
            true_world: label
                .true_world
                .as_ref()
                .map(|world| self.name(&RedactedField::World, world)),
            true_facts: label.true_facts.clone(),
            safe_actions: label
                .safe_actions
                .as_ref()
                .map(|safe| safe.iter().map(action).collect()),
        }
    }

    pub(super) fn redacts(&self, field: &RedactedField) -> bool {
        self.fields.contains(field)
    }

    pub(super) fn fields(&self) -> Vec<RedactedField> {
        self.fields.iter().cloned().collect()
    }

    /// The entry with codes, whose record is the decision on the request with codes.
    pub(super) fn entry(
        &self,
        entry: &Entry,
        calibration: UsedCalibration<'_>,
    ) -> Result<Entry, AuditError> {
        let decision = self.name(&RedactedField::Decision, &entry.decision);
        let values = self.values_of(entry);
        let refuse = |problem: String| AuditError::NotReproducible {
            decision: decision.clone(),
            problem: self.text(&values, &problem),
        };
        reproduce::check(entry, calibration).map_err(refuse)?;
        let mut redacted = entry.clone();
        redacted.decision.clone_from(&decision);
        redacted.request = self.request(&values, &entry.request);
        redacted.record.observed = self.observations(&entry.request, &entry.record.observed);
        for made in &mut redacted.probes {
            self.made(&values, &entry.request, made);
        }
        // Names of worlds and of outcomes are made of the facts and their values.
        if self.redacts(&RedactedField::World) || self.redacts(&RedactedField::Outcome) {
            redacted.facts.clear();
        }
        for (name, value) in &mut redacted.details {
            *value = self.free(&values, &RedactedField::Detail(name.clone()), value);
        }
        let side_effects = entry.side_effects.iter();
        redacted.side_effects = side_effects
            .map(|(probe, side_effect)| (self.name_of_probe(probe), *side_effect))
            .collect();
        let error = entry.error.as_deref();
        redacted.error = error.map(|text| self.free(&values, &RedactedField::Error, text));
        let again = reproduce::reproduce(&redacted, calibration).map_err(refuse)?;
        redacted.record = again.record;
        match disagreement(entry, &redacted) {
            None => Ok(redacted),
            Some(what) => Err(refuse(format!("with codes in place of values {what}"))),
        }
    }

    fn request(&self, values: &BTreeMap<String, String>, request: &Request) -> Request {
        let mut redacted = request.clone();
        let action = |name: &mut String| *name = self.name(&RedactedField::Action, name);
        let world = |name: &mut String| *name = self.name(&RedactedField::World, name);
        if let Some(id) = &mut redacted.id {
            *id = self.name(&RedactedField::Decision, id);
        }
        redacted
            .actions
            .iter_mut()
            .for_each(|proposal| action(&mut proposal.id));
        for proposal in &mut redacted.worlds {
            world(&mut proposal.id);
            proposal.safe.iter_mut().for_each(action);
            if let Some(text) = &mut proposal.description {
                *text = self.free(values, &RedactedField::Description, text);
            }
        }
        for evidence in &mut redacted.hard_evidence {
            world(&mut evidence.world);
            evidence.reason = self.free(values, &RedactedField::Reason, &evidence.reason);
        }
        redacted
            .probes
            .iter_mut()
            .for_each(|probe| self.probe(probe));
        redacted.observed = self.observations(request, &request.observed);
        redacted
    }

    fn probe(&self, probe: &mut ProbeProposal) {
        let world = |name: &String| self.name(&RedactedField::World, name);
        probe.id = self.name_of_probe(&probe.id);
        probe.asks = probe.asks.as_ref().map(world);
        for outcome in probe.outcomes.iter_mut().flatten() {
            outcome.id = self.name(&RedactedField::Outcome, &outcome.id);
            if let Some(worlds) = &mut outcome.worlds {
                *worlds = worlds.iter().map(world).collect();
            }
            if let Some(likelihood) = &mut outcome.likelihood {
                let renamed = likelihood.iter().map(|(name, value)| (world(name), *value));
                *likelihood = renamed.collect();
            }
        }
    }

    fn observations(&self, request: &Request, observed: &[Observation]) -> Vec<Observation> {
        let redact = |observation: &Observation| Observation {
            probe: self.name_of_probe(&observation.probe),
            outcome: self.outcome(request, &observation.probe, observation.outcome.as_deref()),
        };
        observed.iter().map(redact).collect()
    }

    fn name_of_probe(&self, name: &str) -> String {
        let of_person = self.questions.contains(name);
        let field = if of_person && self.fields.contains(&RedactedField::Question) {
            RedactedField::Question
        } else {
            RedactedField::Probe
        };
        self.name(&field, name)
    }

    fn made(&self, values: &BTreeMap<String, String>, request: &Request, made: &mut MadeProbe) {
        made.outcome = self.outcome(request, &made.id, made.outcome.as_deref());
        made.id = self.name_of_probe(&made.id);
        if let Some(reason) = &mut made.failure {
            *reason = self.free(values, &RedactedField::Failure, reason);
        }
    }

    /// The outcome of a probe; what it does not declare is `yes` or `no`.
    fn outcome(&self, request: &Request, probe: &str, outcome: Option<&str>) -> Option<String> {
        let mut probes = request.probes.iter();
        let declares = probes.any(|known| known.id == probe && known.outcomes.is_some());
        outcome.map(|outcome| {
            if declares {
                self.name(&RedactedField::Outcome, outcome)
            } else {
                outcome.to_owned()
            }
        })
    }

    /// A value of a field, as a code if the field is chosen.
    fn name(&self, field: &RedactedField, value: &str) -> String {
        if self.fields.contains(field) {
            self.code(value)
        } else {
            value.to_owned()
        }
    }

    /// A text, as a code if the field is chosen, else with codes in it.
    fn free(&self, values: &BTreeMap<String, String>, field: &RedactedField, text: &str) -> String {
        if self.fields.contains(field) {
            self.code(text)
        } else {
            self.text(values, text)
        }
    }

    /// A text with each value replaced by its code, the longest where several fit.
    fn text(&self, values: &BTreeMap<String, String>, text: &str) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let fitting = values
                .iter()
                .filter(|(value, _)| stands_at(value, text, at));
            at += match fitting.max_by_key(|(value, _)| value.len()) {
                Some((value, code)) => {
                    redacted += code;
                    value.len()
                }
                None => {
                    redacted.push(first);
                    first.len_utf8()
                }
            };
        }
        redacted
    }

    /// The values of the chosen fields with their codes.
    fn values_of(&self, entry: &Entry) -> BTreeMap<String, String> {
        let request = &entry.request;
        let mut values: BTreeSet<&str> = self.hidden.iter().map(String::as_str).collect();
        for field in &self.fields {
            match field {
                RedactedField::Decision => {
                    values.insert(&entry.decision);
                    values.extend(request.id.as_deref());
                }
                RedactedField::Action => {
                    values.extend(request.actions.iter().map(|action| action.id.as_str()));
                }
                RedactedField::World => {
                    values.extend(request.worlds.iter().map(|world| world.id.as_str()));
                }
                RedactedField::Probe => {
                    values.extend(request.probes.iter().map(|probe| probe.id.as_str()));
                }
                RedactedField::Question => {
                    values.extend(self.questions.iter().map(String::as_str));
                }
                RedactedField::Outcome => {
                    let outcomes = request.probes.iter().flat_map(|probe| &probe.outcomes);
                    values.extend(outcomes.flatten().map(|outcome| outcome.id.as_str()));
                }
                RedactedField::Detail(name) => {
                    values.extend(entry.details.get(name).map(String::as_str));
                }
                // Whole sentences, which are not looked for in others.
                RedactedField::Description
                | RedactedField::Reason
                | RedactedField::Failure
                | RedactedField::Error => {}
            }
        }
        values.remove("");
        values
            .into_iter()
            .map(|value| (value.to_owned(), self.code(value)))
            .collect()
    }
}

/// Whether a value stands at this place of a text; one of up to three bytes only as a word of its own.
fn stands_at(value: &str, text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let Some(after) = after.strip_prefix(value) else {
        return false;
    };
    let goes_on = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
    value.len() > 3 || !(goes_on(before.chars().next_back()) || goes_on(after.chars().next()))
}

impl fmt::Debug for Redaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = &self.fields;
        formatter
            .debug_struct("Redaction")
            .field("fields", fields)
            .finish_non_exhaustive()
    }
}
