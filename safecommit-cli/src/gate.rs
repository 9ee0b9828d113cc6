//! `safecommit gate`: from a proposal about files to a recorded decision, and on demand to its effect.

pub(crate) mod answer;

use std::collections::BTreeMap;
use std::fs::File;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use safecommit_core::DecisionKind;
use safecommit_gate::audit::AuditError;
use safecommit_gate::{
    ClarificationAnswer, EvidenceReader, EvidenceRecord, EvidenceStore, FileGate, FileGateError,
    FileProposal,
};

use crate::cli::{Format, GateCommand};
use crate::input::{InputError, JsonText};
use crate::{FAILURE, answers, configuration};

use answer::{Answer, Effect};

/// How long to wait for whoever writes to an evidence store.
const LOCK_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

pub(crate) fn run(command: &GateCommand) -> Result<ExitCode> {
    let configuration = configuration::load(&command.configuration)?;
    let mut gate = FileGate::open(&configuration)?;
    let evidence = read_all_evidence(&command.evidence)?;
    match command.single {
        Some(format) => single(command, &mut gate, &evidence, format),
        None => answers::to_lines(
            &command.request,
            |json| {
                answer(json, &mut gate, &evidence, None, command.execute)
                    .map_err(|error| placed(error, json))
            },
            |answer| matches!(answer.effect, Some(Effect::Failed(_))),
            "are no request that can be decided, or had an effect that failed",
        ),
    }
}

fn single(
    command: &GateCommand,
    gate: &mut FileGate,
    evidence: &[EvidenceRecord],
    format: Format,
) -> Result<ExitCode> {
    let text = command.request.read()?;
    let json = JsonText {
        source: &command.request,
        first_line: 1,
        text: &text,
    };
    let text_of_answers = match &command.answers {
        Some(source) => Some((source, source.read()?)),
        None => None,
    };
    let answers = text_of_answers.as_ref().map(|(source, text)| JsonText {
        source,
        first_line: 1,
        text,
    });
    let answer = answer(json, gate, evidence, answers, command.execute);
    let answer = answer.map_err(|error| match error.downcast::<InputError>() {
        Ok(error) if error.file == json.source.name() => json.explain_single(error).into(),
        Ok(error) => error.into(),
        Err(other) => other,
    })?;
    answers::print_single(match format {
        Format::Human => answer.human(),
        Format::Json => serde_json::to_string_pretty(&answer)?,
    })?;
    Ok(match &answer.effect {
        Some(Effect::Failed(_)) => ExitCode::from(FAILURE),
        Some(Effect::Entry(_) | Effect::Permanent(_)) | None => {
            answers::exit_code(answer.record.decision)
        }
    })
}

/// The error at its place; one that is about no field is at the line of its request.
fn placed(error: anyhow::Error, json: JsonText<'_>) -> InputError {
    error.downcast::<InputError>().unwrap_or_else(|other| {
        InputError::new(json.source, json.first_line, crate::in_one_sentence(&other))
    })
}

/// Decides one request, and releases what it commits if that is asked for.
fn answer(
    json: JsonText<'_>,
    gate: &mut FileGate,
    evidence: &[EvidenceRecord],
    answers: Option<JsonText<'_>>,
    execute: bool,
) -> Result<Answer> {
    let proposal = json.parse(PhantomData::<FileProposal>)?;
    let mut request = proposal
        .check(evidence.iter().cloned())
        .map_err(|error| json.error_at(&error.path, error.problem.to_string()))?;
    if let Some(answers) = answers {
        if answers.text.trim_ascii_start().starts_with('{') {
            let problem = "the file has to be a list of answers, also if there is only one";
            return Err(InputError::new(answers.source, answers.first_line, problem).into());
        }
        let given = answers.parse(PhantomData::<Vec<ClarificationAnswer>>)?;
        request = request.with_answers(given).map_err(|error| {
            // The file is the list itself.
            let field = error.path.strip_prefix("answers").unwrap_or(&error.path);
            answers.error_at(field, error.problem.to_string())
        })?;
    }
    let now = jiff::Timestamp::now();
    let decision = gate.decide(&request, now).map_err(|error| match error {
        FileGateError::Audit(AuditError::DecisionExists(_)) => {
            let problem = format!("{error}: each decision has a name of its own, say another");
            json.error_at("decision", problem).into()
        }
        other => anyhow::Error::from(other),
    })?;
    let mut answer = Answer::new(&request, &decision);
    if execute && answer.record.decision == DecisionKind::Commit {
        answer.effect = Some(match gate.release(decision) {
            Ok(receipt) if receipt.permanent => Effect::Permanent(receipt.entry),
            Ok(receipt) => Effect::Entry(receipt.entry),
            Err(error @ (FileGateError::Execute(_) | FileGateError::File(_))) => {
                Effect::Failed(error.to_string())
            }
            Err(other) => return Err(other.into()),
        });
    }
    Ok(answer)
}

/// The records of all files. A name stands once among them: two records of one name would be told from each other by
/// nothing.
fn read_all_evidence(files: &[PathBuf]) -> Result<Vec<EvidenceRecord>> {
    let mut all: Vec<EvidenceRecord> = Vec::new();
    let mut places = BTreeMap::new();
    for file in files {
        let shown = file.display();
        let is_store = is_store(file);
        for (number, record) in (1..).zip(read_evidence(file)?) {
            // A record is a line, and no line is passed over.
            let place = match is_store {
                true => format!("`{shown}`"),
                false => format!("`{shown}` line {number}"),
            };
            let id = record.id();
            if let Some(first) = places.get(id) {
                return Err(anyhow!(
                    "{place}: evidence `{id}` stands twice, first in {first}"
                ));
            }
            places.insert(id.to_owned(), place);
            all.push(record);
        }
    }
    Ok(all)
}

/// Whether a file of evidence is an SQLite store, by its name.
fn is_store(path: &Path) -> bool {
    let of_store = ["db", "sqlite", "sqlite3"];
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| of_store.contains(&extension))
}

fn read_evidence(path: &Path) -> Result<Vec<EvidenceRecord>> {
    let shown = path.display().to_string();
    // A store that is not there would be made, and a name that was mistyped would stand for no evidence at all.
    let file = File::open(path).with_context(|| format!("cannot read `{shown}`"))?;
    if is_store(path) {
        let store = EvidenceStore::open(path, LOCK_WAIT)?;
        return Ok(store.all()?);
    }
    let reader = EvidenceReader::new(shown, std::io::BufReader::new(file));
    Ok(reader.collect::<Result<_, _>>()?)
}
