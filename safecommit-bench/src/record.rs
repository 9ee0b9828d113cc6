//! One benchmark episode as a line of JSON: ids are text, and nothing is taken on trust.

use crate::episode::{Episode, EpisodeProbe, EpisodeWorld, Family, MAX_ACTIONS};
use crate::generator::{DrawnEpisode, Split};
use crate::mediation::Mediation;
use crate::micros::Micros;

mod wire;

pub use wire::{FieldError, RecordProblem};

/// An episode with its ids, as a line of an episode file holds it. Any number of actions and worlds.
///
/// A line that does not hold together does not load: see [`RecordProblem`]. `components` may be missing
/// from a world, since no decision reads them; if they are there, they sum to the score exactly.
///
/// ```
/// use safecommit_bench::EpisodeRecord;
///
/// let line = r#"{"id":"mine","family":"poison","actions":["wait","send"],"worlds":[{"id":"w","score":0.183204,"safe":["send"]}],"proposed":["w"],"probes":[{"id":"ask","cost":1.0,"asks":"w"}],"true_world":"w"}"#;
/// let record = EpisodeRecord::from_json(line.as_bytes())?;
/// assert_eq!(record.to_json_line().trim_end(), line);
/// assert_eq!(record.to_episode()?.worlds()[0].safe, 0b10);
///
/// let typo = line.replace(r#""safe":["send"]"#, r#""safe":["sned"]"#);
/// let error = EpisodeRecord::from_json(typo.as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), "field `worlds[0].safe[0]`: unknown action `sned`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRecord {
    id: String,
    family: Family,
    actions: Vec<String>,
    worlds: Vec<WorldRecord>,
    proposed: Vec<usize>,
    probes: Vec<ProbeRecord>,
    true_world: usize,
}

/// A world of an [`EpisodeRecord`].
#[derive(Debug, Clone, PartialEq)]
pub struct WorldRecord {
    id: String,
    score: Micros,
    safe: Vec<usize>,
    components: Option<[Micros; 4]>,
}

/// A probe of an [`EpisodeRecord`].
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeRecord {
    id: String,
    cost: f64,
    asks: usize,
}

impl WorldRecord {
    /// The world's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Nonconformity score.
    #[must_use]
    pub fn score(&self) -> Micros {
        self.score
    }

    /// Positions of the safe actions, in the order of the file.
    #[must_use]
    pub fn safe(&self) -> &[usize] {
        &self.safe
    }

    /// The four terms of the score (Eq. 9), if the file gives them.
    #[must_use]
    pub fn components(&self) -> Option<&[Micros; 4]> {
        self.components.as_ref()
    }
}

impl ProbeRecord {
    /// The probe's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its cost, finite and above 0.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Position of the world that it asks about.
    #[must_use]
    pub fn asks(&self) -> usize {
        self.asks
    }
}

impl EpisodeRecord {
    /// The episode's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Ids of the actions, by position.
    #[must_use]
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// The worlds, by position.
    #[must_use]
    pub fn worlds(&self) -> &[WorldRecord] {
        &self.worlds
    }

    /// Positions of the proposed worlds, in the order of the file.
    #[must_use]
    pub fn proposed(&self) -> &[usize] {
        &self.proposed
    }

    /// The probes, by position: the same positions as in the [`Episode`].
    #[must_use]
    pub fn probes(&self) -> &[ProbeRecord] {
        &self.probes
    }

    /// Position of the true world.
    #[must_use]
    pub fn true_world(&self) -> usize {
        self.true_world
    }

    /// The episode by index, for deciding. It has no mediation: a line holds none.
    ///
    /// # Errors
    ///
    /// The record has more than [`MAX_ACTIONS`] actions.
    pub fn to_episode(&self) -> Result<Episode, TooManyActions> {
        if self.actions.len() > MAX_ACTIONS {
            return Err(TooManyActions(self.actions.len()));
        }
        let worlds = self.worlds.iter().map(|world| EpisodeWorld {
            score: world.score,
            safe: world.safe.iter().fold(0, |mask, action| mask | 1 << action),
        });
        let probes = self.probes.iter().map(|probe| EpisodeProbe {
            cost: probe.cost,
            asks: probe.asks,
        });
        let mut episode = Episode {
            family: self.family,
            actions: self.actions.len(),
            worlds: worlds.collect(),
            proposed: self.proposed.iter().copied().collect(),
            probes: probes.collect(),
            true_world: self.true_world,
            mediation: Mediation::NONE,
        };
        episode.proposed.sort_unstable();
        Ok(episode)
    }

    /// A generated episode with its ids: `SPLIT-000017`, `a0`, `w0`, `p0` and so on, by position. Its
    /// [`Mediation`] is no part of a line.
    ///
    /// `components` are those of [`Generator::components_into`](crate::Generator::components_into) for this episode.
    #[must_use]
    pub fn from_drawn(split: Split, drawn: &DrawnEpisode, components: &[[Micros; 4]]) -> Self {
        let episode = drawn.episode();
        let id = |letter: char, position: usize| format!("{letter}{position}");
        let worlds = episode.worlds().iter().enumerate();
        let probes = episode.probes().iter().enumerate();
        Self {
            id: format!("{split}-{:06}", drawn.index()),
            family: episode.family(),
            actions: (0..episode.actions()).map(|at| id('a', at)).collect(),
            worlds: worlds
                .map(|(at, world)| WorldRecord {
                    id: id('w', at),
                    score: world.score,
                    safe: (0..episode.actions())
                        .filter(|action| world.safe >> action & 1 == 1)
                        .collect(),
                    components: components.get(at).copied(),
                })
                .collect(),
            proposed: episode.proposed().to_vec(),
            probes: probes
                .map(|(at, probe)| ProbeRecord {
                    id: id('p', at),
                    cost: probe.cost,
                    asks: probe.asks,
                })
                .collect(),
            true_world: episode.true_world(),
        }
    }
}

/// A record with more actions than an [`Episode`] can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` actions, at most {MAX_ACTIONS} can be decided on")]
pub struct TooManyActions(pub usize);
