//! Why a study cannot be computed.

use safecommit_conformal::{
    AlphaError, CoverageLawError, DeltaError, RankError, RiskError, StratumError, TaxonomyError,
    WeightError,
};
use safecommit_core::ProblemError;

use crate::learned::ChooseError;

/// Something in a study cannot be computed under its parameters.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum StudyError {
    /// A level.
    Alpha(#[from] AlphaError),
    /// A confidence.
    Delta(#[from] DeltaError),
    /// A rank.
    Rank(#[from] RankError),
    /// The law of coverage.
    Coverage(#[from] CoverageLawError),
    /// The name of a group.
    Stratum(#[from] StratumError),
    /// The groups.
    Taxonomy(#[from] TaxonomyError),
    /// A weight.
    Weight(#[from] WeightError),
    /// A loss.
    Risk(#[from] RiskError),
    /// The choice of a learned score.
    Choose(#[from] ChooseError),
    /// A setting of the controller.
    Problem(#[from] ProblemError),
}
