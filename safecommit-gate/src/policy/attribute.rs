//! The attributes of an action, each with the values that it can have in some world.

use std::sync::Arc;

use cedar_policy::{EntityId, EntityUid, RestrictedExpression};

use super::bind::Bound;
use super::reads::Holder;
use super::schema::{Attributes, Type};
use super::{ActionDescription, AttributeValue, BindError, Loaded};
use crate::{Fact, Facts};

/// An attribute with the values that it can have.
#[derive(Debug)]
pub(super) struct Bindable {
    pub(super) holder: Holder,
    pub(super) name: String,
    of: Arc<Type>,
    pub(super) source: Source,
    /// One a value of the fact, or the one constant.
    pub(super) values: Vec<RestrictedExpression>,
    /// What these are expressions of.
    of_values: Vec<AttributeValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Fact(usize),
    Constant(AttributeValue),
}

/// Why an attribute of an action has no value.
pub(super) struct Unbound {
    /// What declares it; `None` for one that nothing declares.
    pub(super) holder: Option<Holder>,
    pub(super) error: BindError,
}

/// What says where an attribute is read and from what.
pub(super) type Key<'b> = (Holder, &'b str, &'b Type, &'b Source);

impl Bindable {
    /// The fact and how many values it has.
    pub(super) fn fact(&self) -> Option<(usize, usize)> {
        match self.source {
            Source::Fact(at) => Some((at, self.values.len())),
            Source::Constant(_) => None,
        }
    }

    pub(super) fn key(&self) -> Key<'_> {
        (self.holder, &self.name, &self.of, &self.source)
    }

    /// Whether it is the same attribute with the same values in the same order, wherever they come from.
    pub(super) fn has_values_of(&self, other: &Self) -> bool {
        self.holder == other.holder
            && self.name == other.name
            && self.of == other.of
            && self.of_values == other.of_values
    }
}

/// Every attribute that the schema declares and that has a value here.
pub(super) fn attributes(
    loaded: &Loaded,
    facts: &Facts,
    action: &ActionDescription,
    request: &Bound,
) -> Result<Vec<Arc<Bindable>>, Unbound> {
    let name = || action.action.clone();
    let none = Attributes::new();
    let declared = |holder| {
        let of_entity =
            |uid: &EntityUid| loaded.declared.entities.get(&uid.type_name().to_string());
        let found = match holder {
            Holder::Principal => of_entity(&request.principal.0),
            Holder::Resource => of_entity(&request.resource.0),
            Holder::Context => loaded.declared.contexts.get(&request.action.to_string()),
        };
        found.unwrap_or(&none)
    };
    for attribute in action.constants.keys().chain(action.facts.keys()) {
        if !Holder::ALL
            .into_iter()
            .any(|holder| declared(holder).contains_key(attribute))
        {
            let error = BindError::UnknownAttribute {
                action: name(),
                attribute: attribute.clone(),
            };
            return Err(Unbound {
                holder: None,
                error,
            });
        }
    }
    let mut bindables = Vec::new();
    for holder in Holder::ALL {
        let refuse = |error| Unbound {
            holder: Some(holder),
            error,
        };
        for (attribute, declaration) in declared(holder) {
            let renamed = action.facts.get(attribute);
            let fact_name = renamed
                .cloned()
                .unwrap_or_else(|| action.fact_of(attribute));
            let fact = facts.position(&fact_name);
            let constant = action.constants.get(attribute);
            let of = &declaration.of;
            let (source, values) = match (constant, fact) {
                (Some(_), _) if fact.is_some() || renamed.is_some() => {
                    return Err(refuse(BindError::Twice {
                        action: name(),
                        attribute: attribute.clone(),
                    }));
                }
                (None, None) if renamed.is_some() => {
                    return Err(refuse(BindError::UnknownFact {
                        action: name(),
                        attribute: attribute.clone(),
                        fact: fact_name,
                    }));
                }
                (None, None) if declaration.required => {
                    return Err(refuse(BindError::Missing {
                        action: name(),
                        attribute: attribute.clone(),
                    }));
                }
                (None, None) => continue,
                (Some(value), _) => (Source::Constant(value.clone()), vec![value.clone()]),
                (None, Some(at)) => (Source::Fact(at), fact_values(of, &facts.as_slice()[at])),
            };
            let expressions = values.iter().map(|value| {
                expression(of, value).ok_or_else(|| BindError::Value {
                    action: name(),
                    attribute: attribute.clone(),
                    expected: of.to_string(),
                    value: value.to_string(),
                })
            });
            let expressions = expressions.collect::<Result<_, BindError>>();
            bindables.push(Arc::new(Bindable {
                holder,
                name: attribute.clone(),
                of: Arc::clone(of),
                source,
                values: expressions.map_err(refuse)?,
                of_values: values,
            }));
        }
    }
    Ok(bindables)
}

/// The values of a fact as those of an attribute; a text where the type wants another has no expression.
fn fact_values(of: &Type, fact: &Fact) -> Vec<AttributeValue> {
    let values = fact.values().iter();
    let values = values.map(|text| match (of, text.as_str()) {
        (Type::Flag, "yes" | "true") => AttributeValue::Flag(true),
        (Type::Flag, "no" | "false") => AttributeValue::Flag(false),
        _ => AttributeValue::Text(text.clone()),
    });
    values.collect()
}

/// The value as an expression of Cedar; `None` if it is not of the type.
fn expression(of: &Type, value: &AttributeValue) -> Option<RestrictedExpression> {
    match (of, value) {
        (Type::Text, AttributeValue::Text(text)) => {
            Some(RestrictedExpression::new_string(text.clone()))
        }
        (Type::Flag, AttributeValue::Flag(flag)) => Some(RestrictedExpression::new_bool(*flag)),
        (Type::Number, AttributeValue::Number(number)) => {
            Some(RestrictedExpression::new_long(*number))
        }
        (Type::Enumeration { name, members }, AttributeValue::Text(text))
            if members.contains(text) =>
        {
            let uid = EntityUid::from_type_name_and_id(name.clone(), EntityId::new(text));
            Some(RestrictedExpression::new_entity_uid(uid))
        }
        _ => None,
    }
}
