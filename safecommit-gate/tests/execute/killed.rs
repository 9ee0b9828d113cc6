//! A test of this program that another process of it runs, to be killed at some moment.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::support::Scene;

const PLACES: [&str; 3] = [
    "SAFECOMMIT_TEST_WORKSPACE",
    "SAFECOMMIT_TEST_STATE",
    "SAFECOMMIT_TEST_SEED",
];

/// Workspace, state directory and seed, in a process that is to be killed.
pub(crate) fn places() -> Option<[String; 3]> {
    let [Ok(workspace), Ok(state), Ok(seed)] = PLACES.map(std::env::var) else {
        return None;
    };
    Some([workspace, state, seed])
}

/// Has the test know that the process acts from here on.
pub(crate) fn say_ready() {
    // What runs tests leaves its own line open.
    println!("\nready");
}

pub(crate) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts a test, by its whole name, on a scene, and waits until it is ready.
    pub(crate) fn start(test: &str, scene: &Scene, seed: u64) -> Self {
        let values = [
            scene.path("").display().to_string(),
            scene.state.display().to_string(),
            seed.to_string(),
        ];
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", test])
            .envs(PLACES.into_iter().zip(values))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        Self { child, lines }
    }

    /// The number in the next line, which has to begin with this word.
    pub(crate) fn next(&mut self, word: &str) -> u64 {
        let line = self.lines.next().unwrap().unwrap();
        let number = line
            .strip_prefix(word)
            .and_then(|rest| rest.strip_prefix(' '));
        number.unwrap_or_else(|| panic!("{line}")).parse().unwrap()
    }

    pub(crate) fn kill_after(mut self, wait: Duration) {
        std::thread::sleep(wait);
        // Had it failed before, it would not be running.
        assert_eq!(self.child.try_wait().unwrap(), None);
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
