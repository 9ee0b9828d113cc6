//! [`Probing::Random`](super::Probing::Random): any probe that can remove a world.

use std::num::NonZeroU64;

use safecommit_conformal::LoggedSeed;

use super::State;
use crate::plausible::Retained;
use crate::probe::{Kind, Probe};
use crate::problem::Problem;

/// Keeps these draws apart from all others of the same seed.
const PURPOSE: &[u8; 16] = b"safecommit probe";

/// A probe of those for which `may_be_made` holds and that can remove a world, drawn from the seed.
pub(super) fn choose(
    state: &State<'_>,
    seed: &LoggedSeed,
    usable: &mut Vec<usize>,
    may_be_made: impl Fn(usize, &Probe) -> bool,
) -> Option<usize> {
    let probes = state.problem.probes();
    usable.clear();
    usable.reserve(probes.len());
    usable.extend(
        (0..probes.len())
            .filter(|&position| may_be_made(position, &probes[position]))
            .filter(|&position| can_remove(state.problem, state.retained, &probes[position])),
    );
    let many = NonZeroU64::new(usable.len() as u64)?;
    let mut message = [0; 56];
    message[..16].copy_from_slice(PURPOSE);
    message[16..48].copy_from_slice(&state.problem.subject().0);
    message[48..].copy_from_slice(&(state.reports as u64).to_be_bytes());
    usable.get(seed.below(&message, many) as usize).copied()
}

/// Whether some outcome is possible in some retained worlds and impossible in others.
fn can_remove(problem: &Problem, retained: &Retained, probe: &Probe) -> bool {
    let members = &retained.members;
    let Some(&first) = members.first() else {
        return false;
    };
    match probe.kind {
        Kind::Identity { world } => {
            let asked = |&member: &u32| member as usize == world;
            members.len() > 1 && members.iter().any(asked)
        }
        Kind::Partition { start, .. } => {
            let outcome = |world: u32| problem.outcomes().certain(start, world as usize);
            members
                .iter()
                .any(|&world| outcome(world) != outcome(first))
        }
        Kind::Likelihood { outcomes, start } => {
            let row = |world: u32| problem.outcomes().row(start, outcomes, world as usize);
            members.iter().any(|&world| {
                let mut pairs = row(world).iter().zip(row(first));
                pairs.any(|(one, other)| (*one > 0.0) != (*other > 0.0))
            })
        }
    }
}
