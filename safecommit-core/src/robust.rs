//! The robust certificate: an action that stays certified under every perturbation in a stated set.

use std::num::NonZeroUsize;

use safecommit_conformal::Score;
use thiserror::Error;

use crate::controller::{Controller, Workspace};
use crate::fallback::Fault;
use crate::plausible::Plausibility;
use crate::probe::Probe;
use crate::problem::{Problem, ProblemError, Subject};
use crate::settings::Settings;

/// A perturbation of the evidence or of the support construction, as the support that it yields.
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Controller, Fault, Perturbation, Problem, Settings, Subject, Workspace,
/// };
///
/// /// A proposer that also thought of one more world, in which nothing is safe.
/// struct OneMore;
///
/// impl Perturbation for OneMore {
///     fn apply(&self, problem: &Problem, perturbed: &mut Problem) -> Result<(), Fault> {
///         perturbed.clone_from(problem);
///         let added = perturbed.add_world(Score::ZERO, []);
///         added.map(|_| ()).map_err(|_| Fault::TruncatedSupport)
///     }
/// }
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// let send = problem.add_action(Action::default())?;
/// problem.add_world(Score::ZERO, [send])?;
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let controller = Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// assert!(controller.certify_robustly(send, [] as [OneMore; 0]).is_ok());
/// assert!(controller.certify_robustly(send, [OneMore]).is_err());
/// # Ok::<(), safecommit_core::ProblemError>(())
/// ```
pub trait Perturbation {
    /// Writes the problem under this perturbation into `perturbed`, which comes empty: same candidate
    /// actions and same probes in the same order, any worlds.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that kept it from being built; no certificate is given then, nor for other actions
    /// or probes.
    fn apply(&self, problem: &Problem, perturbed: &mut Problem) -> Result<(), Fault>;
}

/// The finding that an action is certified in the problem as it stands and under every perturbation
/// of a stated set.
///
/// It holds against those perturbations and no others, and it is a type of its own (the robust variant of
/// Definition 1 in Akewar and Ranjan, arXiv:2608.04289; [`EvidenceAtoms`] has an example). It comes only out
/// of [`Controller::certify_robustly`].
#[derive(Debug, PartialEq)]
pub struct RobustCertificate {
    subject: Subject,
    action: usize,
    perturbations: usize,
    fewest_worlds: NonZeroUsize,
}

/// Why there is no robust certificate.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NotRobust {
    /// The action is not certified without a perturbation.
    #[error("the action is not certified as things stand")]
    NotCertified,
    /// A perturbation leaves a plausible world in which the action is not safe.
    #[error("perturbation {perturbation} leaves a plausible world in which the action is not safe")]
    Blocked {
        /// Position of the perturbation.
        perturbation: usize,
    },
    /// A perturbation leaves no plausible world, which certifies nothing.
    #[error("perturbation {perturbation} leaves no plausible world")]
    Empty {
        /// Position of the perturbation.
        perturbation: usize,
    },
    /// A perturbation could not be evaluated.
    #[error("perturbation {perturbation} could not be evaluated: {fault}")]
    Fault {
        /// Position of the perturbation.
        perturbation: usize,
        /// Why.
        fault: Fault,
    },
}

impl Controller<'_> {
    /// The robust certificate of `action` over `perturbations`. What was reported of probes so far is
    /// applied to every perturbed support too.
    ///
    /// # Errors
    ///
    /// [`NotRobust`] with the first perturbation that denies it.
    pub fn certify_robustly<P: Perturbation>(
        &self,
        action: usize,
        perturbations: impl IntoIterator<Item = P>,
    ) -> Result<RobustCertificate, NotRobust> {
        let mut fewest_worlds = match self.view() {
            Plausibility::Plausible(plausible) if plausible.certify(action).is_ok() => {
                plausible.size()
            }
            _ => return Err(NotRobust::NotCertified),
        };
        let mut perturbed = Problem::new(self.problem().subject());
        let mut workspace = Workspace::default();
        let mut count = 0;
        for (perturbation, change) in perturbations.into_iter().enumerate() {
            let fault = |fault| NotRobust::Fault {
                perturbation,
                fault,
            };
            perturbed.reset(self.problem().subject());
            change
                .apply(self.problem(), &mut perturbed)
                .map_err(fault)?;
            if !same_choices(self.problem(), &perturbed) {
                return Err(fault(Fault::Inconsistent));
            }
            let settings = Settings::default();
            let mut controller =
                Controller::begin(&perturbed, &settings, self.threshold(), &mut workspace);
            for report in self.history() {
                match report.outcome {
                    Some(outcome) => controller.observe(report.probe, outcome),
                    None => controller.probe_failed(report.probe),
                }
                .map_err(|error| fault(Fault::Report(error)))?;
            }
            match controller.view() {
                Plausibility::Faulty(reported) => return Err(fault(reported)),
                Plausibility::Empty => return Err(NotRobust::Empty { perturbation }),
                Plausibility::Plausible(plausible) => {
                    if plausible.certify(action).is_err() {
                        return Err(NotRobust::Blocked { perturbation });
                    }
                    fewest_worlds = fewest_worlds.min(plausible.size());
                }
            }
            count += 1;
        }
        Ok(RobustCertificate {
            subject: self.problem().subject(),
            action,
            perturbations: count,
            fewest_worlds,
        })
    }
}

/// Whether a position means the same action and the same probe in both problems.
fn same_choices(one: &Problem, other: &Problem) -> bool {
    let outcomes = |problem: &Problem| {
        let declared = problem.probes().iter().map(Probe::outcomes);
        declared.collect::<Vec<_>>()
    };
    one.actions() == other.actions() && outcomes(one) == outcomes(other)
}

impl RobustCertificate {
    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Position of the action.
    #[must_use]
    pub fn action(&self) -> usize {
        self.action
    }

    /// How many perturbations it holds against, besides none.
    #[must_use]
    pub fn perturbations(&self) -> usize {
        self.perturbations
    }

    /// The size of the smallest plausible set met.
    #[must_use]
    pub fn fewest_worlds(&self) -> NonZeroUsize {
        self.fewest_worlds
    }
}

/// A piece of evidence that may have to be left out: a memory atom, a tool output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Atom {
    /// What it adds to the nonconformity score of a world, by position; negative when it supports it.
    pub score_shares: Vec<(usize, f64)>,
    /// The worlds that it contradicts as hard evidence.
    pub contradicts: Vec<usize>,
}

/// Evidence atoms, of which up to some number may be dropped.
///
/// The problem's scores include every atom's share; a world is contradicted if any atom left
/// contradicts it, or if it is contradicted in the problem although no atom does so.
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Atom, Controller, EvidenceAtoms, Problem, Settings, Subject, Workspace,
/// };
///
/// let mut problem = Problem::new(Subject([2; 32]));
/// let send = problem.add_action(Action::default())?;
/// problem.add_world(Score::new(0.1)?, [send])?;
/// let injected = problem.add_world(Score::new(0.2)?, [])?;
/// problem.contradict(injected)?;
/// let record = Atom { contradicts: vec![injected], ..Atom::default() };
/// let atoms = EvidenceAtoms::new(&problem, vec![record])?;
///
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let controller = Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// assert!(controller.certify_robustly(send, atoms.drops(0)).is_ok());
/// assert!(controller.certify_robustly(send, atoms.drops(1)).is_err()); // it hangs on one record
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceAtoms {
    subject: Subject,
    worlds: usize,
    atoms: Vec<Atom>,
}

/// Dropping the atoms at these positions.
#[derive(Clone, Debug, PartialEq)]
pub struct DroppedAtoms<'a> {
    evidence: &'a EvidenceAtoms,
    dropped: Vec<usize>,
}

impl EvidenceAtoms {
    /// The atoms behind the worlds of `problem`.
    ///
    /// # Errors
    ///
    /// [`ProblemError::UnknownWorld`]; [`ProblemError::NotContradicted`] for an atom that contradicts a
    /// world that is not contradicted in the problem, which has every atom;
    /// [`ProblemError::SettingInvalid`] for a share that is not finite.
    pub fn new(problem: &Problem, atoms: Vec<Atom>) -> Result<Self, ProblemError> {
        for atom in &atoms {
            let worlds = atom.score_shares.iter().map(|&(world, _)| world);
            for world in worlds.chain(atom.contradicts.iter().copied()) {
                if world >= problem.worlds() {
                    return Err(ProblemError::UnknownWorld { world });
                }
            }
            for &world in &atom.contradicts {
                if !problem.is_contradicted(world) {
                    return Err(ProblemError::NotContradicted { world });
                }
            }
            for &(_, value) in &atom.score_shares {
                if !value.is_finite() {
                    return Err(ProblemError::SettingInvalid {
                        setting: "score share",
                        value,
                        range: "finite",
                    });
                }
            }
        }
        Ok(Self {
            subject: problem.subject(),
            worlds: problem.worlds(),
            atoms,
        })
    }

    /// Every way to drop at least one and at most `most` atoms, small sets first; in number the sum of
    /// the binomial coefficients.
    pub fn drops(&self, most: usize) -> impl Iterator<Item = DroppedAtoms<'_>> {
        let count = self.atoms.len();
        (1..=most.min(count)).flat_map(move |size| {
            let mut next = Some((0..size).collect::<Vec<_>>());
            std::iter::from_fn(move || {
                let dropped = next.take()?;
                next = following(&dropped, count);
                Some(DroppedAtoms {
                    evidence: self,
                    dropped,
                })
            })
        })
    }
}

/// The next set of positions below `count` of the same size, in lexicographic order.
fn following(positions: &[usize], count: usize) -> Option<Vec<usize>> {
    let size = positions.len();
    let at = (0..size).rfind(|&at| positions[at] < count - size + at)?;
    let mut next = positions.to_vec();
    for (offset, position) in next[at..].iter_mut().enumerate() {
        *position = positions[at] + 1 + offset;
    }
    Some(next)
}

impl Perturbation for DroppedAtoms<'_> {
    /// # Errors
    ///
    /// [`Fault::Inconsistent`] for a problem that the atoms were not declared for, [`Fault::Score`] for a
    /// score that overflows.
    fn apply(&self, problem: &Problem, perturbed: &mut Problem) -> Result<(), Fault> {
        let atoms = &self.evidence.atoms;
        if (problem.subject(), problem.worlds()) != (self.evidence.subject, self.evidence.worlds) {
            return Err(Fault::Inconsistent);
        }
        perturbed.clone_from(problem);
        let dropped = self.dropped.iter().map(|&atom| &atoms[atom]);
        for &(world, share) in dropped.clone().flat_map(|atom| &atom.score_shares) {
            // Rounded down by what the two decimals and their difference may be off: a world must not be
            // excluded by rounding.
            let score = perturbed.scores()[world].value();
            let rounding = f64::EPSILON * (score.abs() + share.abs());
            let score = Score::new(score - share - rounding).map_err(|_| Fault::Score { world })?;
            perturbed.rescore(world, score);
        }
        for &world in dropped.flat_map(|atom| &atom.contradicts) {
            let still = atoms
                .iter()
                .enumerate()
                .any(|(at, atom)| !self.dropped.contains(&at) && atom.contradicts.contains(&world));
            perturbed.set_contradicted(world, still);
        }
        Ok(())
    }
}
