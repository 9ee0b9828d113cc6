//! What stands in the record of a decision in words.

use safecommit_core::{DecisionKind, WorldFate};

use super::domain::FileDomain;
use super::proposal::FileRequest;
use crate::evidence::Inconsistency;
use crate::execute::Proposal;
use crate::gate::Decided;

/// The details of a record that hold paths, or words of the agent in which a path may stand. Of the rest of it only why probes
/// failed does, and the names of questions to persons, which are
/// [`RedactedField::Question`](crate::audit::RedactedField::Question).
pub const PATH_DETAILS: [&str; 7] = [
    "actions",
    "targets",
    "refused",
    "tool",
    "uses",
    "contradictions",
    "impossible_times",
];

/// The circumstances in words.
pub(super) fn details(
    request: &FileRequest,
    proposal: &Proposal,
    domain: &FileDomain<'_>,
) -> Vec<(String, String)> {
    let mut actions = Vec::new();
    let mut refused = Vec::new();
    for (number, action) in request.actions().enumerate() {
        let name = action.candidate_name(number);
        let described = proposal.describe(number).unwrap_or_default();
        actions.push(format!("{name}: {described}"));
        if let Err(reason) = domain.probed(number) {
            refused.push(format!("{name}: {reason}"));
        }
    }
    let targets = (1..).zip(domain.targets());
    let targets: Vec<String> = targets
        .map(|(number, path)| format!("{number}: `{path}`"))
        .collect();
    let mut details = vec![
        ("actions".to_owned(), actions.join("; ")),
        ("targets".to_owned(), targets.join("; ")),
        ("tool".to_owned(), request.tool.clone()),
        ("uses".to_owned(), request.uses.join(", ")),
    ];
    if !refused.is_empty() {
        details.push(("refused".to_owned(), refused.join("; ")));
    }
    details
}

/// What a reader of the record would otherwise have to find out from it.
pub(super) fn remarks(request: &FileRequest, decided: &Decided) -> Vec<(String, String)> {
    let (asked, record) = (decided.case().request(), decided.record());
    let mut remarks = Vec::new();
    if asked.authority_missing && !request.authority_missing {
        let remark = "nothing but facts about who may decide stands in the way";
        remarks.push(("authority".to_owned(), remark.to_owned()));
    }
    if let (DecisionKind::Commit, Some(action)) = (record.decision, &record.action) {
        let worlds = asked.worlds.iter().zip(&record.worlds);
        let unsafe_above = worlds.filter(|(world, stands)| {
            stands.fate == WorldFate::AboveThreshold && !world.safe.contains(action)
        });
        match unsafe_above.count() {
            0 => {}
            left => remarks.push((
                "unverified".to_owned(),
                format!("worlds above the threshold in which `{action}` is not safe, and that no answer refuted: {left}"),
            )),
        }
    }
    remarks
}

/// So many contradictions, and so many impossible times, are named in a record.
const NAMED: usize = 64;

/// What is the matter with the evidence. Names of records may hold paths too, so both details are among [`PATH_DETAILS`].
pub(super) fn inconsistency_details(
    inconsistencies: &[Inconsistency],
) -> impl Iterator<Item = (String, String)> {
    let (contradictions, times): (Vec<_>, Vec<_>) = inconsistencies
        .iter()
        .partition(|found| matches!(found, Inconsistency::Contradiction { .. }));
    let named = [
        ("contradictions", contradictions),
        ("impossible_times", times),
    ];
    named
        .into_iter()
        .filter(|(_, found)| !found.is_empty())
        .map(|(name, found)| {
            let shown = found.iter().take(NAMED).map(ToString::to_string);
            let mut text = shown.collect::<Vec<_>>().join("; ");
            if found.len() > NAMED {
                text += &format!("; and {} more", found.len() - NAMED);
            }
            (name.to_owned(), text)
        })
}
