//! Actions on files as a domain of the gate.

use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;

use super::describe::describe;
use super::facts::{Known, Named, OF_AUTHORITY, Overwrite, of_candidate, path_of, suffix};
use super::proposal::{Asked, FileRequest};
use crate::domain::{
    Answer, Candidate, Clarifications, Domain, DomainError, Frame, OfferedProbe, SideEffect,
};
use crate::evidence::{BeliefRule, Concern, Inconsistency};
use crate::execute::{Content, Deletion, FileAction, Probed, TargetPath};
use crate::files::{
    FileError, FileProbe, FileQuestion, FileSettings, ProbeOutcome, Proposed, Target, Workspace,
};

/// The name of the family of actions on files.
pub(super) const FAMILY: &str = "file";

/// What is said of a candidate that cannot be carried out; why stands in the details.
const REFUSED: &str = "it cannot be carried out";

/// What is said of a candidate if the time of the decision is up before it is known what it is about.
const OUT_OF_TIME: &str = "the time of the decision was up before it was known what is there";

/// What the domain of files needs to know of the gate.
#[derive(Clone, Debug)]
pub struct FileDomainSettings {
    /// Probes, with their costs, timeouts and error rates.
    pub probes: Vec<FileProbe>,
    /// What probes need to know. When a target was remembered is found in the evidence.
    pub files: FileSettings,
    /// What asking persons costs, and how often they are wrong.
    pub clarifications: Clarifications,
    /// How evidence becomes terms of the score.
    pub beliefs: BeliefRule,
    /// How grave each action is: delete, overwrite, move, write; finite, at least zero.
    pub severity: [f64; 4],
    /// What becomes of what is deleted; policies see a permanent deletion as one that is not `reversible`.
    pub deletion: Deletion,
    /// On whose behalf actions are, as policies see it.
    pub principal: String,
    /// Files and directories that no action may touch: what the gate itself rests on.
    pub guarded: Vec<PathBuf>,
}

/// The candidates of one request, with their targets held open.
///
/// [`FileGate`](super::FileGate) makes one for each decision; a program that decides without a log does so itself.
#[derive(Debug)]
pub struct FileDomain<'g> {
    workspace: &'g Workspace,
    settings: &'g FileDomainSettings,
    request: &'g FileRequest,
    targets: Vec<Opened>,
    /// What each candidate is about.
    probed: Vec<Result<Probed, String>>,
    made_by: Vec<MadeBy>,
}

#[derive(Debug)]
struct Opened {
    path: TargetPath,
    target: Result<Target, FileError>,
    settings: FileSettings,
}

/// Who answers a probe of the frame.
#[derive(Clone, Debug)]
enum MadeBy {
    System {
        target: usize,
        /// The candidate that it is about, if it is not about the target alone.
        overwrite: Option<usize>,
        probe: FileProbe,
    },
    /// What the person answered, if anything.
    Person(Answer),
}

impl FileDomainSettings {
    /// How grave an action is.
    #[must_use]
    pub fn severity_of(&self, action: &FileAction) -> f64 {
        let [delete, overwrite, move_to, write] = self.severity;
        match action {
            FileAction::Delete { .. } => delete,
            FileAction::Overwrite { .. } => overwrite,
            FileAction::Move { .. } => move_to,
            FileAction::Write { .. } => write,
        }
    }
}

impl<'g> FileDomain<'g> {
    /// Opens the targets and finds out what they are, before any probe: whatever the probes say is about these, or nothing
    /// is released.
    #[must_use]
    pub fn new(
        workspace: &'g Workspace,
        settings: &'g FileDomainSettings,
        request: &'g FileRequest,
    ) -> Self {
        Self::until(workspace, settings, request, None)
    }

    /// The same until the time of the decision is up. Of which candidate it is not known by then what it is about, that one
    /// cannot be carried out: what probes find later would be about nothing that is known.
    #[must_use]
    pub fn until(
        workspace: &'g Workspace,
        settings: &'g FileDomainSettings,
        request: &'g FileRequest,
        until: Option<Instant>,
    ) -> Self {
        let mut paths: Vec<TargetPath> = Vec::new();
        for action in request.actions() {
            for path in action.paths() {
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
        }
        let targets = paths.into_iter().map(|path| Opened {
            target: workspace.target(path.as_str()),
            settings: settings.files.clone(),
            path,
        });
        let targets: Vec<Opened> = targets.collect();
        let guarded = Guarded::below(workspace.path(), &settings.guarded);
        let opened = |path: &TargetPath| {
            let mut known = targets.iter();
            let opened = known.find(|opened| opened.path == *path);
            let opened = opened.ok_or_else(|| "there is no such target".to_owned())?;
            opened.target.as_ref().map_err(ToString::to_string)
        };
        let probed = request.actions().map(|action| {
            if action.paths().any(|path| guarded.is_touched_by(path)) {
                return Err("it touches what the gate itself rests on".to_owned());
            }
            let to = match action {
                FileAction::Move { to, .. } => Some(opened(to)?),
                _ => None,
            };
            let mut limits = settings.files.limits;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            limits.time = left.map_or(limits.time, |left| left.min(limits.time));
            let probed = action.probe_at(opened(action.path())?, to, &limits);
            probed.map_err(|error| match error {
                FileError::TimedOut(_) if until.is_some_and(|until| Instant::now() >= until) => {
                    OUT_OF_TIME.to_owned()
                }
                error => error.to_string(),
            })
        });
        let probed = probed.collect();
        Self {
            workspace,
            settings,
            request,
            targets,
            probed,
            made_by: Vec::new(),
        }
    }

    /// What a candidate is about, for the executor; why it cannot be carried out otherwise.
    ///
    /// # Errors
    ///
    /// The reason, in words.
    pub fn probed(&self, action: usize) -> Result<&Probed, &str> {
        match self.probed.get(action) {
            Some(Ok(probed)) => Ok(probed),
            Some(Err(reason)) => Err(reason),
            None => Err("there is no such action"),
        }
    }

    /// The paths of the targets, in the order of their numbers.
    pub fn targets(&self) -> impl Iterator<Item = &TargetPath> {
        self.targets.iter().map(|opened| &opened.path)
    }

    /// What is the matter with the evidence, as far as it is about the targets or comes with the request: of what contains a
    /// target, or is in one, only the times count.
    pub(super) fn inconsistencies(&self, now: Timestamp) -> Vec<Inconsistency> {
        let (request, workspace) = (self.request, self.workspace.path().to_string_lossy());
        request.evidence.inconsistencies(now, |record| {
            let (id, entity) = (record.id(), record.proposition().entity());
            let path = path_of(entity, &workspace);
            let name = || path.as_ref().map_or(entity, TargetPath::as_str).to_owned();
            let of_request =
                !request.of_host.contains(id) || request.uses.iter().any(|used| used == id);
            let any_target = |is_meant: &dyn Fn(&TargetPath, &TargetPath) -> bool| {
                let mut targets = self.targets();
                path.as_ref()
                    .is_some_and(|path| targets.any(|target| is_meant(path, target)))
            };
            if of_request || any_target(&|path, target| path == target) {
                return Some(Concern::Claim(name()));
            }
            any_target(&|path, target| path.is_or_is_in(target) || target.is_or_is_in(path))
                .then_some(Concern::Time)
        })
    }

    fn position(&self, path: &TargetPath) -> usize {
        let position = self.targets.iter().position(|opened| opened.path == *path);
        position.unwrap_or(self.targets.len())
    }

    fn candidate(&self, number: usize, asked: &Asked) -> Candidate {
        let action = &asked.action;
        let settings = self.settings;
        let (principal, permanent) = (
            &settings.principal,
            settings.deletion.is_permanent_for(action),
        );
        let description = describe(action, number, principal, permanent, |path| {
            self.position(path)
        });
        // Whether it can be undone depends on the world, and of a permanent deletion it never can. So nothing is certified on
        // a support that was cut, and every certificate is verified as the settings say.
        Candidate {
            reversible: false,
            reward: asked.reward,
            severity: self.settings.severity_of(action),
            refused: self.probed[number].is_err().then(|| REFUSED.to_owned()),
            ..Candidate::new(action.candidate_name(number), description)
        }
    }

    /// The deletions that nothing undoes, by the names of their candidates.
    fn permanent(&self) -> Vec<String> {
        let actions = self.request.actions().enumerate();
        let permanent =
            actions.filter(|(_, action)| self.settings.deletion.is_permanent_for(action));
        permanent
            .map(|(number, action)| action.candidate_name(number))
            .collect()
    }

    /// The overwrites, by their numbers.
    fn overwrites(&self) -> impl Iterator<Item = (usize, &Asked)> {
        let actions = self.request.actions.iter().enumerate();
        actions.filter(|(_, asked)| matches!(asked.action, FileAction::Overwrite { .. }))
    }

    /// What some candidate would move to a path.
    fn arriving(&self, path: &TargetPath) -> Vec<&Target> {
        let moved = self.request.actions().filter_map(|action| match action {
            FileAction::Move { from, to } if to == path => Some(from),
            _ => None,
        });
        let opened =
            moved.filter_map(|from| self.targets.iter().find(|opened| opened.path == *from));
        opened
            .filter_map(|opened| opened.target.as_ref().ok())
            .collect()
    }

    fn offer(&mut self) -> Vec<OfferedProbe> {
        let mut offered = Vec::new();
        for target in 0..self.targets.len() {
            for probe in &self.settings.probes {
                let question = probe.question();
                // Without a memory there is nothing to compare with.
                if question == FileQuestion::Age && self.targets[target].settings.memory.is_none()
                    || question == FileQuestion::StagedDiff
                {
                    continue;
                }
                let id = format!("{}{}", question.name(), suffix(target, '-'));
                let of = suffix(target, '_');
                offered.push(offer(probe, id, |fact| format!("{fact}{of}")));
                self.made_by.push(MadeBy::System {
                    target,
                    overwrite: None,
                    probe: probe.clone(),
                });
            }
        }
        let mut probes = self.settings.probes.iter();
        if let Some(probe) = probes.find(|probe| probe.question() == FileQuestion::StagedDiff) {
            let made_by = self.overwrites().map(|(number, asked)| {
                let name = asked.action.candidate_name(number);
                let id = format!("{}-{name}", probe.question().name());
                offered.push(offer(probe, id, |fact| of_candidate(&name, fact)));
                MadeBy::System {
                    target: self.position(asked.action.path()),
                    overwrite: Some(number),
                    probe: probe.clone(),
                }
            });
            let made_by: Vec<MadeBy> = made_by.collect();
            self.made_by.extend(made_by);
        }
        for (clarification, path) in &self.request.clarifications {
            let of = suffix(self.position(path), '_');
            offered.push(OfferedProbe {
                cost: self.settings.clarifications.cost,
                error_rate: self.settings.clarifications.error_rate,
                question: Some(clarification.question.clone()),
                ..OfferedProbe::new(
                    clarification.id.clone(),
                    SideEffect::AsksPerson,
                    clarification
                        .reveals
                        .iter()
                        .map(|fact| format!("{fact}{of}")),
                )
            });
            let mut answers = self.request.answers.iter();
            let given = answers.find(|answer| answer.clarification == clarification.id);
            let answer = given.map_or(Answer::NotYet, |answer| {
                let found = answer.found.iter();
                Answer::Found(
                    found
                        .map(|(fact, value)| (format!("{fact}{of}"), value.clone()))
                        .collect(),
                )
            });
            self.made_by.push(MadeBy::Person(answer));
        }
        offered
    }
}

impl Domain for FileDomain<'_> {
    fn family(&self) -> &str {
        FAMILY
    }

    fn frame(&mut self, now: Timestamp) -> Result<Frame, DomainError> {
        let named: Vec<Named> = self
            .targets
            .iter()
            .map(|opened| Named {
                path: opened.path.clone(),
                expects_something: expects_something(&opened.path, self.request),
            })
            .collect();
        let overwrites: Vec<Overwrite> = self
            .overwrites()
            .map(|(number, asked)| Overwrite {
                name: asked.action.candidate_name(number),
                has_base: asked.base.is_some(),
            })
            .collect();
        let workspace = self.workspace.path().to_string_lossy();
        let known = Known::new(
            &named,
            &overwrites,
            &self.permanent(),
            &workspace,
            &self.request.evidence,
            &self.settings.beliefs,
            now,
        );
        let known = known.map_err(DomainError::new)?;
        for (opened, memory) in self.targets.iter_mut().zip(&known.memories) {
            opened.settings.memory = *memory;
        }
        let actions = self.request.actions.iter().enumerate();
        let candidates = actions
            .map(|(number, asked)| self.candidate(number, asked))
            .collect();
        let authority = (0..self.targets.len())
            .flat_map(|target| OF_AUTHORITY.map(|fact| format!("{fact}{}", suffix(target, '_'))));
        Ok(Frame {
            authority: authority.collect(),
            facts: known.facts,
            beliefs: known.beliefs,
            impossible: known.impossible,
            candidates,
            probes: self.offer(),
        })
    }

    fn make(&mut self, probe: usize) -> Answer {
        match self.made_by.get(probe) {
            None => Answer::Failed("there is no such probe".to_owned()),
            Some(MadeBy::Person(answer)) => answer.clone(),
            Some(MadeBy::System {
                target,
                overwrite,
                probe,
            }) => {
                let opened = &self.targets[*target];
                let asked = overwrite.and_then(|number| self.request.actions.get(number));
                let outcome = match &opened.target {
                    Ok(open) => {
                        let arriving = match probe.question() {
                            FileQuestion::Patterns => self.arriving(&opened.path),
                            _ => Vec::new(),
                        };
                        let proposed = Proposed {
                            arriving: &arriving,
                            content: asked
                                .and_then(|asked| asked.action.content())
                                .map(Content::bytes),
                            base: asked.and_then(|asked| asked.base),
                        };
                        probe.make_with(self.workspace, open, &proposed, &opened.settings)
                    }
                    Err(error) => ProbeOutcome::of_refused_path(error.clone()),
                };
                match overwrite.zip(asked) {
                    Some((number, asked)) => {
                        let name = asked.action.candidate_name(number);
                        answer(&outcome, |fact| of_candidate(&name, fact))
                    }
                    None => {
                        let of = suffix(*target, '_');
                        answer(&outcome, |fact| format!("{fact}{of}"))
                    }
                }
            }
        }
    }
}

/// A probe under this id, with names of its facts.
fn offer(probe: &FileProbe, id: String, name: impl Fn(&str) -> String) -> OfferedProbe {
    let question = probe.question();
    let facts = question.facts().iter();
    OfferedProbe {
        cost: probe.cost(),
        error_rate: probe.error_rate(),
        ..OfferedProbe::new(id, question.side_effect(), facts.map(|fact| name(fact)))
    }
}

fn answer(outcome: &ProbeOutcome, name: impl Fn(&str) -> String) -> Answer {
    match outcome {
        ProbeOutcome::Found(found) => {
            let found = found.iter();
            let found = found.map(|(fact, value)| (name(fact), (*value).to_owned()));
            Answer::Found(found.collect())
        }
        ProbeOutcome::Failed(error) => Answer::Failed(error.to_string()),
        ProbeOutcome::TimedOut => Answer::Failed("its time was up".to_owned()),
    }
}

/// Whether the first action that names a path acts on what is there.
fn expects_something(path: &TargetPath, request: &FileRequest) -> bool {
    let mut actions = request.actions();
    let first = actions.find(|action| action.paths().any(|named| named == path));
    first.is_some_and(|action| action.path() == path && !matches!(action, FileAction::Write { .. }))
}

/// What is guarded in the workspace.
struct Guarded {
    /// Something that contains the workspace is guarded, or something in it whose path is no text.
    everything: bool,
    below: Vec<TargetPath>,
}

impl Guarded {
    fn below(workspace: &Path, guarded: &[PathBuf]) -> Self {
        let mut all = Self {
            everything: false,
            below: Vec::new(),
        };
        let canonical = guarded
            .iter()
            .flat_map(|path| [Some(path.clone()), path.canonicalize().ok()]);
        for path in canonical.flatten() {
            all.everything |= workspace.starts_with(&path);
            let Ok(below) = path.strip_prefix(workspace) else {
                continue;
            };
            match below.to_str().map(TargetPath::new) {
                Some(Ok(path)) => all.below.push(path),
                _ => all.everything = true,
            }
        }
        all
    }

    fn is_touched_by(&self, path: &TargetPath) -> bool {
        let mut below = self.below.iter();
        self.everything
            || below.any(|guarded| path.is_or_is_in(guarded) || guarded.is_or_is_in(path))
    }
}
