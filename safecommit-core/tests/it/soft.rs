//! Soft certificates bound residual mass and never pass for hard ones.

use safecommit_conformal::Threshold;
use safecommit_core::{Controller, Fault, Plausibility, Probability, Workspace};

use crate::generated::{Plan, Random, World};

fn two_worlds() -> Plan {
    let world = |score, safe: &[usize]| World {
        score,
        safe: safe.to_vec(),
        contradicted: false,
    };
    let mut plan = Plan::random(&mut Random(1));
    plan.actions = vec![(0.0, 0.0); 3];
    plan.probes.clear();
    plan.temperature = 1.0;
    // Masses 3/4 and 1/4.
    plan.worlds = vec![world(0.0, &[0, 1]), world(3.0_f64.ln(), &[0])];
    plan
}

#[test]
fn a_soft_certificate_holds_up_to_its_tolerance() {
    let plan = two_worlds();
    let (problem, settings) = (plan.problem(), plan.settings());
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
    let Plausibility::Plausible(plausible) = controller.plausible() else {
        panic!("two worlds are plausible");
    };
    let check = |action: usize, tolerance: f64, mass: f64, holds: bool| {
        let tolerance = Probability::new(tolerance).unwrap();
        let found = match plausible.certify_softly(action, tolerance) {
            Ok(certificate) => {
                assert!(holds);
                assert_eq!(
                    (certificate.action(), certificate.tolerance()),
                    (action, tolerance)
                );
                certificate.residual_mass()
            }
            Err(refused) => {
                assert!(!holds, "{refused}");
                assert_eq!((refused.action, refused.tolerance), (action, tolerance));
                refused.residual_mass
            }
        };
        assert!(
            (found - mass).abs() < 1e-12 && found.is_sign_positive(),
            "{found}"
        );
    };
    check(0, 0.0, 0.0, true);
    check(1, 0.26, 0.25, true);
    check(1, 0.24, 0.25, false);
    check(2, 0.99, 1.0, false);
    check(2, 1.0, 1.0, true);
    check(9, 0.99, 1.0, false);
    // Soft says yes where hard says no.
    assert_eq!(plausible.certify(1).unwrap_err().blocking, 1);
    assert!(plausible.certify(0).is_ok());
}

#[test]
fn the_tolerance_itself_is_tolerated() {
    let mut plan = two_worlds();
    plan.worlds[1].score = 0.0; // masses of exactly one half
    let (problem, settings) = (plan.problem(), plan.settings());
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
    let Plausibility::Plausible(plausible) = controller.plausible() else {
        panic!("two worlds are plausible");
    };
    assert!(
        plausible
            .certify_softly(1, Probability::new(0.5).unwrap())
            .is_ok()
    );
    let below = Probability::new(0.5_f64.next_down()).unwrap();
    assert!(plausible.certify_softly(1, below).is_err());
}

#[test]
fn after_an_error_there_is_no_set_to_certify_in() {
    let plan = two_worlds();
    let (problem, settings) = (plan.problem(), plan.settings());
    let mut workspace = Workspace::default();
    let mut controller =
        Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
    controller.fail(Fault::Policy);
    assert!(matches!(
        controller.plausible(),
        Plausibility::Faulty(Fault::Policy)
    ));
}
