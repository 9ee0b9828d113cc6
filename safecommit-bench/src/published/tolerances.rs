//! How far a result may be from what the paper states.

use safecommit_conformal::Alpha;

use super::{Figure, Metric};
use crate::methods::MethodName;

/// The tolerances of all comparisons, fixed before the results were seen. Rates in points of per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Unsafe commit rate of SafeCommit.
    pub ucr: f64,
    /// Unsafe commit rate of SafeCommit without probes.
    pub ucr_no_probe: f64,
    /// Unsafe commit rate of SafeCommit at levels above that of the main experiment.
    pub ucr_lax_alpha: f64,
    /// Unsafe commit rate of acting on one world.
    pub ucr_single_world: f64,
    /// Both ends of the range of unsafe commit rates over families.
    pub ucr_family: f64,
    /// Task success, commit coverage and fallback rate.
    pub rates: f64,
    /// Mean probes.
    pub probes: f64,
    /// Least and largest ratio of unsafe commit rates that passes for "about twice".
    pub about_twice: [f64; 2],
    /// Largest difference of a rate that passes for "the same": the last digit that the paper prints.
    pub same: f64,
    /// Standard errors by which a guarantee may seem to be missed.
    pub guarantee_standard_errors: f64,
}

/// The tolerances of the project.
pub const TOLERANCES: Tolerances = Tolerances {
    ucr: 0.4,
    ucr_no_probe: 0.6,
    ucr_lax_alpha: 0.5,
    ucr_single_world: 1.5,
    ucr_family: 0.6,
    rates: 1.0,
    probes: 0.03,
    about_twice: [1.3, 2.5],
    same: 0.1,
    guarantee_standard_errors: 4.0,
};

impl Tolerances {
    /// The tolerance of one cell, where `alpha` is the level of the main experiment.
    #[must_use]
    pub fn of(&self, figure: &Figure, alpha: Alpha) -> f64 {
        match (figure.metric, figure.method) {
            (Metric::Probes, _) => self.probes,
            (Metric::Ts | Metric::Cc | Metric::Fr, _) => self.rates,
            (Metric::Ucr, MethodName::SingleWorld) => self.ucr_single_world,
            (Metric::Ucr, MethodName::SafecommitNoProbe) => self.ucr_no_probe,
            (Metric::Ucr, _) if figure.alpha > alpha => self.ucr_lax_alpha,
            (Metric::Ucr, _) => self.ucr,
        }
    }
}
