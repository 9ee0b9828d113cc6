//! Whatever rule chooses, nothing unsafe is committed while the true world is retained.

use proptest::prelude::*;
use safecommit_conformal::{LoggedSeed, Threshold};
use safecommit_core::{Controller, Fate, Probing, Step, Verification, Workspace};

use super::every_rule;
use crate::calibrated::threshold;
use crate::generated::{Plan, Random};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn no_rule_commits_what_is_unsafe_in_a_retained_true_world(seed: u64, kappa in 0.0..1.5) {
        let mut random = Random(seed);
        let plan = Plan::random(&mut random);
        prop_assume!(!plan.worlds.is_empty());
        let truth = random.below(plan.worlds.len());
        let problem = plan.problem();
        let threshold = if kappa < 1.0 { threshold(kappa) } else { Threshold::unbounded() };
        let [mut rules @ .., last] = every_rule();
        random.shuffle(&mut rules);
        let drawn = Probing::Random { seed: LoggedSeed::new(seed.to_be_bytes()) };
        for rule in rules.into_iter().chain([last, drawn]) {
            let verification = random.pick(&[
                Verification::Never,
                Verification::MostPlausible,
                Verification::WholeSupport { price: 0.0 },
            ]);
            let settings =
                plan.settings().with_probing(rule).with_verification(verification).unwrap();
            let mut workspace = Workspace::default();
            let mut controller = Controller::start(&problem, &settings, threshold, &mut workspace);
            let covered = controller.fates()[truth] == Fate::Retained;
            let mut made = 0;
            loop {
                let step = controller.next_step();
                prop_assert_eq!(&step, &controller.next_step());
                match step {
                    Step::Commit(certificate) => {
                        let safe = plan.worlds[truth].safe.contains(&certificate.action());
                        prop_assert!(safe || !covered, "{:?}", rule);
                        break;
                    }
                    Step::Fallback(_) => break,
                    Step::Probe(choice) => {
                        made += 1;
                        prop_assert!(made <= plan.probes.len());
                        prop_assert!(plan.budget.max_probes.is_none_or(|most| made <= most as usize));
                        let model = &plan.probes[choice.probe].model;
                        let possible: Vec<_> = (0..model.outcomes())
                            .filter(|&outcome| model.probability(outcome, truth) > 0.0)
                            .collect();
                        if random.percent(10) {
                            controller.probe_failed(choice.probe).unwrap();
                        } else {
                            controller.observe(choice.probe, random.pick(&possible)).unwrap();
                        }
                        let fate = controller.fates()[truth];
                        prop_assert!(fate == Fate::Retained || !covered, "{:?}", rule);
                    }
                }
            }
            let spent: f64 = controller.history().iter()
                .map(|report| plan.probes[report.probe].cost).sum();
            prop_assert!(plan.budget.max_cost.is_none_or(|most| spent <= most * (1.0 + 1e-12)));
        }
    }
}
