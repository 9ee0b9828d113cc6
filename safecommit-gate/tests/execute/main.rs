//! The executor on real file systems.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod actions;
mod crash;
mod directories;
mod limits;
mod mounts;
mod paths;
mod support;
mod trash;
