//! What a learned score knows of a world.

mod compute;

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::micros::Micros;

use compute::{World, features};

/// Something about a proposed world that is computed from its own four terms (Eq. 9) and from those of the other
/// proposed worlds of the episode; from nothing else.
///
/// A *share* is a term divided by the score, the sum of the terms; where that is 0 there is no evidence against the
/// world, and every share counts as 1/4. *Others* are the other proposed worlds; without any, a feature about them
/// has the value that is stated. No feature depends on the order of the worlds, not in the last bit: what is taken
/// over them is a count or an extreme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Term 0, in [0, 1].
    ProvenanceOrAge,
    /// Term 1, in [0, 1].
    CrossEvidence,
    /// Term 2, in [0, 1].
    ToolDisagreement,
    /// Term 3, in [0, 1].
    PolicyIncompatibility,
    /// The sum of the terms, which is the default score, in [0, 1].
    Score,
    /// Its square.
    ScoreSquared,
    /// 1 if the sum is 0, else 0.
    NoEvidence,
    /// The largest share, in [1/4, 1].
    LargestShare,
    /// By how much the largest share exceeds 0.4, or 0.
    LargestShareAbove40,
    /// By how much the largest share exceeds 0.5, or 0.
    LargestShareAbove50,
    /// The smallest share, in [0, 1/4].
    SmallestShare,
    /// By how much the smallest share falls short of 0.15, or 0.
    SmallestShareBelow15,
    /// By how much the smallest share falls short of 0.1, or 0.
    SmallestShareBelow10,
    /// The entropy of the shares, in nats, in [0, ln 4].
    ShareEntropy,
    /// (largest share - 1/4) (1 - score): a small score that stands almost all in one term.
    Concentration,
    /// The share of the others whose score is lower, an equal one counting half; 0 without others.
    Rank,
    /// The score less the lowest score of the others, in [-1, 1]; 0 without others.
    GapToLowest,
    /// The largest share of any other, in [1/4, 1]; 1/4 without others.
    OthersLargestShare,
    /// The share of the others whose score is 0; 0 without others.
    OthersWithoutEvidence,
    /// The sum over the terms of the world's share times the largest share that any other has in that term:
    /// high where the world stands in the very term in which another stands out. 1/4 without others.
    Overlap,
}

const COUNT: usize = Feature::ALL.len();

impl Feature {
    /// All features, in their order. A test holds it complete.
    pub const ALL: [Self; 20] = [
        Self::ProvenanceOrAge,
        Self::CrossEvidence,
        Self::ToolDisagreement,
        Self::PolicyIncompatibility,
        Self::Score,
        Self::ScoreSquared,
        Self::NoEvidence,
        Self::LargestShare,
        Self::LargestShareAbove40,
        Self::LargestShareAbove50,
        Self::SmallestShare,
        Self::SmallestShareBelow15,
        Self::SmallestShareBelow10,
        Self::ShareEntropy,
        Self::Concentration,
        Self::Rank,
        Self::GapToLowest,
        Self::OthersLargestShare,
        Self::OthersWithoutEvidence,
        Self::Overlap,
    ];

    /// The feature's name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ProvenanceOrAge => "provenance_or_age",
            Self::CrossEvidence => "cross_evidence",
            Self::ToolDisagreement => "tool_disagreement",
            Self::PolicyIncompatibility => "policy_incompatibility",
            Self::Score => "score",
            Self::ScoreSquared => "score_squared",
            Self::NoEvidence => "no_evidence",
            Self::LargestShare => "largest_share",
            Self::LargestShareAbove40 => "largest_share_above40",
            Self::LargestShareAbove50 => "largest_share_above50",
            Self::SmallestShare => "smallest_share",
            Self::SmallestShareBelow15 => "smallest_share_below15",
            Self::SmallestShareBelow10 => "smallest_share_below10",
            Self::ShareEntropy => "share_entropy",
            Self::Concentration => "concentration",
            Self::Rank => "rank",
            Self::GapToLowest => "gap_to_lowest",
            Self::OthersLargestShare => "others_largest_share",
            Self::OthersWithoutEvidence => "others_without_evidence",
            Self::Overlap => "overlap",
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Which features a score is learned on, from the fewest to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureSet {
    /// The four terms: Eq. 9 with learned weights.
    Terms,
    /// How large the world's score is and how it spreads over the terms.
    Shape,
    /// The same, and how the world stands among the others.
    Episode,
}

impl FeatureSet {
    /// All sets, from the fewest features to the most.
    pub const ALL: [Self; 3] = [Self::Terms, Self::Shape, Self::Episode];

    /// The features, in their order.
    #[must_use]
    pub fn features(self) -> &'static [Feature] {
        const FEATURES: [Feature; COUNT] = Feature::ALL;
        const ALL: &[Feature] = &FEATURES;
        let (terms, rest) = ALL.split_at(4);
        match self {
            Self::Terms => terms,
            Self::Shape => &rest[..11],
            Self::Episode => rest,
        }
    }

    /// Whether a world's features depend on its own terms alone.
    #[must_use]
    pub fn is_of_one_world(self) -> bool {
        self != Self::Episode
    }

    /// The set's name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terms => "terms",
            Self::Shape => "shape",
            Self::Episode => "episode",
        }
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The features of one proposed world; all finite.
///
/// ```
/// use safecommit_bench::{Feature, Micros, WorldFeatures};
///
/// let term = |value| Micros::exact(value);
/// let concentrated = [term(0.10)?, term(0.01)?, term(0.01)?, term(0.0)?];
/// let even = [term(0.1)?; 4];
/// let features = WorldFeatures::of_proposed(&[concentrated, even]);
/// assert_eq!(features[0].get(Feature::Score), 0.12);
/// assert!(features[0].get(Feature::Concentration) > features[1].get(Feature::Concentration));
/// assert_eq!(features[0].get(Feature::Rank), 0.0); // no other scores lower
/// assert_eq!(features[1].get(Feature::Rank), 1.0);
/// # Ok::<(), safecommit_bench::MicrosError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WorldFeatures([f64; COUNT]);

impl WorldFeatures {
    /// The features of worlds from the terms of all proposed worlds of their episode, in the same order.
    #[must_use]
    pub fn of_proposed(terms: &[[Micros; 4]]) -> SmallVec<[Self; 6]> {
        let worlds: SmallVec<[World; 6]> = terms.iter().map(World::new).collect();
        (0..worlds.len())
            .map(|at| Self(features(&worlds, at)))
            .collect()
    }

    /// The value of a feature.
    #[must_use]
    pub fn get(&self, feature: Feature) -> f64 {
        self.0[feature as usize]
    }

    /// The values of the features of a set, in its order.
    #[must_use]
    pub fn row(&self, set: FeatureSet) -> SmallVec<[f64; 20]> {
        let features = set.features().iter();
        features.map(|&feature| self.get(feature)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variant more does not compile here until `name` has it, and fails until `ALL` has it.
    #[test]
    fn all_names_every_feature_once() {
        for (position, feature) in Feature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, position);
            let json = serde_json::to_string(&feature).unwrap();
            assert_eq!(json, format!("\"{feature}\""));
        }
        assert_eq!(Feature::ALL.last(), Some(&Feature::Overlap));
        for set in FeatureSet::ALL {
            assert_eq!(serde_json::to_string(&set).unwrap(), format!("\"{set}\""));
        }
    }

    #[test]
    fn sets_hold_what_they_say() {
        assert_eq!(FeatureSet::Terms.features().len(), 4);
        let shape = FeatureSet::Shape.features();
        assert_eq!(
            (shape[0], shape[10]),
            (Feature::Score, Feature::Concentration)
        );
        let episode = FeatureSet::Episode.features();
        assert_eq!((&episode[..11], episode.len()), (shape, 16));
    }

    #[test]
    fn values_by_hand() {
        let micros = |counts: [u32; 4]| counts.map(|count| Micros::from_count(count).unwrap());
        let worlds = [
            micros([100_000, 20_000, 40_000, 40_000]),
            micros([0, 0, 0, 0]),
            micros([30_000, 90_000, 30_000, 50_000]),
        ];
        let features = WorldFeatures::of_proposed(&worlds);
        let expect = [
            (Feature::CrossEvidence, 0.02),
            (Feature::Score, 0.2),
            (Feature::ScoreSquared, 0.04),
            (Feature::NoEvidence, 0.0),
            (Feature::LargestShare, 0.5),
            (Feature::LargestShareAbove40, 0.1),
            (Feature::LargestShareAbove50, 0.0),
            (Feature::SmallestShare, 0.1),
            (Feature::SmallestShareBelow15, 0.05),
            (Feature::SmallestShareBelow10, 0.0),
            // -(ln 0.5)/2 - (ln 0.1)/10 - 2 (ln 0.2)/5, by Python's math.log.
            (Feature::ShareEntropy, 1.220_607_264_553_017_5),
            (Feature::Concentration, 0.2),
            // One of two is lower, the other equal.
            (Feature::Rank, 0.75),
            (Feature::GapToLowest, 0.2),
            (Feature::OthersLargestShare, 0.45),
            (Feature::OthersWithoutEvidence, 0.5),
            // 0.5 * 0.25 + 0.1 * 0.45 + 0.2 * 0.25 + 0.2 * 0.25.
            (Feature::Overlap, 0.27),
        ];
        for (feature, value) in expect {
            let found = features[0].get(feature);
            assert!((found - value).abs() < 1e-12, "{feature}: {found}");
        }
        assert!(features[1].get(Feature::NoEvidence) > 0.5);
        assert!((features[1].get(Feature::LargestShare) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn a_lone_world_has_the_stated_values() {
        let features = WorldFeatures::of_proposed(&[[Micros::clipped(0.2); 4]]);
        let others = &Feature::ALL[15..];
        let found: Vec<f64> = others
            .iter()
            .map(|&feature| features[0].get(feature))
            .collect();
        assert_eq!(found, [0.0, 0.0, 0.25, 0.0, 0.25]);
        assert!(WorldFeatures::of_proposed(&[]).is_empty());
    }
}
