//! What a line of an episode file must satisfy to become a record.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};

use super::{EpisodeRecord, ProbeRecord, TooManyActions, WorldRecord};
use crate::episode::{Family, MAX_ACTIONS};
use crate::field_path::WHOLE;
use crate::json::{self, FromObjects, JsonError};
use crate::micros::Micros;

impl EpisodeRecord {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// See [`RecordProblem`]; the error names the field.
    pub fn from_json(line: &[u8]) -> Result<Self, FieldError> {
        Self::try_from(json::from_slice::<RawEpisode>(line)?)
    }
}

impl<'de> Deserialize<'de> for EpisodeRecord {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let raw = RawEpisode::deserialize(FromObjects(input))?;
        Self::try_from(raw).map_err(serde::de::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an episode as an object of named fields"
)]
struct RawEpisode {
    id: String,
    family: Family,
    actions: Vec<String>,
    worlds: Vec<RawWorld>,
    proposed: Vec<String>,
    probes: Vec<RawProbe>,
    true_world: String,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a world as an object of named fields"
)]
struct RawWorld {
    id: String,
    score: Micros,
    safe: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    components: Option<[Micros; 4]>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a probe as an object of named fields"
)]
struct RawProbe {
    id: String,
    cost: f64,
    asks: String,
}

/// A field that may be missing, but is no `null`.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

impl TryFrom<RawEpisode> for EpisodeRecord {
    type Error = FieldError;

    fn try_from(raw: RawEpisode) -> Result<Self, FieldError> {
        if raw.id.is_empty() {
            return Err(FieldError::at("id", RecordProblem::EmptyId));
        }
        if raw.actions.is_empty() {
            return Err(FieldError::at("actions", RecordProblem::NoActions));
        }
        let action_ids = raw.actions.iter().map(String::as_str);
        let actions = Ids::new(action_ids, |at| format!("actions[{at}]"))?;
        let world_ids = raw.worlds.iter().map(|world| world.id.as_str());
        let worlds = Ids::new(world_ids, |at| format!("worlds[{at}].id"))?;
        let probe_ids = raw.probes.iter().map(|probe| probe.id.as_str());
        Ids::new(probe_ids, |at| format!("probes[{at}].id"))?;

        let mut safe_sets = Vec::with_capacity(raw.worlds.len());
        for (at, world) in raw.worlds.iter().enumerate() {
            let path = |entry| format!("worlds[{at}].safe[{entry}]");
            safe_sets.push(actions.find_distinct(
                &world.safe,
                path,
                RecordProblem::UnknownAction,
            )?);
            if let Some(terms) = &world.components {
                let sum: u32 = terms.iter().map(|term| term.count()).sum();
                if sum != world.score.count() {
                    let path = format!("worlds[{at}].components");
                    return Err(FieldError::at(path, RecordProblem::ComponentSum));
                }
            }
        }
        let path = |at| format!("proposed[{at}]");
        let proposed = worlds.find_distinct(&raw.proposed, path, RecordProblem::UnknownWorld)?;
        let mut asked = Vec::with_capacity(raw.probes.len());
        for (at, probe) in raw.probes.iter().enumerate() {
            if !(probe.cost.is_finite() && probe.cost > 0.0) {
                let path = format!("probes[{at}].cost");
                return Err(FieldError::at(path, RecordProblem::Cost(probe.cost)));
            }
            let path = || format!("probes[{at}].asks");
            let world = worlds.find(&probe.asks, path, RecordProblem::UnknownWorld)?;
            if !proposed.contains(&world) {
                let problem = RecordProblem::UnproposedWorld(probe.asks.clone());
                return Err(FieldError::at(path(), problem));
            }
            asked.push(world);
        }
        let path = || "true_world".to_owned();
        let true_world = worlds.find(&raw.true_world, path, RecordProblem::UnknownWorld)?;

        let worlds = raw.worlds.into_iter().zip(safe_sets);
        let probes = raw.probes.into_iter().zip(asked);
        Ok(Self {
            id: raw.id,
            family: raw.family,
            actions: raw.actions,
            worlds: worlds
                .map(|(world, safe)| WorldRecord {
                    id: world.id,
                    score: world.score,
                    safe,
                    components: world.components,
                })
                .collect(),
            proposed,
            probes: probes
                .map(|(probe, asks)| ProbeRecord {
                    id: probe.id,
                    cost: probe.cost,
                    asks,
                })
                .collect(),
            true_world,
        })
    }
}

/// Positions by id. Only looked up, never iterated over.
struct Ids<'a>(HashMap<&'a str, usize>);

impl<'a> Ids<'a> {
    fn new(
        ids: impl Iterator<Item = &'a str>,
        path: impl Fn(usize) -> String,
    ) -> Result<Self, FieldError> {
        let mut positions = HashMap::new();
        for (at, id) in ids.enumerate() {
            if id.is_empty() {
                return Err(FieldError::at(path(at), RecordProblem::EmptyId));
            }
            if positions.insert(id, at).is_some() {
                let problem = RecordProblem::DuplicateId(id.to_owned());
                return Err(FieldError::at(path(at), problem));
            }
        }
        Ok(Self(positions))
    }

    fn find(
        &self,
        id: &str,
        path: impl Fn() -> String,
        unknown: fn(String) -> RecordProblem,
    ) -> Result<usize, FieldError> {
        let position = self.0.get(id).copied();
        position.ok_or_else(|| FieldError::at(path(), unknown(id.to_owned())))
    }

    fn find_distinct(
        &self,
        ids: &[String],
        path: impl Fn(usize) -> String,
        unknown: fn(String) -> RecordProblem,
    ) -> Result<Vec<usize>, FieldError> {
        let mut found = Vec::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            let position = self.find(id, || path(at), unknown)?;
            if found.contains(&position) {
                let problem = RecordProblem::DuplicateId(id.clone());
                return Err(FieldError::at(path(at), problem));
            }
            found.push(position);
        }
        Ok(found)
    }
}

/// What is wrong with a field of a record.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// The line is no JSON, is cut short, lacks a field, has one too many, or has a value of another type or range.
    #[error("{0}")]
    Json(String),
    /// An id is the empty text.
    #[error("the id is empty")]
    EmptyId,
    /// Two things of one kind have one id, or a list names one thing twice.
    #[error("`{0}` appears twice")]
    DuplicateId(String),
    /// There is nothing to choose from.
    #[error("the list of actions is empty")]
    NoActions,
    /// No action has this id.
    #[error("unknown action `{0}`")]
    UnknownAction(String),
    /// No world has this id.
    #[error("unknown world `{0}`")]
    UnknownWorld(String),
    /// A probe asks about a world that is not proposed.
    #[error("world `{0}` is not proposed")]
    UnproposedWorld(String),
    /// A cost is not a finite number above 0.
    #[error("cost `{0}` is not finite and above 0")]
    Cost(f64),
    /// The four terms are not those of the score.
    #[error("the components do not sum to the score")]
    ComponentSum,
    /// There are more actions than an [`Episode`](crate::Episode) can hold.
    #[error("`{0}` actions, at most {MAX_ACTIONS} can be decided on")]
    TooManyActions(usize),
}

/// A [`RecordProblem`] and the field that has it.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    field: String,
    problem: RecordProblem,
}

impl FieldError {
    fn at(field: impl Into<String>, problem: RecordProblem) -> Self {
        Self {
            field: field.into(),
            problem,
        }
    }

    /// Path of the field, as in `worlds[0].safe[1]`; `.` for the line as a whole.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &RecordProblem {
        &self.problem
    }
}

impl From<JsonError> for FieldError {
    fn from(error: JsonError) -> Self {
        let problem = RecordProblem::Json(error.message().to_owned());
        Self::at(error.field().unwrap_or(WHOLE), problem)
    }
}

impl From<TooManyActions> for FieldError {
    fn from(TooManyActions(count): TooManyActions) -> Self {
        Self::at("actions", RecordProblem::TooManyActions(count))
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.field != WHOLE {
            write!(formatter, "field `{}`: ", self.field)?;
        }
        write!(formatter, "{}", self.problem)
    }
}

impl std::error::Error for FieldError {}
