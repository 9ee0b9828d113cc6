//! Whether a decision with codes in place of values is the same decision.

use safecommit_core::DecisionRecord;

use crate::audit::entry::Entry;

/// In what the redacted decision is not the given one.
pub(super) fn disagreement(given: &Entry, redacted: &Entry) -> Option<&'static str> {
    let (before, after) = (&given.record, &redacted.record);
    let chosen = |entry: &Entry| {
        let actions = &entry.request.actions;
        let name = entry.record.action.as_ref()?;
        actions.iter().position(|action| action.id == *name)
    };
    let asked = |entry: &Entry| {
        let name = &entry.record.probe.as_ref()?.id;
        entry
            .request
            .probes
            .iter()
            .position(|probe| probe.id == *name)
    };
    let fallback = |record: &DecisionRecord| {
        let fallback = record.fallback.as_ref();
        fallback.map(|fallback| (fallback.kind, fallback.reason.clone()))
    };
    let worlds = |record: &DecisionRecord| -> Vec<_> {
        let worlds = record.worlds.iter();
        worlds
            .map(|world| {
                (
                    world.score.to_bits(),
                    world.fate,
                    world.weight.map(f64::to_bits),
                )
            })
            .collect()
    };
    let actions = |record: &DecisionRecord| -> Vec<_> {
        let actions = record.actions.iter();
        actions
            .map(|action| (action.certified, action.residual_mass.map(f64::to_bits)))
            .collect()
    };
    let parts = [
        (
            "another decision results",
            before.decision == after.decision,
        ),
        ("another action results", chosen(given) == chosen(redacted)),
        ("another probe results", asked(given) == asked(redacted)),
        (
            "another fallback results",
            fallback(before) == fallback(after),
        ),
        (
            "the fates of worlds differ",
            worlds(before) == worlds(after),
        ),
        (
            "what blocks the actions differs",
            actions(before) == actions(after),
        ),
        ("the bound differs", before.bound.total == after.bound.total),
        (
            "the calibration differs",
            before.calibration == after.calibration,
        ),
    ];
    parts
        .into_iter()
        .find(|(_, same)| !same)
        .map(|(what, _)| what)
}
