//! The `safecommit` binary as people and programs run it.
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

mod bad_calibrations;
mod bad_requests;
mod bad_scores;
mod bad_strata;
mod bench;
mod calibrate;
mod decide;
mod guarantees;
mod program;
mod schema;
mod strata;
mod stream;
mod tour;
mod usage;
mod writing;
