//! Which names nobody may touch without asking, written down once more and by another rule than the gate's patterns.

use std::path::Path;

/// Whether a component says that it is protected.
pub(crate) fn is_protected(path: &Path) -> bool {
    any(path, |name| {
        let directories = [
            ".git", ".hg", ".svn", ".jj", ".claude", ".codex", ".cursor", ".gemini", ".ssh",
            ".gnupg", ".aws",
        ];
        directories.contains(&name) || [".mcp.json", "claude.md", "safecommit.toml"].contains(&name)
    })
}

/// Whether a component says that it holds keys or passwords.
pub(crate) fn is_secret(path: &Path) -> bool {
    any(path, |name| {
        let names = [
            ".env",
            "id_rsa",
            "id_dsa",
            "id_ecdsa",
            "id_ed25519",
            ".netrc",
            ".pypirc",
            ".ssh",
            ".gnupg",
            ".aws",
        ];
        let ends = [".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore"];
        names.contains(&name)
            || ends.iter().any(|end| name.ends_with(end))
            || name.starts_with(".env.")
            || name.starts_with("credentials")
    })
}

fn any(path: &Path, is: impl Fn(&str) -> bool) -> bool {
    let mut names = path.components();
    names.any(|name| is(&name.as_os_str().to_string_lossy().to_lowercase()))
}
