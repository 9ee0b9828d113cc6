#![doc = include_str!("../README.md")]
//!
//! # Map
//!
//! - [`Alpha`], [`Score`], [`CalibrationScore`], [`Threshold`], [`Delta`], [`Weight`]: values that
//!   cannot hold nonsense. A finite threshold comes out of a [`Calibration`], or it is a trial that
//!   promises nothing.
//! - [`Calibration`]: from scores to a threshold, and its checked wire form.
//! - [`Guarantee`], [`Representation`], [`ErrorSplit`]: what holds, and what is known about missing
//!   true worlds.
//! - [`ranks`], [`CoverageLaw`]: how the coverage of one calibrated threshold varies, and ranks that
//!   allow for it.
//! - [`MondrianCalibration`], [`Shrinkage`]: groups of cases.
//! - [`WeightedScores`], [`NonExchangeable`]: cases of another mix, and cases that drift.
//! - [`RiskCurves`]: losses other than coverage, for [`Calibration::risk_controlled`] and
//!   [`Calibration::learn_then_test`].
//! - [`PValues`], [`EValues`], [`LoggedSeed`]: evidence for single worlds.
//! - [`clopper_pearson`], [`beta`], [`learn_then_test`]: the functions beneath.

mod alpha;
pub mod beta;
mod calibration;
pub mod clopper_pearson;
mod coverage_law;
mod delta;
mod digest;
mod e_value;
mod error_split;
mod format;
mod guarantee;
pub mod learn_then_test;
mod mondrian;
mod non_exchangeable;
mod p_value;
pub mod ranks;
mod representation;
mod risk;
mod risk_control;
mod score;
mod seed;
mod shrinkage;
mod source;
mod stratum;
mod threshold;
mod weight;
mod weighted;
mod wire;

pub use alpha::{Alpha, AlphaError};
pub use calibration::{Calibration, StratumMismatch};
pub use coverage_law::{CoverageLaw, CoverageLawError};
pub use delta::{Delta, DeltaError};
pub use digest::{Digest, DigestError};
pub use e_value::{EValue, EValueError, EValues};
pub use error_split::ErrorSplit;
pub use guarantee::{AchievedError, ControlledLoss, GroupCoverage, Guarantee, LossShape, RiskTest};
pub use mondrian::{MondrianCalibration, Taxonomy, TaxonomyError};
pub use non_exchangeable::NonExchangeable;
pub use p_value::{PValue, PValues, UnsortedError};
pub use ranks::RankError;
pub use representation::{MissCount, Misses, Representation};
pub use risk::{RiskCurve, RiskCurves, RiskError};
pub use score::{CalibrationScore, Score, ScoreError};
pub use seed::LoggedSeed;
pub use shrinkage::{CalibrationFold, FittingFold, Folds, Shrinkage, ShrunkCalibration};
pub use stratum::{Stratum, StratumError};
pub use threshold::Threshold;
pub use weight::{EffectiveSize, MassShare, Weight, WeightError};
pub use weighted::{WeightedPValue, WeightedScores, WeightedTable};
pub use wire::CalibrationError;
