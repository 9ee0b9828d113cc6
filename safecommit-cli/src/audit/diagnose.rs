//! `safecommit audit diagnose`: which part of the system failed, and how often the truth was not proposed.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use safecommit_conformal::Delta;
use safecommit_core::FailureCause;
use safecommit_gate::audit::{Causes, Diagnosis, Labels, MissRate};
use serde::Serialize;

use crate::cli::{DiagnoseArguments, Format};
use crate::terminal::one_line;
use crate::{configuration, human, output};

pub(super) fn run(arguments: &DiagnoseArguments) -> Result<ExitCode> {
    let configuration = configuration::load(&arguments.configuration)?;
    let source = &arguments.labels;
    let mut labels = Labels::read(source.open()?).with_context(|| source.name())?;
    if let Some(redaction) = configuration::redaction(&configuration)? {
        // The log knows names by their codes.
        labels = labels.redacted(&redaction)?;
    }
    let diagnosis = configuration::open_log(&configuration)?
        .diagnose(&labels, arguments.delta)
        .map_err(|error| super::of_labels_or_log(error, source, configuration.log()))?;
    let text = match arguments.format {
        Format::Human => human(&diagnosis, arguments.delta),
        Format::Json => {
            serde_json::to_string_pretty(&Form::of(&diagnosis, arguments.delta))? + "\n"
        }
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A diagnosis as JSON.
#[derive(Serialize)]
struct Form<'d> {
    labelled: u64,
    unlabelled: u64,
    commits: u64,
    fallbacks: u64,
    pending: u64,
    unsafe_commits: BTreeMap<&'static str, u64>,
    needless_fallbacks: BTreeMap<&'static str, u64>,
    undetermined: &'d [String],
    failed: Vec<FailedForm<'d>>,
    delta: f64,
    beta_over_worlds: RateForm,
    beta_over_signatures: RateForm,
}

#[derive(Serialize)]
struct FailedForm<'d> {
    number: u64,
    decision: &'d str,
    committed: Option<&'d str>,
    cause: &'static str,
}

#[derive(Serialize)]
struct RateForm {
    missing: u64,
    cases: u64,
    rate: Option<f64>,
    upper: f64,
}

impl<'d> Form<'d> {
    fn of(diagnosis: &'d Diagnosis, delta: Delta) -> Self {
        let causes = |causes: &Causes| {
            let causes = causes.iter();
            causes.map(|(cause, n)| (name(*cause), *n)).collect()
        };
        let rate = |rate: &MissRate| RateForm {
            missing: rate.missing,
            cases: rate.cases,
            rate: rate.rate,
            upper: rate.upper,
        };
        let failed = diagnosis.failed.iter().map(|failed| FailedForm {
            number: failed.sequence,
            decision: &failed.decision,
            committed: failed.committed.as_deref(),
            cause: name(failed.cause),
        });
        Self {
            labelled: diagnosis.labelled,
            unlabelled: diagnosis.unlabelled,
            commits: diagnosis.commits,
            fallbacks: diagnosis.fallbacks,
            pending: diagnosis.pending,
            unsafe_commits: causes(&diagnosis.unsafe_commits),
            needless_fallbacks: causes(&diagnosis.needless_fallbacks),
            undetermined: &diagnosis.undetermined,
            failed: failed.collect(),
            delta: delta.value(),
            beta_over_worlds: rate(&diagnosis.worlds),
            beta_over_signatures: rate(&diagnosis.signatures),
        }
    }
}

fn human(diagnosis: &Diagnosis, delta: Delta) -> String {
    let all = diagnosis.labelled + diagnosis.unlabelled;
    let mut text = format!(
        "labelled: {} of {}: {}, {}, {} without an end\n",
        diagnosis.labelled,
        human::count(all as usize, "decision"),
        human::count(diagnosis.commits as usize, "commit"),
        human::count(diagnosis.fallbacks as usize, "fallback"),
        diagnosis.pending,
    );
    text += &format!("unsafe commits: {}\n", causes(&diagnosis.unsafe_commits));
    text += &format!(
        "fallbacks although a candidate was safe: {}\n",
        causes(&diagnosis.needless_fallbacks)
    );
    if !diagnosis.undetermined.is_empty() {
        text += &format!(
            "undetermined, since their labels do not tell what was safe: {}\n",
            human::names(&diagnosis.undetermined)
        );
    }
    text += &rate("beta over worlds", &diagnosis.worlds, delta);
    text += &rate("beta over safety signatures", &diagnosis.signatures, delta);
    text += "the bounds hold if the labelled decisions are a random sample of those to come\n";
    if diagnosis.failed.is_empty() {
        return text;
    }
    let mut table = human::table(["number", "decision", "failure", "cause"]);
    for failed in &diagnosis.failed {
        table.add_row([
            failed.sequence.to_string(),
            format!("`{}`", one_line(&failed.decision)),
            match &failed.committed {
                Some(action) => format!("committed `{}`", one_line(action)),
                None => "fell back".to_owned(),
            },
            name(failed.cause).replace('_', " "),
        ]);
    }
    human::align_right(&mut table, 0);
    text + "\n" + &human::lines_of(&table) + "\n"
}

fn causes(causes: &Causes) -> String {
    let total: u64 = causes.values().sum();
    let parts: Vec<String> = causes
        .iter()
        .map(|(cause, n)| format!("{n} by {}", name(*cause).replace('_', " ")))
        .collect();
    if parts.is_empty() {
        return total.to_string();
    }
    format!("{total} ({})", parts.join(", "))
}

fn rate(what: &str, rate: &MissRate, delta: Delta) -> String {
    match rate.rate {
        None => format!("{what}: unknown, no label tells\n"),
        Some(share) => format!(
            "{what}: not proposed in {} of {}, {share:.6}; at most {} with confidence 1 - {}\n",
            rate.missing,
            human::count(rate.cases as usize, "case"),
            human::rounded_up(rate.upper),
            delta.value(),
        ),
    }
}

/// The name of a cause; a fallback on an error has none of the causes.
fn name(cause: Option<FailureCause>) -> &'static str {
    match cause {
        None => "error",
        Some(FailureCause::Proposal) => "proposal",
        Some(FailureCause::Calibration) => "calibration",
        Some(FailureCause::Evidence) => "evidence",
        Some(FailureCause::SafetyMap) => "safety_map",
        Some(FailureCause::ProbePolicy) => "probe_policy",
    }
}
