//! Random policies, all worlds: the shared evaluation equals one Cedar call a world and action.

use cedar_policy::{PolicySet, Schema};
use proptest::prelude::*;
use safecommit_gate::{
    ActionDescription, Assignment, Fact, Facts, PolicyError, PolicyText, SafetyPolicies,
};
use serde_json::json;

use crate::conditions::condition;
use crate::plain::{From, Target, answer};

pub(crate) const SCHEMA: PolicyText<'static> = PolicyText {
    name: "test.cedarschema",
    text: r#"
        type Flag = Bool;
        entity Kind enum ["file", "link", "mount"];
        entity Team;
        entity Agent in [Team] = { trusted: Flag };
        entity Entry in [Team] = { kind: Kind, dirty: Bool, name: String, size: Long, extra?: String };
        action change;
        action delete, send in [change] appliesTo {
            principal: [Agent], resource: [Entry], context: { kind: Kind, staged: Bool },
        };
        action inspect appliesTo {
            principal: [Agent], resource: [Entry], context: { staged: Bool },
        };
    "#,
};

/// Conditions of every form that reads something, and two that fail.
const ATOMS: [&str; 22] = [
    "resource.kind == Kind::\"link\"",
    "[Kind::\"file\", Kind::\"mount\"].contains(resource.kind)",
    "resource.dirty",
    "resource.name like \"*_old\"",
    "resource.name == \"run_old\"",
    "resource.size > 10",
    "(resource has extra && resource.extra == \"x\")",
    "resource has kind",
    "principal.trusted",
    "principal in Team::\"builders\"",
    "resource in [Team::\"others\", Team::\"builders\"]",
    "context.staged",
    "{\"a\": context, \"b\": 1}.a.staged",
    "action == Action::\"delete\"",
    "action in Action::\"change\"",
    "Action::\"send\" in Action::\"change\"",
    "resource == Entry::\"target\"",
    "Entry::\"target\".dirty",
    "(if context.staged then resource else Entry::\"target\").kind == Kind::\"file\"",
    "(if resource.dirty then Entry::\"target\" else resource).name == \"run\"",
    "9223372036854775807 + resource.size > 0",
    "Entry::\"nobody\".dirty",
];

const SCOPES: [&str; 6] = [
    "principal, action, resource",
    "principal, action == Action::\"delete\", resource",
    "principal, action in Action::\"change\", resource",
    "principal, action in [Action::\"inspect\", Action::\"send\"], resource",
    "principal in Team::\"builders\", action, resource",
    "principal, action, resource is Entry in Team::\"builders\"",
];

/// What may differ between two decisions under the same policies.
#[derive(Clone, Copy, Debug)]
struct Case {
    principal: &'static str,
    resource: &'static str,
    /// Whether both are in the team of the builders.
    builders: bool,
    size: i64,
    /// The values of the facts about kinds, in their order.
    kinds: &'static [&'static str],
    /// The order of the facts, as a rotation.
    rotation: usize,
    /// Whether the first actions have the attribute `extra`, with the values of `name`.
    extra: bool,
}

const USUAL: Case = Case {
    principal: "me",
    resource: "target",
    builders: true,
    size: 7,
    kinds: &["file", "link", "mount"],
    rotation: 0,
    extra: false,
};

/// The usual one without groups, with which answers are kept, then each with one or two things that differ from it.
const CASES: [Case; 9] = [
    USUAL,
    ALONE,
    Case {
        principal: "you",
        ..ALONE
    },
    Case {
        resource: "other",
        ..ALONE
    },
    Case { size: 70, ..ALONE },
    Case {
        kinds: &["mount", "link", "file"],
        ..ALONE
    },
    Case {
        kinds: &["link", "mount"],
        size: 70,
        ..ALONE
    },
    Case {
        rotation: 4,
        resource: "other",
        ..ALONE
    },
    Case {
        extra: true,
        ..ALONE
    },
];

const ALONE: Case = Case {
    builders: false,
    ..USUAL
};

pub(crate) fn facts() -> Facts {
    USUAL.facts()
}

impl Case {
    fn facts(&self) -> Facts {
        let mut facts = [
            Fact::new("kind", self.kinds.iter().copied()).unwrap(),
            Fact::new("dirty", ["no", "yes"]).unwrap(),
            Fact::new("name", ["run", "run_old"]).unwrap(),
            Fact::new("trusted", ["yes", "no"]).unwrap(),
            Fact::new("staged", ["no", "yes"]).unwrap(),
            Fact::new("other_kind", self.kinds.iter().rev().copied()).unwrap(),
        ];
        facts.rotate_left(self.rotation);
        Facts::new(facts).unwrap()
    }
}

pub(crate) fn worlds(facts: &Facts) -> Vec<Assignment> {
    let mut worlds: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for fact in facts.as_slice() {
        let longer = worlds.iter().flat_map(|world| {
            fact.values().iter().map(move |value| {
                let mut world = world.clone();
                world.push((fact.name(), value));
                world
            })
        });
        worlds = longer.collect();
    }
    worlds
        .into_iter()
        .map(|world| facts.assignment(world).unwrap())
        .collect()
}

fn policy() -> impl Strategy<Value = String> {
    let effect = prop::sample::select(&["permit", "permit", "forbid"][..]);
    let scope = prop::sample::select(&SCOPES[..]);
    let clause = prop::sample::select(&["when", "unless"][..]);
    (effect, scope, clause, condition(&ATOMS))
        .prop_map(|(effect, scope, clause, c)| format!("{effect}({scope}) {clause} {{ {c} }};"))
}

/// The policies that load by themselves: Cedar refuses those that it can see to be without effect.
fn text_of(policies: &[String]) -> String {
    let loads = policies.iter().filter(|policy| {
        match SafetyPolicies::load(
            &[PolicyText {
                name: "one",
                text: policy,
            }],
            SCHEMA,
        ) {
            Ok(_) => true,
            Err(PolicyError::Invalid { .. }) => false,
            Err(other) => panic!("{policy}: {other}"),
        }
    });
    let named = loads
        .enumerate()
        .map(|(at, policy)| format!("@id(\"p{at}\")\n{policy}\n"));
    named.collect()
}

fn load(text: &str) -> SafetyPolicies {
    SafetyPolicies::load(&[PolicyText { name: "all", text }], SCHEMA).unwrap()
}

fn compare(text: &str) {
    compare_in(&USUAL, &load(text), text, 1);
}

/// Compares policies with plain Cedar in one of `step` worlds, and with the same policies loaded anew in all.
fn compare_in(case: &Case, policies: &SafetyPolicies, text: &str, step: usize) {
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA.text).unwrap();
    let set: PolicySet = text.parse().unwrap();
    let facts = case.facts();
    let worlds = worlds(&facts);
    let builders = "Team::\"builders\"";
    let describe = |action: &str, extra| {
        let mut action =
            ActionDescription::new(action, case.principal, case.resource).with("size", case.size);
        if extra {
            action = action.reading("extra", "name");
        }
        match case.builders {
            true => action.principal_in(builders).resource_in(builders),
            false => action,
        }
    };
    // The second deletion reads its kind from another fact.
    let actions = [
        describe("delete", case.extra),
        describe("send", case.extra),
        describe("inspect", case.extra),
        describe("delete", false)
            .reading("kind", "other_kind")
            .with("extra", "x"),
    ];
    let map = policies.bind(&facts, &actions).unwrap();
    let table = map.evaluate(&worlds).unwrap();
    let (anew, found) = (load(text), |table: &_| {
        let pairs = (0..worlds.len()).flat_map(|world| (0..4).map(move |action| (world, action)));
        let answers = pairs.map(|(world, action)| answer(table, world, action));
        answers.collect::<Vec<_>>()
    });
    let map_anew = anew.bind(&facts, &actions).unwrap();
    let expected = found(&map_anew.evaluate(&worlds).unwrap());
    assert_eq!(found(&table), expected, "{case:?}\n{text}");

    let groups = [json!({"type": "Team", "id": "builders"})];
    let groups = if case.builders { &groups[..] } else { &[] };
    let size = From::Constant(json!(case.size));
    let principal = [("trusted", From::Flag("trusted"))];
    let resource = |kind| {
        vec![
            ("kind", From::Member("Kind", kind)),
            ("dirty", From::Flag("dirty")),
            ("name", From::Text("name")),
            ("size", size.clone()),
        ]
    };
    let (mut plain, mut other) = (resource("kind"), resource("other_kind"));
    if case.extra {
        plain.push(("extra", From::Text("name")));
    }
    other.push(("extra", From::Constant(json!("x"))));
    let context = |kind| {
        [
            ("staged", From::Flag("staged")),
            ("kind", From::Member("Kind", kind)),
        ]
    };
    let (context, other_context) = (context("kind"), context("other_kind"));
    let (agent, entry) = (
        format!("Agent::\"{}\"", case.principal),
        format!("Entry::\"{}\"", case.resource),
    );
    let target = |action, resource, context| Target {
        action,
        principal: &agent,
        resource: &entry,
        groups,
        attributes: [&principal, resource, context],
    };
    let targets = [
        target("Action::\"delete\"", &plain, &context[..]),
        target("Action::\"send\"", &plain, &context),
        target("Action::\"inspect\"", &plain, &context[..1]),
        target("Action::\"delete\"", &other, &other_context),
    ];
    for (world, assignment) in worlds.iter().enumerate().step_by(step) {
        for (action, target) in targets.iter().enumerate() {
            let expected = target.ask(&set, &schema, &facts, assignment);
            let found = answer(&table, world, action);
            assert_eq!(
                found, expected,
                "{case:?}, world {assignment:?}, action {action}\n{text}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn shared_evaluation_equals_a_cedar_call_a_world_and_action(
        policies in prop::collection::vec(policy(), 1..7),
    ) {
        compare(&text_of(&policies));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    /// Answers are kept from one map to the next; which maps there were before makes no difference.
    #[test]
    fn what_was_decided_before_changes_no_answer(
        policies in prop::collection::vec(policy(), 1..7),
        order in prop::collection::vec(prop::sample::select(&CASES[..]), 4..9),
    ) {
        let text = text_of(&policies);
        let policies = load(&text);
        for case in order {
            compare_in(&case, &policies, &text, 13);
        }
    }
}

#[test]
fn every_form_of_condition_alone_is_answered_anew_where_it_has_to_be() {
    for atom in ATOMS {
        let text = text_of(&[
            "permit(principal, action, resource);".to_owned(),
            format!("forbid(principal, action, resource) when {{ {atom} }};"),
        ]);
        let policies = load(&text);
        for case in CASES.iter().chain(CASES.iter().rev()) {
            compare_in(case, &policies, &text, 37);
        }
    }
}

#[test]
fn every_form_of_condition_alone_equals_plain_cedar() {
    for atom in ATOMS {
        let text = text_of(&[
            "permit(principal, action, resource);".to_owned(),
            format!("forbid(principal, action, resource) when {{ {atom} }};"),
        ]);
        compare(&text);
    }
}
