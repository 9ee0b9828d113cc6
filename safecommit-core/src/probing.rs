//! The rules by which the next probe is chosen; each stands in a file of its own, the rule of the paper
//! in `shrinkage.rs`.

use safecommit_conformal::LoggedSeed;
use serde::{Deserialize, Serialize};

use crate::plausible::Retained;
use crate::probe::Probe;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::shrinkage::{ProbeChoice, SCORE_TOLERANCE, Scan, best_probe};

mod expected;
mod greedy;
mod information;
mod masks;
mod optimal;
mod random;
mod rollout;
mod safety;

pub use expected::{ExpectedProbing, NoExpectation, expected_probing};

use greedy::Greedy;
use masks::Masks;
use optimal::Optimal;
use safety::Classes;

/// How the next probe is chosen, as long as no action is certified.
///
/// The rules differ in what probes cost and in how often they lead to a certificate, never in safety.
/// Scores are frozen when the worlds are proposed and a truthful answer removes false worlds alone, so
/// under *any* rule and any stopping an unsafe commit is contained in "the true world was never proposed,
/// or its score lies above the threshold", and P(unsafe commit) <= alpha + beta (Proposition 1 and Eq. 7
/// of Akewar and Ranjan, arXiv:2608.04289). [`crate::Verification`] keeps its own rules, but for
/// [`Self::SafetyInformation`], which also says how a certificate is checked past the threshold.
///
/// Ties, that is differences of at most [`SCORE_TOLERANCE`], go to the probe that stands first.
///
/// ```
/// use safecommit_conformal::{LoggedSeed, Threshold};
/// use safecommit_core::{
///     Action, Controller, Cost, OutcomeModel, Probability, ProbeRule, Probing, Problem, Settings, Step,
///     Subject, Workspace,
/// };
/// use safecommit_conformal::Score;
///
/// // One action only: no probe shrinks the expected mass that blocks it, so the greedy rule gives up.
/// let mut problem = Problem::new(Subject([3; 32]));
/// let send = problem.add_action(Action::default())?;
/// problem.add_world(Score::ZERO, [send])?;
/// problem.add_world(Score::ZERO, [])?;
/// let which = OutcomeModel::Partition { outcomes: 2, outcome_of: &[0, 1] };
/// problem.add_probe(Cost::UNIT, Probability::ZERO, which)?;
/// let chosen_by = |probing| {
///     let (settings, mut workspace) =
///         (Settings::default().with_probing(probing), Workspace::default());
///     let mut controller =
///         Controller::start(&problem, &settings, Threshold::unbounded(), &mut workspace);
///     match controller.next_step() {
///         Step::Probe(choice) => Some(choice.rule),
///         _ => None,
///     }
/// };
/// assert_eq!(chosen_by(Probing::Shrinkage), None);
/// assert_eq!(chosen_by(Probing::Optimal), Some(ProbeRule::Optimal));
/// assert_eq!(chosen_by(Probing::Rollout), Some(ProbeRule::Rollout));
/// assert_eq!(chosen_by(Probing::InformationGain), Some(ProbeRule::InformationGain));
/// assert_eq!(chosen_by(Probing::SafetyInformation), Some(ProbeRule::SafetyInformation));
/// let seed = LoggedSeed::new("run 1");
/// assert_eq!(chosen_by(Probing::Random { seed }), Some(ProbeRule::Random));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probing {
    /// Largest expected certificate shrinkage per unit cost, Delta(p) / c(p) (Eq. 12, 13): the rule of
    /// the paper. Greedy: it looks one answer ahead, and stops when no single answer helps.
    ///
    /// Stops at a score of eta + 1e-12. O(sum over probes of K A Y) a choice, for K worlds, A actions
    /// and Y outcomes.
    #[default]
    Shrinkage,
    /// The least expected cost, by dynamic programming over sets of retained worlds.
    ///
    /// Minimises, one after the other, (1) the mass of the worlds in which no certificate would be
    /// reached within the probes that [`crate::Budget::max_probes`] leaves, (2) the expected cost of the
    /// probes made, both under the normalised weights w:
    /// V(S) = min over p of c(p) w(S) + sum over outcomes y of V(S and y), with V(S) = 0 where an action
    /// is certified, and stopping, which costs nothing, where nothing is safe or no probe tells worlds
    /// apart (Bellman's equation). No rule does better in that order, up to a relative 1e-12.
    ///
    /// For at most 16 retained worlds, 64 probes that tell them apart and 64 actions that are blocked
    /// differently, and for outcomes that are certain in each retained world: O(2^K) sets times the
    /// probes, times the probes left where those limit. Beyond that [`Self::Shrinkage`] chooses, and
    /// [`ProbeChoice::rule`] says so. A probe that cannot be paid is never chosen, but what paying one
    /// leaves for the next is not planned for, and neither are failing probes, the time budget or
    /// verification. Eta plays no part.
    Optimal,
    /// One step of lookahead over the greedy rule: the least expected cost of a probe that is followed by
    /// [`Self::Shrinkage`] to the end, in the order and under the weights of [`Self::Optimal`].
    ///
    /// Never worse than the greedy rule in that order, up to a relative 1e-12, without a cost or time
    /// budget and if no probe fails: it is its policy improvement (Bertsekas, Dynamic Programming and
    /// Optimal Control, rollout algorithms). Eta is that of the greedy rule that follows.
    ///
    /// For at most 64 retained worlds, 128 probes that tell them apart and 64 actions that are blocked
    /// differently, and for outcomes that are certain in each retained world: O(P^2 K^2 A) for P probes.
    /// Beyond that [`Self::Shrinkage`] chooses.
    Rollout,
    /// Largest mutual information per unit cost, I(omega; Y) / c(p), between the true world and the
    /// answer under the weights w, in nats:
    /// I = sum over y and omega of w(omega) P(y | omega) ln(P(y | omega) / P(y)).
    ///
    /// It asks what tells most about the world, whether or not that blocks a certificate (Lindley 1956).
    /// Stops at a score of eta + 1e-12, in nats per unit cost. O(sum over probes of K Y) a choice.
    InformationGain,
    /// Largest mutual information per unit cost, I(S; Y) / c(p), between the safety signature S of the true
    /// world (Eq. 8) and the answer under the weights w, in nats:
    /// I = sum over y and s of P(s, y) ln(P(s, y) / (P(s) P(y))) = H(Y) - H(Y | S).
    ///
    /// It asks what tells most about which actions are safe. A probe whose answers tell apart worlds in which
    /// the very same actions are safe, and nothing else, is worth nothing to it, as two worlds of one
    /// signature are certified together. Unlike [`Self::Shrinkage`] it finds a probe worth making with a
    /// single candidate action, and where some plausible world allows none. So it is for problems with many
    /// worlds and few signatures, where most of what could be found out decides nothing. It promises no least
    /// cost: it looks one answer ahead, and the whole signature may be more than a certificate has to know.
    /// Where [`Self::Optimal`] can plan, no rule does better than that.
    ///
    /// Where no probe is above eta + 1e-12 in nats per unit cost, [`Self::InformationGain`] chooses, with the
    /// same eta, and [`ProbeChoice::rule`] says so: two facts whose exclusive-or decides tell nothing each, and
    /// all together. That may be a probe about what decides nothing. So with the same answers this rule stops
    /// where information gain does, and no earlier. O(K log K + sum over probes of K (log K + Y)) a choice.
    SafetyInformation,
    /// Any probe that can remove a retained world, each about equally likely: a reference for the others.
    ///
    /// The place of the probe among the usable ones is [`LoggedSeed::below`] of `safecommit probe`, the
    /// 32 bytes of the problem's subject and the number of reports so far as 8 bytes, the most significant
    /// first. The subject of a [`crate::Case`] is the digest of its request, and what was observed is part of
    /// that: a record replays through its own request and the seed, not through the request that the decision
    /// began with, whose draws are others. Eta plays no part.
    Random {
        /// The seed, which is written to the log.
        seed: LoggedSeed,
    },
}

/// The rule that chose a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProbeRule {
    /// Largest expected certificate shrinkage per unit cost ([`Probing::Shrinkage`]); also where the rule
    /// that was asked for cannot plan.
    Shrinkage,
    /// Least expected cost ([`Probing::Optimal`]).
    Optimal,
    /// Least expected cost when followed by the greedy rule ([`Probing::Rollout`]).
    Rollout,
    /// Largest mutual information with the true world per unit cost ([`Probing::InformationGain`]); also where
    /// no single answer tells anything about what is safe ([`Probing::SafetyInformation`]).
    InformationGain,
    /// Largest mutual information with what is safe per unit cost ([`Probing::SafetyInformation`]).
    SafetyInformation,
    /// Drawn from the logged seed ([`Probing::Random`]).
    Random,
    /// A question about the most plausible world ([`crate::Verification::MostPlausible`]).
    MostPlausible,
}

/// What a choice is made from: everything but the probes that may be made.
pub(crate) struct State<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) settings: &'a Settings,
    /// The worlds left, weighed.
    pub(crate) retained: &'a Retained,
    /// How many reports came in.
    pub(crate) reports: usize,
    /// The score that a probe has to exceed, in the unit of the rule: eta, or the price of a verification.
    pub(crate) stop: f64,
}

/// Reusable memory of the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planner {
    masks: Masks,
    greedy: Greedy,
    optimal: Optimal,
    classes: Classes,
    usable: Vec<usize>,
    /// For [`expected_probing`]: the retained worlds, with their weights until they are counted.
    uncounted: Vec<(u32, Option<f64>)>,
}

/// The probe to make, if any is worth making. Rules that value a probe by itself choose among those for
/// which `alone` holds, rules that plan ahead among those for which `together` does.
///
/// `Err` with the probe whose score is not a number, which can only be an error of arithmetic.
pub(crate) fn choose(
    state: &State<'_>,
    scan: &mut Scan,
    planner: &mut Planner,
    alone: impl Fn(usize, &Probe) -> bool,
    together: impl Fn(usize, &Probe) -> bool,
) -> Result<Option<ProbeChoice>, usize> {
    let (problem, retained) = (state.problem, state.retained);
    let masks = &mut planner.masks;
    let (probe, rule) = match state.settings.probing() {
        Probing::Optimal if masks.fill(problem, retained, &optimal::LIMITS, &together) => {
            let probe = planner.optimal.choose(masks, state);
            (probe.map(|probe| (probe, None)), ProbeRule::Optimal)
        }
        Probing::Rollout if masks.fill(problem, retained, &rollout::LIMITS, &together) => {
            let probe = rollout::choose(masks, &mut planner.greedy, state);
            (probe.map(|probe| (probe, None)), ProbeRule::Rollout)
        }
        Probing::Shrinkage | Probing::Optimal | Probing::Rollout => {
            let best = best_probe(problem, retained, scan, alone)?;
            let worth_it = |choice: &ProbeChoice| choice.score > stopping_score(state);
            return Ok(best.filter(worth_it));
        }
        Probing::InformationGain => (
            information::choose(state, scan, alone)?.map(told),
            ProbeRule::InformationGain,
        ),
        Probing::SafetyInformation => {
            match safety::choose(state, scan, &mut planner.classes, alone)? {
                Some((probe, rule)) => (Some(told(probe)), rule),
                None => return Ok(None),
            }
        }
        Probing::Random { seed } => {
            let probe = random::choose(state, &seed, &mut planner.usable, alone);
            (probe.map(|probe| (probe, None)), ProbeRule::Random)
        }
    };
    valued(state, scan, probe, rule)
}

/// The probe that checks the certificate of `action` against the worlds left, if any is worth making: by what it tells
/// about whether the action is safe under [`Probing::SafetyInformation`], else by the shrinkage of the certificate.
///
/// `Err` with the probe whose score is not a number.
pub(crate) fn verify(
    state: &State<'_>,
    scan: &mut Scan,
    planner: &mut Planner,
    action: usize,
    may_be_made: impl Fn(usize, &Probe) -> bool,
) -> Result<Option<ProbeChoice>, usize> {
    if state.settings.probing() == Probing::SafetyInformation {
        let probe = safety::about(state, scan, &mut planner.classes, action, may_be_made)?;
        return valued(state, scan, probe.map(told), ProbeRule::SafetyInformation);
    }
    let best = best_probe(state.problem, state.retained, scan, may_be_made)?;
    Ok(best.filter(|choice| choice.score > stopping_score(state)))
}

/// A probe with its information per unit of cost, in nats.
type Informative = (usize, f64);

/// A probe that was chosen by its information, as [`valued`] takes it.
fn told((probe, information): Informative) -> (usize, Option<f64>) {
    (probe, Some(information))
}

/// The choice of a probe, and of the information by which it was chosen, with its expected shrinkage.
fn valued(
    state: &State<'_>,
    scan: &mut Scan,
    probe: Option<(usize, Option<f64>)>,
    rule: ProbeRule,
) -> Result<Option<ProbeChoice>, usize> {
    let Some((probe, information)) = probe else {
        return Ok(None);
    };
    scan.prepare(state.problem, state.retained);
    let choice = scan.value(state.problem, state.retained, probe);
    if choice.score.is_nan() {
        return Err(probe);
    }
    Ok(Some(ProbeChoice {
        information,
        rule,
        ..choice
    }))
}

/// At this score or less a probe is not worth making.
fn stopping_score(state: &State<'_>) -> f64 {
    state.stop + SCORE_TOLERANCE
}

/// How many probes may still be made.
fn probes_left(state: &State<'_>) -> usize {
    let limit = state.settings.budget().max_probes;
    limit.map_or(usize::MAX, |limit| {
        (limit as usize).saturating_sub(state.reports)
    })
}
