//! What a directory of frozen data says about itself.

use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use crate::generator::{GENERATOR_VERSION, Split};
use crate::json::FromObjects;
use crate::parameters::GeneratorParameters;

/// Version of the layout of episode files and manifest.
pub const FORMAT_VERSION: u32 = 1;

/// Name of the manifest's file.
pub const MANIFEST_FILE: &str = "manifest.json";

/// The manifest of frozen data: where it comes from, and what its files must be.
///
/// It deserialises from objects alone, and only if its versions are those of this crate and its files are those
/// of [`Split::ALL`] in their order.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

    /// The generator's version, which is [`GENERATOR_VERSION`]: what a method draws at random comes from the
    /// generator too, so that data of another version cannot be decided on as it was meant.
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
#[serde(
    deny_unknown_fields,
    expecting = "a manifest as an object of named fields"
)]
struct RawManifest {
    format_version: u32,
    generator_version: u32,
    seed: u64,
    parameters: GeneratorParameters,
    files: Vec<RawFileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a file as an object of named fields")]
struct RawFileEntry {
    name: String,
    rows: u64,
    bytes: u64,
    sha256: String,
}

impl<'de> Deserialize<'de> for Manifest {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let raw = RawManifest::deserialize(FromObjects(input))?;
        Self::try_from(raw).map_err(serde::de::Error::custom)
    }
}

/// A field of a manifest that does not hold. Whoever has the text finds the line by the field.
#[derive(Debug, thiserror::Error)]
#[error("field `{field}`: {reason}")]
struct ManifestFault {
    field: String,
    reason: String,
}

impl ManifestFault {
    fn new(field: impl Into<String>, reason: String) -> Self {
        Self {
            field: field.into(),
            reason,
        }
    }
}

impl TryFrom<RawManifest> for Manifest {
    type Error = ManifestFault;

    fn try_from(raw: RawManifest) -> Result<Self, ManifestFault> {
        for (field, found, ours) in [
            ("format_version", raw.format_version, FORMAT_VERSION),
            (
                "generator_version",
                raw.generator_version,
                GENERATOR_VERSION,
            ),
        ] {
            if found != ours {
                let reason = format!("`{found}` is not the version of this program, {ours}");
                return Err(ManifestFault::new(field, reason));
            }
        }
        if raw.files.len() != Split::ALL.len() {
            let reason = format!(
                "`{}` files, expected {}",
                raw.files.len(),
                Split::ALL.map(file_name).join(", ")
            );
            return Err(ManifestFault::new("files", reason));
        }
        let mut files = Vec::with_capacity(raw.files.len());
        for (at, (split, file)) in Split::ALL.into_iter().zip(raw.files).enumerate() {
            let expected = file_name(split);
            if file.name != expected {
                let reason = format!("`{}` is not {expected}", file.name);
                return Err(ManifestFault::new(format!("files[{at}].name"), reason));
            }
            let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if file.sha256.len() != 64 || !file.sha256.bytes().all(digit) {
                let reason = format!("`{}` is not 64 lower-case hexadecimal digits", file.sha256);
                return Err(ManifestFault::new(format!("files[{at}].sha256"), reason));
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
