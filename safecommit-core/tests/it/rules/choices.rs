//! Information gain against entropies by definition; random probing against chance.

use safecommit_conformal::{LoggedSeed, Score, Threshold};
use safecommit_core::{
    Action, Controller, Cost, OutcomeModel, Plausibility, Probability, ProbeRule, Probing, Problem,
    Settings, Step, Subject, Workspace,
};

use crate::generated::{Plan, Random};

pub(super) fn entropy(masses: impl Iterator<Item = f64>) -> f64 {
    let positive = masses.filter(|mass| *mass > 0.0);
    positive.map(|mass| -mass * mass.ln()).sum()
}

/// H(omega) - sum over y of P(y) H(omega | y), in nats.
pub(super) fn information(plan: &Plan, probe: usize, worlds: &[usize], weights: &[f64]) -> f64 {
    let model = &plan.probes[probe].model;
    let mut information = entropy(weights.iter().copied());
    for outcome in 0..model.outcomes() {
        let joint: Vec<f64> = worlds
            .iter()
            .zip(weights)
            .map(|(&world, weight)| weight * model.probability(outcome, world))
            .collect();
        let total: f64 = joint.iter().sum();
        if total > 0.0 {
            information -= total * entropy(joint.iter().map(|mass| mass / total));
        }
    }
    information
}

#[test]
fn information_gain_is_what_entropy_falls_by() {
    let mut random = Random(77);
    let (mut chosen, mut stopped, mut unlike_greedy) = (0, 0, 0);
    for _ in 0..3_000 {
        let mut plan = Plan::random(&mut random);
        plan.budget = safecommit_core::Budget::UNLIMITED;
        let (problem, eta) = (plan.problem(), plan.eta);
        let settings = plan.settings().with_probing(Probing::InformationGain);
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
        let Plausibility::Plausible(plausible) = controller.plausible() else {
            continue;
        };
        if !plausible.certified().is_empty() || plausible.possible().is_empty() {
            continue;
        }
        let worlds: Vec<_> = plausible.worlds().collect();
        let weights = plausible.weights().to_vec();
        let scores: Vec<f64> = (0..plan.probes.len())
            .map(|probe| information(&plan, probe, &worlds, &weights) / plan.probes[probe].cost)
            .collect();
        let best = scores.iter().copied().fold(0.0, f64::max);
        let shrinkages = controller.shrinkages();
        match controller.next_step() {
            Step::Probe(choice) => {
                chosen += 1;
                assert_eq!(choice.rule, ProbeRule::InformationGain);
                assert!(scores[choice.probe] > best - 1e-9, "{choice:?} {scores:?}");
                // Of those that are clearly equal the first.
                let first = scores.iter().position(|score| *score > best - 1e-13);
                let near = scores.iter().filter(|score| **score > best - 1e-9).count();
                let equal = scores.iter().filter(|score| **score > best - 1e-13).count();
                assert!(near != equal || first == Some(choice.probe), "{scores:?}");
                assert!(best > eta);
                // The record of a choice is in terms of the certificate.
                let same = shrinkages[choice.probe];
                assert!((choice.shrinkage - same.shrinkage).abs() < f64::MIN_POSITIVE);
                assert!((choice.score - same.score).abs() < f64::MIN_POSITIVE);
                let of_greedy = shrinkages
                    .iter()
                    .fold(0.0, |most: f64, one| most.max(one.score));
                unlike_greedy += usize::from(choice.score < of_greedy - 1e-9);
            }
            Step::Fallback(_) => {
                stopped += 1;
                assert!(best <= eta + 1e-9, "{scores:?}");
            }
            Step::Commit(_) => panic!("nothing is certified"),
        }
    }
    assert!(chosen > 500 && stopped > 20 && unlike_greedy > 50);
}

/// Six probes, the third of which tells nothing and the fourth nothing for certain.
fn draws() -> Problem {
    let mut problem = Problem::new(Subject([7; 32]));
    let action = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [action]).unwrap();
    problem.add_world(Score::ZERO, []).unwrap();
    let vague = [0.5, 0.5, 0.25, 0.75];
    let sharp = [0.5, 0.5, 0.0, 1.0];
    for model in [
        OutcomeModel::Identity { world: 0 },
        OutcomeModel::Identity { world: 1 },
        OutcomeModel::Partition {
            outcomes: 3,
            outcome_of: &[2, 2],
        },
        OutcomeModel::Likelihood {
            outcomes: 2,
            rows: &vague,
        },
        OutcomeModel::Likelihood {
            outcomes: 2,
            rows: &sharp,
        },
        OutcomeModel::Partition {
            outcomes: 3,
            outcome_of: &[2, 1],
        },
    ] {
        problem
            .add_probe(Cost::UNIT, Probability::ZERO, model)
            .unwrap();
    }
    problem
}

fn drawn(problem: &Problem, seed: &str, failed: &[usize]) -> Option<usize> {
    let seed = LoggedSeed::new(seed);
    let settings = Settings::default().with_probing(Probing::Random { seed });
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(problem, &settings, Threshold::unbounded(), &mut workspace);
    for &probe in failed {
        controller.probe_failed(probe).unwrap();
    }
    match controller.next_step() {
        Step::Probe(choice) => Some(choice.probe),
        _ => None,
    }
}

#[test]
fn each_usable_probe_is_drawn_as_often() {
    let problem = draws();
    let mut counts = [0_u32; 6];
    for seed in 0..8_000 {
        let seed = seed.to_string();
        let probe = drawn(&problem, &seed, &[]).unwrap();
        assert_eq!(drawn(&problem, &seed, &[]), Some(probe));
        counts[probe] += 1;
    }
    assert_eq!((counts[2], counts[3]), (0, 0));
    // Chi-squared with 3 degrees of freedom exceeds 21.1 once in 10,000.
    let usable = [0, 1, 4, 5].map(|probe| f64::from(counts[probe]));
    let distance: f64 = usable.iter().map(|count| (count - 2e3).powi(2) / 2e3).sum();
    assert!(distance < 21.1, "{counts:?}");
}

#[test]
fn draws_depend_on_subject_and_reports_and_never_repeat_a_probe() {
    let (problem, mut other) = (draws(), draws());
    let (mut after, mut elsewhere) = ([0; 6], 0);
    other.reset(Subject([8; 32]));
    let action = other.add_action(Action::default()).unwrap();
    other.add_world(Score::ZERO, [action]).unwrap();
    other.add_world(Score::ZERO, []).unwrap();
    for _ in 0..6 {
        let question = OutcomeModel::Identity { world: 0 };
        other
            .add_probe(Cost::UNIT, Probability::ZERO, question)
            .unwrap();
    }
    let mut all_six = [0; 6];
    for seed in 0..600 {
        let seed = seed.to_string();
        let first = drawn(&problem, &seed, &[]).unwrap();
        let next = drawn(&problem, &seed, &[first]).unwrap();
        assert_ne!(first, next);
        // Of four probes with the first one made: were the draws one, the second would be fixed by the
        // first.
        after[next] += usize::from(first == 0);
        all_six[drawn(&other, &seed, &[]).unwrap()] += 1;
        elsewhere += usize::from(drawn(&other, &seed, &[]) == Some(first));
    }
    assert!(
        [1, 4, 5].iter().all(|&probe| after[probe] > 20),
        "{after:?}"
    );
    assert!(all_six.iter().all(|&times| times > 50), "{all_six:?}");
    assert!(elsewhere < 200, "{elsewhere}");
    assert_eq!(drawn(&problem, "0", &[0, 1, 4, 5]), None);
}

/// Values of Python 3's `hmac` and `hashlib`: the first 8 bytes of HMAC-SHA256(seed, "safecommit probe", 32
/// bytes 7, the number of reports as 8 bytes), times the number of usable probes, over 2^64.
#[test]
fn draws_are_frozen() {
    let problem = draws();
    for (seed, first, after_probe_0) in [
        ("run 1", 1, 5),
        ("run 2", 1, 1),
        ("run 3", 5, 5),
        ("run 4", 0, 5),
        ("run 5", 5, 4),
        ("run 6", 4, 1),
        ("run 7", 0, 1),
        ("run 8", 5, 1),
    ] {
        assert_eq!(drawn(&problem, seed, &[]), Some(first), "{seed}");
        assert_eq!(drawn(&problem, seed, &[0]), Some(after_probe_0), "{seed}");
    }
}
