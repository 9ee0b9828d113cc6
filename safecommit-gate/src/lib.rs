#![doc = include_str!("../README.md")]

#[cfg(target_os = "linux")]
mod execute;
mod fact;
#[cfg(unix)]
mod files;

#[cfg(target_os = "linux")]
pub use execute::*;
pub use fact::{Assignment, Fact, FactError, Facts};
#[cfg(unix)]
pub use files::*;
