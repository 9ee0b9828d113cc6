#![doc = include_str!("../README.md")]

pub mod audit;
mod fact;

pub use fact::{Assignment, Fact, FactError, Facts};
