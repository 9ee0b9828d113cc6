//! What the theory promises, on random problems named by their seed.

use proptest::prelude::*;
use safecommit_conformal::Threshold;
use safecommit_core::{
    ActionSet, Controller, Fallback, Fate, Plausibility, Problem, Reason, Settings,
    SignatureMatrix, Step, Workspace,
};

use crate::calibrated::threshold;
use crate::generated::{Model, Plan, PlannedProbe, Random, World};

fn plan_of(seed: u64) -> (Plan, Random) {
    let mut random = Random(seed);
    let plan = Plan::random(&mut random);
    (plan, random)
}

/// The actions certified at the start, `None` without a plausible world.
fn certified(problem: &Problem, threshold: &Threshold) -> Option<ActionSet> {
    let (settings, mut workspace) = (Settings::default(), Workspace::default());
    let mut controller = Controller::start(problem, &settings, threshold, &mut workspace);
    match controller.plausible() {
        Plausibility::Plausible(plausible) => Some(plausible.certified()),
        Plausibility::Empty | Plausibility::Faulty(_) => None,
    }
}

fn commits(problem: &Problem, threshold: &Threshold) -> bool {
    certified(problem, threshold).is_some_and(|certified| !certified.is_empty())
}

/// The best score among all probes; zero for none at all, which is worth nothing.
fn best_score(plan: &Plan) -> f64 {
    let (problem, settings) = (plan.problem(), plan.settings());
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
    let scores = controller
        .shrinkages()
        .into_iter()
        .map(|choice| choice.score);
    scores.fold(0.0, f64::max)
}

/// Names of what is certified, whatever the order of the worlds.
fn subset(inner: &ActionSet, outer: &ActionSet) -> bool {
    inner.iter().all(|action| outer.contains(action))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn shrinkage_is_never_negative_nor_above_one(seed: u64) {
        let (plan, _) = plan_of(seed);
        let (problem, settings) = (plan.problem(), plan.settings());
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
        for choice in controller.shrinkages() {
            prop_assert!((-1e-12..=1.0 + 1e-12).contains(&choice.shrinkage), "{choice:?}");
        }
    }

    #[test]
    fn a_probe_more_never_lowers_the_best_score(seed: u64) {
        let (mut plan, _) = plan_of(seed);
        let with_all = best_score(&plan);
        while plan.probes.pop().is_some() {
            prop_assert!(best_score(&plan) <= with_all);
        }
    }

    #[test]
    fn a_retained_world_more_never_turns_a_refusal_into_a_commit(seed: u64) {
        let (mut plan, mut random) = plan_of(seed);
        plan.probes.clear();
        let before = certified(&plan.problem(), Threshold::unbounded());
        let safe = (0..plan.actions.len()).filter(|_| random.percent(60)).collect();
        plan.worlds.push(World { score: random.unit(), safe, contradicted: false });
        let after = certified(&plan.problem(), Threshold::unbounded()).unwrap();
        // From an empty set there was no commit either, and now there is a world to be safe in.
        if let Some(before) = before {
            prop_assert!(subset(&after, &before));
        }
    }

    #[test]
    fn a_larger_threshold_never_certifies_more(seed: u64, low in 0.0..1.0, more in 0.0..1.0) {
        let (plan, _) = plan_of(seed);
        let problem = plan.problem();
        let ladder = [threshold(low), threshold(low + more), Threshold::unbounded()];
        for pair in ladder.windows(2) {
            // An empty set is no licence: it may gain its first world, and with it a certificate.
            if let (Some(tight), Some(loose)) =
                (certified(&problem, pair[0]), certified(&problem, pair[1]))
            {
                prop_assert!(subset(&loose, &tight));
            } else {
                prop_assert!(!commits(&problem, pair[0]));
            }
        }
    }

    #[test]
    fn one_representative_a_class_certifies_the_same(seed: u64) {
        let (plan, _) = plan_of(seed);
        let (problem, settings) = (plan.problem(), plan.settings());
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
        let Plausibility::Plausible(plausible) = controller.plausible() else {
            return Ok(());
        };
        let classes = plausible.classes();
        let mut matrix = SignatureMatrix::new(plan.actions.len());
        for class in &classes {
            matrix.push(class.signature.iter()).unwrap();
            for &world in &class.worlds {
                prop_assert_eq!(&problem.signatures().signature(world), &class.signature);
            }
        }
        prop_assert_eq!(matrix.intersection(), plausible.certified());
        prop_assert_eq!(matrix.union(), plausible.possible());
        // Classes are distinct, cover the set once and stand in the order of their first worlds.
        for (at, class) in classes.iter().enumerate() {
            prop_assert!(classes[at + 1..].iter().all(|other| other.signature != class.signature));
        }
        let firsts: Vec<_> = classes.iter().map(|class| class.worlds[0]).collect();
        prop_assert!(firsts.is_sorted());
        let mut members: Vec<_> = classes.iter().flat_map(|class| class.worlds.clone()).collect();
        members.sort_unstable();
        prop_assert!(members.into_iter().eq(plausible.worlds()));
    }

    #[test]
    fn the_order_of_worlds_does_not_matter_to_the_certificate(seed: u64, kappa in 0.0..1.0) {
        let (mut plan, mut random) = plan_of(seed);
        plan.probes.clear();
        let before = certified(&plan.problem(), threshold(kappa));
        random.shuffle(&mut plan.worlds);
        prop_assert_eq!(certified(&plan.problem(), threshold(kappa)), before);
    }

    #[test]
    fn a_question_and_the_partition_that_says_the_same_are_one_probe(seed: u64) {
        let (mut plan, mut random) = plan_of(seed);
        prop_assume!(!plan.worlds.is_empty());
        let asked = random.below(plan.worlds.len());
        let worlds = 0..plan.worlds.len();
        let probe = |model| PlannedProbe { cost: 1.0, repeatable_later: false, model };
        plan.probes = vec![
            probe(Model::Identity(asked)),
            probe(Model::Partition(
                2,
                worlds.clone().map(|world| usize::from(world != asked)).collect(),
            )),
            probe(Model::Likelihood(
                2,
                worlds.map(|world| if world == asked { vec![1.0, 0.0] } else { vec![0.0, 1.0] })
                    .collect(),
            )),
        ];
        let (problem, settings) = (plan.problem(), plan.settings());
        let mut fates = Vec::new();
        for (probe, outcome) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)] {
            let mut workspace = Workspace::default();
            let mut controller =
                Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
            let shrinkages = controller.shrinkages();
            for choice in &shrinkages {
                prop_assert!((choice.shrinkage - shrinkages[0].shrinkage).abs() < 1e-12);
            }
            controller.observe(probe, outcome).unwrap();
            let gone = |fate: &Fate| matches!(fate, Fate::Refuted { .. });
            fates.push(controller.fates().iter().map(gone).collect::<Vec<_>>());
        }
        prop_assert!(fates[0] == fates[1] && fates[1] == fates[2]);
        prop_assert!(fates[3] == fates[4] && fates[4] == fates[5]);
    }

    /// The path-independence lemma: with frozen scores and probes that never lie, the order in which
    /// probes are made, whoever chooses it, is of no consequence to safety.
    #[test]
    fn an_unsafe_commit_needs_a_true_world_that_is_missing_or_above_the_threshold(
        seed: u64,
        kappa in 0.0..1.0,
    ) {
        let (mut plan, mut random) = plan_of(seed);
        prop_assume!(!plan.worlds.is_empty());
        let truth = random.below(plan.worlds.len());
        plan.worlds[truth].contradicted = false;
        let truly_safe = plan.worlds[truth].safe.clone();
        let (problem, settings) = (plan.problem(), plan.settings());
        let threshold = threshold(kappa);
        let covered = plan.worlds[truth].score <= kappa;
        let mut workspace = Workspace::default();
        let mut controller = Controller::start(&problem, &settings, threshold, &mut workspace);
        let mut order: Vec<_> = (0..plan.probes.len()).collect();
        random.shuffle(&mut order);
        let mut order = order.into_iter();
        loop {
            // Every certified action counts, not only the one that would be released.
            if let Plausibility::Plausible(plausible) = controller.plausible() {
                for action in plausible.certified().iter() {
                    prop_assert!(!covered || truly_safe.contains(&action));
                }
            }
            prop_assert_eq!(controller.fates()[truth] == Fate::Retained, covered);
            let Some(probe) = order.next() else { break };
            let model = &plan.probes[probe].model;
            let possible: Vec<_> = (0..model.outcomes())
                .filter(|&outcome| model.probability(outcome, truth) > 0.0)
                .collect();
            controller.observe(probe, random.pick(&possible)).unwrap();
        }
    }

    #[test]
    fn weights_sum_to_one_after_any_history(seed: u64) {
        let (plan, mut random) = plan_of(seed);
        let (problem, settings) = (plan.problem(), plan.settings());
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
        for probe in 0..plan.probes.len() {
            if let Plausibility::Plausible(plausible) = controller.plausible() {
                let total: f64 = plausible.weights().iter().sum();
                prop_assert!((total - 1.0).abs() < 1e-12);
                prop_assert_eq!(plausible.weights().len(), plausible.size().get());
            }
            let outcome = random.below(plan.probes[probe].model.outcomes());
            controller.observe(probe, outcome).unwrap();
        }
    }

    #[test]
    fn extreme_numbers_are_numbers_to_the_end(seed: u64) {
        let (mut plan, mut random) = plan_of(seed);
        let scores = [1e308, -1e308, f64::MAX, f64::MIN, 5e-324, 0.0, 1.0];
        for world in &mut plan.worlds {
            world.score = random.pick(&scores);
        }
        for probe in &mut plan.probes {
            probe.cost = random.pick(&[5e-324, f64::MIN_POSITIVE, 1.0, f64::MAX]);
        }
        plan.temperature = random.pick(&[5e-324, f64::MIN_POSITIVE, 1.0, f64::MAX]);
        let (problem, settings) = (plan.problem(), plan.settings());
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
        for probe in 0..plan.probes.len() {
            for choice in controller.shrinkages() {
                prop_assert!(choice.shrinkage.is_finite() && choice.score.is_finite());
            }
            if let Plausibility::Plausible(plausible) = controller.plausible() {
                let total: f64 = plausible.weights().iter().sum();
                prop_assert!((total - 1.0).abs() < 1e-12, "{:?}", plausible.weights());
            }
            let is_error = matches!(
                controller.next_step(),
                Step::Fallback(Fallback { reason: Reason::Error(_), .. })
            );
            prop_assert!(!is_error);
            let outcome = random.below(plan.probes[probe].model.outcomes());
            controller.observe(probe, outcome).unwrap();
        }
    }
}

/// Compression before probing is wrong: a representative would answer for the whole class.
#[test]
fn a_probe_removes_worlds_and_never_a_class() {
    let world = |score, safe: &[usize]| World {
        score,
        safe: safe.to_vec(),
        contradicted: false,
    };
    let (mut plan, _) = plan_of(0);
    plan.actions = vec![(1.0, 0.0); 2];
    plan.worlds = vec![world(0.1, &[0]), world(0.2, &[1]), world(0.3, &[0])];
    plan.probes = vec![PlannedProbe {
        cost: 1.0,
        repeatable_later: false,
        model: Model::Identity(0),
    }];
    let (problem, settings) = (plan.problem(), Settings::default());
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
    controller.observe(0, safecommit_core::NO).unwrap();
    let fates = [Fate::Refuted { probe: 0 }, Fate::Retained, Fate::Retained];
    assert_eq!(controller.fates(), fates);
    // Were the class of world 0 gone with it, action 1 would be certified.
    let Plausibility::Plausible(plausible) = controller.plausible() else {
        panic!("two worlds are left");
    };
    assert!(plausible.certified().is_empty());
    assert_eq!(plausible.classes().len(), 2);
}
