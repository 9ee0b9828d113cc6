//! What probes cost under different rules, against the least that any rule can make them cost.

use safecommit_conformal::{Alpha, LoggedSeed, Threshold};
use safecommit_core::{Settings, Workspace, expected_probing};

use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::rule::Rule;
use super::sheet::{Sheet, Value};
use super::workbench::{Run, Workbench, transposed};
use crate::counts::Estimate;
use crate::episode::Episode;
use crate::methods::View;
use crate::published::Claim;
use crate::random::StreamKey;

/// Under what the rules are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Condition {
    /// The level of the threshold; without one it is unbounded.
    alpha: Option<&'static str>,
    random_costs: bool,
}

impl Condition {
    fn name(self) -> String {
        let costs = if self.random_costs { "random" } else { "unit" };
        let threshold = self
            .alpha
            .map_or("unbounded".to_owned(), |alpha| format!("alpha {alpha}"));
        format!("{threshold}, {costs} costs")
    }
}

/// The condition in which greedy has to be near the optimum.
const PAPER: Condition = Condition {
    alpha: Some("0.05"),
    random_costs: false,
};

const CONDITIONS: [Condition; 6] = [
    PAPER,
    Condition {
        alpha: Some("0.01"),
        ..PAPER
    },
    Condition {
        alpha: None,
        ..PAPER
    },
    Condition {
        random_costs: true,
        ..PAPER
    },
    Condition {
        alpha: Some("0.01"),
        random_costs: true,
    },
    Condition {
        alpha: None,
        random_costs: true,
    },
];

/// How far greedy may be from the optimum there.
const NEAR: f64 = 1.02;

/// From where on another rule has to do better.
const FAR: f64 = 1.05;

/// Sums over the test episodes of a seed of what is expected under the weights.
#[derive(Clone, Copy, Default)]
struct Sums {
    episodes: f64,
    cost: f64,
    probes: f64,
    committed: f64,
}

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let temperature = bench.parameters().experiments.temperature.get();
    let by_run = bench.try_over_runs(|run| {
        let mut sums = Vec::new();
        for condition in CONDITIONS {
            sums.extend(expected(run, condition, temperature)?);
        }
        Ok(sums)
    })?;
    let by_setting = transposed(by_run);

    let mut sheet = Sheet::new(
        &["threshold", "costs", "rule"],
        &[
            "expected cost",
            "cost / optimal",
            "expected probes",
            "certified",
        ],
    );
    let mut chart = Chart::new(
        "What probes cost, against the least possible",
        "1, 2, 3: unit costs at alpha 0.05, 0.01, unbounded; 4, 5, 6: random costs likewise",
        "expected cost / optimal",
    );
    let mut ratios = [[Estimate::over(&[]); CONDITIONS.len()]; Rule::ALL.len()];
    for (at, condition) in CONDITIONS.into_iter().enumerate() {
        let rules = &by_setting[at * Rule::ALL.len()..][..Rule::ALL.len()];
        let [optimal, ..] = rules else { continue };
        for (place, (rule, sums)) in Rule::ALL.into_iter().zip(rules).enumerate() {
            let over = |of: fn(&Sums) -> f64| {
                let means: Vec<f64> = sums.iter().map(|sums| of(sums) / sums.episodes).collect();
                Estimate::over(&means)
            };
            let pairs = sums.iter().zip(optimal);
            let ratio: Vec<f64> = pairs.map(|(own, best)| own.cost / best.cost).collect();
            ratios[place][at] = Estimate::over(&ratio);
            let threshold = condition
                .alpha
                .map_or("unbounded".to_owned(), |alpha| format!("alpha {alpha}"));
            sheet.push([
                Value::text(threshold),
                Value::text(if condition.random_costs {
                    "random"
                } else {
                    "unit"
                }),
                Value::text(rule.name()),
                Value::mean(over(|sums| sums.cost), 4),
                Value::mean(ratios[place][at], 4),
                Value::mean(over(|sums| sums.probes), 4),
                Value::rate(over(|sums| sums.committed)),
            ]);
        }
    }
    for (rule, ratios) in Rule::ALL.into_iter().zip(ratios) {
        let points = ratios.into_iter().enumerate();
        let points = points.map(|(at, ratio)| Point::mean(at as f64 + 1.0, ratio));
        chart = chart.with(rule.name(), Mark::Dots, points);
    }
    Ok(Report::new(
        "probe_choice",
        "Probe choice: greedy against the optimum",
        "What a rule is expected to pay for probes until an action is certified, without a budget: every retained \
         world is taken for the true one in turn, weighted by w, and the controller is run on its truthful answers. \
         All rules keep the guarantee; they differ in cost. Optimal is the least possible, by dynamic programming \
         over sets of worlds; rollout looks one probe ahead of the greedy rule. Random costs are 2^u, u uniform on \
         [-2, 2], a number a probe. Certified: mass of the worlds in which an action is certified at the end, in per \
         cent.",
        &sheet,
        chart,
        claims(&ratios),
    ))
}

fn claims(ratios: &[[Estimate; CONDITIONS.len()]; Rule::ALL.len()]) -> Vec<Claim> {
    let of = |rule: Rule| {
        let mut rules = Rule::ALL.into_iter();
        rules
            .position(|known| known == rule)
            .map(|place| ratios[place])
    };
    let (Some(greedy), Some(rollout)) = (of(Rule::Greedy), of(Rule::Rollout)) else {
        return Vec::new();
    };
    let near = greedy[0].mean;
    let mut claims = vec![claim(
        format!("alpha 0.05, unit costs: greedy costs at most {NEAR} times the optimum"),
        format!("{near:.4}"),
        near <= NEAR,
    )];
    let lost: Vec<(usize, f64, f64)> = (0..CONDITIONS.len())
        .map(|at| (at, greedy[at].mean, rollout[at].mean))
        .filter(|(_, greedy, _)| *greedy > FAR)
        .collect();
    let written = lost.iter().map(|(at, greedy, rollout)| {
        format!(
            "{greedy:.3} against {rollout:.3} ({})",
            CONDITIONS[*at].name()
        )
    });
    let evidence = match lost.len() {
        0 => "greedy loses no more than that anywhere".to_owned(),
        _ => written.collect::<Vec<_>>().join(", "),
    };
    claims.push(claim(
        format!("wherever greedy costs more than {FAR} times the optimum, rollout does not"),
        evidence,
        lost.iter().all(|(_, _, rollout)| *rollout <= FAR),
    ));
    let never_worse = greedy.iter().zip(&rollout);
    claims.push(claim(
        "rollout never costs more than greedy",
        "in all settings",
        never_worse
            .clone()
            .all(|(greedy, rollout)| rollout.mean <= greedy.mean * (1.0 + 1e-9)),
    ));
    claims
}

/// The sums of every rule, in the order of [`Rule::ALL`].
fn expected(
    run: &Run<'_>,
    condition: Condition,
    temperature: f64,
) -> Result<Vec<Sums>, StudyError> {
    let threshold = match condition.alpha {
        Some(alpha) => run.calibrated(alpha.parse::<Alpha>()?).threshold().clone(),
        None => Threshold::UNBOUNDED,
    };
    let settings = Settings::default().with_temperature(temperature)?;
    let costs = StreamKey::derive("experiment", run.seed(), "test", "costs");
    let (mut view, mut workspace) = (View::default(), Workspace::default());
    let mut sums = vec![Sums::default(); Rule::ALL.len()];
    for (index, episode) in (0_u64..).zip(run.test()) {
        let costed = condition
            .random_costs
            .then(|| with_costs(episode, &costs, index));
        view.fill(costed.as_ref().unwrap_or(episode));
        let Some(problem) = view.problem() else {
            continue;
        };
        for (rule, sums) in Rule::ALL.into_iter().zip(&mut sums) {
            let seed = LoggedSeed::new(format!("{} {index}", run.seed()));
            let settings = settings.with_probing(rule.probing(seed));
            sums.episodes += 1.0;
            // Where no world is plausible nothing is asked and nothing certified.
            if let Ok(expected) = expected_probing(problem, &settings, &threshold, &mut workspace) {
                sums.cost += expected.cost;
                sums.probes += expected.probes;
                sums.committed += expected.committed;
            }
        }
    }
    Ok(sums)
}

/// The same episode with a random price for every probe.
fn with_costs(episode: &Episode, costs: &StreamKey, index: u64) -> Episode {
    let mut stream = costs.stream(index);
    let mut episode = episode.clone();
    for probe in &mut episode.probes {
        probe.cost = libm::exp2(4.0 * stream.uniform() - 2.0);
    }
    episode
}
