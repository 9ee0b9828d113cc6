//! `safecommit bench generate`: the frozen splits and their manifest.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use safecommit_bench::{Parameters, render_all};

use crate::output;
use crate::terminal::one_line;

/// Writes the frozen splits. Every file is on disk before the first is put in its place, and the
/// manifest comes last, so that a directory that loads is always whole.
pub(super) fn run(directory: &Path) -> Result<ExitCode> {
    let files = render_all(&Parameters::project()?);
    match fs::create_dir(directory) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists && directory.is_dir() => {}
        Err(error) => {
            let name = directory.display();
            return Err(error).with_context(|| format!("cannot make the directory `{name}`"));
        }
    }
    let mut pending = Vec::with_capacity(files.len());
    for file in &files {
        pending.push(output::prepare(&directory.join(&file.name), &file.bytes)?);
    }
    for file in pending {
        file.persist()?;
    }
    let mut report = String::new();
    for file in &files {
        let path = directory.join(&file.name);
        report.push_str(&format!(
            "{} ({} bytes)\n",
            one_line(&path.display().to_string()),
            file.bytes.len()
        ));
    }
    output::print(report.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
