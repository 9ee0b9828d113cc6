//! Running the binary, and the files that it is run on.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The run failed with `code`, said exactly `message`, and printed nothing else.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, message: &str) {
        assert_eq!(self.stderr, format!("error: {message}\n"));
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "");
    }

    /// The run succeeded with `code`, and gives what it printed.
    #[track_caller]
    pub(crate) fn prints(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.stdout
    }
}

pub(crate) fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_safecommit"))
}

/// A folder of its own that the binary runs in.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The names in the folder, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.run_on("", arguments)
    }

    /// Runs with `input` on standard input.
    pub(crate) fn run_on<S: AsRef<OsStr>>(
        &self,
        input: impl AsRef<[u8]>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Run {
        let mut child = command()
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_owned();
        // In a thread of its own, since the program answers before it has read everything. It may
        // also end before that, which closes the pipe.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        Run::of(output)
    }
}

/// The workspace's folder of this name.
pub(crate) fn workspace(name: &str) -> PathBuf {
    // A test runs in its package, which may be another copy than the one that was built.
    std::env::current_dir().unwrap().join("..").join(name)
}

pub(crate) fn example(name: &str) -> String {
    std::fs::read_to_string(workspace("examples").join(name)).unwrap()
}

/// The names of the examples that end so, in order.
pub(crate) fn examples(ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(workspace("examples")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}
