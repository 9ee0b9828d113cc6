//! Git as a program that reads, in an environment of ours, and is stopped when its time is up.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::files::FileError;

/// Where git is looked for: never in the directories that the agent's environment names.
const FOLDERS: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/bin", "/opt/homebrew/bin"];

/// The most that git may answer at once.
const LONGEST_ANSWER: u64 = 1 << 28;

/// What is set on the command line wins over what a repository configures.
const OPTIONS: [&str; 20] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.alternateRefsCommand=",
    "-c",
    "core.sshCommand=false",
    "-c",
    "diff.external=",
    "-c",
    "protocol.allow=never",
    "-c",
    "safe.bareRepository=explicit",
];

/// The whole environment.
const ENVIRONMENT: [(&str, &str); 16] = [
    ("PATH", "/usr/bin:/bin:/usr/local/bin"),
    ("LC_ALL", "C"),
    ("HOME", "/nonexistent"),
    ("XDG_CONFIG_HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    // The directory that it is started in, whatever the repository says about its work tree.
    ("GIT_WORK_TREE", "."),
    // The repository that was found there: git would pass over one that it cannot use and ask the next one above.
    ("GIT_DIR", ".git"),
    ("GIT_TRACE", "0"),
];

/// Git, to be started in the top directory of a repository.
pub(super) struct Git {
    program: PathBuf,
    top: OwnedFd,
    until: Option<Instant>,
}

/// A running git that hands out objects one by one.
pub(super) struct Objects {
    running: Running,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    buffer: Vec<u8>,
}

/// A running git with somebody who stops it when its time is up.
struct Running {
    child: Arc<Mutex<Child>>,
    done: Option<Sender<()>>,
    watch: Option<JoinHandle<bool>>,
}

impl Git {
    pub(super) fn at(top: &OwnedFd, until: Option<Instant>) -> Result<Self, FileError> {
        if !cfg!(target_os = "linux") {
            return Err(FileError::NotSupported);
        }
        let mut programs = FOLDERS
            .iter()
            .map(|folder| PathBuf::from(folder).join("git"));
        let program = programs.find(|program| program.is_file());
        let program = program.ok_or_else(|| error("it is in none of the usual folders"))?;
        let top = top
            .as_fd()
            .try_clone_to_owned()
            .map_err(|cause| error(&cause.to_string()))?;
        Ok(Self {
            program,
            top,
            until,
        })
    }

    /// The id of the last commit; `None` if there is none yet.
    pub(super) fn last_commit(&self, objects: &mut Objects) -> Result<Option<String>, FileError> {
        if let Some(id) = objects.commit("HEAD")? {
            return Ok(Some(id));
        }
        // Nothing may have been committed, or what was is lost.
        match self.run(&[b"rev-parse", b"--quiet", b"--verify", b"HEAD"], &[])? {
            (Some(1), _) => Ok(None),
            (Some(0), _) => Err(error("an object is missing or damaged")),
            (code, _) => Err(refused(code)),
        }
    }

    /// What git answers to these arguments.
    pub(super) fn answer(&self, arguments: &[&[u8]]) -> Result<Vec<u8>, FileError> {
        let literally: &[&[u8]] = &[b"--literal-pathspecs"];
        match self.run(&[literally, arguments].concat(), &[])? {
            (Some(0), answer) => Ok(answer),
            (code, _) => Err(refused(code)),
        }
    }

    /// Those of the paths that are ignored, each with `./` in front, as git would take a colon there for a command, and
    /// a NUL after it.
    pub(super) fn ignored(&self, paths: &[Vec<u8>]) -> Result<Vec<u8>, FileError> {
        let input: Vec<u8> = paths
            .iter()
            .flat_map(|path| [b"./", &path[..], b"\0"].concat())
            .collect();
        match self.run(&[b"check-ignore", b"-z", b"--stdin"], &input)? {
            (Some(0 | 1), answer) => Ok(answer),
            (code, _) => Err(refused(code)),
        }
    }

    /// Starts a git that hands out objects.
    pub(super) fn objects(&self) -> Result<Objects, FileError> {
        let (running, requests, answers) = self.start(&[b"cat-file", b"--batch"])?;
        Ok(Objects {
            running,
            requests,
            answers: BufReader::new(answers),
            buffer: Vec::new(),
        })
    }

    fn run(&self, arguments: &[&[u8]], input: &[u8]) -> Result<(Option<i32>, Vec<u8>), FileError> {
        let (running, mut requests, answers) = self.start(arguments)?;
        let mut answer = Vec::new();
        let read = std::thread::scope(|scope| {
            // A git that has stopped reading has said why in its exit code.
            scope.spawn(move || drop(requests.write_all(input)));
            let read = answers.take(LONGEST_ANSWER + 1).read_to_end(&mut answer);
            if answer.len() as u64 > LONGEST_ANSWER {
                running.stop();
            }
            read
        });
        let code = running.finish()?;
        read.map_err(|cause| error(&cause.to_string()))?;
        if answer.len() as u64 > LONGEST_ANSWER {
            return Err(error("its answer is too long"));
        }
        Ok((code, answer))
    }

    fn start(&self, arguments: &[&[u8]]) -> Result<(Running, ChildStdin, ChildStdout), FileError> {
        let mut command = Command::new(&self.program);
        command
            .args(OPTIONS)
            .args(arguments.iter().map(|argument| OsStr::from_bytes(argument)))
            .env_clear()
            .envs(ENVIRONMENT)
            // The directory itself, not its path, which may lead elsewhere by now.
            .current_dir(format!("/proc/self/fd/{}", self.top.as_raw_fd()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command
            .spawn()
            .map_err(|cause| error(&format!("it does not start, {}", cause.kind())))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let running = Running::new(child, self.until);
        match pipes {
            (Some(requests), Some(answers)) => Ok((running, requests, answers)),
            _ => Err(error("it has no pipes")),
        }
    }
}

impl Objects {
    /// The id of the commit of this name.
    fn commit(&mut self, name: &str) -> Result<Option<String>, FileError> {
        self.ask(name)?;
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .map_err(|_| self.broken())?;
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        match fields[..] {
            [] => Err(self.broken()),
            [id, "commit", size] => {
                let length = size
                    .parse::<u64>()
                    .ok()
                    .filter(|size| *size < LONGEST_ANSWER);
                let length = length.and_then(|size| usize::try_from(size).ok());
                let length = length.ok_or_else(|| error("a commit is too long"))?;
                self.read(length)?;
                self.end()?;
                Ok(Some(id.to_owned()))
            }
            _ => Ok(None),
        }
    }

    /// Asks for a file or link of this size, which is then read by [`read`](Self::read).
    pub(super) fn begin(&mut self, id: &str, size: u64) -> Result<(), FileError> {
        self.ask(id)?;
        let expected = format!("{id} blob {size}\n");
        if self.read(expected.len())? == expected.as_bytes() {
            return Ok(());
        }
        Err(error("an object is missing or damaged"))
    }

    fn ask(&mut self, name: &str) -> Result<(), FileError> {
        let asked = self.requests.write_all(format!("{name}\n").as_bytes());
        asked
            .and_then(|()| self.requests.flush())
            .map_err(|_| self.broken())
    }

    /// The next bytes of the object.
    pub(super) fn read(&mut self, length: usize) -> Result<&[u8], FileError> {
        self.buffer.resize(length, 0);
        match self.answers.read_exact(&mut self.buffer) {
            Ok(()) => Ok(&self.buffer),
            Err(_) => Err(self.broken()),
        }
    }

    /// After the last byte of an object.
    pub(super) fn end(&mut self) -> Result<(), FileError> {
        match self.read(1)? {
            b"\n" => Ok(()),
            _ => Err(error("an object is longer than it said")),
        }
    }

    fn broken(&mut self) -> FileError {
        if self.running.was_stopped() {
            FileError::TimedOut("git".to_owned())
        } else {
            error("it ended early")
        }
    }
}

impl Running {
    fn new(child: Child, until: Option<Instant>) -> Self {
        let child = Arc::new(Mutex::new(child));
        let (done, stopped) = mpsc::channel::<()>();
        let watched = Arc::clone(&child);
        let watch = std::thread::spawn(move || {
            let Some(until) = until else { return false };
            let left = until.saturating_duration_since(Instant::now());
            let is_late = stopped.recv_timeout(left) == Err(RecvTimeoutError::Timeout);
            if is_late {
                stop(&watched);
            }
            is_late
        });
        Self {
            child,
            done: Some(done),
            watch: Some(watch),
        }
    }

    fn stop(&self) {
        stop(&self.child);
    }

    /// Waits until it has ended and says with which code.
    fn finish(mut self) -> Result<Option<i32>, FileError> {
        let ended = loop {
            // Held for a moment only, so that it can be stopped meanwhile.
            let ended = self
                .child
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .try_wait();
            match ended {
                Ok(None) => std::thread::sleep(Duration::from_micros(100)),
                Ok(Some(status)) => break status.code(),
                Err(cause) => return Err(error(&cause.to_string())),
            }
        };
        if self.was_stopped() {
            Err(FileError::TimedOut("git".to_owned()))
        } else {
            Ok(ended)
        }
    }

    /// Ends the watch, and says whether it had to stop git.
    fn was_stopped(&mut self) -> bool {
        self.done = None;
        self.watch
            .take()
            .is_some_and(|watch| watch.join().unwrap_or(false))
    }
}

/// Leaves no process behind.
impl Drop for Running {
    fn drop(&mut self) {
        self.was_stopped();
        stop(&self.child);
    }
}

/// Ends the process and waits for it; one that has ended is left alone.
fn stop(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // Both fail only for a process that is gone.
    drop(child.kill());
    drop(child.wait());
}

fn refused(code: Option<i32>) -> FileError {
    match code {
        Some(code) => error(&format!("it refuses, with code {code}")),
        None => error("it was stopped by a signal"),
    }
}

fn error(message: &str) -> FileError {
    FileError::Git(message.to_owned())
}
