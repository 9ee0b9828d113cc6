//! Answers that are kept from one safety map to the next.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, RwLock};

use super::bind::{Party, Rule};
use super::evaluate::DENSE;
use super::reads::Reads;
use super::table::Outcome;

/// The answers of one policy, for all maps in which they must be the same.
///
/// Cedar is a function: the answer of a policy depends on the policy, the request (action, principal, resource, context)
/// and the entities (with attributes and groups) that it is asked with, and on nothing else. A [`Rule`] asks with the read
/// attributes alone. So an answer may be used again where all of this is the same, or cannot be told apart by the policy:
///
/// - the policy, since each has a memory of its own, which goes with the texts that were loaded;
/// - the action. Its groups are those of the schema;
/// - the types of principal and resource. Their names and groups cannot be seen: both have no group, they are two, and the
///   policy neither names entities in its scope, nor uses principal or resource as a value, nor asks what is `in` what, nor
///   looks into any other entity ([`Reads::parties`]). All that it does with them then is to ask for their type or for an
///   attribute;
/// - the attributes that are there, each with its holder, name, type and value. Every one of them is a fact, never a
///   constant such as a path, and a table of answers is for one list of values of each, so that the place of an answer in
///   the table says which values it is for.
///
/// An answer that fails is not kept: its message is about the entity at hand.
#[derive(Debug, Default)]
pub(super) struct Memory(RwLock<Vec<(Rule, Arc<Kept>)>>);

/// An answer, or none yet, for each combination of the values of the facts that a rule reads.
#[derive(Debug)]
pub(super) struct Kept(Box<[AtomicU8]>);

/// So many tables are kept for a policy; the oldest goes first.
const TABLES: usize = 16;

const UNKNOWN: u8 = 0;
const SILENT: u8 = 1;
const APPLIES: u8 = 2;

impl Memory {
    /// The answers that hold for this rule too; `None` for one whose answers are not kept.
    pub(super) fn of(&self, rule: &Rule, reads: &Reads) -> Option<Arc<Kept>> {
        let combinations = keepable(rule, reads)?;
        let find = |tables: &[(Rule, Arc<Kept>)]| {
            let mut tables = tables.iter();
            let found = tables.find(|(known, _)| have_the_same_answers(known, rule));
            found.map(|(_, kept)| Arc::clone(kept))
        };
        // Where another thread has panicked meanwhile nothing is kept, and each answer is asked for.
        if let Some(kept) = find(&self.0.read().ok()?) {
            return Some(kept);
        }
        let mut tables = self.0.write().ok()?;
        if let Some(kept) = find(&tables) {
            return Some(kept);
        }
        if tables.len() >= TABLES {
            tables.remove(0);
        }
        let kept = Arc::new(Kept::new(combinations));
        tables.push((rule.clone(), Arc::clone(&kept)));
        Some(kept)
    }
}

impl Kept {
    fn new(combinations: usize) -> Self {
        Self((0..combinations).map(|_| AtomicU8::new(UNKNOWN)).collect())
    }

    pub(super) fn get(&self, place: usize) -> Option<Outcome> {
        // Each byte is an answer of its own, so no order among them matters.
        match self.0.get(place)?.load(Ordering::Relaxed) {
            SILENT => Some(Outcome::Silent),
            APPLIES => Some(Outcome::Applies),
            _ => None,
        }
    }

    pub(super) fn keep(&self, place: usize, outcome: Outcome) {
        let answer = match outcome {
            Outcome::Silent => SILENT,
            Outcome::Applies => APPLIES,
            Outcome::Fails(_) => return,
        };
        if let Some(known) = self.0.get(place) {
            known.store(answer, Ordering::Relaxed);
        }
    }
}

/// How many answers a rule has, if they may be kept.
fn keepable(rule: &Rule, reads: &Reads) -> Option<usize> {
    let (principal, resource): (&Party, &Party) = (&rule.request.principal, &rule.request.resource);
    let parties_are_seen = reads.parties
        || principal.0 == resource.0
        || !principal.1.is_empty()
        || !resource.1.is_empty();
    let every_attribute_is_a_fact = rule.attributes.iter().all(|read| read.fact().is_some());
    if parties_are_seen || !every_attribute_is_a_fact {
        return None;
    }
    let mut sizes = rule.facts.iter().map(|(_, size)| *size);
    let combinations = sizes.try_fold(1_usize, |all, size| all.checked_mul(size))?;
    (combinations <= DENSE).then_some(combinations)
}

/// Whether two rules of one policy whose answers are kept have the same answer at the same place of their tables.
fn have_the_same_answers(one: &Rule, other: &Rule) -> bool {
    let (mine, its) = (&one.request, &other.request);
    let facts = |rule: &Rule| rule.facts.len();
    mine.action == its.action
        && mine.principal.0.type_name() == its.principal.0.type_name()
        && mine.resource.0.type_name() == its.resource.0.type_name()
        && one.groups_of_actions == other.groups_of_actions
        && facts(one) == facts(other)
        && one.attributes.len() == other.attributes.len()
        && one
            .attributes
            .iter()
            .zip(&other.attributes)
            .all(|(read, its)| {
                // Which fact it is does not matter, but where in the order of those that are read it stands does.
                read.has_values_of(its)
                    && read.fact().and_then(|(fact, _)| one.order_of(fact))
                        == its.fact().and_then(|(fact, _)| other.order_of(fact))
            })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{ActionDescription, PolicyText, SafetyMap, SafetyPolicies};
    use crate::{Fact, Facts};

    const SCHEMA: PolicyText<'static> = PolicyText {
        name: "test.cedarschema",
        text: r#"
            entity Kind enum ["file", "link"];
            entity Team;
            entity Agent in [Team];
            entity Entry in [Team] = { kind: Kind, dirty: Bool, size: Long, path: String };
            action delete, inspect appliesTo {
                principal: [Agent, Entry], resource: [Entry], context: { kind: Kind },
            };
        "#,
    };

    fn load(condition: &str) -> SafetyPolicies {
        let text = format!("permit(principal, action, resource is Entry) when {{ {condition} }};");
        SafetyPolicies::load(
            &[PolicyText {
                name: "test",
                text: &text,
            }],
            SCHEMA,
        )
        .unwrap()
    }

    fn facts(kinds: [&str; 2], other: [&str; 2]) -> Facts {
        Facts::new([
            Fact::new("kind", kinds).unwrap(),
            Fact::new("other_kind", other).unwrap(),
            Fact::new("dirty", ["no", "yes"]).unwrap(),
        ])
        .unwrap()
    }

    fn delete(principal: &str, resource: &str) -> ActionDescription {
        ActionDescription::new("delete", principal, resource)
            .of_types("Agent", "Entry")
            .with("size", 1_i64)
            .with("path", resource)
    }

    fn bind(policies: &SafetyPolicies, action: ActionDescription) -> SafetyMap {
        let kinds = ["file", "link"];
        policies.bind(&facts(kinds, kinds), &[action]).unwrap()
    }

    /// The answer in the world of the first values.
    fn ask(map: &SafetyMap) -> Outcome {
        map.ask(&map.rules[0], &[0, 0, 0], &mut Vec::new())
    }

    fn kept(map: &SafetyMap) -> Option<&Arc<Kept>> {
        map.rules[0].kept.as_ref()
    }

    fn share(one: &SafetyMap, other: &SafetyMap) -> bool {
        match (kept(one), kept(other)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    const LINK: &str = "resource.kind == Kind::\"link\" || context.kind == Kind::\"link\"";

    #[test]
    fn an_answer_is_kept_for_whoever_asks_for_what() {
        let policies = load(LINK);
        let first = bind(&policies, delete("me", "a"));
        assert_eq!(kept(&first).unwrap().get(0), None);
        assert_eq!(ask(&first), Outcome::Silent);
        let second = bind(&policies, delete("you", "b"));
        assert!(share(&first, &second));
        assert_eq!(kept(&second).unwrap().get(0), Some(Outcome::Silent));
        assert_eq!(kept(&second).unwrap().get(1), None);
    }

    #[test]
    fn tables_are_shared_only_where_all_that_is_read_is_the_same() {
        let policies = load(LINK);
        let first = bind(&policies, delete("me", "a"));
        let inspect = ActionDescription::new("inspect", "me", "a").of_types("Agent", "Entry");
        let inspect = inspect.with("size", 1_i64).with("path", "a");
        assert!(!share(&first, &bind(&policies, inspect)));
        // Two facts in place of one, and the second of two facts in place of the first.
        let second = bind(&policies, delete("me", "a").reading("kind", "other_kind"));
        assert!(
            share(&first, &second),
            "the same list of values from another fact"
        );
        let (usual, turned) = (["file", "link"], ["link", "file"]);
        let of = |facts: &Facts| policies.bind(facts, &[delete("me", "a")]).unwrap();
        let third = of(&facts(turned, usual));
        assert!(!share(&first, &third));
        assert_eq!(
            (ask(&first), ask(&third)),
            (Outcome::Silent, Outcome::Applies)
        );
        // The type of the principal.
        let entry = delete("me", "a").of_types("Entry", "Entry");
        let other = policies.bind(&facts(usual, usual), &[entry.reading("dirty", "dirty")]);
        assert!(!share(&first, &other.unwrap()));
    }

    #[test]
    fn what_an_agent_can_name_is_never_kept() {
        let group = "Team::\"builders\"";
        for condition in [
            "resource.path like \"a*\"",
            "resource.size > 0",
            "resource == Entry::\"a\"",
            "resource in Team::\"builders\"",
            "Entry::\"a\".dirty",
        ] {
            let policies = load(condition);
            assert!(
                kept(&bind(&policies, delete("me", "a"))).is_none(),
                "{condition}"
            );
        }
        let policies = load(LINK);
        for action in [
            delete("me", "a").principal_in(group),
            delete("me", "a").resource_in(group),
            delete("a", "a").of_types("Entry", "Entry"),
        ] {
            assert!(
                kept(&bind(&policies, action.clone())).is_none(),
                "{action:?}"
            );
        }
    }

    #[test]
    fn a_failure_is_not_kept() {
        let policies = load("9223372036854775807 + (if resource.dirty then 1 else 2) > 0");
        let map = bind(&policies, delete("me", "a"));
        assert!(matches!(ask(&map), Outcome::Fails(0)));
        assert_eq!(kept(&map).unwrap().get(0), None);
    }

    #[test]
    fn the_oldest_table_goes_first() {
        let policies = load("resource.path like \"*1\"");
        let map = |number: usize| {
            let fact = |name: &str, value: String| Fact::new(name, [value]).unwrap();
            let (kind, path) = (
                fact("kind", "file".into()),
                fact("path", format!("p{number}")),
            );
            let dirty = fact("dirty", "no".into());
            let action = ActionDescription::new("delete", "me", "a").of_types("Agent", "Entry");
            let facts = Facts::new([kind, path, dirty]).unwrap();
            policies
                .bind(&facts, &[action.with("size", 1_i64)])
                .unwrap()
        };
        let maps: Vec<SafetyMap> = (0..=TABLES).map(map).collect();
        let answers: Vec<Outcome> = maps.iter().map(ask).collect();
        assert_eq!(
            policies.policies()[0].memory.0.read().unwrap().len(),
            TABLES
        );
        assert!(share(&maps[1], &map(1)) && !share(&maps[0], &map(0)));
        let again: Vec<Outcome> = (0..=TABLES).map(|number| ask(&map(number))).collect();
        assert_eq!(answers, again);
        assert_eq!(answers[1], Outcome::Applies);
    }
}
