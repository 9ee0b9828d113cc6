//! An episode together with the terms of its scores.

use smallvec::SmallVec;

use crate::episode::Episode;
use crate::generator::Generator;
use crate::micros::Micros;

use super::error::TermsError;

/// An episode with the four terms of every score (Eq. 9), which sum to it. Which world is the true one, the
/// family and the worlds that are not proposed are in it, and no score may read them.
///
/// ```
/// use safecommit_bench::{EpisodeWithTerms, Generator, Parameters, Split, Suite, TermsError};
///
/// let parameters = Parameters::project()?;
/// let generator = Generator::new(&parameters.generator, Suite::Experiment { seed: 1 }, Split::Test);
/// let drawn = EpisodeWithTerms::draw(&generator, 0);
/// let terms = drawn.terms().to_vec();
/// assert_eq!(terms.len(), drawn.episode().worlds().len());
/// assert_eq!(EpisodeWithTerms::new(drawn.episode().clone(), terms)?, drawn);
/// let none = EpisodeWithTerms::new(drawn.episode().clone(), Vec::new());
/// assert!(matches!(none, Err(TermsError::Count { found: 0, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeWithTerms {
    episode: Episode,
    terms: Vec<[Micros; 4]>,
}

impl EpisodeWithTerms {
    /// An episode with the terms of its worlds, in the order of [`Episode::worlds`].
    ///
    /// # Errors
    ///
    /// There are more or fewer terms than worlds, or those of a world do not sum to its score.
    pub fn new(episode: Episode, terms: Vec<[Micros; 4]>) -> Result<Self, TermsError> {
        let worlds = episode.worlds();
        if worlds.len() != terms.len() {
            return Err(TermsError::Count {
                found: terms.len(),
                worlds: worlds.len(),
            });
        }
        for (world, (has, terms)) in worlds.iter().zip(&terms).enumerate() {
            let sum = terms.iter().map(|term| term.count()).sum();
            if Micros::from_count(sum) != Some(has.score) {
                return Err(TermsError::Sum {
                    world,
                    sum,
                    score: has.score,
                });
            }
        }
        Ok(Self { episode, terms })
    }

    /// Draws the episode at an index, all worlds proposed, with its terms.
    #[must_use]
    pub fn draw(generator: &Generator, index: u64) -> Self {
        let drawn = generator.draw(index);
        let mut terms = Vec::new();
        generator.components_into(&drawn, &mut terms);
        Self {
            episode: drawn.episode().clone(),
            terms,
        }
    }

    /// Draws the episodes `0..count`.
    #[must_use]
    pub fn draw_all(generator: &Generator, count: u64) -> Vec<Self> {
        (0..count)
            .map(|index| Self::draw(generator, index))
            .collect()
    }

    /// The episode, with the default score, which is the sum of the terms.
    #[must_use]
    pub fn episode(&self) -> &Episode {
        &self.episode
    }

    /// The terms of every world, in the order of [`Episode::worlds`].
    #[must_use]
    pub fn terms(&self) -> &[[Micros; 4]] {
        &self.terms
    }

    /// Takes the true world out of the proposal, with the probes that ask about it: a proposal miss.
    pub fn drop_true_world(&mut self) {
        self.episode.drop_true_world();
    }

    /// The terms of the proposed worlds, in the order of [`Episode::proposed`]: all that a score may read.
    pub(super) fn proposed_terms(&self) -> SmallVec<[[Micros; 4]; 6]> {
        let proposed = self.episode.proposed().iter();
        proposed.map(|&world| self.terms[world]).collect()
    }

    /// The episode with other scores for the proposed worlds, in their order. Worlds that are not proposed get the
    /// largest score there is; nothing reads it.
    pub(super) fn with_scores(&self, scores: &[Micros]) -> Episode {
        let mut episode = self.episode.clone();
        for world in &mut episode.worlds {
            world.score = Micros::ONE;
        }
        for (&world, &score) in self.episode.proposed().iter().zip(scores) {
            episode.worlds[world].score = score;
        }
        episode
    }
}
