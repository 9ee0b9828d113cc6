//! What a belief proposes.

use safecommit_gate::{Belief, Fact, Terms};

fn terms(quarters: u32) -> Terms {
    Terms {
        inconsistency: f64::from(quarters) / 4.0,
        ..Terms::NONE
    }
}

#[test]
fn a_hazard_is_proposed_until_hard_evidence_excludes_it() {
    let kind = Fact::new("kind", ["file", "link", "mount"]).unwrap();
    let belief = Belief::new(&kind, [("link", terms(3))]).unwrap();
    assert_eq!(belief.proposed().collect::<Vec<_>>(), ["link"]);
    // What speaks least against it counts, in either order.
    let low = belief.clone().supported("link", terms(1)).unwrap();
    assert_eq!(
        low,
        belief
            .clone()
            .supported("link", terms(1))
            .unwrap()
            .supported("link", terms(2))
            .unwrap()
    );
    // Nothing brings back what hard evidence excludes.
    let gone = belief
        .excluded("link", "looked")
        .unwrap()
        .supported("link", Terms::NONE)
        .unwrap();
    assert_eq!(gone.proposed().count(), 0);
    let excluded: Vec<(&str, &str)> = gone.exclusions().map(|it| (it.value, it.reason)).collect();
    assert_eq!(excluded, [("link", "looked")]);
    let only = Belief::new(&kind, [("link", terms(3)), ("mount", terms(3))]).unwrap();
    let only = only
        .supported("file", terms(0))
        .unwrap()
        .only(["file", "mount"], "looked")
        .unwrap();
    assert_eq!(only.proposed().collect::<Vec<_>>(), ["file", "mount"]);
    assert!(only.supported("socket", terms(0)).is_err());
}
