//! A table an experiment, and the attribution of its failures.

use super::grid::{Align, Grid};
use super::{LEGEND, Table, UNITS};
use crate::counts::{Causes, Estimate};
use crate::episode::Family;
use crate::experiments::{Experiment, Results, Row};
use crate::published::{Bound, Metric, Published};

/// The mark of a figure that the parameters were chosen to match.
pub(super) const MATCHED: char = '●';
/// The mark of a cell that the paper's text does not state.
pub(super) const PREDICTED: char = '○';
/// The mark of what the paper does not have.
pub(crate) const NEW: char = '◇';

/// The table of an experiment.
pub(super) fn table(published: &Published, results: &Results, experiment: Experiment) -> Table {
    let rows: Vec<&Row> = results
        .rows
        .iter()
        .filter(|row| row.experiment == experiment)
        .collect();
    let (title, about) = describe(experiment);
    let rates = rates(published, experiment, &rows);
    Table::new(
        experiment.name(),
        title,
        &[
            format!("{about} {UNITS}\n{}", episodes(&rows)),
            LEGEND.to_owned(),
            rates.clone(),
            attribution_text().to_owned(),
            attribution(experiment, &rows),
        ],
    )
    .with_figures(rates)
}

fn describe(experiment: Experiment) -> (&'static str, &'static str) {
    match experiment {
        Experiment::Main => (
            "Main experiment",
            "All methods on the same episodes and the same proposed worlds.",
        ),
        Experiment::Family => (
            "By family",
            "The main experiment by family. The threshold is the one for all families, so the guarantee is \
             about all of them together, not about each. The text states the ends of the ranges over \
             families without saying which family has which; those are under *Published and ours*.",
        ),
        Experiment::ProbeBudget => (
            "By probe budget",
            "SafeCommit under limits on the number of probes.",
        ),
        Experiment::Alpha => ("By alpha", "SafeCommit at several levels."),
        Experiment::ProposalMiss => (
            "Proposal misses",
            "The true world is left out of the proposal with probability beta; thresholds are those of \
             fully proposed calibration episodes. The bound of the certificate methods is \
             beta + (1 - beta) alpha (Eq. 7); the others have none.",
        ),
    }
}

fn episodes(rows: &[&Row]) -> String {
    let mut counts: Vec<u64> = rows.iter().map(|row| row.episodes).collect();
    counts.sort_unstable();
    counts.dedup();
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    format!(
        "Episodes a row, all seeds together: {}.",
        counts.join(" or ")
    )
}

/// What tells the rows of an experiment apart: headings, and the cells of a row.
fn key_columns(experiment: Experiment) -> Vec<(&'static str, Align)> {
    match experiment {
        Experiment::Main => vec![("method", Align::Left)],
        Experiment::Family => vec![("method", Align::Left), ("family", Align::Left)],
        Experiment::ProbeBudget => vec![("most probes", Align::Right)],
        Experiment::Alpha => vec![("alpha", Align::Right)],
        Experiment::ProposalMiss => vec![("beta", Align::Right), ("method", Align::Left)],
    }
}

fn key(row: &Row) -> Vec<String> {
    let setting = &row.setting;
    let method = setting.method.to_string();
    match row.experiment {
        Experiment::Main => vec![method],
        Experiment::Family => vec![method, row.family.map_or("all", Family::name).to_owned()],
        Experiment::ProbeBudget => vec![setting.max_probes.to_string()],
        Experiment::Alpha => vec![setting.alpha.to_string()],
        Experiment::ProposalMiss => vec![format!("{:.2}", setting.beta), method],
    }
}

fn rates(published: &Published, experiment: Experiment, rows: &[&Row]) -> String {
    let with_bound = experiment == Experiment::ProposalMiss;
    let mut columns = key_columns(experiment);
    for metric in Metric::ALL {
        columns.push((metric.name(), Align::Right));
        if with_bound && metric == Metric::Ucr {
            columns.push(("bound", Align::Right));
        }
    }
    let mut grid = Grid::new(columns);
    for row in rows {
        let mut cells = key(row);
        for metric in Metric::ALL {
            let estimate = metric.of(row);
            let stated = row.family.is_none() && published.states(&row.setting, metric);
            let mark = match (row.setting.method.in_paper(), stated) {
                (false, _) => NEW,
                (true, true) => MATCHED,
                (true, false) => PREDICTED,
            };
            cells.push(format!("{mark} {}", written(metric, estimate)));
            if with_bound && metric == Metric::Ucr {
                cells.push(match Bound::of(row) {
                    Some(bound) => format!("{NEW} {:.2}", 100.0 * bound.limit),
                    None => "none".to_owned(),
                });
            }
        }
        grid.push(cells);
    }
    grid.markdown()
}

/// A mean with its standard error.
pub(super) fn written(metric: Metric, estimate: Estimate) -> String {
    let decimals = metric.decimals();
    format!("{:.decimals$} ± {:.decimals$}", estimate.mean, estimate.se)
}

fn attribution_text() -> &'static str {
    "Failures of the certificate methods, counted over all seeds and attributed to one cause each: the true \
     world was never proposed (proposal); it scored above the threshold (calibration); evidence removed it \
     wrongly (evidence); it was retained and an unsafe action was certified (safety map); it was retained and \
     probing ended without resolving what blocks (probe policy)."
}

fn attribution(experiment: Experiment, rows: &[&Row]) -> String {
    let mut columns = key_columns(experiment);
    columns.push(("failures", Align::Left));
    columns.push(("all causes", Align::Right));
    columns.extend(CAUSES.map(|(name, _)| (name, Align::Right)));
    // All that is counted here is new.
    let counts = columns.len() - CAUSES.len() - 1..columns.len();
    let mut grid = Grid::new(columns).marked(NEW, counts);
    for row in rows.iter().filter(|row| row.setting.method.certifies()) {
        let counts = &row.counts;
        for (failures, total, causes) in [
            (
                "unsafe commits",
                counts.unsafe_commits,
                &counts.unsafe_causes,
            ),
            (
                "fallbacks",
                counts.fallbacks.total(),
                &counts.fallback_causes,
            ),
        ] {
            let mut cells = key(row);
            cells.extend([failures.to_owned(), total.to_string()]);
            cells.extend(CAUSES.map(|(_, count)| count(causes).to_string()));
            grid.push(cells);
        }
    }
    grid.markdown()
}

type Count = fn(&Causes) -> u64;

const CAUSES: [(&str, Count); 5] = [
    ("proposal", |causes| causes.proposal),
    ("calibration", |causes| causes.calibration),
    ("evidence", |causes| causes.evidence),
    ("safety map", |causes| causes.safety_map),
    ("probe policy", |causes| causes.probe_policy),
];
