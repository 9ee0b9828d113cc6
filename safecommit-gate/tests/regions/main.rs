//! Regions of worlds: against the enumeration of all worlds, how many the shipped policies give, bad input.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod answers;
mod bad_input;
mod beliefs;
#[path = "../common/conditions.rs"]
mod conditions;
mod plain;
mod random;
mod shipped;
mod worlds;
