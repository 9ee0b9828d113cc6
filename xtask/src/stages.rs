//! The time that each stage takes.

use std::time::{Duration, Instant};

/// Stages in their order, with their time.
#[derive(Default)]
pub(crate) struct Stages {
    done: Vec<(&'static str, Duration)>,
}

impl Stages {
    /// Runs a stage and keeps its time.
    pub(crate) fn time<T>(&mut self, name: &'static str, stage: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = stage();
        self.done.push((name, start.elapsed()));
        value
    }

    /// A line a stage, and their sum.
    pub(crate) fn render(&self) -> String {
        let total: Duration = self.done.iter().map(|stage| stage.1).sum();
        let mut text = String::from("\nTime of each stage\n");
        for (name, time) in self.done.iter().chain([&("all stages", total)]) {
            text.push_str(&format!("  {name:<24}{:>8.3} s\n", time.as_secs_f64()));
        }
        text
    }
}
