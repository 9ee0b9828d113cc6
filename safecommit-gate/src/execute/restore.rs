//! Undoing what was done.

use super::error::ExecuteError;
use super::executor::Executor;
use super::kept::{Code, Kept};
use super::receipt::{Receipt, Resolution};
use super::record::{Effect, Source};
use crate::files::Identity;

/// What makes a copy in the trash unfit to come back.
pub(super) const OTHER_IN_TRASH: &str = "the trash has something else in its place";

impl Executor {
    /// Undoes an entry; one whose undoing was undone is undone again. Nothing is overwritten: what was taken comes back
    /// only where nothing is, what was made or overwritten goes to the trash only if it still has the content that it was
    /// given, and what was moved goes back only with the same content.
    ///
    /// # Errors
    ///
    /// [`ExecuteError::NotRestorable`] for an entry that is unknown, was not done, was undone before, deleted permanently, or
    /// needs what was removed from the trash;
    /// [`ExecuteError::ChangedSince`] and [`ExecuteError::Occupied`] if the place was changed since; others as with
    /// [`execute`](Self::execute).
    pub fn restore(&mut self, entry: u64) -> Result<Receipt, ExecuteError> {
        self.expect_settled()?;
        let refuse = |problem| ExecuteError::NotRestorable { entry, problem };
        // Where undoing was itself undone, the effect stands again, and the last of the chain is what there is to undo.
        let (mut last, mut stands) = (entry, true);
        while let Some(later) = self.journal.ledger().undone_by(last) {
            (last, stands) = (later, !stands);
        }
        let done = self.journal.entries().get(&last);
        let done = done.ok_or_else(|| refuse("there is none"))?;
        if done.resolution != Some(Resolution::Done) {
            return Err(refuse("it was not done"));
        }
        if !stands {
            return Err(refuse("it was undone before"));
        }
        let entry = last;
        let effect = match done.effect.clone() {
            Effect::Take {
                permanent: true, ..
            } => return Err(refuse("it was a permanent deletion")),
            Effect::Take { path, old, .. } => {
                let new = self.source(entry, &old)?;
                Effect::Put { path, new }
            }
            Effect::Put { path, new } => {
                let old = self
                    .key
                    .kept(&self.unchanged(entry, &path, content_of(&new))?);
                // What was written goes to the trash: nobody decided to remove it for good.
                Effect::Take {
                    path,
                    old,
                    permanent: false,
                }
            }
            Effect::Replace { path, old, new } => {
                let source = self.source(entry, &old)?;
                let old = self
                    .key
                    .kept(&self.unchanged(entry, &path, content_of(&new))?);
                Effect::Replace {
                    path,
                    old,
                    new: source,
                }
            }
            Effect::Move { from, to, old } => {
                let now = self.key.kept(&self.unchanged(entry, &to, old.content)?);
                Effect::Move {
                    from: to,
                    to: from,
                    old: now,
                }
            }
        };
        let begun = self.begin(None, Some(entry), effect, None);
        let receipt = begun.map_err(|error| since(entry, error))?;
        if let Some(copied_from) = self.trashed_if_any(entry)? {
            // Across file systems it was copied back and verified. If it stays, it only takes up room.
            let _ = super::place::remove(&copied_from);
        }
        Ok(receipt)
    }

    /// What the trash keeps of an entry, if it is what was taken.
    fn source(&self, entry: u64, old: &Kept) -> Result<Source, ExecuteError> {
        let known = self.journal.entries().get(&entry);
        if known.is_some_and(|known| known.emptied) {
            return Err(ExecuteError::NotRestorable {
                entry,
                problem: "its trash was emptied",
            });
        }
        let item = self.trashed_if_any(entry)?;
        let item = match item {
            Some(item) => item.identity(&self.limits)?,
            None => None,
        };
        match item {
            Some(item) if self.key.is_content(old.content, item.content) => Ok(Source::Trash {
                entry,
                item: self.key.kept(&item),
            }),
            Some(_) => Err(ExecuteError::NotRestorable {
                entry,
                problem: OTHER_IN_TRASH,
            }),
            None => Err(ExecuteError::NotRestorable {
                entry,
                problem: "the trash does not have it any more",
            }),
        }
    }

    /// What is at the place of an entry, if it is what the entry left there.
    fn unchanged(
        &self,
        entry: u64,
        path: &str,
        content: Option<Code>,
    ) -> Result<Identity, ExecuteError> {
        let found = self.workspace.target(path)?.identity(&self.limits)?;
        let found = found.filter(|found| self.key.is_content(content, found.content));
        found.ok_or_else(|| ExecuteError::ChangedSince {
            path: path.to_owned(),
            entry,
        })
    }
}

/// Nothing was probed for an undoing: what changed at the last moment is not what the entry left either.
fn since(entry: u64, error: ExecuteError) -> ExecuteError {
    match error {
        ExecuteError::Changed(path) => ExecuteError::ChangedSince { path, entry },
        ExecuteError::Failed {
            entry: undoing,
            resolution,
            cause,
        } => ExecuteError::Failed {
            entry: undoing,
            resolution,
            cause: Box::new(since(entry, *cause)),
        },
        other => other,
    }
}

fn content_of(source: &Source) -> Option<Code> {
    match source {
        Source::Bytes { content } => Some(*content),
        Source::Trash { item, .. } => item.content,
    }
}
