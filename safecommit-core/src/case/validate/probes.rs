//! Probes of a request, with their outcomes.

use super::{At, Checked, RequestProblem, add_name, find};
use crate::case::OutcomeRows;
use crate::case::names::Names;
use crate::case::request::{OutcomeProposal, ProbeProposal};
use crate::probe::{NO, OutcomeModel, YES};
use crate::problem::{Problem, ProblemError};
use crate::units::{Cost, Probability};

pub(super) fn add_probe(
    probe: &ProbeProposal,
    worlds: &Names,
    problem: &mut Problem,
    room: &mut Room,
    path: &dyn Fn() -> String,
) -> Checked<Names> {
    let cost = Cost::new(probe.cost).at(|| path() + ".cost")?;
    let error_rate = Probability::new(probe.error_rate).at(|| path() + ".error_rate")?;
    let mut names = Names::default();
    let position = match (&probe.asks, &probe.outcomes) {
        (Some(asked), None) => {
            if probe.possible.is_some() {
                return Err(RequestProblem::PossibleWithoutOutcomes).at(|| path() + ".possible");
            }
            let world = find(worlds, asked, "world", || path() + ".asks")?;
            debug_assert_eq!((YES, NO), (0, 1));
            names.add("yes");
            names.add("no");
            problem
                .add_probe(cost, error_rate, OutcomeModel::Identity { world })
                .at(path)?
        }
        (None, Some(outcomes)) => {
            let of_probe = path;
            let path = || of_probe() + ".outcomes";
            if outcomes.is_empty() {
                return Err(RequestProblem::Empty("outcome")).at(path);
            }
            for (at, outcome) in outcomes.iter().enumerate() {
                add_name(&mut names, &outcome.id, || format!("{}[{at}].id", path()))?;
            }
            if let Some(possible) = &probe.possible {
                let says = |outcome: &OutcomeProposal| {
                    outcome.worlds.is_some() || outcome.likelihood.is_some()
                };
                if let Some(at) = outcomes.iter().position(says) {
                    return Err(RequestProblem::PossibleAlready).at(|| format!("{}[{at}]", path()));
                }
                let path = || of_probe() + ".possible";
                let rows = read_possible(possible, outcomes.len(), worlds, room, &path)?;
                problem.add_probe(cost, error_rate, rows.model()).at(path)?
            } else if outcomes.iter().all(|outcome| outcome.worlds.is_some()) {
                let outcome_of = read_partition(outcomes, worlds, problem.worlds(), &path)?;
                let model = OutcomeModel::Partition {
                    outcomes: outcomes.len(),
                    outcome_of: &outcome_of,
                };
                problem.add_probe(cost, error_rate, model).at(path)?
            } else {
                let rows = read_likelihood(outcomes, worlds, room, &path)?;
                let model = OutcomeModel::Likelihood {
                    outcomes: outcomes.len(),
                    rows: &rows,
                };
                add_likelihood_probe(problem, cost, error_rate, model, worlds).at(path)?
            }
        }
        _ => return Err(RequestProblem::AsksOrOutcomes).at(path),
    };
    if probe.repeatable_later {
        problem.set_repeatable_later(position);
    }
    Ok(names)
}

/// How many probabilities the probes of a request may have together: half a gibibyte. Few bytes of a request can ask for
/// many, and what does not fit into memory would end the program.
pub(super) const MOST_ENTRIES: usize = 1 << 26;

/// The probabilities that there are so far.
#[derive(Debug, Default)]
pub(super) struct Room {
    entries: usize,
}

impl Room {
    /// A row of zeros for each world.
    fn table(&mut self, worlds: usize, outcomes: usize) -> Result<Vec<f64>, RequestProblem> {
        let entries = worlds.saturating_mul(outcomes);
        self.entries = self.entries.saturating_add(entries);
        if self.entries > MOST_ENTRIES {
            let entries = self.entries;
            return Err(RequestProblem::TooManyEntries { entries });
        }
        Ok(vec![0.0; entries])
    }
}

/// Adds the probe; an error that names a world by position names it by name.
fn add_likelihood_probe(
    problem: &mut Problem,
    cost: Cost,
    error_rate: Probability,
    model: OutcomeModel<'_>,
    worlds: &Names,
) -> Result<usize, RequestProblem> {
    problem
        .add_probe(cost, error_rate, model)
        .map_err(|error| match error {
            ProblemError::ProbabilitiesDoNotSumToOne { world, sum } => {
                RequestProblem::ProbabilitiesDoNotSumToOne {
                    world: worlds.name(world).unwrap_or_default().to_owned(),
                    sum,
                }
            }
            other => other.into(),
        })
}

/// The outcome of each world, if each stands in exactly one.
fn read_partition(
    outcomes: &[OutcomeProposal],
    worlds: &Names,
    count: usize,
    path: &dyn Fn() -> String,
) -> Checked<Vec<u32>> {
    let mut outcome_of = vec![None; count];
    let mut times = vec![0_usize; count];
    for (at, outcome) in outcomes.iter().enumerate() {
        if outcome.likelihood.is_some() {
            return Err(RequestProblem::WorldsOrLikelihood).at(|| format!("{}[{at}]", path()));
        }
        for (place, name) in outcome.worlds.iter().flatten().enumerate() {
            let path = || format!("{}[{at}].worlds[{place}]", path());
            let world = find(worlds, name, "world", path)?;
            outcome_of[world] = Some(at as u32);
            times[world] += 1;
        }
    }
    outcome_of
        .into_iter()
        .enumerate()
        .map(|(world, outcome)| match (outcome, times[world]) {
            (Some(outcome), 1) => Ok(outcome),
            (_, times) => Err(RequestProblem::NotAPartition {
                world: worlds.name(world).unwrap_or_default().to_owned(),
                times,
            })
            .at(path),
        })
        .collect()
}

/// P(outcome | world), a row a world.
fn read_likelihood(
    outcomes: &[OutcomeProposal],
    worlds: &Names,
    room: &mut Room,
    path: &dyn Fn() -> String,
) -> Checked<Vec<f64>> {
    let mut rows = room.table(worlds.len(), outcomes.len()).at(path)?;
    for (at, outcome) in outcomes.iter().enumerate() {
        let (Some(likelihood), None) = (&outcome.likelihood, &outcome.worlds) else {
            return Err(RequestProblem::WorldsOrLikelihood).at(|| format!("{}[{at}]", path()));
        };
        for (name, &probability) in likelihood {
            let path = || format!("{}[{at}].likelihood.{name}", path());
            let world = find(worlds, name, "world", path)?;
            rows[world * outcomes.len() + at] = Probability::new(probability).at(path)?.value();
        }
    }
    Ok(rows)
}

/// What each world may yield.
enum Possible {
    One { outcomes: usize, of_world: Vec<u32> },
    Several { outcomes: usize, rows: Vec<f64> },
}

impl Possible {
    fn model(&self) -> OutcomeModel<'_> {
        match self {
            Self::One { outcomes, of_world } => OutcomeModel::Partition {
                outcomes: *outcomes,
                outcome_of: of_world,
            },
            Self::Several { outcomes, rows } => OutcomeModel::Likelihood {
                outcomes: *outcomes,
                rows,
            },
        }
    }
}

/// The outcomes that each world may yield: a partition where that is one in each.
fn read_possible(
    possible: &OutcomeRows,
    outcomes: usize,
    worlds: &Names,
    room: &mut Room,
    path: &dyn Fn() -> String,
) -> Checked<Possible> {
    if possible.len() != worlds.len() {
        let (rows, worlds) = (possible.len(), worlds.len());
        return Err(RequestProblem::PossibleSize { rows, worlds }).at(path);
    }
    for (world, row) in possible.iter().enumerate() {
        let path = || format!("{}[{world}]", path());
        if row.is_empty() {
            return Err(RequestProblem::Empty("outcome")).at(path);
        }
        for (place, &outcome) in row.iter().enumerate() {
            let path = || format!("{}[{place}]", path());
            if outcome as usize >= outcomes {
                return Err(RequestProblem::NoSuchOutcome { outcome, outcomes }).at(path);
            }
            if place > 0 && row[place - 1] >= outcome {
                return Err(RequestProblem::NotAscending(outcome)).at(path);
            }
        }
    }
    if possible.iter().all(|row| row.len() == 1) {
        let of_world = possible.iter().map(|row| row[0]).collect();
        return Ok(Possible::One { outcomes, of_world });
    }
    let mut rows = room.table(possible.len(), outcomes).at(path)?;
    for (likelihood, row) in rows.chunks_exact_mut(outcomes).zip(possible.iter()) {
        for &outcome in row {
            likelihood[outcome as usize] = 1.0 / row.len() as f64;
        }
    }
    Ok(Possible::Several { outcomes, rows })
}
