//! Policies bound to actions and facts: where each attribute takes its value from, and what each policy reads.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;

use cedar_policy::{ActionConstraint, Authorizer, EntityId, EntityTypeName, EntityUid, RequestEnv};

use super::action::Party as Described;
use super::attribute::{Bindable, Key, attributes};
use super::memory::Kept;
use super::{ActionDescription, BindError, Loaded, SafetyPolicies, SafetyPolicy};
use crate::Facts;
use crate::support::Splits;

/// The safety map Gamma of some actions: for each world of some facts, the actions that the policies permit in it.
///
/// Made by [`SafetyPolicies::bind`], where there is an example.
#[derive(Clone, Debug)]
pub struct SafetyMap {
    pub(super) loaded: Arc<Loaded>,
    pub(super) authorizer: Authorizer,
    /// How many values each fact has.
    pub(super) sizes: Vec<usize>,
    pub(super) rules: Vec<Rule>,
    by_action: Vec<Vec<usize>>,
}

/// What maps with the same answers in the same worlds have in common.
#[derive(Debug)]
pub(crate) struct MapAnswers {
    sizes: Vec<usize>,
    rules: Vec<RuleAnswers>,
    by_action: Vec<Vec<usize>>,
}

/// The part of a [`Rule`] that its answers depend on, with the table of these.
#[derive(Debug)]
struct RuleAnswers {
    policy: usize,
    facts: Vec<(usize, usize)>,
    kept: Arc<Kept>,
}

/// One policy for one action, or for several that it cannot tell apart.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) policy: usize,
    pub(super) request: Arc<Bound>,
    /// The attributes that the policy reads.
    pub(super) attributes: Vec<Arc<Bindable>>,
    /// The facts that these have their values from, ascending, with how many values each has: the answer depends
    /// on nothing else of a world.
    pub(super) facts: Vec<(usize, usize)>,
    /// Whether the answer can depend on groups of actions.
    pub(super) groups_of_actions: bool,
    /// The answers of earlier maps that hold in this one too, if its answers are kept.
    pub(super) kept: Option<Arc<Kept>>,
}

/// Who asks for which action on what.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) action: EntityUid,
    pub(super) principal: Party,
    pub(super) resource: Party,
}

/// An entity with its groups.
pub(super) type Party = (EntityUid, HashSet<EntityUid>);

impl SafetyMap {
    pub(super) fn bind(
        policies: &SafetyPolicies,
        facts: &Facts,
        actions: &[ActionDescription],
    ) -> Result<Self, BindError> {
        let loaded = &policies.0;
        let mut map = Self {
            loaded: Arc::clone(loaded),
            authorizer: Authorizer::new(),
            sizes: facts
                .as_slice()
                .iter()
                .map(|fact| fact.values().len())
                .collect(),
            rules: Vec::new(),
            by_action: Vec::with_capacity(actions.len()),
        };
        for action in actions {
            let request = Arc::new(bound(loaded, action)?);
            let attributes = attributes(loaded, facts, action, &request);
            let attributes = attributes.map_err(|unbound| unbound.error)?;
            check(loaded, action, &request, &attributes)?;
            let mut rules = Vec::new();
            for (policy, written) in loaded.policies.iter().enumerate() {
                if let Some(by_group) = in_scope(loaded, written, &request.action) {
                    let rule = Rule::new(policy, written, &request, &attributes, by_group);
                    rules.push(map.add(rule));
                }
            }
            map.by_action.push(rules);
        }
        Ok(map)
    }

    /// The number of actions.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.by_action.len()
    }

    /// The positions of the facts on which the safety of an action can depend, ascending: no other fact has to be
    /// looked into for it.
    #[must_use]
    pub fn facts_read(&self, action: usize) -> Vec<usize> {
        let rules = self.by_action.get(action).into_iter().flatten();
        let mut facts: Vec<usize> = rules
            .flat_map(|&rule| self.rules[rule].facts.iter().map(|(fact, _)| *fact))
            .collect();
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// How many values each of the facts has.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Splits of earlier maps, some of which may hold for this one too.
    pub(crate) fn splits(&self) -> &Splits {
        &self.loaded.splits
    }

    /// All that the answers of the map depend on, if the answer of each rule is kept.
    pub(crate) fn answers(&self) -> Option<MapAnswers> {
        let rules = self.rules.iter();
        let rules = rules.map(|rule| {
            Some(RuleAnswers {
                policy: rule.policy,
                facts: rule.facts.clone(),
                kept: rule.kept.clone()?,
            })
        });
        Some(MapAnswers {
            sizes: self.sizes.clone(),
            rules: rules.collect::<Option<_>>()?,
            by_action: self.by_action.clone(),
        })
    }

    /// Whether the map has these answers.
    pub(crate) fn has_answers(&self, answers: &MapAnswers) -> bool {
        let same = |(rule, known): (&Rule, &RuleAnswers)| {
            let kept = rule.kept.as_ref();
            rule.policy == known.policy
                && rule.facts == known.facts
                && kept.is_some_and(|kept| Arc::ptr_eq(kept, &known.kept))
        };
        self.sizes == answers.sizes
            && self.by_action == answers.by_action
            && self.rules.len() == answers.rules.len()
            && self.rules.iter().zip(&answers.rules).all(same)
    }

    pub(super) fn rules_by_action(&self) -> &[Vec<usize>] {
        &self.by_action
    }

    pub(super) fn policy_of(&self, rule: usize) -> &SafetyPolicy {
        &self.loaded.policies[self.rules[rule].policy]
    }

    fn add(&mut self, mut rule: Rule) -> usize {
        let same = self
            .rules
            .iter()
            .position(|known| known.answers_for(&rule, &self.loaded));
        same.unwrap_or_else(|| {
            let written = &self.loaded.policies[rule.policy];
            rule.kept = written.memory.of(&rule, &written.reads);
            self.rules.push(rule);
            self.rules.len() - 1
        })
    }
}

impl Rule {
    fn new(
        policy: usize,
        written: &SafetyPolicy,
        request: &Arc<Bound>,
        attributes: &[Arc<Bindable>],
        by_group: bool,
    ) -> Self {
        let read = attributes.iter();
        let read = read.filter(|known| written.reads.includes(known.holder, &known.name));
        let attributes: Vec<Arc<Bindable>> = read.cloned().collect();
        let mut facts: Vec<_> = attributes.iter().filter_map(|read| read.fact()).collect();
        facts.sort_unstable();
        facts.dedup();
        Self {
            policy,
            request: Arc::clone(request),
            attributes,
            facts,
            groups_of_actions: by_group || written.reads.action,
            kept: None,
        }
    }

    /// The place of a world in the product of the values of the facts, of which there are few enough for one.
    pub(super) fn place(&self, world: &[u8]) -> usize {
        let facts = self.facts.iter();
        facts.fold(0, |at, &(fact, size)| at * size + usize::from(world[fact]))
    }

    /// Where a fact stands among those that are read.
    pub(super) fn order_of(&self, fact: usize) -> Option<usize> {
        self.facts.iter().position(|(read, _)| *read == fact)
    }

    /// Whether the answer depends on the fact.
    pub(super) fn reads(&self, fact: usize) -> bool {
        self.facts.iter().any(|(read, _)| *read == fact)
    }

    /// Whether the other rule has the same answer in every world.
    fn answers_for(&self, other: &Self, loaded: &Loaded) -> bool {
        let (mine, its) = (&self.request, &other.request);
        self.policy == other.policy
            && (mine.action == its.action || !loaded.policies[self.policy].reads.action)
            && mine.principal == its.principal
            && mine.resource == its.resource
            && self.keys().eq(other.keys())
    }

    fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        self.attributes.iter().map(|read| read.key())
    }
}

/// Whether the scope of a policy admits the action, and if so, whether only by a group that the action is in.
fn in_scope(loaded: &Loaded, policy: &SafetyPolicy, action: &EntityUid) -> Option<bool> {
    match &policy.actions {
        ActionConstraint::Any => Some(false),
        ActionConstraint::Eq(named) => (named == action).then_some(false),
        ActionConstraint::In(named) if named.contains(action) => Some(false),
        ActionConstraint::In(named) => {
            let within = |group: &EntityUid| loaded.actions.is_ancestor_of(group, action);
            named.iter().any(within).then_some(true)
        }
    }
}

/// Whether an action is called so, by its name alone or as in a policy.
pub(super) fn is_called(uid: &EntityUid, name: &str) -> bool {
    uid.id().unescaped() == name || uid.to_string() == name
}

pub(super) fn bound(loaded: &Loaded, action: &ActionDescription) -> Result<Bound, BindError> {
    let named = |uid: &EntityUid| is_called(uid, &action.action);
    let asked = |party: &Described, of: &EntityTypeName| {
        party
            .of_type
            .as_ref()
            .is_none_or(|asked| of.to_string() == *asked)
    };
    let fitting: Vec<&RequestEnv> = loaded
        .pairs
        .iter()
        .filter(|pair| {
            named(pair.action())
                && asked(&action.principal, pair.principal())
                && asked(&action.resource, pair.resource())
        })
        .collect();
    let [pair] = fitting.as_slice() else {
        if !loaded.schema.actions().any(named) {
            return Err(BindError::UnknownAction(action.action.clone()));
        }
        return Err(BindError::Types {
            action: action.action.clone(),
            found: fitting.len(),
        });
    };
    let party = |party: &Described, of: &EntityTypeName| {
        let groups = party.groups.iter().map(|group| {
            EntityUid::from_str(group).map_err(|error| BindError::Refused {
                action: action.action.clone(),
                message: format!("`{group}` is no entity: {error}"),
            })
        });
        let uid = EntityUid::from_type_name_and_id(of.clone(), EntityId::new(&party.id));
        Ok((uid, groups.collect::<Result<_, BindError>>()?))
    };
    Ok(Bound {
        action: pair.action().clone(),
        principal: party(&action.principal, pair.principal())?,
        resource: party(&action.resource, pair.resource())?,
    })
}

/// Checks principal and resource against the schema. Attributes are of their declared types by now, and those that are
/// required are there, so that without groups, and where names are free, nothing is left to be refused.
pub(super) fn check(
    loaded: &Loaded,
    action: &ActionDescription,
    request: &Bound,
    attributes: &[Arc<Bindable>],
) -> Result<(), BindError> {
    let is_free = |(uid, groups): &Party| {
        groups.is_empty() && !loaded.declared.is_enumerated(uid.type_name())
    };
    if is_free(&request.principal) && is_free(&request.resource) {
        debug_assert!(let_cedar_check(loaded, action, request, attributes).is_ok());
        return Ok(());
    }
    let_cedar_check(loaded, action, request, attributes)
}

/// Lets Cedar check one world against the schema; all others differ from it in declared values only.
fn let_cedar_check(
    loaded: &Loaded,
    action: &ActionDescription,
    request: &Bound,
    attributes: &[Arc<Bindable>],
) -> Result<(), BindError> {
    let schema = &loaded.schema;
    let refused = |message: String| BindError::Refused {
        action: action.action.clone(),
        message,
    };
    let value = |attribute: &Bindable| attribute.values.first().cloned();
    let context = super::evaluate::context(attributes, value).map_err(&refused)?;
    let built = cedar_policy::Request::new(
        request.principal.0.clone(),
        request.action.clone(),
        request.resource.0.clone(),
        context,
        Some(schema),
    );
    built.map_err(|error| refused(error.to_string()))?;
    let entities = super::evaluate::parties(request, attributes, value).map_err(&refused)?;
    let checked = cedar_policy::Entities::from_entities(entities, Some(schema));
    checked
        .map_err(|error| refused(error.to_string()))
        .map(drop)
}
