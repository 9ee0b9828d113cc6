//! `safecommit calibrate`: from scores to a calibration, with a summary of what it promises.

mod history;
mod summary;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use safecommit_conformal::{
    Calibration, Misses, MondrianCalibration, Taxonomy, TaxonomyError, WeightedScores,
};

use crate::calibrations::Calibrations;
use crate::cli::{Calibrate, Declared, Origin, Promise};
use crate::input::Source;
use crate::output;
use crate::scores::{self, Cases};

pub(crate) fn run(arguments: &Calibrate) -> Result<ExitCode> {
    if let Some(Source::File(path)) = &arguments.out {
        output::refuse_inputs(path, inputs(arguments))?;
    }
    let declared = match &arguments.promise {
        Promise::ByStratum { declared, .. } => declare(declared)?,
        _ => None,
    };
    let (json, summary) = match &arguments.origin {
        Origin::Scores {
            source,
            kind,
            columns,
        } => {
            let cases = scores::read(source, *kind, columns, declared.as_ref())?;
            let (calibrations, summary) = calibrate(arguments, &cases, declared)?;
            (serde_json::to_string_pretty(&calibrations)?, summary)
        }
        Origin::Audit { log, labels, by } => {
            let history = history::read(log, labels, by, declared.as_ref())?;
            let (calibrations, summary) = calibrate(arguments, &history.cases, declared)?;
            let (calibration, heading) = history.of_gate(calibrations, by)?;
            (
                serde_json::to_string_pretty(&calibration)?,
                heading + &summary,
            )
        }
    };
    let json = json + "\n";
    match &arguments.out {
        Some(Source::File(path)) => output::replace(path, json.as_bytes())?,
        Some(Source::Stdin) | None => {
            output::print(json.as_bytes())?;
        }
    }
    output::note(&summary);
    Ok(ExitCode::SUCCESS)
}

/// The files that are read.
fn inputs(arguments: &Calibrate) -> impl Iterator<Item = &Path> {
    let strata = match &arguments.promise {
        Promise::ByStratum {
            declared: Declared::In(file),
            ..
        } => file.path(),
        _ => None,
    };
    let log = match &arguments.origin {
        Origin::Audit { log, .. } => Some(log.as_path()),
        Origin::Scores { .. } => None,
    };
    let lines = arguments.origin.lines().path();
    [lines, strata, log].into_iter().flatten()
}

/// The strata that were declared; `None` if they are those of the cases.
fn declare(declared: &Declared) -> Result<Option<Taxonomy>> {
    Ok(match declared {
        Declared::AsSeen => None,
        Declared::Listed(taxonomy) => Some(taxonomy.clone()),
        Declared::In(source) => {
            let taxonomy = Taxonomy::new(scores::read_strata(source)?);
            Some(taxonomy.with_context(|| source.name())?)
        }
    })
}

/// The calibration that promises what was asked for, with its summary.
fn calibrate(
    arguments: &Calibrate,
    cases: &Cases,
    declared: Option<Taxonomy>,
) -> Result<(Calibrations, String)> {
    let (alpha, scores) = (arguments.alpha, &cases.scores);
    let misses = if arguments.misses_counted {
        Misses::AllListed
    } else {
        Misses::AsListed
    };
    let calibration = match &arguments.promise {
        Promise::Marginal => Calibration::split_conformal_with(alpha, scores, misses),
        Promise::TrainingConditional(delta) => {
            Calibration::training_conditional(alpha, *delta, scores, misses)?
        }
        Promise::Simultaneous(delta) => Calibration::simultaneous(alpha, *delta, scores, misses)?,
        Promise::Weighted { case } => {
            let weighted = WeightedScores::new(scores, &cases.weights)?;
            let calibration = weighted.calibrate(alpha, *case);
            let summary = summary::of_weighted(&calibration, &weighted, *case);
            return Ok((Calibrations::One(Box::new(calibration)), summary));
        }
        Promise::ByStratum { minimum, .. } => {
            let taxonomy = match declared {
                Some(taxonomy) => taxonomy,
                None => seen(cases).with_context(|| arguments.origin.lines().name())?,
            };
            let taxonomy = taxonomy.with_minimum(*minimum);
            let listed: Vec<_> = cases.strata.iter().cloned().zip(scores.clone()).collect();
            let mondrian = MondrianCalibration::new(alpha, taxonomy, &listed, misses)?;
            let pool = Calibration::split_conformal_with(alpha, scores, misses);
            let summary = summary::by_stratum(&mondrian, &pool, &arguments.by)?;
            return Ok((Calibrations::ByStratum(mondrian), summary));
        }
    };
    let summary = summary::of_one(&calibration)?;
    Ok((Calibrations::One(Box::new(calibration)), summary))
}

/// The strata of the cases.
fn seen(cases: &Cases) -> Result<Taxonomy> {
    let strata: BTreeSet<_> = cases.strata.iter().cloned().collect();
    Taxonomy::new(strata).map_err(|error| match error {
        TaxonomyError::Empty => anyhow::anyhow!(
            "there is no case, and so no stratum to tell apart (--stratum and --strata declare them)"
        ),
        other => other.into(),
    })
}
