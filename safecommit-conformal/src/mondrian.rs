//! Thresholds by group, with a declared tree of groups to fall back on.

mod taxonomy;
mod wire;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::guarantee::{GroupCoverage, Guarantee};
use crate::representation::Misses;
use crate::score::CalibrationScore;
use crate::stratum::Stratum;
pub use taxonomy::{Taxonomy, TaxonomyError};

/// A calibration of its own for every stratum of a taxonomy (a Mondrian taxonomy: Vovk,
/// Gammerman and Shafer 2005, "Algorithmic Learning in a Random World", section 4.5).
///
/// With cases that are exchangeable within a stratum, `P(s <= kappa_g | stratum g) >= 1 - alpha`
/// for each stratum with enough cases for a finite rank. One with fewer falls back to the nearest
/// group that contains it and has enough, and then coverage holds over that group only, which
/// [`GroupCoverage::achieved`] says. Fallback is decided by the numbers of cases alone, never by
/// scores: a choice by scores would void the guarantee.
///
/// The written form carries a format version and a checksum over all other fields, so that neither an edited
/// minimum nor the group of another calibration loads. As that of a [`Calibration`], it is no signature.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::{MondrianCalibration, Misses, Score, Stratum, Taxonomy};
///
/// let (file, mail): (Stratum, Stratum) = ("file".parse()?, "mail".parse()?);
/// let taxonomy = Taxonomy::new([file.clone(), mail.clone()])?;
/// let case = |stratum: &Stratum, score: f64| (stratum.clone(), Score::new(score).unwrap().into());
/// let mut cases: Vec<_> = (0..9).map(|i| case(&file, f64::from(i))).collect();
/// cases.push(case(&mail, 50.0));
///
/// let mondrian =
///     MondrianCalibration::new("0.1".parse()?, taxonomy, &cases, Misses::AsListed)?;
/// let files = mondrian.calibration(&file)?;
/// assert_eq!(files.threshold_for(&file)?.to_string(), "8");
/// assert!(files.threshold_for(&mail).is_err()); // not for another stratum
/// let mails = mondrian.calibration(&mail)?; // one case is too few: over all cases instead
/// assert_eq!(mails.guarantee().to_string(), "group (`mail`, achieved over `all cases`)");
/// assert_eq!(mails.threshold_for(&mail)?.to_string(), "50");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "wire::Wire", into = "wire::Wire")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "wire::Wire")
)]
pub struct MondrianCalibration {
    taxonomy: Taxonomy,
    alpha: Alpha,
    /// For every group of the taxonomy the calibration on all of its cases.
    groups: BTreeMap<Stratum, Calibration>,
}

impl MondrianCalibration {
    /// Calibrates at level alpha on cases with their strata.
    ///
    /// What is said of missing scores is said of the whole list: one of them, in whichever stratum,
    /// means that they were counted in all.
    ///
    /// # Errors
    ///
    /// [`TaxonomyError::Undeclared`] for a case of a stratum that the taxonomy does not declare.
    pub fn new(
        alpha: Alpha,
        taxonomy: Taxonomy,
        cases: &[(Stratum, CalibrationScore)],
        misses: Misses,
    ) -> Result<Self, TaxonomyError> {
        let mut scores: BTreeMap<Stratum, Vec<CalibrationScore>> =
            taxonomy.groups().map(|group| (group, Vec::new())).collect();
        for (stratum, score) in cases {
            taxonomy.check(stratum)?;
            for group in stratum.ancestry() {
                scores.entry(group).or_default().push(*score);
            }
        }
        let misses = if cases.iter().any(|(_, score)| score.is_missing()) {
            Misses::AllListed
        } else {
            misses
        };
        let calibrate = |(group, scores): (Stratum, Vec<CalibrationScore>)| {
            let guarantee = Guarantee::Group(GroupCoverage::new(group.clone(), group.clone()));
            let calibration = Calibration::split_conformal_with(alpha, &scores, misses);
            (group, calibration.with_guarantee(guarantee))
        };
        Ok(Self {
            taxonomy,
            alpha,
            groups: scores.into_iter().map(calibrate).collect(),
        })
    }

    /// The miscoverage level of every stratum.
    pub fn alpha(&self) -> Alpha {
        self.alpha
    }

    /// The declared strata.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// The calibration for the cases of one stratum: on its own cases, or on those of the nearest
    /// group that contains it and has the numbers. If not even all cases together have them, the
    /// threshold is unbounded.
    ///
    /// # Errors
    ///
    /// [`TaxonomyError::Undeclared`] for a stratum that the taxonomy does not declare.
    pub fn calibration(&self, stratum: &Stratum) -> Result<Calibration, TaxonomyError> {
        self.taxonomy.check(stratum)?;
        let needed = self.taxonomy.cases_needed(self.alpha);
        let enough = |group: &Stratum| *group == Stratum::ALL || self.cases(group) >= needed;
        let achieved = stratum.ancestry().find(enough).unwrap_or(Stratum::ALL);
        let group = GroupCoverage::new(stratum.clone(), achieved);
        Ok(self
            .own(group.achieved())?
            .with_guarantee(Guarantee::Group(group)))
    }

    /// The calibration of the stratum's own cases or that of all cases, whichever has the larger
    /// threshold: valid within the stratum and over all cases. Unbounded if the stratum's own is;
    /// there is no fallback.
    ///
    /// # Errors
    ///
    /// [`TaxonomyError::Undeclared`] for a stratum that the taxonomy does not declare.
    pub fn group_and_pool(&self, stratum: &Stratum) -> Result<Calibration, TaxonomyError> {
        self.taxonomy.check(stratum)?;
        let (own, pool) = (self.own(stratum)?, self.own(&Stratum::ALL)?);
        let (binding, achieved) = if own.threshold() >= pool.threshold() {
            (own, stratum.clone())
        } else {
            (pool, Stratum::ALL)
        };
        let group = GroupCoverage::new(stratum.clone(), achieved);
        Ok(binding.with_guarantee(Guarantee::GroupAndPool(group)))
    }

    /// The number of calibration cases of a group, those of its parts included.
    pub fn cases(&self, group: &Stratum) -> u64 {
        self.groups.get(group).map_or(0, Calibration::n)
    }

    /// The calibration on the cases of a group of the taxonomy.
    fn own(&self, group: &Stratum) -> Result<Calibration, TaxonomyError> {
        self.groups
            .get(group)
            .cloned()
            .ok_or_else(|| TaxonomyError::Undeclared {
                stratum: group.clone(),
            })
    }
}
