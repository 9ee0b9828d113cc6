//! The controller beside a brute-force model, step by step, on thousands of random problems.

mod model;

use std::collections::BTreeMap;

use safecommit_conformal::{Misses, Threshold};
use safecommit_core::{Controller, Fate, Plausibility, Problem, Step, Workspace};

use crate::calibrated::calibration;
use crate::generated::{Plan, Random};
use model::{Expected, Model};

/// How far masses and shrinkages of the two may differ: rounding.
const CLOSE: f64 = 1e-9;

/// Counts what was met, so that a generator that loses its teeth is noticed.
#[derive(Default)]
struct Met {
    words: BTreeMap<String, usize>,
    near_ties: usize,
    probe_steps: usize,
}

impl Met {
    fn note(&mut self, word: impl Into<String>) {
        *self.words.entry(word.into()).or_default() += 1;
    }
}

#[test]
fn the_controller_agrees_with_the_model_at_every_step() {
    let mut random = Random(2026);
    let mut problem = Plan::random(&mut random).problem();
    let mut workspace = Workspace::default();
    let mut met = Met::default();
    for round in 0..5_000 {
        let plan = Plan::random(&mut random);
        plan.fill(&mut problem);
        play(
            round,
            &plan,
            &problem,
            &mut workspace,
            &mut random,
            &mut met,
        );
    }
    let expected = [
        "commit",
        "probe",
        "tie broken by order",
        "NoWorldProposed",
        "NoWorldPlausible",
        "EveryWorldRefuted",
        "NothingSafeAnywhere",
        "AuthorityMissing",
        "FreshEvidenceExpected",
        "ProbeRepeatableLater",
        "Unresolved",
        "NoProbeHelps",
        "ProbeBudgetSpent",
        "CostBudgetSpent",
        "StepBudgetSpent",
        "finite threshold",
        "score at the threshold",
    ];
    for word in expected {
        let times = met.words.get(word).copied().unwrap_or(0);
        assert!(
            times >= 20,
            "only {times} cases of `{word}`: {:?}",
            met.words
        );
    }
    assert!(
        met.near_ties * 1_000 <= met.probe_steps,
        "{} of {} probe choices hang on rounding",
        met.near_ties,
        met.probe_steps
    );
}

/// Plays one problem to its end, with truthful, adversarial and failing probes.
fn play(
    round: usize,
    plan: &Plan,
    problem: &Problem,
    workspace: &mut Workspace,
    random: &mut Random,
    met: &mut Met,
) {
    let (alpha, threshold, scores) = random_threshold(plan, random);
    let settings = plan.settings();
    let mut controller = Controller::start(problem, &settings, &threshold, workspace);
    let mut model = Model::start(plan, alpha, &scores);
    if threshold.finite().is_some() {
        met.note("finite threshold");
    }
    if plan
        .worlds
        .iter()
        .any(|world| Some(world.score) == threshold.finite().map(f64::from))
    {
        met.note("score at the threshold");
    }
    let truth = (!plan.worlds.is_empty()).then(|| random.below(plan.worlds.len()));
    for step in 0..=plan.probes.len() + 2 {
        let at = format!("round {round}, step {step}: {plan:?}");
        compare_state(&model, &mut controller, plan, &at);
        let next = controller.next_step();
        let ended = compare_step(&model, &next, &mut controller, met, &at);
        let open: Vec<usize> = model.open().collect();
        if ended || open.is_empty() {
            return;
        }
        let probe = match next {
            Step::Probe(choice) if random.percent(80) => choice.probe,
            _ => random.pick(&open),
        };
        if random.percent(15) {
            controller.probe_failed(probe).unwrap();
            model.fail(probe);
        } else {
            let outcomes = plan.probes[probe].model.outcomes();
            let outcome = match truth.filter(|_| random.percent(80)) {
                Some(world) => draw(plan, probe, world, random),
                None => random.below(outcomes),
            };
            controller.observe(probe, outcome).unwrap();
            model.observe(probe, outcome);
        }
        if random.percent(30) {
            controller.elapse(1);
            model.steps += 1;
        }
    }
}

/// A threshold from a real calibration on a coarse grid of scores, or none at all.
fn random_threshold(plan: &Plan, random: &mut Random) -> ((u64, u64), Threshold, Vec<Option<f64>>) {
    if random.percent(40) {
        // The model knows no unbounded threshold: a rank above n is one.
        return ((1, 100), Threshold::UNBOUNDED, Vec::new());
    }
    let (text, fraction) = random.pick(&[("0.05", (1, 20)), ("0.1", (1, 10)), ("0.3", (3, 10))]);
    let scores: Vec<_> = (0..random.between(1, 40))
        .map(|_| match random.below(10) {
            0 => None,
            1..=4 if !plan.worlds.is_empty() => {
                Some(plan.worlds[random.below(plan.worlds.len())].score)
            }
            _ => Some((random.unit() * 4.0).round() / 4.0),
        })
        .collect();
    let calibration = calibration(text, &scores, Misses::AllListed);
    (fraction, calibration.threshold().clone(), scores)
}

/// An outcome that `world` may yield, with its probability.
fn draw(plan: &Plan, probe: usize, world: usize, random: &mut Random) -> usize {
    let model = &plan.probes[probe].model;
    let mut left = random.unit();
    for outcome in 0..model.outcomes() {
        left -= model.probability(outcome, world);
        if left < 0.0 {
            return outcome;
        }
    }
    panic!("probabilities of an outcome sum to one")
}

/// Compares everything that can be seen of the support.
fn compare_state(model: &Model<'_>, controller: &mut Controller<'_>, plan: &Plan, at: &str) {
    for (world, fate) in controller.fates().iter().enumerate() {
        let retained = model.retained.contains(&model::world(world));
        assert_eq!(*fate == Fate::Retained, retained, "world {world}, {at}");
    }
    let mut shrinkages: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for choice in controller.shrinkages() {
        shrinkages.insert(choice.probe, (choice.shrinkage, choice.score));
    }
    let Plausibility::Plausible(plausible) = controller.plausible() else {
        assert!(model.retained.is_empty(), "{at}");
        assert!(shrinkages.is_empty(), "{at}");
        return;
    };
    let worlds: Vec<_> = plausible.worlds().map(model::world).collect();
    assert!(worlds.iter().eq(model.retained.iter()), "{at}");
    let weights = model.weights();
    for (world, &weight) in worlds.iter().zip(plausible.weights()) {
        assert!((weight - weights[world]).abs() <= CLOSE, "{at}");
    }
    for action in 0..plan.actions.len() {
        let blocking: Vec<_> = plausible
            .uncertified_region(action)
            .map(model::world)
            .collect();
        let expected = model.uncertified_region(&model::action(action));
        assert!(blocking.iter().eq(expected.iter()), "action {action}, {at}");
        let mass: f64 = expected.iter().map(|world| weights[world]).sum();
        assert!(
            (plausible.residual_mass(action) - mass).abs() <= CLOSE,
            "{at}"
        );
        assert_eq!(
            plausible.certify(action).is_ok(),
            expected.is_empty(),
            "{at}"
        );
    }
    let open: Vec<_> = model.open().collect();
    assert!(open.iter().eq(shrinkages.keys()), "{at}");
    for probe in open {
        let (shrinkage, score) = shrinkages[&probe];
        let expected = model.shrinkage(probe);
        assert!(
            (shrinkage - expected).abs() <= CLOSE,
            "{shrinkage} {expected}, {at}"
        );
        assert!(
            (score - expected / plan.probes[probe].cost).abs() <= CLOSE,
            "{at}"
        );
    }
}

/// Compares the next step; `true` if it ends the decision.
fn compare_step(
    model: &Model<'_>,
    step: &Step,
    controller: &mut Controller<'_>,
    met: &mut Met,
    at: &str,
) -> bool {
    assert_eq!(
        *step,
        controller.next_step(),
        "asking twice changed the answer, {at}"
    );
    match (step, model.expected()) {
        (Step::Commit(certificate), Expected::Commit(action)) => {
            met.note("commit");
            assert_eq!(model::action(certificate.action()), action, "{at}");
            assert_eq!(certificate.worlds().get(), model.retained.len(), "{at}");
            assert_eq!(certificate.observations(), model.made.len(), "{at}");
            false
        }
        (Step::Probe(choice), Expected::Probe { probe, scores }) => {
            met.note("probe");
            met.probe_steps += 1;
            if choice.probe != probe {
                let gap = (scores[&choice.probe] - scores[&probe]).abs();
                assert!(
                    (gap - 1e-12).abs() < 1e-14,
                    "probe {} for {probe}, {scores:?}, {at}",
                    choice.probe
                );
                met.near_ties += 1;
            }
            let ties = scores
                .iter()
                .any(|(&other, score)| other != probe && (score - scores[&probe]).abs() < 1e-12);
            if ties {
                met.note("tie broken by order");
            }
            false
        }
        (Step::Fallback(fallback), Expected::Fallback { kind, reason, stop }) => {
            assert_eq!(format!("{:?}", fallback.kind), kind, "{at}");
            let word = format!("{:?}", fallback.reason);
            let word = word.split([' ', '(']).next().unwrap_or_default();
            assert_eq!(word, reason, "{at}");
            let stopped = fallback.reason.stop().map(|stop| format!("{stop:?}"));
            assert_eq!(stopped.as_deref(), stop, "{at}");
            met.note(reason);
            if let Some(stop) = stop {
                met.note(stop);
            }
            model.retained.is_empty()
        }
        (step, expected) => panic!("{step:?} instead of {expected:?}, {at}"),
    }
}
