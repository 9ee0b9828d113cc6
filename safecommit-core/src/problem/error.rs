//! What keeps a problem, or a number in it, from being accepted.

use thiserror::Error;

/// Why a problem could not be put together.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A probability outside [0, 1], or NaN.
    #[error("`{value}` is not a probability in [0, 1]")]
    NotAProbability {
        /// The number.
        value: f64,
    },
    /// A cost that is not finite and above zero.
    #[error("cost `{value}` is not a finite number above zero")]
    CostNotPositive {
        /// The number.
        value: f64,
    },
    /// A reward that is not finite.
    #[error("reward `{value}` is not finite")]
    RewardNotFinite {
        /// The number.
        value: f64,
    },
    /// A severity that is not finite and at least zero.
    #[error("severity `{value}` is not a finite number of at least zero")]
    SeverityInvalid {
        /// The number.
        value: f64,
    },
    /// A setting out of its range.
    #[error("{setting} `{value}` is out of range: {range}")]
    SettingInvalid {
        /// Which setting.
        setting: &'static str,
        /// The number.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// An action that is not among the candidates.
    #[error("action {action} is not among the candidates")]
    UnknownAction {
        /// Its position.
        action: usize,
    },
    /// A world that was not proposed.
    #[error("world {world} was not proposed")]
    UnknownWorld {
        /// Its position.
        world: usize,
    },
    /// Actions must come before worlds, worlds before probes.
    #[error("{what} added too late: actions come first, then worlds, then probes")]
    OutOfOrder {
        /// What was added.
        what: &'static str,
    },
    /// A probe without outcomes.
    #[error("a probe needs at least one outcome")]
    NoOutcomes,
    /// An outcome model that does not cover exactly the proposed worlds.
    #[error("the outcome model has {entries} entries, {expected} are needed")]
    OutcomeModelSize {
        /// How many it has.
        entries: usize,
        /// How many the worlds and outcomes need.
        expected: usize,
    },
    /// An outcome that the probe does not declare.
    #[error("outcome {outcome} is not declared by the probe, which has {outcomes}")]
    UnknownOutcome {
        /// The outcome's position.
        outcome: usize,
        /// How many outcomes there are.
        outcomes: usize,
    },
    /// Outcome probabilities of a world that do not sum to one.
    #[error("the outcome probabilities of world {world} sum to `{sum}`, not to 1")]
    ProbabilitiesDoNotSumToOne {
        /// Position of the world.
        world: usize,
        /// Their sum.
        sum: f64,
    },
    /// A world that an evidence atom contradicts, though nothing contradicts it in the problem.
    #[error("an atom contradicts world {world}, which the problem holds to be possible")]
    NotContradicted {
        /// Position of the world.
        world: usize,
    },
    /// More worlds than positions of 32 bits can tell apart.
    #[error("more than {limit} worlds")]
    TooManyWorlds {
        /// How many are possible.
        limit: usize,
    },
}
