//! The head: how long the chain is and how it ends, under the key, in a file of its own.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::chain::{ChainHash, Flaw, FlawKind};
use super::error::AuditError;
use super::key::LogKey;

const FORMAT: u32 = 1;
const PURPOSE: &str = "head";

/// How long the chain is and how it ends. While a record is being written, also the hash that it will have: the
/// log may then have one record more, that very one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) count: u64,
    pub(super) hash: ChainHash,
    pub(super) next: Option<ChainHash>,
}

/// The head as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeadFile {
    format: u32,
    count: u64,
    hash: ChainHash,
    next: Option<ChainHash>,
    mac: ChainHash,
}

impl Head {
    pub(super) fn settled(count: u64, hash: ChainHash) -> Self {
        Self {
            count,
            hash,
            next: None,
        }
    }

    /// Whether a chain of `count` records that ends with `hash` is the one of this head.
    ///
    /// # Errors
    ///
    /// The [`Flaw`], with the first record that is missing or that the head does not know.
    pub(super) fn admits(&self, count: u64, hash: ChainHash) -> Result<(), Flaw> {
        if (count, hash) == (self.count, self.hash) {
            return Ok(());
        }
        if count == self.count + 1 && self.next == Some(hash) {
            return Ok(());
        }
        let (sequence, kind) = if count < self.count {
            let records = self.count;
            (count + 1, FlawKind::CutOff { records })
        } else if count > self.count {
            let records = self.count;
            (self.count + 1, FlawKind::AfterHead { records })
        } else {
            (count, FlawKind::OtherHead)
        };
        Err(Flaw { sequence, kind })
    }

    pub(super) fn sign(&self, key: &LogKey) -> HeadFile {
        HeadFile {
            format: FORMAT,
            count: self.count,
            hash: self.hash,
            next: self.next,
            mac: ChainHash(key.code(PURPOSE, &self.parts().each_ref().map(Vec::as_slice))),
        }
    }

    fn parts(&self) -> [Vec<u8>; 3] {
        let next = self.next.map_or_else(Vec::new, |next| next.0.to_vec());
        [
            self.count.to_le_bytes().to_vec(),
            self.hash.0.to_vec(),
            next,
        ]
    }
}

impl HeadFile {
    /// The head, if it was written with `key`.
    pub(super) fn open(&self, key: &LogKey) -> Result<Head, String> {
        if self.format != FORMAT {
            return Err(format!("it has format {}, known is {FORMAT}", self.format));
        }
        let head = Head {
            count: self.count,
            hash: self.hash,
            next: self.next,
        };
        let parts = head.parts();
        if !key.verifies(PURPOSE, &parts.each_ref().map(Vec::as_slice), &self.mac.0) {
            return Err("it was changed, or written with another key".to_owned());
        }
        Ok(head)
    }
}

/// Reads the head.
pub(super) fn read(path: &Path, key: &LogKey) -> Result<Head, AuditError> {
    let problem = |problem: String| AuditError::Head {
        path: path.to_owned(),
        problem,
    };
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    let file: HeadFile =
        serde_json::from_slice(&bytes).map_err(|error| problem(error.to_string()))?;
    file.open(key).map_err(problem)
}

/// Replaces the head: after a power loss the old or the new one is there, whole.
pub(super) fn write(path: &Path, key: &LogKey, head: &Head) -> Result<(), AuditError> {
    replace(path, key, head).map_err(|error| AuditError::Head {
        path: path.to_owned(),
        problem: error.to_string(),
    })
}

fn replace(path: &Path, key: &LogKey, head: &Head) -> std::io::Result<()> {
    let mut bytes = serde_json::to_vec(&head.sign(key))?;
    bytes.push(b'\n');
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    // Left over from a process that was killed, or planted: never written through.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&new)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&new, path)?;
    sync_directory_of(path)
}

/// Makes a new entry of a directory durable.
pub(super) fn sync_directory_of(path: &Path) -> std::io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// For the owner alone, where there are such permissions.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}
