//! One threshold for all families against one a family.

use safecommit_conformal::{
    Alpha, CalibrationScore, CoverageLaw, Misses, MondrianCalibration, Stratum, Taxonomy, Threshold,
};

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::sheet::{Sheet, Value, per_cent};
use super::summary::{HEADINGS, Summary, mean_threshold};
use super::workbench::{Run, Workbench, transposed};
use crate::episode::Family;
use crate::methods::{SafeCommit, calibration_score};
use crate::published::Claim;
use crate::simulate::Cell;

const FAMILIES: usize = Family::ALL.len();

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let (alpha, probes) = (experiments.alpha, experiments.max_probes);
    let temperature = experiments.temperature.get();
    let by_run = bench.try_over_runs(|run| {
        let thresholds = [marginal(run, alpha), conditional(run, alpha)?];
        let cells = thresholds.clone().map(|thresholds| {
            Cell::certifying(SafeCommit::by_family(thresholds, temperature, probes))
        });
        Ok(thresholds.into_iter().zip(run.simulate(&cells)).collect())
    })?;

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(
        &["calibration", "family"],
        &["mean threshold", "coverage", a, b, c, d],
    );
    let mut chart = Chart::new(
        "Coverage by family",
        "family: 1 stale, 2 conflict, 3 poison, 4 authorization_drift",
        "coverage of the true world, per cent",
    );
    let mut summaries = Vec::new();
    for (name, runs) in NAMES.into_iter().zip(transposed(by_run)) {
        let (thresholds, counts): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        let by_family: Vec<Summary> = (0..FAMILIES)
            .map(|family| Summary::of_family(&counts, family))
            .collect();
        for (family, summary) in Family::ALL.into_iter().zip(&by_family) {
            let kappa = mean_threshold(
                thresholds
                    .iter()
                    .map(|run: &Thresholds| &run[family as usize]),
            );
            let cells = [
                Value::text(name),
                Value::text(family.name()),
                Value::Number(kappa, 4),
                Value::rate(summary.coverage),
            ];
            sheet.push(cells.into_iter().chain(summary.cells()));
        }
        let points = by_family.iter().enumerate();
        let points =
            points.map(|(place, summary)| Point::per_cent(place as f64 + 1.0, summary.coverage));
        chart = chart.with(name, Mark::Line, points);
        summaries.push(by_family);
    }
    let target = 100.0 * (1.0 - alpha.to_f64());
    let ends = [1.0, FAMILIES as f64].map(|x| Point::at(x, target));
    chart = chart.with("1 - alpha", Mark::Limit, ends);

    Ok(Report::new(
        "groups",
        "Groups: one threshold, or one a family",
        &format!(
            "SafeCommit with at most {probes} probes at alpha {alpha}, calibrated on all families together \
             (marginal), or on each family's own calibration episodes (group-conditional, Mondrian). The marginal \
             guarantee is about all families together; the group-conditional one holds in each. Coverage is how \
             often the true world of a test episode is retained, in per cent. {}",
            crate::tables::UNITS
        ),
        &sheet,
        chart,
        claims(bench, alpha, &summaries)?,
    ))
}

const NAMES: [&str; 2] = ["marginal", "group-conditional"];

fn claims(
    bench: &Workbench<'_>,
    alpha: Alpha,
    summaries: &[Vec<Summary>],
) -> Result<Vec<Claim>, StudyError> {
    let [marginal, conditional] = summaries else {
        return Ok(Vec::new());
    };
    let experiments = &bench.parameters().experiments;
    let seeds = experiments.seeds.get().len() as f64;
    let share = |episodes: std::num::NonZeroU64| episodes.get() / FAMILIES as u64;
    let n = share(experiments.calibration);
    let test =
        std::num::NonZeroU64::new(share(experiments.test)).unwrap_or(std::num::NonZeroU64::MIN);
    let level = 1.0 - alpha.to_f64();
    // The law of coverage on fresh cases, which does not depend on how the seeds happened to vary.
    let exact = CoverageLaw::new(n, alpha.rank(n))?.empirical_standard_error(test) / seeds.sqrt();
    let mut claims: Vec<_> = Family::ALL
        .into_iter()
        .zip(conditional)
        .map(|(family, summary)| {
            let coverage = summary.coverage.mean;
            claim(
                format!("group-conditional coverage of {family} is within 3 exact standard errors of 1 - alpha"),
                format!(
                    "{:.2} against {:.2}, exact standard error {:.2} points",
                    100.0 * coverage,
                    100.0 * level,
                    100.0 * exact
                ),
                (coverage - level).abs() <= 3.0 * exact,
            )
        })
        .collect();
    let drift = marginal[Family::AuthorizationDrift as usize].coverage;
    claims.push(claim(
        "marginal coverage of authorization_drift falls short of 1 - alpha by more than 3 standard errors",
        per_cent(drift),
        drift.mean + 3.0 * drift.se < level,
    ));
    Ok(claims)
}

pub(super) type Thresholds = [Threshold; FAMILIES];

pub(super) fn marginal(run: &Run<'_>, alpha: Alpha) -> Thresholds {
    let calibration = run.calibrated(alpha);
    Family::ALL.map(|_| calibration.threshold().clone())
}

/// A threshold a family from its own calibration episodes.
pub(super) fn conditional(run: &Run<'_>, alpha: Alpha) -> Result<Thresholds, StudyError> {
    let strata = Family::ALL.map(|family| family.name().parse::<Stratum>());
    let strata: Vec<Stratum> = strata.into_iter().collect::<Result<_, _>>()?;
    let cases: Vec<(Stratum, CalibrationScore)> = run
        .calibration()
        .iter()
        .map(|episode| {
            let stratum = strata[episode.family() as usize].clone();
            (stratum, calibration_score(episode))
        })
        .collect();
    let taxonomy = Taxonomy::new(strata.iter().cloned())?;
    let mondrian = MondrianCalibration::new(alpha, taxonomy, &cases, Misses::AllListed)?;
    let mut thresholds = Family::ALL.map(|_| Threshold::UNBOUNDED);
    for (threshold, stratum) in thresholds.iter_mut().zip(&strata) {
        *threshold = mondrian.calibration(stratum)?.threshold().clone();
    }
    Ok(thresholds)
}
