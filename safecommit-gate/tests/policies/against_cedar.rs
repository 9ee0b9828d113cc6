//! Random policies, all worlds: the shared evaluation equals one Cedar call a world and action.

use cedar_policy::{PolicySet, Schema};
use proptest::prelude::*;
use safecommit_gate::{
    ActionDescription, Assignment, Fact, Facts, PolicyError, PolicyText, SafetyPolicies,
};
use serde_json::json;

use crate::plain::{From, Target, answer};

const SCHEMA: PolicyText<'static> = PolicyText {
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

fn facts() -> Facts {
    Facts::new([
        Fact::new("kind", ["file", "link", "mount"]).unwrap(),
        Fact::new("dirty", ["no", "yes"]).unwrap(),
        Fact::new("name", ["run", "run_old"]).unwrap(),
        Fact::new("trusted", ["yes", "no"]).unwrap(),
        Fact::new("staged", ["no", "yes"]).unwrap(),
        Fact::new("other_kind", ["mount", "file", "link"]).unwrap(),
    ])
    .unwrap()
}

fn worlds(facts: &Facts) -> Vec<Assignment> {
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

fn condition() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(&ATOMS[..]).prop_map(str::to_owned);
    atom.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("(if {a} then {b} else {c})")),
        ]
    })
}

fn policy() -> impl Strategy<Value = String> {
    let effect = prop::sample::select(&["permit", "permit", "forbid"][..]);
    let scope = prop::sample::select(&SCOPES[..]);
    let clause = prop::sample::select(&["when", "unless"][..]);
    (effect, scope, clause, condition())
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

fn compare(text: &str) {
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA.text).unwrap();
    let set: PolicySet = text.parse().unwrap();
    let (facts, worlds) = (facts(), worlds(&facts()));
    let describe = |action: &str| {
        ActionDescription::new(action, "me", "target")
            .with("size", 7_i64)
            .principal_in("Team::\"builders\"")
            .resource_in("Team::\"builders\"")
    };
    // The second deletion reads its kind from another fact.
    let actions = [
        describe("delete"),
        describe("send"),
        describe("inspect"),
        describe("delete")
            .reading("kind", "other_kind")
            .with("extra", "x"),
    ];
    let policies = SafetyPolicies::load(&[PolicyText { name: "all", text }], SCHEMA).unwrap();
    let map = policies.bind(&facts, &actions).unwrap();
    let table = map.evaluate(&worlds).unwrap();

    let groups = [json!({"type": "Team", "id": "builders"})];
    let size = From::Constant(json!(7));
    let principal = [("trusted", From::Flag("trusted"))];
    let resource = |kind| {
        vec![
            ("kind", From::Member("Kind", kind)),
            ("dirty", From::Flag("dirty")),
            ("name", From::Text("name")),
            ("size", size.clone()),
        ]
    };
    let (plain, mut other) = (resource("kind"), resource("other_kind"));
    other.push(("extra", From::Constant(json!("x"))));
    let context = |kind| {
        [
            ("staged", From::Flag("staged")),
            ("kind", From::Member("Kind", kind)),
        ]
    };
    let (context, other_context) = (context("kind"), context("other_kind"));
    let target = |action, resource, context| Target {
        action,
        principal: "Agent::\"me\"",
        resource: "Entry::\"target\"",
        groups: &groups,
        attributes: [&principal, resource, context],
    };
    let targets = [
        target("Action::\"delete\"", &plain, &context[..]),
        target("Action::\"send\"", &plain, &context),
        target("Action::\"inspect\"", &plain, &context[..1]),
        target("Action::\"delete\"", &other, &other_context),
    ];
    for (world, assignment) in worlds.iter().enumerate() {
        for (action, target) in targets.iter().enumerate() {
            let expected = target.ask(&set, &schema, &facts, assignment);
            let found = answer(&table, world, action);
            assert_eq!(
                found, expected,
                "world {assignment:?}, action {action}\n{text}"
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

#[test]
fn facts_that_no_policy_reads_are_not_read() {
    let text = "permit(principal, action, resource) when { resource.dirty && context.staged };
                forbid(principal, action == Action::\"delete\", resource)
                when { context.kind == Kind::\"link\" };";
    let policies = SafetyPolicies::load(&[PolicyText { name: "all", text }], SCHEMA).unwrap();
    let describe = |action| ActionDescription::new(action, "me", "target").with("size", 7_i64);
    let actions = [
        describe("delete"),
        describe("inspect"),
        describe("delete").reading("kind", "other_kind"),
    ];
    let map = policies.bind(&facts(), &actions).unwrap();
    assert_eq!(map.facts_read(0), [0, 1, 4]);
    assert_eq!(map.facts_read(1), [1, 4]);
    assert_eq!(map.facts_read(2), [1, 4, 5]);
    assert!(map.facts_read(3).is_empty());
}

#[test]
fn more_combinations_than_have_a_place_each_are_told_apart() {
    let names: Vec<String> = (0..16).map(|at| format!("f{at}")).collect();
    let attributes: String = names.iter().map(|name| format!("{name}: Bool, ")).collect();
    let schema = format!(
        "entity Agent; entity Entry = {{ {attributes} }}; \
         action delete appliesTo {{ principal: [Agent], resource: [Entry] }};"
    );
    let all: Vec<String> = names
        .iter()
        .map(|name| format!("resource.{name}"))
        .collect();
    let text = format!(
        "permit(principal, action, resource) when {{ {} }};",
        all.join(" && ")
    );
    let schema = PolicyText {
        name: "wide.cedarschema",
        text: &schema,
    };
    let policies = SafetyPolicies::load(
        &[PolicyText {
            name: "wide",
            text: &text,
        }],
        schema,
    )
    .unwrap();
    let facts = names
        .iter()
        .map(|name| Fact::new(name, ["no", "yes"]).unwrap());
    let facts = Facts::new(facts).unwrap();
    let map = policies
        .bind(&facts, &[ActionDescription::new("delete", "me", "x")])
        .unwrap();
    let worlds: Vec<Assignment> = (0..=16)
        .map(|no| {
            let value = |at| if at == no { "no" } else { "yes" };
            let values = names
                .iter()
                .enumerate()
                .map(|(at, name)| (name.as_str(), value(at)));
            facts.assignment(values).unwrap()
        })
        .collect();
    let table = map.evaluate(&worlds).unwrap();
    let safe: Vec<usize> = (0..worlds.len())
        .filter(|&world| table.is_safe(world, 0))
        .collect();
    assert_eq!(safe, [16]);
}

#[test]
fn a_program_that_acts_on_itself_is_one_entity() {
    let schema = PolicyText {
        name: "self.cedarschema",
        text: r#"
            entity Team;
            entity Program in [Team] = { running: Bool, signed: Bool };
            action "up\"date é" appliesTo { principal: [Program], resource: [Program], context: { asked: Bool } };
        "#,
    };
    let text = "permit(principal in Team::\"a\", action, resource in Team::\"b\")
        when { principal.signed && !resource.running && context.asked };";
    let policies = SafetyPolicies::load(&[PolicyText { name: "self", text }], schema).unwrap();
    let no_yes = ["no", "yes"];
    let names = ["running", "signed", "asked"];
    let facts = Facts::new(names.map(|name| Fact::new(name, no_yes).unwrap())).unwrap();
    let update = |principal| {
        let action = ActionDescription::new("up\"date é", principal, "me");
        action
            .principal_in("Team::\"a\"")
            .resource_in("Team::\"b\"")
    };
    let map = policies
        .bind(&facts, &[update("me"), update("you")])
        .unwrap();
    let worlds = worlds(&facts);
    let table = map.evaluate(&worlds).unwrap();
    for (world, assignment) in worlds.iter().enumerate() {
        let is = |name| facts.value_of(assignment, name) == Some("yes");
        let safe = is("signed") && !is("running") && is("asked");
        assert_eq!(
            [0, 1].map(|action| table.is_safe(world, action)),
            [safe, safe],
            "{assignment:?}"
        );
    }
}

#[test]
fn principals_and_targets_are_told_apart_by_name_and_groups_alone() {
    let text = "permit(principal == Agent::\"me\", action, resource == Entry::\"a\");
        permit(principal in Team::\"builders\", action, resource in Team::\"builders\");";
    let policies = SafetyPolicies::load(&[PolicyText { name: "all", text }], SCHEMA).unwrap();
    let describe =
        |principal, target| ActionDescription::new("delete", principal, target).with("size", 7_i64);
    let builders = "Team::\"builders\"";
    let actions = [
        describe("me", "a"),
        describe("me", "b"),
        describe("you", "a"),
        describe("you", "a").principal_in(builders),
        describe("you", "a")
            .principal_in(builders)
            .resource_in(builders),
        describe("you", "a").resource_in(builders),
    ];
    let map = policies.bind(&facts(), &actions).unwrap();
    let worlds = worlds(&facts());
    assert!(map.evaluate(&worlds).unwrap().safe(0).eq([0, 4]));
}
