#![doc = include_str!("../README.md")]

mod fact;
mod policy;

pub use fact::{Assignment, Fact, FactError, Facts};
pub use policy::{
    ActionDescription, AttributeValue, BindError, Blocker, FILE_POLICIES, FILE_SCHEMA,
    ForeignWorld, Place, PolicyError, PolicyText, SafetyMap, SafetyPolicies, SafetyPolicy,
    SafetyTable,
};
