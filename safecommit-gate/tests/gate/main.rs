//! The gate on real files, from a proposal to its effect.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod decisions;
mod overwrites;
mod permanent;
mod persons;
mod recorded;
mod side_effects;
mod simulation;
mod steered;
mod strata;
mod support;
mod time;
