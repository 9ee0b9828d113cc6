//! Splits that are kept from one decision to the next.

use std::sync::{Arc, RwLock};

use super::split::{Contradictions, Stopped};
use crate::cube::Cube;
use crate::policy::{MapAnswers, SafetyMap};

/// The cubes into which maps with the same answers split the same proposed worlds.
///
/// How a cube is split depends on what policies answer in it and on nothing else; scores only say in which order the
/// cubes are looked at. So where none was cut off, the cubes are the same for every belief that proposes the same values,
/// and only their scores have to be taken anew. A service that is asked for the same kinds of actions again and again
/// splits once.
#[derive(Debug, Default)]
pub(crate) struct Splits(RwLock<Vec<(Key, Arc<Split>)>>);

/// All that a split depends on.
#[derive(Debug)]
struct Key {
    answers: MapAnswers,
    proposed: Cube,
    contradictions: Contradictions,
}

/// The cubes on which every action is decided, with what stops each action there.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) decided: Vec<(Cube, Stopped)>,
    /// How many cubes were looked at to find them.
    pub(super) looked_at: usize,
}

/// So many are kept; the oldest goes first.
const KEPT: usize = 16;

impl Splits {
    pub(super) fn get(
        &self,
        map: &SafetyMap,
        proposed: &Cube,
        contradictions: &Contradictions,
    ) -> Option<Arc<Split>> {
        // Where another thread has panicked meanwhile nothing is kept, and each cube is split anew.
        let known = self.0.read().ok()?;
        let mut known = known.iter();
        let found = known.find(|(key, _)| {
            key.proposed == *proposed
                && key.contradictions == *contradictions
                && map.has_answers(&key.answers)
        });
        found.map(|(_, split)| Arc::clone(split))
    }

    /// Keeps a split that was not cut and in which no policy failed, if the answers of the map are kept too.
    pub(super) fn keep(
        &self,
        map: &SafetyMap,
        proposed: &Cube,
        contradictions: Contradictions,
        split: Split,
    ) {
        let (Some(answers), Ok(mut known)) = (map.answers(), self.0.write()) else {
            return;
        };
        if known.len() >= KEPT {
            known.remove(0);
        }
        let key = Key {
            answers,
            proposed: proposed.clone(),
            contradictions,
        };
        known.push((key, Arc::new(split)));
    }
}
