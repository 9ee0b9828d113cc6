//! From what is believed of each fact to the proposed worlds, best first.

mod belief;
mod error;
mod regions;

pub use belief::{Belief, BeliefError, Exclusion, Impossible};
pub use error::{Cut, SupportError};
pub(crate) use regions::{ANY, Beyond, Splits};
pub use regions::{LEFT_OUT, Region, Regions};
