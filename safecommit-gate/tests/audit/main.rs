//! The audit log as a whole: what it finds, what it survives, what it tells.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod disclosure;
mod export;
mod failures;
mod history;
mod labels;
mod processes;
mod properties;
mod regions;
mod support;
mod tampering;
