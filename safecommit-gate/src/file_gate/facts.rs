//! What is asked of each target of a file action, and what the evidence says of it.

use jiff::Timestamp;

use crate::evidence::{About, BeliefRule, EvidenceSet, Trust, is_possible};
use crate::execute::TargetPath;
use crate::fact::{Fact, FactError, Facts};
use crate::files::{BASE, file_facts, overwrite_facts};
use crate::score::Terms;
use crate::support::{Belief, BeliefError, Impossible};

/// Facts that say who may decide about a target rather than what would become of it.
pub(super) const OF_AUTHORITY: [&str; 3] = ["owner", "protected", "secret"];

/// The fact that says whether what an action takes away can be put back: of its target, but of a permanent deletion its own.
pub(super) const REVERSIBLE: &str = "reversible";

/// A target, and whether the first action on it expects something there.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) path: TargetPath,
    pub(super) expects_something: bool,
}

/// An overwrite, by the name of its candidate.
#[derive(Clone, Debug)]
pub(super) struct Overwrite {
    pub(super) name: String,
    /// Whether it says what its content was made from.
    pub(super) has_base: bool,
}

/// The facts of some targets and candidates, with what the evidence says of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) facts: Facts,
    pub(super) beliefs: Vec<Belief>,
    pub(super) impossible: Vec<Impossible>,
    /// When what is known of each target was so.
    pub(super) memories: Vec<Option<Timestamp>>,
}

/// Why nothing can be said of targets.
#[derive(Debug, thiserror::Error)]
pub(super) enum KnownError {
    #[error(transparent)]
    Fact(#[from] FactError),
    #[error(transparent)]
    Belief(#[from] BeliefError),
}

/// What follows the names of facts and probes of the target at a position: nothing for the first one.
pub(super) fn suffix(target: usize, separator: char) -> String {
    match target {
        0 => String::new(),
        _ => format!("{separator}{}", target + 1),
    }
}

/// The name of a fact of a candidate, such as `overwrite_2_discards`. No fact of a target is called so: these begin with
/// what they say, and end with it or with the number of the target.
pub(super) fn of_candidate(candidate: &str, fact: &str) -> String {
    format!("{}_{fact}", candidate.replace('-', "_"))
}

/// Whether it is a fact of an overwrite, and of no target.
pub(super) fn is_of_overwrite(name: &str) -> bool {
    overwrite_facts().is_ok_and(|facts| facts.position(name).is_some())
}

/// A fact of files; `None` if there is no such fact.
pub(super) fn fact_of_files(name: &str) -> Option<Fact> {
    let facts = file_facts().ok()?;
    Some(facts.as_slice()[facts.position(name)?].clone())
}

/// The values of a fact with which an action can do harm, where something is expected at the target.
fn hazards(fact: &str) -> &'static [&'static str] {
    match fact {
        "kind" => &["link", "mount", "missing"],
        "location" => &["outside"],
        "leaves_tree" => &["link", "mount"],
        "owner" => &["other"],
        "writable_by" => &["others"],
        "tracked" => &["dirty", "untracked"],
        REVERSIBLE => &["false"],
        _ => &["true"],
    }
}

impl Known {
    /// What `evidence` says of the targets at `now`; of the overwrites it says nothing, nor of the permanent deletions,
    /// which are known by the names of their candidates.
    pub(super) fn new(
        targets: &[Named],
        overwrites: &[Overwrite],
        permanent: &[String],
        workspace: &str,
        evidence: &EvidenceSet,
        rule: &BeliefRule,
        now: Timestamp,
    ) -> Result<Self, KnownError> {
        let of_files = file_facts()?;
        let mut facts = Vec::with_capacity(targets.len() * of_files.as_slice().len());
        let mut known = Self::default();
        for (number, target) in targets.iter().enumerate() {
            let is_target = |named: &TargetPath| *named == target.path;
            let entities = entities_of(&is_target, workspace, evidence);
            let related = |named: &TargetPath| {
                named.is_or_is_in(&target.path) || target.path.is_or_is_in(named)
            };
            let related = entities_of(&related, workspace, evidence);
            let memory = known_since(&entities, &related, evidence, now);
            known.memories.push(memory);
            for fact in of_files.as_slice() {
                let attribute = fact.name();
                let name = format!("{attribute}{}", suffix(number, '_'));
                let fact = Fact::new(name, fact.values().iter().map(String::as_str))?;
                let about = About {
                    entities: &entities,
                    attribute,
                    hazards: match attribute {
                        "kind" if !target.expects_something => {
                            &["file", "directory", "link", "mount"]
                        }
                        _ => hazards(attribute),
                    },
                };
                let mut belief = rule.believe(&fact, &about, evidence, now)?;
                if attribute == "changed_since_memory" && memory.is_none() {
                    belief = belief.only(["false"], "no evidence names the target")?;
                }
                known.beliefs.push(belief);
                facts.push(fact);
            }
        }
        for overwrite in overwrites {
            for fact in overwrite_facts()?.as_slice() {
                // Whether it says what it was made from is known, and no world differs in that.
                let may =
                    |value: &str| fact.name() != BASE || (value == "unknown") != overwrite.has_base;
                let values = || {
                    fact.values()
                        .iter()
                        .map(String::as_str)
                        .filter(|value| may(value))
                };
                let named = Fact::new(of_candidate(&overwrite.name, fact.name()), values())?;
                // Evidence names targets, not candidates. And as a rule new content drops something of the old, so that no
                // value is the strange one.
                let alike = values().map(|value| (value, Terms::NONE));
                known.beliefs.push(Belief::new(&named, alike)?);
                facts.push(named);
            }
        }
        for candidate in permanent {
            // Of what is gone for good it does not matter whether it could have been moved to the trash.
            let reversible = Fact::new(of_candidate(candidate, REVERSIBLE), ["false"])?;
            known
                .beliefs
                .push(Belief::new(&reversible, [("false", Terms::NONE)])?);
            facts.push(reversible);
        }
        known.facts = Facts::new(facts)?;
        for number in 0..targets.len() {
            let name = |fact: &str| format!("{fact}{}", suffix(number, '_'));
            let (kind, leaves) = (name("kind"), name("leaves_tree"));
            // Only a directory has something below that could lead out of it.
            for without_below in ["file", "link", "missing"] {
                for departure in ["link", "mount"] {
                    known.impossible.push(Impossible::new(
                        &known.facts,
                        (&kind, without_below),
                        (&leaves, departure),
                    )?);
                }
            }
        }
        Ok(known)
    }
}

/// The names that evidence has for some paths: any spelling, from the workspace or absolute.
fn entities_of<'e>(
    is_meant: &impl Fn(&TargetPath) -> bool,
    workspace: &str,
    evidence: &'e EvidenceSet,
) -> Vec<&'e str> {
    let names = evidence
        .records()
        .iter()
        .map(|record| record.proposition().entity());
    let mut entities: Vec<&str> = names
        .filter(|entity| path_of(entity, workspace).is_some_and(|named| is_meant(&named)))
        .collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

/// The path in the workspace that evidence names, in any spelling; `None` for whatever else it is about.
pub(super) fn path_of(entity: &str, workspace: &str) -> Option<TargetPath> {
    let below = entity
        .strip_prefix(workspace)
        .and_then(|rest| rest.strip_prefix('/'));
    TargetPath::new(below.unwrap_or(entity)).ok()
}

/// When what is known of a target was so, to compare with the times of its changes; `None` if no evidence names it. Evidence
/// calls it by the names `itself`, and it and what it is in or contains by `related`.
///
/// That is the earliest time that any record of it, of a directory that it is in or of something in it goes back to,
/// unless the host, the person or the policy named the target itself later without anything less trusted having a part
/// in that. A record with impossible times goes back to the beginning: any change then counts as one since.
fn known_since(
    itself: &[&str],
    related: &[&str],
    evidence: &EvidenceSet,
    now: Timestamp,
) -> Option<Timestamp> {
    let (mut earliest, mut confirmed): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for record in evidence.records() {
        let (id, entity) = (record.id(), record.proposition().entity());
        if !related.contains(&entity) {
            continue;
        }
        let possible = is_possible(evidence, id, now);
        let since = match evidence.age_of(id, now) {
            Some(age) if possible => now.checked_sub(age).unwrap_or(Timestamp::UNIX_EPOCH),
            _ => Timestamp::UNIX_EPOCH,
        };
        let of_host = evidence.trust_of(id) >= Some(Trust::Observation);
        if possible && of_host && itself.contains(&entity) {
            confirmed = confirmed.max(Some(since));
        }
        earliest = Some(earliest.map_or(since, |earliest| earliest.min(since)));
    }
    earliest.max(confirmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_of_files_has_a_hazard_and_a_value_without_one() {
        let facts = file_facts().unwrap();
        for fact in facts.as_slice() {
            let (hazards, values) = (hazards(fact.name()), fact.values());
            let known = |hazard: &&str| values.iter().any(|value| value == hazard);
            assert!(hazards.iter().all(known), "{}", fact.name());
            assert!(
                (1..values.len()).contains(&hazards.len()),
                "{}",
                fact.name()
            );
        }
        assert_eq!(fact_of_files("size"), None);
    }

    #[test]
    fn facts_of_overwrites_are_told_from_those_of_targets() {
        let of_targets = file_facts().unwrap();
        let of_overwrites = overwrite_facts().unwrap();
        for fact in of_overwrites.as_slice() {
            let name = fact.name();
            assert!(is_of_overwrite(name) && fact_of_files(name).is_none());
            for number in 1..=3 {
                let named = of_candidate(&format!("overwrite-{number}"), name);
                let mut targets = of_targets.as_slice().iter();
                assert!(targets.all(|of_target| !named.starts_with(of_target.name())));
            }
        }
        assert_eq!(
            of_candidate("overwrite-2", "discards"),
            "overwrite_2_discards"
        );
        assert!(!is_of_overwrite("kind"));
    }
}
