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

/// Replaces the head, durably: when this returns, a power loss leaves the new one. One during it leaves the old or
/// the new one, whole. A settled head is as durable as a pending one: if the pending one could come back after its
/// record was acknowledged, it would admit a log without that record.
pub(super) fn write(path: &Path, key: &LogKey, head: &Head) -> Result<(), AuditError> {
    write_and(path, key, head, sync_directory_of)
}

/// Replaces the head, then has `sync` make its entry in the directory durable.
fn write_and(
    path: &Path,
    key: &LogKey,
    head: &Head,
    sync: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), AuditError> {
    let replaced = replace(path, key, head).and_then(|()| sync(path));
    replaced.map_err(|error| AuditError::Head {
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
    std::fs::rename(&new, path)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(byte: u8) -> ChainHash {
        ChainHash([byte; 32])
    }

    #[test]
    fn a_head_admits_its_chain_and_the_record_being_written_alone() {
        let settled = Head::settled(3, hash(3));
        let pending = Head {
            next: Some(hash(4)),
            ..settled.clone()
        };
        for head in [&settled, &pending] {
            assert_eq!(head.admits(3, hash(3)), Ok(()));
            for (count, last, sequence, kind) in [
                (2, 2, 3, FlawKind::CutOff { records: 3 }),
                (0, 0, 1, FlawKind::CutOff { records: 3 }),
                (3, 9, 3, FlawKind::OtherHead),
                (4, 9, 4, FlawKind::AfterHead { records: 3 }),
                (5, 4, 4, FlawKind::AfterHead { records: 3 }),
            ] {
                assert_eq!(head.admits(count, hash(last)), Err(Flaw { sequence, kind }));
            }
        }
        assert_eq!(pending.admits(4, hash(4)), Ok(()));
        assert!(settled.admits(4, hash(4)).is_err());
    }

    #[test]
    fn a_head_reads_back_with_its_key_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("head");
        let (key, other) = (LogKey::from_bytes([1; 32]), LogKey::from_bytes([2; 32]));
        for next in [None, Some(hash(8))] {
            let head = Head {
                next,
                ..Head::settled(7, hash(7))
            };
            write(&path, &key, &head).unwrap();
            assert_eq!(read(&path, &key).unwrap(), head);
            assert!(matches!(read(&path, &other), Err(AuditError::Head { .. })));
            // What it says cannot be exchanged under the same code.
            let signed = head.sign(&key);
            let changed = [
                HeadFile {
                    count: 8,
                    ..signed.clone()
                },
                HeadFile {
                    hash: hash(9),
                    ..signed.clone()
                },
                HeadFile {
                    next: Some(hash(9)),
                    ..signed.clone()
                },
                HeadFile {
                    format: 2,
                    ..signed.clone()
                },
            ];
            assert!(changed.iter().all(|changed| changed.open(&key).is_err()));
        }
        let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    /// Were the settled one not made durable, a power loss could bring the pending one back, and the last record could
    /// then be removed without a trace.
    #[test]
    fn every_head_is_made_durable_after_it_took_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("head");
        let key = LogKey::from_bytes([1; 32]);
        for next in [Some(hash(4)), None] {
            let head = Head {
                next,
                ..Head::settled(3, hash(3))
            };
            let mut in_place = None;
            write_and(&path, &key, &head, |path| {
                in_place = Some(read(path, &key).unwrap());
                Ok(())
            })
            .unwrap();
            assert_eq!(in_place, Some(head.clone()));
            let refused = write_and(&path, &key, &head, |_| Err(std::io::Error::other("full")));
            assert!(matches!(refused, Err(AuditError::Head { .. })), "{next:?}");
        }
    }

    /// A process that is killed between the commit of a record and the head leaves a pending head; so it does when
    /// it is killed before the commit. Either log verifies and goes on.
    #[test]
    fn a_log_with_a_pending_head_verifies_and_goes_on() {
        use crate::audit::{AuditLog, AuditReader, Entry, UsedCalibration};

        let directory = tempfile::tempdir().unwrap();
        let (path, file) = (directory.path().join("log"), directory.path().join("head"));
        let key = LogKey::from_bytes([1; 32]);
        let request = r#"{"actions": [{"id": "a"}], "worlds": []}"#;
        let request: safecommit_core::Request = serde_json::from_str(request).unwrap();
        let decision = safecommit_core::Case::new(request.clone())
            .unwrap()
            .decide(None);
        let at = jiff::Timestamp::UNIX_EPOCH;
        let entry = |name| Entry::new(name, at, request.clone(), decision.record().clone());
        let mut log = AuditLog::create(&path, &file, key.clone()).unwrap();
        let records = || {
            AuditReader::open(&path)
                .unwrap()
                .verify(&file, &key)
                .map(|v| v.records)
        };

        let first = log.append(&entry("first"), UsedCalibration::None).unwrap();
        let committed = Head {
            next: Some(first.hash),
            ..Head::settled(0, ChainHash::genesis())
        };
        write(&file, &key, &committed).unwrap();
        assert_eq!(records().unwrap(), 1);
        let second = log.append(&entry("second"), UsedCalibration::None).unwrap();
        assert_eq!((second.sequence, records().unwrap()), (2, 2));

        let rolled_back = Head {
            next: Some(hash(9)),
            ..Head::settled(2, second.hash)
        };
        write(&file, &key, &rolled_back).unwrap();
        assert_eq!(records().unwrap(), 2);
        let third = log.append(&entry("third"), UsedCalibration::None).unwrap();
        assert_eq!((third.sequence, records().unwrap()), (3, 3));
        assert_eq!(read(&file, &key).unwrap(), Head::settled(3, third.hash));

        // A pending head that is older than the last record is an older head.
        write(&file, &key, &committed).unwrap();
        let kind = FlawKind::AfterHead { records: 0 };
        match records() {
            Err(AuditError::Flaw(flaw)) => assert_eq!(flaw, Flaw { sequence: 1, kind }),
            other => panic!("{other:?}"),
        }
    }
}
