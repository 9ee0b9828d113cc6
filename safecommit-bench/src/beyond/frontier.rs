//! Every policy under every budget: unsafe commits, task success, probes.

mod claims;
mod methods;
mod policy;

use safecommit_core::Verification;

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::Report;
use super::rule::Rule;
use super::sheet::{Sheet, Value};
use super::summary::{HEADINGS, Summary};
use super::workbench::{Workbench, transposed};
use crate::simulate::FamilyCounts;

use claims::claims;
use methods::{counts, freeze};
use policy::{CONTROLLED, Cut, PAPER, Policy, Score};

/// The budget that the statements are about.
const STATED: u32 = 2;

/// The probes at which cheap verification is compared with the paper's rule.
const PROBES: f64 = 1.05;

/// What a policy did under a budget.
struct Row {
    policy: Policy,
    budget: u32,
    summary: Summary,
}

/// The row of a policy at the budget that statements are about, or the largest below it that differs.
fn stated(rows: &[Row], policy: Policy) -> Option<&Row> {
    let mut rows = rows.iter();
    rows.rfind(|row| row.policy == policy && row.budget <= STATED)
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let frozen = freeze(bench.parameters())?;
    let choice = bench.learned()?;
    let of_one = choice
        .best_of_one_world()
        .map_or(&choice.chosen().score, |own| &own.score);
    let learned = [of_one, &choice.chosen().score];
    let settings: Vec<(Policy, u32)> = Policy::all(&frozen.prices())
        .into_iter()
        .flat_map(|policy| policy.budgets().iter().map(move |budget| (policy, *budget)))
        .collect();
    let by_run = bench.try_over_runs(|run| counts(bench, run, &frozen, learned, &settings))?;
    let mut rows: Vec<Row> = Vec::new();
    let mut before: Option<(Policy, Vec<FamilyCounts>)> = None;
    for ((policy, budget), counts) in settings.into_iter().zip(transposed(by_run)) {
        let own = Some((policy, counts));
        // A larger budget that changes no count is no other row.
        if own != before {
            let summary = Summary::of_all(own.as_ref().map_or(&[], |(_, counts)| counts));
            rows.push(Row {
                policy,
                budget,
                summary,
            });
        }
        before = own;
    }

    let [a, b, c, d] = HEADINGS;
    let mut sheet = Sheet::new(&["policy", "most probes"], &[a, b, c, d, "frontier"]);
    for row in &rows {
        let keys = [
            Value::text(row.policy.name()),
            Value::text(row.budget.to_string()),
        ];
        let place = if is_undominated(row, &rows) {
            "yes"
        } else {
            ""
        };
        let cells = keys.into_iter().chain(row.summary.cells());
        sheet.push(cells.chain([Value::text(place)]));
    }
    let experiments = &bench.parameters().experiments;
    Ok(Report::new(
        "frontier",
        "Frontier: every policy under every budget",
        &format!(
            "All policies on the same episodes at alpha {}. Those of the paper's rule choose probes by expected \
             certificate shrinkage (Eq. 12, 13) and stop at the first certificate. Verifying policies spend what is left of \
             the budget on checking a certificate, since all actions here are irreversible: they ask about the most \
             plausible world, or make the best probe over the whole support if it is worth more than a price; and they \
             reopen a plausible set that answers have refuted. conflict_abstention and scalar_confidence were tuned on \
             the frozen splits and promise nothing; scalar_confidence asks about the heaviest world until the share of \
             an action passes. Optimal probing and rollout minimise the expected cost until a certificate under the \
             weights w, which need not raise TS here. Risk control has a level of its own, {CONTROLLED}. One price was \
             chosen on the frozen validation split: the smallest with at most {PROBES} mean probes there. What a policy \
             does the same under a larger budget stands once. Frontier: no other policy with the same score has at most its UCR, at least its TS \
             and at most its probes, and is better in one of them, on these means. {}",
            experiments.alpha,
            crate::tables::UNITS
        ),
        &sheet,
        chart(&rows),
        claims(&rows, experiments.alpha, frozen.price)?,
    )
    .with_extract(
        "headlines",
        "What more can be had",
        &format!(
            "Some policies at alpha {} with at most {STATED} probes, of all in [BEYOND.md](BEYOND.md); risk control has a \
             level of its own. Every figure is new. The learned scores rest on an assumed split of the score into four \
             terms that tells deceptive worlds apart almost everywhere; the one of all worlds can be moved by whoever adds \
             worlds. {}",
            experiments.alpha,
            crate::tables::UNITS
        ),
        &headlines(&rows, frozen.price),
    ))
}

/// The rows that say most, without the mark of the frontier.
fn headlines(rows: &[Row], price: f64) -> Sheet {
    use Verification::{MostPlausible, Never, WholeSupport};

    let of = |score, cut, verification| Policy::SafeCommit(score, cut, Rule::Greedy, verification);
    let cheap = WholeSupport { price };
    let shown = [
        Policy::ScalarConfidence,
        PAPER,
        of(Score::Default, Cut::RiskControlled, Never),
        of(Score::Default, Cut::Marginal, MostPlausible),
        of(Score::Default, Cut::Marginal, cheap),
        of(Score::LearnedOfOneWorld, Cut::Marginal, Never),
        of(Score::LearnedOfAll, Cut::Marginal, Never),
    ];
    let mut sheet = Sheet::new(&["policy"], &HEADINGS);
    for policy in shown {
        if let Some(row) = stated(rows, policy) {
            let name = [Value::text(policy.name())];
            sheet.push(name.into_iter().chain(row.summary.cells()));
        }
    }
    sheet
}

/// Whether no policy with the same score is as good in every way and better in one.
fn is_undominated(row: &Row, rows: &[Row]) -> bool {
    let key = |row: &Row| {
        let summary = &row.summary;
        [summary.ucr.mean, -summary.ts.mean, summary.probes.mean]
    };
    let own = key(row);
    let mut others = rows
        .iter()
        .filter(|other| other.policy.score() == row.policy.score());
    !others.any(|other| {
        let other = key(other);
        let mut pairs = other.iter().zip(&own);
        pairs.clone().all(|(other, own)| other <= own) && pairs.any(|(other, own)| other < own)
    })
}

fn chart(rows: &[Row]) -> Chart {
    use Verification::{MostPlausible, Never, WholeSupport};

    let of = |score, cut, rule, verification| Policy::SafeCommit(score, cut, rule, verification);
    let whole = WholeSupport { price: 0.0 };
    let shown = [
        PAPER,
        of(Score::Default, Cut::RiskControlled, Rule::Greedy, Never),
        of(Score::Default, Cut::Marginal, Rule::Greedy, MostPlausible),
        of(Score::Default, Cut::Marginal, Rule::Greedy, whole),
        Policy::ScalarConfidence,
        of(Score::LearnedOfOneWorld, Cut::Marginal, Rule::Greedy, Never),
        of(Score::LearnedOfOneWorld, Cut::Marginal, Rule::Greedy, whole),
    ];
    let chart = Chart::new(
        "Unsafe commits against probes",
        "probes an episode",
        "UCR, per cent of episodes",
    );
    shown.into_iter().fold(chart, |chart, policy| {
        let own = rows.iter().filter(|row| row.policy == policy);
        let points = own.map(|row| Point::per_cent(row.summary.probes.mean, row.summary.ucr));
        chart.with(policy.name(), Mark::Line, points)
    })
}
