//! Handles, identities and probes of real files.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod handles;
mod hostile_trees;
#[path = "../common/own_mounts.rs"]
mod own_mounts;
mod probes;
mod random_trees;
mod repositories;
mod staged;
mod support;
