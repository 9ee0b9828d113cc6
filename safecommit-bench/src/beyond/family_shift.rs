//! More of one family than the calibration had: unweighted against weighted thresholds.

use safecommit_conformal::{
    Alpha, CalibrationScore, Threshold, Weight, WeightError, WeightedScores, WeightedTable,
};

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::groups;
use super::report::{Report, claim};
use super::sheet::{Sheet, Value, per_cent};
use super::summary::{HEADINGS, Summary, mean_threshold};
use super::workbench::{Run, Workbench, transposed};
use crate::counts::Estimate;
use crate::episode::{Episode, Family};
use crate::generator::{DrawnEpisode, Split};
use crate::methods::{SafeCommit, calibration_score};
use crate::published::Claim;
use crate::random::StreamKey;
use crate::simulate::{Cell, FamilyCounts, simulate_on};

const FAMILIES: usize = Family::ALL.len();

/// The family of which there is more.
const GROWING: Family = Family::AuthorizationDrift;

/// Its share of the test episodes; in calibration it has the first.
const SHARES: [f64; 4] = [0.25, 0.40, 0.55, 0.70];

const NAMES: [&str; 3] = ["unweighted", "weighted", "group-conditional"];

/// What one run gave for one share and calibration.
struct Cut {
    effective_size: f64,
    threshold: Threshold,
    counts: FamilyCounts,
}

/// What one calibration gave at one share, over the seeds.
struct Row {
    share: f64,
    name: &'static str,
    summary: Summary,
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let (alpha, probes) = (experiments.alpha, experiments.max_probes);
    let temperature = experiments.temperature.get();
    let by_run = bench.try_over_runs(|run| {
        let marginal = groups::marginal(run, alpha);
        let conditional = groups::conditional(run, alpha)?;
        let n = run.calibration().len() as f64;
        let mut cuts = Vec::new();
        for share in SHARES {
            let (size, weighted) = weighted(run, alpha, share)?;
            let thresholds = [marginal.clone(), weighted, conditional.clone()];
            let sizes = [n, size, n / FAMILIES as f64];
            let cells = thresholds.clone().map(|thresholds| {
                Cell::certifying(SafeCommit::by_family(thresholds, temperature, probes))
            });
            let episodes = mixed(run, share, experiments.test.get());
            let counts = simulate_on(&run.generator(Split::Test), &episodes, &cells);
            for ((thresholds, effective_size), counts) in
                thresholds.into_iter().zip(sizes).zip(counts)
            {
                let threshold = thresholds[GROWING as usize].clone();
                cuts.push(Cut {
                    effective_size,
                    threshold,
                    counts,
                });
            }
        }
        Ok(cuts)
    })?;

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(
        &["share", "calibration"],
        &["effective size", "mean threshold", "coverage", a, b, c, d],
    );
    let mut rows = Vec::new();
    let settings = SHARES
        .into_iter()
        .flat_map(|share| NAMES.map(|name| (share, name)));
    for ((share, name), cuts) in settings.zip(transposed(by_run)) {
        let counts: Vec<FamilyCounts> = cuts.iter().map(|cut| cut.counts).collect();
        let summary = Summary::of_all(&counts);
        let sizes: Vec<f64> = cuts.iter().map(|cut| cut.effective_size).collect();
        let cells = [
            Value::text(format!("{share:.2}")),
            Value::text(name),
            Value::Number(Estimate::over(&sizes).mean, 0),
            Value::Number(mean_threshold(cuts.iter().map(|cut| &cut.threshold)), 4),
            Value::rate(summary.coverage),
        ];
        sheet.push(cells.into_iter().chain(summary.cells()));
        rows.push(Row {
            share,
            name,
            summary,
        });
    }
    Ok(Report::new(
        "family_shift",
        "Family shift: another mix than the calibration had",
        &format!(
            "The share of {GROWING} among the test episodes grows from that of the calibration, {:.2}, the other \
             families sharing the rest. Unweighted: the marginal threshold, whose guarantee is gone once the mix \
             differs. Weighted: each calibration score weighs as much as its family is more frequent now, the case \
             to come included, which restores P(retained) >= 1 - alpha under the new mix, for weights that are \
             known. Group-conditional thresholds need no weights, if every family has been seen. alpha {alpha}, at \
             most {probes} probes; effective size as Kish, within the family for group-conditional; the threshold is \
             that for {GROWING}. {}",
            SHARES[0],
            crate::tables::UNITS
        ),
        &sheet,
        chart(&rows, alpha),
        claims(&rows, alpha),
    ))
}

fn chart(rows: &[Row], alpha: Alpha) -> Chart {
    let mut chart = Chart::new(
        "Coverage under another mix of families",
        "share of authorization_drift, per cent",
        "coverage of the true world, per cent",
    );
    for name in NAMES {
        let rows = rows.iter().filter(|row| row.name == name);
        let points = rows.map(|row| Point::per_cent(100.0 * row.share, row.summary.coverage));
        chart = chart.with(name, Mark::Line, points);
    }
    let target = 100.0 * (1.0 - alpha.to_f64());
    let ends = SHARES.map(|share| Point::at(100.0 * share, target));
    chart.with("1 - alpha", Mark::Limit, ends)
}

fn claims(rows: &[Row], alpha: Alpha) -> Vec<Claim> {
    let level = 1.0 - alpha.to_f64();
    let weighted = rows.iter().filter(|row| row.name == "weighted");
    let mut claims: Vec<Claim> = weighted
        .map(|row| {
            let coverage = row.summary.coverage;
            claim(
                format!(
                    "share {:.2}: weighted coverage is within 3 s.e. of 1 - alpha",
                    row.share
                ),
                per_cent(coverage),
                (coverage.mean - level).abs() <= 3.0 * coverage.se,
            )
        })
        .collect();
    let last = SHARES[SHARES.len() - 1];
    let unweighted = rows
        .iter()
        .find(|row| row.name == "unweighted" && row.share >= last);
    claims.extend(unweighted.map(|row| {
        let coverage = row.summary.coverage;
        claim(
            format!(
                "share {last:.2}: unweighted coverage falls short of 1 - alpha by more than 3 s.e."
            ),
            per_cent(coverage),
            coverage.mean + 3.0 * coverage.se < level,
        )
    }));
    claims
}

/// How often each family is in the test episodes.
fn mix(share: f64) -> [f64; FAMILIES] {
    Family::ALL.map(|family| {
        if family == GROWING {
            share
        } else {
            (1.0 - share) / (FAMILIES as f64 - 1.0)
        }
    })
}

/// The effective size of the calibration, and the threshold for a case of each family.
fn weighted(
    run: &Run<'_>,
    alpha: Alpha,
    share: f64,
) -> Result<(f64, [Threshold; FAMILIES]), WeightError> {
    // In calibration every family has the same share, so the ratio of densities is proportional to the new one.
    let mut weights = [Weight::ONE; FAMILIES];
    for (weight, share) in weights.iter_mut().zip(mix(share)) {
        *weight = Weight::try_from(share * FAMILIES as f64)?;
    }
    let episodes = run.calibration();
    let scores: Vec<CalibrationScore> = episodes.iter().map(calibration_score).collect();
    let by_case: Vec<Weight> = episodes
        .iter()
        .map(|episode| weights[episode.family() as usize])
        .collect();
    let scores = WeightedScores::new(&scores, &by_case)?;
    let table = WeightedTable::new(&scores);
    let thresholds = weights.map(|weight| table.threshold(alpha, weight));
    Ok((scores.effective_size().value(), thresholds))
}

/// Test episodes whose families are independent, with the shares of [`mix`]: of four in a row, the one of the
/// family drawn. The same uniform numbers at every share.
fn mixed(run: &Run<'_>, share: f64, count: u64) -> Vec<Episode> {
    let generator = run.generator(Split::Test);
    let mut families = StreamKey::derive("experiment", run.seed(), "test", "families").stream(0);
    let mut drawn = DrawnEpisode::default();
    let shares = mix(share);
    (0..count)
        .map(|case| {
            let uniform = families.uniform();
            let mut below = 0.0;
            // The growing family first, so that a larger share only turns other families into it.
            let order = [GROWING]
                .into_iter()
                .chain(Family::ALL.into_iter().filter(|family| *family != GROWING));
            let family = order
                .into_iter()
                .find(|family| {
                    below += shares[*family as usize];
                    uniform < below
                })
                .unwrap_or(Family::Poison);
            generator.draw_into(case * FAMILIES as u64 + family as u64, &mut drawn);
            drawn.episode().clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;

    #[test]
    fn families_have_their_shares() {
        let parameters = Parameters::project().unwrap();
        let bench = Workbench::new(&parameters);
        for share in SHARES {
            let families = bench.over_runs(|run| {
                let episodes = mixed(run, share, 2000);
                Family::ALL.map(|family| {
                    episodes
                        .iter()
                        .filter(|episode| episode.family() == family)
                        .count()
                })
            });
            for (family, expected) in Family::ALL.into_iter().zip(mix(share)) {
                let cases = 2000.0 * families.len() as f64;
                let observed: usize = families.iter().map(|counts| counts[family as usize]).sum();
                let error = (expected * (1.0 - expected) / cases).sqrt();
                assert!(
                    (observed as f64 / cases - expected).abs() <= 4.0 * error,
                    "{family} {share}"
                );
            }
        }
    }

    /// With equal shares the weights are equal, and the threshold is that of split conformal.
    #[test]
    fn equal_shares_are_unweighted() {
        let parameters = Parameters::project().unwrap();
        let bench = Workbench::new(&parameters);
        let alpha = parameters.experiments.alpha;
        for (weighted, marginal) in bench.over_runs(|run| {
            (
                weighted(run, alpha, SHARES[0]).unwrap(),
                groups::marginal(run, alpha),
            )
        }) {
            assert_eq!(weighted.1, marginal);
            assert!((weighted.0 - 2000.0).abs() < 1e-6);
        }
    }
}
