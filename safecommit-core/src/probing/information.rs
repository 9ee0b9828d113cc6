//! [`Probing::InformationGain`](super::Probing::InformationGain): mutual information per unit cost.

use super::{Informative, State, stopping_score};
use crate::plausible::Retained;
use crate::probe::{Kind, Probe};
use crate::problem::Problem;
use crate::shrinkage::{ROUNDING, SCORE_TOLERANCE, Scan};

/// The probe with the largest I(omega; Y) / c of those for which `may_be_made` holds, and that score, if it is above the
/// one at which the rule stops.
///
/// `Err` with the probe whose score is not a number.
pub(super) fn choose(
    state: &State<'_>,
    scan: &mut Scan,
    may_be_made: impl Fn(usize, &Probe) -> bool,
) -> Result<Option<Informative>, usize> {
    most_per_cost(state, may_be_made, |probe| {
        mutual_information(state.problem, state.retained, scan, probe)
    })
}

/// The probe with the most `information` in nats per unit cost of those for which `may_be_made` holds, and that score,
/// if it is above the one at which the rule stops.
///
/// `Err` with the probe whose score is not a number.
pub(super) fn most_per_cost(
    state: &State<'_>,
    may_be_made: impl Fn(usize, &Probe) -> bool,
    mut information: impl FnMut(&Probe) -> f64,
) -> Result<Option<Informative>, usize> {
    let mut best: Option<(usize, f64)> = None;
    for (position, probe) in state.problem.probes().iter().enumerate() {
        if !may_be_made(position, probe) {
            continue;
        }
        let mut information = information(probe);
        if information.abs() <= ROUNDING {
            information = 0.0;
        }
        let score = (information / probe.cost().value()).clamp(f64::MIN, f64::MAX);
        if score.is_nan() {
            return Err(position);
        }
        if best.is_none_or(|(_, incumbent)| score > incumbent + SCORE_TOLERANCE) {
            best = Some((position, score));
        }
    }
    Ok(best.filter(|&(_, score)| score > stopping_score(state)))
}

/// Mutual information between the true world and the answer, in nats; for certain outcomes the entropy of
/// the answer.
fn mutual_information(
    problem: &Problem,
    retained: &Retained,
    scan: &mut Scan,
    probe: &Probe,
) -> f64 {
    match probe.kind {
        Kind::Identity { world } => match retained.weight_of(world) {
            Some(weight) => surprise(weight) + surprise(1.0 - weight),
            None => 0.0,
        },
        Kind::Partition { start, .. } => {
            scan.sort_by_outcome(problem, retained, start);
            let cells = scan.by_outcome.chunk_by(|one, next| one.0 == next.0);
            let mass = |cell: &[(u32, u32)]| -> f64 {
                let weights = cell.iter().map(|&(_, row)| retained.weights[row as usize]);
                weights.sum()
            };
            cells.map(|cell| surprise(mass(cell))).sum()
        }
        Kind::Likelihood { outcomes, start } => (0..outcomes)
            .map(|outcome| likelihood_term(problem, retained, outcomes, start, outcome))
            .sum(),
    }
}

/// Sum over worlds of w P(y | omega) ln(P(y | omega) / P(y)), for one outcome y.
fn likelihood_term(
    problem: &Problem,
    retained: &Retained,
    outcomes: usize,
    start: usize,
    outcome: usize,
) -> f64 {
    let likelihood = |world: u32| problem.outcomes().row(start, outcomes, world as usize)[outcome];
    let worlds = || retained.members.iter().zip(&retained.weights);
    let probability: f64 = worlds()
        .map(|(&world, weight)| weight * likelihood(world))
        .sum();
    worlds()
        .map(|(&world, weight)| {
            let (joint, given) = (weight * likelihood(world), likelihood(world));
            if joint > 0.0 {
                joint * (libm::log(given) - libm::log(probability))
            } else {
                0.0
            }
        })
        .sum()
}

/// -p ln p, which tends to zero with p.
fn surprise(probability: f64) -> f64 {
    if probability > 0.0 {
        -probability * libm::log(probability)
    } else {
        0.0
    }
}
