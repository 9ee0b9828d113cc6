//! Thresholds that control the unsafe commits themselves, against one that controls coverage.

use safecommit_conformal::{
    Alpha, Calibration, Delta, RiskCurve, RiskCurves, RiskError, Threshold,
};
use safecommit_core::{AuditedCase, Budget, Settings, Workspace, unsafe_commit_curve};

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::sheet::{Sheet, Value, per_cent};
use super::summary::{HEADINGS, Summary, mean_threshold};
use super::workbench::{Run, Workbench, total, transposed};
use crate::counts::{Counts, Estimate};
use crate::episode::Episode;
use crate::generator::Split;
use crate::methods::{Environment, SafeCommit, View};
use crate::published::Claim;
use crate::simulate::{Cell, FamilyCounts};

/// The share of calibration sets for which Learn-then-Test may give a threshold of higher risk.
const DELTA: f64 = 0.05;

/// The level at which controlled risk has to behave like the paper's rule.
const CUT: &str = "0.03";

const LEVELS: [&str; 3] = ["0.01", CUT, "0.05"];

/// A rule that turns the calibration episodes into a threshold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    SplitConformal,
    RiskControl,
    LearnThenTest,
}

impl Rule {
    const ALL: [Self; 3] = [Self::SplitConformal, Self::RiskControl, Self::LearnThenTest];

    fn name(self) -> &'static str {
        match self {
            Self::SplitConformal => "split conformal",
            Self::RiskControl => "risk control (envelope)",
            Self::LearnThenTest => "learn then test",
        }
    }
}

/// What one rule gave at one level, over the seeds.
struct Row {
    level: Alpha,
    rule: Rule,
    threshold: f64,
    summary: Summary,
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let (probes, temperature) = (experiments.max_probes, experiments.temperature.get());
    let settings = Settings::default()
        .with_temperature(temperature)?
        .with_budget(Budget::probes(probes));
    let levels: Vec<Alpha> = LEVELS
        .iter()
        .map(|level| level.parse())
        .collect::<Result<_, _>>()?;
    let (delta, cut) = (Delta::new(DELTA)?, CUT.parse::<Alpha>()?);
    let by_run = bench.try_over_runs(|run| {
        let curves = unsafe_commit_curves(run, &settings)?;
        let envelope = curves.envelope();
        let mut thresholds: Vec<Threshold> = Vec::new();
        for &level in &levels {
            for rule in Rule::ALL {
                let calibration = match rule {
                    Rule::SplitConformal => run.calibrated(level),
                    Rule::RiskControl => Calibration::risk_controlled(level, &envelope)?,
                    Rule::LearnThenTest => Calibration::learn_then_test(level, delta, &curves)?,
                };
                thresholds.push(calibration.threshold().clone());
            }
        }
        let cells: Vec<Cell> = thresholds
            .iter()
            .map(|threshold| Cell::certifying(SafeCommit::new(threshold, temperature, probes)))
            .collect();
        let counts = run.simulate(&cells);
        let cases = curves.curves().iter().zip(run.calibration());
        let rising = cases
            .filter(|(curve, episode)| rises(curve, episode))
            .count();
        let rising = rising as f64 / curves.cases() as f64;
        Ok((
            rising,
            thresholds.into_iter().zip(counts).collect::<Vec<_>>(),
        ))
    })?;
    let exceeding = exceeding(bench, &levels, &by_run);
    let (rising, by_run): (Vec<f64>, Vec<_>) = by_run.into_iter().unzip();
    let settings = levels
        .iter()
        .flat_map(|level| Rule::ALL.map(|rule| (*level, rule)));
    let rows: Vec<Row> = settings
        .zip(transposed(by_run))
        .map(|((level, rule), runs)| {
            let (thresholds, counts): (Vec<Threshold>, Vec<_>) = runs.into_iter().unzip();
            Row {
                level,
                rule,
                threshold: mean_threshold(&thresholds),
                summary: Summary::of_all(&counts),
            }
        })
        .collect();

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(
        &["level", "threshold by"],
        &["mean threshold", "coverage", a, b, c, d],
    );
    for row in &rows {
        let cells = [
            Value::text(row.level.to_string()),
            Value::text(row.rule.name()),
            Value::Number(row.threshold, 4),
            Value::rate(row.summary.coverage),
        ];
        sheet.push(cells.into_iter().chain(row.summary.cells()));
    }
    Ok(Report::new(
        "risk_control",
        "Risk control: the unsafe commits themselves",
        &format!(
            "SafeCommit with at most {probes} probes. Split conformal makes the true world plausible in 1 - level of \
             the cases, which bounds unsafe commits by the level. Conformal risk control bounds their expected rate \
             itself: the loss of a calibration case at a threshold is whether the whole policy, probes included, \
             would have committed an unsafe action there. It can rise with the threshold, so its upper envelope is \
             controlled (E[loss] <= level). Learn-then-Test takes the loss as it is, and its rate is at most the \
             level for all but {DELTA} of the calibration sets. Levels were declared beforehand. Coverage is how \
             often the true world was plausible, in per cent. {}",
            crate::tables::UNITS
        ),
        &sheet,
        chart(&rows),
        claims(&rows, cut, experiments.alpha, exceeding, &rising),
    ))
}

fn chart(rows: &[Row]) -> Chart {
    let mut chart = Chart::new(
        "Unsafe commits at the level asked for",
        "level, per cent",
        "UCR, per cent of episodes",
    );
    for rule in Rule::ALL {
        let rows = rows.iter().filter(|row| row.rule == rule);
        let points = rows.map(|row| Point::per_cent(100.0 * row.level.to_f64(), row.summary.ucr));
        chart = chart.with(rule.name(), Mark::Line, points);
    }
    let mut levels: Vec<f64> = rows.iter().map(|row| 100.0 * row.level.to_f64()).collect();
    levels.dedup();
    chart.with(
        "level",
        Mark::Limit,
        levels.into_iter().map(|level| Point::at(level, level)),
    )
}

fn claims(
    rows: &[Row],
    cut: Alpha,
    alpha: Alpha,
    (exceeding, sets): (usize, usize),
    rising: &[f64],
) -> Vec<Claim> {
    let mut claims = Vec::new();
    for rule in Rule::ALL {
        let own: Vec<&Row> = rows.iter().filter(|row| row.rule == rule).collect();
        let written = own.iter().map(|row| {
            let ucr = row.summary.ucr;
            format!("{} at {}", per_cent(ucr), row.level)
        });
        claims.push(claim(
            format!(
                "{}: UCR is at most the level + 3 s.e. at every level",
                rule.name()
            ),
            written.collect::<Vec<_>>().join(", "),
            own.iter()
                .all(|row| row.summary.ucr.mean <= row.level.to_f64() + 3.0 * row.summary.ucr.se),
        ));
    }
    let error = (DELTA * (1.0 - DELTA) / sets as f64).sqrt();
    claims.push(claim(
        format!(
            "learn then test: over the test episodes of all seeds UCR exceeds the level for at most delta = {DELTA} of the \
             calibration sets, + 3 s.e."
        ),
        format!("{exceeding} of {sets}, all levels together"),
        exceeding as f64 / sets as f64 <= DELTA + 3.0 * error,
    ));
    let find = |level: Alpha, rule: Rule| {
        let mut rows = rows.iter();
        rows.find(|row| row.level == level && row.rule == rule)
    };
    if let (Some(controlled), Some(split)) = (
        find(cut, Rule::RiskControl),
        find(alpha, Rule::SplitConformal),
    ) {
        claims.push(claim(
            format!("risk control at {cut}: the mean threshold is at most that of split conformal at {alpha}"),
            format!("{:.4} <= {:.4}", controlled.threshold, split.threshold),
            controlled.threshold <= split.threshold,
        ));
        let (ours, theirs) = (controlled.summary.probes.mean, split.summary.probes.mean);
        claims.push(claim(
            format!(
                "risk control at {cut}: mean probes are at most those of split conformal at {alpha}"
            ),
            format!("{ours:.3} <= {theirs:.3}"),
            ours <= theirs,
        ));
    }
    let rising = Estimate::over(rising);
    claims.push(claim(
        "the loss of some cases rises with the threshold, so that its envelope is needed",
        format!("{} per cent of cases", per_cent(rising)),
        rising.mean > 0.0,
    ));
    claims
}

/// What a run gave: the share of cases whose loss rises, and for every level and rule the threshold and the counts.
type Given = (f64, Vec<(Threshold, FamilyCounts)>);

/// For how many of the thresholds of Learn-then-Test, a level and calibration set each, the rate over the test
/// episodes of all seeds exceeds the level; and how many there are.
fn exceeding(bench: &Workbench<'_>, levels: &[Alpha], by_run: &[Given]) -> (usize, usize) {
    let experiments = &bench.parameters().experiments;
    let settings = levels
        .iter()
        .flat_map(|level| Rule::ALL.map(|rule| (*level, rule)));
    let settings: Vec<(Alpha, Rule)> = settings.collect();
    let learned: Vec<(Alpha, &Threshold)> = by_run
        .iter()
        .flat_map(|(_, given)| settings.iter().zip(given))
        .filter(|((_, rule), _)| *rule == Rule::LearnThenTest)
        .map(|((level, _), (threshold, _))| (*level, threshold))
        .collect();
    let temperature = experiments.temperature.get();
    let method = |threshold| SafeCommit::new(threshold, temperature, experiments.max_probes);
    let by_seed = bench.again_over_runs(|run| {
        let cells = learned
            .iter()
            .map(|(_, threshold)| Cell::certifying(method(threshold)));
        run.simulate(&cells.collect::<Vec<_>>())
    });
    let exceeds = transposed(by_seed)
        .into_iter()
        .zip(&learned)
        .filter(|(seeds, (level, _))| {
            let mut counts = Counts::default();
            for seed in seeds {
                counts += total(seed);
            }
            counts.unsafe_commit_rate() > level.to_f64()
        });
    (exceeds.count(), learned.len())
}

/// Whether the loss of a case rises from one plausible set to a larger one. A step at the lowest score of all is
/// from the empty set, and does not count.
fn rises(curve: &RiskCurve, episode: &Episode) -> bool {
    let scores = episode
        .proposed()
        .iter()
        .map(|at| episode.worlds()[*at].score.score());
    let lowest = scores.min();
    let mut before = curve.first();
    curve.steps().iter().any(|(score, loss)| {
        let risen = *loss > before && lowest.is_some_and(|lowest| *score > lowest);
        before = *loss;
        risen
    })
}

/// The losses of the policy on the calibration episodes of a run, each as a function of the threshold. They bound
/// the decisions under these settings alone, which [`SafeCommit::new`] has for its temperature and probes.
pub(super) fn unsafe_commit_curves(
    run: &Run<'_>,
    settings: &Settings,
) -> Result<RiskCurves, RiskError> {
    let generator = run.generator(Split::Calibration);
    let (mut view, mut workspace) = (View::default(), Workspace::default());
    let curves = (0..).zip(run.calibration()).map(|(index, episode)| {
        view.fill(episode);
        let policy = || generator.policy_stream(index);
        let mut case = Audited(Environment::new(episode, &view, &policy), episode);
        match case.0.problem() {
            Some(problem) => unsafe_commit_curve(problem, settings, &mut case, &mut workspace),
            // It escalates at every threshold.
            None => RiskCurve::replay([], 0, |_| 0),
        }
    });
    Ok(RiskCurves::binary(curves.collect())?.of_policy(settings.digest()))
}

struct Audited<'a>(Environment<'a>, &'a Episode);

impl AuditedCase for Audited<'_> {
    fn answer(&mut self, probe: usize) -> Option<usize> {
        let probe = self.0.scan()[probe];
        Some(self.0.ask(probe))
    }

    fn is_safe(&self, action: usize) -> bool {
        self.1.is_safe(action)
    }
}
