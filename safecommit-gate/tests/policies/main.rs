//! Safety maps as Cedar policies: against plain Cedar, the shipped policies on a table of worlds, bad input.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod against_cedar;
mod bad_input;
#[path = "../common/conditions.rs"]
mod conditions;
mod deep;
mod failing;
mod files;
mod fitting;
mod particular;
mod plain;
