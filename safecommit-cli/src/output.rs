//! Writing: standard output that may close early, and files that are replaced whole or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use tempfile::NamedTempFile;

use crate::terminal::one_line;

/// Whether whoever reads standard output is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Listening,
    Gone,
}

/// Prints to standard output and flushes. A reader that has closed it (`| head`) is no failure.
pub(crate) fn print(bytes: &[u8]) -> Result<Reader> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Reader::Listening),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(error).context("cannot write to standard output"),
    }
}

/// Prints an error to standard error as one line: names and values in it cannot make lines of their own.
pub(crate) fn error(message: &str) {
    // There is nowhere left to report that standard error is closed.
    let _ = writeln!(io::stderr(), "error: {}", one_line(message));
}

/// Prints a text of several lines of our own to standard error.
pub(crate) fn note(message: &str) {
    let mut text = String::new();
    for line in message.lines() {
        text.push_str(&one_line(line));
        text.push('\n');
    }
    // There is nowhere left to report that standard error is closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A file that is written but not yet in its place. Dropping it leaves what was there before.
#[derive(Debug)]
pub(crate) struct Pending {
    target: PathBuf,
    file: NamedTempFile,
}

/// Writes `bytes` to a temporary file beside `target`, and to disk.
pub(crate) fn prepare(target: &Path, bytes: &[u8]) -> Result<Pending> {
    write_beside(target, bytes).with_context(|| format!("cannot write `{}`", target.display()))
}

impl Pending {
    /// Puts the file in its place; a reader sees the old one or the new one, never a part.
    pub(crate) fn persist(self) -> Result<()> {
        let Self { target, file } = self;
        file.persist(&target)
            .map_err(|error| error.error)
            .with_context(|| format!("cannot write `{}`", target.display()))?;
        Ok(())
    }
}

/// Replaces the file at `target` atomically.
///
/// A symbolic link is followed, so that it stays a link. Something else than a file, such as a device
/// or a named pipe, cannot be replaced and is written to.
pub(crate) fn replace(target: &Path, bytes: &[u8]) -> Result<()> {
    match fs::metadata(target) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            let written = File::options().write(true).open(target);
            written
                .and_then(|mut file| file.write_all(bytes))
                .with_context(|| format!("cannot write `{}`", target.display()))
        }
        _ => prepare(target, bytes)?.persist(),
    }
}

/// Refuses to replace a file that is an input of the same run.
pub(crate) fn refuse_inputs<'a>(
    target: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    // Terminals and the like may be both.
    let Some(target_file) = fs::canonicalize(target).ok().filter(|path| path.is_file()) else {
        return Ok(());
    };
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input == target_file) {
            return Err(anyhow!(
                "cannot write `{}`: it is the input `{}`",
                target.display(),
                input.display()
            ));
        }
    }
    Ok(())
}

/// The file that `target` leads to, which need not exist yet.
fn follow_links(target: &Path) -> Result<PathBuf> {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut target = target.to_owned();
    for _ in 0..=MOST_LINKS {
        match fs::read_link(&target) {
            // A relative link starts where it is.
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(anyhow!("too many symbolic links"))
}

fn write_beside(target: &Path, bytes: &[u8]) -> Result<Pending> {
    let target = follow_links(target)?;
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(anyhow!("it is a directory"));
    }
    if target.file_name().is_none() {
        return Err(anyhow!("it names no file"));
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if !directory.is_dir() {
        return Err(anyhow!("`{}` is not a directory", directory.display()));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".safecommit-").suffix(".tmp");
    #[cfg(unix)]
    let everyone = {
        use std::os::unix::fs::PermissionsExt as _;
        // What a plain create asks for; the umask takes away from it.
        fs::Permissions::from_mode(0o666)
    };
    #[cfg(unix)]
    builder.permissions(everyone);
    let mut file = builder.tempfile_in(&directory)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(Pending { target, file })
}
