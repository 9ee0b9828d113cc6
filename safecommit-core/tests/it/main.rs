//! The tests of the crate against independent models, the theory's promises and bad input.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

mod allocation;
mod bound;
mod calibrated;
mod decisions;
mod disputes;
mod example;
mod generated;
mod never_commits;
mod oracle;
mod policies;
mod probing;
mod properties;
mod redemption;
mod relative;
mod replay;
mod requests;
mod robust;
mod rules;
mod soft;
mod strata;
mod verification;
