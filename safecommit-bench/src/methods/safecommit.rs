//! The controller of `safecommit-core`, driven by a benchmark episode.

use safecommit_conformal::Threshold;
use safecommit_core::{
    Action, Budget, Controller, Cost, Fallback, Fault, OutcomeModel, Probability, ProblemError,
    Reason, Settings, Step, Subject,
};

use super::{Environment, Memory, Method, Verdict};

/// Commits with a certificate, else makes the probe with the largest expected certificate shrinkage
/// per unit cost while the budget lasts, else falls back. P(unsafe commit) <= alpha + beta.
///
/// Probes are scanned by the (score, position) of the world that they ask about, which is how ties are
/// broken. Every action has the same utility, so of several certified ones the first is committed.
#[derive(Clone, Copy, Debug)]
pub struct SafeCommit {
    threshold: Threshold,
    settings: Settings,
}

impl SafeCommit {
    /// With this threshold, temperature of the weights and most probes an episode. A temperature that
    /// the controller refuses leaves its default in place.
    #[must_use]
    pub fn new(threshold: Threshold, temperature: f64, max_probes: u32) -> Self {
        let settings = Settings::default();
        Self {
            threshold,
            settings: settings
                .with_temperature(temperature)
                .unwrap_or(settings)
                .with_budget(Budget::probes(max_probes)),
        }
    }

    fn run(
        &self,
        environment: &mut Environment<'_>,
        memory: &mut Memory,
    ) -> Result<Verdict, ProblemError> {
        fill(environment, memory)?;
        let mut controller = Controller::start(
            &memory.problem,
            &self.settings,
            self.threshold,
            &mut memory.workspace,
        );
        loop {
            match controller.next_step() {
                Step::Probe(choice) => {
                    let outcome = environment.ask(memory.order[choice.probe]);
                    // A report that is refused makes the next step a fallback.
                    let _ = controller.observe(choice.probe, outcome);
                }
                Step::Commit(certificate) => {
                    let action = certificate.action();
                    return Ok(match controller.redeem(certificate, action) {
                        Ok(action) => Verdict::Commit { action },
                        Err(_) => fallback(Reason::Error(Fault::Inconsistent)),
                    });
                }
                Step::Fallback(reached) => return Ok(fallback(reached.reason)),
            }
        }
    }
}

impl Method for SafeCommit {
    fn decide(&self, environment: &mut Environment<'_>, memory: &mut Memory) -> Verdict {
        let verdict = self.run(environment, memory);
        memory.keep_fates(environment);
        verdict.unwrap_or_else(|_| fallback(Reason::Error(Fault::Inconsistent)))
    }
}

/// Puts the episode into the problem in `memory`, the order of its probes into `memory.order`.
fn fill(environment: &Environment<'_>, memory: &mut Memory) -> Result<(), ProblemError> {
    let problem = &mut memory.problem;
    // Nothing outlives the decision, so one subject serves all episodes.
    problem.reset(Subject([0; 32]));
    for _ in 0..environment.actions() {
        problem.add_action(Action::default())?;
    }
    let proposed = environment.proposed();
    for world in proposed {
        let safe = world.safe;
        let actions = (0..environment.actions()).filter(|action| safe >> action & 1 == 1);
        problem.add_world(world.score.score(), actions)?;
    }
    let probes = environment.probes();
    // Position of the asked world among the proposed ones, which the data's own checks ensure.
    let asked = |probe: usize| {
        proposed
            .iter()
            .position(|world| world.position == probes[probe].asks)
            .ok_or(ProblemError::UnknownWorld {
                world: probes[probe].asks,
            })
    };
    memory.order.clear();
    memory.order.extend(0..probes.len());
    memory.order.sort_unstable_by_key(|&probe| {
        let rank = asked(probe).map(|world| proposed[world].rank());
        (rank.ok(), probe)
    });
    for &probe in &memory.order {
        problem.add_probe(
            Cost::new(probes[probe].cost)?,
            Probability::ZERO,
            OutcomeModel::Identity {
                world: asked(probe)?,
            },
        )?;
    }
    Ok(())
}

fn fallback(reason: Reason) -> Verdict {
    let Fallback { kind, reason } = Fallback::from(reason);
    Verdict::Fallback {
        kind,
        reason: Some(reason),
    }
}
