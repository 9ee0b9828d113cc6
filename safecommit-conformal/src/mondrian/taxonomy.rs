//! The declared tree of groups.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::digest::Digest;
use crate::stratum::Stratum;

/// The strata that are told apart, declared before any score is seen, and with them all groups
/// that contain one. Every case belongs to exactly one of the declared strata.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Taxonomy;
///
/// let taxonomy = Taxonomy::new(["file/high".parse()?, "file/low".parse()?, "mail".parse()?])?;
/// assert_eq!(taxonomy.cases_needed("0.05".parse()?), 19);
/// assert_eq!(taxonomy.with_minimum(100).cases_needed("0.05".parse()?), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "Wire")
)]
pub struct Taxonomy {
    /// Not empty; none contains another.
    strata: BTreeSet<Stratum>,
    minimum: u64,
}

/// The strata that are told apart.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Taxonomy")
)]
struct Wire {
    /// Each once, none within another.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    strata: Vec<Stratum>,
    /// The fewest cases with which a stratum does not fall back, even if a finite rank needs fewer.
    minimum: u64,
}

impl Taxonomy {
    /// The taxonomy with these strata.
    ///
    /// # Errors
    ///
    /// [`TaxonomyError::Empty`] without strata, [`TaxonomyError::Twice`] if one occurs twice,
    /// [`TaxonomyError::Nested`] if one contains another, for then a case could belong to both.
    pub fn new(strata: impl IntoIterator<Item = Stratum>) -> Result<Self, TaxonomyError> {
        let mut declared = BTreeSet::new();
        for stratum in strata {
            if !declared.insert(stratum.clone()) {
                return Err(TaxonomyError::Twice { stratum });
            }
        }
        if declared.is_empty() {
            return Err(TaxonomyError::Empty);
        }
        for inner in &declared {
            if let Some(outer) = inner
                .ancestry()
                .skip(1)
                .find(|outer| declared.contains(outer))
            {
                return Err(TaxonomyError::Nested {
                    outer,
                    inner: inner.clone(),
                });
            }
        }
        Ok(Self {
            strata: declared,
            minimum: 0,
        })
    }

    /// The same strata, where one with fewer than `minimum` cases falls back even if a finite rank
    /// needs fewer.
    #[must_use]
    pub fn with_minimum(mut self, minimum: u64) -> Self {
        self.minimum = minimum;
        self
    }

    /// The declared strata in order.
    pub fn strata(&self) -> impl Iterator<Item = &Stratum> {
        self.strata.iter()
    }

    /// The fewest cases with which a stratum does not fall back: `ceil(1 / alpha) - 1`, for a rank
    /// within n, or the declared minimum if that is larger.
    pub fn cases_needed(&self, alpha: Alpha) -> u64 {
        let one = 10_u64.pow(u32::from(alpha.scale()));
        (one.div_ceil(alpha.digits()) - 1).max(self.minimum)
    }

    /// The declared minimum.
    pub(super) fn minimum(&self) -> u64 {
        self.minimum
    }

    /// The declared strata and all groups that contain one, in order.
    pub(super) fn groups(&self) -> impl Iterator<Item = Stratum> + use<> {
        let groups: BTreeSet<Stratum> = self.strata.iter().flat_map(Stratum::ancestry).collect();
        groups.into_iter()
    }

    pub(super) fn check(&self, stratum: &Stratum) -> Result<(), TaxonomyError> {
        if self.strata.contains(stratum) {
            Ok(())
        } else {
            Err(TaxonomyError::Undeclared {
                stratum: stratum.clone(),
            })
        }
    }
}

impl TryFrom<Wire> for Taxonomy {
    type Error = TaxonomyError;

    fn try_from(wire: Wire) -> Result<Self, TaxonomyError> {
        Ok(Self::new(wire.strata)?.with_minimum(wire.minimum))
    }
}

impl From<Taxonomy> for Wire {
    fn from(taxonomy: Taxonomy) -> Self {
        Self {
            strata: taxonomy.strata.into_iter().collect(),
            minimum: taxonomy.minimum,
        }
    }
}

/// Why strata are no taxonomy, or cases or calibrations do not go with one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaxonomyError {
    /// No strata.
    #[error("the taxonomy declares no stratum")]
    Empty,
    /// A stratum that is declared twice.
    #[error("stratum `{stratum}` is declared twice")]
    Twice {
        /// The stratum.
        stratum: Stratum,
    },
    /// A stratum within another.
    #[error("stratum `{outer}` contains `{inner}`, and both are declared")]
    Nested {
        /// The larger one.
        outer: Stratum,
        /// The smaller one.
        inner: Stratum,
    },
    /// A stratum that is not declared.
    #[error("stratum `{stratum}` is not declared")]
    Undeclared {
        /// The stratum.
        stratum: Stratum,
    },
    /// A saved calibration that is not the one of its group.
    #[error("mondrian field `groups`: the calibration of `{group}` {problem}")]
    Calibration {
        /// The group.
        group: Stratum,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Saved calibrations whose parts fit each other but not the checksum.
    #[error("mondrian field `checksum`: `{found}`, but the other fields give `{expected}`")]
    Checksum {
        /// The checksum found.
        found: Digest,
        /// The checksum of the other fields.
        expected: Digest,
    },
}
