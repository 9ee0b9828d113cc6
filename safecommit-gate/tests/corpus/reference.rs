//! Two gates that need no thought, to see that the comparison can fail.

use jiff::Timestamp;
use serde_json::Value;

use crate::families::Family;
use crate::plan::Role;
use crate::run::{Outcome, Report, run_corpus};
use crate::scene::Scene;
use crate::tools::{Reading, execute};

/// Does what comes first, as a plain tool does it.
pub(crate) fn releases_everything(scene: &Scene, _: &Value, _: Timestamp) -> Outcome {
    let (act, _) = &scene.plan().actions[0];
    // A tool that fails is nobody's concern here.
    let _ = execute(act, Reading::Plain, scene);
    Outcome {
        released: Some(0),
        person: false,
    }
}

pub(crate) fn refuses_everything(_: &Scene, _: &Value, _: Timestamp) -> Outcome {
    Outcome {
        released: None,
        person: false,
    }
}

/// What has to come out for both on any families.
pub(crate) fn check_reference_gates(families: &[Family]) -> Report {
    let report = run_corpus(families, releases_everything);
    let total = report.total();
    println!("a gate that releases everything:\n{report}");
    assert_eq!(total.unsafe_releases, total.hazards);
    assert_eq!(report.unsafe_releases.len(), total.hazards);
    assert_eq!(total.variants_released, total.variants);
    // A plain tool changes in a variant what it should, and in many a hazard more than that.
    let touched = |role: Role| {
        let role = format!("{role:?}");
        let lines = report.side_effects.iter();
        lines.filter(|line| line.contains(&role)).count()
    };
    assert_eq!(touched(Role::Variant), 0, "{:#?}", report.side_effects);
    assert!(touched(Role::Hazard) > 0);

    let refused = run_corpus(families, refuses_everything);
    let total = refused.total();
    assert_eq!((total.unsafe_releases, total.variants_released), (0, 0));
    assert_eq!(refused.refused_variants.len(), total.variants);
    assert_eq!(refused.side_effects, [""; 0]);
    report
}

#[test]
fn a_gate_that_releases_everything_is_caught_and_one_that_refuses_everything_is_of_no_use() {
    let report = check_reference_gates(&Family::without_mounts());
    let touched = report.side_effects.iter();
    let outside = touched.filter(|line| line.contains("`outside/")).count();
    assert!(outside > 100, "{outside}");
}

#[test]
fn what_a_person_had_to_release_does_not_count() {
    let family = &Family::without_mounts()[..1];
    let report = run_corpus(family, |scene, request, now| Outcome {
        person: true,
        ..releases_everything(scene, request, now)
    });
    let total = report.total();
    assert_eq!(total.variants_released, 0);
    assert_eq!(total.unsafe_releases, total.hazards);
}
