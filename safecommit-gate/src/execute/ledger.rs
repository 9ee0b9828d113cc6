//! What the lines of a journal say.
//!
//! A line is the SHA-256 of the line before (of nothing, for the first) and of its own JSON, in hexadecimal, a
//! space, and the JSON. A last line that is not whole was never answered by an effect, and does not count; any other
//! damage is an error that names the line.

use std::collections::BTreeMap;

use super::error::ExecuteError;
use super::kept::Kept;
use super::receipt::{JournalEntry, Resolution};
use super::record::{Effect, Record};
use crate::files::Digest;

/// What a journal says as a whole.
pub(super) struct Ledger {
    /// Bytes of the whole lines.
    length: u64,
    chain: Digest,
    entries: BTreeMap<u64, Entry>,
    workspace: Option<String>,
    /// What its key gives.
    key: Option<Digest>,
}

/// What it says about one entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) subject: Option<Digest>,
    pub(super) undoes: Option<u64>,
    pub(super) effect: Effect,
    /// The name under which it is worked on, beside the target.
    pub(super) hidden: String,
    pub(super) staged: Option<Kept>,
    pub(super) copied: bool,
    pub(super) resolution: Option<Resolution>,
    pub(super) emptied: bool,
}

const CHECKSUM: usize = 64;

impl Ledger {
    /// Reads whole lines. Where a last line that is not whole begins, says [`Self::length`].
    pub(super) fn read(text: &[u8]) -> Result<Self, ExecuteError> {
        let mut ledger = Self {
            length: 0,
            chain: Digest::of_bytes(b""),
            entries: BTreeMap::new(),
            workspace: None,
            key: None,
        };
        let mut rest = text;
        let mut number = 0;
        while !rest.is_empty() {
            number += 1;
            let refuse = |problem: String| ExecuteError::Journal {
                line: number,
                problem,
            };
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (line, after) = match end {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            match ledger.check(line).filter(|_| end.is_some()) {
                Some((chain, json)) => {
                    let record = serde_json::from_slice(json);
                    let record = record.map_err(|error| refuse(error.to_string()))?;
                    let noted = ledger.note(record, chain, line.len() as u64 + 1);
                    noted.map_err(|problem| refuse(problem.to_owned()))?;
                }
                None if after.is_empty() => break,
                None => return Err(refuse("the checksum is wrong".to_owned())),
            }
            rest = after;
        }
        Ok(ledger)
    }

    /// The next line with its end, and the checksum with which it begins.
    pub(super) fn line_of(&self, record: &Record) -> Result<(Digest, Vec<u8>), ExecuteError> {
        let json = serde_json::to_vec(record).map_err(|error| ExecuteError::Journal {
            line: 0,
            problem: error.to_string(),
        })?;
        let chain = chained(&self.chain, &json);
        let mut line = chain.to_string().into_bytes();
        line.push(b' ');
        line.extend_from_slice(&json);
        line.push(b'\n');
        Ok((chain, line))
    }

    /// Takes in a line of this many bytes.
    pub(super) fn note(
        &mut self,
        record: Record,
        chain: Digest,
        bytes: u64,
    ) -> Result<(), &'static str> {
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
            (Record::Keyed { .. }, _) if self.key.is_some() => return Err("the key stands twice"),
            (Record::Keyed { check }, _) => self.key = Some(check),
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
                    emptied: false,
                };
                self.entries.insert(entry, entry_of_line);
            }
            (Record::Staged { staged, .. }, Some(entry)) => entry.staged = Some(staged),
            (Record::Copied { .. }, Some(entry)) => entry.copied = true,
            (Record::Done { resolution, .. }, Some(entry)) => entry.resolution = Some(resolution),
            (Record::Emptied { .. }, Some(entry)) if entry.resolution.is_none() => {
                return Err("what is not settled was emptied");
            }
            (Record::Emptied { .. }, Some(entry)) => entry.emptied = true,
            (Record::Intent { .. }, Some(_)) => return Err("the entry stands twice"),
            (_, None) => return Err("the entry was not announced"),
        }
        self.chain = chain;
        self.length += bytes;
        Ok(())
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn entries(&self) -> &BTreeMap<u64, Entry> {
        &self.entries
    }

    pub(super) fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// What the key gives that it was written under; `None` from before there was one.
    pub(super) fn key(&self) -> Option<Digest> {
        self.key
    }

    /// The entry that undid another one.
    pub(super) fn undone_by(&self, entry: u64) -> Option<u64> {
        let mut entries = self.entries.iter();
        let undoing = entries.find(|(_, later)| {
            later.undoes == Some(entry) && later.resolution == Some(Resolution::Done)
        });
        undoing.map(|(&number, _)| number)
    }

    /// The entries in their order, for people.
    pub(super) fn describe(&self) -> Vec<JournalEntry> {
        let describe = |(&number, entry): (&u64, &Entry)| {
            let (path, to) = entry.effect.paths();
            JournalEntry {
                entry: number,
                effect: match entry.effect {
                    Effect::Take {
                        permanent: true, ..
                    } => "remove",
                    Effect::Take { .. } => "take",
                    Effect::Put { .. } => "put",
                    Effect::Replace { .. } => "replace",
                    Effect::Move { .. } => "move",
                },
                path: path.to_owned(),
                to: to.map(str::to_owned),
                subject: entry.subject,
                undoes: entry.undoes,
                undone_by: self.undone_by(number),
                resolution: entry.resolution,
                emptied: entry.emptied,
            }
        };
        self.entries.iter().map(describe).collect()
    }

    fn check<'l>(&self, line: &'l [u8]) -> Option<(Digest, &'l [u8])> {
        let (checksum, json) = (line.get(..CHECKSUM)?, line.get(CHECKSUM + 1..)?);
        let chain = chained(&self.chain, json);
        (line[CHECKSUM] == b' ' && checksum == chain.to_string().as_bytes())
            .then_some((chain, json))
    }
}

fn chained(previous: &Digest, json: &[u8]) -> Digest {
    Digest::of_bytes(&[previous.bytes().as_slice(), json].concat())
}
