//! Commit, probe or fall back: the controller as a state machine without input or output.

use crate::action::release;
use crate::case::Ungoverned;
use crate::certificate::Certificate;
use crate::fallback::{Fallback, Fault, Reason};
use crate::plausible::{Plausibility, Retained};
use crate::probing::Planner;
use crate::problem::Problem;
use crate::report::{Report, ReportError};
use crate::settings::{Settings, Verification};
use crate::shrinkage::{ProbeChoice, Scan};
use safecommit_conformal::{Guarantee, Score, Threshold};

mod release;
mod stop;
mod verify;

/// Decides one [`Problem`]. Ask it for the [`next step`](Self::next_step); tell it what came of a
/// probe ([`observe`](Self::observe), [`probe_failed`](Self::probe_failed)) or of time
/// ([`elapse`](Self::elapse)); ask again.
///
/// The rule is that of Akewar and Ranjan, arXiv:2608.04289: commit the certified action with the
/// largest reward - lambda * severity (Eq. 10, 11), else probe where the expected certificate shrinkage
/// per unit cost is largest (Eq. 12, 13) and above eta, else fall back. Other rules for the choice of the
/// probe are in [`crate::Probing`].
///
/// It reads no file, clock or random number (Sans I/O), and after the first use of a [`Workspace`] it
/// allocates nothing. Any error ends in a fallback: a wrong report and a [`fault`](Self::fail) both make
/// every later step an escalation (Errors never commit). So does a threshold that bounds the loss of another
/// policy than its settings ([`Fault::OtherPolicy`]).
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Controller, Cost, Fate, OutcomeModel, Probability, Problem, Settings, Step, Subject, YES,
///     Workspace,
/// };
///
/// let mut problem = Problem::new(Subject([1; 32]));
/// let delete = problem.add_action(Action::default())?;
/// let publish = problem.add_action(Action::default())?;
/// let temporary = problem.add_world(Score::new(0.1)?, [delete])?;
/// let shared = problem.add_world(Score::new(0.2)?, [publish])?;
/// let model = OutcomeModel::Identity { world: temporary };
/// let check = problem.add_probe(Cost::UNIT, Probability::ZERO, model)?;
///
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// assert!(matches!(controller.next_step(), Step::Probe(choice) if choice.probe == check));
/// controller.observe(check, YES)?;
/// let Step::Commit(certificate) = controller.next_step() else {
///     panic!("deleting is safe in the one world left");
/// };
/// assert_eq!(controller.redeem(certificate, delete)?, delete);
/// assert_eq!(controller.fates()[shared], Fate::Refuted { probe: check });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Controller<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    threshold: &'a Threshold,
    workspace: &'a mut Workspace,
    /// Why no calibration governs the case that it was started for.
    refusal: Option<Ungoverned>,
}

/// Memory that a [`Controller`] works in; reuse it for the next decision.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    retained: Retained,
    /// Every proposed world that hard evidence and the answers leave, whatever its score; filled when
    /// certificates are verified, and where scores are relative.
    unrefuted: Retained,
    reopened: bool,
    fates: Vec<Fate>,
    history: Vec<Report>,
    made: Vec<bool>,
    scan: Scan,
    pub(crate) planner: Planner,
    cost_spent: f64,
    steps_spent: u64,
    fault: Option<Fault>,
    released: bool,
}

impl Workspace {
    /// Reopens the plausible set ([`Verification`]) when answers have refuted all of it. A set that was
    /// empty before any answer stays empty: nothing refuted it, so nothing speaks for the rest.
    fn reopen_if_refuted(&mut self) {
        let refuted = |fate: &Fate| matches!(fate, Fate::Refuted { .. });
        if !self.retained.members.is_empty() || !self.fates.iter().any(refuted) {
            return;
        }
        std::mem::swap(&mut self.retained, &mut self.unrefuted);
        for &world in &self.retained.members {
            self.fates[world as usize] = Fate::Retained;
        }
        self.reopened = true;
    }

    /// Takes the worlds into the plausible set that are no stranger than the threshold allows now that better explanations are
    /// refuted ([`Settings::with_relative_scores`]).
    fn take_in_what_is_no_stranger(&mut self, problem: &Problem, threshold: &Threshold) {
        if threshold.is_unbounded() {
            return;
        }
        let smallest = self.unrefuted.smallest_score(problem);
        let (Some(first), Some(smallest)) = (problem.support().scores_left().min(), smallest)
        else {
            return;
        };
        if smallest <= first {
            return;
        }
        let Self {
            retained,
            unrefuted,
            fates,
            ..
        } = self;
        retained.fill_from(unrefuted, problem, |world| {
            let score = relative_score(problem.scores()[world], first, smallest);
            let kept = fates[world] == Fate::Retained || threshold.retains(score);
            if kept {
                fates[world] = Fate::Retained;
            }
            kept
        });
    }

    /// Where the proposed worlds of the last decision stand, by position; still there when its
    /// controller is gone.
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }
}

/// Whether worlds above the threshold are needed once answers have come.
fn looks_past_the_threshold(settings: &Settings) -> bool {
    settings.verification() != Verification::Never || settings.relative_scores()
}

/// A score where the smallest one has risen from `first` to `smallest`. What two subtractions round off counts for the world.
pub(crate) fn relative_score(score: Score, first: Score, smallest: Score) -> Score {
    let relative = score.value() - (smallest.value() - first.value());
    // A difference of finite scores that is none retains the world wherever anything is retained.
    Score::new(relative - ROUNDING).unwrap_or(first)
}

/// Scores that differ by so little are one.
const ROUNDING: f64 = 1e-9;

/// What to do next.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Execute this action: it is safe in every plausible world.
    Commit(Certificate),
    /// Make this probe and report what came of it.
    Probe(ProbeChoice),
    /// Do not act.
    Fallback(Fallback),
}

/// Where a proposed world stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// In the plausible set.
    Retained,
    /// Removed by hard evidence, before the threshold.
    Contradicted,
    /// Its score exceeds the threshold.
    AboveThreshold,
    /// The outcome of this probe is impossible in it.
    Refuted {
        /// Position of the probe.
        probe: usize,
    },
}

impl<'a> Controller<'a> {
    /// Starts on `problem`: removes what hard evidence contradicts, keeps the worlds whose score is at
    /// most `threshold`. If that is for the decisions of one policy, `settings` have to be that policy.
    pub fn start(
        problem: &'a Problem,
        settings: &'a Settings,
        threshold: &'a Threshold,
        workspace: &'a mut Workspace,
    ) -> Self {
        let mut controller = Self::begin(problem, settings, threshold, workspace);
        if let Some(calibrated) = threshold.guarantee().and_then(Guarantee::policy) {
            let decided = settings.digest();
            if calibrated != decided {
                controller.fail(Fault::OtherPolicy {
                    calibrated,
                    decided,
                });
            }
        }
        controller
    }

    /// [`Self::start`] without a look at the policy, for what only asks which worlds are plausible.
    pub(crate) fn begin(
        problem: &'a Problem,
        settings: &'a Settings,
        threshold: &'a Threshold,
        workspace: &'a mut Workspace,
    ) -> Self {
        let support = problem.support();
        workspace.fates.clear();
        workspace.fates.extend((0..problem.worlds()).map(|world| {
            if support.contradicted[world] {
                Fate::Contradicted
            } else if threshold.retains(support.scores[world]) {
                Fate::Retained
            } else {
                Fate::AboveThreshold
            }
        }));
        let fates = &workspace.fates;
        workspace
            .retained
            .fill(problem, |world| fates[world] == Fate::Retained);
        if looks_past_the_threshold(settings) {
            let unrefuted = &mut workspace.unrefuted;
            unrefuted.fill(problem, |world| fates[world] != Fate::Contradicted);
        }
        workspace.reopened = false;
        workspace.history.clear();
        workspace.history.reserve(problem.probes().len());
        workspace.made.clear();
        workspace.made.resize(problem.probes().len(), false);
        workspace.cost_spent = 0.0;
        workspace.steps_spent = 0;
        workspace.fault = problem.fault();
        workspace.released = false;
        Self {
            problem,
            settings,
            threshold,
            workspace,
            refusal: None,
        }
    }

    /// The next step: if any action is certified, its commit, or before that the probe that verifies its
    /// certificate ([`Verification`]); else the best probe; else a fallback. It changes nothing, so asking
    /// twice gives the same answer.
    pub fn next_step(&mut self) -> Step {
        let plausible = match self.view() {
            Plausibility::Plausible(plausible) => plausible,
            Plausibility::Empty => return Step::Fallback(Fallback::from(self.why_empty())),
            Plausibility::Faulty(fault) => {
                return Step::Fallback(Fallback::from(Reason::Error(fault)));
            }
        };
        let certified = plausible.certified();
        let weight = self.settings.severity_weight();
        if let Some(action) = release(&certified, self.problem.actions(), weight) {
            let verdict = plausible.certify(action);
            return match self.verifying_probe(action) {
                Ok(Some(choice)) => Step::Probe(choice),
                Ok(None) => match verdict {
                    Ok(certificate) => Step::Commit(certificate),
                    Err(_) => Step::Fallback(Fallback::from(Reason::Error(Fault::Inconsistent))),
                },
                Err(reason) => Step::Fallback(Fallback::from(reason)),
            };
        }
        match self.choose_probe() {
            Ok(choice) => Step::Probe(choice),
            Err(reason) => Step::Fallback(Fallback::from(reason)),
        }
    }

    /// Reports the outcome of a probe. It removes exactly the plausible worlds in which that outcome
    /// is impossible, and multiplies the weights of the others by its probability.
    ///
    /// # Errors
    ///
    /// [`ReportError`]; from then on the controller escalates.
    pub fn observe(&mut self, probe: usize, outcome: usize) -> Result<(), ReportError> {
        let description = self.book(probe)?;
        let outcomes = description.outcomes();
        if outcome >= outcomes {
            return self.refuse(ReportError::UndeclaredOutcome {
                probe,
                outcome,
                outcomes,
            });
        }
        self.workspace.history.push(Report {
            probe,
            outcome: Some(outcome),
        });
        let problem = self.problem;
        let likelihood = |world| problem.outcomes().likelihood(description, world, outcome);
        let workspace = &mut *self.workspace;
        let fates = &mut workspace.fates;
        workspace
            .retained
            .condition(likelihood, |world| fates[world] = Fate::Refuted { probe });
        if looks_past_the_threshold(self.settings) && !workspace.reopened {
            workspace.unrefuted.condition(likelihood, |_| ());
            if self.settings.relative_scores() {
                workspace.take_in_what_is_no_stranger(problem, self.threshold);
            }
            if self.settings.verification() != Verification::Never {
                workspace.reopen_if_refuted();
            }
        }
        Ok(())
    }

    /// Reports that a probe failed or ran out of time: it removes no world, and its cost is spent.
    ///
    /// # Errors
    ///
    /// [`ReportError`]; from then on the controller escalates.
    pub fn probe_failed(&mut self, probe: usize) -> Result<(), ReportError> {
        self.book(probe)?;
        self.workspace.history.push(Report {
            probe,
            outcome: None,
        });
        Ok(())
    }

    /// Says that `steps` steps of the time budget have passed.
    pub fn elapse(&mut self, steps: u64) {
        self.workspace.steps_spent = self.workspace.steps_spent.saturating_add(steps);
    }

    /// Reports an error on the decision path. The first one stays the reason; nothing is committed
    /// after it.
    pub fn fail(&mut self, fault: Fault) {
        self.workspace.fault.get_or_insert(fault);
    }

    /// The plausible set as it stands, weights included. After an error there is none
    /// ([`Plausibility::Faulty`]), since whoever holds one may ask it for a certificate.
    pub fn plausible(&mut self) -> Plausibility<'_> {
        self.weigh();
        self.view()
    }

    /// Expected certificate shrinkage of every probe not made yet, in their order, whether or not the
    /// budget allows it; empty without a plausible world or a candidate action.
    pub fn shrinkages(&mut self) -> Vec<ProbeChoice> {
        if !matches!(self.plausible(), Plausibility::Plausible(_))
            || self.problem.actions().is_empty()
        {
            return Vec::new();
        }
        let workspace = &mut *self.workspace;
        workspace.scan.prepare(self.problem, &workspace.retained);
        (0..self.problem.probes().len())
            .filter(|&probe| !workspace.made[probe])
            .map(|probe| {
                workspace
                    .scan
                    .value(self.problem, &workspace.retained, probe)
            })
            .collect()
    }

    /// Where every proposed world stands, by position.
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.workspace.fates
    }

    /// The probes made so far and what came of them.
    #[must_use]
    pub fn history(&self) -> &[Report] {
        &self.workspace.history
    }

    /// Whether the plausible set was reopened; see [`Verification`].
    #[must_use]
    pub fn is_reopened(&self) -> bool {
        self.workspace.reopened
    }

    /// The threshold that the controller was started with.
    #[must_use]
    pub fn threshold(&self) -> &'a Threshold {
        self.threshold
    }

    /// The problem being decided.
    #[must_use]
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// The error reported first, if any.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.workspace.fault
    }

    /// The plausible set without fresh weights, unless an error was reported (Errors never commit).
    pub(crate) fn view(&self) -> Plausibility<'_> {
        match self.workspace.fault {
            Some(fault) => Plausibility::Faulty(fault),
            None => self.remaining(),
        }
    }

    /// What is left of the support, error or not: for the record, which releases nothing.
    pub(crate) fn remaining(&self) -> Plausibility<'_> {
        self.workspace.retained.plausibility(
            self.problem,
            self.threshold_in_force(),
            self.workspace.history.len(),
        )
    }

    /// A reopened set excludes nothing by its score.
    fn threshold_in_force(&self) -> &'a Threshold {
        if self.workspace.reopened {
            Threshold::unbounded()
        } else {
            self.threshold
        }
    }

    pub(crate) fn weigh(&mut self) {
        self.workspace
            .retained
            .weigh(self.problem, self.settings.temperature());
    }

    /// Books a probe as made, with its cost.
    fn book(&mut self, probe: usize) -> Result<&'a crate::probe::Probe, ReportError> {
        let Some(description) = self.problem.probes().get(probe) else {
            return self.refuse(ReportError::UnknownProbe { probe });
        };
        if std::mem::replace(&mut self.workspace.made[probe], true) {
            return self.refuse(ReportError::ReportedTwice { probe });
        }
        self.workspace.cost_spent += description.cost().value();
        Ok(description)
    }

    fn refuse<T>(&mut self, error: ReportError) -> Result<T, ReportError> {
        self.fail(Fault::Report(error));
        Err(error)
    }
}
