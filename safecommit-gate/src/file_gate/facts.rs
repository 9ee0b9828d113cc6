//! What is asked of each target of a file action, and what the evidence says of it.

use jiff::Timestamp;

use crate::evidence::{About, BeliefRule, EvidenceSet, Trust, is_possible};
use crate::execute::TargetPath;
use crate::fact::{Fact, FactError, Facts};
use crate::files::file_facts;
use crate::support::{Belief, BeliefError, Impossible};

/// Facts that say who may decide about a target rather than what would become of it.
pub(super) const OF_AUTHORITY: [&str; 3] = ["owner", "protected", "secret"];

/// A target, and whether the first action on it expects something there.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) path: TargetPath,
    pub(super) expects_something: bool,
}

/// The facts of some targets, with what the evidence says of each.
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

/// The values of a fact of files; `None` if there is no such fact.
pub(super) fn values_of(fact: &str) -> Option<Vec<&'static str>> {
    FACTS
        .iter()
        .find(|(name, ..)| *name == fact)
        .map(|(_, usual, hazards)| usual.iter().chain(hazards.iter()).copied().collect())
}

/// Facts with their usual values and their hazards.
const FACTS: [(&str, &[&str], &[&str]); 11] = [
    (
        "kind",
        &["file", "directory"],
        &["link", "mount", "missing"],
    ),
    ("location", &["inside"], &["outside"]),
    ("leaves_tree", &["no"], &["link", "mount"]),
    ("owner", &["own"], &["other"]),
    ("writable_by", &["nobody", "owner"], &["others"]),
    ("tracked", &["clean", "none"], &["dirty", "untracked"]),
    ("only_copy", &["false"], &["true"]),
    ("changed_since_memory", &["false"], &["true"]),
    ("protected", &["false"], &["true"]),
    ("secret", &["false"], &["true"]),
    ("reversible", &["true"], &["false"]),
];

impl Known {
    /// What `evidence` says of the targets at `now`.
    pub(super) fn new(
        targets: &[Named],
        workspace: &str,
        evidence: &EvidenceSet,
        rule: &BeliefRule,
        now: Timestamp,
    ) -> Result<Self, KnownError> {
        let of_files = file_facts()?;
        let mut facts = Vec::with_capacity(targets.len() * FACTS.len());
        let mut known = Self::default();
        for (number, target) in targets.iter().enumerate() {
            let is_target = |named: &TargetPath| *named == target.path;
            let entities = entities_of(&is_target, workspace, evidence);
            let memory = known_since(&target.path, workspace, evidence, now);
            known.memories.push(memory);
            for (fact, (attribute, _, hazards)) in of_files.as_slice().iter().zip(FACTS) {
                let name = format!("{}{}", fact.name(), suffix(number, '_'));
                let fact = Fact::new(name, fact.values().iter().map(String::as_str))?;
                let hazards: &[&str] = match attribute {
                    "kind" if !target.expects_something => &["file", "directory", "link", "mount"],
                    _ => hazards,
                };
                let about = About {
                    entities: &entities,
                    attribute,
                    hazards,
                };
                let mut belief = rule.believe(&fact, &about, evidence, now)?;
                if attribute == "changed_since_memory" && memory.is_none() {
                    belief = belief.only(["false"], "no evidence names the target")?;
                }
                known.beliefs.push(belief);
                facts.push(fact);
            }
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
        .filter(|entity| {
            let below = entity
                .strip_prefix(workspace)
                .and_then(|rest| rest.strip_prefix('/'));
            TargetPath::new(below.unwrap_or(entity)).is_ok_and(|named| is_meant(&named))
        })
        .collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

/// When what is known of a target was so, to compare with the times of its changes; `None` if no evidence names it.
///
/// That is the earliest time that any record of it, of a directory that it is in or of something in it goes back to,
/// unless the host, the person or the policy named the target itself later without anything less trusted having a part
/// in that. A record with impossible times goes back to the beginning: any change then counts as one since.
fn known_since(
    path: &TargetPath,
    workspace: &str,
    evidence: &EvidenceSet,
    now: Timestamp,
) -> Option<Timestamp> {
    let related = |named: &TargetPath| named.is_or_is_in(path) || path.is_or_is_in(named);
    let (related, itself) = (
        entities_of(&related, workspace, evidence),
        entities_of(&|named: &TargetPath| named == path, workspace, evidence),
    );
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
    fn every_fact_of_files_has_its_hazards() {
        let facts = file_facts().unwrap();
        assert_eq!(facts.as_slice().len(), FACTS.len());
        for (fact, (name, usual, hazards)) in facts.as_slice().iter().zip(FACTS) {
            assert_eq!(fact.name(), name);
            let mut declared: Vec<&str> = fact.values().iter().map(String::as_str).collect();
            let mut listed: Vec<&str> = usual.iter().chain(hazards).copied().collect();
            declared.sort_unstable();
            listed.sort_unstable();
            assert_eq!(declared, listed, "{name}");
        }
    }
}
