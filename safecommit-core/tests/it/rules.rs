//! The rules that choose probes: against independent models, against each other, and for safety.

mod choices;
mod costs;
mod limits;
mod policies;
mod requests;
mod safety;
mod signatures;

use safecommit_conformal::{LoggedSeed, Threshold};
use safecommit_core::{
    Controller, NO, Plausibility, Probing, Problem, Settings, Step, Workspace, YES,
};

use crate::generated::{Model, Plan, PlannedProbe, Random, World};

/// What a rule comes to: mass without a commit, expected cost, expected number of probes.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    uncommitted: f64,
    cost: f64,
    probes: f64,
}

pub(crate) fn every_rule() -> [Probing; 6] {
    [
        Probing::Shrinkage,
        Probing::Optimal,
        Probing::Rollout,
        Probing::InformationGain,
        Probing::SafetyInformation,
        Probing::Random {
            seed: LoggedSeed::new("rules"),
        },
    ]
}

/// Up to `worlds` worlds, a question about most of them and some partitions: certain outcomes alone.
fn certain_plan(random: &mut Random, worlds: usize, probes: usize, budget: bool) -> Plan {
    let mut plan = Plan::random(random);
    let (actions, worlds) = (random.between(1, 4), random.between(2, worlds));
    let safe_share = random.pick(&[25, 40, 60]);
    plan.actions = vec![(1.0, 0.0); actions];
    plan.worlds = (0..worlds)
        .map(|_| World {
            score: random.unit(),
            safe: (0..actions)
                .filter(|_| random.percent(safe_share))
                .collect(),
            contradicted: false,
        })
        .collect();
    let whole = random.percent(30);
    plan.probes = (0..random.between(1, probes))
        .map(|at| PlannedProbe {
            cost: if whole { 1.0 } else { 0.2 + random.unit() },
            repeatable_later: false,
            model: if random.percent(60) {
                Model::Identity(at % worlds)
            } else {
                let outcomes = random.between(2, 3);
                let outcome_of = (0..worlds).map(|_| random.below(outcomes)).collect();
                Model::Partition(outcomes, outcome_of)
            },
        })
        .collect();
    plan.temperature = 0.25;
    plan.eta = 0.0;
    plan.budget = safecommit_core::Budget {
        max_probes: if budget {
            Some(random.between(0, 3) as u32)
        } else {
            None
        },
        ..safecommit_core::Budget::UNLIMITED
    };
    plan
}

/// The answer of `truth` to a probe with certain outcomes.
fn answer(plan: &Plan, probe: usize, truth: usize) -> usize {
    match &plan.probes[probe].model {
        Model::Identity(asked) if *asked == truth => YES,
        Model::Identity(_) => NO,
        Model::Partition(_, outcome_of) => outcome_of[truth],
        Model::Likelihood(..) => panic!("the plan has certain outcomes alone"),
    }
}

/// Drives the controller once a world as the truth, and averages under the weights at the start.
fn driven(plan: &Plan, problem: &Problem, settings: &Settings) -> Outcome {
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(problem, settings, Threshold::unbounded(), &mut workspace);
    let weights = match controller.plausible() {
        Plausibility::Plausible(plausible) => plausible.weights().to_vec(),
        other => panic!("{other:?}"),
    };
    let mut outcome = Outcome {
        uncommitted: 0.0,
        cost: 0.0,
        probes: 0.0,
    };
    for (truth, weight) in weights.into_iter().enumerate() {
        let mut controller =
            Controller::start(problem, settings, Threshold::unbounded(), &mut workspace);
        loop {
            match controller.next_step() {
                Step::Commit(_) => break,
                Step::Fallback(_) => {
                    outcome.uncommitted += weight;
                    break;
                }
                Step::Probe(choice) => {
                    let said = answer(plan, choice.probe, truth);
                    controller.observe(choice.probe, said).unwrap();
                    outcome.cost += weight * plan.probes[choice.probe].cost;
                    outcome.probes += weight;
                }
            }
        }
    }
    outcome
}
