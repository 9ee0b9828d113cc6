//! How far a stage is, for whoever waits for it.

use std::io::{IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress of one stage on standard error: a bar on a terminal, a line at its begin elsewhere. Gone from
/// the terminal when dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A stage of so many units.
    pub(crate) fn new(stage: &'static str, length: u64, unit: &'static str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            // Where standard error is closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "running {stage} ({length} {unit})");
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        let form = format!("{stage} {{wide_bar}} {{human_pos}} of {{human_len}} {unit}");
        Self(match ProgressStyle::with_template(&form) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// So many more units are done.
    pub(crate) fn add(&self, units: u64) {
        self.0.inc(units);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
