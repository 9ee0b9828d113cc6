//! The executor on real file systems.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod actions;
mod crash;
mod directories;
mod emptying;
mod killed;
mod limits;
mod mounts;
#[path = "../common/own_mounts.rs"]
mod own_mounts;
mod paths;
mod permanent;
mod requests;
mod support;
mod trash;
