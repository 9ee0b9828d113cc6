//! What a policy reads and whom it tells apart, in particular.

use safecommit_gate::{ActionDescription, Assignment, Fact, Facts, PolicyText, SafetyPolicies};

use crate::against_cedar::{SCHEMA, facts, worlds};

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
