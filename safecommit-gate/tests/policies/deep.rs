//! Policies that are nested deep, or have many terms.

use safecommit_gate::{ActionDescription, Fact, Facts, PolicyError, PolicyText, SafetyPolicies};

use crate::bad_input::{OPEN, load, refused};

#[test]
fn what_is_too_deep_for_the_parser_is_refused_and_what_is_deep_loads_and_answers() {
    let policy = |condition: &str| {
        format!(
            "permit(principal, action == Files::Action::\"delete\", resource) when {{ {condition} }};"
        )
    };
    let dirty = "(resource has dirty && resource.dirty)";
    let facts = Facts::new([
        Fact::new("kind", ["file", "link"]).unwrap(),
        Fact::new("dirty", ["no", "yes"]).unwrap(),
    ]);
    let facts = facts.unwrap();
    let world = facts
        .assignment([("kind", "file"), ("dirty", "yes")])
        .unwrap();
    let forms = |size: usize| {
        [
            vec![dirty; size].join(" || "),
            format!("{}{dirty}{}", "(".repeat(size), ")".repeat(size)),
            format!("{}{dirty}{}", "!(".repeat(size * 2), ")".repeat(size * 2)),
            format!("{}{dirty}", "if false then false else ".repeat(size)),
            format!("{}1 > 0 && {dirty}", "1 + ".repeat(size)),
        ]
    };
    for condition in forms(45) {
        let policies = load(&policy(&condition)).unwrap();
        let map = policies
            .bind(&facts, &[ActionDescription::new("delete", "me", "x")])
            .unwrap();
        assert!(
            map.evaluate(std::slice::from_ref(&world))
                .unwrap()
                .is_safe(0, 0),
            "{condition}"
        );
    }
    for condition in forms(30_000) {
        let (policy, place, message) = refused(&format!("{OPEN}{}", policy(&condition)));
        assert_eq!((policy.as_str(), place.line), ("2", 2));
        assert!(
            message.contains("100 deep") || message.contains("1000 operators"),
            "{message}"
        );
    }
    // As many as are allowed: the answer may be that Cedar gives up, never an end of the program.
    let sum = policy(&format!("{}1 > 0", "1 + ".repeat(995)));
    let chain = policy(&vec!["true"; 990].join(" || "));
    for text in [sum, chain] {
        let map = load(&text).unwrap();
        let map = map
            .bind(&facts, &[ActionDescription::new("delete", "me", "x")])
            .unwrap();
        let table = map.evaluate(std::slice::from_ref(&world)).unwrap();
        assert!(table.is_safe(0, 0) || table.blockers(0, 0).next().unwrap().policy().is_some());
    }
    let text = format!(
        "entity A = {{ a: {}Long{} }};",
        "Set<".repeat(30_000),
        ">".repeat(30_000)
    );
    let deep = SafetyPolicies::load(
        &[],
        PolicyText {
            name: "deep",
            text: &text,
        },
    )
    .unwrap_err();
    assert!(matches!(deep, PolicyError::Schema { .. }), "{deep}");
}
