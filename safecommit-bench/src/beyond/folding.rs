//! One quantile for calibration and representation error, against one bound for each.

mod routes;

use safecommit_conformal::{Alpha, Threshold};

use self::routes::{DELTA, NeverCommits, Route, drawn_cases};
use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::sheet::{Sheet, Value};
use super::summary::{HEADINGS, Summary};
use super::workbench::{Run, Workbench, transposed};
use crate::counts::{Counts, Estimate};
use crate::generator::Split;
use crate::methods::{Memory, Method, SafeCommit};
use crate::published::Claim;
use crate::simulate::{count, decide};

/// Probabilities that the proposal misses the true world.
const MISSES: [f64; 6] = [0.0, 0.005, 0.01, 0.02, 0.03, 0.05];

/// Calibrations a seed. Near the level the share of usable ones moves from one to zero, and one calibration a
/// seed would say next to nothing about it.
const CALIBRATIONS: u64 = 40;

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let budgets = [0, experiments.max_probes];
    let by_run = bench.try_over_runs(|run| tallies(bench, run, budgets))?;
    let by_setting: Vec<Vec<Tally>> = transposed(by_run);
    let rows: Vec<Row> = settings(budgets)
        .zip(&by_setting)
        .map(|(setting, runs)| Row::new(setting, runs))
        .collect();

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(
        &["miss probability", "route", "most probes"],
        &["usable", "mean threshold", "CC", a, b, c, d],
    );
    for row in &rows {
        let Setting {
            miss,
            route,
            budget,
        } = row.setting;
        let cells = [
            Value::text(miss.to_string()),
            Value::text(route.name()),
            Value::text(budget.to_string()),
            Value::rate(row.usable),
            Value::Number(row.mean_threshold, 4),
            Value::rate(row.summary.cc),
        ];
        sheet.push(cells.into_iter().chain(row.summary.cells()));
    }
    Ok(Report::new(
        "folding",
        "Proposal misses: folded into the quantile, or bounded on their own",
        &about(bench),
        &sheet,
        chart(&rows, budgets),
        claims(experiments.alpha, &rows, &by_setting),
    ))
}

fn about(bench: &Workbench<'_>) -> String {
    let experiments = &bench.parameters().experiments;
    let (level, probes) = (experiments.alpha, experiments.max_probes);
    let (cases, test) = (experiments.calibration, experiments.test);
    format!(
        "SafeCommit where the proposal misses the true world as often in calibration as in test, at the total level \
         {level}, by two routes. Folded: a missed case counts as a score above all others, and one quantile at \
         {level} bounds both errors together: P(not proposed, or above the threshold) <= {level}. Where that quantile \
         falls on a missed case the threshold is unbounded, the bound says nothing, and nothing may be committed. \
         Split: the Clopper-Pearson upper bound on the miss probability, at delta {DELTA}, is taken off {level}; what \
         is left, rounded down, is the level of a quantile over the cases that were not missed. If nothing is left, \
         nothing may be committed. The split level holds only where the bound does, in a share 1 - delta of \
         calibrations. Usable: calibrations with which anything may be committed, in per cent; with any other every \
         episode is a fallback. Each seed draws {CALIBRATIONS} calibrations of {cases} cases, and each of them \
         decides its own {CALIBRATIONS}th part of the {test} test episodes. From the same cases the folded threshold \
         is lower, because it spends the whole level: it retains fewer worlds and commits more, and more of that is \
         unsafe, up to the level. Mean threshold: over the usable calibrations whose threshold is finite. At most \
         {probes} probes, or none. {}",
        crate::tables::UNITS
    )
}

fn chart(rows: &[Row], budgets: [u32; 2]) -> Chart {
    let mut chart = Chart::new(
        "Commits at one total level, by route",
        "probability that the proposal misses the true world, per cent",
        "commit coverage, per cent",
    );
    for route in Route::ALL {
        for budget in budgets {
            let of = |row: &&Row| row.setting.route == route && row.setting.budget == budget;
            let points = rows.iter().filter(of);
            let points =
                points.map(|row| Point::per_cent(100.0 * row.setting.miss, row.summary.cc));
            let name = format!("{}, at most {budget} probes", route.name());
            chart = chart.with(name, Mark::Line, points);
        }
    }
    chart
}

fn claims(level: Alpha, rows: &[Row], by_setting: &[Vec<Tally>]) -> Vec<Claim> {
    let mut claims = Vec::new();
    // Rows come as route by route of each miss probability, budgets innermost.
    for (rows, runs) in rows.chunks(4).zip(by_setting.chunks(4)) {
        for budget in 0..2 {
            let (folded, split) = (&runs[budget], &runs[2 + budget]);
            let commits = |tally: &Tally| tally.counts.commit_coverage();
            let pairs = folded.iter().zip(split);
            let differences: Vec<f64> = pairs
                .map(|(folded, split)| commits(folded) - commits(split))
                .collect();
            let Estimate { mean, se } = Estimate::over(&differences);
            claims.push(claim(
                format!(
                    "at miss probability {} with at most {} probes the folded quantile commits at least as often: mean \
                     paired difference at least -3 standard errors",
                    rows[budget].setting.miss, rows[budget].setting.budget
                ),
                format!("{:+.3} ± {:.3} points", 100.0 * mean, 100.0 * se),
                mean >= -3.0 * se,
            ));
        }
    }
    let bound = level.to_f64();
    for route in Route::ALL {
        let of_route = rows.iter().filter(|row| row.setting.route == route);
        let rates: Vec<Estimate> = of_route.map(|row| row.summary.ucr).collect();
        let worst = rates
            .iter()
            .max_by(|a, b| (a.mean - 3.0 * a.se).total_cmp(&(b.mean - 3.0 * b.se)));
        let Estimate { mean, se } = worst.copied().unwrap_or(Estimate::over(&[]));
        claims.push(claim(
            format!(
                "{}: UCR at every miss probability and budget is at most {level} + 3 standard errors",
                route.name()
            ),
            format!("{:.2} ± {:.2} in the worst", 100.0 * mean, 100.0 * se),
            rates.iter().all(|rate| rate.mean <= bound + 3.0 * rate.se),
        ));
    }
    claims
}

/// What a row of the table is about.
#[derive(Clone, Copy, Debug)]
struct Setting {
    miss: f64,
    route: Route,
    budget: u32,
}

/// All settings, in the order of the table.
fn settings(budgets: [u32; 2]) -> impl Iterator<Item = Setting> {
    let of_route = move |miss, route| {
        budgets.map(|budget| Setting {
            miss,
            route,
            budget,
        })
    };
    let of_miss = move |miss| {
        Route::ALL
            .into_iter()
            .flat_map(move |route| of_route(miss, route))
    };
    MISSES.into_iter().flat_map(of_miss)
}

/// What one setting gave in one run.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    counts: Counts,
    /// Calibrations with which anything may be committed.
    usable: u64,
    /// Those of them with a finite threshold.
    finite: u64,
    /// The sum of the finite thresholds.
    thresholds: f64,
}

impl Tally {
    fn calibrated(&mut self, threshold: Option<&Threshold>) {
        let Some(threshold) = threshold else { return };
        self.usable += 1;
        if let Some(kappa) = threshold.finite() {
            self.finite += 1;
            self.thresholds += kappa.value();
        }
    }
}

struct Row {
    setting: Setting,
    usable: Estimate,
    /// Not a number if no usable calibration has a finite threshold.
    mean_threshold: f64,
    summary: Summary,
}

impl Row {
    fn new(setting: Setting, runs: &[Tally]) -> Self {
        let usable = runs.iter();
        let usable = usable.map(|run| run.usable as f64 / CALIBRATIONS as f64);
        let finite: u64 = runs.iter().map(|run| run.finite).sum();
        let thresholds: f64 = runs.iter().map(|run| run.thresholds).sum();
        let counts: Vec<Counts> = runs.iter().map(|run| run.counts).collect();
        Self {
            setting,
            usable: Estimate::over(&usable.collect::<Vec<_>>()),
            mean_threshold: thresholds / finite as f64,
            summary: Summary::of(&counts),
        }
    }
}

/// Calibrates and decides in one run; a tally a setting.
fn tallies(
    bench: &Workbench<'_>,
    run: &Run<'_>,
    budgets: [u32; 2],
) -> Result<Vec<Tally>, StudyError> {
    let experiments = &bench.parameters().experiments;
    let (cases, temperature) = (experiments.calibration.get(), experiments.temperature.get());
    let settings: Vec<Setting> = settings(budgets).collect();
    let mut tallies = vec![Tally::default(); settings.len()];
    let (generator, test) = (run.generator(Split::Test), run.test());
    let mut memory = Memory::default();
    for draw in 0..CALIBRATIONS {
        let drawn = drawn_cases(run, draw * cases..(draw + 1) * cases);
        let mut methods: Vec<Box<dyn Method>> = Vec::with_capacity(settings.len());
        for (setting, tally) in settings.iter().zip(&mut tallies) {
            let threshold = setting
                .route
                .threshold(experiments.alpha, &drawn, setting.miss)?;
            tally.calibrated(threshold.as_ref());
            methods.push(match threshold {
                Some(threshold) => {
                    Box::new(SafeCommit::new(&threshold, temperature, setting.budget))
                }
                None => Box::new(NeverCommits),
            });
        }
        for index in part(test.len() as u64, draw) {
            let proposed = &test[index as usize];
            let mut missed = proposed.clone();
            missed.drop_true_world();
            let uniform = generator.proposal_uniform(index);
            let policy = || generator.policy_stream(index);
            for ((setting, method), tally) in settings.iter().zip(&methods).zip(&mut tallies) {
                let is_missed = uniform < setting.miss;
                let episode = if is_missed { &missed } else { proposed };
                let ending = decide(&**method, episode, &policy, &mut memory);
                count(episode, &ending, false, &memory, &mut tally.counts);
            }
        }
    }
    Ok(tallies)
}

/// The test episodes that one calibration decides: all parts together are all episodes, each once.
fn part(episodes: u64, draw: u64) -> std::ops::Range<u64> {
    episodes * draw / CALIBRATIONS..episodes * (draw + 1) / CALIBRATIONS
}

#[cfg(test)]
mod tests;
