//! The `safecommit` binary as people and programs run it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails the test by panicking"
)]

#[cfg(target_os = "linux")]
mod audit;
#[cfg(target_os = "linux")]
mod audit_damage;
mod bad_calibrations;
mod bad_requests;
mod bad_scores;
mod bad_strata;
mod bench;
mod calibrate;
mod decide;
#[cfg(target_os = "linux")]
mod gate;
#[cfg(target_os = "linux")]
mod gate_attacks;
#[cfg(target_os = "linux")]
mod gate_bad_input;
#[cfg(target_os = "linux")]
mod gate_bad_state;
#[cfg(target_os = "linux")]
mod gate_calibrated;
#[cfg(target_os = "linux")]
mod gate_crash;
#[cfg(target_os = "linux")]
mod gate_files;
#[cfg(target_os = "linux")]
mod gate_races;
#[cfg(target_os = "linux")]
mod gate_record;
mod guarantees;
#[cfg(target_os = "linux")]
mod history;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod next_steps;
mod program;
#[cfg(target_os = "linux")]
mod restore;
mod schema;
#[cfg(target_os = "linux")]
mod schema_audit;
#[cfg(target_os = "linux")]
mod schema_gate;
mod schema_records;
#[cfg(target_os = "linux")]
mod schema_spellings;
mod strata;
mod stream;
mod tour;
mod usage;
#[cfg(target_os = "linux")]
mod worked_example;
mod writing;
