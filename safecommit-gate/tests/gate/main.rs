//! The gate on real files, from a proposal to its effect.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod decisions;
mod persons;
mod simulation;
mod support;
