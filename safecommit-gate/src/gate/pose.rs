//! From a frame and the regions of its worlds to a request of `safecommit-core`, and from answers to its outcomes.

use safecommit_conformal::Score;
use safecommit_core::{ActionProposal, Observation, OutcomeProposal, ProbeProposal, WorldProposal};

use crate::domain::{Answer, Frame, OfferedProbe};
use crate::fact::{Fact, Facts};
use crate::support::{LEFT_OUT, Region, Regions};

/// The outcome of an answer that no declared value fits.
pub const UNEXPECTED: &str = "unexpected";

/// Why a candidate is safe in no world that was left out for the sake of better ones.
const TOO_MANY: &str = "with the others there are too many worlds to look at it";

/// The most outcomes that a probe may have.
pub(super) const MAX_OUTCOMES: usize = 4096;

/// The worlds of a request: one for each region, and one for what was left out.
///
/// The score of a world is by how much it is stranger than the best explanation there is, in whole millionths. So it does
/// not depend on how many facts a decision is about, and evidence that makes everything likelier excludes nothing.
///
/// The one for what was left out has the score that none of it falls below, may give any answer, and only reversible
/// actions are safe in it. So nothing irreversible is certified unless the threshold excludes all that is missing.
pub(super) fn worlds(
    frame: &Frame,
    judged: &[usize],
    regions: &Regions,
    ids: Vec<String>,
) -> Vec<WorldProposal> {
    let id = |candidate: usize| frame.candidates[candidate].id.clone();
    let refused = |candidate: usize| {
        let reason = frame.candidates[candidate].refused.as_deref();
        reason.or((!judged.contains(&candidate)).then_some(TOO_MANY))
    };
    let best = regions
        .as_slice()
        .first()
        .map_or(0.0, |region| region.score().value());
    let excess = |score: Score| ((score.value() - best) * 1e6).round().max(0.0) / 1e6;
    let mut worlds: Vec<WorldProposal> = Vec::with_capacity(regions.as_slice().len() + 1);
    for (region, named) in regions.as_slice().iter().zip(ids) {
        let mut safe = Vec::new();
        let mut reasons = Vec::new();
        for (at, candidate) in judged.iter().enumerate() {
            if region.is_safe(at) {
                safe.push(id(*candidate));
                continue;
            }
            let blockers: Vec<String> = region
                .blockers(at)
                .map(|blocker| blocker.to_string())
                .collect();
            reasons.push(format!("{}: {}", id(*candidate), blockers.join(", ")));
        }
        for candidate in 0..frame.candidates.len() {
            if let Some(reason) = refused(candidate) {
                reasons.push(format!("{}: {reason}", id(candidate)));
            }
        }
        worlds.push(WorldProposal {
            id: named,
            score: excess(region.score()),
            safe,
            description: (!reasons.is_empty()).then(|| reasons.join("; ")),
        });
    }
    if let Some(cut) = regions.cut() {
        let reversible = judged.iter().filter(|at| frame.candidates[**at].reversible);
        worlds.push(WorldProposal {
            id: LEFT_OUT.to_owned(),
            score: excess(cut.next),
            safe: reversible.map(|candidate| id(*candidate)).collect(),
            description: Some("what a support with too many worlds left out".to_owned()),
        });
    }
    worlds
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

/// A probe as the request declares it, with what is needed to name its outcomes.
#[derive(Clone, Debug)]
pub(super) struct Posed {
    /// Its position in the frame.
    pub(super) offered: usize,
    /// Whether a person is asked.
    pub(super) of_person: bool,
    /// The facts that it reveals and on which some candidate's safety depends.
    facts: Vec<Fact>,
    /// The names of its outcomes.
    outcomes: Vec<String>,
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
        ids: &[String],
    ) -> Result<Option<(Self, ProbeProposal)>, usize> {
        let positions: Vec<usize> = regions
            .relevant()
            .iter()
            .copied()
            .filter(|fact| {
                probe
                    .reveals
                    .iter()
                    .any(|name| *name == facts.as_slice()[*fact].name())
            })
            .collect();
        if positions.is_empty() {
            return Ok(None);
        }
        let known: Vec<Fact> = positions
            .iter()
            .map(|fact| facts.as_slice()[*fact].clone())
            .collect();
        let sizes = known.iter().map(|fact| fact.values().len());
        let product = sizes.fold(1_usize, usize::saturating_mul);
        if product > MAX_OUTCOMES {
            return Err(product);
        }
        let combinations = combinations(&known);
        // By outcome: the worlds in which it is possible, each with its probability there.
        let mut possible_in: Vec<Vec<(&String, f64)>> = vec![Vec::new(); combinations.len() + 1];
        let mut certain = true;
        let left_out = LEFT_OUT.to_owned();
        let mut possible: Vec<usize> = Vec::with_capacity(combinations.len());
        for (region, id) in regions.as_slice().iter().zip(ids) {
            let admits = |combination: &[u8]| {
                let mut values = positions.iter().zip(combination);
                values.all(|(fact, value)| region.admits(*fact, *value))
            };
            possible.clear();
            possible.extend((0..combinations.len()).filter(|at| admits(&combinations[*at])));
            for at in &possible {
                possible_in[*at].push((id, 1.0 / possible.len() as f64));
            }
            certain &= possible.len() <= 1;
        }
        if regions.cut().is_some() {
            let share = 1.0 / possible_in.len() as f64;
            for outcome in &mut possible_in {
                outcome.push((&left_out, share));
            }
            // Any answer is possible in it.
            certain = false;
        }
        let mut outcomes: Vec<String> = combinations
            .iter()
            .map(|combination| name_of(&known, combination))
            .collect();
        outcomes.push(UNEXPECTED.to_owned());
        let declared = outcomes.iter().zip(possible_in).map(|(id, possible)| {
            let possible = possible.into_iter();
            let (worlds, likelihood) = if certain {
                (
                    Some(possible.map(|(world, _)| world.clone()).collect()),
                    None,
                )
            } else {
                let shares = possible.map(|(world, share)| (world.clone(), share));
                (None, Some(shares.collect()))
            };
            OutcomeProposal {
                id: id.clone(),
                worlds,
                likelihood,
            }
        });
        let proposal = ProbeProposal {
            id: probe.id.clone(),
            cost: probe.cost,
            error_rate: probe.error_rate,
            repeatable_later: probe.repeatable_later,
            asks: None,
            outcomes: Some(declared.collect()),
        };
        Ok(Some((
            Self {
                offered,
                of_person: probe.question.is_some(),
                facts: known,
                outcomes,
            },
            proposal,
        )))
    }

    /// The position of the outcome that an answer is; `None` for one that leaves a fact open that it should reveal:
    /// it says nothing.
    pub(super) fn outcome(&self, answer: &Answer) -> Option<usize> {
        let Answer::Found(found) = answer else {
            return None;
        };
        let mut named = Vec::with_capacity(self.facts.len());
        for fact in &self.facts {
            let mut values = found.iter().filter(|(name, _)| name == fact.name());
            let (_, value) = values.next()?;
            // An answer that gives a fact two values fits no world.
            let once = values.all(|(_, other)| other == value);
            named.push(if once {
                format!("{}={value}", fact.name())
            } else {
                String::new()
            });
        }
        let name = named.join(" ");
        let known = self.outcomes.iter().position(|outcome| *outcome == name);
        Some(known.unwrap_or(self.outcomes.len() - 1))
    }

    /// What is recorded of an answer.
    pub(super) fn observation(&self, probe: &str, outcome: Option<usize>) -> Observation {
        Observation {
            probe: probe.to_owned(),
            outcome: outcome.map(|at| self.outcomes[at].clone()),
        }
    }
}

/// Every combination of values of some facts, by position.
fn combinations(facts: &[Fact]) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for fact in facts {
        let longer = all.iter().flat_map(|combination| {
            let values = (0..=u8::MAX).take(fact.values().len());
            values.map(|value| [combination.as_slice(), &[value]].concat())
        });
        all = longer.collect();
    }
    all
}

fn name_of(facts: &[Fact], combination: &[u8]) -> String {
    let values = facts.iter().zip(combination).map(|(fact, value)| {
        let value = fact.values().get(usize::from(*value));
        format!("{}={}", fact.name(), value.map_or("", String::as_str))
    });
    values.collect::<Vec<_>>().join(" ")
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
