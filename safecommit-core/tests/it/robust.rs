//! Robust certificates hold under every perturbation of a stated set, and under no other.

use safecommit_conformal::{Score, Threshold};
use safecommit_core::{
    Action, Atom, Controller, Cost, EvidenceAtoms, Fault, NotRobust, OutcomeModel, Perturbation,
    Probability, Problem, ProblemError, Settings, Subject, Workspace, YES,
};

use crate::calibrated::threshold;

/// Two actions; the first is safe everywhere but in the third world, which hard evidence contradicts.
fn problem() -> Problem {
    let mut problem = Problem::new(Subject([3; 32]));
    problem.add_action(Action::default()).unwrap();
    problem.add_action(Action::default()).unwrap();
    for (score, safe) in [(0.1, vec![0, 1]), (0.2, vec![0]), (0.3, vec![1])] {
        problem.add_world(Score::new(score).unwrap(), safe).unwrap();
    }
    problem.contradict(2).unwrap();
    let model = OutcomeModel::Identity { world: 0 };
    problem
        .add_probe(Cost::UNIT, Probability::ZERO, model)
        .unwrap();
    problem
}

fn contradicting() -> Atom {
    Atom {
        contradicts: vec![2],
        ..Atom::default()
    }
}

fn score_share(world: usize, share: f64) -> Atom {
    Atom {
        score_shares: vec![(world, share)],
        ..Atom::default()
    }
}

/// The outcome of certifying `action` against up to `most` dropped atoms, at threshold `kappa`.
fn check(
    atoms: Vec<Atom>,
    most: usize,
    kappa: Option<f64>,
    action: usize,
) -> Result<(usize, usize), NotRobust> {
    let problem = problem();
    let atoms = EvidenceAtoms::new(&problem, atoms).unwrap();
    let (settings, mut workspace) = (Settings::default(), Workspace::default());
    let threshold = kappa.map_or(Threshold::unbounded(), threshold);
    let controller = Controller::start(&problem, &settings, threshold, &mut workspace);
    let certificate = controller.certify_robustly(action, atoms.drops(most))?;
    assert_eq!(
        (certificate.action(), certificate.subject()),
        (action, problem.subject())
    );
    Ok((
        certificate.perturbations(),
        certificate.fewest_worlds().get(),
    ))
}

#[test]
fn it_hangs_on_the_atoms_that_may_be_dropped() {
    assert_eq!(check(vec![contradicting()], 0, None, 0), Ok((0, 2)));
    let blocked = |perturbation| Err(NotRobust::Blocked { perturbation });
    assert_eq!(check(vec![contradicting()], 1, None, 0), blocked(0));
    // Two records against the world: one may go, both may not.
    let two = vec![contradicting(), contradicting()];
    assert_eq!(check(two.clone(), 1, None, 0), Ok((2, 2)));
    assert_eq!(check(two, 2, None, 0), blocked(2));
    assert_eq!(
        check(vec![contradicting()], 1, None, 1),
        Err(NotRobust::NotCertified)
    );
}

#[test]
fn a_dropped_share_moves_the_score_over_the_threshold() {
    // Without its share the second world rises above kappa: fewer worlds, still certified.
    assert_eq!(
        check(vec![score_share(1, -0.3)], 1, Some(0.25), 0),
        Ok((1, 1))
    );
    // Both worlds gone: nothing is certified by an empty set.
    let both = vec![score_share(0, -1.0), score_share(1, -1.0)];
    assert_eq!(
        check(both, 2, Some(0.25), 0),
        Err(NotRobust::Empty { perturbation: 2 })
    );
    let overflow = vec![score_share(0, -f64::MAX), score_share(0, -f64::MAX)];
    let fault = Fault::Score { world: 0 };
    assert_eq!(
        check(overflow, 2, None, 0),
        Err(NotRobust::Fault {
            perturbation: 2,
            fault
        })
    );
}

#[test]
fn every_subset_up_to_the_size_is_tried_once_small_ones_first() {
    let problem = problem();
    for count in 0..6_usize {
        let atoms = vec![contradicting(); count];
        let atoms = EvidenceAtoms::new(&problem, atoms).unwrap();
        for most in 0..=count + 1 {
            let drops: Vec<_> = atoms.drops(most).map(|drop| format!("{drop:?}")).collect();
            let by_mask = (1_u32..1 << count).filter(|mask| mask.count_ones() as usize <= most);
            assert_eq!(drops.len(), by_mask.count());
            let mut distinct = drops.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), drops.len());
        }
    }
}

#[test]
fn atoms_that_do_not_fit_the_problem_are_refused() {
    let refused = |atom: Atom| EvidenceAtoms::new(&problem(), vec![atom]).unwrap_err();
    assert_eq!(
        refused(score_share(3, 0.0)),
        ProblemError::UnknownWorld { world: 3 }
    );
    let far = Atom {
        contradicts: vec![3],
        ..Atom::default()
    };
    assert_eq!(refused(far), ProblemError::UnknownWorld { world: 3 });
    let possible = Atom {
        contradicts: vec![0],
        ..Atom::default()
    };
    assert_eq!(
        refused(possible),
        ProblemError::NotContradicted { world: 0 }
    );
    assert!(matches!(
        refused(score_share(0, f64::NAN)),
        ProblemError::SettingInvalid {
            setting: "score share",
            ..
        }
    ));
}

#[test]
fn atoms_of_another_problem_are_a_fault() {
    let atoms = EvidenceAtoms::new(&problem(), vec![score_share(2, 0.1)]).unwrap();
    let mut other = Problem::new(Subject([4; 32]));
    other.add_action(Action::default()).unwrap();
    other.add_world(Score::ZERO, [0]).unwrap();
    let (settings, mut workspace) = (Settings::default(), Workspace::default());
    let controller = Controller::start(&other, &settings, Threshold::unbounded(), &mut workspace);
    assert_eq!(
        controller.certify_robustly(0, atoms.drops(1)),
        Err(NotRobust::Fault {
            perturbation: 0,
            fault: Fault::Inconsistent
        })
    );
}

/// A perturbation by a function.
struct Change(fn(&Problem, &mut Problem) -> Result<(), Fault>);

impl Perturbation for Change {
    fn apply(&self, problem: &Problem, perturbed: &mut Problem) -> Result<(), Fault> {
        (self.0)(problem, perturbed)
    }
}

#[test]
fn a_change_that_breaks_down_or_changes_the_question_certifies_nothing() {
    let problem = problem();
    let (settings, mut workspace) = (Settings::default(), Workspace::default());
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
    controller.observe(0, YES).unwrap();
    let certify = |change: fn(&Problem, &mut Problem) -> Result<(), Fault>| {
        // Safe in every plausible world only because of the answer, under the change too.
        controller.certify_robustly(1, [Change(change)])
    };
    let fault = |fault| {
        Err(NotRobust::Fault {
            perturbation: 0,
            fault,
        })
    };
    let copy = certify(|problem, perturbed| {
        assert!(perturbed.actions().is_empty(), "it comes empty");
        perturbed.clone_from(problem);
        Ok(())
    });
    assert_eq!(copy.unwrap().perturbations(), 1);
    assert_eq!(certify(|_, _| Err(Fault::Policy)), fault(Fault::Policy));
    assert_eq!(certify(|_, _| Ok(())), fault(Fault::Inconsistent));
    let silent_fault = certify(|problem, perturbed| {
        perturbed.clone_from(problem);
        perturbed.fail(Fault::TruncatedSupport);
        Ok(())
    });
    assert_eq!(silent_fault, fault(Fault::TruncatedSupport));
    controller.fail(Fault::Policy);
    assert_eq!(
        controller.certify_robustly(0, Vec::<Change>::new()),
        Err(NotRobust::NotCertified)
    );
}

/// 0.8 - 0.7 is a little more than 0.1 in floating point; in decimals the world is retained at 0.1.
#[test]
fn no_world_is_excluded_by_the_rounding_of_a_difference() {
    let mut problem = Problem::new(Subject([3; 32]));
    let action = problem.add_action(Action::default()).unwrap();
    problem.add_world(Score::ZERO, [action]).unwrap();
    let unsafe_in = problem.add_world(Score::new(0.8).unwrap(), []).unwrap();
    let atoms = EvidenceAtoms::new(&problem, vec![score_share(unsafe_in, 0.7)]).unwrap();
    let (settings, mut workspace) = (Settings::default(), Workspace::default());
    let controller = Controller::start(&problem, &settings, threshold(0.1), &mut workspace);
    assert!(controller.certify_robustly(action, atoms.drops(0)).is_ok());
    let denied = controller.certify_robustly(action, atoms.drops(1));
    assert_eq!(denied, Err(NotRobust::Blocked { perturbation: 0 }));
}
