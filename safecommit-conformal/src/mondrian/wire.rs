//! The written form of a Mondrian calibration and its validation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MondrianCalibration, Taxonomy, TaxonomyError};
use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::format::FormatOne;
use crate::guarantee::Guarantee;
use crate::stratum::Stratum;

/// Calibrations by stratum as they are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "MondrianCalibration")
)]
pub(super) struct Wire {
    /// Format version: 1.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    format: FormatOne,
    /// Miscoverage level of every stratum.
    alpha: Alpha,
    /// The declared strata.
    taxonomy: Taxonomy,
    /// One for every declared stratum and every group that contains one, in order; its guarantee names
    /// the group.
    groups: Vec<Calibration>,
}

impl From<MondrianCalibration> for Wire {
    fn from(mondrian: MondrianCalibration) -> Self {
        Self {
            format: FormatOne,
            alpha: mondrian.alpha,
            taxonomy: mondrian.taxonomy,
            groups: mondrian.groups.into_values().collect(),
        }
    }
}

impl TryFrom<Wire> for MondrianCalibration {
    type Error = TaxonomyError;

    fn try_from(wire: Wire) -> Result<Self, TaxonomyError> {
        let problem = |group: &Stratum, problem| {
            Err(TaxonomyError::Calibration {
                group: group.clone(),
                problem,
            })
        };
        let mut groups = BTreeMap::new();
        let mut saved = wire.groups.into_iter();
        for group in wire.taxonomy.groups() {
            let Some(calibration) = saved.next() else {
                return problem(&group, "is not there");
            };
            match calibration.guarantee() {
                Guarantee::Group(own) if own.stratum() == &group && own.is_conditional() => {}
                _ => return problem(&group, "is not for that group"),
            }
            if calibration.alpha() != wire.alpha {
                return problem(&group, "has another alpha");
            }
            groups.insert(group, calibration);
        }
        if let Some(calibration) = saved.next() {
            return match calibration.guarantee() {
                Guarantee::Group(own) => problem(own.stratum(), "is one too many"),
                _ => problem(&Stratum::ALL, "is followed by one too many"),
            };
        }
        for (group, calibration) in &groups {
            let parts: Vec<&Calibration> = groups
                .iter()
                .filter(|(part, _)| part.parent().as_ref() == Some(group))
                .map(|(_, calibration)| calibration)
                .collect();
            let total = |count: fn(&Calibration) -> u64| -> u128 {
                parts.iter().map(|part| u128::from(count(part))).sum()
            };
            let consistent = total(Calibration::n) == u128::from(calibration.n())
                && total(Calibration::missing) == u128::from(calibration.missing());
            if !parts.is_empty() && !consistent {
                return problem(group, "has not the cases of its parts");
            }
        }
        Ok(Self {
            taxonomy: wire.taxonomy,
            alpha: wire.alpha,
            groups,
        })
    }
}
