//! A policy that fails makes the action unsafe in that world, where Cedar passes over it.

use safecommit_core::{Action, Problem, Subject};
use safecommit_gate::{ActionDescription, Fact, Facts, PolicyText, SafetyMap, SafetyPolicies};

const SCHEMA: PolicyText<'static> = PolicyText {
    name: "s",
    text: r#"
        entity Kind enum ["file", "link"];
        entity Agent;
        entity Entry = { kind: Kind, size: Long };
        action delete, inspect appliesTo { principal: [Agent], resource: [Entry] };
    "#,
};

fn kinds() -> Facts {
    Facts::new([Fact::new("kind", ["file", "link"]).unwrap()]).unwrap()
}

fn map(text: &str, size: i64) -> SafetyMap {
    let policies = SafetyPolicies::load(
        &[PolicyText {
            name: "p.cedar",
            text,
        }],
        SCHEMA,
    )
    .unwrap();
    let action = |name| ActionDescription::new(name, "me", "x").with("size", size);
    policies
        .bind(&kinds(), &[action("delete"), action("inspect")])
        .unwrap()
}

fn reasons(map: &SafetyMap) -> [Vec<String>; 2] {
    let worlds = ["file", "link"].map(|kind| kinds().assignment([("kind", kind)]).unwrap());
    let table = map.evaluate(&worlds).unwrap();
    [0, 1].map(|world| {
        table
            .blockers(world, 0)
            .map(|reason| reason.to_string())
            .collect()
    })
}

#[test]
fn a_forbidding_policy_that_fails_in_one_world_blocks_there() {
    let text = "@id(\"all\") permit(principal, action, resource);
        @id(\"large\") forbid(principal, action == Action::\"delete\", resource)
        when { resource.kind == Kind::\"link\" && resource.size + 1 > 100 };";
    let [file, link] = reasons(&map(text, i64::MAX));
    assert!(file.is_empty());
    assert_eq!(link.len(), 1);
    assert!(link[0].starts_with("policy `large` fails: "), "{}", link[0]);
    assert!(link[0].contains("overflow"), "{}", link[0]);
    assert_eq!(reasons(&map(text, 5)), [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn a_permitting_policy_that_fails_blocks_although_another_permits() {
    let text = "@id(\"all\") permit(principal, action, resource);
        @id(\"nobody\") permit(principal, action, resource)
        when { resource.kind == Kind::\"link\" && Entry::\"nobody\".size > 1 };";
    let [file, link] = reasons(&map(text, 1));
    assert!(file.is_empty());
    assert!(
        link[0].starts_with("policy `nobody` fails: "),
        "{}",
        link[0]
    );
}

#[test]
fn every_reason_is_named_in_the_order_of_the_policies() {
    let text = "@id(\"b\") forbid(principal, action, resource) when { resource.size > 1 };
        forbid(principal, action, resource) when { Entry::\"nobody\".size > 1 };
        @id(\"a\") @advice(\"look at it\")
        forbid(principal, action, resource) when { resource.kind == Kind::\"link\" };
        permit(principal, action == Action::\"inspect\", resource);";
    let map = map(text, 2);
    let [file, link] = reasons(&map);
    assert_eq!(file.len(), 3);
    assert!(
        file[1].starts_with("policy `p.cedar#2` fails: "),
        "{}",
        file[1]
    );
    assert_eq!(link[0], "policy `b` forbids it");
    assert_eq!(link[2], "policy `a` forbids it");
    assert_eq!(link[3], "no policy permits it");

    let worlds = [kinds().assignment([("kind", "link")]).unwrap()];
    let table = map.evaluate(&worlds).unwrap();
    let blockers: Vec<_> = table.blockers(0, 1).collect();
    let ids: Vec<_> = blockers.iter().map(|blocker| blocker.policy()).collect();
    assert_eq!(ids, [Some("b"), Some("p.cedar#2"), Some("a")]);
    let safecommit_gate::Blocker::Forbidden(policy) = blockers[2] else {
        panic!("{blockers:?}")
    };
    assert_eq!(policy.annotation("advice"), Some("look at it"));
}

#[test]
fn without_policies_nothing_is_safe() {
    let [file, _] = reasons(&map("", 1));
    assert_eq!(file, ["no policy permits it"]);
}

#[test]
fn rows_fit_a_problem_and_what_is_not_there_is_not_safe() {
    let text = "permit(principal, action, resource) when { resource.kind == Kind::\"file\" };
        permit(principal, action == Action::\"inspect\", resource);";
    let map = map(text, 1);
    let worlds = ["file", "link"].map(|kind| kinds().assignment([("kind", kind)]).unwrap());
    let table = map.evaluate(&worlds).unwrap();
    assert_eq!((table.worlds(), table.actions()), (2, 2));
    let mut problem = Problem::new(Subject([0; 32]));
    problem.add_action(Action::default()).unwrap();
    problem.add_action(Action::default()).unwrap();
    for world in 0..table.worlds() {
        let score = safecommit_conformal::Score::new(0.0).unwrap();
        problem.add_world(score, table.safe(world)).unwrap();
    }
    let safe = [0, 1].map(|world| [0, 1].map(|action| problem.signatures().is_safe(world, action)));
    assert_eq!(safe, [[true, true], [false, true]]);

    assert!(!table.is_safe(2, 0) && !table.is_safe(0, 2));
    assert_eq!(
        table.safe(2).count() + table.blockers(2, 0).count() + table.blockers(0, 2).count(),
        0
    );
    assert_eq!(map.evaluate(&[]).unwrap().worlds(), 0);
}

#[test]
fn worlds_of_other_facts_are_refused_by_position() {
    let map = map("permit(principal, action, resource);", 1);
    let ours = kinds().assignment([("kind", "file")]).unwrap();
    let longer = Facts::new([
        Fact::new("kind", ["file"]).unwrap(),
        Fact::new("owner", ["own"]).unwrap(),
    ]);
    let longer = longer
        .unwrap()
        .assignment([("kind", "file"), ("owner", "own")])
        .unwrap();
    let beyond = Facts::new([Fact::new("kind", ["a", "b", "c"]).unwrap()]).unwrap();
    let beyond = beyond.assignment([("kind", "c")]).unwrap();
    for other in [longer, beyond] {
        let error = map.evaluate(&[ours.clone(), other]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "world 1 is no assignment of the facts that the policies were bound to"
        );
    }
}
