//! From a certificate to an effect.

use safecommit_conformal::{Calibration, MondrianCalibration};
use safecommit_core::{Case, Certificate, CertificateError, Controller, Request};

use super::action::{Content, FileAction, Proposal};
use super::effect::Places;
use super::error::ExecuteError;
use super::executor::Executor;
use super::kept::Kept;
use super::probed::Probed;
use super::receipt::{Receipt, Resolution};
use super::record::{Effect, Record, Source};
use crate::files::{Digest, Kind, Target, walk};

/// Who issued a certificate, and redeems it.
#[derive(Debug)]
pub enum Authority<'a, 'p> {
    /// The controller of a problem whose subject is [`Proposal::subject`].
    Controller(&'a mut Controller<'p>),
    /// A request with the id [`Proposal::request_id`] and the actions [`Proposal::action_name`], all of them in their
    /// order, under one calibration or none.
    Case {
        /// The request.
        case: &'a Case,
        /// What it was decided under.
        calibration: Option<&'a Calibration>,
    },
    /// Such a request under the calibration of its stratum.
    CaseAmong {
        /// The request.
        case: &'a Case,
        /// What it was decided under.
        calibrations: &'a MondrianCalibration,
    },
}

impl Executor {
    /// Executes one action of a proposal, if the certificate is for it and what was probed is still there.
    ///
    /// `probed` is what the decision rests on ([`FileAction::probe`]): what is deleted, overwritten or moved, with the
    /// directories of both ends, or before a write that nothing is there, and in which directory.
    ///
    /// # Errors
    ///
    /// [`ExecuteError`]. Nothing was changed, unless it is [`ExecuteError::Failed`] (which says how it ended, and in
    /// nearly every case that is the old state) or [`ExecuteError::Unsettled`]. The certificate is used up either way.
    pub fn execute(
        &mut self,
        certificate: Certificate,
        authority: Authority<'_, '_>,
        proposal: &Proposal,
        action: usize,
        probed: &Probed,
    ) -> Result<Receipt, ExecuteError> {
        self.expect_settled()?;
        let expected = self.workspace.path().display().to_string();
        if proposal.context().directory != expected {
            return Err(ExecuteError::OtherWorkspace {
                found: proposal.context().directory.clone(),
                expected,
            });
        }
        let wanted = proposal
            .actions()
            .get(action)
            .ok_or(ExecuteError::NoSuchAction(action))?;
        redeem(certificate, authority, proposal, action)?;
        let subject = proposal.digest();
        let entries = self.journal.entries().iter();
        if let Some((&before, _)) = entries
            .clone()
            .find(|(_, entry)| entry.subject == Some(subject))
        {
            return Err(ExecuteError::ReleasedBefore(before));
        }
        let (effect, content) = self.effect_of(wanted, proposal.is_permanent(wanted), probed)?;
        self.begin(Some((subject, probed)), None, effect, content)
    }

    /// Checks that what was expected is there, announces the effect, causes it, and says how it ended.
    pub(super) fn begin(
        &mut self,
        released: Option<(Digest, &Probed)>,
        undoes: Option<u64>,
        effect: Effect,
        content: Option<&Content>,
    ) -> Result<Receipt, ExecuteError> {
        self.expect_settled()?;
        let (path, to) = effect.paths();
        let target = self.workspace.target(path)?;
        let to = to.map(|to| self.workspace.target(to)).transpose()?;
        for target in [Some(&target), to.as_ref()].into_iter().flatten() {
            self.check_ancestry(target)?;
        }
        if let Some((_, probed)) = released {
            probed.expect_directories(&target, to.as_ref())?;
        }
        match &effect {
            Effect::Put { .. } => expect_nothing(&target)?,
            Effect::Take { old, .. } | Effect::Replace { old, .. } | Effect::Move { old, .. } => {
                self.expect(&target, old)?;
            }
        }
        if let Some(to) = &to {
            expect_nothing(to)?;
            if target
                .status()?
                .is_some_and(|status| Some(status.device) != device_of(to))
            {
                return Err(ExecuteError::OtherFileSystem {
                    from: target.relative().to_owned(),
                    to: to.relative().to_owned(),
                });
            }
        }
        #[cfg(test)]
        if let Some(pause) = &mut self.pause {
            pause();
        }
        let entry = self.journal.next_entry();
        self.expect_no_slot(entry)?;
        self.journal.append(Record::Intent {
            entry,
            subject: released.map(|(subject, _)| subject),
            undoes,
            effect: Box::new(effect.clone()),
        })?;
        self.carry_out(entry, &effect, target, to, content)
    }

    fn carry_out(
        &mut self,
        entry: u64,
        effect: &Effect,
        target: Target,
        to: Option<Target>,
        content: Option<&Content>,
    ) -> Result<Receipt, ExecuteError> {
        let unsettled = |cause| ExecuteError::Unsettled {
            entry,
            cause: Box::new(cause),
        };
        let hidden = self
            .journal
            .entries()
            .get(&entry)
            .map(|begun| begun.hidden.clone());
        let hidden =
            hidden.ok_or_else(|| unsettled(ExecuteError::Changed("journal".to_owned())))?;
        let hidden = target
            .sibling(&hidden)
            .map_err(|error| unsettled(error.into()))?;
        let places = Places { target, hidden, to };
        let caused = self.cause(entry, effect, &places, content);
        let resolution = match &caused {
            Ok(()) => Resolution::Done,
            Err(_) => {
                let begun = self.journal.entries().get(&entry).cloned();
                let begun =
                    begun.ok_or_else(|| unsettled(ExecuteError::Changed("journal".to_owned())))?;
                self.settle(entry, &begun, Some(&places))
                    .map_err(unsettled)?
            }
        };
        self.journal
            .append(Record::Done { entry, resolution })
            .map_err(unsettled)?;
        let removed = match resolution {
            Resolution::Done => self.remove_if_permanent(entry),
            Resolution::RolledBack | Resolution::Superseded => Ok(()),
        };
        match caused.and(removed) {
            Ok(()) => Ok(Receipt {
                entry,
                permanent: effect.is_permanent(),
            }),
            Err(cause) => Err(ExecuteError::Failed {
                entry,
                resolution,
                cause: Box::new(cause),
            }),
        }
    }

    /// Nothing more is done after an effect that could not be settled.
    pub(super) fn expect_settled(&self) -> Result<(), ExecuteError> {
        let mut entries = self.journal.entries().iter();
        match entries.find(|(_, entry)| entry.resolution.is_none()) {
            Some((&entry, _)) => Err(ExecuteError::Unsettled {
                entry,
                cause: Box::new(ExecuteError::NotRestorable {
                    entry,
                    problem: "open the executor again",
                }),
            }),
            None => Ok(()),
        }
    }

    fn effect_of<'p>(
        &self,
        action: &'p FileAction,
        permanent: bool,
        probed: &Probed,
    ) -> Result<(Effect, Option<&'p Content>), ExecuteError> {
        let path = action.path().to_string();
        let needs = |needs| ExecuteError::Probed {
            action: action.name(),
            needs,
        };
        if !probed.is_of(action) {
            return Err(needs("what was probed at its own paths"));
        }
        let there = || {
            let found = probed.identity();
            found
                .map(|found| self.key.kept(found))
                .ok_or_else(|| needs("the identity of what was probed"))
        };
        Ok(match action {
            FileAction::Delete { .. } => (
                Effect::Take {
                    path,
                    old: there()?,
                    permanent,
                },
                None,
            ),
            FileAction::Move { to, .. } => {
                let to = to.to_string();
                (
                    Effect::Move {
                        from: path,
                        to,
                        old: there()?,
                    },
                    None,
                )
            }
            FileAction::Overwrite { content, .. } => {
                let old = there()?;
                if old.kind != Kind::File {
                    return Err(ExecuteError::NotAFile(path));
                }
                let new = Source::Bytes {
                    content: self.key.code(content.digest()),
                };
                (Effect::Replace { path, old, new }, Some(content))
            }
            FileAction::Write { .. } if probed.identity().is_some() => {
                return Err(needs("nothing at its path"));
            }
            FileAction::Write { content, .. } => {
                let new = Source::Bytes {
                    content: self.key.code(content.digest()),
                };
                (Effect::Put { path, new }, Some(content))
            }
        })
    }

    /// Refuses a target that is not what was probed, has a mount in it, or contains the state directory.
    fn expect(&self, target: &Target, old: &Kept) -> Result<(), ExecuteError> {
        let shown = || target.relative().to_owned();
        let found = target.identity(&self.limits)?;
        if !found.is_some_and(|found| self.key.is(old, &found)) {
            return Err(ExecuteError::Changed(shown()));
        }
        let Some(status) = target.status()? else {
            return Err(ExecuteError::Changed(shown()));
        };
        let (mut mount, mut state) = (false, false);
        walk(
            target,
            &status,
            &mut self.limits.begin(),
            &mut |entry, _| {
                mount |= entry.status.kind == Kind::Mount;
                state |= entry.status.is_same_object(self.state.status());
                Ok(())
            },
        )?;
        match (state, mount) {
            (true, _) => Err(ExecuteError::Protected(shown())),
            (_, true) => Err(ExecuteError::Mount(shown())),
            _ => Ok(()),
        }
    }
}

fn redeem(
    certificate: Certificate,
    authority: Authority<'_, '_>,
    proposal: &Proposal,
    action: usize,
) -> Result<(), ExecuteError> {
    let name = proposal
        .action_name(action)
        .ok_or(ExecuteError::NoSuchAction(action))?;
    match authority {
        Authority::Controller(controller) => {
            if controller.problem().subject() != proposal.subject() {
                return Err(CertificateError::OtherSubject.into());
            }
            controller.redeem(certificate, action)?;
        }
        Authority::Case { case, calibration } => {
            expect_request(case.request(), proposal)?;
            case.redeem(calibration, certificate, &name)?;
        }
        Authority::CaseAmong { case, calibrations } => {
            expect_request(case.request(), proposal)?;
            case.redeem_among(calibrations, certificate, &name)?;
        }
    }
    Ok(())
}

/// Refuses a request that is not about this proposal: its id carries the subject, and its actions are the candidates
/// one by one, since their names alone do not say what is acted on.
fn expect_request(request: &Request, proposal: &Proposal) -> Result<(), ExecuteError> {
    let refuse = |problem: String| Err(ExecuteError::OtherRequest(problem));
    let (id, expected) = (request.id.as_deref(), proposal.request_id());
    if id != Some(&expected) {
        let found = id.map_or_else(|| "is missing".to_owned(), |id| format!("is `{id}`"));
        return refuse(format!("its id {found}, expected is `{expected}`"));
    }
    let (found, expected) = (request.actions.len(), proposal.actions().len());
    if found != expected {
        return refuse(format!("it has {found} actions, expected are {expected}"));
    }
    for (at, action) in request.actions.iter().enumerate() {
        let expected = proposal.action_name(at);
        if expected.as_deref() != Some(&action.id) {
            return refuse(format!(
                "action {} is `{}`, expected is `{}`",
                at + 1,
                action.id,
                expected.unwrap_or_default()
            ));
        }
    }
    Ok(())
}

fn expect_nothing(target: &Target) -> Result<(), ExecuteError> {
    match target.status()? {
        Some(_) => Err(ExecuteError::Occupied(target.relative().to_owned())),
        None => Ok(()),
    }
}

fn device_of(target: &Target) -> Option<u64> {
    Some(crate::files::status_of_handle(target.parent()).ok()?.device)
}
