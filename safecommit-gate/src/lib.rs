#![doc = include_str!("../README.md")]

mod fact;
mod score;
mod support;

pub use fact::{Assignment, Fact, FactError, Facts};
pub use score::{ScoreTermError, ScoreWeights, Terms};
pub use support::{
    Belief, BeliefError, Cut, Exclusion, Impossible, ProposedWorld, Support, SupportError,
};
