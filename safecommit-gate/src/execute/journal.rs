//! The journal: an append-only file of checksummed lines, each durable before what it announces.
//!
//! A line is the SHA-256 of the line before (of nothing, for the first) and of its own JSON, in hexadecimal, a
//! space, and the JSON. A last line that is not whole was never answered by an effect, and is cut off; any other
//! damage is an error that names the line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use super::error::ExecuteError;
use super::interrupt::moment;
use super::receipt::Resolution;
use super::record::{Effect, Record};
use crate::files::{Digest, Identity};

/// What the journal says about one entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) subject: Option<Digest>,
    pub(super) undoes: Option<u64>,
    pub(super) effect: Effect,
    /// The name under which it is worked on, beside the target.
    pub(super) hidden: String,
    pub(super) staged: Option<Identity>,
    pub(super) copied: bool,
    pub(super) resolution: Option<Resolution>,
}

pub(super) struct Journal {
    file: File,
    length: u64,
    /// The last number that the trash knows, whether or not the journal does.
    above: u64,
    chain: Digest,
    entries: BTreeMap<u64, Entry>,
    workspace: Option<String>,
}

const CHECKSUM: usize = 64;

impl Journal {
    /// Reads the journal in `file`, and cuts off a last line that is not whole.
    pub(super) fn read(mut file: File) -> Result<Self, ExecuteError> {
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        read.map_err(ExecuteError::io("journal"))?;
        let mut journal = Self {
            file,
            length: 0,
            above: 0,
            chain: Digest::of_bytes(b""),
            entries: BTreeMap::new(),
            workspace: None,
        };
        let mut rest = text.as_slice();
        let mut number = 0;
        while !rest.is_empty() {
            number += 1;
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = match end {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            let checked = journal.check(line).filter(|_| end.is_some());
            match checked {
                Some((chain, json)) => {
                    let record =
                        serde_json::from_slice(json).map_err(|error| ExecuteError::Journal {
                            line: number,
                            problem: error.to_string(),
                        })?;
                    journal
                        .note(record, chain)
                        .map_err(|problem| ExecuteError::Journal {
                            line: number,
                            problem: problem.to_owned(),
                        })?;
                    journal.length += line.len() as u64 + 1;
                }
                None if after.is_empty() => break,
                None => {
                    return Err(ExecuteError::Journal {
                        line: number,
                        problem: "the checksum is wrong".to_owned(),
                    });
                }
            }
            rest = after;
        }
        if journal.length < text.len() as u64 {
            journal.cut()?;
        }
        Ok(journal)
    }

    /// Appends a line and makes it durable. A line that could not be written whole is taken back.
    pub(super) fn append(&mut self, record: Record) -> Result<(), ExecuteError> {
        let json = serde_json::to_vec(&record).map_err(|error| ExecuteError::Journal {
            line: 0,
            problem: error.to_string(),
        })?;
        let chain = chained(&self.chain, &json);
        let mut line = chain.to_string().into_bytes();
        line.push(b' ');
        line.extend_from_slice(&json);
        line.push(b'\n');
        moment();
        let start = SeekFrom::Start(self.length);
        let written = self
            .file
            .seek(start)
            .and_then(|_| self.file.write_all(&line));
        if let Err(error) = written.and_then(|()| self.file.sync_data()) {
            // If even that fails, the next start does it.
            let _ = self.cut();
            return Err(ExecuteError::io("journal")(error));
        }
        moment();
        self.length += line.len() as u64;
        self.note(record, chain)
            .map_err(|problem| ExecuteError::Journal {
                line: 0,
                problem: problem.to_owned(),
            })
    }

    pub(super) fn entries(&self) -> &BTreeMap<u64, Entry> {
        &self.entries
    }

    pub(super) fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    pub(super) fn next_entry(&self) -> u64 {
        let last = self.entries.last_key_value().map_or(0, |(&last, _)| last);
        last.max(self.above).saturating_add(1)
    }

    /// Gives later entries numbers above this one.
    pub(super) fn number_above(&mut self, last: u64) {
        self.above = self.above.max(last);
    }

    fn cut(&mut self) -> Result<(), ExecuteError> {
        let cut = self
            .file
            .set_len(self.length)
            .and_then(|()| self.file.sync_data());
        cut.map_err(ExecuteError::io("journal"))
    }

    fn check<'l>(&self, line: &'l [u8]) -> Option<(Digest, &'l [u8])> {
        let (checksum, json) = (line.get(..CHECKSUM)?, line.get(CHECKSUM + 1..)?);
        let chain = chained(&self.chain, json);
        (line[CHECKSUM] == b' ' && checksum == chain.to_string().as_bytes())
            .then_some((chain, json))
    }

    fn note(&mut self, record: Record, chain: Digest) -> Result<(), &'static str> {
        let opens = matches!(record, Record::Opened { .. });
        if opens != self.workspace.is_none() {
            return Err("the first line, and no other, says which workspace it is about");
        }
        let entry = record.entry();
        let known = entry.and_then(|entry| self.entries.get_mut(&entry));
        match (record, known) {
            (
                Record::Opened {
                    format: 1,
                    workspace,
                },
                _,
            ) => self.workspace = Some(workspace),
            (Record::Opened { .. }, _) => return Err("the format is of another version"),
            (
                Record::Intent {
                    entry,
                    subject,
                    undoes,
                    effect,
                },
                None,
            ) => {
                let entry_of_line = Entry {
                    subject,
                    undoes,
                    effect: *effect,
                    hidden: format!("{}{}", super::action::RESERVED, &chain.to_string()[..32]),
                    staged: None,
                    copied: false,
                    resolution: None,
                };
                self.entries.insert(entry, entry_of_line);
            }
            (Record::Staged { staged, .. }, Some(entry)) => entry.staged = Some(staged),
            (Record::Copied { .. }, Some(entry)) => entry.copied = true,
            (Record::Done { resolution, .. }, Some(entry)) => entry.resolution = Some(resolution),
            (Record::Intent { .. }, Some(_)) => return Err("the entry stands twice"),
            (_, None) => return Err("the entry was not announced"),
        }
        self.chain = chain;
        Ok(())
    }
}

fn chained(previous: &Digest, json: &[u8]) -> Digest {
    Digest::of_bytes(&[previous.bytes().as_slice(), json].concat())
}
