//! Probes that answer wrongly at times, against the bound that every decision states.

use safecommit_core::Verification;

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::rule::VERIFYING;
use super::sheet::{Sheet, Value};
use super::summary::{HEADINGS, Summary};
use super::workbench::{Workbench, total, transposed};
use crate::counts::Estimate;
use crate::methods::SafeCommit;
use crate::published::Claim;
use crate::simulate::Cell;

const RATES: [f64; 6] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.1];

const POLICIES: [(&str, Verification); 3] = [
    ("safecommit", Verification::Never),
    VERIFYING[0],
    VERIFYING[1],
];

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let (alpha, probes) = (experiments.alpha, experiments.max_probes);
    let temperature = experiments.temperature.get();
    let settings: Vec<_> = POLICIES
        .into_iter()
        .flat_map(|policy| RATES.map(|rate| (policy, rate)))
        .collect();
    let by_run = bench.try_over_runs(|run| {
        let calibration = run.calibrated(alpha);
        let plain = SafeCommit::new(calibration.threshold(), temperature, probes);
        let cell = |&((_, verification), rate): &((&str, Verification), f64)| {
            Ok(Cell {
                probe_error: rate,
                ..Cell::certifying(plain.clone().verifying(verification)?)
            })
        };
        let cells = settings
            .iter()
            .map(cell)
            .collect::<Result<Vec<_>, StudyError>>()?;
        Ok(run.simulate(&cells))
    })?;

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(
        &["policy", "error rate"],
        &[a, "bound", b, c, d, "truth refuted"],
    );
    let mut chart = Chart::new(
        "Unsafe commits when probes err",
        "probability that an answer is wrong, per cent",
        "UCR, per cent of episodes",
    );
    let (mut ours, mut bounds) = (Vec::new(), Vec::new());
    let mut margins = Vec::new();
    for (((name, _), rate), counts) in settings.iter().zip(transposed(by_run)) {
        let summary = Summary::of_all(&counts);
        let bound = alpha.to_f64() + rate * summary.probes.mean;
        let [ucr, rest @ ..] = summary.cells();
        // Of the causes of unsafe commits, those that a wrong answer is.
        let refuted: Vec<f64> = counts
            .iter()
            .map(|families| {
                let total = total(families);
                total.unsafe_causes.evidence as f64 / total.episodes as f64
            })
            .collect();
        let keys = [Value::text(*name), Value::text(format!("{rate:.2}"))];
        let cells = keys
            .into_iter()
            .chain([ucr, Value::Share(bound)])
            .chain(rest);
        sheet.push(cells.chain([Value::rate(Estimate::over(&refuted))]));
        let margin = (bound - summary.ucr.mean) / summary.ucr.se;
        margins.push((*name, *rate, margin));
        ours.push((*name, Point::per_cent(100.0 * rate, summary.ucr)));
        bounds.push((*name, Point::at(100.0 * rate, 100.0 * bound)));
    }
    for (name, _) in POLICIES {
        let of = |points: &[(&str, Point)]| -> Vec<Point> {
            let own = points.iter().filter(|point| point.0 == name);
            own.map(|point| point.1).collect()
        };
        chart = chart.with(name, Mark::Line, of(&ours)).with(
            format!("bound of {name}"),
            Mark::Limit,
            of(&bounds),
        );
    }
    let claims = POLICIES.map(|(name, _)| never_above_its_bound(name, &margins));
    Ok(Report::new(
        "erring_probes",
        "Erring probes: answers that are wrong at times",
        &format!(
            "Every answer is wrong with the probability given, independently; the same answers are wrong for every \
             policy that asks, and a larger rate only adds wrong ones. alpha {alpha}, at most {probes} probes. A \
             decision states the bound alpha plus the error rates of the probes that it used; the bound of a row is \
             the mean of those, alpha + rate * probes. Truth refuted: unsafe commits after a wrong answer had removed the \
             true world, in per cent of all episodes. {}",
            crate::tables::UNITS
        ),
        &sheet,
        chart,
        claims.into(),
    ))
}

/// `margins`: policy, error rate, and how many standard errors the bound lies above UCR.
fn never_above_its_bound(name: &str, margins: &[(&str, f64, f64)]) -> Claim {
    let own = margins.iter().filter(|margin| margin.0 == name);
    let closest = own.min_by(|one, other| one.2.total_cmp(&other.2));
    let (rate, margin) = closest.map_or((0.0, f64::NAN), |&(_, rate, margin)| (rate, margin));
    claim(
        format!("{name}: UCR is at most the bound + 3 s.e. at every error rate"),
        format!("closest at {rate:.2}: the bound is {margin:.1} s.e. above UCR"),
        margin >= -3.0,
    )
}
