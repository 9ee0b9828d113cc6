//! `safecommit calibrate`: from scores to a calibration, with a summary of what it promises.

use std::process::ExitCode;

use anyhow::Result;
use safecommit_conformal::{Alpha, Calibration, Delta, Guarantee, Misses, Representation};

use crate::cli::Calibrate;
use crate::input::Source;
use crate::output;
use crate::scores;

pub(crate) fn run(arguments: &Calibrate) -> Result<ExitCode> {
    let source = &arguments.scores;
    if let Some(Source::File(path)) = &arguments.out {
        output::refuse_inputs(path, source.path())?;
    }
    let scores = match (arguments.kind, &arguments.field) {
        (scores::Kind::Jsonl, Some(field)) => scores::read_jsonl(source, field)?,
        (scores::Kind::Csv, Some(field)) => scores::read_csv(source, field)?,
        _ => scores::read_text(source)?,
    };
    let misses = if arguments.misses_counted {
        Misses::AllListed
    } else {
        Misses::AsListed
    };
    let calibration = Calibration::split_conformal_with(arguments.alpha, &scores, misses);
    let mut json = serde_json::to_string_pretty(&calibration)?;
    json.push('\n');
    match &arguments.out {
        Some(Source::File(path)) => output::replace(path, json.as_bytes())?,
        Some(Source::Stdin) | None => {
            output::print(json.as_bytes())?;
        }
    }
    output::note(&summary(&calibration)?);
    Ok(ExitCode::SUCCESS)
}

fn summary(calibration: &Calibration) -> Result<String> {
    let (n, missing, rank) = (calibration.n(), calibration.missing(), calibration.rank());
    let alpha = calibration.alpha();
    let mut text =
        format!("n = {n} cases, {missing} of them missing; alpha = {alpha}; rank = {rank}\n");
    match calibration.threshold().finite() {
        Some(threshold) => {
            text.push_str(&format!("threshold = {threshold}\n"));
            text.push_str(&promise(calibration));
        }
        None => {
            let observed = n - missing;
            text.push_str(&format!(
                "WARNING: the threshold is UNBOUNDED: no world will be excluded by its score.\n\
                 rank {rank} exceeds the {observed} scores that were observed; "
            ));
            text.push_str(&match (cases_needed(alpha, missing), missing) {
                (needed, 0) => format!("alpha = {alpha} takes at least {needed} cases\n"),
                (needed, missing) => format!(
                    "alpha = {alpha} takes at least {needed} cases if no more than {missing} are missing\n"
                ),
            });
        }
    }
    text.push_str(&match calibration.representation() {
        Representation::NotMeasured => {
            "beta = unknown: whether true worlds went unproposed cannot be told from these scores \
             (--misses-counted says that every case is listed)\n"
                .to_owned()
        }
        Representation::Counted(misses) => format!(
            "beta: the true world was not proposed in {} of {} cases, at most {:.6} with confidence 95%\n",
            misses.missing(),
            misses.cases(),
            misses.upper_bound(Delta::new(0.05)?)?,
        ),
    });
    Ok(text)
}

fn promise(calibration: &Calibration) -> String {
    let event = match calibration.representation() {
        Representation::Counted(_) => "the true world is proposed and its score <= threshold",
        Representation::NotMeasured => {
            "the true world's score <= threshold, given that it is proposed"
        }
    };
    match calibration.guarantee() {
        Guarantee::Marginal => format!(
            "guarantee (marginal): P({event}) >= 1 - {}, over calibration cases and the next case \
             together,\nassuming that they are exchangeable; not for a subgroup of cases, and not \
             after a change of tools, memory policy or tasks\n",
            calibration.alpha()
        ),
        other => format!("guarantee: {other}\n"),
    }
}

/// The smallest n for which the rank stays within the observed scores when `missing` are not:
/// floor((n + 1) alpha) >= missing + 1.
fn cases_needed(alpha: Alpha, missing: u64) -> u128 {
    let scale = 10_u128.pow(u32::from(alpha.scale()));
    ((u128::from(missing) + 1) * scale).div_ceil(u128::from(alpha.digits())) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_needed_are_the_fewest_that_bound_the_threshold() {
        for alpha in ["0.5", "0.1", "0.05", "0.3", "0.999", "0.07"] {
            let alpha: Alpha = alpha.parse().unwrap();
            for missing in [0, 1, 7] {
                let enough = |n: u64| n >= missing && alpha.rank(n) <= n - missing;
                let needed = cases_needed(alpha, missing) as u64;
                assert!(enough(needed), "{alpha} {missing}");
                assert!((0..needed).all(|fewer| !enough(fewer)), "{alpha} {missing}");
            }
        }
    }
}
