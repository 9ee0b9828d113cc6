//! What a logistic regression is fitted on.

use super::error::FitError;

/// Worlds with their features, episode by episode, and which of them is the true one.
///
/// Every feature is finite, and every episode has one true world.
///
/// ```
/// use safecommit_bench::TrainingSet;
///
/// let mut data = TrainingSet::new(2);
/// data.add_episode(&[[0.1, 0.9], [0.4, 0.3]], 1)?;
/// assert_eq!((data.episodes(), data.worlds(), data.width()), (1, 2, 2));
/// assert!(data.add_episode(&[[0.1, f64::NAN]], 0).is_err());
/// assert!(data.add_episode(&[[0.1, 0.9]], 1).is_err()); // no second world
/// # Ok::<(), safecommit_bench::FitError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSet {
    width: usize,
    /// Row by row.
    features: Vec<f64>,
    episodes: Vec<EpisodeRows>,
}

/// Where the worlds of an episode stand among the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EpisodeRows {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) true_row: usize,
}

impl TrainingSet {
    /// A set without an episode, of worlds with this many features.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            features: Vec::new(),
            episodes: Vec::new(),
        }
    }

    /// Adds an episode: the features of its worlds, and the position of the true one.
    ///
    /// # Errors
    ///
    /// A world has another number of features or one that is not finite, or there is no world at
    /// `true_position`. The set is then as it was.
    pub fn add_episode<Row: AsRef<[f64]>>(
        &mut self,
        worlds: &[Row],
        true_position: usize,
    ) -> Result<(), FitError> {
        if true_position >= worlds.len() {
            return Err(FitError::TrueWorld {
                position: true_position,
                worlds: worlds.len(),
            });
        }
        for row in worlds {
            let row = row.as_ref();
            if row.len() != self.width {
                return Err(FitError::Width {
                    found: row.len(),
                    expected: self.width,
                });
            }
            if let Some(feature) = row.iter().position(|value| !value.is_finite()) {
                return Err(FitError::NotFinite {
                    feature,
                    value: row[feature],
                });
            }
        }
        let first = self.worlds();
        for row in worlds {
            self.features.extend_from_slice(row.as_ref());
        }
        self.episodes.push(EpisodeRows {
            first,
            count: worlds.len(),
            true_row: first + true_position,
        });
        Ok(())
    }

    /// The number of episodes.
    #[must_use]
    pub fn episodes(&self) -> usize {
        self.episodes.len()
    }

    /// The number of worlds.
    #[must_use]
    pub fn worlds(&self) -> usize {
        self.episodes
            .last()
            .map_or(0, |episode| episode.first + episode.count)
    }

    /// The number of features of a world.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    pub(super) fn rows(&self) -> &[EpisodeRows] {
        &self.episodes
    }

    /// The features of a world.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.features[row * self.width..(row + 1) * self.width]
    }

    /// The same set with every feature shifted and scaled to mean 0 and variance 1 over the worlds, with the shifts
    /// and the scales. A constant feature has scale 1.
    pub(super) fn standardised(&self) -> (Self, Vec<f64>, Vec<f64>) {
        let count = self.worlds().max(1) as f64;
        let mut means = vec![0.0; self.width];
        let mut scales = vec![0.0; self.width];
        for world in 0..self.worlds() {
            for (mean, value) in means.iter_mut().zip(self.row(world)) {
                *mean += value;
            }
        }
        for mean in &mut means {
            *mean /= count;
        }
        for world in 0..self.worlds() {
            for ((scale, mean), value) in scales.iter_mut().zip(&means).zip(self.row(world)) {
                *scale += (value - mean) * (value - mean);
            }
        }
        for (scale, mean) in scales.iter_mut().zip(&means) {
            let deviation = (*scale / count).sqrt();
            // What is left of a constant after rounding is no scale.
            let floor = 1e-12 * (1.0 + mean.abs());
            *scale = if deviation > floor { deviation } else { 1.0 };
        }
        let mut result = self.clone();
        for row in result.features.chunks_exact_mut(self.width.max(1)) {
            for ((value, mean), scale) in row.iter_mut().zip(&means).zip(&scales) {
                *value = (*value - mean) / scale;
            }
        }
        (result, means, scales)
    }
}
