//! Verification: more is asked, never less safely committed, and a refuted plausible set is reopened.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Budget, Controller, Cost, Fallback, FallbackKind, Fate, NO, OutcomeModel, Probability,
    Problem, Purpose, Reason, Reversibility, Settings, Step, Subject, Verification, Workspace, YES,
};

use crate::calibrated::threshold;
use crate::generated::Random;

/// Worlds of a score and one safe action each, a question about each.
fn questions(reversibility: Reversibility, worlds: &[(f64, usize)]) -> Problem {
    let mut problem = Problem::new(Subject([9; 32]));
    for _ in 0..3 {
        let action = Action::new(0.0, 0.0, reversibility).unwrap();
        problem.add_action(action).unwrap();
    }
    for &(score, safe) in worlds {
        problem
            .add_world(Score::new(score).unwrap(), [safe])
            .unwrap();
    }
    for world in 0..worlds.len() {
        let question = OutcomeModel::Identity { world };
        problem
            .add_probe(Cost::UNIT, Probability::ZERO, question)
            .unwrap();
    }
    problem
}

fn verifying(verification: Verification, budget: Budget) -> Settings {
    Settings::default()
        .with_verification(verification)
        .unwrap()
        .with_budget(budget)
}

const WHOLE: Verification = Verification::WholeSupport { price: 0.0 };

/// Answers truthfully until the controller ends; gives the probes made and the action committed.
fn play(
    problem: &Problem,
    settings: &Settings,
    kappa: &Threshold,
    truth: Option<usize>,
) -> (Vec<usize>, Result<usize, Fallback>) {
    let mut workspace = Workspace::default();
    let mut controller = Controller::start(problem, settings, kappa, &mut workspace);
    loop {
        match controller.next_step() {
            Step::Probe(choice) => {
                let answer = if Some(choice.probe) == truth { YES } else { NO };
                controller.observe(choice.probe, answer).unwrap();
            }
            Step::Commit(certificate) => {
                let probes = controller.history().iter().map(|it| it.probe).collect();
                let action = certificate.action();
                return (probes, Ok(controller.redeem(certificate, action).unwrap()));
            }
            Step::Fallback(fallback) => {
                let probes = controller.history().iter().map(|it| it.probe).collect();
                return (probes, Err(fallback));
            }
        }
    }
}

#[test]
fn a_certificate_about_the_wrong_worlds_is_found_out() {
    // The truth scores above the threshold, and the two plausible worlds agree on another action.
    let problem = questions(Reversibility::Irreversible, &[(0.1, 0), (0.2, 0), (0.9, 1)]);
    let kappa = threshold(0.5);
    let check = |verification, probes: &[usize], action| {
        let settings = verifying(verification, Budget::UNLIMITED);
        let (made, ended) = play(&problem, &settings, kappa, Some(2));
        assert_eq!(
            (made.as_slice(), ended),
            (probes, Ok(action)),
            "{verification:?}"
        );
    };
    check(Verification::Never, &[], 0);
    // Both plausible worlds are refuted; the one left, once reopened, is asked about and confirmed.
    check(Verification::MostPlausible, &[0, 1, 2], 1);
    // One question about the world that disagrees settles it, whatever its score.
    check(WHOLE, &[2], 1);
}

#[test]
fn a_confirmed_world_is_not_asked_about_again() {
    let problem = questions(Reversibility::Irreversible, &[(0.1, 0), (0.2, 0), (0.9, 1)]);
    let kappa = threshold(0.5);
    for (verification, probes) in [
        (Verification::Never, [].as_slice()),
        (Verification::MostPlausible, &[0]),
        (WHOLE, &[2]),
    ] {
        let settings = verifying(verification, Budget::UNLIMITED);
        let (made, ended) = play(&problem, &settings, kappa, Some(0));
        assert_eq!(
            (made.as_slice(), ended),
            (probes, Ok(0)),
            "{verification:?}"
        );
    }
}

#[test]
fn only_what_cannot_be_undone_is_verified() {
    let problem = questions(Reversibility::Reversible, &[(0.1, 0), (0.9, 1)]);
    for verification in [Verification::MostPlausible, WHOLE] {
        let settings = verifying(verification, Budget::UNLIMITED);
        let (made, ended) = play(&problem, &settings, threshold(0.5), Some(1));
        assert_eq!((made.len(), ended), (0, Ok(0)));
    }
}

#[test]
fn the_certificate_stands_when_the_budget_ends() {
    let problem = questions(Reversibility::Irreversible, &[(0.1, 0), (0.2, 0), (0.9, 1)]);
    let settings = verifying(Verification::MostPlausible, Budget::probes(1));
    assert_eq!(
        play(&problem, &settings, threshold(0.5), Some(2)),
        (vec![0], Ok(0))
    );
    let mut costly = questions(Reversibility::Irreversible, &[(0.1, 0), (0.9, 1)]);
    let budget = Budget {
        max_cost: Some(0.5),
        ..Budget::UNLIMITED
    };
    costly.set_repeatable_later(0);
    for verification in [Verification::MostPlausible, WHOLE] {
        let settings = verifying(verification, budget);
        assert_eq!(
            play(&costly, &settings, threshold(0.5), Some(1)),
            (vec![], Ok(0))
        );
    }
}

#[test]
fn a_probe_past_the_threshold_has_to_be_worth_its_price() {
    let problem = questions(Reversibility::Irreversible, &[(0.1, 0), (0.9, 1)]);
    // Two worlds that disagree: the shrinkage is the smaller of their masses.
    let ratio = (-0.8_f64 / 0.25).exp();
    let mass = ratio / (1.0 + ratio);
    for (price, probes) in [(mass * 0.999, 1), (mass * 1.001, 0)] {
        let settings = verifying(Verification::WholeSupport { price }, Budget::UNLIMITED);
        let (made, _) = play(&problem, &settings, threshold(0.5), Some(0));
        assert_eq!(made.len(), probes, "{price}");
    }
    for price in [-1.0, f64::NAN, f64::INFINITY] {
        let verification = Verification::WholeSupport { price };
        assert!(Settings::default().with_verification(verification).is_err());
    }
}

#[test]
fn a_set_that_no_answer_refuted_is_not_reopened() {
    // Nothing is below the threshold, and no answer has spoken for the rest.
    let problem = questions(Reversibility::Irreversible, &[(0.8, 0), (0.9, 0)]);
    for verification in [Verification::MostPlausible, WHOLE] {
        let settings = verifying(verification, Budget::UNLIMITED);
        let (made, ended) = play(&problem, &settings, threshold(0.5), Some(0));
        assert!(made.is_empty());
        assert_eq!(
            ended,
            Err(Fallback {
                kind: FallbackKind::Escalate,
                reason: Reason::NoWorldPlausible
            })
        );
    }
}

#[test]
fn hard_evidence_is_not_reopened_and_everything_refuted_escalates() {
    let mut problem = questions(Reversibility::Irreversible, &[(0.1, 0), (0.8, 1), (0.9, 2)]);
    problem.contradict(1).unwrap();
    let settings = verifying(Verification::MostPlausible, Budget::UNLIMITED);
    let mut workspace = Workspace::default();
    let mut controller = Controller::start(&problem, &settings, threshold(0.5), &mut workspace);
    assert!(
        matches!(controller.next_step(), Step::Probe(choice) if choice.purpose == Purpose::Verify)
    );
    controller.observe(0, NO).unwrap();
    assert!(controller.is_reopened());
    let fates = [
        Fate::Refuted { probe: 0 },
        Fate::Contradicted,
        Fate::Retained,
    ];
    assert_eq!(controller.fates(), fates);
    // A certificate of the reopened set excluded nothing by its score.
    controller.probe_failed(2).unwrap();
    let Step::Commit(certificate) = controller.next_step() else {
        panic!("one world is left, and no question about it can be asked");
    };
    assert!(certificate.threshold().is_unbounded());
    assert_eq!(controller.redeem(certificate, 2), Ok(2));

    let settings = verifying(Verification::MostPlausible, Budget::UNLIMITED);
    let (made, ended) = play(&problem, &settings, threshold(0.5), None);
    assert_eq!(made, [0, 2]);
    assert_eq!(ended.unwrap_err().reason, Reason::EveryWorldRefuted);
}

/// Proposition 1 with the one exception: whatever is verified, an unsafe commit needs a true world that
/// was never proposed or that scored above the threshold; and after a reopening, one never proposed.
#[test]
fn verification_never_commits_less_safely() {
    let mut random = Random(20_260_804);
    let (mut reopened, mut saved) = (0, 0);
    for _ in 0..20_000 {
        let worlds: Vec<(f64, usize)> = (0..random.between(1, 6))
            .map(|_| (random.unit(), random.below(3)))
            .collect();
        let problem = questions(Reversibility::Irreversible, &worlds);
        let truth = random.below(worlds.len());
        let kappa = threshold(random.pick(&[0.25, 0.5, 0.75]));
        let is_safe = |action| problem.signatures().is_safe(truth, action);
        let budget = Budget::probes(random.below(7) as u32);
        let never = verifying(Verification::Never, budget);
        let (_, paper) = play(&problem, &never, kappa, Some(truth));
        for verification in [Verification::MostPlausible, WHOLE] {
            let settings = verifying(verification, budget);
            let mut workspace = Workspace::default();
            let mut controller = Controller::start(&problem, &settings, kappa, &mut workspace);
            let ended = loop {
                match controller.next_step() {
                    Step::Probe(choice) => {
                        let answer = if choice.probe == truth { YES } else { NO };
                        controller.observe(choice.probe, answer).unwrap();
                    }
                    Step::Commit(certificate) => break Some(certificate.action()),
                    Step::Fallback(_) => break None,
                }
            };
            reopened += usize::from(controller.is_reopened());
            if let Some(action) = ended
                && !is_safe(action)
            {
                assert!(!kappa.retains(problem.scores()[truth]));
                assert!(!controller.is_reopened());
            }
            let was_unsafe = paper.is_ok_and(|action| !is_safe(action));
            saved += usize::from(was_unsafe && ended.is_some_and(is_safe));
            if budget.max_probes >= Some(worlds.len() as u32) {
                assert!(ended.is_none_or(is_safe), "every question was affordable");
            }
        }
    }
    assert!(reopened > 500 && saved > 500, "{reopened} {saved}");
}
