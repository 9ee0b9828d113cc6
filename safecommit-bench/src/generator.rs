//! Draws episodes, each from random streams of its own.

mod components;

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::episode::{Episode, EpisodeProbe, EpisodeWorld, Family};
use crate::mediation::Mediation;
use crate::micros::Micros;
use crate::parameters::{FamilyParameters, GeneratorParameters};
use crate::random::{RandomStream, StreamKey};

use components::split_score;

/// Changes whenever the same parameters and seed give other episodes than before.
pub const GENERATOR_VERSION: u32 = 1;

/// What a set of episodes is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Learning a score.
    Train,
    /// Choosing settings.
    Validation,
    /// Thresholds.
    Calibration,
    /// Results.
    Test,
}

impl Split {
    /// All splits, in the order of the manifest.
    pub const ALL: [Self; 4] = [Self::Train, Self::Validation, Self::Calibration, Self::Test];

    /// The split's name, in file names and episode ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
            Self::Calibration => "calibration",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Whom episodes are drawn for. Two suites never share a random number, whatever their seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Suite {
    /// The frozen splits.
    Frozen {
        /// Seed of all frozen splits.
        seed: u64,
    },
    /// One run of the experiments.
    Experiment {
        /// Seed of the run.
        seed: u64,
    },
    /// The comparison with methods that mediate actions: the same law of worlds, and a [`Mediation`].
    Compared {
        /// Seed of the run.
        seed: u64,
    },
}

impl Suite {
    /// The suite's name, part of the key of its random streams.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frozen { .. } => "frozen",
            Self::Experiment { .. } => "experiment",
            Self::Compared { .. } => "compared",
        }
    }

    /// The suite's seed, part of the key of its random streams.
    #[must_use]
    pub fn seed(self) -> u64 {
        match self {
            Self::Frozen { seed } | Self::Experiment { seed } | Self::Compared { seed } => seed,
        }
    }
}

/// What part a world plays in a generated episode. No method may read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// What is the case.
    True,
    /// A distractor with a small score.
    Deceptive,
    /// A distractor that scores far away.
    Background,
}

/// An episode with what only its generator knows. Reusable: drawing into it again keeps its buffers.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnEpisode {
    index: u64,
    episode: Episode,
    roles: SmallVec<[Role; 6]>,
}

impl Default for DrawnEpisode {
    /// A buffer to draw into; it holds an episode of one world until then.
    fn default() -> Self {
        Self {
            index: 0,
            episode: Episode {
                family: Family::Stale,
                actions: 1,
                worlds: SmallVec::from_slice(&[EpisodeWorld {
                    score: Micros::ZERO,
                    safe: 1,
                }]),
                proposed: SmallVec::new(),
                probes: SmallVec::new(),
                true_world: 0,
                mediation: Mediation::NONE,
            },
            roles: SmallVec::from_slice(&[Role::True]),
        }
    }
}

impl DrawnEpisode {
    /// Index of the episode in its split.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The episode.
    #[must_use]
    pub fn episode(&self) -> &Episode {
        &self.episode
    }

    /// The episode, to drop its true world.
    pub fn episode_mut(&mut self) -> &mut Episode {
        &mut self.episode
    }

    /// The role of each world, in the order of [`Episode::worlds`].
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }
}

/// Draws the episodes of one split of one suite.
///
/// The episode at an index depends on parameters, suite, split and index alone, so any part of a split can be
/// drawn in any order. It reads a stream for each purpose, so that what one purpose needs does not move
/// another: `worlds`, `components`, `proposal` (whether a proposal misses the true world), `policy`
/// (a method's own random choices), `errors` (which probes answer wrongly) and, for [`Suite::Compared`]
/// alone, `mediation` (by the law stated on [`Mediation`]).
///
/// Draws from `worlds`, in order, by the law stated on [`GeneratorParameters`]:
/// 1. the number of worlds n, then the truly safe action a*, uniform integers;
/// 2. the true world's score, a normal number; it supports a* alone;
/// 3. the first distractor, deceptive: its score, then one uniform number below `deceptive_same` for
///    supporting a*; if not, a uniform integer k below the number of other actions, for action
///    (a* + 1 + k) mod actions;
/// 4. each of n - 2 further distractors: one uniform number below `extra_deceptive` for being deceptive, then
///    as in 3, a background world with the score law of the background and `background_same`;
/// 5. the order of worlds: for i from n - 1 down to 1, the world at i changes places with the one at a
///    uniform integer in 0..=i.
///
/// Scores are clipped to [0, 1] and rounded to 1e-6 as they are drawn ([`Micros::clipped`]).
///
/// ```
/// use safecommit_bench::{DrawnEpisode, Generator, Parameters, Split, Suite};
///
/// let parameters = Parameters::project()?;
/// let generator = Generator::new(&parameters.generator, Suite::Experiment { seed: 1 }, Split::Test);
/// let mut drawn = DrawnEpisode::default();
/// generator.draw_into(17, &mut drawn);
/// assert_eq!(drawn, generator.draw(17));
/// assert!(drawn.episode().true_world_proposed());
/// if generator.proposal_uniform(17) < 0.05 {
///     drawn.episode_mut().drop_true_world();
/// }
/// # Ok::<(), safecommit_bench::ParameterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Generator {
    parameters: GeneratorParameters,
    split: Split,
    worlds: StreamKey,
    components: StreamKey,
    proposal: StreamKey,
    policy: StreamKey,
    errors: StreamKey,
    /// For episodes that have a mediation.
    mediation: Option<StreamKey>,
}

impl Generator {
    /// A generator for a split of a suite.
    #[must_use]
    pub fn new(parameters: &GeneratorParameters, suite: Suite, split: Split) -> Self {
        let key = |purpose| StreamKey::derive(suite.name(), suite.seed(), split.name(), purpose);
        Self {
            parameters: parameters.clone(),
            split,
            worlds: key("worlds"),
            components: key("components"),
            proposal: key("proposal"),
            policy: key("policy"),
            errors: key("errors"),
            mediation: matches!(suite, Suite::Compared { .. }).then(|| key("mediation")),
        }
    }

    /// The split.
    #[must_use]
    pub fn split(&self) -> Split {
        self.split
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &GeneratorParameters {
        &self.parameters
    }

    /// Draws the episode at an index, all worlds proposed, into a buffer; see [`Generator`] for the order of draws.
    pub fn draw_into(&self, index: u64, drawn: &mut DrawnEpisode) {
        let parameters = &self.parameters;
        let family = Family::of_index(index);
        let law = parameters.family.of(family);
        let mut stream = self.worlds.stream(index);
        let DrawnEpisode {
            index: drawn_index,
            episode,
            roles,
        } = drawn;
        *drawn_index = index;
        episode.family = family;
        episode.actions = parameters.actions.get();
        episode.worlds.clear();
        roles.clear();

        let (min, max) = (parameters.worlds.min.get(), parameters.worlds.max.get());
        let count = min as usize + stream.index_below((max - min) as usize + 1);
        let safe_action = stream.index_below(episode.actions);
        let score = stream.normal(law.true_mean.get(), law.true_sd.get());
        episode.worlds.push(EpisodeWorld {
            score: Micros::clipped(score),
            safe: 1 << safe_action,
        });
        roles.push(Role::True);
        for distractor in 1..count {
            let deceptive = distractor == 1 || stream.happens(law.extra_deceptive.get());
            let role = if deceptive {
                Role::Deceptive
            } else {
                Role::Background
            };
            let world = self.distractor(&mut stream, law, role, safe_action);
            episode.worlds.push(world);
            roles.push(role);
        }

        episode.true_world = 0;
        for upper in (1..count).rev() {
            let lower = stream.index_below(upper + 1);
            episode.worlds.swap(lower, upper);
            roles.swap(lower, upper);
            if episode.true_world == lower {
                episode.true_world = upper;
            } else if episode.true_world == upper {
                episode.true_world = lower;
            }
        }

        let cost = parameters.probe_cost.get();
        episode.proposed.clear();
        episode.proposed.extend(0..count);
        episode.probes.clear();
        episode
            .probes
            .extend((0..count).map(|asks| EpisodeProbe { cost, asks }));
        episode.mediation = self.mediation.map_or(Mediation::NONE, |key| {
            Mediation::draw(&mut key.stream(index), episode, roles)
        });
    }

    fn distractor(
        &self,
        stream: &mut RandomStream,
        law: &FamilyParameters,
        role: Role,
        safe_action: usize,
    ) -> EpisodeWorld {
        let (mean, sd, same) = if role == Role::Deceptive {
            (law.deceptive_mean, law.deceptive_sd, law.deceptive_same)
        } else {
            let parameters = &self.parameters;
            (
                parameters.background_mean,
                parameters.background_sd,
                law.background_same,
            )
        };
        let score = Micros::clipped(stream.normal(mean.get(), sd.get()));
        let action = if stream.happens(same.get()) {
            safe_action
        } else {
            let actions = self.parameters.actions.get();
            (safe_action + 1 + stream.index_below(actions - 1)) % actions
        };
        EpisodeWorld {
            score,
            safe: 1 << action,
        }
    }

    /// Draws the episode at an index into a buffer of its own.
    #[must_use]
    pub fn draw(&self, index: u64) -> DrawnEpisode {
        let mut drawn = DrawnEpisode::default();
        self.draw_into(index, &mut drawn);
        drawn
    }

    /// Draws the four terms of each world's score (Eq. 9), in the order of [`Episode::worlds`].
    ///
    /// World by world, term j gets the weight m_j (0.5 + u_j), u_j the next uniform number of the stream, and
    /// floor(score in millionths * weight / sum of weights) millionths, the product first; the last term takes what
    /// remains. m is the pair of weights that [`ComponentParameters`](crate::ComponentParameters) holds for the role.
    pub fn components_into(&self, drawn: &DrawnEpisode, terms: &mut Vec<[Micros; 4]>) {
        let mut stream = self.components.stream(drawn.index);
        let telling = drawn.episode.family.telling_term();
        terms.clear();
        for (world, role) in drawn.episode.worlds.iter().zip(&drawn.roles) {
            let components = &self.parameters.components;
            let weights = match role {
                Role::True => &components.true_world,
                Role::Deceptive => &components.deceptive,
                Role::Background => &components.background,
            };
            terms.push(split_score(world.score, weights, telling, &mut stream));
        }
    }

    /// The uniform number that decides whether the proposal at this index misses the true world: it does when
    /// the number is below the miss probability. One number an episode, so a larger probability only adds misses.
    #[must_use]
    pub fn proposal_uniform(&self, index: u64) -> f64 {
        self.proposal.stream(index).uniform()
    }

    /// The probes of the episode at this index that answer wrongly when each does so with probability
    /// `rate`: bit j for probe j. One uniform number a probe, so a larger rate only adds wrong answers.
    #[must_use]
    pub fn wrong_answers(&self, index: u64, probes: usize, rate: f64) -> u64 {
        let mut stream = self.errors.stream(index);
        let wrong = (0..probes.min(64)).filter(|_| stream.happens(rate));
        wrong.fold(0, |mask, probe| mask | 1 << probe)
    }

    /// The stream for a method's own random choices in the episode at this index, from its beginning.
    #[must_use]
    pub fn policy_stream(&self, index: u64) -> RandomStream {
        self.policy.stream(index)
    }
}
