//! `safecommit calibrate`: from scores to a calibration, with a summary of what it promises.

mod summary;

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use safecommit_conformal::{
    Calibration, Misses, MondrianCalibration, Taxonomy, TaxonomyError, WeightedScores,
};

use crate::calibrations::Calibrations;
use crate::cli::{Calibrate, Declared, Promise};
use crate::input::Source;
use crate::output;
use crate::scores::{self, Cases};

pub(crate) fn run(arguments: &Calibrate) -> Result<ExitCode> {
    let source = &arguments.scores;
    let strata_file = match &arguments.promise {
        Promise::ByStratum {
            declared: Declared::In(file),
            ..
        } => Some(file),
        _ => None,
    };
    if let Some(Source::File(path)) = &arguments.out {
        let inputs = [Some(source), strata_file].into_iter().flatten();
        output::refuse_inputs(path, inputs.filter_map(Source::path))?;
    }
    let declared = match &arguments.promise {
        Promise::ByStratum { declared, .. } => declare(declared)?,
        _ => None,
    };
    let cases = scores::read(
        source,
        arguments.kind,
        &arguments.columns,
        declared.as_ref(),
    )?;
    let (calibrations, summary) = calibrate(arguments, &cases, declared)?;
    let mut json = serde_json::to_string_pretty(&calibrations)?;
    json.push('\n');
    match &arguments.out {
        Some(Source::File(path)) => output::replace(path, json.as_bytes())?,
        Some(Source::Stdin) | None => {
            output::print(json.as_bytes())?;
        }
    }
    output::note(&summary);
    Ok(ExitCode::SUCCESS)
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
                None => seen(cases).with_context(|| arguments.scores.name())?,
            };
            let taxonomy = taxonomy.with_minimum(*minimum);
            let listed: Vec<_> = cases.strata.iter().cloned().zip(scores.clone()).collect();
            let mondrian = MondrianCalibration::new(alpha, taxonomy, &listed, misses)?;
            let pool = Calibration::split_conformal_with(alpha, scores, misses);
            let summary = summary::by_stratum(&mondrian, &pool, &arguments.columns.by)?;
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
