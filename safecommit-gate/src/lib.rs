#![doc = include_str!("../README.md")]

mod fact;
#[cfg_attr(not(unix), path = "files/unsupported.rs")]
mod files;

pub use fact::{Assignment, Fact, FactError, Facts};
pub use files::*;
