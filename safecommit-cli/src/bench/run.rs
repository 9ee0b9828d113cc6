//! `safecommit bench run`: one method on frozen splits, a decision an episode.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use safecommit_bench::{
    Counts, Ending, EpisodeRecord, FrozenData, Generator, MANIFEST_FILE, Memory, MethodSettings,
    Parameters, Split, Suite, Verdict, calibrate, count, decide, file_name, tuned,
};
use safecommit_core::{DecisionKind, FallbackKind};
use serde::Serialize;

use crate::cli::RunArguments;
use crate::input::Source;
use crate::output;

/// A decision on an episode. The order of the fields is that of the line.
#[derive(Debug, Serialize)]
struct DecisionLine<'a> {
    id: &'a str,
    decision: DecisionKind,
    /// Null unless the decision is to commit.
    action: Option<&'a str>,
    /// In the order in which they were made.
    probes: Vec<&'a str>,
    /// The threshold; null if unbounded.
    kappa: Option<f64>,
}

pub(super) fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let directory = &arguments.data;
    if let Source::File(path) = &arguments.decisions {
        let files = Split::ALL.map(file_name).into_iter();
        let files = files.chain([MANIFEST_FILE.to_owned()]);
        let files: Vec<PathBuf> = files.map(|name| directory.join(name)).collect();
        output::refuse_inputs(path, files.iter().map(PathBuf::as_path))?;
    }
    let data = FrozenData::load(directory)?;
    let calibration = data.episodes(Split::Calibration)?;
    let validation = data.episodes(Split::Validation)?;
    let test = data.episodes(Split::Test)?;

    let calibrated = calibrate(arguments.alpha, &calibration);
    let threshold = calibrated.threshold();
    let kappa = threshold.finite().map(|score| score.value());
    let method = arguments.method.build(&MethodSettings {
        threshold: threshold.clone(),
        temperature: Parameters::project()?.experiments.temperature.get(),
        max_probes: arguments.max_probes,
        conflict: tuned(arguments.alpha, &calibration, &validation),
    });
    // A method's own random choices come from the suite that the manifest names, by row of the file.
    let suite = Suite::Frozen {
        seed: data.manifest().seed(),
    };
    let generator = Generator::new(data.manifest().parameters(), suite, Split::Test);

    let (mut counts, mut memory) = (Counts::default(), Memory::default());
    let mut lines = Vec::new();
    for (row, (record, episode)) in data.records(Split::Test).iter().zip(&test).enumerate() {
        let policy = || generator.policy_stream(row as u64);
        let ending = decide(method.as_ref(), episode, &policy, &mut memory);
        count(
            episode,
            &ending,
            arguments.method.certifies(),
            &memory,
            &mut counts,
        );
        serde_json::to_writer(&mut lines, &line(record, &ending, kappa))?;
        lines.push(b'\n');
    }

    let report = report(arguments, kappa, &counts);
    match &arguments.decisions {
        Source::File(path) => {
            output::replace(path, &lines)?;
            output::print(report.as_bytes())?;
        }
        Source::Stdin => {
            output::print(&lines)?;
            output::note(&report);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line<'a>(record: &'a EpisodeRecord, ending: &Ending, kappa: Option<f64>) -> DecisionLine<'a> {
    let (decision, action) = match ending.verdict {
        Verdict::Commit { action } => (
            DecisionKind::Commit,
            Some(record.actions()[action].as_str()),
        ),
        Verdict::Fallback { kind, .. } => {
            let decision = match kind {
                FallbackKind::Defer => DecisionKind::Defer,
                FallbackKind::Escalate => DecisionKind::Escalate,
                FallbackKind::Abstain => DecisionKind::Abstain,
            };
            (decision, None)
        }
    };
    let probes = ending
        .probes
        .iter()
        .map(|&probe| record.probes()[probe].id());
    DecisionLine {
        id: record.id(),
        decision,
        action,
        probes: probes.collect(),
        kappa,
    }
}

/// Counts first, then the rates over all episodes that they give.
fn report(arguments: &RunArguments, kappa: Option<f64>, counts: &Counts) -> String {
    let kappa = kappa.map_or_else(|| "unbounded".to_owned(), |kappa| kappa.to_string());
    let fallbacks = counts.fallbacks;
    format!(
        "method {}, alpha {}, at most {} probes, kappa {kappa}\n\
         episodes        {:>6}\n\
         safe commits    {:>6}   task success       {:.4}\n\
         unsafe commits  {:>6}   unsafe commit rate {:.4}\n\
         fallbacks       {:>6}   fallback rate      {:.4}   (defer {}, escalate {}, abstain {})\n\
         probes          {:>6}   probes an episode  {:.4}\n",
        arguments.method,
        arguments.alpha,
        arguments.method.probes_within(arguments.max_probes),
        counts.episodes,
        counts.safe_commits,
        counts.task_success(),
        counts.unsafe_commits,
        counts.unsafe_commit_rate(),
        fallbacks.total(),
        counts.fallback_rate(),
        fallbacks.defer,
        fallbacks.escalate,
        fallbacks.abstain,
        counts.probes,
        counts.mean_probes(),
    )
}
