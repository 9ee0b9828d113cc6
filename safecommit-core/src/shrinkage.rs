//! Which probe to make: expected certificate shrinkage per unit cost (Eq. 12 and 13).

use serde::{Deserialize, Serialize};

use crate::plausible::Retained;
use crate::probe::{Kind, Probe};
use crate::probing::ProbeRule;
use crate::problem::Problem;

/// How much better a score must be to count as better: differences of this size are rounding, so
/// that ties are broken by the order of the scan on every platform.
pub const SCORE_TOLERANCE: f64 = 1e-12;

/// Below this a shrinkage is the rounding of masses that sum to one. Were it not taken for zero, a probe
/// that tells nothing would look worth making as soon as it is cheap enough.
pub(crate) const ROUNDING: f64 = 1e-14;

/// A probe, with what it is expected to contribute to a certificate.
///
/// Delta(p) = min_a M(a) - sum_y min_a M_y(a) (Eq. 12 of Akewar and Ranjan, arXiv:2608.04289), where
/// M(a) is the mass of the plausible worlds in which action a is not safe and M_y(a) its joint mass with
/// outcome y. It is the value of the probe's information about what blocks a certificate and about
/// nothing else: with a single candidate action, or where nothing is safe in any world, it is zero. So is
/// one of at most 1e-14, which is the rounding of masses that sum to one.
///
/// ```
/// use safecommit_conformal::{Score, Threshold};
/// use safecommit_core::{
///     Action, Controller, Cost, OutcomeModel, Probability, Problem, Settings, Subject, Workspace,
/// };
///
/// let mut problem = Problem::new(Subject([3; 32]));
/// let (delete, leave) =
///     (problem.add_action(Action::default())?, problem.add_action(Action::default())?);
/// problem.add_world(Score::ZERO, [delete])?;
/// problem.add_world(Score::ZERO, [leave])?;
/// let which = OutcomeModel::Partition { outcomes: 2, outcome_of: &[0, 1] };
/// problem.add_probe(Cost::new(2.0)?, Probability::ZERO, which)?;
/// let (settings, mut workspace) = (Settings::default(), Workspace::default());
/// let mut controller =
///     Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
/// // One half of the mass blocks either action, and the answer removes all of it.
/// let choice = controller.shrinkages()[0];
/// assert_eq!((choice.shrinkage, choice.score), (0.5, 0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeChoice {
    /// Position of the probe.
    pub probe: usize,
    /// Expected certificate shrinkage Delta(p), in [0, 1] up to rounding (Eq. 12). A share of mass.
    pub shrinkage: f64,
    /// Delta(p) / c(p) (Eq. 13), per unit of cost; finite.
    pub score: f64,
    /// What the rule compared instead, where it goes by information: mutual information per unit of cost, in nats.
    /// `None` where it goes by [`Self::score`], plans, or draws.
    pub information: Option<f64>,
    /// What it is for.
    pub purpose: Purpose,
    /// The rule that chose it.
    pub rule: ProbeRule,
}

/// What a probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To certify an action: its shrinkage is over the plausible worlds.
    Certify,
    /// To check the certificate of an irreversible action before it is used
    /// ([`crate::Verification`]): its shrinkage is zero for a question about the most plausible world,
    /// and else over every proposed world that is left.
    Verify,
}

/// Reusable memory of the scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// M(a): the mass of the worlds in which action a is not safe.
    mass: Vec<f64>,
    /// M_y(a) of the outcome looked at. One at a time, so that memory does not grow with the number of
    /// outcomes times the number of actions.
    outcome_mass: Vec<f64>,
    /// Outcome and row of each retained world, by outcome.
    pub(crate) by_outcome: Vec<(u32, u32)>,
}

impl Scan {
    /// Sums the uncertified mass M(a) of every action over the retained worlds, whose weights are
    /// fresh.
    pub(crate) fn prepare(&mut self, problem: &Problem, retained: &Retained) {
        self.mass.clear();
        self.mass.resize(problem.actions().len(), 0.0);
        // Room for whichever probe is valued, so that no later decision of this size allocates.
        clear(&mut self.outcome_mass, self.mass.len());
        self.by_outcome.clear();
        self.by_outcome.reserve(problem.worlds());
        for (row, weight) in retained.weights.iter().enumerate() {
            for action in retained.signatures.unsafe_actions(row) {
                self.mass[action] += weight;
            }
        }
    }

    /// Expected shrinkage of a probe, and that per unit cost (Eq. 13).
    pub(crate) fn value(
        &mut self,
        problem: &Problem,
        retained: &Retained,
        probe: usize,
    ) -> ProbeChoice {
        let mut shrinkage = self.shrinkage(problem, retained, probe);
        if shrinkage.abs() <= ROUNDING {
            shrinkage = 0.0;
        }
        let cost = problem.probes()[probe].cost().value();
        ProbeChoice {
            probe,
            shrinkage,
            // A quotient past the largest number would be written as no number at all.
            score: (shrinkage / cost).clamp(f64::MIN, f64::MAX),
            information: None,
            purpose: Purpose::Certify,
            rule: ProbeRule::Shrinkage,
        }
    }

    /// Expected certificate shrinkage of a probe over the retained worlds (Eq. 12):
    ///
    /// Delta(p) = min_a M(a) - sum_y min_a M_y(a), with the joint mass
    /// M_y(a) = sum over worlds of w(omega) P(y | omega) \[a unsafe in omega\].
    ///
    /// The minimum is concave, so Delta is at least zero up to rounding. O(K A + Y A) for a certain
    /// outcome a world, O(K A Y) for probabilities, O(A) for a question about one world.
    fn shrinkage(&mut self, problem: &Problem, retained: &Retained, probe: usize) -> f64 {
        let after = match problem.probes()[probe].kind {
            Kind::Identity { world } => self.after_question(retained, world),
            Kind::Partition { start, .. } => self.after_partition(problem, retained, start),
            Kind::Likelihood { outcomes, start } => {
                self.after_likelihood(problem, retained, outcomes, start)
            }
        };
        smallest(&self.mass) - after
    }

    /// Sum over outcomes of min_a M_y(a), each world with one certain outcome. An outcome that no
    /// retained world yields has no mass.
    fn after_partition(&mut self, problem: &Problem, retained: &Retained, start: usize) -> f64 {
        self.sort_by_outcome(problem, retained, start);
        let mut after = 0.0;
        for worlds in self.by_outcome.chunk_by(|one, next| one.0 == next.0) {
            clear(&mut self.outcome_mass, self.mass.len());
            for &(_, row) in worlds {
                let row = row as usize;
                for action in retained.signatures.unsafe_actions(row) {
                    self.outcome_mass[action] += retained.weights[row];
                }
            }
            after += smallest(&self.outcome_mass);
        }
        after
    }

    /// Sorts the retained worlds by their outcome under a partition that starts at `start`.
    pub(crate) fn sort_by_outcome(&mut self, problem: &Problem, retained: &Retained, start: usize) {
        let outcome_of = |world: u32| problem.outcomes().certain(start, world as usize) as u32;
        let members = retained.members.iter().zip(0..);
        self.by_outcome.clear();
        self.by_outcome.reserve(problem.worlds());
        self.by_outcome
            .extend(members.map(|(&world, row)| (outcome_of(world), row)));
        self.by_outcome.sort_unstable();
    }

    /// Sum over outcomes of min_a M_y(a), each world with a probability for each outcome.
    fn after_likelihood(
        &mut self,
        problem: &Problem,
        retained: &Retained,
        outcomes: usize,
        start: usize,
    ) -> f64 {
        let mut after = 0.0;
        for outcome in 0..outcomes {
            clear(&mut self.outcome_mass, self.mass.len());
            for (row, &world) in retained.members.iter().enumerate() {
                let likelihood = problem.outcomes().row(start, outcomes, world as usize)[outcome];
                if likelihood > 0.0 {
                    for action in retained.signatures.unsafe_actions(row) {
                        self.outcome_mass[action] += retained.weights[row] * likelihood;
                    }
                }
            }
            after += smallest(&self.outcome_mass);
        }
        after
    }

    /// Sum over the two answers of min_a M_y(a), for the question whether `world` is the true one.
    fn after_question(&self, retained: &Retained, world: usize) -> f64 {
        let Some(row) = retained
            .members
            .iter()
            .position(|&member| member as usize == world)
        else {
            // Every retained world answers no: the mass stays where it is.
            return smallest(&self.mass);
        };
        let weight = retained.weights[row];
        let mut yes = f64::INFINITY;
        let mut no = f64::INFINITY;
        for (action, mass) in self.mass.iter().enumerate() {
            let if_yes = if retained.signatures.is_safe(row, action) {
                0.0
            } else {
                weight
            };
            yes = yes.min(if_yes);
            no = no.min(mass - if_yes);
        }
        yes + no
    }
}

fn clear(mass: &mut Vec<f64>, actions: usize) {
    mass.clear();
    mass.resize(actions, 0.0);
}

fn smallest(mass: &[f64]) -> f64 {
    mass.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Scans the probes for which `may_be_made` holds, in their order, and keeps the one with the largest
/// Delta / c; a candidate replaces the incumbent only if it is better by more than
/// [`SCORE_TOLERANCE`]. `None` if there is no candidate.
///
/// `Err` with the probe whose score is not a number, which can only be an error of arithmetic.
pub(crate) fn best_probe(
    problem: &Problem,
    retained: &Retained,
    scan: &mut Scan,
    may_be_made: impl Fn(usize, &Probe) -> bool,
) -> Result<Option<ProbeChoice>, usize> {
    scan.prepare(problem, retained);
    let mut best: Option<ProbeChoice> = None;
    for (position, probe) in problem.probes().iter().enumerate() {
        if !may_be_made(position, probe) {
            continue;
        }
        let choice = scan.value(problem, retained, position);
        if choice.score.is_nan() {
            return Err(position);
        }
        if best.is_none_or(|incumbent| choice.score > incumbent.score + SCORE_TOLERANCE) {
            best = Some(choice);
        }
    }
    Ok(best)
}
