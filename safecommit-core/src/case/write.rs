//! Writes the decision record of a controller.

use super::Case;
use super::governing::Governing;
use super::record::{
    ActionRecord, BoundRecord, CalibrationRecord, CertificateRecord, ClassRecord, DecisionKind,
    DecisionRecord, FallbackRecord, ProbeRecord, WorldFate, WorldRecord,
};
use super::request::Observation;
use crate::bound::ErrorBound;
use crate::controller::{Controller, Fate, Step};
use crate::fallback::{Fallback, FallbackKind, Fault, Reason, Stop};
use crate::plausible::Plausibility;
use indexmap::IndexMap;
use safecommit_conformal::Calibration;

/// Writes down where `controller`, started from `case`, stands at `step`.
pub(super) fn write(
    case: &Case,
    governing: &Governing<'_>,
    controller: &mut Controller<'_>,
    step: &Step,
) -> DecisionRecord {
    let calibration = governing.as_ref().ok().copied().flatten();
    let bound = bound_of(case, calibration, controller);
    let observed = observed(case, controller);
    let fates = controller.fates().to_vec();
    let threshold = controller.threshold().finite().map(|score| score.value());
    let reopened = controller.is_reopened();
    let faulty = controller.fault().is_some();
    controller.weigh();
    let plausibility = controller.remaining();
    let mut record = DecisionRecord {
        id: case.request.id.clone(),
        stratum: case.request.stratum.clone(),
        decision: DecisionKind::Probe,
        action: None,
        certificate: None,
        probe: None,
        fallback: None,
        actions: actions(case, plausibility, faulty),
        worlds: worlds(case, &fates, plausibility),
        classes: classes(case, plausibility),
        observed,
        threshold,
        reopened,
        calibration: calibration.map(CalibrationRecord::from),
        bound: BoundRecord::from(&bound),
        subject: case
            .problem
            .subject()
            .0
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    };
    match step {
        Step::Commit(certificate) => {
            let action = action_name(case, certificate.action());
            record.decision = DecisionKind::Commit;
            record.action = Some(action.clone());
            record.certificate = Some(CertificateRecord {
                action,
                safe_in: plausible_names(case, plausibility),
                observations: certificate.observations(),
                alpha: certificate.threshold().alpha(),
                guarantee: certificate.threshold().guarantee().cloned(),
            });
        }
        Step::Probe(choice) => {
            let proposal = &case.request.probes[choice.probe];
            let outcomes = &case.outcomes[choice.probe];
            record.probe = Some(ProbeRecord {
                id: proposal.id.clone(),
                cost: proposal.cost,
                expected_shrinkage: choice.shrinkage,
                score: choice.score,
                purpose: choice.purpose,
                rule: choice.rule,
                outcomes: outcomes.iter().map(str::to_owned).collect(),
            });
        }
        Step::Fallback(fallback) => {
            record.decision = match fallback.kind {
                FallbackKind::Defer => DecisionKind::Defer,
                FallbackKind::Escalate => DecisionKind::Escalate,
                FallbackKind::Abstain => DecisionKind::Abstain,
            };
            record.fallback = Some(explain(case, governing, fallback));
        }
    }
    record
}

fn actions(case: &Case, plausibility: Plausibility<'_>, faulty: bool) -> Vec<ActionRecord> {
    case.request
        .actions
        .iter()
        .enumerate()
        .map(|(position, action)| {
            let (blocked_by, residual_mass) = match plausibility {
                Plausibility::Plausible(plausible) => (
                    plausible
                        .uncertified_region(position)
                        .map(|world| world_name(case, world))
                        .collect(),
                    Some(plausible.residual_mass(position)),
                ),
                Plausibility::Empty | Plausibility::Faulty(_) => (Vec::new(), None),
            };
            ActionRecord {
                id: action.id.clone(),
                family: action.family.clone(),
                certified: residual_mass.is_some() && blocked_by.is_empty() && !faulty,
                blocked_by,
                residual_mass,
            }
        })
        .collect()
}

fn worlds(case: &Case, fates: &[Fate], plausibility: Plausibility<'_>) -> Vec<WorldRecord> {
    let mut weights = vec![None; fates.len()];
    if let Plausibility::Plausible(plausible) = plausibility {
        for (world, &weight) in plausible.worlds().zip(plausible.weights()) {
            weights[world] = Some(weight);
        }
    }
    let mut reasons = IndexMap::<&str, Vec<&str>>::new();
    for evidence in &case.request.hard_evidence {
        let against = reasons.entry(&evidence.world).or_default();
        against.push(&evidence.reason);
    }
    let reasons_against = |world: &str| reasons.get(world).map(|reasons| reasons.join("; "));
    case.request
        .worlds
        .iter()
        .zip(fates)
        .zip(weights)
        .map(|((world, fate), weight)| {
            let (fate, removed_by) = match *fate {
                Fate::Retained => (WorldFate::Plausible, None),
                Fate::Contradicted => (WorldFate::Contradicted, reasons_against(&world.id)),
                Fate::AboveThreshold => (WorldFate::AboveThreshold, None),
                Fate::Refuted { probe } => (WorldFate::Refuted, Some(probe_name(case, probe))),
            };
            WorldRecord {
                id: world.id.clone(),
                score: world.score,
                fate,
                removed_by,
                weight,
            }
        })
        .collect()
}

fn classes(case: &Case, plausibility: Plausibility<'_>) -> Vec<ClassRecord> {
    let Plausibility::Plausible(plausible) = plausibility else {
        return Vec::new();
    };
    plausible
        .classes()
        .into_iter()
        .map(|class| ClassRecord {
            safe: class
                .signature
                .iter()
                .map(|action| action_name(case, action))
                .collect(),
            worlds: class
                .worlds
                .into_iter()
                .map(|world| world_name(case, world))
                .collect(),
        })
        .collect()
}

fn observed(case: &Case, controller: &Controller<'_>) -> Vec<Observation> {
    controller
        .history()
        .iter()
        .map(|report| Observation {
            probe: probe_name(case, report.probe),
            outcome: report
                .outcome
                .and_then(|outcome| case.outcomes[report.probe].name(outcome))
                .map(str::to_owned),
        })
        .collect()
}

fn bound_of(
    case: &Case,
    calibration: Option<&Calibration>,
    controller: &Controller<'_>,
) -> ErrorBound {
    let used = controller
        .history()
        .iter()
        .filter(|report| report.outcome.is_some())
        .map(|report| {
            let rate = case.problem.probes()[report.probe].error_rate();
            (probe_name(case, report.probe), rate)
        });
    ErrorBound::new(calibration, case.beta, used)
}

fn plausible_names(case: &Case, plausibility: Plausibility<'_>) -> Vec<String> {
    match plausibility {
        Plausibility::Plausible(plausible) => plausible
            .worlds()
            .map(|world| world_name(case, world))
            .collect(),
        Plausibility::Empty | Plausibility::Faulty(_) => Vec::new(),
    }
}

fn action_name(case: &Case, action: usize) -> String {
    case.request.actions[action].id.clone()
}

fn world_name(case: &Case, world: usize) -> String {
    case.request.worlds[world].id.clone()
}

fn probe_name(case: &Case, probe: usize) -> String {
    case.request.probes[probe].id.clone()
}

/// The reason of a fallback as a fixed word and as a sentence.
fn explain(case: &Case, governing: &Governing<'_>, fallback: &Fallback) -> FallbackRecord {
    let (reason, mut explanation) = match fallback.reason {
        Reason::Error(fault @ Fault::Stratum) => (
            "stratum_not_calibrated",
            match governing {
                Err(ungoverned) => ungoverned.to_string(),
                Ok(_) => fault.to_string(),
            },
        ),
        Reason::Error(fault @ Fault::OtherPolicy { .. }) => {
            ("policy_not_calibrated", fault.to_string())
        }
        Reason::Error(fault) => ("error", format!("an error on the decision path: {fault}")),
        Reason::NoWorldProposed => (
            "no_world_proposed",
            "no world was proposed, so nothing can be certified".to_owned(),
        ),
        Reason::NoWorldPlausible => (
            "no_world_plausible",
            "hard evidence and the threshold leave none of the proposed worlds plausible"
                .to_owned(),
        ),
        Reason::EveryWorldRefuted => (
            "every_world_refuted",
            "what was observed refutes every world that was plausible".to_owned(),
        ),
        Reason::NothingSafeAnywhere => (
            "nothing_safe_anywhere",
            "no candidate action is safe in any plausible world".to_owned(),
        ),
        Reason::AuthorityMissing { .. } => (
            "authority_missing",
            "somebody with authority has to decide".to_owned(),
        ),
        Reason::FreshEvidenceExpected { .. } => (
            "fresh_evidence_expected",
            "the request expects fresh evidence".to_owned(),
        ),
        Reason::ProbeRepeatableLater { probe, .. } => (
            "probe_repeatable_later",
            format!(
                "the probe `{}` may be repeated later",
                probe_name(case, probe)
            ),
        ),
        Reason::Unresolved { .. } => (
            "unresolved",
            "every action is unsafe in some plausible world".to_owned(),
        ),
    };
    if let Some(stop) = fallback.reason.stop() {
        explanation.push_str(match stop {
            Stop::NoProbeHelps => "; no remaining probe helps",
            Stop::ProbeBudgetSpent => "; the probe budget is spent",
            Stop::CostBudgetSpent => "; the cost budget buys no probe that helps",
            Stop::StepBudgetSpent => "; the time is up",
        });
    }
    FallbackRecord {
        kind: fallback.kind,
        reason: reason.to_owned(),
        explanation,
    }
}
