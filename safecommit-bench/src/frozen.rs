//! The frozen splits: rendering, loading and comparing them.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::episode::Episode;
use crate::generator::{DrawnEpisode, Generator, Split, Suite};
use crate::json;
use crate::jsonl::{LineProblem, RecordError, read_episodes};
use crate::manifest::{FileEntry, MANIFEST_FILE, Manifest, file_name};
use crate::parameters::Parameters;
use crate::record::{EpisodeRecord, FieldError};

/// Episodes rendered at a time by one thread.
const SHARD: u64 = 250;

/// A file of frozen data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrozenFile {
    /// Its name in the data directory.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// The lines of part of a split. Rendering the parts of a split and putting them together gives the split.
///
/// ```
/// use safecommit_bench::{Parameters, Split, render_rows};
///
/// let parameters = Parameters::project()?;
/// let mut lines = render_rows(&parameters, Split::Train, 0..5);
/// lines.extend(render_rows(&parameters, Split::Train, 5..8));
/// assert_eq!(lines, render_rows(&parameters, Split::Train, 0..8));
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
#[must_use]
pub fn render_rows(parameters: &Parameters, split: Split, rows: Range<u64>) -> Vec<u8> {
    let suite = Suite::Frozen {
        seed: parameters.frozen.seed,
    };
    let generator = Generator::new(&parameters.generator, suite, split);
    let mut drawn = DrawnEpisode::default();
    let mut components = Vec::new();
    let mut lines = String::new();
    for index in rows {
        generator.draw_into(index, &mut drawn);
        generator.components_into(&drawn, &mut components);
        EpisodeRecord::from_drawn(split, &drawn, &components).write_json_line(&mut lines);
    }
    lines.into_bytes()
}

/// The lines of a split, rendered on all threads; the bytes do not depend on how many.
#[must_use]
pub fn render_split(parameters: &Parameters, split: Split) -> Vec<u8> {
    let rows = parameters.frozen.episodes(split);
    let shards: Vec<Vec<u8>> = (0..rows.div_ceil(SHARD))
        .into_par_iter()
        .map(|shard| {
            let start = shard * SHARD;
            render_rows(parameters, split, start..(start + SHARD).min(rows))
        })
        .collect();
    shards.concat()
}

/// All files of frozen data: a file a split, in the order of [`Split::ALL`], and the manifest last.
///
/// Whoever writes them should write the manifest last too: a directory without one does not load.
#[must_use]
pub fn render_all(parameters: &Parameters) -> Vec<FrozenFile> {
    let mut files: Vec<FrozenFile> = Split::ALL
        .into_par_iter()
        .map(|split| FrozenFile {
            name: file_name(split),
            bytes: render_split(parameters, split),
        })
        .collect();
    let entries = Split::ALL.into_iter().zip(&files);
    let entries = entries.map(|(split, file)| FileEntry::of(split, &file.bytes));
    let manifest = Manifest::new(
        parameters.frozen.seed,
        parameters.generator.clone(),
        entries.collect(),
    );
    files.push(FrozenFile {
        name: MANIFEST_FILE.to_owned(),
        bytes: render_manifest(&manifest),
    });
    files
}

#[expect(
    clippy::expect_used,
    reason = "a manifest holds text, finite numbers and lists, which all have a JSON form"
)]
fn render_manifest(manifest: &Manifest) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(manifest).expect("a manifest serialises");
    bytes.push(b'\n');
    bytes
}

/// Frozen data that matches its manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct FrozenData {
    directory: PathBuf,
    manifest: Manifest,
    splits: [Vec<EpisodeRecord>; 4],
}

impl FrozenData {
    /// Loads a data directory: the manifest first, then each file, whose size, digest and number of rows must be
    /// those that the manifest states.
    ///
    /// # Errors
    ///
    /// The first file, in the order of the manifest, that cannot be read or does not hold; the error names it.
    pub fn load(directory: &Path) -> Result<Self, DataError> {
        let manifest = load_manifest(directory)?;
        let mut splits = [const { Vec::new() }; 4];
        for ((split, entry), records) in Split::ALL
            .into_iter()
            .zip(manifest.files())
            .zip(&mut splits)
        {
            let path = directory.join(entry.name());
            let bytes = read(&path)?;
            let name = path.display().to_string();
            let parsed = read_episodes(&name, &bytes);
            let found = FileEntry::of(split, &bytes);
            if found.bytes() != entry.bytes() || found.sha256() != entry.sha256() {
                return Err(DataError::Corrupted {
                    file: name,
                    expected: Box::new(entry.clone()),
                    found: Box::new(found),
                    line: parsed.err().map(Box::new),
                });
            }
            *records = parsed?;
            if records.len() as u64 != entry.rows() {
                return Err(DataError::Rows {
                    file: name,
                    expected: entry.rows(),
                    found: records.len(),
                });
            }
        }
        Ok(Self {
            directory: directory.to_owned(),
            manifest,
            splits,
        })
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The records of a split, in file order.
    #[must_use]
    pub fn records(&self, split: Split) -> &[EpisodeRecord] {
        &self.splits[split as usize]
    }

    /// The episodes of a split by index, in file order.
    ///
    /// # Errors
    ///
    /// A record has more actions than can be decided on; the error names its file and line.
    pub fn episodes(&self, split: Split) -> Result<Vec<Episode>, RecordError> {
        let episode = |(at, record): (usize, &EpisodeRecord)| {
            record.to_episode().map_err(|error| RecordError {
                file: self.directory.join(file_name(split)).display().to_string(),
                line: at + 1,
                problem: LineProblem::Field(FieldError::from(error)),
            })
        };
        self.records(split)
            .iter()
            .enumerate()
            .map(episode)
            .collect()
    }
}

/// Regenerates all files and compares them with those of a directory, byte by byte.
///
/// # Errors
///
/// The first file that cannot be read or differs, and the first line in which it does.
pub fn compare(parameters: &Parameters, directory: &Path) -> Result<(), DataError> {
    for file in render_all(parameters) {
        let path = directory.join(&file.name);
        let found = read(&path)?;
        if found != file.bytes {
            let ours = file.bytes.split(|byte| *byte == b'\n');
            let theirs = found.split(|byte| *byte == b'\n');
            let equal = ours.zip(theirs).take_while(|(a, b)| a == b).count();
            return Err(DataError::Differs {
                file: path.display().to_string(),
                line: equal + 1,
            });
        }
    }
    Ok(())
}

fn load_manifest(directory: &Path) -> Result<Manifest, DataError> {
    let path = directory.join(MANIFEST_FILE);
    let bytes = read(&path)?;
    let fail = |error| DataError::Manifest {
        file: path.display().to_string(),
        error,
    };
    json::from_slice(&bytes).map_err(fail)
}

fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    std::fs::read(path).map_err(|source| DataError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Frozen data that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file is missing, is a directory or cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The manifest does not hold.
    #[error("`{file}` {error}")]
    Manifest {
        /// The manifest's file.
        file: String,
        /// The line, the field, and what is wrong with it.
        error: json::JsonError,
    },
    /// A file is not the one that the manifest describes.
    #[error("`{file}` is corrupted: {} bytes with sha-256 {}, the manifest says {} with {}{}",
        found.bytes(), found.sha256(), expected.bytes(), expected.sha256(),
        line.as_ref().map(|error| format!("; {error}")).unwrap_or_default())]
    Corrupted {
        /// The file.
        file: String,
        /// What the manifest says.
        expected: Box<FileEntry>,
        /// What the file is.
        found: Box<FileEntry>,
        /// The first line that does not hold, if there is one.
        line: Option<Box<RecordError>>,
    },
    /// A file has the digest but not the number of rows of the manifest.
    #[error("`{file}` has {found} rows, the manifest says {expected}")]
    Rows {
        /// The file.
        file: String,
        /// Rows in the manifest.
        expected: u64,
        /// Rows of the file.
        found: usize,
    },
    /// A line does not hold although the file is the one that the manifest describes.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A file is not what the generator gives.
    #[error("`{file}` line {line} differs from what the generator gives")]
    Differs {
        /// The file.
        file: String,
        /// Number of the first line that differs, from 1.
        line: usize,
    },
}
