//! The written form of a Mondrian calibration and its validation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MondrianCalibration, Taxonomy, TaxonomyError};
use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::digest::Digest;
use crate::format::Format;
use crate::guarantee::{Guarantee, counted};
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
    /// Format version: 2.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    format: Format<FORMAT>,
    /// Miscoverage level of every stratum.
    alpha: Alpha,
    /// The declared strata.
    taxonomy: Taxonomy,
    /// One for every declared stratum and every group that contains one, in order; its guarantee names
    /// the group.
    groups: Vec<Calibration>,
    /// SHA-256 of a canonical rendering of all other fields, each group by its own checksum.
    checksum: Digest,
}

/// The version that is written, and the only one that loads. Version 1 had no checksum.
const FORMAT: u64 = 2;

/// The digest of all fields but the checksum, a line each, the strata and the groups in their order.
fn checksum<'a>(
    alpha: Alpha,
    taxonomy: &Taxonomy,
    groups: impl Iterator<Item = &'a Calibration>,
) -> Digest {
    let mut lines = format!(
        "safecommit calibrations by stratum\nformat={FORMAT}\nalpha={alpha}\nminimum={}\n",
        taxonomy.minimum()
    );
    for stratum in taxonomy.strata() {
        lines.push_str("stratum=");
        lines.push_str(&counted(stratum));
        lines.push('\n');
    }
    for group in groups {
        lines.push_str(&format!("group={}\n", group.checksum()));
    }
    Digest::of_bytes(lines.as_bytes())
}

impl From<MondrianCalibration> for Wire {
    fn from(mondrian: MondrianCalibration) -> Self {
        let MondrianCalibration {
            alpha,
            taxonomy,
            groups,
        } = mondrian;
        Self {
            format: Format,
            alpha,
            checksum: checksum(alpha, &taxonomy, groups.values()),
            taxonomy,
            groups: groups.into_values().collect(),
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
        let mut parts: BTreeMap<Stratum, (u128, u128)> = BTreeMap::new();
        for (group, calibration) in &groups {
            if let Some(whole) = group.parent() {
                let (n, missing) = parts.entry(whole).or_default();
                *n += u128::from(calibration.n());
                *missing += u128::from(calibration.missing());
            }
        }
        for (whole, total) in &parts {
            let own = groups
                .get(whole)
                .map(|own| (own.n().into(), own.missing().into()));
            if own != Some(*total) {
                return problem(whole, "has not the cases of its parts");
            }
        }
        let expected = checksum(wire.alpha, &wire.taxonomy, groups.values());
        if wire.checksum != expected {
            return Err(TaxonomyError::Checksum {
                found: wire.checksum,
                expected,
            });
        }
        Ok(Self {
            taxonomy: wire.taxonomy,
            alpha: wire.alpha,
            groups,
        })
    }
}
