//! The wire form of a calibration and its validation.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::digest::Digest;
use crate::guarantee::Guarantee;
use crate::ranks::RankError;
use crate::score::Score;
use crate::source::Source;
#[cfg(feature = "schema")]
use crate::threshold::Threshold;

/// The format version that is written, and the only one that loads. Version 1 did not say whose loss a
/// risk-controlled threshold bounds, nor for which weight a weighted one is.
const FORMAT: u64 = 2;

/// The number [`FORMAT`], checked as soon as it is read: the fields after it are of no other version.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
struct Known;

impl TryFrom<u64> for Known {
    type Error = CalibrationError;

    fn try_from(found: u64) -> Result<Self, CalibrationError> {
        if found == FORMAT {
            Ok(Self)
        } else {
            Err(CalibrationError::Format { found })
        }
    }
}

impl From<Known> for u64 {
    fn from(_: Known) -> Self {
        FORMAT
    }
}

/// A calibration as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Calibration")
)]
pub(crate) struct WireForm {
    /// Format version: 2.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    format: Known,
    /// Miscoverage level.
    alpha: Alpha,
    /// Number of calibration cases, missing ones included.
    n: u64,
    /// Number of cases whose true world was not proposed.
    missing: u64,
    /// Whether cases whose true world was not proposed are known to be among the n.
    misses_counted: bool,
    /// Rank of the threshold among the scores, from 1 to n + 1.
    rank: u64,
    /// Largest retained score; null if every score is retained.
    #[serde(deserialize_with = "present")]
    #[cfg_attr(feature = "schema", schemars(with = "Threshold"))]
    threshold: Option<Score>,
    /// What the threshold promises.
    guarantee: Guarantee,
    /// SHA-256 of the scores in the order given.
    scores_sha256: Digest,
    /// SHA-256 of a canonical rendering of all other fields.
    checksum: Digest,
}

/// Reads an optional value that must be there, as `null` at least: an absent threshold is a
/// truncated file, not an unbounded one.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// A [`WireForm`] read from an object alone. A derived reader takes a list of the values too, in
/// which no name says what a value is and which the schema does not allow.
pub(crate) struct WireObject(WireForm);

impl<'de> Deserialize<'de> for WireObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = WireObject;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a calibration as an object of named fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WireObject, A::Error> {
                WireForm::deserialize(MapAccessDeserializer::new(map)).map(WireObject)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl WireForm {
    /// The digest of all fields but the checksum, a line each; the threshold as the hexadecimal
    /// bits of its double, so that no decimal rendering takes part.
    fn expected_checksum(&self) -> Digest {
        let threshold = match self.threshold {
            Some(score) => format!("{:016x}", score.value().to_bits()),
            None => "unbounded".to_owned(),
        };
        let text = format!(
            "safecommit calibration\nformat={}\nalpha={}\nn={}\nmissing={}\nmisses_counted={}\n\
             rank={}\nthreshold={threshold}\nguarantee={}\nscores_sha256={}\n",
            u64::from(self.format),
            self.alpha,
            self.n,
            self.missing,
            self.misses_counted,
            self.rank,
            self.guarantee.canonical(),
            self.scores_sha256,
        );
        Digest::of_bytes(text.as_bytes())
    }
}

impl From<Calibration> for WireForm {
    fn from(calibration: Calibration) -> Self {
        let source = calibration.source();
        let mut wire = Self {
            format: Known,
            alpha: calibration.alpha(),
            n: source.n,
            missing: source.missing,
            misses_counted: source.misses_counted,
            rank: calibration.rank(),
            threshold: calibration.threshold().finite(),
            guarantee: calibration.guarantee().clone(),
            scores_sha256: source.scores,
            checksum: source.scores,
        };
        wire.checksum = wire.expected_checksum();
        wire
    }
}

impl TryFrom<WireObject> for Calibration {
    type Error = CalibrationError;

    fn try_from(WireObject(wire): WireObject) -> Result<Self, CalibrationError> {
        use CalibrationError as Error;
        let WireForm {
            alpha,
            n,
            missing,
            misses_counted,
            rank,
            ..
        } = wire;
        if missing > n {
            return Err(Error::Missing { missing, n });
        }
        if missing > 0 && !misses_counted {
            return Err(Error::MissesCounted { missing });
        }
        if rank == 0 || rank - 1 > n {
            return Err(Error::RankRange { found: rank, n });
        }
        if let Some(expected) = wire.guarantee.expected_rank(alpha, n) {
            let expected = expected?;
            if rank != expected {
                return Err(Error::Rank {
                    found: rank,
                    alpha,
                    n,
                    expected,
                });
            }
        }
        let order_statistic = wire.guarantee.is_order_statistic();
        match wire.threshold {
            Some(_) if rank > n || (order_statistic && rank > n - missing) => {
                return Err(Error::ThresholdFinite {
                    rank,
                    observed: n - missing,
                });
            }
            None if order_statistic && rank <= n - missing => {
                return Err(Error::ThresholdUnbounded {
                    rank,
                    observed: n - missing,
                });
            }
            _ => {}
        }
        if n == 0 && wire.scores_sha256 != Digest::of_scores(&[]) {
            return Err(Error::Digest {
                found: wire.scores_sha256,
            });
        }
        let expected = wire.expected_checksum();
        if wire.checksum != expected {
            return Err(Error::Checksum {
                found: wire.checksum,
                expected,
            });
        }
        let source = Source {
            scores: wire.scores_sha256,
            n,
            missing,
            misses_counted,
        };
        Ok(Self::of(
            alpha,
            source,
            rank,
            wire.threshold,
            wire.guarantee,
        ))
    }
}

impl Calibration {
    /// The checksum of its written form.
    pub(crate) fn checksum(&self) -> Digest {
        WireForm::from(self.clone()).checksum
    }
}

/// Why a written calibration does not load. Every message names the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// A format version that this release does not know.
    #[error("calibration field `format`: version `{found}` is not known, {FORMAT} is")]
    Format {
        /// The version found.
        found: u64,
    },
    /// More missing cases than cases.
    #[error("calibration field `missing`: `{missing}` exceeds the number of cases n, `{n}`")]
    Missing {
        /// The missing cases found.
        missing: u64,
        /// The number of cases found.
        n: u64,
    },
    /// Missing cases that are said not to have been counted.
    #[error("calibration field `misses_counted`: `false`, but `{missing}` cases are missing")]
    MissesCounted {
        /// The missing cases found.
        missing: u64,
    },
    /// A rank other than the one that alpha and n give.
    #[error("calibration field `rank`: `{found}`, but alpha `{alpha}` and n `{n}` give {expected}")]
    Rank {
        /// The rank found.
        found: u64,
        /// The miscoverage level found.
        alpha: Alpha,
        /// The number of cases found.
        n: u64,
        /// The rank that the guarantee gives.
        expected: u64,
    },
    /// A rank that is not within 1 to n + 1.
    #[error("calibration field `rank`: `{found}` is not within 1 to n + 1 for n `{n}`")]
    RankRange {
        /// The rank found.
        found: u64,
        /// The number of cases found.
        n: u64,
    },
    /// Numbers for which the guarantee knows no rank.
    #[error("calibration field `guarantee`: {0}")]
    Guarantee(#[from] RankError),
    /// A finite threshold where too few scores were observed for one.
    #[error(
        "calibration field `threshold`: finite, but rank `{rank}` exceeds the {observed} observed \
         scores, so it must be null"
    )]
    ThresholdFinite {
        /// The rank.
        rank: u64,
        /// The number of observed scores.
        observed: u64,
    },
    /// An unbounded threshold where enough scores were observed for a finite one.
    #[error(
        "calibration field `threshold`: null, but rank `{rank}` is within the {observed} observed \
         scores, so it must be a number"
    )]
    ThresholdUnbounded {
        /// The rank.
        rank: u64,
        /// The number of observed scores.
        observed: u64,
    },
    /// A digest of scores where there were none.
    #[error("calibration field `scores_sha256`: `{found}` is not the digest of no scores")]
    Digest {
        /// The digest found.
        found: Digest,
    },
    /// The fields fit each other but not the checksum.
    #[error("calibration field `checksum`: `{found}`, but the other fields give `{expected}`")]
    Checksum {
        /// The checksum found.
        found: Digest,
        /// The checksum of the other fields.
        expected: Digest,
    },
}
