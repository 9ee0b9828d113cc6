//! The loss curve of an audited case is what the controller does at each threshold, run by run.

use safecommit_conformal::{Calibration, RiskCurves, Score, Threshold};
use safecommit_core::{
    Action, AuditedCase, Budget, Controller, Cost, Fault, NO, OutcomeModel, Probability, Problem,
    Settings, Step, Subject, Verification, Workspace, YES, unsafe_commit_curve,
};

use crate::calibrated::threshold;
use crate::generated::Random;

/// Worlds with a question about each, some of which fail when asked.
struct Audit {
    problem: Problem,
    scores: Vec<Score>,
    contradicted: Vec<bool>,
    safe: Vec<u64>,
    truth: usize,
    fails: u64,
}

impl AuditedCase for &Audit {
    fn answer(&mut self, probe: usize) -> Option<usize> {
        let works = self.fails >> probe & 1 == 0;
        works.then_some(if probe == self.truth { YES } else { NO })
    }

    fn is_safe(&self, action: usize) -> bool {
        self.safe[self.truth] >> action & 1 == 1
    }
}

fn random_audit(random: &mut Random) -> Audit {
    let mut problem = Problem::new(Subject([7; 32]));
    for _ in 0..3 {
        problem.add_action(Action::default()).unwrap();
    }
    let worlds = random.between(1, 7);
    let mut audit = Audit {
        problem: Problem::new(Subject([7; 32])),
        scores: Vec::new(),
        contradicted: Vec::new(),
        safe: Vec::new(),
        truth: random.below(worlds),
        fails: random.below(128) as u64 & random.below(128) as u64 & random.below(128) as u64,
    };
    for world in 0..worlds {
        let score = Score::new(random.below(8) as f64 / 8.0).unwrap();
        let safe = random.below(8) as u64;
        let actions = (0..3).filter(|action| safe >> action & 1 == 1);
        problem.add_world(score, actions).unwrap();
        let contradicted = world != audit.truth && random.percent(15);
        if contradicted {
            problem.contradict(world).unwrap();
        }
        audit.scores.push(score);
        audit.contradicted.push(contradicted);
        audit.safe.push(safe);
    }
    for world in 0..worlds {
        let question = OutcomeModel::Identity { world };
        problem
            .add_probe(Cost::UNIT, Probability::ZERO, question)
            .unwrap();
    }
    audit.problem = problem;
    audit
}

/// Whether the controller commits an unsafe action at a threshold that a calibration gave.
fn loss(audit: &Audit, settings: &Settings, kappa: &Threshold) -> u32 {
    let mut workspace = Workspace::default();
    let mut controller = Controller::start(&audit.problem, settings, kappa, &mut workspace);
    loop {
        match controller.next_step() {
            Step::Probe(choice) => match (&mut &*audit).answer(choice.probe) {
                Some(outcome) => controller.observe(choice.probe, outcome).unwrap(),
                None => controller.probe_failed(choice.probe).unwrap(),
            },
            Step::Commit(certificate) => {
                return u32::from(audit.safe[audit.truth] >> certificate.action() & 1 == 0);
            }
            Step::Fallback(_) => return 0,
        }
    }
}

#[test]
fn the_curve_is_the_loss_at_every_threshold() {
    let mut random = Random(31);
    let (mut unsafe_somewhere, mut rising) = (0, 0);
    for _ in 0..16_000 {
        let audit = random_audit(&mut random);
        let budget = Budget::probes(random.below(4) as u32);
        let verification = random.pick(&[
            Verification::Never,
            Verification::MostPlausible,
            Verification::WholeSupport { price: 0.0 },
        ]);
        let settings = Settings::default().with_budget(budget);
        let settings = settings.with_verification(verification).unwrap();
        let curve = unsafe_commit_curve(
            &audit.problem,
            &settings,
            &mut &audit,
            &mut Workspace::default(),
        );
        for (score, contradicted) in audit.scores.iter().zip(&audit.contradicted) {
            if !contradicted {
                // Just at a score, and above it below the next.
                for kappa in [score.value(), score.value() + 0.01] {
                    let expected = loss(&audit, &settings, threshold(kappa));
                    assert_eq!(curve.at(Score::new(kappa).unwrap()), expected, "{kappa}");
                }
            }
        }
        assert_eq!(curve.first(), 0);
        assert_eq!(
            curve.last(),
            loss(&audit, &settings, Threshold::unbounded())
        );
        unsafe_somewhere += u32::from(!curve.steps().is_empty());
        rising += u32::from(curve.steps().windows(2).any(|pair| pair[1].1 > pair[0].1));
    }
    assert!(
        unsafe_somewhere > 1000 && rising > 2,
        "{unsafe_somewhere} {rising}"
    );
}

/// A case whose problem cannot be decided commits nothing at any threshold, and an envelope of such curves is
/// controlled at the lowest level there is.
#[test]
fn a_faulty_problem_has_no_loss() {
    let mut problem = Problem::new(Subject([7; 32]));
    let action = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [action]).unwrap();
    problem.fail(Fault::TruncatedSupport);
    let audit = Audit {
        problem,
        scores: vec![Score::ZERO],
        contradicted: vec![false],
        safe: vec![0],
        truth: 0,
        fails: 0,
    };
    let settings = Settings::default();
    let curve = unsafe_commit_curve(
        &audit.problem,
        &settings,
        &mut &audit,
        &mut Workspace::default(),
    );
    assert!(curve.steps().is_empty());
    let curves = RiskCurves::binary(vec![curve; 99]).unwrap().envelope();
    let calibration = Calibration::risk_controlled("0.01".parse().unwrap(), &curves).unwrap();
    assert!(calibration.threshold().is_unbounded());
}
