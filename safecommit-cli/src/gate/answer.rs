//! What `gate` answers to a request.

use std::fmt::Write as _;

use safecommit_core::{DecisionKind, DecisionRecord, WorldFate};
use safecommit_gate::{FileDecision, FileRequest};
use serde::Serialize;

use crate::human;
use crate::terminal::one_line;

/// A recorded decision, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Answer {
    /// The name of the decision.
    pub(crate) decision: String,
    /// Its place in the audit log, from 1.
    pub(crate) sequence: u64,
    /// What the candidates are.
    pub(crate) actions: Vec<Named>,
    /// The question that a person has to answer first.
    pub(crate) question: Option<Question>,
    /// Why each candidate is not safe in a plausible world that blocks it: the policies.
    pub(crate) blocked: Vec<Blocked>,
    /// Why probes failed.
    pub(crate) failed_probes: Vec<FailedProbe>,
    /// What went wrong on the way to the worlds.
    pub(crate) error: Option<String>,
    /// What became of the effect; null unless it was asked for.
    pub(crate) effect: Option<Effect>,
    /// The decision record.
    pub(crate) record: DecisionRecord,
}

/// A candidate and its name.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) action: String,
    /// Why it cannot be carried out, if it cannot.
    pub(crate) refused: Option<String>,
}

/// A question to a person.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Question {
    pub(crate) clarification: String,
    pub(crate) question: String,
}

/// A plausible world in which not every candidate is safe, and the policies that say so.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Blocked {
    pub(crate) world: String,
    pub(crate) why: String,
}

/// A probe that said nothing.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FailedProbe {
    pub(crate) probe: String,
    pub(crate) reason: String,
}

/// What became of an effect.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It is done: the entry of the journal by which it is undone.
    Entry(u64),
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
            action: action.to_string(),
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
        let failed = decided.failed_probes().iter();
        Self {
            decision: request.decision().to_owned(),
            sequence: decision.appended().sequence,
            actions: actions.collect(),
            question: decision.question().map(|(id, question)| Question {
                clarification: id.to_owned(),
                question: question.to_owned(),
            }),
            blocked: blocked.collect(),
            failed_probes: failed
                .map(|(probe, reason)| FailedProbe {
                    probe: probe.clone(),
                    reason: reason.clone(),
                })
                .collect(),
            error: decided.error().map(str::to_owned),
            effect: None,
            record,
        }
    }

    /// The verdict on the first line, then the effect and what the names stand for, then the record.
    pub(crate) fn human(&self) -> String {
        let record = human::render(&self.record);
        let (verdict, rest) = record.split_once('\n').unwrap_or((&record, ""));
        let mut text = format!("{verdict}\n");
        let mut line = |line: String| text.push_str(&format!("{line}\n"));
        match &self.effect {
            Some(Effect::Entry(entry)) => line(format!(
                "effect: done; `safecommit restore {entry}` undoes it"
            )),
            Some(Effect::Failed(reason)) => line(format!("effect: FAILED: {}", one_line(reason))),
            None if self.record.decision == DecisionKind::Commit => {
                line("effect: none, --execute was not given".to_owned());
            }
            None => {}
        }
        line(format!(
            "decision: {}, record {} of the audit log",
            one_line(&self.decision),
            self.sequence
        ));
        if let Some(question) = &self.question {
            line(format!(
                "question `{}`: {}",
                one_line(&question.clarification),
                one_line(&question.question)
            ));
        }
        if let Some(error) = &self.error {
            line(format!("error: {}", one_line(error)));
        }
        for named in &self.actions {
            let refused = named.refused.as_deref();
            let refused =
                refused.map(|reason| format!(" (cannot be carried out: {})", one_line(reason)));
            line(format!(
                "  {}: {}{}",
                one_line(&named.id),
                one_line(&named.action),
                refused.unwrap_or_default()
            ));
        }
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = write!(text, "\n{title}\n");
                for line in lines {
                    let _ = writeln!(text, "  {line}");
                }
            }
        };
        let blocked = self.blocked.iter();
        list(
            "what stands in the way, by plausible world:",
            blocked
                .map(|blocked| format!("{}: {}", one_line(&blocked.world), one_line(&blocked.why)))
                .collect(),
        );
        let failed = self.failed_probes.iter();
        list(
            "probes that said nothing:",
            failed
                .map(|failed| format!("{}: {}", one_line(&failed.probe), one_line(&failed.reason)))
                .collect(),
        );
        text.push_str(rest);
        text
    }
}
