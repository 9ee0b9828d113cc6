//! What a directory of frozen data says about itself.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::generator::{GENERATOR_VERSION, Split};
use crate::parameters::GeneratorParameters;

/// Version of the layout of episode files and manifest.
pub const FORMAT_VERSION: u32 = 1;

/// Name of the manifest's file.
pub const MANIFEST_FILE: &str = "manifest.json";

/// The manifest of frozen data: where it comes from, and what its files must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawManifest")]
pub struct Manifest {
    format_version: u32,
    generator_version: u32,
    seed: u64,
    parameters: GeneratorParameters,
    files: Vec<FileEntry>,
}

/// What the manifest says about one episode file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEntry {
    name: String,
    rows: u64,
    bytes: u64,
    sha256: String,
}

impl FileEntry {
    /// The entry of a split whose file has these bytes.
    #[must_use]
    pub fn of(split: Split, bytes: &[u8]) -> Self {
        Self {
            name: file_name(split),
            rows: bytes.iter().filter(|byte| **byte == b'\n').count() as u64,
            bytes: bytes.len() as u64,
            sha256: hexadecimal(&Sha256::digest(bytes)),
        }
    }

    /// Name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of episodes.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// SHA-256 of the bytes, 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

impl Manifest {
    pub(crate) fn new(seed: u64, parameters: GeneratorParameters, files: Vec<FileEntry>) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            generator_version: GENERATOR_VERSION,
            seed,
            parameters,
            files,
        }
    }

    /// Seed of the frozen suite.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The generator's version; see [`GENERATOR_VERSION`].
    #[must_use]
    pub fn generator_version(&self) -> u32 {
        self.generator_version
    }

    /// The law that the episodes were drawn from.
    #[must_use]
    pub fn parameters(&self) -> &GeneratorParameters {
        &self.parameters
    }

    /// One entry a split, in the order of [`Split::ALL`].
    #[must_use]
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }
}

/// Name of the episode file of a split.
#[must_use]
pub fn file_name(split: Split) -> String {
    format!("{split}.jsonl")
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    format_version: u32,
    generator_version: u32,
    seed: u64,
    parameters: GeneratorParameters,
    files: Vec<RawFileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFileEntry {
    name: String,
    rows: u64,
    bytes: u64,
    sha256: String,
}

impl TryFrom<RawManifest> for Manifest {
    type Error = String;

    fn try_from(raw: RawManifest) -> Result<Self, String> {
        if raw.format_version != FORMAT_VERSION {
            return Err(format!(
                "`format_version` is `{}`, this program reads {FORMAT_VERSION}",
                raw.format_version
            ));
        }
        let expected: Vec<_> = Split::ALL.into_iter().map(file_name).collect();
        let found = raw.files.iter().map(|file| &file.name);
        if !found.eq(&expected) {
            return Err(format!("`files` are not {}", expected.join(", ")));
        }
        let mut files = Vec::with_capacity(raw.files.len());
        for file in raw.files {
            let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if file.sha256.len() != 64 || !file.sha256.bytes().all(digit) {
                return Err(format!(
                    "`sha256` of `{}` is `{}`, not 64 lower-case hexadecimal digits",
                    file.name, file.sha256
                ));
            }
            files.push(FileEntry {
                name: file.name,
                rows: file.rows,
                bytes: file.bytes,
                sha256: file.sha256,
            });
        }
        Ok(Self {
            format_version: raw.format_version,
            generator_version: raw.generator_version,
            seed: raw.seed,
            parameters: raw.parameters,
            files,
        })
    }
}
