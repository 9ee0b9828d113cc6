//! The plain way: one authorizer call a world and action, entities and context from JSON under the schema.

use std::collections::BTreeSet;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request, Schema,
};
use safecommit_gate::{Assignment, Blocker, Facts, SafetyTable};
use serde_json::{Value, json};

/// What Cedar says of one action in one world.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) permitted: bool,
    pub(crate) forbidding: BTreeSet<String>,
    pub(crate) failing: BTreeSet<String>,
}

/// A request without its facts; the groups are JSON entities.
pub(crate) struct Target<'t> {
    pub(crate) action: &'t str,
    pub(crate) principal: &'t str,
    pub(crate) resource: &'t str,
    pub(crate) groups: &'t [Value],
    /// Attributes of principal, resource and context: name, and either a constant or the name of a fact.
    pub(crate) attributes: [&'t [(&'t str, From<'t>)]; 3],
}

#[derive(Clone)]
pub(crate) enum From<'t> {
    Constant(Value),
    Text(&'t str),
    Flag(&'t str),
    Member(&'t str, &'t str),
}

impl Target<'_> {
    fn attributes(&self, holder: usize, facts: &Facts, world: &Assignment) -> Value {
        let of = |fact: &str| facts.value_of(world, fact).unwrap().to_owned();
        let pairs = self.attributes[holder].iter().map(|(name, from)| {
            let value = match from {
                From::Constant(value) => value.clone(),
                From::Text(fact) => json!(of(fact)),
                From::Flag(fact) => json!(of(fact) == "yes"),
                From::Member(kind, fact) => json!({"__entity": {"type": kind, "id": of(fact)}}),
            };
            ((*name).to_owned(), value)
        });
        Value::Object(pairs.collect())
    }

    pub(crate) fn ask(
        &self,
        set: &PolicySet,
        schema: &Schema,
        facts: &Facts,
        world: &Assignment,
    ) -> Answer {
        let uid = |text: &str| -> EntityUid { text.parse().unwrap() };
        let (principal, action, resource) =
            (uid(self.principal), uid(self.action), uid(self.resource));
        let context = self.attributes(2, facts, world);
        let context = Context::from_json_value(context, Some((schema, &action))).unwrap();
        let entity = |uid: &EntityUid, holder| {
            json!({
                "uid": {"type": uid.type_name().to_string(), "id": uid.id().unescaped()},
                "attrs": self.attributes(holder, facts, world),
                "parents": self.groups,
            })
        };
        let entities = json!([entity(&principal, 0), entity(&resource, 1)]);
        let entities = Entities::from_json_value(entities, Some(schema)).unwrap();
        let request = Request::new(principal, action, resource, context, Some(schema)).unwrap();
        let response = Authorizer::new().is_authorized(&request, set, &entities);
        let name = |id: &cedar_policy::PolicyId| set.annotation(id, "id").unwrap().to_owned();
        let allowed = response.decision() == Decision::Allow;
        let diagnostics = response.diagnostics();
        let failing: BTreeSet<String> = diagnostics
            .errors()
            .map(|error| match error {
                cedar_policy::AuthorizationError::PolicyEvaluationError(error) => {
                    name(error.policy_id())
                }
            })
            .collect();
        Answer {
            permitted: allowed && failing.is_empty(),
            forbidding: match allowed {
                true => BTreeSet::new(),
                false => diagnostics.reason().map(name).collect(),
            },
            failing,
        }
    }
}

/// The same of a table.
pub(crate) fn answer(table: &SafetyTable<'_>, world: usize, action: usize) -> Answer {
    let permitted = table.is_safe(world, action);
    assert_eq!(permitted, table.safe(world).any(|safe| safe == action));
    assert_eq!(permitted, table.blockers(world, action).next().is_none());
    let mut answer = Answer {
        permitted,
        forbidding: BTreeSet::new(),
        failing: BTreeSet::new(),
    };
    for blocker in table.blockers(world, action) {
        match blocker {
            Blocker::Forbidden(policy) => answer.forbidding.insert(policy.id().to_owned()),
            Blocker::Failed { policy, .. } => answer.failing.insert(policy.id().to_owned()),
            _ => continue,
        };
    }
    answer
}
