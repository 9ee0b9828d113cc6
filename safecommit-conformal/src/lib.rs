//! Split-conformal calibration with exact ranks, typed thresholds and stated guarantees.

mod alpha;
pub mod beta;
mod calibration;
pub mod clopper_pearson;
mod coverage_law;
mod delta;
mod digest;
mod guarantee;
mod representation;
mod score;
mod threshold;
mod wire;

pub use alpha::{Alpha, AlphaError};
pub use calibration::Calibration;
pub use coverage_law::{CoverageLaw, CoverageLawError};
pub use delta::{Delta, DeltaError};
pub use digest::{Digest, DigestError};
pub use guarantee::Guarantee;
pub use representation::{MissCount, Misses, Representation};
pub use score::{CalibrationScore, Score, ScoreError};
pub use threshold::Threshold;
pub use wire::CalibrationError;
