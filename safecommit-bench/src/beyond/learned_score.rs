//! A learned score against the default one at the same level.

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::sheet::{Sheet, Value, per_cent};
use super::workbench::Workbench;
use crate::counts::Estimate;
use crate::learned::{ScoreComparison, ScoreRun, compare_scores};
use crate::published::Claim;

/// By how much probes have to fall, and task success without probes to rise.
const PROBES_AT_MOST: f64 = 0.7;
const NO_PROBE_SUCCESS: f64 = 0.60;

const LEARNED: &str = "learned, reads all worlds";
const OWN: &str = "learned, each world alone";

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let parameters = bench.parameters();
    let experiments = &parameters.experiments;
    let choice = bench.learned()?;
    let own = choice.best_of_one_world();
    let (mut names, mut scores) = (
        vec!["default (Eq. 9)", LEARNED],
        vec![&choice.chosen().score],
    );
    if let Some(own) = own {
        names.push(OWN);
        scores.push(&own.score);
    }
    let compared = compare_scores(parameters, &scores);
    // The seeds were done together.
    bench.over_runs(|_| ());

    let mut sheet = Sheet::new(
        &["score"],
        &[
            "retained worlds",
            "probes",
            "probes saved",
            "TS without probes",
            "UCR",
            "TS",
            "coverage",
        ],
    );
    let mut chart = Chart::new(
        "What a learned score is worth",
        "probes an episode",
        "TS without probes, per cent of episodes",
    );
    let default = compared.first().map_or(0.0, |default| probes(default).mean);
    for (name, score) in names.iter().zip(&compared) {
        let probes = probes(score);
        let success = score.over_seeds(ScoreRun::task_success_without_probes);
        sheet.push([
            Value::text(*name),
            Value::mean(score.over_seeds(ScoreRun::mean_retained_worlds), 3),
            Value::mean(probes, 3),
            Value::Share(1.0 - probes.mean / default),
            Value::rate(success),
            Value::rate(score.over_seeds(ScoreRun::unsafe_commit_rate)),
            Value::rate(score.over_seeds(ScoreRun::task_success)),
            Value::rate(score.over_seeds(ScoreRun::coverage)),
        ]);
        chart = chart.with(*name, Mark::Dots, [Point::per_cent(probes.mean, success)]);
    }
    let alpha = experiments.alpha.to_f64();
    let mut claims = Vec::new();
    for (name, score) in names.iter().zip(&compared).skip(1) {
        claims.extend(holds(name, score, default, alpha));
    }
    Ok(Report::new(
        "learned_score",
        "Learned score: what the four terms of a score tell",
        &format!(
            "The default score is the sum of four terms (Eq. 9). The learned scores are logistic regressions on \
             those terms, fitted on the frozen train split and chosen among {} candidates on the frozen validation \
             split, then calibrated on each seed's calibration episodes at alpha {}, like the default; at most {} \
             probes. What may move a score: one of them reads the terms of all proposed worlds, so whoever adds \
             worlds can move it; the other reads each world's own terms alone. Neither sees family or truth. How a \
             score is split over its terms was set, not matched to anything, and it tells deceptive worlds apart \
             almost everywhere; so this shows what a better score is worth under the same guarantee, not how well \
             real evidence tells them apart. A threshold that falls on a tie covers more than \
             asked for: the score of all worlds is 0 for nearly every true world, so its threshold is 0 at any \
             level from about 0.01 on; the score of each world alone ties where a world has no evidence against it. \
             Rates in per cent.",
            choice.results().len(),
            experiments.alpha,
            experiments.max_probes,
        ),
        &sheet,
        chart,
        claims,
    ))
}

fn probes(score: &ScoreComparison) -> Estimate {
    score.over_seeds(ScoreRun::mean_probes)
}

fn holds(name: &str, score: &ScoreComparison, default: f64, alpha: f64) -> [Claim; 4] {
    let (probes, ucr) = (
        probes(score),
        score.over_seeds(ScoreRun::unsafe_commit_rate),
    );
    let success = score.over_seeds(ScoreRun::task_success_without_probes);
    let coverage = score.over_seeds(ScoreRun::coverage);
    [
        claim(
            format!("{name}: at least 30 per cent fewer probes"),
            format!("{:.3} against {default:.3}", probes.mean),
            probes.mean <= PROBES_AT_MOST * default,
        ),
        claim(
            format!("{name}: TS without probes is at least 60 per cent"),
            per_cent(success),
            success.mean >= NO_PROBE_SUCCESS,
        ),
        claim(
            format!("{name}: UCR is at most alpha + 3 s.e."),
            per_cent(ucr),
            ucr.mean <= alpha + 3.0 * ucr.se,
        ),
        claim(
            format!("{name}: coverage is at least 1 - alpha - 3 s.e."),
            per_cent(coverage),
            coverage.mean >= 1.0 - alpha - 3.0 * coverage.se,
        ),
    ]
}
