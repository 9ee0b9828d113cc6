//! A schema that asks of an action what it does not have is refused with the place, before there is a request.

use safecommit_gate::{ActionDescription, Fact, Facts, PolicyError, PolicyText, SafetyPolicies};

const SCHEMA: &str = r#"// entity Entry = { colour: String };
type Mood = { calm: Bool };
entity Kind enum ["file", "link"];
entity Agent, Robot = { "trusted name"?: String };
entity Shelf = { colour: String };
entity Entry in [Shelf] = {
  kind: Kind, // colour: String
  dirty?: Bool,
};
action tidy appliesTo { principal: [Robot], resource: [Shelf] };
action delete, "put away" appliesTo {
  principal: [Agent], resource: [Entry], context: Mood,
};
"#;

/// What is wrong with a schema that has this in place of a part of its text.
fn misfit(part: &str, other: &str, action: &str) -> Option<String> {
    let text = SCHEMA.replacen(part, other, 1);
    assert!(part == other || text != SCHEMA);
    let schema = PolicyText {
        name: "s.cedarschema",
        text: &text,
    };
    let policies = PolicyText {
        name: "p.cedar",
        text: "permit(principal, action, resource);",
    };
    let policies = SafetyPolicies::load(&[policies], schema).unwrap();
    let facts = [
        Fact::new("kind", ["file", "link"]).unwrap(),
        Fact::new("dirty", ["no", "yes"]).unwrap(),
        Fact::new("calm", ["no", "yes"]).unwrap(),
    ];
    let facts = Facts::new(facts).unwrap();
    let described = ActionDescription::new(action, "agent", "a");
    let fits = policies.fits(&facts, &described);
    // No more and no less than where it is bound.
    assert_eq!(fits.is_ok(), policies.bind(&facts, &[described]).is_ok());
    fits.err().map(|error| {
        assert!(matches!(error, PolicyError::Schema { .. }));
        error.to_string()
    })
}

#[test]
fn what_an_action_has_fits_and_what_may_be_left_out_too() {
    for action in ["delete", "put away"] {
        assert_eq!(misfit("", "", action), None);
        assert_eq!(
            misfit("  dirty?: Bool,", "  dirty?: Bool, size?: Long,", action),
            None
        );
    }
}

#[test]
fn what_an_action_does_not_have_is_named_with_what_it_stands_on_and_its_place() {
    let entry = "the attribute stands on the entity type `Entry`";
    for (part, other, action, problem) in [
        (
            "kind: Kind,",
            "kind: Kind, colour: String,",
            "delete",
            format!("line 7, column 15: action `delete` has no value for the attribute `colour`; {entry}"),
        ),
        (
            "  dirty?: Bool,",
            "  dirty?: Bool,\n  \"size\": Long,",
            "delete",
            // A name in quotes is looked for in vain; the entity is not.
            format!("line 6, column 1: action `delete` has no value for the attribute `size`; {entry}"),
        ),
        (
            r#"["file", "link"]"#,
            r#"["file"]"#,
            "delete",
            format!(
                "line 7, column 3: attribute `kind` of action `delete` is of type Kind (file) and cannot be `link`; {entry}"
            ),
        ),
        (
            "dirty?: Bool",
            "dirty ? : Set<String>",
            "delete",
            format!(
                "line 8, column 3: attribute `dirty` of action `delete` is of type Set and cannot be `no`; {entry}"
            ),
        ),
        (
            "{ calm: Bool }",
            "{ calm: Bool, angry: Bool }",
            "put away",
            "line 2, column 27: action `put away` has no value for the attribute `angry`; \
             the attribute stands on the context of `Action::\"put away\"`"
                .to_owned(),
        ),
        (
            r#"{ "trusted name"?: String }"#,
            r#"{ "trusted name"?: String, age: Long }"#,
            "delete",
            "line 4, column 50: action `delete` has no value for the attribute `age`; \
             the attribute stands on the entity type `Agent`"
                .to_owned(),
        ),
        (
            "principal: [Agent], resource",
            "principal: [Agent, Robot], resource",
            "delete",
            "line 11, column 1: action `delete` applies to 2 pairs of principal and resource types here, not to one"
                .to_owned(),
        ),
        (
            "",
            "",
            "remove",
            "line 1, column 1: the schema declares no action `remove`".to_owned(),
        ),
    ] {
        let found = misfit(part, other, action).unwrap();
        assert_eq!(found, format!("schema `s.cedarschema`, {problem}"));
    }
}
