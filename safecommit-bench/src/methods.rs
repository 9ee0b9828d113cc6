//! The methods that are compared, each as what it may see and what it decides.

mod confidence;
mod conflict_abstention;
mod environment;
mod execution_containment;
mod generic_one_probe;
mod policy_only;
mod safecommit;
mod scalar_confidence;
mod single_world;

use std::fmt;
use std::str::FromStr;

use safecommit_conformal::{Alpha, Calibration, CalibrationScore, Misses, Threshold};
use safecommit_core::{FallbackKind, Fate, Reason, Workspace};
use serde::{Deserialize, Serialize};

use crate::episode::backticked;

pub use confidence::ConfidenceThreshold;
pub use conflict_abstention::{ConflictAbstention, Margin, tune_margin};
pub(crate) use environment::View;
pub use environment::{Environment, Inspection, ProposedProbe, ProposedWorld};
pub use execution_containment::ExecutionContainment;
pub use generic_one_probe::GenericOneProbe;
pub use policy_only::PolicyOnly;
pub use safecommit::SafeCommit;
pub use scalar_confidence::{ScalarConfidence, tune_confidence};
pub use single_world::SingleWorld;

/// A method under comparison: sees an episode through an [`Environment`], which never shows the true
/// world, and decides.
///
/// To add one: implement this in a file of `methods/` and re-export it in `lib.rs`; add a variant to
/// [`MethodName`] and to [`MethodName::ALL`], and follow the compiler through the functions that match on
/// it. The tables then have a row more, so freeze them anew.
///
/// ```
/// use safecommit_bench::{
///     DrawnEpisode, Environment, Generator, Memory, Method, Parameters, Scratch, Split, Suite, Verdict,
///     decide,
/// };
///
/// /// Takes the first action, whatever the evidence.
/// struct Reckless;
///
/// impl Method for Reckless {
///     fn decide(&self, _: &mut Environment<'_>, _: &mut Scratch) -> Verdict {
///         Verdict::Commit { action: 0 }
///     }
/// }
///
/// let parameters = Parameters::project()?;
/// let generator = Generator::new(&parameters.generator, Suite::Experiment { seed: 1 }, Split::Test);
/// let drawn = generator.draw(0);
/// let policy = || generator.policy_stream(0);
/// let ending = decide(&Reckless, drawn.episode(), &policy, &mut Memory::default());
/// assert_eq!(ending.verdict, Verdict::Commit { action: 0 });
/// assert!(ending.probes.is_empty());
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
pub trait Method: Sync {
    /// Decides one episode; probes are made by asking the environment.
    fn decide(&self, environment: &mut Environment<'_>, scratch: &mut Scratch) -> Verdict;
}

/// How a method ended an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It commits this action.
    Commit {
        /// Position of the action.
        action: usize,
    },
    /// It does not act. A certificate method says why.
    Fallback {
        /// What to do instead.
        kind: FallbackKind,
        /// The controller's reason, where a controller decided.
        reason: Option<Reason>,
    },
}

/// Memory that decisions on episodes are made in, reused from episode to episode.
#[derive(Debug, Default)]
pub struct Memory {
    pub(crate) view: View,
    pub(crate) scratch: Scratch,
}

/// What a method may write while it decides.
#[derive(Debug, Default)]
pub struct Scratch {
    workspace: Workspace,
}

impl Scratch {
    /// Where a certificate method left the proposed world at this position. Meaningless after a method
    /// that keeps no plausible set.
    pub(crate) fn fate(&self, world: usize) -> Option<Fate> {
        self.workspace.fates().get(world).copied()
    }
}

/// The methods of the paper, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Acts on the world with the lowest score.
    SingleWorld,
    /// Asks about one retained world at random, then acts on the best hypothesis left.
    GenericOneProbe,
    /// Acts on the world with the lowest score unless a retained world of another action comes close.
    ConflictAbstention,
    /// Certifies, or falls back.
    SafecommitNoProbe,
    /// Certifies, else probes within the budget, else falls back.
    Safecommit,
}

/// What a method is built with, all of it fixed before the test episodes are seen.
#[derive(Clone, Debug)]
pub struct MethodSettings {
    /// Threshold from the calibration episodes.
    pub threshold: Threshold,
    /// Temperature T of the weights exp(-s / T).
    pub temperature: f64,
    /// Most probes an episode, for the methods that take a budget.
    pub max_probes: u32,
    /// What conflict abstention was tuned to.
    pub conflict: ConflictAbstention,
}

impl MethodName {
    /// All methods, in the order of the tables. A test holds it complete.
    pub const ALL: [Self; 5] = [
        Self::SingleWorld,
        Self::GenericOneProbe,
        Self::ConflictAbstention,
        Self::SafecommitNoProbe,
        Self::Safecommit,
    ];

    /// The name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleWorld => "single_world",
            Self::GenericOneProbe => "generic_one_probe",
            Self::ConflictAbstention => "conflict_abstention",
            Self::SafecommitNoProbe => "safecommit_no_probe",
            Self::Safecommit => "safecommit",
        }
    }

    /// Whether the paper has the method; the figures of any other are marked as new in the tables.
    #[must_use]
    pub fn in_paper(self) -> bool {
        match self {
            Self::SingleWorld
            | Self::GenericOneProbe
            | Self::ConflictAbstention
            | Self::SafecommitNoProbe
            | Self::Safecommit => true,
        }
    }

    /// Whether the method commits only with a certificate.
    #[must_use]
    pub fn certifies(self) -> bool {
        matches!(self, Self::SafecommitNoProbe | Self::Safecommit)
    }

    /// The most probes that the method makes in an episode under a budget of `max_probes`.
    #[must_use]
    pub fn probes_within(self, max_probes: u32) -> u32 {
        match self {
            Self::SingleWorld | Self::ConflictAbstention | Self::SafecommitNoProbe => 0,
            Self::GenericOneProbe => 1,
            Self::Safecommit => max_probes,
        }
    }

    /// Builds the method.
    #[must_use]
    pub fn build(self, settings: &MethodSettings) -> Box<dyn Method> {
        match self {
            Self::SingleWorld => Box::new(SingleWorld),
            Self::GenericOneProbe => Box::new(GenericOneProbe::new(&settings.threshold)),
            Self::ConflictAbstention => Box::new(settings.conflict.clone()),
            Self::SafecommitNoProbe | Self::Safecommit => Box::new(SafeCommit::new(
                &settings.threshold,
                settings.temperature,
                self.probes_within(settings.max_probes),
            )),
        }
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that is no method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown method `{0}`, expected one of {known}", known = backticked(MethodName::ALL.map(MethodName::name)))]
pub struct UnknownMethod(pub String);

impl FromStr for MethodName {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

/// Split-conformal calibration (Eq. 14) on the scores of the true worlds of calibration episodes; a true
/// world that was not proposed counts as missing, and the misses as counted.
///
/// ```
/// use safecommit_bench::{Episode, Generator, Parameters, Split, Suite, calibrate};
///
/// let parameters = Parameters::project()?;
/// let suite = Suite::Experiment { seed: 1 };
/// let generator = Generator::new(&parameters.generator, suite, Split::Calibration);
/// let cases: Vec<Episode> = (0..99).map(|index| generator.draw(index).episode().clone()).collect();
/// let calibration = calibrate("0.05".parse()?, &cases);
/// assert_eq!((calibration.n(), calibration.rank()), (99, 95));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn calibrate<'a>(
    alpha: Alpha,
    episodes: impl IntoIterator<Item = &'a crate::Episode>,
) -> Calibration {
    let scores: Vec<_> = episodes.into_iter().map(calibration_score).collect();
    // The generator knows of every miss, so none listed means that none occurred.
    Calibration::split_conformal_with(alpha, &scores, Misses::AllListed)
}

/// The score of the true world of an episode, missing if it was not proposed.
#[must_use]
pub fn calibration_score(episode: &crate::Episode) -> CalibrationScore {
    if episode.true_world_proposed() {
        CalibrationScore::Observed(episode.worlds()[episode.true_world()].score.score())
    } else {
        CalibrationScore::Missing
    }
}

/// The fallback of a method without a controller, by the rule of the controller: abstain when the
/// worlds it looks at are some and no action is safe in any of them, else escalate.
fn fallback<'a>(worlds: impl IntoIterator<Item = &'a ProposedWorld>) -> Verdict {
    let mut worlds = worlds.into_iter().peekable();
    let kind = if worlds.peek().is_some() && worlds.all(|world| world.safe == 0) {
        FallbackKind::Abstain
    } else {
        FallbackKind::Escalate
    };
    Verdict::Fallback { kind, reason: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variant more does not compile here until it is counted, and fails until `ALL` has it.
    #[test]
    fn all_names_every_method_once() {
        for (position, method) in MethodName::ALL.into_iter().enumerate() {
            let expected = match method {
                MethodName::SingleWorld => 0,
                MethodName::GenericOneProbe => 1,
                MethodName::ConflictAbstention => 2,
                MethodName::SafecommitNoProbe => 3,
                MethodName::Safecommit => 4,
            };
            assert_eq!(position, expected);
            assert_eq!(method.name().parse(), Ok(method));
        }
        let error = "best".parse::<MethodName>().unwrap_err().to_string();
        assert!(
            error.ends_with("`safecommit_no_probe`, `safecommit`"),
            "{error}"
        );
    }
}
