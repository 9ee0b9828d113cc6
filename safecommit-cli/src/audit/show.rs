//! `safecommit audit show`: one decision, or a line for each.

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use safecommit_core::{DecisionKind, DecisionRecord, ProbeRule, Purpose};
use safecommit_gate::GateConfiguration;
use safecommit_gate::audit::{
    AuditReader, AuditRecord, Entry, MadeProbe, RedactedField, ReportedFault,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Format, ShowArguments};
use crate::terminal::one_line;
use crate::{configuration, human, output};

pub(super) fn run(arguments: &ShowArguments) -> Result<ExitCode> {
    let configuration = configuration::load(&arguments.configuration)?;
    let reader = configuration::open_log(&configuration)?;
    let text = match &arguments.decision {
        Some(decision) => {
            let record = find(&configuration, &reader, decision)
                .with_context(|| configuration.log().display().to_string())?;
            match arguments.format {
                Format::Human => whole(&record),
                Format::Json => serde_json::to_string_pretty(&record)? + "\n",
            }
        }
        None => {
            let records = reader.records();
            let records = records.with_context(|| configuration.log().display().to_string())?;
            list(&records, arguments.format)?
        }
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The decision of a name, of the code of a name, or of a number.
fn find(
    configuration: &GateConfiguration,
    reader: &AuditReader,
    decision: &str,
) -> Result<AuditRecord> {
    if let Some(record) = reader.record(decision)? {
        return Ok(record);
    }
    if let Some(redaction) = configuration::redaction(configuration)?
        && let Some(record) = reader.record(&redaction.code(decision))?
    {
        return Ok(record);
    }
    let number = decision.parse::<usize>().ok().filter(|number| *number > 0);
    let Some(number) = number else {
        return Err(anyhow!(
            "there is no decision `{decision}` (`safecommit audit show` lists all)"
        ));
    };
    let records = reader.records()?;
    let count = records.len();
    let record = records.into_iter().nth(number - 1);
    record.ok_or_else(|| {
        let decisions = human::count(count, "decision");
        anyhow!("there is no decision `{decision}`, there are {decisions}")
    })
}

/// A decision in a list.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Line<'r> {
    /// Its place in the audit log, from 1.
    #[schemars(range(min = 1))]
    number: usize,
    /// Its name.
    decision: &'r str,
    /// When it was taken.
    #[schemars(extend("format" = "date-time"))]
    at: String,
    /// What was decided.
    verdict: DecisionKind,
    /// What was committed.
    action: Option<&'r str>,
    /// The probe that was to be made, or the question to be answered.
    probe: Option<&'r str>,
    /// Why it fell back.
    fallback: Option<&'r str>,
}

impl<'r> Line<'r> {
    pub(crate) fn of(number: usize, entry: &'r Entry) -> Self {
        let record = &entry.record;
        Self {
            number,
            decision: &entry.decision,
            at: entry.at.to_string(),
            verdict: record.decision,
            action: record.action.as_deref(),
            probe: record.probe.as_ref().map(|probe| probe.id.as_str()),
            fallback: (record.fallback.as_ref()).map(|fallback| fallback.reason.as_str()),
        }
    }
}

fn list(records: &[AuditRecord], format: Format) -> Result<String> {
    let lines = (1..).zip(records);
    let lines = lines.map(|(number, record)| Line::of(number, &record.entry));
    if format == Format::Json {
        let mut text = String::new();
        for line in lines {
            text += &serde_json::to_string(&line)?;
            text.push('\n');
        }
        return Ok(text);
    }
    if records.is_empty() {
        return Ok("no decision yet\n".to_owned());
    }
    let mut table = human::table(["number", "at", "decision", "verdict"]);
    for (line, record) in lines.zip(records) {
        table.add_row([
            line.number.to_string(),
            line.at,
            format!("`{}`", one_line(line.decision)),
            verdict(&record.entry.record),
        ]);
    }
    human::align_right(&mut table, 0);
    Ok(human::lines_of(&table) + "\n")
}

fn verdict(record: &DecisionRecord) -> String {
    let verdict = human::verdict(record);
    let verdict = verdict.lines().next().unwrap_or_default().to_owned();
    match &record.fallback {
        Some(fallback) => format!("{verdict} ({})", one_line(&fallback.reason)),
        None => verdict,
    }
}

/// Everything that the log has of a decision but its request, which the JSON form has.
fn whole(record: &AuditRecord) -> String {
    let entry = &record.entry;
    let mut text = format!(
        "decision: `{}`\nat: {}\n\n",
        one_line(&entry.decision),
        entry.at
    );
    text += &human::render(&entry.record);
    text.push('\n');
    if !entry.probes.is_empty() {
        text += &format!(
            "probes made, in their order:\n{}\n\n",
            probes(&entry.probes)
        );
    }
    if !entry.details.is_empty() {
        text += "details:\n";
        for (name, value) in &entry.details {
            text += &format!("  {}: {}\n", one_line(name), one_line(value));
        }
    }
    if !entry.side_effects.is_empty() {
        text += "what each probe may do:\n";
        for (probe, side_effect) in &entry.side_effects {
            text += &format!("  `{}`: {}\n", one_line(probe), side_effect.name());
        }
    }
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text += &format!("{name}: {}\n", one_line(&value));
        }
    };
    line("error", entry.error.clone());
    line(
        "reported to the controller",
        entry.fault.map(|fault| match fault {
            ReportedFault::Policy => "a policy could not be evaluated".to_owned(),
            ReportedFault::TruncatedSupport => "the support was cut".to_owned(),
        }),
    );
    let (durations, group, versions) = (entry.durations, &entry.group, &entry.versions);
    line(
        "took",
        Some(format!(
            "{} us for the worlds, {} us for the decision, {} us for probes; {} of time counted",
            durations.proposing,
            durations.deciding,
            durations.probing,
            human::count(entry.elapsed_steps as usize, "step"),
        )),
    );
    line("family", group.family.clone());
    line("severity", group.severity.clone());
    line("source", group.source.clone());
    line(
        "program",
        Some(versions.program.clone()).filter(|program| !program.is_empty()),
    );
    line("policies", versions.policy.clone());
    line("score", versions.score.clone());
    line(
        "calibration",
        record.calibration.map(|digest| digest.to_string()),
    );
    line("kept as codes", codes(&record.redacted));
    text
}

/// What was expected of each probe, what came of it, and how long it took.
fn probes(made: &[MadeProbe]) -> String {
    let mut table = human::table([
        "probe",
        "expected shrinkage",
        "per cost",
        "chosen for",
        "us",
        "outcome",
    ]);
    for probe in made {
        let outcome = match (&probe.outcome, &probe.failure) {
            (Some(outcome), _) => format!("`{}`", one_line(outcome)),
            (None, Some(reason)) => format!("failed: {}", one_line(reason)),
            (None, None) => "no answer".to_owned(),
        };
        table.add_row([
            one_line(&probe.id),
            human::share(probe.expected_shrinkage),
            human::share(probe.score),
            chosen_for(probe),
            probe.duration.to_string(),
            outcome,
        ]);
    }
    for column in [1, 2, 4] {
        human::align_right(&mut table, column);
    }
    human::lines_of(&table)
}

/// What the rule compared, with its value where that is not the shrinkage.
fn chosen_for(probe: &MadeProbe) -> String {
    let why = match probe.rule {
        ProbeRule::Shrinkage => "shrinkage",
        ProbeRule::Optimal | ProbeRule::Rollout => "the least expected cost",
        ProbeRule::InformationGain => "what it tells about the world",
        ProbeRule::SafetyInformation => "what it tells about what is safe",
        ProbeRule::Random => "nothing, it was drawn",
        ProbeRule::MostPlausible => "the most plausible world",
    };
    let nats = probe.information.map_or_else(String::new, |information| {
        format!(", {} nats per cost", human::share(information))
    });
    let verifies = match probe.purpose {
        Purpose::Certify => "",
        Purpose::Verify => ", to verify",
    };
    format!("{why}{nats}{verifies}")
}

fn codes(fields: &[RedactedField]) -> Option<String> {
    let name = |field: &RedactedField| match field {
        RedactedField::Detail(name) => format!("detail `{name}`"),
        other => format!("{other:?}").to_lowercase(),
    };
    let names: Vec<String> = fields.iter().map(name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
