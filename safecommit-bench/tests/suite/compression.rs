//! Why safety-equivalence classes serve certification only: merging worlds of one signature before
//! probing lets a truthful "no" about a representative throw its whole class away.

use safecommit_bench::{
    Cell, Counts, Environment, Episode, Generator, Method, ProposedWorld, SafeCommit, Scratch,
    Split, Suite, Verdict, calibrate, simulate,
};
use safecommit_conformal::Threshold;
use safecommit_core::{
    Action, Budget, Controller, Cost, FallbackKind, OutcomeModel, Probability, Problem, Settings,
    Step, Subject, Workspace,
};

use crate::project;

/// The mutation: the controller sees the first world of each class alone.
struct CompressedBeforeProbing {
    threshold: Threshold,
    settings: Settings,
}

impl Method for CompressedBeforeProbing {
    fn decide(&self, environment: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
        let mut representatives: Vec<ProposedWorld> = Vec::new();
        for &world in environment.proposed() {
            let retained = self.threshold.retains(world.score.score());
            let known = representatives.iter().any(|kept| kept.safe == world.safe);
            if retained && !known {
                representatives.push(world);
            }
        }
        representatives.sort_by_key(ProposedWorld::rank);
        let mut problem = Problem::new(Subject([0; 32]));
        for _ in 0..environment.actions() {
            problem.add_action(Action::default()).unwrap();
        }
        for world in &representatives {
            let safe = (0..environment.actions()).filter(|action| world.safe >> action & 1 == 1);
            problem.add_world(world.score.score(), safe).unwrap();
        }
        for world in 0..representatives.len() {
            let model = OutcomeModel::Identity { world };
            problem
                .add_probe(Cost::UNIT, Probability::ZERO, model)
                .unwrap();
        }
        let mut workspace = Workspace::default();
        let mut controller =
            Controller::start(&problem, &self.settings, &self.threshold, &mut workspace);
        loop {
            match controller.next_step() {
                Step::Commit(certificate) => {
                    return Verdict::Commit {
                        action: certificate.action(),
                    };
                }
                Step::Fallback(_) => {
                    return Verdict::Fallback {
                        kind: FallbackKind::Escalate,
                        reason: None,
                    };
                }
                Step::Probe(choice) => {
                    let asked = representatives[choice.probe].position;
                    let probe = environment.probes().iter().position(|it| it.asks == asked);
                    let outcome = environment.ask(probe.unwrap());
                    controller.observe(choice.probe, outcome).unwrap();
                }
            }
        }
    }
}

#[test]
fn compressing_before_probing_breaks_the_guarantee_s_margin() {
    let parameters = project();
    let experiments = &parameters.experiments;
    let (mut right, mut mutated) = (Counts::default(), Counts::default());
    for &seed in experiments.seeds.get() {
        let suite = Suite::Experiment { seed };
        let generator = |split| Generator::new(&parameters.generator, suite, split);
        let calibration: Vec<Episode> = (0..experiments.calibration.get())
            .map(|index| generator(Split::Calibration).draw(index).episode().clone())
            .collect();
        let calibration = calibrate(experiments.alpha, &calibration);
        let threshold = calibration.threshold();
        let (temperature, budget) = (experiments.temperature.get(), experiments.max_probes);
        let settings = Settings::default()
            .with_temperature(temperature)
            .unwrap()
            .with_budget(Budget::probes(budget));
        let cell = |method: Box<dyn Method>| Cell {
            method,
            certifies: false,
            proposal_miss: 0.0,
            probe_error: 0.0,
        };
        let cells = [
            cell(Box::new(SafeCommit::new(threshold, temperature, budget))),
            cell(Box::new(CompressedBeforeProbing {
                threshold: threshold.clone(),
                settings,
            })),
        ];
        let counts = simulate(&generator(Split::Test), experiments.test.get(), &cells);
        for (right_here, mutated_here) in counts[0].iter().zip(counts[1]) {
            right += *right_here;
            mutated += mutated_here;
        }
    }
    let (right, mutated) = (right.unsafe_commit_rate(), mutated.unsafe_commit_rate());
    assert!((0.022..0.028).contains(&right), "{right}");
    assert!((0.045..0.050).contains(&mutated), "{mutated}");
}
