//! One answer a policy for all worlds that agree on what the policy reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cedar_policy::{Context, Entities, Entity, Request, RestrictedExpression};
use smallvec::SmallVec;

use super::ForeignWorld;
use super::attribute::{Bindable, Source};
use super::bind::{Bound, Rule, SafetyMap};
use super::reads::Holder;
use super::table::{Outcome, SafetyTable};
use crate::Assignment;

impl SafetyMap {
    /// Gamma in each of these worlds: what the policies permit there.
    ///
    /// Each policy is evaluated once for all worlds that agree on the facts that it reads, by Cedar itself. The result
    /// is the same as that of asking Cedar once a world and action, counting a failing policy as a refusal.
    ///
    /// # Errors
    ///
    /// [`ForeignWorld`] for a world that does not assign the facts that the policies were bound to.
    pub fn evaluate(&self, worlds: &[Assignment]) -> Result<SafetyTable<'_>, ForeignWorld> {
        let fits = |world: &Assignment| {
            let positions = world.positions();
            positions.len() == self.sizes.len()
                && positions
                    .iter()
                    .zip(&self.sizes)
                    .all(|(&at, &size)| usize::from(at) < size)
        };
        if let Some(world) = worlds.iter().position(|world| !fits(world)) {
            return Err(ForeignWorld { world });
        }
        let mut messages = Vec::new();
        let columns = self.rules.iter().map(|rule| {
            let mut known = Answers::of(rule);
            let worlds = worlds.iter().map(Assignment::positions);
            worlds
                .map(|world| known.get_or(rule, world, || self.ask(rule, world, &mut messages)))
                .collect()
        });
        let columns = columns.collect();
        Ok(SafetyTable::new(self, worlds.len(), columns, messages))
    }

    /// What one policy says in one world, of which only the facts that the policy reads matter. Cedar is asked unless the
    /// answer was kept.
    pub(super) fn ask(&self, rule: &Rule, world: &[u8], messages: &mut Vec<String>) -> Outcome {
        let Some(kept) = &rule.kept else {
            return self.ask_cedar(rule, world, messages);
        };
        let place = rule.place(world);
        kept.get(place).unwrap_or_else(|| {
            let outcome = self.ask_cedar(rule, world, messages);
            kept.keep(place, outcome);
            outcome
        })
    }

    fn ask_cedar(&self, rule: &Rule, world: &[u8], messages: &mut Vec<String>) -> Outcome {
        let mut failed = |message: String| {
            messages.push(message);
            Outcome::Fails(messages.len() - 1)
        };
        let (request, entities) = match self.question(rule, world) {
            Ok(question) => question,
            Err(message) => return failed(message),
        };
        let alone = &self.loaded.policies[rule.policy].alone;
        let response = self.authorizer.is_authorized(&request, alone, &entities);
        let diagnostics = response.diagnostics();
        match diagnostics.errors().next() {
            Some(error) => failed(error.to_string()),
            None if diagnostics.reason().next().is_some() => Outcome::Applies,
            None => Outcome::Silent,
        }
    }

    fn question(&self, rule: &Rule, world: &[u8]) -> Result<(Request, Entities), String> {
        let value = |attribute: &Bindable| {
            let at = match attribute.source {
                Source::Fact(fact) => usize::from(*world.get(fact)?),
                Source::Constant(_) => 0,
            };
            attribute.values.get(at).cloned()
        };
        let bound = &rule.request;
        let request = Request::new(
            bound.principal.0.clone(),
            bound.action.clone(),
            bound.resource.0.clone(),
            context(&rule.attributes, value)?,
            None,
        );
        let request = request.map_err(|error| error.to_string())?;
        let parties = parties(bound, &rule.attributes, value)?;
        let entities = if rule.groups_of_actions {
            self.loaded.actions.clone().add_entities(parties, None)
        } else {
            Entities::from_entities(parties, None)
        };
        Ok((request, entities.map_err(|error| error.to_string())?))
    }
}

/// The context with the attributes that have a value.
pub(super) fn context(
    attributes: &[Arc<Bindable>],
    value: impl Fn(&Bindable) -> Option<RestrictedExpression>,
) -> Result<Context, String> {
    let pairs = attributes_of(Holder::Context, attributes, value);
    if pairs.is_empty() {
        return Ok(Context::empty());
    }
    Context::from_pairs(pairs).map_err(|error| error.to_string())
}

/// The principal and the resource with the attributes that have a value. One without attributes and groups is left
/// out: for Cedar an entity that it is not given has none.
pub(super) fn parties(
    bound: &Bound,
    attributes: &[Arc<Bindable>],
    value: impl Fn(&Bindable) -> Option<RestrictedExpression>,
) -> Result<SmallVec<[Entity; 2]>, String> {
    let mut of_principal = attributes_of(Holder::Principal, attributes, &value);
    let mut of_resource = attributes_of(Holder::Resource, attributes, &value);
    let (principal, mut groups_of_principal) = bound.principal.clone();
    let (resource, mut groups_of_resource) = bound.resource.clone();
    // A program that acts on itself is one entity.
    if principal == resource {
        of_resource.extend(of_principal.drain());
        groups_of_resource.extend(groups_of_principal.drain());
    }
    let parties = [
        (principal, of_principal, groups_of_principal),
        (resource, of_resource, groups_of_resource),
    ];
    let known = parties
        .into_iter()
        .filter(|(_, attributes, groups)| !attributes.is_empty() || !groups.is_empty());
    let entities = known.map(|(uid, attributes, groups)| {
        Entity::new(uid, attributes, groups).map_err(|error| error.to_string())
    });
    entities.collect()
}

fn attributes_of(
    holder: Holder,
    attributes: &[Arc<Bindable>],
    value: impl Fn(&Bindable) -> Option<RestrictedExpression>,
) -> HashMap<String, RestrictedExpression> {
    let held = attributes
        .iter()
        .filter(|attribute| attribute.holder == holder);
    held.filter_map(|attribute| Some((attribute.name.clone(), value(attribute)?)))
        .collect()
}

/// The answers of one policy, by the values of the facts that it reads.
#[derive(Debug)]
pub(super) enum Answers {
    /// By their position in the product of the values.
    Dense(Vec<Option<Outcome>>),
    Sparse(BTreeMap<SmallVec<[u8; 16]>, Outcome>),
}

/// Products of values up to this many have a place each.
pub(super) const DENSE: usize = 1 << 12;

impl Answers {
    pub(super) fn of(rule: &Rule) -> Self {
        let product = rule
            .facts
            .iter()
            .try_fold(1_usize, |all, (_, size)| all.checked_mul(*size));
        match product {
            Some(product) if product <= DENSE => Self::Dense(vec![None; product]),
            _ => Self::Sparse(BTreeMap::new()),
        }
    }

    pub(super) fn get_or(
        &mut self,
        rule: &Rule,
        world: &[u8],
        ask: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let place = match self {
            Self::Dense(_) => rule.place(world),
            Self::Sparse(_) => 0,
        };
        self.get_or_at(place, rule, world, ask)
    }

    /// The same where the place of the values in their product is known.
    pub(super) fn get_or_at(
        &mut self,
        place: usize,
        rule: &Rule,
        world: &[u8],
        ask: impl FnOnce() -> Outcome,
    ) -> Outcome {
        match self {
            Self::Dense(answers) => *answers[place].get_or_insert_with(ask),
            Self::Sparse(answers) => {
                let key = rule.facts.iter().map(|&(fact, _)| world[fact]).collect();
                *answers.entry(key).or_insert_with(ask)
            }
        }
    }
}
