//! Tables of what was compared and checked.

use super::experiments::{MATCHED, NEW, PREDICTED, written};
use super::grid::{Align, Grid};
use super::{LEGEND, Table};
use crate::experiments::{Experiment, Results};
use crate::published::{Bound, Claim, Findings, Metric, Published, TOLERANCES};

/// Coverage of the true world at each level.
pub(super) fn coverage(results: &Results) -> Table {
    let mut grid = Grid::new([
        ("alpha", Align::Right),
        ("mean threshold", Align::Right),
        ("coverage", Align::Right),
        ("rank / (n + 1)", Align::Right),
        ("exact s.e.", Align::Right),
        ("difference in exact s.e.", Align::Right),
    ])
    .marked(NEW, 1..6);
    for row in &results.coverage {
        let (observed, expected) = (100.0 * row.observed.mean, 100.0 * row.expected);
        let exact = 100.0 * row.exact_se;
        grid.push([
            row.alpha.to_string(),
            format!("{:.4}", row.mean_threshold),
            format!("{observed:.2} ± {:.2}", 100.0 * row.observed.se),
            format!("{expected:.2}"),
            format!("{exact:.3}"),
            in_standard_errors(observed - expected, exact),
        ]);
    }
    let about = "How often the true world of a test episode scores at most the threshold, in per cent, mean over \
                 the seeds ± one standard error between them. Exchangeability promises rank / (n + 1), and the \
                 exact standard error of the mean is that of the beta-binomial law of coverage on fresh episodes.";
    Table::new(
        "coverage",
        "Coverage of the true world",
        &[about.to_owned(), LEGEND.to_owned(), grid.markdown()],
    )
}

/// Every figure and statement of the paper's text beside ours.
pub(super) fn published(findings: &Findings) -> Table {
    let mut grid = Grid::new([
        ("experiment", Align::Left),
        ("cell", Align::Left),
        ("metric", Align::Left),
        ("published", Align::Right),
        ("ours", Align::Right),
        ("difference", Align::Right),
        ("in s.e.", Align::Right),
        ("tolerance", Align::Right),
        ("within", Align::Left),
    ]);
    for cell in &findings.comparisons {
        let ours = cell.ours.map_or("not simulated".to_owned(), |ours| {
            format!("{MATCHED} {}", written(cell.metric, ours))
        });
        let errors = cell.standard_errors();
        grid.push([
            cell.experiment.name().to_owned(),
            cell.cell.clone(),
            cell.metric.name().to_owned(),
            format!("{:.1$}", cell.published, cell.metric.decimals() - 1),
            ours,
            cell.difference()
                .map_or_else(none, |value| signed(value, cell.metric.decimals())),
            errors.map_or_else(none, |value| signed(value, 1)),
            cell.tolerance.to_string(),
            yes(cell.holds()),
        ]);
    }
    let about = "Every number that the paper's text states, beside ours; rates in per cent, probes as a mean. The \
                 difference is ours minus published, also in our standard errors. The published figures carry \
                 rounding and standard errors of their own, which the text does not state, so many standard errors \
                 of ours are no contradiction; what decides is the tolerance, fixed before the results were seen.";
    Table::new(
        "published",
        "Published and ours",
        &[
            about.to_owned(),
            LEGEND.to_owned(),
            grid.markdown(),
            format!(
                "{}{}: {}.",
                first_upper(&findings.setting.statement),
                if findings.setting.holds { "" } else { ", which does **not** hold" },
                findings.setting.evidence
            ),
            "What the text states in words. The statements are the paper's, the numbers that decide them are ours."
                .to_owned(),
            claims(&findings.claims, PREDICTED),
        ],
    )
}

/// What the theory promises.
pub(super) fn guarantees(published: &Published, findings: &Findings) -> Table {
    let allowed = TOLERANCES.guarantee_standard_errors;
    let mut grid = Grid::new([
        ("experiment", Align::Left),
        ("rows", Align::Right),
        ("closest to its bound", Align::Left),
        ("UCR", Align::Right),
        ("bound", Align::Right),
        ("margin", Align::Right),
        ("all hold", Align::Left),
    ])
    .marked(NEW, 4..6);
    for experiment in Experiment::ALL {
        let bounds = findings.bounds.iter();
        let bounds: Vec<&Bound> = bounds
            .filter(|bound| bound.experiment == experiment)
            .collect();
        let closest = bounds
            .iter()
            .min_by(|a, b| a.margin().total_cmp(&b.margin()));
        let Some(closest) = closest else { continue };
        grid.push([
            experiment.name().to_owned(),
            bounds.len().to_string(),
            place(closest),
            format!(
                "{} {:.2} ± {:.2}",
                mark(published, closest),
                100.0 * closest.ucr.mean,
                100.0 * closest.ucr.se
            ),
            format!("{:.2}", 100.0 * closest.limit),
            format!("{:.2}", 100.0 * closest.margin()),
            yes(bounds.iter().all(|bound| bound.holds())),
        ]);
    }
    let about = format!(
        "For every row of a certificate method, UCR is at most beta + (1 - beta) alpha (Eq. 7) plus {allowed} standard \
         errors; beta is 0 outside the proposal misses. Shown is the row of each experiment that comes closest, in \
         per cent. For single families no theorem promises this; it is checked all the same."
    );
    Table::new(
        "guarantees",
        "Guarantees",
        &[
            about,
            LEGEND.to_owned(),
            grid.markdown(),
            "Coverage, and where failures come from, over the rows of all experiments:".to_owned(),
            claims(&findings.guarantees, NEW),
        ],
    )
}

/// Whether the unsafe commit rate of a row is a figure that the paper's text states.
fn mark(published: &Published, bound: &Bound) -> char {
    if bound.family.is_none() && published.states(&bound.setting, Metric::Ucr) {
        MATCHED
    } else {
        PREDICTED
    }
}

fn place(bound: &Bound) -> String {
    let setting = &bound.setting;
    let method = setting.method;
    match bound.experiment {
        Experiment::Main => method.to_string(),
        Experiment::Family => {
            let family = bound.family.map_or("all families", |family| family.name());
            format!("{method}, {family}")
        }
        Experiment::ProbeBudget => format!("at most {} probes", setting.max_probes),
        Experiment::Alpha => format!("alpha {}", setting.alpha),
        Experiment::ProposalMiss => format!("{method}, beta {:.2}", setting.beta),
    }
}

pub(super) fn claims(claims: &[Claim], mark: char) -> String {
    let mut grid = Grid::new([
        ("statement", Align::Left),
        ("ours", Align::Left),
        ("holds", Align::Left),
    ])
    .marked(mark, 1..2);
    for claim in claims {
        grid.push([
            claim.statement.clone(),
            claim.evidence.clone(),
            yes(claim.holds),
        ]);
    }
    grid.markdown()
}

fn first_upper(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A difference in standard errors; none where these are zero.
fn in_standard_errors(difference: f64, standard_error: f64) -> String {
    if standard_error > 0.0 {
        signed(difference / standard_error, 2)
    } else {
        none()
    }
}

/// A number with its sign, and none of a zero.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    let digits = text.trim_start_matches(['+', '-']);
    if digits.chars().all(|digit| matches!(digit, '0' | '.')) {
        digits.to_owned()
    } else {
        text
    }
}

fn none() -> String {
    "none".to_owned()
}

fn yes(holds: bool) -> String {
    if holds { "yes" } else { "**no**" }.to_owned()
}
