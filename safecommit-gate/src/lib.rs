#![doc = include_str!("../README.md")]

mod fact;
#[cfg(unix)]
mod files;
#[cfg(not(unix))]
#[path = "files/unsupported.rs"]
mod files;

pub use fact::{Assignment, Fact, FactError, Facts};
#[cfg(unix)]
pub use files::*;
#[cfg(not(unix))]
pub use files::{FileError, Workspace};
