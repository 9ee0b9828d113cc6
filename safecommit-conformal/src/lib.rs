#![doc = include_str!("../README.md")]
//!
//! # Map
//!
//! - [`Alpha`], [`Score`], [`CalibrationScore`], [`Threshold`], [`Delta`]: values that cannot hold
//!   nonsense. A finite threshold only comes out of a [`Calibration`].
//! - [`Calibration`]: from scores to a threshold, and its checked wire form.
//! - [`Guarantee`], [`Representation`]: what holds, and what is known about missing true worlds.
//! - [`CoverageLaw`]: how the coverage of one calibrated threshold varies.
//! - [`clopper_pearson`], [`beta`]: the functions beneath.

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
