//! Writing files whole or not at all.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

/// Replaces a file in one step; its directory is created if it is absent. Whoever reads it sees what was there
/// before or all of what is there now.
pub(crate) fn atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || -> std::io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".new-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // Less what the process masks, as for any new file.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(directory)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}
