//! What `gate` answers to a request.

use std::fmt::Write as _;

use safecommit_core::{DecisionKind, DecisionRecord, WorldFate};
use safecommit_gate::{FileDecision, FileRequest, file_facts};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::human;
use crate::terminal::{json_line, one_line};

/// A recorded decision, and what became of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Answer {
    /// The name of the decision.
    pub(crate) decision: String,
    /// Its place in the audit log, from 1.
    #[schemars(range(min = 1))]
    pub(crate) sequence: u64,
    /// What the candidates are.
    pub(crate) actions: Vec<Named>,
    /// The question that a person has to answer first.
    pub(crate) question: Option<Question>,
    /// Why each candidate is not safe in a plausible world that blocks it: the policies.
    pub(crate) blocked: Vec<Blocked>,
    /// Why probes failed.
    pub(crate) failed_probes: Vec<FailedProbe>,
    /// Evidence about the targets or of the request that cannot be right, or not all of it: of what contradicts itself each
    /// value stays possible, and what has an impossible time speaks for nothing.
    pub(crate) inconsistencies: Vec<Inconsistent>,
    /// What went wrong on the way to the worlds.
    pub(crate) error: Option<String>,
    /// What became of the effect; null unless it was asked for.
    pub(crate) effect: Option<Effect>,
    /// The decision record.
    pub(crate) record: DecisionRecord,
}

/// A candidate and its name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Named {
    /// Its name in the record: the action and its number.
    pub(crate) id: String,
    /// What it is, in words.
    pub(crate) action: String,
    /// Why it cannot be carried out, or was not looked at, whatever policies say.
    pub(crate) refused: Option<String>,
}

/// A question to a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Question {
    /// Its name in the proposal.
    pub(crate) clarification: String,
    /// Its words, which are the agent's.
    pub(crate) question: String,
    /// What it is about.
    pub(crate) path: String,
    /// The facts that an answer has to give.
    pub(crate) reveals: Vec<String>,
}

impl Question {
    /// The question that stops a decision.
    fn new(request: &FileRequest, decision: &FileDecision) -> Option<Self> {
        let (wanted, _) = decision.question()?;
        let asked = request.clarifications().find(|asked| asked.id == wanted)?;
        Some(Self {
            clarification: asked.id.clone(),
            question: asked.question.clone(),
            path: asked.path.clone(),
            reveals: asked.reveals.clone(),
        })
    }

    /// A file of answers, but that each fact has all its values, of which the person has to choose one: as it stands it
    /// is refused.
    fn form(&self) -> Value {
        let facts = file_facts().unwrap_or_default();
        let values = |name: &String| {
            let fact = facts.as_slice().iter().find(|fact| fact.name() == name);
            let values = fact.map(|fact| fact.values().join("|"));
            (name.clone(), Value::from(values.unwrap_or_default()))
        };
        let found: Map<String, Value> = self.reveals.iter().map(values).collect();
        json!([{
            "clarification": self.clarification,
            "question": self.question,
            "path": self.path,
            "found": found,
        }])
    }
}

/// A plausible world in which not every candidate is safe, and the policies that say so.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Blocked {
    /// Its name.
    pub(crate) world: String,
    /// What forbids each candidate that is not safe in it, or that nothing permits it.
    pub(crate) why: String,
}

/// A probe that said nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct FailedProbe {
    /// Its name.
    pub(crate) probe: String,
    /// Why it said nothing.
    pub(crate) reason: String,
}

/// Records of evidence that contradict each other, or one with a time that cannot be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Inconsistent {
    /// What is the matter: `contradiction`, `observed_after_recorded`, `observed_in_the_future`,
    /// `recorded_in_the_future` or `recorded_before_ancestor`.
    pub(crate) kind: String,
    /// The ids of the records.
    #[schemars(length(min = 1))]
    pub(crate) records: Vec<String>,
    /// What is the matter, in a sentence.
    pub(crate) problem: String,
}

/// What became of an effect.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It is done: the entry of the journal by which it is undone.
    Entry(u64),
    /// It is done for good, as a permanent deletion: the entry of the journal, which nothing undoes.
    Permanent(u64),
    /// It was refused or failed.
    Failed(String),
}

impl Answer {
    pub(crate) fn new(request: &FileRequest, decision: &FileDecision) -> Self {
        let decided = decision.decided();
        let record = decision.record().clone();
        let actions = request.actions().zip(&record.actions).enumerate();
        let actions = actions.map(|(at, (action, record))| Named {
            id: record.id.clone(),
            action: decision.describe(at).unwrap_or_else(|| action.to_string()),
            refused: decision.refused(at).map(str::to_owned),
        });
        let worlds = decided.case().request().worlds.iter().zip(&record.worlds);
        let blocked = worlds.filter_map(|(world, stands)| {
            let plausible = stands.fate == WorldFate::Plausible;
            Some(Blocked {
                why: world.description.clone().filter(|_| plausible)?,
                world: world.id.clone(),
            })
        });
        let failed = decided.failed_probes();
        Self {
            decision: request.decision().to_owned(),
            sequence: decision.appended().sequence,
            actions: actions.collect(),
            question: Question::new(request, decision),
            blocked: blocked.collect(),
            failed_probes: failed
                .map(|(probe, reason)| FailedProbe {
                    probe: probe.to_owned(),
                    reason: reason.to_owned(),
                })
                .collect(),
            inconsistencies: decision
                .inconsistencies()
                .iter()
                .map(|found| Inconsistent {
                    kind: found.kind().to_owned(),
                    records: found.records().into_iter().map(str::to_owned).collect(),
                    problem: found.to_string(),
                })
                .collect(),
            error: decided.error().map(str::to_owned),
            effect: None,
            record,
        }
    }

    /// The verdict on the first line, then what became of it, what it rests on, and what was found. Names may come from
    /// the request, so each is made harmless to a terminal.
    pub(crate) fn human(&self) -> String {
        let mut text = String::new();
        for part in [
            self.head(),
            self.basis(),
            list(
                "what stands in the way, by plausible world:",
                self.blocked
                    .iter()
                    .map(|blocked| (&blocked.world, &blocked.why)),
            ),
            human::observed(&self.record),
            list(
                "probes that said nothing:",
                self.failed_probes
                    .iter()
                    .map(|failed| (&failed.probe, &failed.reason)),
            ),
            self.inconsistent_evidence(),
            self.worlds(),
            human::threshold(&self.record),
            human::bound(&self.record.bound),
        ] {
            if !part.is_empty() {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part.trim_end());
                text.push('\n');
            }
        }
        text
    }

    fn head(&self) -> String {
        let verdict = human::verdict(&self.record);
        let mut text = verdict.lines().next().unwrap_or_default().to_owned();
        match &self.effect {
            Some(Effect::Entry(entry)) => {
                let _ = write!(
                    text,
                    "\neffect: done; `safecommit restore {entry}` undoes it"
                );
            }
            Some(Effect::Permanent(entry)) => {
                let _ = write!(
                    text,
                    "\neffect: done for good, as entry {entry}; nothing undoes it"
                );
            }
            Some(Effect::Failed(reason)) => {
                let _ = write!(text, "\neffect: FAILED: {}", one_line(reason));
            }
            None if self.record.decision == DecisionKind::Commit => {
                text.push_str("\neffect: none, --execute was not given");
            }
            None => {}
        }
        let decision = one_line(&self.decision);
        let _ = write!(
            text,
            "\ndecision: {decision}, record {} of the audit log",
            self.sequence
        );
        if let Some(question) = &self.question {
            let [id, asked, path] = [&question.clarification, &question.question, &question.path]
                .map(|part| one_line(part));
            let form = json_line(&question.form());
            let _ = write!(
                text,
                "\nquestion `{id}` about `{path}`, in the agent's words: {asked}\n\
                 for the file of --answers, with one value for each fact:\n{form}"
            );
        }
        if let Some(error) = &self.error {
            let _ = write!(text, "\nerror: {}", one_line(error));
        }
        for named in &self.actions {
            let _ = write!(
                text,
                "\n  {}: {}",
                one_line(&named.id),
                one_line(&named.action)
            );
            if let Some(reason) = &named.refused {
                let _ = write!(text, " (refused: {})", one_line(reason));
            }
        }
        text
    }

    /// The certificate of a commit, the reason of a fallback.
    fn basis(&self) -> String {
        match &self.record.certificate {
            None => human::basis(&self.record),
            Some(certificate) => {
                let worlds = certificate.safe_in.iter().map(|world| one_line(world));
                let worlds: Vec<String> = worlds.collect();
                format!(
                    "certificate: `{}` is safe in every plausible world:\n  {}",
                    one_line(&certificate.action),
                    worlds.join("\n  ")
                )
            }
        }
    }

    /// What is the matter with the evidence.
    fn inconsistent_evidence(&self) -> String {
        let found = self.inconsistencies.iter();
        let lines: String = found
            .map(|found| format!("\n  {}", one_line(&found.problem)))
            .collect();
        if lines.is_empty() {
            return lines;
        }
        format!("evidence that cannot be right:{lines}")
    }

    fn worlds(&self) -> String {
        let stand = |fate| {
            let worlds = self.record.worlds.iter();
            worlds.filter(|world| world.fate == fate).count()
        };
        format!(
            "worlds: {} proposed, {} refuted by answers, {} above the threshold, {} plausible",
            self.record.worlds.len(),
            stand(WorldFate::Refuted),
            stand(WorldFate::AboveThreshold),
            stand(WorldFate::Plausible),
        )
    }
}

fn list<'l>(title: &str, lines: impl Iterator<Item = (&'l String, &'l String)>) -> String {
    let lines: Vec<String> = lines
        .map(|(name, said)| format!("\n  {}: {}", one_line(name), one_line(said)))
        .collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("{title}{}", lines.concat())
    }
}
