//! What is wrong with policies, with actions, or with worlds.

use super::place::Place;

/// Why policies or their schema are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Policies that do not parse, or are nested deeper than can be parsed safely.
    #[error("policy `{policy}` in `{file}`, {place}: {message}")]
    Syntax {
        /// The `@id` of the policy, or its number in the text, from 1.
        policy: String,
        /// The name of the text.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong there.
        message: String,
    },
    /// A schema that does not parse, names a type that it does not declare, or asks of an action what it does not have.
    #[error("schema `{file}`, {place}: {message}")]
    Schema {
        /// The name of the text.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong there.
        message: String,
    },
    /// A policy that the schema does not allow (an attribute, a value or an action that it does not declare, types
    /// that do not fit), that can never apply, or that does not say what it looks like.
    #[error("policy `{policy}` in `{file}`, {place}: {message}")]
    Invalid {
        /// The `@id` of the policy, or its file and number.
        policy: String,
        /// The name of the text.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong there.
        message: String,
    },
    /// A policy with `?principal` or `?resource`: it would apply to nothing.
    #[error(
        "policy `{policy}` in `{file}` is a template: write the principal or resource in its place"
    )]
    Template {
        /// The `@id` of the policy, or its file and number.
        policy: String,
        /// The name of the text.
        file: String,
    },
    /// Policies are read in a thread of their own, and it could not be started or did not end as it should.
    #[error("the thread that reads policies failed: {0}")]
    Thread(String),
    /// Two policies with one id.
    #[error("two policies have the id `{0}`")]
    Duplicate(String),
}

/// Why an action cannot be judged by policies over facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// An action that the schema does not declare.
    #[error("the schema declares no action `{0}`")]
    UnknownAction(String),
    /// No principal and resource type, or several, to which the action applies.
    #[error(
        "action `{action}` applies to {found} pairs of principal and resource types here, not to one"
    )]
    Types {
        /// The action.
        action: String,
        /// To how many pairs it applies.
        found: usize,
    },
    /// An attribute that has to have a value and is neither a fact nor given with the action.
    #[error("action `{action}` has no value for the attribute `{attribute}`")]
    Missing {
        /// The action.
        action: String,
        /// The attribute.
        attribute: String,
    },
    /// An attribute that the schema does not declare for the action's principal, resource or context.
    #[error("the schema declares no attribute `{attribute}` for action `{action}`")]
    UnknownAttribute {
        /// The action.
        action: String,
        /// The attribute.
        attribute: String,
    },
    /// A fact that is not declared.
    #[error(
        "attribute `{attribute}` of action `{action}` reads the fact `{fact}`, which is not declared"
    )]
    UnknownFact {
        /// The action.
        action: String,
        /// The attribute.
        attribute: String,
        /// The fact.
        fact: String,
    },
    /// An attribute with two values: one given with the action, one from a fact.
    #[error("attribute `{attribute}` of action `{action}` has a value of its own and is a fact")]
    Twice {
        /// The action.
        action: String,
        /// The attribute.
        attribute: String,
    },
    /// A value that does not fit the type of the attribute.
    #[error(
        "attribute `{attribute}` of action `{action}` is of type {expected} and cannot be `{value}`"
    )]
    Value {
        /// The action.
        action: String,
        /// The attribute.
        attribute: String,
        /// The type that the schema declares.
        expected: String,
        /// The value.
        value: String,
    },
    /// A request that Cedar itself refuses: a name that is none, a group that the schema does not allow.
    #[error("action `{action}`: {message}")]
    Refused {
        /// The action.
        action: String,
        /// What Cedar says.
        message: String,
    },
}

/// A world that assigns other facts than those that the actions were bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("world {world} is no assignment of the facts that the policies were bound to")]
pub struct ForeignWorld {
    /// Its position.
    pub world: usize,
}
