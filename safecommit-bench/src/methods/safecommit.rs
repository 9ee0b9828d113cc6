//! The controller of `safecommit-core`, driven by a benchmark episode.

use std::num::NonZeroU64;

use safecommit_conformal::{LoggedSeed, Threshold};
use safecommit_core::{
    Budget, Controller, Fallback, Fault, Probing, ProblemError, Reason, Settings, Step,
    Verification,
};

use super::{Environment, Method, Scratch, Verdict};
use crate::episode::Family;

/// Commits with a certificate, else makes the probe with the largest expected certificate shrinkage
/// per unit cost while the budget lasts, else falls back. P(unsafe commit) <= alpha + beta.
///
/// Ties between probes go by [`Environment::scan`]. Every action has the same utility, so of several certified ones the first is committed.
///
/// Swept over alpha, which moves the threshold, it traces risk against coverage: a smaller alpha retains more
/// worlds.
#[derive(Clone, Debug)]
pub struct SafeCommit {
    /// One a family, in the order of [`Family::ALL`].
    thresholds: [Threshold; Family::ALL.len()],
    settings: Settings,
}

impl SafeCommit {
    /// With this threshold, temperature of the weights and most probes an episode. A temperature that
    /// the controller refuses leaves its default in place.
    #[must_use]
    pub fn new(threshold: &Threshold, temperature: f64, max_probes: u32) -> Self {
        let thresholds = Family::ALL.map(|_| threshold.clone());
        Self::by_family(thresholds, temperature, max_probes)
    }

    /// The same with a threshold for each family, in the order of [`Family::ALL`]: group-conditional, if each
    /// is calibrated on its own family, or weighted, if each is that of the weight of its family.
    #[must_use]
    pub fn by_family(
        thresholds: [Threshold; Family::ALL.len()],
        temperature: f64,
        max_probes: u32,
    ) -> Self {
        let settings = Settings::default();
        Self {
            thresholds,
            settings: settings
                .with_temperature(temperature)
                .unwrap_or(settings)
                .with_budget(Budget::probes(max_probes)),
        }
    }

    /// The same, choosing probes by another rule. A random one draws from the policy stream of each episode: the
    /// seed given here is mixed with the first word of that stream.
    #[must_use]
    pub fn probing(self, probing: Probing) -> Self {
        let settings = self.settings.with_probing(probing);
        Self { settings, ..self }
    }

    /// The same, verifying certificates before they are used.
    ///
    /// # Errors
    ///
    /// [`ProblemError`] for a price that is not finite and at least zero.
    pub fn verifying(self, verification: Verification) -> Result<Self, ProblemError> {
        let settings = self.settings.with_verification(verification)?;
        Ok(Self { settings, ..self })
    }
}

impl Method for SafeCommit {
    fn decide(&self, environment: &mut Environment<'_>, scratch: &mut Scratch) -> Verdict {
        let Some(problem) = environment.problem() else {
            return fallback(Reason::Error(Fault::Inconsistent));
        };
        let workspace = &mut scratch.workspace;
        let threshold = &self.thresholds[environment.family() as usize];
        let settings = match self.settings.probing() {
            Probing::Random { seed } => self.settings.with_probing(Probing::Random {
                seed: of_episode(seed, environment),
            }),
            _ => self.settings,
        };
        let mut controller = Controller::start(problem, &settings, threshold, workspace);
        loop {
            match controller.next_step() {
                Step::Probe(choice) => {
                    let outcome = environment.ask(environment.scan()[choice.probe]);
                    // A report that is refused makes the next step a fallback.
                    let _ = controller.observe(choice.probe, outcome);
                }
                Step::Commit(certificate) => {
                    let action = certificate.action();
                    return match controller.redeem(certificate, action) {
                        Ok(action) => Verdict::Commit { action },
                        Err(_) => fallback(Reason::Error(Fault::Inconsistent)),
                    };
                }
                Step::Fallback(reached) => return fallback(reached.reason),
            }
        }
    }
}

/// The seed of the random rule for one episode: the problems of all episodes have one subject.
fn of_episode(seed: LoggedSeed, environment: &Environment<'_>) -> LoggedSeed {
    let word = environment.random().next_u64().to_be_bytes();
    let drawn = seed.below(&word, NonZeroU64::MAX);
    LoggedSeed::new(drawn.to_be_bytes())
}

fn fallback(reason: Reason) -> Verdict {
    let Fallback { kind, reason } = Fallback::from(reason);
    Verdict::Fallback {
        kind,
        reason: Some(reason),
    }
}
