//! The plausible set W (Eq. 4): worlds that hard evidence allows, whose score is at most the
//! threshold, and that no probe has refuted.

use std::num::NonZeroUsize;

use safecommit_conformal::{Score, Threshold};

use crate::fallback::Fault;
use crate::problem::Problem;
use crate::signature::{ActionSet, Signature, SignatureMatrix};

/// The plausible worlds (Eq. 4 of Akewar and Ranjan, arXiv:2608.04289), which are never none.
///
/// There is no constructor: it is a view into a [`crate::Controller`], which is started with a
/// [`Threshold`] that came out of a calibration, or with the unbounded one, or else releases nothing
/// (Threshold from calibration). An empty set is [`Plausibility::Empty`] and certifies nothing, because in an empty set
/// everything would hold (No vacuous truth).
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Controller, Plausibility, Problem, Settings, Subject, Workspace,
/// };
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// let (delete, send) =
///     (problem.add_action(Action::default())?, problem.add_action(Action::default())?);
/// problem.add_world(Score::new(0.1)?, [delete, send])?;
/// problem.add_world(Score::new(0.1)?, [send])?;
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// let Plausibility::Plausible(plausible) = controller.plausible() else {
///     panic!("two worlds are plausible");
/// };
/// assert_eq!(plausible.certified().iter().collect::<Vec<_>>(), [send]);
/// assert_eq!(plausible.uncertified_region(delete).collect::<Vec<_>>(), [1]);
/// assert_eq!(plausible.residual_mass(delete), 0.5);
/// assert_eq!(plausible.classes().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PlausibleSet<'a> {
    problem: &'a Problem,
    retained: &'a Retained,
    threshold: &'a Threshold,
    observations: usize,
    size: NonZeroUsize,
}

/// A plausible set, or why there is none to certify anything in.
///
/// ```
/// use safecommit_conformal::Threshold;
/// use safecommit_core::{Controller, Plausibility, Problem, Settings, Subject, Workspace};
///
/// let problem = Problem::new(Subject([4; 32])); // no world was proposed
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// assert!(matches!(controller.plausible(), Plausibility::Empty));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Plausibility<'a> {
    /// At least one world is plausible.
    Plausible(PlausibleSet<'a>),
    /// The evidence refutes every world that was proposed, or none was proposed.
    Empty,
    /// An error was reported: whatever is left of the support certifies nothing.
    Faulty(Fault),
}

/// A class of plausible worlds with one signature: they agree on every action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafetyClass {
    /// The actions that are safe in each of its worlds.
    pub signature: Signature,
    /// Positions of its worlds, ascending.
    pub worlds: Vec<usize>,
}

impl<'a> PlausibleSet<'a> {
    /// How many worlds are plausible.
    #[must_use]
    pub fn size(&self) -> NonZeroUsize {
        self.size
    }

    /// The problem that the worlds belong to.
    #[must_use]
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// The threshold that the scores were held against.
    #[must_use]
    pub fn threshold(&self) -> &'a Threshold {
        self.threshold
    }

    /// How many probe outcomes had been observed.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Positions of the plausible worlds, ascending.
    pub fn worlds(&self) -> impl ExactSizeIterator<Item = usize> + 'a {
        self.retained.members.iter().map(|&world| world as usize)
    }

    /// The actions with an empty uncertified region (Definition 1): safe in every plausible world.
    ///
    /// One bitwise AND over the packed signatures, O(K A / 64) for K worlds and A actions.
    #[must_use]
    pub fn certified(&self) -> ActionSet {
        self.retained.signatures.intersection()
    }

    /// The actions that are safe in at least one plausible world.
    #[must_use]
    pub fn possible(&self) -> ActionSet {
        self.retained.signatures.union()
    }

    /// The uncertified region U(a) of `action` (Eq. 5): the plausible worlds in which it is not safe,
    /// ascending. Every plausible world, for an action that is not a candidate.
    pub fn uncertified_region(&self, action: usize) -> impl Iterator<Item = usize> + 'a {
        let retained = self.retained;
        retained
            .members
            .iter()
            .enumerate()
            .filter(move |&(row, _)| !retained.signatures.is_safe(row, action))
            .map(|(_, &world)| world as usize)
    }

    /// The mass mu over the plausible worlds, in their order: w proportional to exp(-s / T) times the
    /// likelihood of the outcomes observed, each in [0, 1], summing to one up to rounding. It ranks
    /// probes; no certificate depends on it.
    #[must_use]
    pub fn weights(&self) -> &'a [f64] {
        &self.retained.weights
    }

    /// The residual mass mu(U(a)) of the worlds in which `action` is not safe, in [0, 1].
    #[must_use]
    pub fn residual_mass(&self, action: usize) -> f64 {
        self.retained
            .weights
            .iter()
            .enumerate()
            .filter(|&(row, _)| !self.retained.signatures.is_safe(row, action))
            .fold(0.0, |mass, (_, weight)| mass + weight)
            .min(1.0)
    }

    /// The safety-equivalence classes, in the order in which their first worlds stand.
    ///
    /// One representative a class leaves the certified actions exactly as they are. Classes serve
    /// certification and storage only: a probe's outcome depends on the world, so a representative
    /// never stands in for its class when a probe is scored or answered.
    #[must_use]
    pub fn classes(&self) -> Vec<SafetyClass> {
        let mut classes = indexmap::IndexMap::<&[u64], Vec<usize>>::new();
        for (row, &world) in self.retained.members.iter().enumerate() {
            classes
                .entry(self.retained.signatures.row(row))
                .or_default()
                .push(world as usize);
        }
        classes
            .into_values()
            .map(|worlds| SafetyClass {
                signature: self.problem.signatures().signature(worlds[0]),
                worlds,
            })
            .collect()
    }
}

/// The worlds still retained, packed for certification; empty or not, and reusable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retained {
    /// Positions in the problem, ascending.
    pub(crate) members: Vec<u32>,
    /// A row a member.
    pub(crate) signatures: SignatureMatrix,
    /// Log-likelihood of the outcomes observed; zero for all certain ones.
    log_likelihoods: Vec<f64>,
    /// The normalised mass; empty until [`Self::weigh`] is called.
    pub(crate) weights: Vec<f64>,
}

impl Retained {
    /// Keeps the worlds for which `keep` holds.
    pub(crate) fn fill(&mut self, problem: &Problem, mut keep: impl FnMut(usize) -> bool) {
        self.reset(problem);
        for world in 0..problem.worlds() {
            if keep(world) {
                self.push(problem, world, 0.0);
            }
        }
    }

    /// Keeps the members of a larger set for which `keep` holds, with what was observed.
    pub(crate) fn fill_from(
        &mut self,
        larger: &Self,
        problem: &Problem,
        mut keep: impl FnMut(usize) -> bool,
    ) {
        self.reset(problem);
        for (&world, &log_likelihood) in larger.members.iter().zip(&larger.log_likelihoods) {
            if keep(world as usize) {
                self.push(problem, world as usize, log_likelihood);
            }
        }
    }

    fn reset(&mut self, problem: &Problem) {
        self.members.clear();
        self.signatures.reset(problem.actions().len());
        self.log_likelihoods.clear();
        self.weights.clear();
        // Room for every world, so that a later decision of this size never allocates, however many
        // worlds this one retains.
        self.members.reserve(problem.worlds());
        self.signatures.reserve(problem.worlds());
        self.log_likelihoods.reserve(problem.worlds());
        self.weights.reserve(problem.worlds());
    }

    fn push(&mut self, problem: &Problem, world: usize, log_likelihood: f64) {
        self.members.push(world as u32);
        self.signatures.push_row_of(problem.signatures(), world);
        self.log_likelihoods.push(log_likelihood);
    }

    /// The smallest score of a member; none if there is no member.
    pub(crate) fn smallest_score(&self, problem: &Problem) -> Option<Score> {
        let members = self.members.iter();
        members.map(|&world| problem.scores()[world as usize]).min()
    }

    /// The mass of the world at this position of the problem, if it is a member; fresh after
    /// [`Self::weigh`].
    pub(crate) fn weight_of(&self, world: usize) -> Option<f64> {
        let row = self
            .members
            .binary_search_by(|&member| (member as usize).cmp(&world));
        self.weights.get(row.ok()?).copied()
    }

    /// Applies P(outcome | world) to every member: zero removes it (told to `removed`), anything else
    /// multiplies its weight. Scores stay as they are.
    pub(crate) fn condition(
        &mut self,
        likelihood: impl Fn(usize) -> f64,
        mut removed: impl FnMut(usize),
    ) {
        let mut kept = 0;
        for row in 0..self.members.len() {
            let world = self.members[row];
            let probability = likelihood(world as usize);
            if probability <= 0.0 {
                removed(world as usize);
                continue;
            }
            let evidence = if probability < 1.0 {
                libm::log(probability)
            } else {
                0.0
            };
            self.members[kept] = world;
            self.log_likelihoods[kept] = self.log_likelihoods[row] + evidence;
            self.signatures.move_row(row, kept);
            kept += 1;
        }
        self.members.truncate(kept);
        self.log_likelihoods.truncate(kept);
        self.signatures.truncate(kept);
        self.weights.clear();
    }

    /// Brings the normalised mass up to date; a certificate alone never needs it.
    ///
    /// Scores enter as distances from the smallest and the largest exponent is taken out, so that
    /// scores far above the temperature neither overflow nor underflow all together.
    pub(crate) fn weigh(&mut self, problem: &Problem, temperature: f64) {
        if self.weights.len() == self.members.len() {
            return;
        }
        let scores = problem.scores();
        let smallest = self
            .members
            .iter()
            .map(|&world| scores[world as usize].value())
            .fold(f64::INFINITY, f64::min);
        self.weights
            .extend(self.members.iter().zip(&self.log_likelihoods).map(
                |(&world, log_likelihood)| {
                    log_likelihood - (scores[world as usize].value() - smallest) / temperature
                },
            ));
        let largest = self
            .weights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for weight in &mut self.weights {
            *weight = libm::exp(*weight - largest);
            total += *weight;
        }
        for weight in &mut self.weights {
            *weight /= total;
        }
    }

    pub(crate) fn plausibility<'a>(
        &'a self,
        problem: &'a Problem,
        threshold: &'a Threshold,
        observations: usize,
    ) -> Plausibility<'a> {
        match NonZeroUsize::new(self.members.len()) {
            None => Plausibility::Empty,
            Some(size) => Plausibility::Plausible(PlausibleSet {
                problem,
                retained: self,
                threshold,
                observations,
                size,
            }),
        }
    }
}
