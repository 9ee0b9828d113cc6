#![doc = include_str!("../README.md")]

mod fact;
#[cfg(unix)]
mod files;

pub use fact::{Assignment, Fact, FactError, Facts};
#[cfg(unix)]
pub use files::*;
