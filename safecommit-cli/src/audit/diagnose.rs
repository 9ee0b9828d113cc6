//! `safecommit audit diagnose`: which part of the system failed, and how often the truth was not proposed.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use safecommit_conformal::Delta;
use safecommit_core::FailureCause;
use safecommit_gate::audit::{Causes, Diagnosis, MissRate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::cli::{DiagnoseArguments, Format};
use crate::terminal::one_line;
use crate::{configuration, human, labels, output};

pub(super) fn run(arguments: &DiagnoseArguments) -> Result<ExitCode> {
    let configuration = configuration::load(&arguments.configuration)?;
    let source = &arguments.labels;
    let mut labels = labels::read(source)?;
    if let Some(redaction) = configuration::redaction(&configuration)? {
        // The log knows names by their codes.
        labels = labels.redacted(&redaction)?;
    }
    let diagnosis = configuration::open_log(&configuration)?
        .diagnose(&labels, arguments.delta)
        .map_err(|error| labels::fault(error, source, configuration.log()))?;
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
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Form<'d> {
    /// How many decisions of the log have a label.
    labelled: u64,
    /// How many have none.
    unlabelled: u64,
    /// How many of the labelled ones are to commit.
    commits: u64,
    /// How many fell back.
    fallbacks: u64,
    /// How many wait for an answer.
    pending: u64,
    /// How many commits were unsafe, by cause.
    #[schemars(schema_with = "by_cause")]
    unsafe_commits: BTreeMap<&'static str, u64>,
    /// How many fell back although a candidate was safe, by cause.
    #[schemars(schema_with = "by_cause")]
    needless_fallbacks: BTreeMap<&'static str, u64>,
    /// The decisions whose labels do not tell what was safe.
    undetermined: &'d [String],
    /// Each failure that is counted above.
    failed: Vec<FailedForm<'d>>,
    /// The bounds hold with confidence 1 - delta.
    #[schemars(range(min = 0.0, max = 1.0))]
    delta: f64,
    /// How often the true world was not proposed.
    beta_over_worlds: RateForm,
    /// How often no proposed world had the candidates as safe that were.
    beta_over_signatures: RateForm,
}

/// A decision that failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Failure", deny_unknown_fields)]
struct FailedForm<'d> {
    /// Its place in the audit log, from 1.
    #[schemars(range(min = 1))]
    number: u64,
    /// Its name.
    decision: &'d str,
    /// What was committed; null for a fallback.
    committed: Option<&'d str>,
    /// The part of the system that failed; `error` for a fallback on an error.
    #[schemars(schema_with = "cause")]
    cause: &'static str,
}

/// How often something was not proposed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MissRate", deny_unknown_fields)]
struct RateForm {
    /// In how many cases it was not.
    missing: u64,
    /// How many cases tell.
    cases: u64,
    /// The share; null without a case.
    #[schemars(range(min = 0.0, max = 1.0))]
    rate: Option<f64>,
    /// The upper bound on the probability.
    #[schemars(range(min = 0.0, max = 1.0))]
    upper: f64,
}

const CAUSES: [Option<FailureCause>; 6] = [
    None,
    Some(FailureCause::Proposal),
    Some(FailureCause::Calibration),
    Some(FailureCause::Evidence),
    Some(FailureCause::SafetyMap),
    Some(FailureCause::ProbePolicy),
];

fn cause(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": CAUSES.map(name)})
}

fn by_cause(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": {"enum": CAUSES.map(name)},
        "additionalProperties": {"type": "integer", "minimum": 1}
    })
}

impl Form<'static> {
    /// One unsafe commit among ten labelled decisions.
    pub(crate) fn example() -> Self {
        let rate = |missing, rate, upper| RateForm {
            missing,
            cases: 10,
            rate: Some(rate),
            upper,
        };
        Self {
            labelled: 10,
            unlabelled: 2,
            commits: 8,
            fallbacks: 2,
            pending: 0,
            unsafe_commits: BTreeMap::from([(name(Some(FailureCause::Calibration)), 1)]),
            needless_fallbacks: BTreeMap::new(),
            undetermined: &[],
            failed: vec![FailedForm {
                number: 4,
                decision: "cleanup-4",
                committed: Some("delete-1"),
                cause: name(Some(FailureCause::Calibration)),
            }],
            delta: 0.05,
            beta_over_worlds: rate(1, 0.1, 0.394),
            beta_over_signatures: rate(0, 0.0, 0.259),
        }
    }
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
