//! From a certified action to its effect, and back.

mod action;
mod error;
mod receipt;

#[cfg(target_os = "linux")]
mod effect;
#[cfg(target_os = "linux")]
mod empty;
#[cfg(target_os = "linux")]
mod entries;
#[cfg(target_os = "linux")]
mod executor;
#[cfg(target_os = "linux")]
mod interrupt;
#[cfg(target_os = "linux")]
mod journal;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod key;
#[cfg(target_os = "linux")]
mod ledger;
#[cfg(target_os = "linux")]
mod place;
#[cfg(target_os = "linux")]
mod probed;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod release;
#[cfg(target_os = "linux")]
mod restore;
#[cfg(target_os = "linux")]
mod settle;
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

#[cfg(target_os = "linux")]
pub(crate) use action::with_article;
pub use action::{
    ActionError, Content, Deletion, FileAction, Proposal, ReleaseContext, TargetPath,
};
pub use error::ExecuteError;
#[cfg(target_os = "linux")]
pub use executor::Executor;
#[cfg(target_os = "linux")]
pub use probed::Probed;
pub use receipt::{JournalEntry, Receipt, Resolution};
#[cfg(target_os = "linux")]
pub use release::Authority;
#[cfg(not(target_os = "linux"))]
pub use unsupported::Executor;
