#![doc = include_str!("../README.md")]

#[cfg(unix)]
mod execute;
mod fact;
#[cfg(unix)]
mod files;
#[cfg(not(unix))]
#[path = "files/unsupported.rs"]
mod files;

#[cfg(unix)]
pub use execute::*;
pub use fact::{Assignment, Fact, FactError, Facts};
#[cfg(unix)]
pub use files::*;
#[cfg(not(unix))]
pub use files::{FileError, Workspace};
