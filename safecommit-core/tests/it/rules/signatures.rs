//! Information about what is safe: against entropies by definition, and on facts that decide or do not.

use std::collections::{BTreeMap, BTreeSet};

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Budget, Controller, Cost, Fallback, OutcomeModel, Plausibility, Probability, ProbeRule,
    Probing, Problem, Reason, Settings, Step, Stop, Subject, Workspace, expected_probing,
};

use super::choices::{entropy, information};
use crate::generated::{Plan, Random};

/// H(Y) + H(S) - H(S, Y), in nats, from the plan as it stands.
fn about_signatures(plan: &Plan, probe: usize, worlds: &[usize], weights: &[f64]) -> f64 {
    let model = &plan.probes[probe].model;
    let mut signatures = BTreeMap::<BTreeSet<usize>, f64>::new();
    let mut answers = BTreeMap::<usize, f64>::new();
    let mut both = BTreeMap::<(BTreeSet<usize>, usize), f64>::new();
    for (&world, weight) in worlds.iter().zip(weights) {
        let safe: BTreeSet<_> = plan.worlds[world].safe.iter().copied().collect();
        for outcome in 0..model.outcomes() {
            let joint = weight * model.probability(outcome, world);
            *signatures.entry(safe.clone()).or_default() += joint;
            *answers.entry(outcome).or_default() += joint;
            *both.entry((safe.clone(), outcome)).or_default() += joint;
        }
    }
    entropy(answers.into_values()) + entropy(signatures.into_values()) - entropy(both.into_values())
}

#[test]
fn safety_information_is_mutual_information_with_the_signature() {
    let mut random = Random(78);
    let (mut chosen, mut by_the_world, mut stopped, mut unlike_gain) = (0, 0, 0, 0);
    for _ in 0..4_000 {
        let mut plan = Plan::random(&mut random);
        plan.budget = Budget::UNLIMITED;
        let (problem, eta) = (plan.problem(), plan.eta);
        let settings = plan.settings().with_probing(Probing::SafetyInformation);
        let mut workspace = Workspace::default();
        let threshold = Threshold::unbounded();
        let mut controller = Controller::start(&problem, &settings, threshold, &mut workspace);
        let Plausibility::Plausible(plausible) = controller.plausible() else {
            continue;
        };
        if !plausible.certified().is_empty() || plausible.possible().is_empty() {
            continue;
        }
        let worlds: Vec<_> = plausible.worlds().collect();
        let weights = plausible.weights().to_vec();
        let per_cost = |of: fn(&Plan, usize, &[usize], &[f64]) -> f64| -> Vec<f64> {
            (0..plan.probes.len())
                .map(|probe| of(&plan, probe, &worlds, &weights) / plan.probes[probe].cost)
                .collect()
        };
        let scores = per_cost(about_signatures);
        let best = scores.iter().copied().fold(0.0, f64::max);
        let step = controller.next_step();
        let gain = plan.settings().with_probing(Probing::InformationGain);
        let mut workspace = Workspace::default();
        let of_gain = Controller::start(&problem, &gain, threshold, &mut workspace).next_step();
        match step {
            Step::Probe(choice) if choice.rule == ProbeRule::SafetyInformation => {
                chosen += 1;
                assert!(best > eta);
                assert!(scores[choice.probe] > best - 1e-9, "{choice:?} {scores:?}");
                // Of those that are clearly equal the first.
                let first = scores.iter().position(|score| *score > best - 1e-13);
                let near = scores.iter().filter(|score| **score > best - 1e-9).count();
                let equal = scores.iter().filter(|score| **score > best - 1e-13).count();
                assert!(near != equal || first == Some(choice.probe), "{scores:?}");
                let Step::Probe(gain) = of_gain else {
                    panic!("what tells about the signature tells about the world");
                };
                unlike_gain += usize::from(gain.probe != choice.probe);
                // What is told about the signature is told about the world.
                for (about_safety, about_world) in scores.iter().zip(per_cost(information)) {
                    assert!(*about_safety <= about_world + 1e-9);
                }
            }
            // Nothing about the signature, so what information gain would do, a stop included.
            step => {
                assert!(best <= eta + 1e-9, "{scores:?}");
                assert_eq!(step, of_gain);
                by_the_world += usize::from(matches!(step, Step::Probe(_)));
                stopped += usize::from(matches!(step, Step::Fallback(_)));
            }
        }
    }
    let counts = [chosen, by_the_world, stopped, unlike_gain];
    assert!(
        chosen > 700 && by_the_world > 10 && stopped > 30 && unlike_gain > 50,
        "{counts:?}"
    );
}

/// A single action and one world for each combination of the values of facts, which adds `step` to its score
/// for each value; and a probe at unit cost for each fact.
fn facts(values: &[u32], step: f64, safe: impl Fn(&[u32]) -> bool) -> (Problem, Vec<Vec<u32>>) {
    let mut problem = Problem::new(Subject([5; 32]));
    let act = problem.add_action(Action::default()).unwrap();
    let worlds: Vec<Vec<u32>> = values.iter().fold(vec![Vec::new()], |worlds, &values| {
        let with = |world: &Vec<u32>, value| [world.as_slice(), &[value]].concat();
        worlds
            .iter()
            .flat_map(|world| (0..values).map(move |value| with(world, value)))
            .collect()
    });
    for world in &worlds {
        let score = step * f64::from(world.iter().sum::<u32>());
        let safe = safe(world).then_some(act);
        problem.add_world(Score::new(score).unwrap(), safe).unwrap();
    }
    for (fact, &values) in values.iter().enumerate() {
        let outcome_of: Vec<u32> = worlds.iter().map(|world| world[fact]).collect();
        let model = OutcomeModel::Partition {
            outcomes: values as usize,
            outcome_of: &outcome_of,
        };
        problem
            .add_probe(Cost::UNIT, Probability::ZERO, model)
            .unwrap();
    }
    (problem, worlds)
}

/// The probes that a rule makes if `truth` is the true world, and whether it commits.
fn run(problem: &Problem, probing: Probing, truth: &[u32]) -> (Vec<(usize, ProbeRule)>, bool) {
    let (settings, mut workspace) = (
        Settings::default().with_probing(probing),
        Workspace::default(),
    );
    let threshold = Threshold::unbounded();
    let mut controller = Controller::start(problem, &settings, threshold, &mut workspace);
    let mut made = Vec::new();
    loop {
        match controller.next_step() {
            Step::Commit(_) => return (made, true),
            Step::Fallback(Fallback { reason, .. }) => {
                assert!(!matches!(reason, Reason::Error(_)), "{reason:?}");
                return (made, false);
            }
            Step::Probe(choice) => {
                let said = truth[choice.probe] as usize;
                controller.observe(choice.probe, said).unwrap();
                made.push((choice.probe, choice.rule));
            }
        }
    }
}

/// Owner has most values and decides nothing; kind and location decide.
#[test]
fn what_decides_nothing_is_never_asked() {
    let (problem, worlds) = facts(&[5, 2, 3], 0.1, |world| world[1] == 0 && world[2] != 2);
    for truth in &worlds {
        let safe = truth[1] == 0 && truth[2] != 2;
        let (made, committed) = run(&problem, Probing::SafetyInformation, truth);
        assert_eq!(committed, safe, "{truth:?}");
        assert!((1..=2).contains(&made.len()));
        assert!(
            made.iter()
                .all(|&made| made.0 != 0 && made.1 == ProbeRule::SafetyInformation),
            "{made:?}"
        );
        // The case that this rule is for: both of the others are no help.
        let (made, committed) = run(&problem, Probing::InformationGain, truth);
        assert_eq!(committed, safe);
        assert_eq!(made[0].0, 0);
        let (made, committed) = run(&problem, Probing::Shrinkage, truth);
        assert!(made.is_empty() && !committed);
    }
    let expected = |probing| {
        let (settings, mut workspace) = (
            Settings::default().with_probing(probing),
            Workspace::default(),
        );
        expected_probing(&problem, &settings, Threshold::unbounded(), &mut workspace).unwrap()
    };
    let (ours, gain) = (
        expected(Probing::SafetyInformation),
        expected(Probing::InformationGain),
    );
    assert!((ours.committed - gain.committed).abs() < 1e-12);
    assert!(ours.probes + 1.0 < gain.probes + 1e-12, "{ours:?} {gain:?}");
}

/// However cheap it is, and whatever rounding its weights have.
#[test]
fn what_decides_nothing_is_not_asked_for_being_cheap() {
    for cost in [1e-3, 1e-9, 1e-300] {
        let mut problem = Problem::new(Subject([5; 32]));
        let act = problem.add_action(Action::default()).unwrap();
        for world in 0..300_u32 {
            let score = f64::from(world % 100) / 37.0 + f64::from(world / 100) / 3.0;
            problem
                .add_world(Score::new(score).unwrap(), (world < 100).then_some(act))
                .unwrap();
        }
        // Which of the hundred, and which of the three.
        let of = [
            (100, cost, (0..300).map(|world| world % 100).collect()),
            (
                3,
                1.0,
                (0..300).map(|world| world / 100).collect::<Vec<_>>(),
            ),
        ];
        for (outcomes, cost, outcome_of) in &of {
            let model = OutcomeModel::Partition {
                outcomes: *outcomes,
                outcome_of,
            };
            problem
                .add_probe(Cost::new(*cost).unwrap(), Probability::ZERO, model)
                .unwrap();
        }
        for truth in [0, 142, 299] {
            let truth = [truth % 100, truth / 100];
            let (made, _) = run(&problem, Probing::SafetyInformation, &truth);
            assert_eq!(made, [(1, ProbeRule::SafetyInformation)], "{cost}");
        }
    }
}

/// Each of the two facts is worthless alone, and together they decide.
#[test]
fn an_exclusive_or_is_found_out() {
    let (mut problem, worlds) = facts(&[2, 2], 0.0, |world| world[0] != world[1]);
    let nothing = OutcomeModel::Partition {
        outcomes: 1,
        outcome_of: &[0; 4],
    };
    problem
        .add_probe(Cost::new(1e-3).unwrap(), Probability::ZERO, nothing)
        .unwrap();
    for truth in &worlds {
        let (made, committed) = run(&problem, Probing::SafetyInformation, truth);
        let rules = [ProbeRule::InformationGain, ProbeRule::SafetyInformation];
        assert_eq!(made, [(0, rules[0]), (1, rules[1])]);
        assert_eq!(committed, truth[0] != truth[1]);
    }
}

/// What cannot be paid is no reason to ask for what decides nothing, unless nothing else is left to ask.
#[test]
fn a_budget_that_buys_only_what_decides_nothing() {
    let (mut problem, worlds) = facts(&[3, 2], 0.1, |world| world[1] == 0);
    let kind: Vec<u32> = worlds.iter().map(|world| world[0]).collect();
    let model = OutcomeModel::Partition {
        outcomes: 3,
        outcome_of: &kind,
    };
    let cheap = Cost::new(0.5).unwrap();
    let cheap = problem.add_probe(cheap, Probability::ZERO, model).unwrap();
    let first = |max_cost| {
        let budget = Budget {
            max_cost: Some(max_cost),
            ..Budget::UNLIMITED
        };
        let settings = Settings::default().with_probing(Probing::SafetyInformation);
        let (settings, mut workspace) = (settings.with_budget(budget), Workspace::default());
        let threshold = Threshold::unbounded();
        match Controller::start(&problem, &settings, threshold, &mut workspace).next_step() {
            Step::Probe(choice) => Ok((choice.probe, choice.rule)),
            Step::Fallback(fallback) => Err(fallback.reason),
            Step::Commit(_) => panic!("nothing is certified"),
        }
    };
    assert_eq!(first(1.0), Ok((1, ProbeRule::SafetyInformation)));
    assert_eq!(first(0.9), Ok((cheap, ProbeRule::InformationGain)));
    let stop = Stop::CostBudgetSpent;
    assert_eq!(first(0.4), Err(Reason::Unresolved { stop }));
}
