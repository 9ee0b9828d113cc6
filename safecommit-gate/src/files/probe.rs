//! Probes of files: what they ask, what they cost, and which values of facts their outcome leaves.

use std::fmt;
use std::time::{Duration, Instant};

use safecommit_conformal::Digest;

use super::copies::copy_facts;
use super::error::FileError;
use super::facts::{BASE, DISCARDS, FileSettings};
use super::handle::{Target, Workspace};
use super::tree::{self, Found};
use super::{age, git, staged};
use crate::domain::SideEffect;
use crate::fact::{Assignment, Facts};

/// What a probe of a file asks. Each reveals its facts to the last one, or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileQuestion {
    /// What stands at the name and who may write it: `kind`, `writable_by`.
    Status,
    /// Where it leads: `location`.
    Location,
    /// What a walk over it finds: `leaves_tree`, `owner`.
    Tree,
    /// What the last commit has of it: `tracked`.
    Repository,
    /// Whether its content is elsewhere too: `only_copy`.
    Copies,
    /// Whether it was changed since a memory: `changed_since_memory`. Fails with [`FileError::Replaced`] if it was not, but
    /// may have come to its place since, with a directory on the way.
    Age,
    /// Whether it matches patterns: `protected`, `secret`.
    Patterns,
    /// Whether a staged move could be made: `reversible`.
    DryRun,
    /// Whether new content keeps what is there, and was made from it: `discards`, `base`. It is asked of an overwrite, not
    /// of a target alone ([`FileProbe::make_for_overwrite`]).
    StagedDiff,
}

/// A probe of a file: a question with its cost, timeout and error rate.
///
/// ```
/// use safecommit_gate::{FileProbe, FileQuestion, FileSettings, Workspace, file_facts};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("run"))?;
/// std::os::unix::fs::symlink("/usr/share", folder.path().join("run/latest"))?;
/// let workspace = Workspace::open(folder.path())?;
/// let target = workspace.target("run/latest")?;
///
/// let probe = FileProbe::new(FileQuestion::Location);
/// let outcome = probe.make(&workspace, &target, &FileSettings::new()?);
/// assert_eq!(outcome.to_string(), "location=outside");
/// assert!(!outcome.leaves("location", "inside"));
/// assert!(outcome.leaves("kind", "file"), "it says nothing of the kind");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FileProbe {
    question: FileQuestion,
    cost: f64,
    timeout: Duration,
    error_rate: f64,
}

/// What candidates would do to a target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Proposed<'p> {
    /// What would be moved there: names are matched as they would be then.
    pub(crate) arriving: &'p [&'p Target],
    /// The content that would be there instead.
    pub(crate) content: Option<&'p [u8]>,
    /// The digest of what that was made from, if known.
    pub(crate) base: Option<Digest>,
}

/// A cost, timeout or error rate that a probe cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileProbeError {
    /// A cost that is not finite and above zero.
    #[error("the cost `{0}` is not finite and above zero")]
    Cost(f64),
    /// No time at all.
    #[error("the timeout is zero")]
    Timeout,
    /// An error rate that is no probability.
    #[error("the error rate `{0}` is not in [0, 1]")]
    ErrorRate(f64),
}

/// What a probe came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeOutcome {
    /// The one value that each of these facts has, in the order of [`FileQuestion::facts`]; other facts keep every value.
    Found(Vec<(&'static str, &'static str)>),
    /// It failed, and removes nothing.
    Failed(FileError),
    /// Its time was up, and it removes nothing.
    TimedOut,
}

impl FileQuestion {
    /// Every question, in the order of what their probes cost.
    pub const ALL: [Self; 9] = [
        Self::Status,
        Self::DryRun,
        Self::Location,
        Self::Age,
        Self::Tree,
        Self::Patterns,
        Self::StagedDiff,
        Self::Repository,
        Self::Copies,
    ];

    /// The name, as the id of a probe.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Location => "location",
            Self::Tree => "tree",
            Self::Repository => "repository",
            Self::Copies => "copies",
            Self::Age => "age",
            Self::Patterns => "patterns",
            Self::DryRun => "dry_run",
            Self::StagedDiff => "staged_diff",
        }
    }

    /// The facts that an answer reveals.
    #[must_use]
    pub const fn facts(self) -> &'static [&'static str] {
        match self {
            Self::Status => &["kind", "writable_by"],
            Self::Location => &["location"],
            Self::Tree => &["leaves_tree", "owner"],
            Self::Repository => &["tracked"],
            Self::Copies => &["only_copy"],
            Self::Age => &["changed_since_memory"],
            Self::Patterns => &["protected", "secret"],
            Self::DryRun => &["reversible"],
            Self::StagedDiff => &[DISCARDS, BASE],
        }
    }

    /// What asking may do.
    #[must_use]
    pub const fn side_effect(self) -> SideEffect {
        match self {
            Self::Repository => SideEffect::RunsProgram,
            Self::Copies | Self::StagedDiff => SideEffect::ReadsContent,
            _ => SideEffect::ReadsNames,
        }
    }
}

impl FileProbe {
    /// The question with its default cost and timeout, and no error rate: what the system says of its own names is not
    /// wrong. Costs are in the order of the durations, but closer together, since even the longest is short beside a
    /// question to a person: one name is looked at, then those of the target, then one file is read, then another program
    /// starts, then the whole workspace is searched.
    #[must_use]
    pub const fn new(question: FileQuestion) -> Self {
        let (cost, seconds) = match question {
            FileQuestion::Status | FileQuestion::DryRun => (1.0, 2),
            FileQuestion::Location => (2.0, 2),
            FileQuestion::Age | FileQuestion::Tree | FileQuestion::Patterns => (4.0, 10),
            FileQuestion::StagedDiff => (8.0, 10),
            FileQuestion::Repository => (16.0, 10),
            FileQuestion::Copies => (32.0, 30),
        };
        Self {
            question,
            cost,
            timeout: Duration::from_secs(seconds),
            error_rate: 0.0,
        }
    }

    /// The same with this cost, timeout and error rate.
    ///
    /// # Errors
    ///
    /// [`FileProbeError`] for a cost that is not finite and above zero, no time, and an error rate outside [0, 1].
    pub fn with(
        self,
        cost: f64,
        timeout: Duration,
        error_rate: f64,
    ) -> Result<Self, FileProbeError> {
        if !(cost.is_finite() && cost > 0.0) {
            return Err(FileProbeError::Cost(cost));
        }
        if timeout.is_zero() {
            return Err(FileProbeError::Timeout);
        }
        if !(0.0..=1.0).contains(&error_rate) {
            return Err(FileProbeError::ErrorRate(error_rate));
        }
        Ok(Self {
            cost,
            timeout,
            error_rate,
            ..self
        })
    }

    /// What it asks.
    #[must_use]
    pub const fn question(&self) -> FileQuestion {
        self.question
    }

    /// What making it costs: finite, above zero.
    #[must_use]
    pub const fn cost(&self) -> f64 {
        self.cost
    }

    /// How long it may take.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The probability that its answer is wrong, in [0, 1].
    #[must_use]
    pub const fn error_rate(&self) -> f64 {
        self.error_rate
    }

    /// Makes the probe. What is missing, denied, or vanishes meanwhile is an outcome.
    #[must_use]
    pub fn make(
        &self,
        workspace: &Workspace,
        target: &Target,
        settings: &FileSettings,
    ) -> ProbeOutcome {
        self.make_with(workspace, target, &Proposed::default(), settings)
    }

    /// The same before an overwrite of the target with this content, which was made from content with the digest `base`, if
    /// that is known: what [`FileQuestion::StagedDiff`] is about, which finds nothing without content.
    ///
    /// ```
    /// use safecommit_conformal::Digest;
    /// use safecommit_gate::{FileProbe, FileQuestion, FileSettings, Workspace};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("list"), "one\ntwo\n")?;
    /// let workspace = Workspace::open(folder.path())?;
    /// let (target, settings) = (workspace.target("list")?, FileSettings::new()?);
    ///
    /// let probe = FileProbe::new(FileQuestion::StagedDiff);
    /// let seen = Digest::of_bytes(b"one\ntwo\n");
    /// let found = |content: &[u8], base| {
    ///     probe.make_for_overwrite(&workspace, &target, content, base, &settings).to_string()
    /// };
    /// assert_eq!(found(b"one\ntwo\nthree\n", None), "discards=false base=unknown");
    /// assert_eq!(found(b"one\nthree\n", Some(seen)), "discards=true base=same");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn make_for_overwrite(
        &self,
        workspace: &Workspace,
        target: &Target,
        content: &[u8],
        base: Option<Digest>,
        settings: &FileSettings,
    ) -> ProbeOutcome {
        let proposed = Proposed {
            content: Some(content),
            base,
            ..Proposed::default()
        };
        self.make_with(workspace, target, &proposed, settings)
    }

    /// The same where candidates would do something to the target that the answer depends on.
    #[must_use]
    pub(crate) fn make_with(
        &self,
        workspace: &Workspace,
        target: &Target,
        proposed: &Proposed<'_>,
        settings: &FileSettings,
    ) -> ProbeOutcome {
        let begun = Instant::now();
        let mut limits = settings.limits;
        limits.time = limits.time.min(self.timeout);
        let outcome = ProbeOutcome::of(match self.question {
            FileQuestion::Status => tree::status_facts(target),
            FileQuestion::Location => tree::location(workspace, target),
            FileQuestion::Tree => tree::tree_facts(workspace, target, settings, &limits),
            FileQuestion::Repository => git::repository_facts(workspace, target, &limits),
            FileQuestion::Copies => copy_facts(workspace, target, &limits),
            FileQuestion::Age => age::age_facts(workspace, target, settings, &limits),
            FileQuestion::Patterns => {
                tree::pattern_facts(workspace, target, proposed.arriving, settings, &limits)
            }
            FileQuestion::DryRun => staged::dry_run_facts(workspace, target, settings),
            FileQuestion::StagedDiff => staged::staged_facts(target, proposed, &limits),
        });
        // A system that answers late may have answered about what was there before. One call cannot be broken off.
        match outcome {
            ProbeOutcome::Found(_) if begun.elapsed() > self.timeout => ProbeOutcome::TimedOut,
            in_time => in_time,
        }
    }
}

impl ProbeOutcome {
    fn of(found: Result<Found, FileError>) -> Self {
        match found {
            Ok(found) => Self::Found(found),
            Err(FileError::TimedOut(_)) => Self::TimedOut,
            Err(error) => Self::Failed(error),
        }
    }

    /// What it says about a path that is no target: one outside the workspace is found to be there, any other
    /// error tells nothing.
    #[must_use]
    pub fn of_refused_path(error: FileError) -> Self {
        match error {
            FileError::Outside(_) => Self::Found(vec![("location", "outside")]),
            other => Self::of(Err(other)),
        }
    }

    /// Whether a fact may still have a value. Only an outcome that found another value says no.
    #[must_use]
    pub fn leaves(&self, fact: &str, value: &str) -> bool {
        match self {
            Self::Found(found) => found
                .iter()
                .all(|(name, only)| *name != fact || *only == value),
            Self::Failed(_) | Self::TimedOut => true,
        }
    }

    /// Whether a world may still be the true one.
    #[must_use]
    pub fn leaves_world(&self, facts: &Facts, world: &Assignment) -> bool {
        facts.as_slice().iter().all(|fact| {
            let value = facts.value_of(world, fact.name());
            value.is_none_or(|value| self.leaves(fact.name(), value))
        })
    }
}

/// `kind=file writable_by=owner`, `nothing found`, `failed: ...` or `timed out`.
impl fmt::Display for ProbeOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(found) if found.is_empty() => out.write_str("nothing found"),
            Self::Found(found) => {
                for (at, (fact, value)) in found.iter().enumerate() {
                    write!(out, "{}{fact}={value}", if at > 0 { " " } else { "" })?;
                }
                Ok(())
            }
            Self::Failed(error) => write!(out, "failed: {error}"),
            Self::TimedOut => out.write_str("timed out"),
        }
    }
}
