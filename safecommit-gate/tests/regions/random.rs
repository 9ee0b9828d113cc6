//! Random policies over a few facts, some of which fail; random beliefs; random contradictions.

use proptest::prelude::*;
use proptest::sample::Index;
use safecommit_gate::{
    ActionDescription, Fact, Facts, PolicyError, PolicyText, SafetyMap, SafetyPolicies,
};

use crate::conditions::condition;
use crate::plain::{Pair, Table};

const SCHEMA: PolicyText<'static> = PolicyText {
    name: "test.cedarschema",
    text: r#"
        entity Kind enum ["file", "link", "mount"];
        entity Agent = { trusted: Bool };
        entity Entry = { kind: Kind, dirty: Bool, name: String, size: Long, extra?: String };
        action delete appliesTo {
            principal: [Agent], resource: [Entry], context: { staged: Bool },
        };
        action inspect appliesTo { principal: [Agent], resource: [Entry] };
    "#,
};

/// Conditions, of which three fail or can fail.
const ATOMS: [&str; 14] = [
    "resource.kind == Kind::\"link\"",
    "[Kind::\"file\", Kind::\"mount\"].contains(resource.kind)",
    "resource.kind != Kind::\"file\"",
    "resource.dirty",
    "resource.name like \"*_old\"",
    "(resource has extra && resource.extra == \"x\")",
    "principal.trusted",
    "(resource.size > 10)",
    "action == Action::\"delete\"",
    "resource == Entry::\"other\"",
    "(if resource.dirty then resource.name == \"run\" else principal.trusted)",
    "9223372036854775807 + resource.size > 0",
    "(if resource.dirty then 9223372036854775807 + resource.size > 0 else principal.trusted)",
    "Entry::\"nobody\".dirty",
];

const SCOPES: [&str; 3] = [
    "principal, action, resource",
    "principal, action == Action::\"delete\", resource",
    "principal, action == Action::\"inspect\", resource",
];

/// No policy can read the last.
pub(crate) fn facts() -> Facts {
    Facts::new([
        Fact::new("kind", ["file", "link", "mount"]).unwrap(),
        Fact::new("dirty", ["no", "yes"]).unwrap(),
        Fact::new("name", ["run", "run_old"]).unwrap(),
        Fact::new("trusted", ["yes", "no"]).unwrap(),
        Fact::new("staged", ["no", "yes"]).unwrap(),
        Fact::new("other_kind", ["mount", "file", "link"]).unwrap(),
        Fact::new("unread", ["no", "yes"]).unwrap(),
    ])
    .unwrap()
}

fn policy() -> impl Strategy<Value = String> {
    let effect = prop::sample::select(&["permit", "permit", "forbid"][..]);
    let scope = prop::sample::select(&SCOPES[..]);
    (effect, scope, condition(&ATOMS))
        .prop_map(|(effect, scope, c)| format!("{effect}({scope}) when {{ {c} }};"))
}

/// The map of three actions; the last reads its kind from another fact. Policies that Cedar sees to be without effect
/// are left out. Often one permits everything, for else nothing would be safe.
pub(crate) fn map() -> impl Strategy<Value = SafetyMap> {
    let policies = prop::collection::vec(policy(), 1..6);
    (policies, prop::bool::weighted(0.7)).prop_map(|(mut policies, any)| {
        if any {
            policies.push("permit(principal, action, resource);".to_owned());
        }
        let loads = |text: &String| match SafetyPolicies::load(&[named(text)], SCHEMA) {
            Ok(_) => true,
            Err(PolicyError::Invalid { .. }) => false,
            Err(other) => panic!("{text}: {other}"),
        };
        policies.retain(loads);
        bind(&policies.concat())
    })
}

fn named(text: &str) -> PolicyText<'_> {
    PolicyText {
        name: "test.cedar",
        text,
    }
}

pub(crate) fn bind(text: &str) -> SafetyMap {
    let of = |action, target, size| ActionDescription::new(action, "me", target).with("size", size);
    let actions = [
        of("delete", "target", 7_i64),
        of("inspect", "target", 7),
        of("delete", "other", -7).reading("kind", "other_kind"),
    ];
    let policies = SafetyPolicies::load(&[named(text)], SCHEMA).unwrap();
    policies.bind(&facts(), &actions).unwrap()
}

pub(crate) fn table() -> impl Strategy<Value = Table> {
    let value = || prop_oneof![1 => Just(None), 5 => (0_u32..6).prop_map(Some)];
    let sizes: Vec<usize> = facts()
        .as_slice()
        .iter()
        .map(|fact| fact.values().len())
        .collect();
    let rows: Vec<_> = sizes
        .into_iter()
        .map(|size| prop::collection::vec(value(), size))
        .collect();
    rows
}

/// At most so many contradictions between two facts, or of a value with itself.
pub(crate) fn pairs(most: usize) -> impl Strategy<Value = Vec<Pair>> {
    let pick = any::<[Index; 4]>().prop_map(|[a, x, b, y]| {
        let facts = facts();
        let value =
            |fact: usize, value: Index| (fact, value.index(facts.as_slice()[fact].values().len()));
        (
            value(a.index(facts.as_slice().len()), x),
            value(b.index(facts.as_slice().len()), y),
        )
    });
    prop::collection::vec(pick, 0..=most)
}
