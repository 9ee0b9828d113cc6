//! From a frame and the regions of its worlds to a request of `safecommit-core`, and from answers to its outcomes.

use std::fmt::Write as _;

use safecommit_conformal::Score;
use safecommit_core::{
    ActionProposal, Observation, OutcomeProposal, OutcomeRows, ProbeProposal, WorldProposal,
};

use crate::domain::{Answer, Candidate, Frame, OfferedProbe};
use crate::fact::{Fact, Facts};
use crate::support::{LEFT_OUT, Region, Regions};

/// The outcome of an answer that no declared value fits.
pub const UNEXPECTED: &str = "unexpected";

/// As long as the description of a world usually is, in bytes.
const DESCRIPTION: usize = 256;

/// As long as the name of an outcome usually is, in bytes.
const NAME: usize = 64;

/// The most outcomes that a probe may have.
pub(super) const MAX_OUTCOMES: usize = 4096;

/// The worlds of a request: one for each region, and one for what was left out.
///
/// The score of a world is by how much it is stranger than the best explanation there is, in whole millionths. So it does
/// not depend on how many facts a decision is about, and evidence that makes everything likelier excludes nothing. What makes one
/// explanation likelier makes the others stranger; so the controller takes the best one that answers have left
/// ([`Settings::with_relative_scores`](safecommit_core::Settings::with_relative_scores)).
///
/// The one for what was left out is as plausible as the best, may give any answer, and only reversible actions are safe in
/// it. So no threshold excludes it, no answer refutes it, and nothing irreversible is certified: nobody has looked at
/// what is missing.
pub(super) fn worlds(frame: &Frame, judged: &[usize], regions: &Regions) -> Vec<WorldProposal> {
    let id = |candidate: usize| frame.candidates[candidate].id.clone();
    let best = regions
        .as_slice()
        .first()
        .map_or(0.0, |region| region.score().value());
    let excess = |score: Score| ((score.value() - best) * 1e6).round().max(0.0) / 1e6;
    let mut worlds: Vec<WorldProposal> = Vec::with_capacity(regions.as_slice().len() + 1);
    for region in regions.as_slice() {
        let mut safe = Vec::new();
        let mut description = String::with_capacity(DESCRIPTION);
        for (at, candidate) in judged.iter().enumerate() {
            if region.is_safe(at) {
                safe.push(id(*candidate));
                continue;
            }
            for (place, blocker) in region.blockers(at).enumerate() {
                match place {
                    0 => begin_reason(&mut description, &frame.candidates[*candidate]),
                    _ => description.push_str(", "),
                }
                // Writing to a string does not fail.
                let _ = write!(description, "{blocker}");
            }
        }
        for candidate in &frame.candidates {
            if let Some(reason) = &candidate.refused {
                begin_reason(&mut description, candidate);
                description.push_str(reason);
            }
        }
        worlds.push(WorldProposal {
            id: region.id(),
            score: excess(region.score()),
            safe,
            description: (!description.is_empty()).then_some(description),
        });
    }
    if regions.cut().is_some() {
        let reversible = judged.iter().filter(|at| frame.candidates[**at].reversible);
        worlds.push(WorldProposal {
            id: LEFT_OUT.to_owned(),
            score: 0.0,
            safe: reversible.map(|candidate| id(*candidate)).collect(),
            description: Some("what a support with too many worlds left out".to_owned()),
        });
    }
    worlds
}

/// Adds the name of a candidate, after a separator if there is something already.
fn begin_reason(description: &mut String, candidate: &Candidate) {
    if !description.is_empty() {
        description.push_str("; ");
    }
    description.push_str(&candidate.id);
    description.push_str(": ");
}

pub(super) fn actions(frame: &Frame, family: &str) -> Vec<ActionProposal> {
    let proposals = frame.candidates.iter().map(|candidate| ActionProposal {
        id: candidate.id.clone(),
        family: Some(family.to_owned()),
        severity: candidate.severity,
        reversible: candidate.reversible,
        reward: candidate.reward,
    });
    proposals.collect()
}

/// A probe as the request declares it, with what is needed to tell its outcomes.
#[derive(Clone, Debug)]
pub(super) struct Posed {
    /// Its position in the frame.
    pub(super) offered: usize,
    /// Whether a person is asked.
    pub(super) of_person: bool,
    /// The positions of the facts that it reveals and on which some candidate's safety depends. An outcome is a value of
    /// each; those of the last one vary first.
    facts: Vec<usize>,
    /// The position of the outcome of an answer that no declared value fits: the last one.
    unexpected: usize,
}

impl Posed {
    /// `None` for a probe that reveals nothing that matters.
    ///
    /// # Errors
    ///
    /// The number of its outcomes, if there are too many.
    pub(super) fn new(
        offered: usize,
        probe: &OfferedProbe,
        facts: &Facts,
        regions: &Regions,
    ) -> Result<Option<(Self, ProbeProposal)>, usize> {
        let reveals = |name: &str| probe.reveals.iter().any(|revealed| revealed == name);
        let relevant = regions.relevant().iter().copied();
        let positions: Vec<usize> = relevant
            .filter(|fact| reveals(facts.as_slice()[*fact].name()))
            .collect();
        if positions.is_empty() {
            return Ok(None);
        }
        let known = || positions.iter().map(|fact| &facts.as_slice()[*fact]);
        let sizes = known().map(|fact| fact.values().len());
        let product = sizes.fold(1_usize, usize::saturating_mul);
        if product > MAX_OUTCOMES {
            return Err(product);
        }
        let (mut possible, mut places) = (OutcomeRows::default(), Vec::new());
        for region in regions.as_slice() {
            outcomes_in(region, &positions, facts, &mut places);
            possible.push(places.iter().copied());
        }
        if regions.cut().is_some() {
            // In what was left out any answer is possible.
            possible.push((0..).take(product + 1));
        }
        let names = (0..product).map(|place| name_of(known(), place));
        let outcomes = names.chain([UNEXPECTED.to_owned()]);
        let outcomes = outcomes.map(|id| OutcomeProposal {
            id,
            worlds: None,
            likelihood: None,
        });
        let proposal = ProbeProposal {
            id: probe.id.clone(),
            cost: probe.cost,
            error_rate: probe.error_rate,
            repeatable_later: probe.repeatable_later,
            asks: None,
            outcomes: Some(outcomes.collect()),
            possible: Some(possible),
        };
        Ok(Some((
            Self {
                offered,
                of_person: probe.question.is_some(),
                facts: positions,
                unexpected: product,
            },
            proposal,
        )))
    }

    /// The position of the outcome that an answer is; `None` for one that leaves a fact open that it should reveal:
    /// it says nothing.
    pub(super) fn outcome(&self, answer: &Answer, facts: &Facts) -> Option<usize> {
        let Answer::Found(found) = answer else {
            return None;
        };
        let mut place = Some(0);
        for fact in self.facts.iter().map(|fact| &facts.as_slice()[*fact]) {
            let mut values = found.iter().filter(|(name, _)| name == fact.name());
            let (_, value) = values.next()?;
            // An answer that gives a fact two values fits no world.
            let once = values.all(|(_, other)| other == value);
            let declared = fact.values().iter().position(|known| known == value);
            let declared = declared.filter(|_| once);
            let of_fact = |(place, value)| place * fact.values().len() + value;
            place = place.zip(declared).map(of_fact);
        }
        Some(place.unwrap_or(self.unexpected))
    }
}

/// What is recorded of an answer.
pub(super) fn observation(probe: &ProbeProposal, outcome: Option<usize>) -> Observation {
    let declared = probe.outcomes.as_ref().zip(outcome);
    Observation {
        probe: probe.id.clone(),
        outcome: declared.map(|(outcomes, at)| outcomes[at].id.clone()),
    }
}

/// The places among the combinations of all values of the combinations of those that a region admits, ascending.
fn outcomes_in(region: &Region, positions: &[usize], facts: &Facts, places: &mut Vec<u32>) {
    places.clear();
    places.push(0);
    for &position in positions {
        let values = facts.as_slice()[position].values().len() as u32;
        let admitted = region.number(position);
        let shorter = places.len();
        places.resize(shorter * admitted, 0);
        // From the back, where nothing is read any more that is overwritten.
        for at in (0..shorter).rev() {
            let place = places[at] * values;
            let longer = places[at * admitted..].iter_mut();
            for (longer, value) in longer.zip(region.positions(position)) {
                *longer = place + u32::from(value);
            }
        }
    }
}

/// The name of the combination of values at a place: `fact=value` for each fact, with spaces between.
fn name_of<'f>(facts: impl Iterator<Item = &'f Fact> + Clone, place: usize) -> String {
    // How many combinations of the facts behind it there are to each value of a fact.
    let mut behind = facts
        .clone()
        .map(|fact| fact.values().len())
        .product::<usize>();
    let mut name = String::with_capacity(NAME);
    for fact in facts {
        let number = fact.values().len();
        behind /= number;
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(fact.name());
        name.push('=');
        name.push_str(&fact.values()[place / behind % number]);
    }
    name
}

/// Whether some action is blocked, in the worlds that are plausible, only by facts of authority: each world in which it is
/// not safe has a twin in which it is, that differs in such facts alone.
pub(super) fn lacks_only_authority(
    plausible: &[usize],
    regions: &Regions,
    authority: &[usize],
    actions: usize,
) -> bool {
    let plausible: Vec<&Region> = plausible
        .iter()
        .filter_map(|at| regions.as_slice().get(*at))
        .collect();
    regions.cut().is_none()
        && (0..actions).any(|action| {
            let (safe, blocked): (Vec<&Region>, Vec<&Region>) =
                plausible.iter().partition(|region| region.is_safe(action));
            !blocked.is_empty()
                && blocked.iter().all(|region| {
                    safe.iter()
                        .any(|twin| agree_but_for(authority, region, twin, regions))
                })
        })
}

fn agree_but_for(authority: &[usize], one: &Region, other: &Region, regions: &Regions) -> bool {
    let facts = regions
        .relevant()
        .iter()
        .filter(|fact| !authority.contains(fact));
    facts.copied().all(|fact| {
        let values = (0..=u8::MAX).take(regions.facts().as_slice()[fact].values().len());
        values
            .into_iter()
            .any(|value| one.admits(fact, value) && other.admits(fact, value))
    })
}
