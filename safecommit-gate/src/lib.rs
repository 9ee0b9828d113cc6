#![doc = include_str!("../README.md")]

mod fact;

pub use fact::{Assignment, Fact, FactError, Facts};
