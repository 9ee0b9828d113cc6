//! `safecommit init`: a gate for a workspace, in a directory of its own that appears whole or not at all.

use std::fs::{self, DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use safecommit_gate::audit::{AuditLog, LogKey};
use safecommit_gate::{FILE_POLICIES, FILE_SCHEMA, GateConfiguration};

use crate::cli::InitArguments;
use crate::configuration::CONFIGURATION;
use crate::output;
use crate::terminal::one_line;

const STATE: &str = "state";

pub(crate) fn run(arguments: &InitArguments) -> Result<ExitCode> {
    let given = &arguments.workspace;
    let workspace = fs::canonicalize(given)
        .with_context(|| format!("cannot use the workspace `{}`", given.display()))?;
    if !workspace.is_dir() {
        return Err(anyhow!("`{}` is no directory", given.display()));
    }
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => default_directory(&workspace)?,
    };
    let directory =
        real(&directory).with_context(|| format!("cannot make `{}`", directory.display()))?;
    if directory.starts_with(&workspace) {
        return Err(anyhow!(
            "`{}` is in the workspace `{}`, where an agent could change it (say another --directory)",
            directory.display(),
            workspace.display()
        ));
    }
    if fs::symlink_metadata(&directory).is_ok() {
        return Err(anyhow!(
            "`{}` is there already (say another --directory)",
            directory.display()
        ));
    }
    make(&workspace, &directory)
        .with_context(|| format!("cannot make `{}`", directory.display()))?;
    output::print(made(&directory).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Where the gate of a workspace is made unless somebody says otherwise.
fn default_directory(workspace: &Path) -> Result<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from);
    // A relative one is to be passed over, as the specification of these directories says.
    let absolute = |path: &PathBuf| path.is_absolute();
    let settings = named("XDG_CONFIG_HOME").filter(absolute);
    let settings = settings.or_else(|| {
        let home = named("HOME").filter(absolute)?;
        Some(home.join(".config"))
    });
    let name = workspace.file_name();
    match (settings, name) {
        (Some(settings), Some(name)) => Ok(settings.join("safecommit").join(name)),
        _ => Err(anyhow!(
            "neither XDG_CONFIG_HOME nor HOME says where to make the gate of `{}` (say --directory)",
            workspace.display()
        )),
    }
}

/// A path without links, of which the end need not exist.
fn real(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut there = path.ancestors();
    let there = there.find(|above| fs::symlink_metadata(above).is_ok());
    let there = there.unwrap_or(Path::new("/"));
    let rest = path.strip_prefix(there)?;
    if rest.components().any(|part| part == Component::ParentDir) {
        return Err(anyhow!("`..` comes after what does not exist"));
    }
    if path.file_name().is_none() {
        return Err(anyhow!("it has no name"));
    }
    // The last component itself may be a link, which is there already and no place for a directory.
    if there == path {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let name = path.file_name().unwrap_or_default();
        return Ok(fs::canonicalize(parent)?.join(name));
    }
    Ok(fs::canonicalize(there)?.join(rest))
}

/// Makes everything under a name beside the directory, checks it, and gives it its name.
fn make(workspace: &Path, directory: &Path) -> Result<()> {
    let parent = directory.parent().unwrap_or(Path::new("/"));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)?;
    let made = tempfile::Builder::new()
        .prefix(".safecommit-")
        .suffix(".tmp")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)?;
    fill(workspace, made.path())?;
    GateConfiguration::load(&made.path().join(CONFIGURATION))?.policies()?;
    // Replaces nothing but an empty directory.
    fs::rename(made.path(), directory)?;
    let _ = made.keep();
    File::open(parent)?.sync_all()?;
    Ok(())
}

fn fill(workspace: &Path, directory: &Path) -> Result<()> {
    let workspace = workspace
        .to_str()
        .ok_or_else(|| anyhow!("the path of the workspace is not valid UTF-8"))?;
    let (policies, schema) = (FILE_POLICIES.name, FILE_SCHEMA.name);
    let configuration = GateConfiguration::text_with_policies(workspace, STATE, policies, schema);
    for (name, text) in [
        (CONFIGURATION, configuration),
        (policies, yours(FILE_POLICIES.text)),
        (schema, yours(FILE_SCHEMA.text)),
    ] {
        let mut file = File::create_new(directory.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    let state = directory.join(STATE);
    DirBuilder::new().mode(0o700).create(&state)?;
    let key = LogKey::create(&state.join("audit.key"))?;
    AuditLog::create(&state.join("audit.db"), &state.join("audit.head"), key)?;
    File::open(directory)?.sync_all()?;
    Ok(())
}

fn yours(text: &str) -> String {
    format!(
        "// This copy is yours to edit. It is what decides: the one that came with SafeCommit is no longer looked at.\n\
         // `safecommit init` never overwrites it.\n\n{text}"
    )
}

fn made(directory: &Path) -> String {
    let configuration = directory.join(CONFIGURATION);
    format!(
        "made `{}` with\n  {CONFIGURATION:<18}  the configuration; it explains itself\n  {:<18}  when file actions are safe\n  \
         {:<18}  what these policies may read\n  {:<18}  audit log with its head and key; journal and trash will follow\n\
         next: safecommit gate --config {} REQUEST.json\n",
        one_line(&directory.display().to_string()),
        FILE_POLICIES.name,
        FILE_SCHEMA.name,
        format!("{STATE}/"),
        quoted(&configuration.display().to_string()),
    )
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+".contains(character);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", one_line(word).replace('\'', r"'\''"))
    }
}
