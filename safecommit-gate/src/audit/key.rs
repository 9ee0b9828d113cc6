//! The secret that keys the chain, its head, and the redaction of values.

use std::fmt;
#[cfg(unix)]
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use safecommit_conformal::Digest;
use sha2::Sha256;

#[cfg(unix)]
use super::error::KeyError;
use crate::evidence::EvidenceSet;

/// A secret of 32 bytes. Whoever has it can write records that verify; keep it, and the head, where whoever may
/// want to rewrite history has no access. One key a log: with a key shared by two logs, one can be passed off as the
/// other.
///
/// ```
/// # #[cfg(unix)] {
/// use safecommit_gate::audit::LogKey;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("key");
/// LogKey::create(&path)?;
/// let key = LogKey::read(&path)?;
/// assert_eq!(format!("{key:?}"), "LogKey(secret)");
/// // Nobody else may be able to read it.
/// use std::os::unix::fs::PermissionsExt as _;
/// std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640))?;
/// assert!(LogKey::read(&path).is_err());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LogKey([u8; 32]);

impl LogKey {
    /// The key of these bytes, which have to be drawn at random.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads a key: a regular file, no link, of exactly 32 bytes, that belongs to the user of this process and that
    /// nobody else may read or write (mode 0600 or 0400).
    ///
    /// # Errors
    ///
    /// [`KeyError`] for any other file.
    #[cfg(unix)]
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::read_from(&open(path, rustix::fs::OFlags::RDONLY)?, path)
    }

    /// The same of a file that is open already; `path` is for errors.
    #[cfg(unix)]
    pub(crate) fn read_from(mut file: &std::fs::File, path: &Path) -> Result<Self, KeyError> {
        use std::io::Read as _;
        use std::os::unix::fs::MetadataExt as _;

        let io = |error| KeyError::Io {
            path: path.to_owned(),
            error,
        };
        let metadata = file.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(KeyError::NotAFile(path.to_owned()));
        }
        if metadata.mode() & 0o177 != 0 {
            return Err(KeyError::Mode {
                path: path.to_owned(),
                mode: metadata.mode() & 0o7777,
            });
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(KeyError::Owner(path.to_owned()));
        }
        if metadata.len() != 32 {
            return Err(KeyError::Length {
                path: path.to_owned(),
                bytes: metadata.len(),
            });
        }
        let mut bytes = [0; 32];
        file.read_exact(&mut bytes).map_err(io)?;
        Ok(Self(bytes))
    }

    /// Draws a key from the system's random numbers and writes it to a new file of mode 0600.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if something is there already, or if it cannot be written.
    #[cfg(unix)]
    pub fn create(path: &Path) -> Result<Self, KeyError> {
        use rustix::fs::OFlags;
        use std::io::Write as _;

        let io = |error| KeyError::Io {
            path: path.to_owned(),
            error,
        };
        let (key, bytes) = Self::drawn()?;
        let mut file = open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        file.write_all(&bytes)
            .and_then(|()| file.sync_all())
            .map_err(io)?;
        Ok(key)
    }

    /// A new key with its bytes, to keep them.
    #[cfg(unix)]
    pub(crate) fn drawn() -> Result<(Self, [u8; 32]), KeyError> {
        use std::io::Read as _;

        let path = Path::new("/dev/urandom");
        let mut bytes = [0; 32];
        let mut random = open(path, rustix::fs::OFlags::RDONLY)?;
        let drawn = random.read_exact(&mut bytes);
        drawn.map_err(|error| KeyError::Io {
            path: path.to_owned(),
            error,
        })?;
        Ok((Self(bytes), bytes))
    }

    /// HMAC-SHA-256 of evidence, by id and in the canonical form of its records
    /// ([`EvidenceRecord::to_json`](crate::EvidenceRecord::to_json)): what
    /// [`ReleaseContext::evidence`](crate::ReleaseContext::evidence) has to hold where the subject of a decision is
    /// written down. Equal sets have equal digests.
    ///
    /// It is keyed because evidence may be little more than a name or a yes. Of everything else that a subject is
    /// computed from the log tells enough, so with a plain digest, such as [`EvidenceSet::digest`], whoever reads the
    /// log could try one piece of evidence after the other until the subject comes out.
    ///
    /// ```
    /// use safecommit_gate::EvidenceSet;
    /// use safecommit_gate::audit::LogKey;
    ///
    /// let evidence = EvidenceSet::new([])?;
    /// let digest = |byte| LogKey::from_bytes([byte; 32]).evidence_digest(&evidence);
    /// assert_eq!(digest(7), digest(7));
    /// assert_ne!(digest(7), digest(8));
    /// # Ok::<(), safecommit_gate::DerivationError>(())
    /// ```
    #[must_use]
    pub fn evidence_digest(&self, evidence: &EvidenceSet) -> Digest {
        let records: Vec<String> = evidence
            .records()
            .iter()
            .map(|record| record.to_json())
            .collect();
        let parts: Vec<&[u8]> = records.iter().map(|record| record.as_bytes()).collect();
        Digest::from(self.code("evidence", &parts))
    }

    /// HMAC-SHA-256 of parts for one purpose. Purpose and parts are preceded by their lengths, so no other
    /// division of the same bytes has the same code.
    pub(crate) fn code(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        self.hmac(purpose, parts).finalize().into_bytes().into()
    }

    /// Whether `code` is [`Self::code`], in time that does not depend on where it differs.
    pub(super) fn verifies(&self, purpose: &str, parts: &[&[u8]], code: &[u8]) -> bool {
        self.hmac(purpose, parts).verify_slice(code).is_ok()
    }

    fn hmac(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        // HMAC fills a key up to the block of the hash with zeros.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        let mut hmac = Hmac::<Sha256>::new(&block.into());
        for part in [purpose.as_bytes()].iter().chain(parts) {
            hmac.update(&(part.len() as u64).to_le_bytes());
            hmac.update(part);
        }
        hmac
    }
}

impl fmt::Debug for LogKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LogKey(secret)")
    }
}

#[cfg(unix)]
fn open(path: &Path, flags: rustix::fs::OFlags) -> Result<std::fs::File, KeyError> {
    use rustix::fs::{Mode, OFlags};

    // Without following a link at the end, and without waiting for the writer of a pipe.
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let opened = opened.map_err(|error| KeyError::Io {
        path: path.to_owned(),
        error: error.into(),
    })?;
    Ok(opened.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_hmac_sha_256_of_what_is_documented() {
        let key = LogKey::from_bytes([7; 32]);
        let plain = |message: &[u8]| -> [u8; 32] {
            let mut hmac = Hmac::<Sha256>::new_from_slice(&[7; 32]).unwrap();
            hmac.update(message);
            hmac.finalize().into_bytes().into()
        };
        let message = b"\x04\0\0\0\0\0\0\0head\x02\0\0\0\0\0\0\0ab";
        let code = key.code("head", &[b"ab"]);
        assert_eq!(code, plain(message));
        assert!(key.verifies("head", &[b"ab"], &code));
        for (purpose, parts) in [
            ("row", vec![&b"ab"[..]]),
            ("head", vec![&b"a"[..], b"b"]),
            ("head", vec![&b"ac"[..]]),
        ] {
            assert!(!key.verifies(purpose, &parts, &code));
        }
        assert!(!LogKey::from_bytes([8; 32]).verifies("head", &[b"ab"], &code));
        assert!(!key.verifies("head", &[b"ab"], &code[..31]));
    }

    #[test]
    fn the_digest_of_evidence_is_that_of_its_records_and_of_the_key() {
        use crate::evidence::{EvidenceRecord, Proposition, Source};

        let record = |id: &str, value: &str| {
            let what = Proposition::new("report.txt", "owner", value).unwrap();
            let at = "2026-03-01T08:00:00Z".parse().unwrap();
            EvidenceRecord::new(id, what, Source::user("ada").unwrap(), at).unwrap()
        };
        let digest = |records: &[EvidenceRecord]| {
            let evidence = EvidenceSet::new(records.iter().cloned()).unwrap();
            LogKey::from_bytes([7; 32]).evidence_digest(&evidence)
        };
        let (one, two) = (record("a", "own"), record("b", "other"));
        let both = digest(&[one.clone(), two.clone()]);
        assert_eq!(both, digest(&[two.clone(), one.clone()]));
        let plain = EvidenceSet::new([one.clone(), two.clone()])
            .unwrap()
            .digest();
        let others = [
            digest(&[]),
            digest(std::slice::from_ref(&one)),
            digest(&[one.clone(), record("b", "own")]),
            Digest::from(plain),
        ];
        assert!(others.iter().all(|other| *other != both));
        // By hand: the purpose and each record behind its length.
        let mut message = Vec::new();
        for part in ["evidence", &one.to_json(), &two.to_json()] {
            message.extend_from_slice(&(part.len() as u64).to_le_bytes());
            message.extend_from_slice(part.as_bytes());
        }
        let mut hmac = Hmac::<Sha256>::new_from_slice(&[7; 32]).unwrap();
        hmac.update(&message);
        assert_eq!(
            both,
            Digest::from(<[u8; 32]>::from(hmac.finalize().into_bytes()))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_key_is_a_file_of_32_bytes_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        assert!(matches!(LogKey::read(&path), Err(KeyError::Io { .. })));
        let key = LogKey::create(&path).unwrap();
        assert_eq!(LogKey::read(&path).unwrap().0, key.0);
        assert!(matches!(LogKey::create(&path), Err(KeyError::Io { .. })));
        assert_ne!(
            LogKey::create(&directory.path().join("other")).unwrap().0,
            key.0
        );

        let set = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for mode in [0o640, 0o604, 0o620, 0o602, 0o700, 0o610, 0o644] {
            set(mode);
            match LogKey::read(&path) {
                Err(KeyError::Mode { mode: found, .. }) => assert_eq!(found, mode),
                other => panic!("{mode:o}: {other:?}"),
            }
        }
        set(0o400);
        assert!(LogKey::read(&path).is_ok());
        set(0o600);
        for bytes in [0, 31, 33] {
            std::fs::write(&path, vec![1; bytes]).unwrap();
            assert!(
                matches!(LogKey::read(&path), Err(KeyError::Length { .. })),
                "{bytes}"
            );
        }
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path().join("other"), &link).unwrap();
        assert!(matches!(LogKey::read(&link), Err(KeyError::Io { .. })));
        assert!(matches!(
            LogKey::read(directory.path()),
            Err(KeyError::NotAFile(_))
        ));
    }
}
