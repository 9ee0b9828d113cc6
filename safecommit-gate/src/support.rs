//! From what is believed of each fact to the proposed worlds, best first.

mod belief;
mod enumerate;
mod regions;

pub use belief::{Belief, BeliefError, Exclusion, Impossible};
pub use enumerate::{Cut, ProposedWorld, Support, SupportError};
pub use regions::{Region, Regions};
