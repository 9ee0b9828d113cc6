//! Errors name the policy and the place, and nothing that is wrong loads.

use safecommit_gate::{
    ActionDescription, BindError, FILE_POLICIES, Fact, Facts, Place, PolicyError, PolicyText,
    SafetyPolicies,
};

const SCHEMA: PolicyText<'static> = PolicyText {
    name: "s.cedarschema",
    text: r#"
        namespace Files {
            type Sort = Kind;
            type Message = { note: String, level?: Long };
            entity Kind enum ["file", "link"];
            entity Team;
            entity Agent in [Team] = { trusted?: Bool };
            entity Robot;
            entity Entry = { kind: Sort, "dirty"?: Bool };
            entity Shelf = { sizes: Set<Long> };
            action delete appliesTo { principal: [Agent], resource: [Entry] };
            action tidy appliesTo { principal: [Agent], resource: [Shelf] };
            action send appliesTo {
                principal: [Agent, Robot], resource: [Entry], context: Message,
            };
        }
    "#,
};

pub(crate) fn load(text: &str) -> Result<SafetyPolicies, PolicyError> {
    SafetyPolicies::load(
        &[PolicyText {
            name: "p.cedar",
            text,
        }],
        SCHEMA,
    )
}

pub(crate) fn refused(text: &str) -> (String, Place, String) {
    match load(text).unwrap_err() {
        PolicyError::Syntax {
            policy,
            place,
            message,
            file,
        }
        | PolicyError::Invalid {
            policy,
            place,
            message,
            file,
        } => {
            assert_eq!(file, "p.cedar");
            (policy, place, message)
        }
        other => panic!("{other}"),
    }
}

pub(crate) const OPEN: &str = "@id(\"open\") permit(principal, action, resource);\n";

#[test]
fn what_does_not_parse_is_named_with_its_place() {
    let text = format!(
        "{OPEN}// a comment; with a semicolon\n@id(\"bad\")\npermit(principal, action,\n  resource) when {{ resource.kind == }};"
    );
    let (policy, place, message) = refused(&text);
    assert_eq!(
        (policy.as_str(), place),
        (
            "bad",
            Place {
                line: 5,
                column: 37
            }
        )
    );
    assert!(
        message.starts_with("unexpected token `}`; expected "),
        "{message}"
    );
    assert_eq!(refused(&format!("{OPEN}forbid(")).0, "2");
    assert_eq!(refused("permit").0, "1");
    assert_eq!(refused(&format!("{OPEN}\u{0}")).1.line, 2);
}

#[test]
fn what_the_schema_does_not_declare_is_named_with_policy_and_place() {
    for (condition, expected) in [
        ("resource.knd == Files::Kind::\"link\"", "`knd`"),
        ("resource.kind == Files::Kind::\"lnk\"", "lnk"),
        ("resource.kind == Files::Sort::\"link\"", "Sort"),
        ("context.kind == Files::Kind::\"link\"", "kind"),
        ("resource.kind == \"link\"", "type"),
        ("resource.dirty", "dirty"), // may be absent, so `has` is needed first
        ("resource has dirty && resource.dirty == 1", "type"),
    ] {
        let text = format!(
            "{OPEN}@id(\"wrong\")\nforbid(principal, action == Files::Action::\"delete\", resource)\nwhen {{ {condition} }};"
        );
        let (policy, place, message) = refused(&text);
        assert_eq!(
            (policy.as_str(), place.line),
            ("wrong", 4),
            "{condition}: {message}"
        );
        assert!(message.contains(expected), "{condition}: {message}");
        assert!(!message.contains("for policy"), "{message}");
    }
    let unknown_action = "forbid(principal, action == Files::Action::\"erase\", resource);";
    let (policy, place, message) = refused(&format!("{OPEN}\n{unknown_action}"));
    assert_eq!((policy.as_str(), place.line), ("p.cedar#2", 3), "{message}");
    assert!(message.contains("erase"), "{message}");
}

#[test]
fn what_can_never_apply_or_looks_like_something_else_is_refused() {
    let (policy, _, message) =
        refused("@id(\"never\") forbid(principal, action, resource) when { false };");
    assert_eq!(policy, "never");
    assert!(message.contains("impossible"), "{message}");
    // The a of the note is Cyrillic.
    let (policy, ..) = refused(
        "@id(\"look\") forbid(principal, action == Files::Action::\"send\", resource)
         when { context.note == \"p\u{430}ss\" };",
    );
    assert_eq!(policy, "look");
}

#[test]
fn templates_and_ids_that_stand_twice_are_refused() {
    let template = "@id(\"t\") forbid(principal == ?principal, action, resource);";
    let expected = PolicyError::Template {
        policy: "t".to_owned(),
        file: "p.cedar".to_owned(),
    };
    assert_eq!(load(template).unwrap_err(), expected);
    let twice = load(&format!("{OPEN}{OPEN}")).unwrap_err();
    assert_eq!(twice, PolicyError::Duplicate("open".to_owned()));
    let [one, other] = ["a.cedar", "b.cedar"].map(|name| PolicyText { name, text: OPEN });
    let twice = SafetyPolicies::load(&[one, other], SCHEMA).unwrap_err();
    assert_eq!(twice.to_string(), "two policies have the id `open`");
    // Without an id, policies of several texts are told apart by the name of the text.
    let open = "permit(principal, action, resource);";
    let texts = ["a.cedar", "b.cedar"].map(|name| PolicyText { name, text: open });
    let policies = SafetyPolicies::load(&texts, SCHEMA).unwrap();
    let ids: Vec<&str> = policies
        .policies()
        .iter()
        .map(|policy| policy.id())
        .collect();
    assert_eq!(ids, ["a.cedar#1", "b.cedar#1"]);
}

#[test]
fn policies_keep_the_order_in_which_they_are_written() {
    let text: String = (0..12)
        .rev()
        .map(|at| format!("@id(\"p{at}\") permit(principal, action, resource);\n"))
        .collect();
    let policies = load(&text).unwrap();
    let ids: Vec<String> = policies
        .policies()
        .iter()
        .map(|policy| policy.id().to_owned())
        .collect();
    assert_eq!(
        ids,
        (0..12).rev().map(|at| format!("p{at}")).collect::<Vec<_>>()
    );
}

#[test]
fn a_schema_that_does_not_parse_or_resolve_is_named_with_its_place() {
    for (text, place) in [
        ("entity Agent;\nentity", Place { line: 2, column: 7 }),
        (
            "entity Agent;\nentity Entry = { kind: Knd };",
            Place {
                line: 2,
                column: 24,
            },
        ),
    ] {
        let schema = PolicyText {
            name: "s.cedarschema",
            text,
        };
        match SafetyPolicies::load(&[], schema).unwrap_err() {
            PolicyError::Schema {
                file, place: found, ..
            } => {
                assert_eq!((file.as_str(), found), ("s.cedarschema", place));
            }
            other => panic!("{other}"),
        }
    }
    // Policies are no schema, and a schema is no policies.
    assert!(SafetyPolicies::load(&[], FILE_POLICIES).is_err());
    assert!(SafetyPolicies::load(&[SCHEMA], SCHEMA).is_err());
}

#[test]
fn actions_and_facts_that_do_not_fit_the_schema_are_refused() {
    let policies = load(OPEN).unwrap();
    let facts = |name: &str, values: &[&'static str]| {
        Facts::new([Fact::new(name, values.iter().copied()).unwrap()]).unwrap()
    };
    let kinds = facts("kind", &["file", "link"]);
    let bind = |facts: &Facts, action| policies.bind(facts, &[action]).map(drop);
    let delete = || ActionDescription::new("delete", "me", "x");
    let send = || ActionDescription::new("send", "me", "x").with("note", "done");
    let says = |facts: &Facts, action, expected: &str| {
        assert_eq!(bind(facts, action).unwrap_err().to_string(), expected);
    };

    bind(&kinds, delete()).unwrap();
    bind(
        &kinds,
        ActionDescription::new("Files::Action::\"delete\"", "me", "x"),
    )
    .unwrap();
    bind(&kinds, send().of_types("Files::Robot", "Files::Entry")).unwrap();
    bind(
        &kinds,
        delete()
            .principal_in("Files::Team::\"t\"")
            .with("trusted", true),
    )
    .unwrap();
    bind(
        &facts("other", &["file"]),
        delete().reading("kind", "other"),
    )
    .unwrap();
    bind(&facts("other", &["file"]), delete().with("kind", "link")).unwrap();

    let erase = ActionDescription::new("erase", "me", "x");
    says(&kinds, erase, "the schema declares no action `erase`");
    let types = "action `send` applies to 2 pairs of principal and resource types here, not to one";
    says(&kinds, send(), types);
    let none = send().of_types("Files::Shelf", "Files::Entry");
    assert_eq!(
        bind(&kinds, none),
        Err(BindError::Types {
            action: "send".to_owned(),
            found: 0
        })
    );
    says(
        &Facts::default(),
        delete(),
        "action `delete` has no value for the attribute `kind`",
    );
    let stray = "the schema declares no attribute `colour` for action `delete`";
    says(&kinds, delete().with("colour", "red"), stray);
    says(&kinds, delete().reading("colour", "kind"), stray);
    let unknown =
        "attribute `kind` of action `delete` reads the fact `sort`, which is not declared";
    says(&kinds, delete().reading("kind", "sort"), unknown);
    let both = "attribute `kind` of action `delete` has a value of its own and is a fact";
    says(&kinds, delete().with("kind", "file"), both);
    let read_too = delete().with("kind", "file").reading("kind", "sort");
    says(&Facts::default(), read_too, both);
    let member = "attribute `kind` of action `delete` is of type Files::Kind (file, link) and cannot be `pipe`";
    says(&facts("kind", &["file", "pipe"]), delete(), member);
    let flag = "attribute `dirty` of action `delete` is of type Bool (`yes` or `no`, `true` or `false`) and cannot be `maybe`";
    says(
        &facts("dirty", &["yes", "maybe"]),
        delete().with("kind", "file"),
        flag,
    );
    let number = "attribute `level` of action `send` is of type Long and cannot be `high`";
    says(
        &kinds,
        send()
            .of_types("Files::Agent", "Files::Entry")
            .with("level", "high"),
        number,
    );
    let tidy = ActionDescription::new("tidy", "me", "x");
    let set = "attribute `sizes` of action `tidy` is of type Set and cannot be `3`";
    says(&Facts::default(), tidy.with("sizes", 3_i64), set);
    for group in ["Files::Kind::\"file\"", "Files::Team::\"t\" or so"] {
        let error = bind(&kinds, delete().principal_in(group)).unwrap_err();
        assert!(
            matches!(&error, BindError::Refused { action, .. } if action == "delete"),
            "{error}"
        );
    }
}

#[test]
fn the_digest_tells_any_two_sets_of_texts_apart() {
    let text = |name, text| PolicyText { name, text };
    let open = "permit(principal, action, resource);";
    let spaced = "permit(principal, action, resource); ";
    let sets = [
        vec![],
        vec![text("a", open)],
        vec![text("a", spaced)],
        vec![text("b", open)],
        vec![text("a", ""), text("b", open)],
        vec![text("b", open), text("a", "")],
        vec![text("a", ""), text("", "")],
    ];
    let digest = |set: &[PolicyText<'_>]| SafetyPolicies::load(set, SCHEMA).unwrap().digest();
    let digests: std::collections::BTreeSet<_> = sets.iter().map(|set| digest(set)).collect();
    assert_eq!(digests.len(), sets.len());
    assert_eq!(digest(&sets[1]), digest(&sets[1]));
    let renamed = PolicyText {
        name: "t.cedarschema",
        ..SCHEMA
    };
    let other = SafetyPolicies::load(&sets[1], renamed).unwrap().digest();
    assert!(!digests.contains(&other));
}
