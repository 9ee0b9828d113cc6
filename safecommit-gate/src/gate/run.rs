//! The probes of a decision, one after the other.

use std::time::{Duration, Instant};

use safecommit_conformal::Calibration;
use safecommit_core::{Case, Decision, Step, Workspace};

use super::pose::observation;
use super::{GateError, Pose, micros};
use crate::audit::MadeProbe;
use crate::domain::{Answer, Domain};

/// The probes of a decision in progress.
pub(super) struct Run<'r, D: ?Sized> {
    pub(super) domain: &'r mut D,
    pub(super) pose: &'r Pose,
    pub(super) begun: Instant,
    pub(super) probing: Duration,
    /// Those that were made, in their order.
    pub(super) made: Vec<MadeProbe>,
}

impl<D: Domain + ?Sized> Run<'_, D> {
    /// Makes probes until the controller wants none, or one that nobody answers yet, and decides. `posed` are those of the
    /// request, by their positions in the pose.
    pub(super) fn probe(
        &mut self,
        case: Case,
        posed: &[usize],
        calibration: Option<&Calibration>,
    ) -> Result<(Case, Decision), GateError> {
        let mut observed = case.request().observed.clone();
        let mut elapsed = case.request().elapsed_steps;
        let mut memory = Workspace::default();
        let mut controller = case.controller(calibration, &mut memory);
        let limit = case.request().settings.max_steps;
        while let Step::Probe(choice) = controller.next_step() {
            if let Some(limit) = limit.filter(|limit| millis(self.begun.elapsed()) >= *limit) {
                elapsed = limit;
                break;
            }
            let posed = &self.pose.probes[posed[choice.probe]];
            let begun = Instant::now();
            let answer = self.domain.make(posed.offered);
            let took = begun.elapsed();
            self.probing += took;
            if answer == Answer::NotYet {
                break;
            }
            let probe = &case.request().probes[choice.probe];
            let outcome = posed.outcome(&answer, &self.pose.facts);
            let failure = match answer {
                Answer::Failed(reason) => Some(reason),
                _ if outcome.is_none() => Some("it left open what it should reveal".to_owned()),
                _ => None,
            };
            let observation = observation(probe, outcome);
            self.made.push(MadeProbe {
                id: probe.id.clone(),
                purpose: choice.purpose,
                rule: choice.rule,
                expected_shrinkage: choice.shrinkage,
                score: choice.score,
                information: choice.information,
                outcome: observation.outcome.clone(),
                failure,
                duration: micros(took),
            });
            // A report that is refused makes the controller escalate with that reason.
            let _ = match outcome {
                Some(outcome) => controller.observe(choice.probe, outcome),
                None => controller.probe_failed(choice.probe),
            };
            observed.push(observation);
        }
        let case = case.with_observed(observed, elapsed)?;
        let decision = case.decide(calibration);
        Ok((case, decision))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
